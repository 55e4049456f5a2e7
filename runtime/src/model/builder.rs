//! Building a model: one function for random initialisation and for loading a record.

use crate::device::Device;
use crate::init::Init;
use crate::model::reading::{Reading, Take};
use crate::model::{Layer, Model, Param, Path, State, Ties, join, register};
use crate::raise::{attempt, raise};
use crate::random::Rng;
use crate::record::{Record, placeholder};
use crate::tensor::Tensor;
use cotangent_hal::{DType, Error, Result};
use std::collections::BTreeMap;
use std::sync::Arc;

/// How many layers the lists of a model may have: the config of a file, which may say anything, is believed so far.
pub(crate) const MOST_LAYERS: usize = 1 << 16;

/// Makes the parameters and layers of a model at one path, out of random numbers or of a record.
///
/// Generated code calls it for each field in order. While a record is loaded, what does not fit is collected and
/// reported together at the end.
pub struct Builder<'a> {
    job: &'a mut Job,
    path: Path<'a>,
    frozen: bool,
    optional: bool,
}

/// A model with random parameters. It draws one number from `rng`; the `n`-th parameter depends on that and `n`.
///
/// # Panics
/// Raises what `build` raises: `Error::Argument` for a config out of range, `Error::Memory`.
pub fn init<M: Model>(config: &M::Config, rng: &mut Rng, device: &Device) -> M {
    let mut job = Job::new(device, rng.below(usize::MAX) as u64, None);
    M::build(config, &mut job.root())
}

impl Builder<'_> {
    /// The device of the model.
    pub fn device(&self) -> &Device {
        &self.job.device
    }

    /// The parameter `name`. The empty name stands for the builder's own path, here and below.
    pub fn param(&mut self, name: &str, shape: &[usize], init: Init) -> Param {
        let mut param = Param::new(self.tensor(name, shape, init));
        param.set_requires_grad(!self.frozen);
        param
    }

    /// The state `name`.
    pub fn state(&mut self, name: &str, shape: &[usize], init: Init) -> State {
        State::new(self.tensor(name, shape, init))
    }

    /// The layer `name`.
    pub fn layer<L: Model>(&mut self, name: &str, config: &L::Config) -> L {
        let outer = self.path;
        let path = outer.child(name);
        L::build(config, &mut Builder { job: self.job, path, frozen: self.frozen, optional: self.optional })
    }

    /// The list `name` of `n` layers, whose configs are `config(0)`, `config(1)` and so on.
    ///
    /// # Panics
    /// Raises `Error::Argument` for more than 65,536 layers in all lists of a model together, before making them: the
    /// config of a file may say anything.
    pub fn list<L: Model>(&mut self, name: &str, n: usize, mut config: impl FnMut(usize) -> L::Config) -> Vec<L> {
        if n > MOST_LAYERS - self.job.listed {
            let path = self.path.child(name).to_string();
            let before = self.job.listed;
            let message =
                format!("a list of {n} layers after {before} in other lists; at most {MOST_LAYERS} can be made");
            raise(Error::Argument { op: path, message });
        }
        self.job.listed += n;
        let (outer, frozen, optional) = (self.path, self.frozen, self.optional);
        let path = outer.child(name);
        // The number may be a file's claim: the list grows with the layers, of which those that do not fit end it.
        let mut layers = Vec::new();
        for i in 0..n {
            layers.push(L::build(&config(i), &mut Builder { job: self.job, path: path.index(i), frozen, optional }));
        }
        layers
    }

    /// What `make` builds, or `None` where `present` is false. `make` gets this same builder and names the field
    /// itself; `name` serves the report of a record that has the field nevertheless.
    pub fn option<T>(&mut self, name: &str, present: bool, make: impl FnOnce(&mut Self) -> T) -> Option<T> {
        if present {
            return Some(make(self));
        }
        self.job.absent(&self.path.child(name).to_string());
        None
    }

    /// The layer `name` as an object.
    pub fn boxed<L: Layer + Model>(&mut self, name: &str, config: &L::Config) -> Box<dyn Layer> {
        register::<L>();
        Box::new(self.layer::<L>(name, config))
    }

    /// What `make` builds, with parameters that require no gradient.
    pub fn frozen<T>(&mut self, make: impl FnOnce(&mut Self) -> T) -> T {
        let before = std::mem::replace(&mut self.frozen, true);
        let made = make(self);
        self.frozen = before;
        made
    }

    /// What `make` builds, where tensors that a record lacks are initialised instead of reported.
    pub fn optional<T>(&mut self, make: impl FnOnce(&mut Self) -> T) -> T {
        let before = std::mem::replace(&mut self.optional, true);
        let made = make(self);
        self.optional = before;
        made
    }

    /// Makes `alias` a second name of `target`, both relative to this path: they share one tensor, and a record
    /// may hold it under either name. It comes before both are built.
    ///
    /// # Panics
    /// Raises `Error::Argument` where one of them was built already, as a name of something built before.
    pub fn tie(&mut self, alias: &str, target: &str) {
        let path = self.path.to_string();
        self.job.tie(join(&path, alias), join(&path, target));
    }

    /// Accepts a tensor `name` in a record without reading it, such as PyTorch's `num_batches_tracked`.
    pub fn ignore(&mut self, name: &str) {
        let path = self.path.child(name).to_string();
        self.job.mark(&path);
    }

    fn tensor(&mut self, name: &str, shape: &[usize], init: Init) -> Tensor {
        let path = self.path.child(name).to_string();
        self.job.tensor(path, shape, init, self.optional)
    }
}

/// A model read from a record that need not fit in full.
pub(crate) struct Loaded<M> {
    /// The model.
    pub(crate) model: M,
    /// Tensors that the record lacks and that were initialised.
    pub(crate) missing: Vec<String>,
    /// Tensors of the record that the model has no place for.
    pub(crate) unread: Vec<String>,
}

/// Builds a model out of the tensors of `record` whose names begin with `prefix`. With `fill`, a key of random numbers,
/// missing tensors are initialised and unread ones listed; without, both are misfits. Tensors become `dtype`; without
/// one they stay as the record has them.
pub(crate) fn load_from<M: Model>(
    record: &Arc<Record>,
    prefix: &str,
    config: &M::Config,
    device: &Device,
    fill: Option<u64>,
    dtype: Option<DType>,
) -> Result<Loaded<M>> {
    let reading = Reading::new(record.clone(), prefix, fill.is_some(), dtype);
    let mut job = Job::new(device, fill.unwrap_or(0), Some(reading));
    let model = attempt(|| M::build(config, &mut job.root()))?;
    let (missing, unread) = job.finish()?;
    Ok(Loaded { model, missing, unread })
}

/// One building of a model, whatever its type.
struct Job {
    device: Device,
    /// What random numbers depend on, with the count of tensors made so far.
    key: u64,
    made: u64,
    /// How many layers all lists have so far.
    listed: usize,
    ties: Ties,
    /// Tensors with several names, by the path of their owner.
    shared: BTreeMap<String, Tensor>,
    reading: Option<Reading>,
}

impl Job {
    fn new(device: &Device, key: u64, reading: Option<Reading>) -> Self {
        let (ties, shared) = (Ties::default(), BTreeMap::new());
        Job { device: *device, key, made: 0, listed: 0, ties, shared, reading }
    }

    fn root(&mut self) -> Builder<'_> {
        Builder { job: self, path: Path::ROOT, frozen: false, optional: false }
    }

    /// Adds a tie between full paths.
    fn tie(&mut self, alias: String, target: String) {
        self.ties.insert(alias, target);
        if let Some(owner) = self.shared.keys().find(|owner| self.ties.is_alias(owner)) {
            let end = self.ties.owner(owner);
            let message =
                format!("it is tied to `{end}` after it was built; put the field of `{end}` before its aliases");
            raise(Error::Argument { op: owner.clone(), message });
        }
    }

    /// The tensor at `path`.
    fn tensor(&mut self, path: String, shape: &[usize], init: Init, optional: bool) -> Tensor {
        if self.ties.is_empty() {
            return self.make(&[path], shape, init, optional);
        }
        let owner = self.ties.owner(&path).into_owned();
        if let Some(tensor) = self.shared.get(&owner).cloned() {
            self.mark(&path);
            if tensor.shape() == shape || self.reading.as_ref().is_some_and(Reading::is_spoilt) {
                return tensor;
            }
            let message = format!("it is {shape:?}, but tied to `{owner}`, which is {:?}", tensor.shape());
            raise(Error::Shape { op: path, message });
        }
        let tensor = self.make(&self.ties.names(&owner), shape, init, optional);
        self.shared.insert(owner, tensor.clone());
        tensor
    }

    /// The tensor of these names, the owner's first.
    fn make(&mut self, names: &[String], shape: &[usize], init: Init, optional: bool) -> Tensor {
        self.made += 1;
        match self.reading.as_mut().map(|reading| reading.take(names, shape, optional, &self.device)) {
            Some(Take::Read(tensor)) => tensor,
            Some(Take::Misfit) => placeholder(&self.device),
            Some(Take::Missing) | None => init.sample(shape, self.key, self.made, &self.device),
        }
    }

    /// Notes that the record may hold a tensor at `path`.
    fn mark(&mut self, path: &str) {
        if let Some(reading) = &mut self.reading {
            reading.mark(path);
        }
    }

    /// Notes that the config leaves out the field at `path`.
    fn absent(&mut self, path: &str) {
        if let Some(reading) = &mut self.reading {
            reading.absent(path);
        }
    }

    /// The names of missing and of unread tensors, or all misfits as one error.
    fn finish(self) -> Result<(Vec<String>, Vec<String>)> {
        self.reading.map_or_else(|| Ok(Default::default()), Reading::finish)
    }
}
