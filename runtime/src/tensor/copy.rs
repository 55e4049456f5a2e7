//! Kernels that move values: copies, fills and conversions between dtypes.

use super::of_each_size;
use cotangent_hal::{DType, Kernel, kernel};

/// The kernel that sets elements of `dtype` to its scalar.
pub(super) fn fill_kernel(dtype: DType) -> &'static Kernel {
    match dtype {
        DType::F64 | DType::F32 | DType::F16 | DType::BF16 => &FILL_FLOAT,
        DType::I64 | DType::I32 | DType::U8 => &FILL_INT,
        DType::Bool => &FILL_BOOL,
    }
}

/// The kernel that converts elements, or `None` where there is nothing to convert.
pub(super) fn cast_kernel(from: DType, to: DType) -> Option<&'static Kernel> {
    if from == to {
        return None;
    }
    Some(match (from.compute(), to.compute()) {
        (DType::Bool, DType::I64) => &BOOL_TO_INT,
        (DType::Bool, _) => &BOOL_TO_FLOAT,
        (DType::I64, DType::Bool) => &INT_TO_BOOL,
        (DType::I64, DType::I64) => &COPY_INT,
        (DType::I64, _) => &INT_TO_FLOAT,
        (_, DType::Bool) => &FLOAT_TO_BOOL,
        (_, DType::I64) => &FLOAT_TO_INT,
        (_, _) => &COPY_FLOAT,
    })
}

macro_rules! copy {
    ($NAME:ident $W:ident) => {
        kernel! {
            static $NAME = Pointwise "copy" (x: Each $W) -> (y: Each $W) |tile| { y.copy_from_slice(x); }
        }
    };
}
of_each_size!(copy => pub(super) COPY);

kernel! {
    /// `y = x`.
    static COPY_FLOAT = Pointwise "copy" (x: Each F32) -> (y: Each F32) |tile| { y.copy_from_slice(x); }
}
kernel! {
    /// `y = x`.
    static COPY_INT = Pointwise "copy" (x: Each I64) -> (y: Each I64) |tile| { y.copy_from_slice(x); }
}
kernel! {
    /// `y = value`.
    static FILL_FLOAT = Pointwise "fill" (; value) -> (y: Each F32) |tile| { y.fill(Real::from(value)); }
}
kernel! {
    /// `y = value`.
    static FILL_INT = Pointwise "fill" (; value) -> (y: Each I64) |tile| { y.fill(value.i64()); }
}
kernel! {
    /// `y = value`.
    static FILL_BOOL = Pointwise "fill" (; value) -> (y: Each Bool) |tile| { y.fill(value.i64() != 0); }
}
kernel! {
    /// `y = x` towards zero; NaN becomes 0, what is out of range the nearest integer.
    static FLOAT_TO_INT = Pointwise "int" (x: Each F32) -> (y: Each I64) |tile| {
        for i in 0..tile.1 {
            y[i] = x[i] as i64;
        }
    }
}
kernel! {
    /// `y = x != 0`.
    static FLOAT_TO_BOOL = Pointwise "bool" (x: Each F32) -> (y: Each Bool) |tile| {
        for i in 0..tile.1 {
            y[i] = x[i] != 0.0;
        }
    }
}
kernel! {
    /// `y = x`, rounded to the nearest float.
    static INT_TO_FLOAT = Pointwise "float" (x: Each I64) -> (y: Each F32) |tile| {
        for i in 0..tile.1 {
            y[i] = x[i] as Real;
        }
    }
}
kernel! {
    /// `y = x != 0`.
    static INT_TO_BOOL = Pointwise "bool" (x: Each I64) -> (y: Each Bool) |tile| {
        for i in 0..tile.1 {
            y[i] = x[i] != 0;
        }
    }
}
kernel! {
    /// `y = 1` where `x` is true, else 0.
    static BOOL_TO_FLOAT = Pointwise "float" (x: Each Bool) -> (y: Each F32) |tile| {
        for i in 0..tile.1 {
            y[i] = x[i] as u8 as Real;
        }
    }
}
kernel! {
    /// `y = 1` where `x` is true, else 0.
    static BOOL_TO_INT = Pointwise "int" (x: Each Bool) -> (y: Each I64) |tile| {
        for i in 0..tile.1 {
            y[i] = x[i] as i64;
        }
    }
}
