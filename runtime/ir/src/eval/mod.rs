//! The evaluator: the meaning of a kernel, slow and exact.
//!
//! Floats are `f64`, integers `i64`. Every node becomes a dense table over its free axes. It is the oracle for
//! everything that runs faster, so it also refuses what a fast kernel would do wrong in silence: places outside,
//! elements that are written twice or never.

mod dims;
mod ops;
mod table;

use crate::kernel::{Id, Kernel, Kind, Num};
use crate::link::link_verified;
use crate::verify::{Fault, verify};
use std::fmt;

/// A dense array in row-major order.
#[derive(Clone, Debug, PartialEq)]
pub struct Value {
    /// Its extents; none for a scalar.
    pub shape: Vec<usize>,
    /// Its elements.
    pub data: Data,
}

/// The elements of a [`Value`].
#[derive(Clone, Debug, PartialEq)]
pub enum Data {
    /// Of kind `Float`.
    Float(Vec<f64>),
    /// Of kind `Int`.
    Int(Vec<i64>),
    /// Of kind `Bool`.
    Bool(Vec<bool>),
}

impl Value {
    /// Floats of that shape.
    pub fn float(shape: &[usize], data: Vec<f64>) -> Value {
        Value { shape: shape.to_vec(), data: Data::Float(data) }
    }

    /// Integers of that shape.
    pub fn int(shape: &[usize], data: Vec<i64>) -> Value {
        Value { shape: shape.to_vec(), data: Data::Int(data) }
    }

    /// Truth values of that shape.
    pub fn truth(shape: &[usize], data: Vec<bool>) -> Value {
        Value { shape: shape.to_vec(), data: Data::Bool(data) }
    }

    /// Its floats; none if it holds something else.
    pub fn floats(&self) -> &[f64] {
        match &self.data {
            Data::Float(data) => data,
            Data::Int(_) | Data::Bool(_) => &[],
        }
    }

    /// Its integers; none if it holds something else.
    pub fn ints(&self) -> &[i64] {
        match &self.data {
            Data::Int(data) => data,
            Data::Float(_) | Data::Bool(_) => &[],
        }
    }

    /// What it holds.
    pub fn kind(&self) -> Kind {
        match self.data {
            Data::Float(_) => Kind::Float,
            Data::Int(_) => Kind::Int,
            Data::Bool(_) => Kind::Bool,
        }
    }

    fn len(&self) -> usize {
        match &self.data {
            Data::Float(data) => data.len(),
            Data::Int(data) => data.len(),
            Data::Bool(data) => data.len(),
        }
    }

    /// The bits of an element.
    fn bits(&self, at: usize) -> Num {
        match &self.data {
            Data::Float(data) => Num::float(data[at]),
            Data::Int(data) => Num::int(data[at]),
            Data::Bool(data) => Num::bool(data[at]),
        }
    }

    fn of_bits(shape: Vec<usize>, kind: Kind, bits: &[Num]) -> Value {
        let bits = bits.iter();
        let data = match kind {
            Kind::Float => Data::Float(bits.map(|n| n.as_float()).collect()),
            Kind::Int => Data::Int(bits.map(|n| n.as_int()).collect()),
            Kind::Bool => Data::Bool(bits.map(|n| n.as_bool()).collect()),
        };
        Value { shape, data }
    }
}

/// Why a kernel has no value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EvalError {
    /// The kernel is faulty.
    Faulty(Vec<Fault>),
    /// The wrong number of arguments.
    Count {
        /// How many the kernel takes.
        takes: usize,
        /// How many there are.
        given: usize,
    },
    /// An argument of the wrong kind.
    Kind {
        /// The argument.
        name: String,
        /// Its kind.
        takes: Kind,
        /// The value's kind.
        given: Kind,
    },
    /// An argument of the wrong shape.
    Shape {
        /// The argument.
        name: String,
        /// Its extents as far as the other arguments determine them, -1 where they do not.
        takes: Vec<i64>,
        /// The value's extents.
        given: Vec<usize>,
    },
    /// A value whose elements do not fill its shape.
    Length {
        /// The argument.
        name: String,
    },
    /// An extent that no argument determines.
    Unknown {
        /// Its symbol.
        dim: String,
    },
    /// An axis or output of a negative extent.
    Negative {
        /// The axis or output.
        name: String,
        /// The extent.
        extent: i64,
    },
    /// A load outside its argument.
    Outside {
        /// The load.
        node: Id,
        /// The argument.
        name: String,
        /// Where it looked.
        at: Vec<i64>,
        /// The argument's extents.
        shape: Vec<usize>,
    },
    /// A store outside its output.
    StoreOutside {
        /// The output.
        name: String,
        /// Where it wrote.
        at: Vec<i64>,
        /// The output's extents.
        shape: Vec<usize>,
    },
    /// An element that is written twice, though nothing is to be added.
    Twice {
        /// The output.
        name: String,
        /// Where.
        at: Vec<i64>,
    },
    /// An output with elements that are not written, though its mode says that all are.
    Gaps {
        /// The output.
        name: String,
    },
    /// A table of more elements than the evaluator is made for.
    Large,
}

impl fmt::Display for EvalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EvalError::Faulty(faults) => {
                let faults: Vec<String> = faults.iter().map(Fault::to_string).collect();
                write!(f, "{}", faults.join("; "))
            }
            EvalError::Count { takes, given } => write!(f, "the kernel takes {takes} arguments, but gets {given}"),
            EvalError::Kind { name, takes, given } => {
                write!(f, "`{name}` is {}, but gets {}", takes.phrase(), given.phrase())
            }
            EvalError::Shape { name, takes, given } => write!(f, "`{name}` is {takes:?}, but gets {given:?}"),
            EvalError::Length { name } => write!(f, "the elements of `{name}` do not fill its shape"),
            EvalError::Unknown { dim } => write!(f, "no argument determines the extent `{dim}`"),
            EvalError::Negative { name, extent } => write!(f, "the extent of `{name}` is {extent}"),
            EvalError::Outside { name, at, shape, .. } => {
                write!(f, "`{name}` is {shape:?}, but is read at {at:?} without a guard")
            }
            EvalError::StoreOutside { name, at, shape } => write!(f, "`{name}` is {shape:?}, but is written at {at:?}"),
            EvalError::Twice { name, at } => write!(f, "`{name}` is written twice at {at:?}"),
            EvalError::Gaps { name } => write!(f, "`{name}` is not written everywhere"),
            EvalError::Large => write!(f, "a table is larger than 2^26 elements"),
        }
    }
}

impl std::error::Error for EvalError {}

/// The outputs of a kernel for these arguments, whose shapes determine the symbolic extents.
///
/// # Errors
/// A faulty kernel, arguments that do not fit, or places outside.
pub fn eval(kernel: &Kernel, args: &[Value]) -> Result<Vec<Value>, EvalError> {
    eval_sized(kernel, args, &[])
}

/// As [`eval`], where some symbolic extents are known beforehand: entry `d` is that of `kernel.dims[d]`. A gradient needs
/// it whose arguments do not show its shape.
///
/// # Errors
/// As [`eval`].
pub fn eval_sized(kernel: &Kernel, args: &[Value], dims: &[Option<i64>]) -> Result<Vec<Value>, EvalError> {
    let faults = verify(kernel);
    if !faults.is_empty() {
        return Err(EvalError::Faulty(faults));
    }
    let linked;
    let kernel = if kernel.callees.is_empty() {
        kernel
    } else {
        linked = link_verified(kernel).finish();
        &linked
    };
    check_args(kernel, args)?;
    let (_, sizes) = dims::solve(kernel, args, dims)?;
    table::Tables::new(kernel, args, &sizes)?.run()
}

/// The symbolic extents as far as the arguments' shapes determine them, for [`eval_sized`].
///
/// # Errors
/// A faulty kernel, or arguments that do not fit.
pub fn extents(kernel: &Kernel, args: &[Value]) -> Result<Vec<Option<i64>>, EvalError> {
    let faults = verify(kernel);
    if !faults.is_empty() {
        return Err(EvalError::Faulty(faults));
    }
    check_args(kernel, args)?;
    Ok(dims::solve(kernel, args, &[])?.0)
}

fn check_args(kernel: &Kernel, args: &[Value]) -> Result<(), EvalError> {
    if kernel.args.len() != args.len() {
        return Err(EvalError::Count { takes: kernel.args.len(), given: args.len() });
    }
    for (def, value) in kernel.args.iter().zip(args) {
        let name = || def.name.to_string();
        if def.kind != value.kind() {
            return Err(EvalError::Kind { name: name(), takes: def.kind, given: value.kind() });
        }
        let elements = value.shape.iter().try_fold(1usize, |n, &d| n.checked_mul(d));
        if elements != Some(value.len()) {
            return Err(EvalError::Length { name: name() });
        }
        if def.dims.len() != value.shape.len() {
            let takes = vec![-1; def.dims.len()];
            return Err(EvalError::Shape { name: name(), takes, given: value.shape.clone() });
        }
    }
    Ok(())
}
