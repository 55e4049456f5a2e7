//! What every model can do.

use crate::device::Device;
use crate::model::freeze::{all_frozen, require};
use crate::model::{Erased, LeafMut, Model, Path, Summary, Ties, load_from};
use crate::random::Rng;
use crate::record::{CONFIG, FORMAT, NAME, Record, Writer, model_tensors};
use crate::tensor::Tensor;
use cotangent_hal::{DType, Error, Result};
use std::collections::BTreeMap;
use std::path::Path as FilePath;
use std::sync::Arc;

/// What a record and a model did not share; see [`ModelExt::load_partial`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Partial {
    /// Tensors that the record lacks; they were initialised.
    pub missing: Vec<String>,
    /// Tensors of the record that the model has no place for.
    pub unread: Vec<String>,
}

/// Saving, loading, moving and freezing, for every model.
pub trait ModelExt: Model {
    /// A model with this config and random parameters.
    fn init_with(config: &Self::Config, rng: &mut Rng, device: &Device) -> Self {
        super::init(config, rng, device)
    }

    /// Its tensors as a table.
    fn summary(&self) -> Summary {
        Summary::of(self)
    }

    /// The number of elements in all parameters; tied ones count once.
    fn parameters(&self) -> usize {
        self.summary().parameters()
    }

    /// Its parameters and state by path; a tied tensor once, under its owner's path.
    fn named_tensors(&self) -> Vec<(String, Tensor)> {
        model_tensors(self)
    }

    /// Writes a safetensors file with PyTorch's names, the config in its metadata. The file is written beside its place
    /// and then renamed.
    ///
    /// # Errors
    /// `Error::Io` where the file cannot be written; one that had the name stays.
    fn save(&self, path: impl AsRef<FilePath>) -> Result<()> {
        let config = serde_json::to_string(&self.config())
            .map_err(|e| Error::Argument { op: "save".into(), message: e.to_string() })?;
        let mut writer = Writer::default();
        writer.tensors.extend(model_tensors(self));
        let texts = [(NAME, Self::NAME.to_owned()), (CONFIG, config), (FORMAT, "1".to_owned())];
        writer.metadata.extend(texts.map(|(key, value)| (key.to_owned(), value)));
        writer.save(path.as_ref())
    }

    /// Reads a file that [`save`](ModelExt::save) wrote. Every tensor must be there, with the shape that the config
    /// gives it, and nothing else.
    ///
    /// # Errors
    /// `Error::Io`; `Error::Record` with all misfits at once, or where the file has no config of this model.
    fn load(path: impl AsRef<FilePath>, device: &Device) -> Result<Self> {
        let record = Record::open(path)?;
        let config = own_config::<Self>(&record)?;
        Ok(load_from(&Arc::new(record), "", &config, device, None, Some(DType::F32))?.model)
    }

    /// Reads a file of any origin, such as a state dictionary of PyTorch, with this config; strict as
    /// [`load`](ModelExt::load).
    ///
    /// # Errors
    /// `Error::Io`; `Error::Record` with all misfits at once.
    fn load_with(config: &Self::Config, path: impl AsRef<FilePath>, device: &Device) -> Result<Self> {
        Ok(load_from(&Arc::new(Record::open(path)?), "", config, device, None, Some(DType::F32))?.model)
    }

    /// As [`load_with`](ModelExt::load_with), but what is missing is initialised from `rng`, and what is left over is
    /// ignored; both are listed. A tensor of the wrong shape stays an error.
    ///
    /// # Errors
    /// `Error::Io`; `Error::Record` with all wrong shapes and dtypes at once.
    fn load_partial(
        config: &Self::Config,
        path: impl AsRef<FilePath>,
        rng: &mut Rng,
        device: &Device,
    ) -> Result<(Self, Partial)> {
        let loaded = load_from(&Arc::new(Record::open(path)?), "", config, device, Some(rng.bits()), Some(DType::F32))?;
        Ok((loaded.model, Partial { missing: loaded.missing, unread: loaded.unread }))
    }

    /// The same model on `device`.
    fn to_device(mut self, device: &Device) -> Self {
        change(&mut self, &|tensor| tensor.to_device(device));
        self
    }

    /// The same model in another float dtype, as for [`Tensor::to`]. `model.to(DType::BF16)` trains in mixed precision:
    /// an optimiser keeps its state and a copy of such parameters in `f32`. Give it inputs of that dtype: wider ones
    /// would widen what they meet.
    ///
    /// # Panics
    /// Raises `Error::Dtype` where `dtype` is no float.
    #[track_caller]
    fn to(mut self, dtype: DType) -> Self {
        change(&mut self, &|tensor| tensor.to(dtype));
        self
    }

    /// Freezes the parameters whose path, or a layer that holds them, matches: `encoder`, `blocks.*.norm1`. `*` stands
    /// for any characters. Neither gradients nor updates are made for them. A tied parameter is one tensor and freezes
    /// under all its names.
    ///
    /// # Panics
    /// Raises `Error::Argument`, naming close paths, where nothing matches.
    #[track_caller]
    fn freeze(&mut self, pattern: &str) {
        require(self, pattern, false);
    }

    /// Undoes [`freeze`](ModelExt::freeze).
    ///
    /// # Panics
    /// Raises `Error::Argument` where nothing matches.
    #[track_caller]
    fn unfreeze(&mut self, pattern: &str) {
        require(self, pattern, true);
    }

    /// Whether all parameters that match, as in [`freeze`](ModelExt::freeze), are frozen.
    ///
    /// # Panics
    /// Raises `Error::Argument`, naming close paths, where nothing matches.
    #[track_caller]
    fn is_frozen(&self, pattern: &str) -> bool {
        all_frozen(self, pattern)
    }
}

impl<M: Model> ModelExt for M {}

/// Refuses a record that names another model.
pub(crate) fn check_name<M: Model>(record: &Record) -> Result<()> {
    match record.text(NAME) {
        Some(name) if name != M::NAME => {
            let fault = format!(
                "it holds a `{name}`, but a `{model}` is asked for; `{model}::load_with(&config, path, &device)` goes by \
                 the names of tensors alone",
                model = M::NAME
            );
            Err(Error::Record { record: record.name().into(), misfits: vec![fault] })
        }
        Some(_) | None => Ok(()),
    }
}

/// The config in a record's metadata; a model without one needs none.
fn own_config<M: Model>(record: &Record) -> Result<M::Config> {
    let fault = |message| Error::Record { record: record.name().into(), misfits: vec![message] };
    check_name::<M>(record)?;
    let none = || serde_json::from_str("null").ok();
    match record.text(CONFIG) {
        Some(text) => {
            serde_json::from_str(text).map_err(|e| fault(format!("its config is not that of `{}`: {e}", M::NAME)))
        }
        None => none().ok_or_else(|| {
            fault(format!("it has no config; give one, as in `{}::load_with(&config, path, &device)`", M::NAME))
        }),
    }
}

/// Puts `f` of each tensor in its place; a tied one is changed once, so that all its names still hold one tensor.
fn change(model: &mut dyn Erased, f: &dyn Fn(Tensor) -> Tensor) {
    let ties = Ties::of(model);
    ties.share(model);
    let mut tied = BTreeMap::new();
    model.visit_leaves_mut(&Path::ROOT, &mut |path, leaf| match leaf {
        LeafMut::Param(param) if ties.is_empty() => {
            let tensor = f(param.tensor());
            param.replace(tensor);
        }
        LeafMut::Param(param) => {
            let owner = ties.owner(&path.to_string()).into_owned();
            let tensor = tied.entry(owner).or_insert_with(|| f(param.tensor())).clone();
            param.replace(tensor);
        }
        LeafMut::State(state) => state.replace(f(state.get())),
        LeafMut::Tie { .. } => {}
    });
}

#[cfg(test)]
#[allow(clippy::allow_attributes_without_reason, reason = "the expansion of a model has attributes without reasons")]
mod tests {
    use super::change;
    use crate::model::ModelExt;
    use crate::{Device, Float, Param, Rng, Tensor};
    use cotangent_macros::model;

    #[model]
    struct Tied {
        #[tied(second)]
        #[init(ones)]
        first: Param![2, 3],
        #[init(ones)]
        second: Param![2, 3],
        #[init(ones)]
        alone: Param![4],
    }

    #[test]
    fn a_change_of_all_tensors_keeps_ties() {
        let mut model = Tied::init(&mut Rng::seed(0), &Device::cpu());
        let shared = |a: &Param, b: &Param| a.raw.buffer.same(&b.raw.buffer);
        assert!(shared(&model.first, &model.second) && !shared(&model.first, &model.alone));
        change(&mut model, &|tensor| Tensor::<Float>::from_raw(tensor.raw.copy()) * 2.0);
        assert!(shared(&model.first, &model.second) && !shared(&model.first, &model.alone));
        let copy = model.clone().to_device(&Device::cpu()).to(cotangent_hal::DType::F32);
        assert!(shared(&copy.first, &copy.second));
        // A value set under one name alone: the target's counts.
        model.first.set(Tensor::zeros([2, 3], &Device::cpu()));
        change(&mut model, &|tensor| tensor + 1.0);
        assert_eq!((model.first.to_vec(), model.second.to_vec()), (vec![3.0; 6], vec![3.0; 6]));
        assert!(shared(&model.first, &model.second));
    }
}
