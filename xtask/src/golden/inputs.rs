//! What an entry reads of a case: arguments, and tensors in one of several memory layouts.
//!
//! Everything read is noted, so that an argument or an input which an entry does not know makes the case fail.

use super::case::{Array, Case, Data};
use cotangent::tensor::{Kind, Storage};
use cotangent::{Bool, DType, Device, Float, Int, Tensor};
use serde_json::Value;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fmt;

/// How the elements of a tensor lie in memory. The values are the same.
#[derive(Clone, Copy, Debug)]
pub(super) enum Layout {
    /// Row-major.
    Contiguous,
    /// A view of a tensor whose axes are in reverse order.
    Transposed,
    /// A view into a larger tensor, with foreign elements before, between and after its own.
    Sliced,
}

/// Why an entry does not compute a case.
#[derive(Debug)]
pub(super) enum Stop {
    /// Something that the framework does not have, by name.
    Missing(String),
    /// A fault.
    Fault(String),
}

/// A case as an entry sees it.
pub(super) struct Inputs<'a> {
    case: &'a Case,
    layout: Layout,
    read: RefCell<BTreeSet<String>>,
}

/// What fills the gaps of a sliced tensor: large enough to show in any result that it leaks into.
const FOREIGN: f64 = 5e4;

impl Layout {
    pub(super) const ALL: [Layout; 3] = [Layout::Contiguous, Layout::Transposed, Layout::Sliced];
}

impl fmt::Display for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Layout::Contiguous => "contiguous inputs",
            Layout::Transposed => "transposed inputs",
            Layout::Sliced => "sliced inputs",
        })
    }
}

impl From<String> for Stop {
    fn from(fault: String) -> Stop {
        Stop::Fault(fault)
    }
}

impl<'a> Inputs<'a> {
    pub(super) fn new(case: &'a Case, layout: Layout) -> Inputs<'a> {
        Inputs { case, layout, read: RefCell::default() }
    }

    /// A float tensor, such as `in.x` or `param.weight`.
    pub(super) fn float(&self, name: &str) -> Result<Tensor, Stop> {
        self.maybe_float(name)?.ok_or_else(|| Stop::Fault(format!("the case has no `{name}`")))
    }

    /// A float tensor that a case need not have.
    pub(super) fn maybe_float(&self, name: &str) -> Result<Option<Tensor>, Stop> {
        match self.array(name) {
            None => Ok(None),
            Some(Array { dtype, shape, data: Data::Floats(data) }) => {
                Ok(Some(self.lay::<Float, f64>(data, *dtype, shape, FOREIGN)))
            }
            Some(Array { data: Data::Whole(_), .. }) => Err(Stop::Fault(format!("`{name}` holds integers"))),
        }
    }

    /// An integer tensor.
    pub(super) fn int(&self, name: &str) -> Result<Tensor<Int>, Stop> {
        match self.array(name) {
            Some(Array { dtype: DType::Bool, .. }) => Err(Stop::Fault(format!("`{name}` holds truth values"))),
            Some(Array { dtype, shape, data: Data::Whole(data) }) => Ok(self.lay::<Int, i64>(data, *dtype, shape, 0)),
            Some(Array { data: Data::Floats(_), .. }) => Err(Stop::Fault(format!("`{name}` holds floats"))),
            None => Err(Stop::Fault(format!("the case has no `{name}`"))),
        }
    }

    /// A mask: of truth values, or of integers 0 and 1.
    pub(super) fn mask(&self, name: &str) -> Result<Tensor<Bool>, Stop> {
        match self.array(name) {
            Some(Array { dtype: DType::Bool, shape, data: Data::Whole(data) }) => {
                Ok(self.lay::<Int, i64>(data, DType::I64, shape, 0).ne(0))
            }
            _ => Ok(self.int(name)?.ne(0)),
        }
    }

    /// Whether the case has a tensor of this name, and whether it holds floats.
    pub(super) fn holds_floats(&self, name: &str) -> Option<bool> {
        self.case.arrays.get(name).map(|a| matches!(a.data, Data::Floats(_)))
    }

    /// The cotangent of a result, `ct.y` for the name `y`.
    pub(super) fn ct(&self, name: &str) -> Result<Option<Tensor>, Stop> {
        self.maybe_float(&format!("ct.{name}"))
    }

    /// `in.x0`, `in.x1` and so on, as many as there are.
    pub(super) fn list(&self) -> Result<Vec<Tensor>, Stop> {
        let names = (0..).map(|i| format!("in.x{i}")).take_while(|n| self.case.arrays.contains_key(n));
        names.map(|n| self.float(&n)).collect()
    }

    /// Parameters in the order of their names, without the leading `param.`.
    pub(super) fn params(&self) -> Vec<String> {
        self.case.arrays.keys().filter_map(|n| n.strip_prefix("param.")).map(str::to_string).collect()
    }

    /// A number.
    pub(super) fn number(&self, name: &str) -> Result<f64, Stop> {
        self.arg(name)?.as_f64().ok_or_else(|| self.odd(name, "a number"))
    }

    /// A number, or `None` for `null`.
    pub(super) fn maybe_number(&self, name: &str) -> Result<Option<f64>, Stop> {
        if self.arg(name)?.is_null() { Ok(None) } else { self.number(name).map(Some) }
    }

    /// Two numbers.
    pub(super) fn pair(&self, name: &str) -> Result<(f64, f64), Stop> {
        match self.arg(name)?.as_array().map(Vec::as_slice) {
            Some([a, b]) => a.as_f64().zip(b.as_f64()).ok_or_else(|| self.odd(name, "two numbers")),
            _ => Err(self.odd(name, "two numbers")),
        }
    }

    /// A whole number.
    pub(super) fn integer(&self, name: &str) -> Result<isize, Stop> {
        self.arg(name)?.as_i64().map(|i| i as isize).ok_or_else(|| self.odd(name, "a whole number"))
    }

    /// Whole numbers, or `None` for `null`.
    pub(super) fn integers(&self, name: &str) -> Result<Option<Vec<isize>>, Stop> {
        let value = self.arg(name)?;
        if value.is_null() {
            return Ok(None);
        }
        let list = value.as_array().and_then(|l| l.iter().map(|i| i.as_i64().map(|i| i as isize)).collect());
        list.map(Some).ok_or_else(|| self.odd(name, "whole numbers or null"))
    }

    /// True or false.
    pub(super) fn flag(&self, name: &str) -> Result<bool, Stop> {
        self.arg(name)?.as_bool().ok_or_else(|| self.odd(name, "true or false"))
    }

    /// Whether the mode is training.
    pub(super) fn training(&self) -> bool {
        self.case.training
    }

    /// A word.
    pub(super) fn word(&self, name: &str) -> Result<&'a str, Stop> {
        self.arg(name)?.as_str().ok_or_else(|| self.odd(name, "a word"))
    }

    /// An argument that only says what the shapes of the tensors say too.
    pub(super) fn implied(&self, names: &[&str]) -> Result<(), Stop> {
        names.iter().try_for_each(|n| self.arg(n).map(|_| ()))
    }

    /// The framework has this argument with this value alone.
    pub(super) fn only(&self, name: &str, value: impl Into<Value>) -> Result<(), Stop> {
        if *self.arg(name)? == value.into() { Ok(()) } else { Err(self.missing(name)) }
    }

    /// The framework does not have this argument or input.
    pub(super) fn missing(&self, name: &str) -> Stop {
        Stop::Missing(format!("{}({name})", self.case.op))
    }

    /// Arguments and tensors that nobody asked for.
    pub(super) fn unread(&self) -> Vec<String> {
        let given = |n: &&String| ["in.", "param.", "state.", "ct."].iter().any(|p| n.starts_with(p));
        let args = self.case.args.as_object().into_iter().flat_map(|o| o.keys().map(|k| format!("args.{k}")));
        let names = self.case.arrays.keys().filter(given).cloned().chain(args);
        names.filter(|n| !self.read.borrow().contains(n)).collect()
    }

    fn array(&self, name: &str) -> Option<&'a Array> {
        self.read.borrow_mut().insert(name.to_string());
        self.case.arrays.get(name)
    }

    fn arg(&self, name: &str) -> Result<&'a Value, Stop> {
        self.read.borrow_mut().insert(format!("args.{name}"));
        self.case.args.get(name).ok_or_else(|| Stop::Fault(format!("the case has no argument `{name}`")))
    }

    fn odd(&self, name: &str, expected: &str) -> Stop {
        let value = self.case.args.get(name).unwrap_or(&Value::Null);
        Stop::Fault(format!("argument `{name}` is `{value}`, expected {expected}"))
    }

    fn lay<K: Kind, E: Storage<Kind = K>>(&self, data: &[E], dtype: DType, shape: &[usize], gap: E) -> Tensor<K> {
        let make = |data: &[E], shape: &[usize]| Tensor::from_slice_of(data, shape, &Device::default()).to(dtype);
        let rank = shape.len();
        match self.layout {
            Layout::Contiguous => make(data, shape),
            Layout::Transposed => {
                let back: Vec<isize> = (0..rank as isize).rev().collect();
                let reversed: Vec<usize> = shape.iter().rev().copied().collect();
                make(&transposed(data, shape), &reversed).permute(back)
            }
            Layout::Sliced => {
                let larger: Vec<usize> = shape.iter().map(|d| d + 2).collect();
                let mut tensor = make(&padded(data, shape, gap), if rank == 0 { &[3] } else { &larger });
                for (axis, &extent) in shape.iter().enumerate() {
                    tensor = tensor.narrow(axis as isize, 1, extent);
                }
                if rank == 0 { tensor.narrow(0, 1, 1).squeeze(0) } else { tensor }
            }
        }
    }
}

/// The elements with the first axis fastest.
fn transposed<E: Copy>(data: &[E], shape: &[usize]) -> Vec<E> {
    let strides = row_major(shape);
    let reversed: Vec<usize> = shape.iter().rev().copied().collect();
    indices(&reversed).map(|index| data[index.iter().rev().zip(&strides).map(|(i, s)| i * s).sum::<usize>()]).collect()
}

/// The elements inside a border that is one element thick.
fn padded<E: Copy>(data: &[E], shape: &[usize], gap: E) -> Vec<E> {
    if shape.is_empty() {
        return vec![gap, data[0], gap];
    }
    let (strides, larger) = (row_major(shape), shape.iter().map(|d| d + 2).collect::<Vec<_>>());
    let element = |index: Vec<usize>| {
        let inside = index.iter().zip(shape).all(|(&i, &d)| (1..=d).contains(&i));
        if inside { data[index.iter().zip(&strides).map(|(i, s)| (i - 1) * s).sum::<usize>()] } else { gap }
    };
    indices(&larger).map(element).collect()
}

fn row_major(shape: &[usize]) -> Vec<usize> {
    (0..shape.len()).map(|axis| shape[axis + 1..].iter().product()).collect()
}

/// Every index of an array, last axis fastest.
fn indices(shape: &[usize]) -> impl Iterator<Item = Vec<usize>> {
    let strides = row_major(shape);
    let shape = shape.to_vec();
    (0..shape.iter().product()).map(move |i| strides.iter().zip(&shape).map(|(s, d)| i / s % d).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layouts_hold_the_same_elements() {
        assert_eq!(transposed(&[1, 2, 3, 4, 5, 6], &[2, 3]), [1, 4, 2, 5, 3, 6]);
        assert_eq!(padded(&[1, 2], &[2], 0), [0, 1, 2, 0]);
        assert_eq!(padded(&[7], &[1, 1], 0), [0, 0, 0, 0, 7, 0, 0, 0, 0]);
        assert_eq!(padded(&[7], &[], 0), [0, 7, 0]);
    }
}
