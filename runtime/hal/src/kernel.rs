use crate::{DType, native::Native};

/// A tensor operation as data: its operands and its native form.
///
/// A launch walks a *domain*, an index space given by a shape, and calls the native form on tiles of it. Inside a
/// tile every operand is a contiguous slice: strides, broadcasting, threads and bounds are the driver's.
///
/// | domain | a tile | operands with [`Access::Each`] | with [`Access::PerRow`] |
/// |---|---|---|---|
/// | [`Domain::Pointwise`] | a run of the collapsed index space | one value an index | not allowed |
/// | [`Domain::Rows`] | one row: all of the last axis | the row's values | one value |
///
/// [`Access::Each`] views have the domain's shape (broadcast axes with stride 0), [`Access::PerRow`] views the
/// domain's shape without its last axis, [`Access::PerColumn`] outputs the last axis alone, [`Access::Total`] outputs no
/// axis, [`Access::Whole`] and [`Access::Part`] views any shape, the latter at least one axis.
///
/// An operand's dtype is the one that the body computes in. The view of a launch may store another dtype of the same
/// kind ([`Operand::accepts`]): the driver converts on the way into a tile, and rounds once (to nearest, ties to even;
/// integers wrap) on the way out. A float view of `F64` makes the launch one of [`Kernel::native64`], where all floats
/// are seen as `f64`.
pub struct Kernel {
    /// The name in errors and reports: that of the operation.
    pub name: &'static str,
    /// How the index space is cut into tiles.
    pub domain: Domain,
    /// Tensors and how each is seen by a tile: all inputs, then all outputs.
    pub operands: &'static [Operand],
    /// The number of scalars that follow the operands.
    pub scalars: usize,
    /// The compiled loops, one variant an instruction set.
    pub native: Native,
    /// The loops over `f64` where `native` has `f32`, for launches with a view of `F64`; without them no float operand
    /// accepts one.
    pub native64: Option<Native>,
}

/// How an index space is cut into tiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Domain {
    /// Runs of the collapsed index, in row-major order.
    Pointwise,
    /// Rows: the last axis is whole in every tile, all others are collapsed.
    Rows,
}

/// One tensor of a kernel.
#[derive(Clone, Copy, Debug)]
pub struct Operand {
    /// The name in errors.
    pub name: &'static str,
    /// Whether it is read, written or both.
    pub role: Role,
    /// The part of it that a tile sees.
    pub access: Access,
    /// The dtype that a tile sees it in: `F32`, `I64` or `Bool`; for kernels that move elements without looking at them
    /// also `F16` and `U8`, which a tile sees as their bits and which are not converted.
    pub dtype: DType,
}

impl Operand {
    /// Whether the declared dtype is one that a tile can see.
    pub fn is_computed(&self) -> bool {
        matches!(self.dtype, DType::F32 | DType::I64 | DType::Bool | DType::F16 | DType::U8)
    }

    /// Whether a tile can add up values of the declared dtype.
    pub fn is_summable(&self) -> bool {
        matches!(self.dtype, DType::F32 | DType::I64)
    }

    /// The dtypes that a view of this operand of `kernel` may store.
    pub fn accepts(&self, kernel: &Kernel) -> &'static [DType] {
        match (self.dtype, &kernel.native64) {
            (DType::F64 | DType::F32 | DType::BF16, Some(_)) => &DType::FLOATS,
            (DType::F64 | DType::F32 | DType::BF16, None) => &[DType::F32, DType::F16, DType::BF16],
            (DType::I64 | DType::I32, _) => &DType::INTS,
            (DType::Bool, _) => &[DType::Bool],
            (DType::F16, _) => &[DType::F16],
            (DType::U8, _) => &[DType::U8],
        }
    }
}

/// Whether an operand is read or written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Read only.
    In,
    /// Written, its old contents unspecified.
    Out,
    /// Read and written in place: optimiser updates.
    InOut,
}

/// The part of an operand that a tile sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// One value for each index of the tile.
    Each,
    /// One value for each row (domain [`Domain::Rows`]).
    PerRow,
    /// Output only: an accumulator for each index of the last axis, zero at first, summed over the rows in an order
    /// that does not depend on the number of threads (domain [`Domain::Rows`]).
    PerColumn,
    /// Output only: one accumulator, zero at first, summed over the tiles in an order that does not depend on the number
    /// of threads.
    Total,
    /// All of it, contiguous. A kernel with such an output runs as one sequence of tiles, in order, on one thread, and
    /// finds the output zeroed.
    Whole,
    /// Output or in-out only: all that belongs to a range of its first axis, contiguous, an output's zero at first
    /// ([`Tile::part`](crate::native::Tile::part)). The sequence of tiles is run for each of several ranges, at once, so
    /// that what a tile writes to one must not depend on how the axis is cut.
    Part,
}

/// A number passed to a kernel by value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scalar {
    /// A real number, rounded to the kernel's precision.
    Float(f64),
    /// An integer; keys of random generators too, bit by bit.
    Int(i64),
}

impl Scalar {
    /// The number as `f32`.
    pub fn f32(self) -> f32 {
        match self {
            Scalar::Float(v) => v as f32,
            Scalar::Int(v) => v as f32,
        }
    }

    /// The number as `f64`.
    pub fn f64(self) -> f64 {
        match self {
            Scalar::Float(v) => v,
            Scalar::Int(v) => v as f64,
        }
    }

    /// The number as `i64`, a float truncated towards 0.
    pub fn i64(self) -> i64 {
        match self {
            Scalar::Float(v) => v as i64,
            Scalar::Int(v) => v,
        }
    }
}

/// As [`Scalar::f32`]; a kernel's body writes `Real::from(n)`.
impl From<Scalar> for f32 {
    fn from(n: Scalar) -> f32 {
        n.f32()
    }
}

/// As [`Scalar::f64`]; a kernel's body writes `Real::from(n)`.
impl From<Scalar> for f64 {
    fn from(n: Scalar) -> f64 {
        n.f64()
    }
}
