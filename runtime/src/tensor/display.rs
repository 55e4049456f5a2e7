//! Tensors as text, by the rules of PyTorch's `_tensor_str.py`.

use super::{Dims, Raw};
use crate::ops::joined;
use cotangent_hal::DType;

/// Decimals of a number.
const PRECISION: usize = 4;
/// Tensors of more elements are shown by their edges.
const THRESHOLD: usize = 1000;
/// Entries shown at each end of an axis.
const EDGE: usize = 3;
/// Characters of a line.
const WIDTH: usize = 80;
const PREFIX: &str = "tensor(";

/// The tensor as PyTorch prints it.
pub(super) fn text(raw: &Raw) -> String {
    let mut suffixes = Vec::new();
    if raw.device.name() != "cpu" {
        suffixes.push(format!("device='{}'", raw.device));
    }
    let body = if raw.numel() == 0 {
        if raw.shape.len() != 1 {
            let extents: Vec<String> = raw.shape.iter().map(usize::to_string).collect();
            suffixes.push(format!("size=({})", extents.join(", ")));
        }
        if raw.dtype != DType::F32 {
            suffixes.push(suffix(raw.dtype));
        }
        "[]".into()
    } else {
        if !matches!(raw.dtype, DType::F32 | DType::I64 | DType::Bool) {
            suffixes.push(suffix(raw.dtype));
        }
        let shown = if raw.numel() > THRESHOLD { Shown::edges(raw) } else { Shown::all(raw) };
        shown.axis(0, 0, PREFIX.len())
    };
    with_suffixes(format!("{PREFIX}{body}"), &suffixes)
}

/// The dtype by PyTorch's name.
fn suffix(dtype: DType) -> String {
    let name = match dtype {
        DType::F64 => "float64",
        DType::F32 => "float32",
        DType::F16 => "float16",
        DType::BF16 => "bfloat16",
        DType::I64 => "int64",
        DType::I32 => "int32",
        DType::U8 => "uint8",
        DType::Bool => "bool",
    };
    format!("dtype=torch.{name}")
}

/// The elements that are shown, as padded text.
struct Shown {
    shape: Dims,
    /// For each axis, whether its middle is left out.
    cut: Vec<bool>,
    elements: Vec<String>,
    width: usize,
}

impl Shown {
    fn all(raw: &Raw) -> Shown {
        Shown::new(raw, vec![false; raw.shape.len()])
    }

    fn edges(raw: &Raw) -> Shown {
        let mut part = raw.clone();
        let mut cut = Vec::new();
        for axis in 0..raw.shape.len() {
            let extent = raw.shape[axis];
            cut.push(extent > 2 * EDGE);
            if extent > 2 * EDGE {
                let mut shape = part.shape;
                shape[axis] = 2 * EDGE;
                let ends = [(0, part.clone().slice(axis, 0, EDGE)), (EDGE, part.slice(axis, extent - EDGE, EDGE))];
                part = joined(&shape, axis, &ends);
            }
        }
        Shown::new(&part, cut)
    }

    fn new(raw: &Raw, cut: Vec<bool>) -> Shown {
        let (elements, width) = match raw.dtype {
            DType::F64 | DType::F32 | DType::F16 | DType::BF16 => floats(&raw.to_vec::<f64>()),
            DType::I64 | DType::I32 | DType::U8 => plain(raw.to_vec::<i64>().iter().map(i64::to_string).collect()),
            DType::Bool => {
                plain(raw.to_vec::<bool>().iter().map(|&v| if v { "True" } else { "False" }.into()).collect())
            }
        };
        let elements = elements.into_iter().map(|e| format!("{e:>width$}")).collect();
        Shown { shape: raw.shape, cut, elements, width }
    }

    /// Everything below one index of the axes before `axis`; `from` is the position of its first element.
    fn axis(&self, axis: usize, from: usize, indent: usize) -> String {
        let rank = self.shape.len();
        if axis == rank {
            return self.elements[from].clone();
        }
        let step: usize = self.shape[axis + 1..].iter().product();
        let inner = axis + 1 == rank;
        let mut parts: Vec<String> =
            (0..self.shape[axis]).map(|i| self.axis(axis + 1, from + i * step, indent + 1)).collect();
        if self.cut[axis] {
            parts.insert(EDGE, if inner { " ..." } else { "..." }.into());
        }
        let margin = " ".repeat(indent + 1);
        let body = if inner {
            let in_line = ((WIDTH - indent) / (self.width + 2)).max(1);
            let lines: Vec<String> = parts.chunks(in_line).map(|line| line.join(", ")).collect();
            lines.join(&format!(",\n{margin}"))
        } else {
            parts.join(&format!(",{}{margin}", "\n".repeat(rank - axis - 1)))
        };
        format!("[{body}]")
    }
}

fn plain(elements: Vec<String>) -> (Vec<String>, usize) {
    let width = elements.iter().map(String::len).max().unwrap_or(1);
    (elements, width)
}

/// How the floats of a tensor are written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    /// `3.`
    Whole,
    /// `3.1416`
    Fixed,
    /// `3.1416e+00`
    Scientific,
}

/// The numbers in one form, and the width of the widest that is finite and not 0.
fn floats(values: &[f64]) -> (Vec<String>, usize) {
    let sized = || values.iter().copied().filter(|v| v.is_finite() && *v != 0.0);
    let form = form(sized());
    let width = sized().map(|v| float(v, form).len()).max().unwrap_or(1);
    (values.iter().map(|&v| float(v, form)).collect(), width)
}

fn form(sized: impl Iterator<Item = f64> + Clone) -> Form {
    let whole = sized.clone().all(|v| v == v.ceil());
    let least = sized.clone().map(f64::abs).fold(f64::INFINITY, f64::min);
    let most = sized.map(f64::abs).fold(0.0, f64::max);
    if most == 0.0 {
        Form::Whole
    } else if most / least > 1000.0 || most > 1e8 || (!whole && least < 1e-4) {
        Form::Scientific
    } else if whole {
        Form::Whole
    } else {
        Form::Fixed
    }
}

fn float(value: f64, form: Form) -> String {
    if value.is_nan() {
        return "nan".into();
    }
    if value.is_infinite() {
        return if value > 0.0 { "inf" } else { "-inf" }.into();
    }
    match form {
        Form::Whole => format!("{value:.0}."),
        Form::Fixed => format!("{value:.PRECISION$}"),
        Form::Scientific => {
            // Rust writes `1.0000e5` where PyTorch has `1.0000e+05`.
            let text = format!("{value:.PRECISION$e}");
            match text.split_once('e') {
                Some((digits, exponent)) => match exponent.strip_prefix('-') {
                    Some(exponent) => format!("{digits}e-{exponent:0>2}"),
                    None => format!("{digits}e+{exponent:0>2}"),
                },
                None => text,
            }
        }
    }
}

/// Adds what follows the values, on a line of its own where the last is full.
fn with_suffixes(mut text: String, suffixes: &[String]) -> String {
    // PyTorch counts the line's break where there is one, and room for a comma.
    let mut last_line = text.rfind('\n').map_or(text.len() + 2, |at| text.len() - at + 1);
    for suffix in suffixes {
        if last_line + suffix.len() + 2 > WIDTH {
            text += &format!(",\n{}{suffix}", " ".repeat(PREFIX.len()));
            last_line = PREFIX.len() + suffix.len();
        } else {
            text += &format!(", {suffix}");
            last_line += suffix.len() + 2;
        }
    }
    text + ")"
}
