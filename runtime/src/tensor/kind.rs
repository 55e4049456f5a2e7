//! Kinds of tensors, and the Rust numbers that their elements are read as.

use super::Tensor;
use crate::diff::Cotangent;
use bytemuck::Pod;
use cotangent_hal::{DType, Scalar};

/// Kind of tensors that carry derivatives: floats of any precision.
#[derive(Clone, Copy, Debug)]
pub enum Float {}

/// Kind of tensors of integers: indices, labels, counts.
#[derive(Clone, Copy, Debug)]
pub enum Int {}

/// Kind of tensors of truth values: masks.
#[derive(Clone, Copy, Debug)]
pub enum Bool {}

/// What the elements of a tensor are; the precision is a run-time property. Sealed.
pub trait Kind: Sized + Send + Sync + 'static + sealed::Sealed {
    /// The Rust type that elements are read as.
    type Element: Element<Kind = Self>;
    /// The cotangent of a tensor of this kind: `Option<Tensor>` for floats, `()` for all else.
    type Ct: Cotangent + Send + 'static;
    /// The kind's precisions.
    const DTYPES: &'static [DType];
    /// Whether tensors of this kind carry a derivative.
    const ACTIVE: bool;

    /// Whether `dtype` is a precision of this kind.
    fn accepts(dtype: DType) -> bool {
        Self::DTYPES.contains(&dtype)
    }

    /// A cotangent of this kind; nothing where the kind has no derivative.
    #[doc(hidden)]
    fn ct(tensor: Option<Tensor>) -> Self::Ct;

    /// The tensor of a cotangent of this kind; `None` where it is zero.
    #[doc(hidden)]
    fn ct_tensor(ct: Self::Ct) -> Option<Tensor>;
}

/// A Rust number that a tensor can be made of: `f32`, `i64`, `bool`. Sealed.
pub trait Element: Copy + Send + Sync + 'static + sealed::Sealed {
    /// The kind of tensors made of it.
    type Kind: Kind<Element = Self>;
    /// The dtype of tensors made of it.
    const DTYPE: DType;

    /// What lies in memory.
    #[doc(hidden)]
    type Stored: Pod;
    /// The number as an argument of a kernel.
    #[doc(hidden)]
    fn scalar(self) -> Scalar;
    /// The bytes of elements as they lie in memory.
    #[doc(hidden)]
    fn bytes(values: &[Self]) -> &[u8];
    /// The element that lies in memory as `stored`.
    #[doc(hidden)]
    fn of(stored: Self::Stored) -> Self;
}

impl Kind for Float {
    type Element = f32;
    type Ct = Option<Tensor>;
    const DTYPES: &'static [DType] = &[DType::F32];
    const ACTIVE: bool = true;

    fn ct(tensor: Option<Tensor>) -> Option<Tensor> {
        tensor
    }
    fn ct_tensor(ct: Option<Tensor>) -> Option<Tensor> {
        ct
    }
}

/// Kinds without a derivative.
macro_rules! inactive {
    ($($kind:ident of $element:ident as $dtype:ident),*) => { $(
        impl Kind for $kind {
            type Element = $element;
            type Ct = ();
            const DTYPES: &'static [DType] = &[DType::$dtype];
            const ACTIVE: bool = false;

            fn ct(_: Option<Tensor>) {}
            fn ct_tensor((): ()) -> Option<Tensor> {
                None
            }
        }
    )* };
}
inactive!(Int of i64 as I64, Bool of bool as Bool);

impl Element for f32 {
    type Kind = Float;
    type Stored = f32;
    const DTYPE: DType = DType::F32;

    fn scalar(self) -> Scalar {
        Scalar::Float(f64::from(self))
    }
    fn bytes(values: &[f32]) -> &[u8] {
        bytemuck::cast_slice(values)
    }
    fn of(stored: f32) -> f32 {
        stored
    }
}

impl Element for i64 {
    type Kind = Int;
    type Stored = i64;
    const DTYPE: DType = DType::I64;

    fn scalar(self) -> Scalar {
        Scalar::Int(self)
    }
    fn bytes(values: &[i64]) -> &[u8] {
        bytemuck::cast_slice(values)
    }
    fn of(stored: i64) -> i64 {
        stored
    }
}

impl Element for bool {
    type Kind = Bool;
    type Stored = u8;
    const DTYPE: DType = DType::Bool;

    fn scalar(self) -> Scalar {
        Scalar::Int(i64::from(self))
    }
    fn bytes(values: &[bool]) -> &[u8] {
        bytemuck::cast_slice(values)
    }
    fn of(stored: u8) -> bool {
        stored != 0
    }
}

mod sealed {
    /// Keeps the traits of this module to the types of this module.
    pub trait Sealed {}
    impl Sealed for super::Float {}
    impl Sealed for super::Int {}
    impl Sealed for super::Bool {}
    impl Sealed for f32 {}
    impl Sealed for i64 {}
    impl Sealed for bool {}
}
