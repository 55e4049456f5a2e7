//! Reading a safetensors file.

use super::bytes::{self, Bytes};
use super::dtype;
use crate::device::Device;
use crate::tensor::{Raw, Tensor};
use cotangent_hal::{DType, Error, Result};
use safetensors::{Dtype, SafeTensors};
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;

/// A safetensors file: its tensors by name, and its metadata. Tensors are read when asked for.
pub struct Record {
    name: String,
    bytes: Bytes,
    tensors: BTreeMap<String, Entry>,
    metadata: BTreeMap<String, String>,
}

/// What the header says of a tensor.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The extents.
    pub shape: Vec<usize>,
    /// The type of an element, as safetensors writes it: `F32`, `BF16`, ...
    pub dtype: String,
    kind: Dtype,
    range: Range<usize>,
}

impl Entry {
    /// Whether the values can be read as `f32`.
    pub fn reads_as_f32(&self) -> bool {
        dtype::read(self.kind).is_some_and(DType::is_float)
    }
}

impl Record {
    /// Opens a file; it is mapped into memory, not read.
    ///
    /// # Errors
    /// `Error::Io` where the file cannot be opened, `Error::Record` where it is no whole safetensors file.
    pub fn open(path: impl AsRef<Path>) -> Result<Record> {
        let path = path.as_ref();
        Record::of(path.display().to_string(), bytes::open(path)?)
    }

    /// A record in memory; `name` stands for it in errors.
    ///
    /// # Errors
    /// `Error::Record` where the bytes are no whole safetensors file.
    pub fn from_bytes(name: &str, bytes: Vec<u8>) -> Result<Record> {
        Record::of(name.into(), Bytes::Owned(bytes))
    }

    fn of(name: String, bytes: Bytes) -> Result<Record> {
        let fault = |message: String| Error::Record { record: name.clone(), misfits: vec![message] };
        let length = bytes.len();
        let header = bytes.first_chunk::<8>().map(|b| u64::from_le_bytes(*b));
        if header.is_none_or(|n| n > (length - 8) as u64) {
            let message = match header {
                Some(n) => format!(
                    "the header claims {n} bytes, but the file has {length}; it is truncated, or no safetensors file"
                ),
                None => format!("the file has {length} bytes; a safetensors file has at least 8"),
            };
            return Err(fault(message));
        }
        let base = bytes.as_ptr() as usize;
        let parsed =
            SafeTensors::deserialize(&bytes).map_err(|e| fault(format!("it is no whole safetensors file: {e}")))?;
        let mut tensors = BTreeMap::new();
        for (name, view) in parsed.iter() {
            let start = view.data().as_ptr() as usize - base;
            let entry = Entry {
                shape: view.shape().to_vec(),
                dtype: format!("{:?}", view.dtype()),
                kind: view.dtype(),
                range: start..start + view.data().len(),
            };
            tensors.insert(name.to_owned(), entry);
        }
        let (_, header) = SafeTensors::read_metadata(&bytes).map_err(|e| fault(e.to_string()))?;
        let metadata = header.metadata().iter().flatten().map(|(k, v)| (k.clone(), v.clone())).collect();
        Ok(Record { name, bytes, tensors, metadata })
    }

    /// The path or name that it was opened under.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The entry of a tensor.
    pub fn get(&self, name: &str) -> Option<&Entry> {
        self.tensors.get(name)
    }

    /// All tensors by name, in order.
    pub fn tensors(&self) -> impl Iterator<Item = (&String, &Entry)> {
        self.tensors.iter()
    }

    /// The text entries of the header.
    pub fn metadata(&self) -> &BTreeMap<String, String> {
        &self.metadata
    }

    /// Reads a float tensor as `f32`.
    ///
    /// # Errors
    /// As for [`read`](Self::read).
    pub fn read_f32(&self, name: &str, device: &Device) -> Result<Tensor> {
        let tensor = self.read(name, device)?;
        crate::attempt(|| tensor.float())
    }

    /// Reads a float tensor in the dtype that it is stored in.
    ///
    /// # Errors
    /// `Error::Record` where there is no such tensor or its values are no floats; `Error::Memory`.
    pub fn read(&self, name: &str, device: &Device) -> Result<Tensor> {
        let fault = |message| Error::Record { record: self.name.clone(), misfits: vec![message] };
        let entry = self.get(name).ok_or_else(|| fault(format!("`{name}`: missing from the record")))?;
        let Some(dtype) = dtype::read(entry.kind).filter(|dtype| dtype.is_float()) else {
            return Err(fault(format!("`{name}`: dtype `{:?}` in the record, but floats are needed", entry.kind)));
        };
        if entry.shape.len() > crate::tensor::MAX_RANK {
            let most = crate::tensor::MAX_RANK;
            return Err(fault(format!("`{name}`: {:?} in the record; at most {most} axes are supported", entry.shape)));
        }
        let mut bytes = std::borrow::Cow::Borrowed(&self.bytes[entry.range.clone()]);
        if cfg!(target_endian = "big") {
            dtype::in_file_order(dtype, bytes.to_mut());
        }
        crate::attempt(|| Tensor::from_raw(Raw::from_bytes("read", device, dtype, &entry.shape, &bytes)))
    }
}

/// Stands where a tensor did not fit, in a model that is discarded.
pub(crate) fn placeholder(device: &Device) -> Tensor {
    Tensor::zeros([0], device)
}
