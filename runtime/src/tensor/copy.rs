//! Kernels that move values: copies, fills and conversions between dtypes.

use cotangent_hal::{DType, Kernel, kernel};

/// The kernel that copies elements of `dtype`.
pub(super) fn copy_kernel(dtype: DType) -> &'static Kernel {
    match dtype {
        DType::F32 => &COPY_F32,
        DType::I64 => &COPY_I64,
        DType::Bool => &COPY_BOOL,
    }
}

/// The kernel that sets elements of `dtype` to its scalar.
pub(super) fn fill_kernel(dtype: DType) -> &'static Kernel {
    match dtype {
        DType::F32 => &FILL_F32,
        DType::I64 => &FILL_I64,
        DType::Bool => &FILL_BOOL,
    }
}

/// The kernel that converts elements, or `None` where there is nothing to convert.
pub(super) fn cast_kernel(from: DType, to: DType) -> Option<&'static Kernel> {
    match (from, to) {
        (DType::F32, DType::F32) | (DType::I64, DType::I64) | (DType::Bool, DType::Bool) => None,
        (DType::F32, DType::I64) => Some(&F32_TO_I64),
        (DType::F32, DType::Bool) => Some(&F32_TO_BOOL),
        (DType::I64, DType::F32) => Some(&I64_TO_F32),
        (DType::I64, DType::Bool) => Some(&I64_TO_BOOL),
        (DType::Bool, DType::F32) => Some(&BOOL_TO_F32),
        (DType::Bool, DType::I64) => Some(&BOOL_TO_I64),
    }
}

kernel! {
    /// `y = x`.
    static COPY_F32 = Pointwise "copy" (x: Each F32) -> (y: Each F32) |tile| { y.copy_from_slice(x); }
}
kernel! {
    /// `y = x`.
    static COPY_I64 = Pointwise "copy" (x: Each I64) -> (y: Each I64) |tile| { y.copy_from_slice(x); }
}
kernel! {
    /// `y = x`.
    static COPY_BOOL = Pointwise "copy" (x: Each Bool) -> (y: Each Bool) |tile| { y.copy_from_slice(x); }
}
kernel! {
    /// `y = value`.
    static FILL_F32 = Pointwise "fill" (; value) -> (y: Each F32) |tile| { y.fill(value.f32()); }
}
kernel! {
    /// `y = value`.
    static FILL_I64 = Pointwise "fill" (; value) -> (y: Each I64) |tile| { y.fill(value.i64()); }
}
kernel! {
    /// `y = value`.
    static FILL_BOOL = Pointwise "fill" (; value) -> (y: Each Bool) |tile| { y.fill(value.i64() != 0); }
}
kernel! {
    /// `y = x` towards zero; NaN becomes 0, what is out of range the nearest integer.
    static F32_TO_I64 = Pointwise "int" (x: Each F32) -> (y: Each I64) |tile| {
        for i in 0..tile.1 {
            y[i] = x[i] as i64;
        }
    }
}
kernel! {
    /// `y = x != 0`.
    static F32_TO_BOOL = Pointwise "bool" (x: Each F32) -> (y: Each Bool) |tile| {
        for i in 0..tile.1 {
            y[i] = x[i] != 0.0;
        }
    }
}
kernel! {
    /// `y = x`, rounded to the nearest `f32`.
    static I64_TO_F32 = Pointwise "float" (x: Each I64) -> (y: Each F32) |tile| {
        for i in 0..tile.1 {
            y[i] = x[i] as f32;
        }
    }
}
kernel! {
    /// `y = x != 0`.
    static I64_TO_BOOL = Pointwise "bool" (x: Each I64) -> (y: Each Bool) |tile| {
        for i in 0..tile.1 {
            y[i] = x[i] != 0;
        }
    }
}
kernel! {
    /// `y = 1` where `x` is true, else 0.
    static BOOL_TO_F32 = Pointwise "float" (x: Each Bool) -> (y: Each F32) |tile| {
        for i in 0..tile.1 {
            y[i] = x[i] as u8 as f32;
        }
    }
}
kernel! {
    /// `y = 1` where `x` is true, else 0.
    static BOOL_TO_I64 = Pointwise "int" (x: Each Bool) -> (y: Each I64) |tile| {
        for i in 0..tile.1 {
            y[i] = x[i] as i64;
        }
    }
}
