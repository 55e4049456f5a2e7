//! A reference case as its file holds it.

use cotangent::{DType, bf16, f16};
use safetensors::{Dtype, SafeTensors};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::path::Path;

/// One file.
pub(super) struct Case {
    /// The operation, under PyTorch's name.
    pub(super) op: String,
    /// All arguments that matter, defaults written out: a JSON object.
    pub(super) args: Value,
    /// Whether the mode is training.
    pub(super) training: bool,
    /// How far results may be off.
    pub(super) out: Tolerance,
    /// How far gradients may be off.
    pub(super) grad: Tolerance,
    /// Everything in the file, by name.
    pub(super) arrays: BTreeMap<String, Array>,
}

/// Equal means `|got - want| <= atol + rtol * |want|`.
#[derive(Clone, Copy)]
pub(super) struct Tolerance {
    pub(super) rtol: f64,
    pub(super) atol: f64,
}

/// An array in row-major order.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Array {
    pub(super) dtype: DType,
    pub(super) shape: Vec<usize>,
    pub(super) data: Data,
}

/// The elements of an array, each exactly, whatever its dtype.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Data {
    Floats(Vec<f64>),
    /// Integers, and truth values as 0 and 1.
    Whole(Vec<i64>),
}

impl Case {
    /// Reads a file; whatever it holds, the answer is a case or an error.
    #[allow(clippy::wildcard_enum_match_arm, reason = "every other dtype is refused alike")]
    pub(super) fn read(path: &Path) -> Result<Case, String> {
        let bytes = std::fs::read(path).map_err(|e| format!("cannot be read: {e}"))?;
        let (_, header) = SafeTensors::read_metadata(&bytes).map_err(|e| format!("not a safetensors file: {e}"))?;
        let config = header.metadata().as_ref().and_then(|m| m.get("config")).ok_or("the metadata has no `config`")?;
        let config: Map<String, Value> =
            serde_json::from_str(config).map_err(|e| format!("`config` is no JSON: {e}"))?;
        let op = config.get("op").and_then(Value::as_str).ok_or("`config` names no `op`")?.to_string();
        let tensors = SafeTensors::deserialize(&bytes).map_err(|e| format!("not a safetensors file: {e}"))?;
        let mut arrays = BTreeMap::new();
        for (name, view) in tensors.tensors() {
            let bytes = view.data();
            let (dtype, data) = match view.dtype() {
                Dtype::F64 => (DType::F64, floats(bytes, f64::from_le_bytes)),
                Dtype::F32 => (DType::F32, floats(bytes, f32::from_le_bytes)),
                Dtype::F16 => (DType::F16, floats(bytes, f16::from_le_bytes)),
                Dtype::BF16 => (DType::BF16, floats(bytes, bf16::from_le_bytes)),
                Dtype::I64 => (DType::I64, whole(bytes, i64::from_le_bytes)),
                Dtype::I32 => (DType::I32, whole(bytes, i32::from_le_bytes)),
                Dtype::U8 => (DType::U8, whole(bytes, u8::from_le_bytes)),
                Dtype::BOOL => (DType::Bool, whole(bytes, u8::from_le_bytes)),
                other => return Err(format!("`{name}` has dtype `{other:?}`, expected one of {:?}", DType::ALL)),
            };
            arrays.insert(name, Array { dtype, shape: view.shape().to_vec(), data });
        }
        let default = Value::Object(Map::new());
        Ok(Case {
            op,
            training: config.get("training").and_then(Value::as_bool).unwrap_or(true),
            args: config.get("args").unwrap_or(&default).clone(),
            out: Tolerance::read(&config, "out")?,
            grad: Tolerance::read(&config, "grad").or_else(|_| Tolerance::read(&config, "out"))?,
            arrays,
        })
    }
}

impl Tolerance {
    fn read(config: &Map<String, Value>, of: &str) -> Result<Tolerance, String> {
        let tol = config.get("tol").and_then(|t| t.get(of));
        let number = |name| tol.and_then(|t| t.get(name)).and_then(Value::as_f64);
        match (number("rtol"), number("atol")) {
            (Some(rtol), Some(atol)) => Ok(Tolerance { rtol, atol }),
            _ => Err(format!("`config` gives no `rtol` and `atol` under `tol.{of}`")),
        }
    }
}

fn floats<const N: usize, T: Into<f64>>(bytes: &[u8], of: fn([u8; N]) -> T) -> Data {
    Data::Floats(bytes.as_chunks::<N>().0.iter().map(|b| of(*b).into()).collect())
}

fn whole<const N: usize, T: Into<i64>>(bytes: &[u8], of: fn([u8; N]) -> T) -> Data {
    Data::Whole(bytes.as_chunks::<N>().0.iter().map(|b| of(*b).into()).collect())
}
