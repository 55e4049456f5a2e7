//! Checkpoints: a training run in one file.

use super::{CONFIG, FORMAT, NAME, Record, Writer, model_tensors};
use crate::cx::{Cx, CxState};
use crate::device::Device;
use crate::model::{Model, check_name, load_from};
use crate::random::Rng;
use crate::tensor::Tensor;
use cotangent_hal::{Error, Result};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// Something with tensors and settings that a checkpoint holds: an optimiser.
pub trait Stateful {
    /// Its tensors by name.
    fn tensors(&self) -> Vec<(String, Tensor)>;

    /// All else, as text.
    ///
    /// # Errors
    /// Where it has no such form.
    fn settings(&self) -> Result<String>;

    /// Becomes what `tensors` and `settings` gave.
    ///
    /// # Errors
    /// `Error::Argument` where the settings are another type's.
    fn restore(&mut self, settings: &str, tensors: Vec<(String, Tensor)>) -> Result<()>;
}

/// A training run: model, optimiser, generator, context and what the program adds, such as its place in the data. A run
/// that goes on from it equals one that was never stopped, bit for bit, in the middle of an epoch too.
///
/// ```
/// # use cotangent::prelude::*;
/// # use cotangent::record::Checkpoint;
/// # fn main() -> Result<(), Error> {
/// # let (device, mut rng, mut cx) = (Device::cpu(), Rng::seed(0), Cx::train(0));
/// # let (mut model, mut opt) = (Linear::init(LinearConfig::new(2, 2), &mut rng, &device), AdamW::new(1e-3));
/// # let path = std::env::temp_dir().join(format!("cotangent-doc-{}.safetensors", std::process::id()));
/// let mut order = Order::new(60_000, 64, 0);
/// # let batch = order.next();
/// Checkpoint::save(&path, &model, &opt, &rng, &cx, &[("order", &order.to_string()), ("run", "first")])?;
///
/// let checkpoint = Checkpoint::open(&path)?;
/// model = checkpoint.model(&device)?;
/// checkpoint.restore(&mut opt, &mut rng, &mut cx, &device)?;
/// order = Order::new(60_000, 64, 0);
/// order.resume(checkpoint.note("order").unwrap_or_default())?;
/// assert_eq!((order.given(), checkpoint.note("run")), (64, Some("first")));
/// # std::fs::remove_file(path).map_err(|e| Error::Io { path: String::new(), message: e.to_string() })?;
/// # Ok(())
/// # }
/// ```
pub struct Checkpoint {
    record: Arc<Record>,
}

const MODEL: &str = "model.";
const OPTIM: &str = "optim.";

impl Checkpoint {
    /// Writes a checkpoint; `notes` are texts for the program itself.
    ///
    /// # Errors
    /// `Error::Io` where the file cannot be written; the one before stays.
    pub fn save<M: Model>(
        path: impl AsRef<Path>,
        model: &M,
        optimiser: &dyn Stateful,
        rng: &Rng,
        cx: &Cx,
        notes: &[(&str, &str)],
    ) -> Result<()> {
        let mut writer = Writer::default();
        let prefixed = |prefix: &str, list: Vec<(String, Tensor)>| -> Vec<(String, Tensor)> {
            list.into_iter().map(|(name, tensor)| (format!("{prefix}{name}"), tensor)).collect()
        };
        writer.tensors.extend(prefixed(MODEL, model_tensors(model)));
        writer.tensors.extend(prefixed(OPTIM, optimiser.tensors()));
        let texts = [
            (NAME, M::NAME.to_owned()),
            (CONFIG, json(&model.config())?),
            (FORMAT, "1".to_owned()),
            ("cotangent.optim", optimiser.settings()?),
            ("cotangent.rng", json(rng)?),
            ("cotangent.cx", json(&cx.state())?),
        ];
        writer.metadata.extend(texts.map(|(key, value)| (key.to_owned(), value)));
        writer.metadata.extend(notes.iter().map(|(key, value)| (format!("note.{key}"), (*value).to_owned())));
        writer.save(path.as_ref())
    }

    /// Opens a checkpoint.
    ///
    /// # Errors
    /// `Error::Io` where the file cannot be opened, `Error::Record` where it is no whole safetensors file.
    pub fn open(path: impl AsRef<Path>) -> Result<Checkpoint> {
        Ok(Checkpoint { record: Arc::new(Record::open(path)?) })
    }

    /// The model, with the config and the dtypes that it had.
    ///
    /// # Errors
    /// `Error::Record` where the file holds another model.
    pub fn model<M: Model>(&self, device: &Device) -> Result<M> {
        check_name::<M>(&self.record)?;
        let config = self.read(CONFIG)?;
        Ok(load_from(&self.record, MODEL, &config, device, None, None)?.model)
    }

    /// Puts optimiser, generator and context where they were.
    ///
    /// # Errors
    /// `Error::Record` where the file holds none, `Error::Argument` where the optimiser is another one.
    pub fn restore(&self, optimiser: &mut dyn Stateful, rng: &mut Rng, cx: &mut Cx, device: &Device) -> Result<()> {
        let mut tensors = Vec::new();
        for (name, _) in self.record.tensors() {
            if let Some(own) = name.strip_prefix(OPTIM) {
                tensors.push((own.to_owned(), self.record.read(name, device)?));
            }
        }
        let (generator, state): (Rng, CxState) = (self.read("cotangent.rng")?, self.read("cotangent.cx")?);
        optimiser.restore(self.entry("cotangent.optim")?, tensors)?;
        *rng = generator;
        cx.restore(state);
        Ok(())
    }

    /// A text that the program added.
    pub fn note(&self, key: &str) -> Option<&str> {
        self.record.text(&format!("note.{key}"))
    }

    fn read<T: DeserializeOwned>(&self, key: &str) -> Result<T> {
        let entry = self.entry(key)?;
        serde_json::from_str(entry).map_err(|e| self.fault(format!("the entry `{key}` cannot be read: {e}")))
    }

    fn entry(&self, key: &str) -> Result<&str> {
        self.record.text(key).ok_or_else(|| self.fault(format!("no entry `{key}`; it is no checkpoint")))
    }

    fn fault(&self, message: String) -> Error {
        Error::Record { record: self.record.name().into(), misfits: vec![message] }
    }
}

fn json(value: &impl Serialize) -> Result<String> {
    serde_json::to_string(value).map_err(|e| Error::Argument { op: "save".into(), message: e.to_string() })
}

/// A map of tensors under names that begin with `kind.`.
pub(crate) fn named(kind: &str, map: &BTreeMap<String, Tensor>) -> Vec<(String, Tensor)> {
    map.iter().map(|(path, tensor)| (format!("{kind}.{path}"), tensor.clone())).collect()
}

/// The inverse of [`named`].
pub(crate) fn unnamed(kind: &str, tensors: &[(String, Tensor)]) -> BTreeMap<String, Tensor> {
    let prefix = format!("{kind}.");
    let own = tensors.iter().filter_map(|(name, t)| Some((name.strip_prefix(&prefix)?.to_owned(), t.clone())));
    own.collect()
}
