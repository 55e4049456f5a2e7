//! Reading a safetensors file.

use super::bytes::{self, Bytes};
use super::dtype;
use super::header::{self, Entry, Header};
use crate::device::Device;
use crate::tensor::{Raw, Tensor};
use cotangent_hal::{Error, Result};
use safetensors::Dtype;
use std::path::Path;

/// A safetensors file: its tensors by name, and its metadata. Tensors are read when asked for.
pub struct Record {
    name: String,
    bytes: Bytes,
    header: Header,
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
        match header::read(&bytes) {
            Ok(header) => Ok(Record { name, bytes, header }),
            Err(misfits) => Err(Error::Record { record: name, misfits }),
        }
    }

    /// The path or name that it was opened under.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The entry of a tensor.
    pub fn get(&self, name: &str) -> Option<&Entry> {
        self.header.tensors.get(name)
    }

    /// All tensors by name, in order.
    pub fn tensors(&self) -> impl ExactSizeIterator<Item = (&str, &Entry)> {
        self.header.tensors.iter()
    }

    /// The text entry of that name.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.header.texts.get(name).map(|text| &**text)
    }

    /// All text entries by name, in order.
    pub fn texts(&self) -> impl ExactSizeIterator<Item = (&str, &str)> {
        self.header.texts.iter().map(|(name, text)| (name, &**text))
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
    /// `Error::Record` where there is no such tensor, its values are no floats or it has too many axes;
    /// `Error::Memory`.
    pub fn read(&self, name: &str, device: &Device) -> Result<Tensor> {
        let fault =
            |message| Error::Record { record: self.name.clone(), misfits: vec![format!("`{name}`: {message}")] };
        let entry = self.get(name).ok_or_else(|| fault("missing from the record".into()))?;
        let most = crate::tensor::MAX_RANK;
        if entry.shape.len() > most {
            let axes = entry.shape.len();
            return Err(fault(format!("it has {axes} axes in the record, but at most {most} are supported")));
        }
        let Some(dtype) = dtype::read(entry.kind).filter(|dtype| dtype.is_float()) else {
            return Err(fault(format!("dtype `{}` in the record; supported: {FLOATS}", entry.dtype())));
        };
        let mut bytes = std::borrow::Cow::Borrowed(self.stored(entry));
        if cfg!(target_endian = "big") {
            dtype::in_file_order(dtype, bytes.to_mut());
        }
        crate::attempt(|| Tensor::from_raw(Raw::from_bytes("read", device, dtype, &entry.shape, &bytes)))
    }

    /// Whether two tensors have one shape and the same values, bit for bit as `f32`.
    pub(crate) fn equal(&self, a: &Entry, b: &Entry) -> bool {
        if a.shape != b.shape || a.kind == b.kind && self.stored(a) == self.stored(b) {
            return a.shape == b.shape;
        }
        match (self.floats(a), self.floats(b)) {
            (Some(a), Some(b)) => a.map(f32::to_bits).eq(b.map(f32::to_bits)),
            _ => false,
        }
    }

    fn stored(&self, entry: &Entry) -> &[u8] {
        &self.bytes[entry.range.clone()]
    }

    /// The values as `f32`; `None` where they are no floats.
    #[allow(clippy::wildcard_enum_match_arm, reason = "every dtype that is no float is refused alike")]
    fn floats(&self, entry: &Entry) -> Option<Box<dyn Iterator<Item = f32> + '_>> {
        let bytes = self.stored(entry);
        Some(match entry.kind {
            Dtype::F32 => Box::new(bytes.as_chunks().0.iter().map(|b| f32::from_le_bytes(*b))),
            Dtype::F64 => Box::new(bytes.as_chunks().0.iter().map(|b| f64::from_le_bytes(*b) as f32)),
            Dtype::F16 => Box::new(bytes.as_chunks().0.iter().map(|b| half::f16::from_le_bytes(*b).to_f32())),
            Dtype::BF16 => Box::new(bytes.as_chunks().0.iter().map(|b| half::bf16::from_le_bytes(*b).to_f32())),
            _ => return None,
        })
    }
}

/// The dtypes that are read, as errors list them.
pub(crate) const FLOATS: &str = "`F32`, `F64`, `F16` and `BF16`";

/// Stands where a tensor did not fit, in a model that is discarded.
pub(crate) fn placeholder(device: &Device) -> Tensor {
    Tensor::zeros([0], device)
}
