//! A record while a model is built of it: what was read, and what does not fit.

use crate::device::Device;
use crate::raise::{attempt, raise};
use crate::record::{FLOATS, Record};
use crate::tensor::Tensor;
use cotangent_hal::{DType, Error, Result};
use std::collections::BTreeSet;
use std::sync::Arc;

/// How many misfits are listed; with more, the rest of the model is not tried.
const MOST: usize = 200;

/// A record that is being loaded, and what was found so far.
pub(super) struct Reading {
    record: Arc<Record>,
    prefix: String,
    partial: bool,
    /// What its tensors become; as they are stored where nothing is said.
    dtype: Option<DType>,
    /// Names in the record that have a place in the model.
    read: BTreeSet<String>,
    missing: Vec<String>,
    misfits: Vec<String>,
    /// How many misfits are not listed.
    more: usize,
    failed: Option<Error>,
}

/// What became of a tensor that a model wants of a record.
pub(super) enum Take {
    Read(Tensor),
    /// The record lacks it and need not have it.
    Missing,
    /// It is noted as a misfit, so that the model being built is discarded.
    Misfit,
}

impl Reading {
    /// A record whose tensors' names begin with `prefix`. Where `partial`, it need not have all of the model's tensors.
    pub(super) fn new(record: Arc<Record>, prefix: &str, partial: bool, dtype: Option<DType>) -> Reading {
        let (read, prefix) = (BTreeSet::new(), prefix.to_owned());
        Reading {
            record,
            prefix,
            partial,
            dtype,
            read,
            missing: Vec::new(),
            misfits: Vec::new(),
            more: 0,
            failed: None,
        }
    }

    /// Notes that the record may hold a tensor at `path`.
    pub(super) fn mark(&mut self, path: &str) {
        self.read.insert(format!("{}{path}", self.prefix));
    }

    /// Notes that the config leaves out the field at `path`.
    pub(super) fn absent(&mut self, path: &str) {
        if self.partial {
            return;
        }
        let field = format!("{}{path}", self.prefix);
        let below = format!("{field}.");
        let record = self.record.clone();
        for (name, entry) in record.tensors().filter(|(name, _)| *name == field || name.starts_with(&below)) {
            self.read.insert(name.to_owned());
            let name = &name[self.prefix.len()..];
            self.misfit(|| format!("`{name}` {:?}: in the record, but the config leaves it out", entry.shape));
        }
    }

    fn misfit(&mut self, text: impl FnOnce() -> String) {
        if self.misfits.len() < MOST {
            self.misfits.push(text());
        } else {
            self.more += 1;
        }
    }

    /// Whether the model that is being built will be discarded.
    pub(super) fn is_spoilt(&self) -> bool {
        self.failed.is_some() || !self.misfits.is_empty()
    }

    /// Reads the tensor of these names under the first that the record has. Under others it must be the same.
    pub(super) fn take(&mut self, names: &[String], shape: &[usize], optional: bool, device: &Device) -> Take {
        if self.misfits.len() >= MOST {
            self.misfits.push(format!("more than {MOST} tensors do not fit; the others were not looked at"));
            raise(Error::Record { record: self.record.name().into(), misfits: std::mem::take(&mut self.misfits) });
        }
        let record = self.record.clone();
        let present = names.iter().filter_map(|path| {
            let name = format!("{}{path}", self.prefix);
            let entry = record.get(&name)?;
            Some((path, name, entry))
        });
        let present: Vec<_> = present.collect();
        self.read.extend(present.iter().map(|(_, name, _)| name.clone()));
        let Some(((path, name, entry), others)) = present.split_first() else {
            return self.lack(names, shape, optional);
        };
        if entry.shape != shape {
            self.misfit(|| format!("`{path}`: {:?} in the record, but the model needs {shape:?}", entry.shape));
            return Take::Misfit;
        }
        if !entry.reads_as_f32() {
            self.misfit(|| format!("`{path}`: dtype `{}` in the record; supported: {FLOATS}", entry.dtype()));
            return Take::Misfit;
        }
        let unlike = others.iter().filter(|(_, _, other)| !record.equal(entry, other)).map(|(other, ..)| {
            format!("`{path}` and `{other}`: one tensor in the model, but they differ in the record; leave one out")
        });
        let before = self.misfits.len();
        self.misfits.extend(unlike);
        if self.misfits.len() > before {
            return Take::Misfit;
        }
        let tensor = record.read(name, device);
        match tensor.and_then(|tensor| attempt(|| self.dtype.into_iter().fold(tensor, Tensor::to))) {
            Ok(tensor) => Take::Read(tensor),
            Err(error) => {
                self.failed = self.failed.take().or(Some(error));
                Take::Misfit
            }
        }
    }

    /// What becomes of a tensor that the record lacks under all its names.
    fn lack(&mut self, names: &[String], shape: &[usize], optional: bool) -> Take {
        let (path, others) = names.split_first().map_or(("", names), |(path, others)| (path.as_str(), others));
        if !optional && !self.partial {
            let also: String = others.iter().map(|other| format!(", as is `{other}`, another name of it")).collect();
            self.misfit(|| format!("`{path}` {shape:?}: missing from the record{also}"));
            return Take::Misfit;
        }
        self.missing.push(path.to_owned());
        // What a record's config asks for is made only for a record that fits.
        if self.is_spoilt() { Take::Misfit } else { Take::Missing }
    }

    /// The names of missing and of unread tensors, or all misfits as one error.
    pub(super) fn finish(mut self) -> Result<(Vec<String>, Vec<String>)> {
        if let Some(error) = self.failed {
            return Err(error);
        }
        let mut unread = Vec::new();
        let record = self.record.clone();
        for (name, entry) in record.tensors() {
            let Some(path) = name.strip_prefix(&self.prefix) else { continue };
            if self.read.contains(name) {
                continue;
            }
            if self.partial {
                unread.push(path.to_owned());
            } else {
                self.misfit(|| format!("`{path}` {:?}: in the record, but not in the model", entry.shape));
            }
        }
        if self.misfits.is_empty() {
            return Ok((self.missing, unread));
        }
        if self.more > 0 {
            self.misfits.push(format!("and {} more misfits", self.more));
        }
        Err(Error::Record { record: self.record.name().to_owned(), misfits: self.misfits })
    }
}
