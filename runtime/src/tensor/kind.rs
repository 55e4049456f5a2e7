//! Kinds of tensors, and the Rust numbers that their elements are read as.

use super::Tensor;
use crate::diff::Cotangent;
use bytemuck::Pod;
use cotangent_hal::{DType, Scalar};
use half::slice::HalfFloatSliceExt;
use half::{bf16, f16};

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
    /// The Rust type that elements are read as unless another is asked for.
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

/// A Rust number as which elements are stored: `f64`, `f32`, `half::f16`, `half::bf16`, `i64`, `i32`, `u8`, `bool`.
/// Sealed.
pub trait Storage: Copy + Send + Sync + 'static + sealed::Sealed {
    /// The kind of tensors made of it.
    type Kind: Kind;
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

/// The Rust number that stands for a kind of tensors: `f32`, `i64`, `bool`. Sealed.
///
/// There is one a kind, so that the literals of `Tensor::from_slice(&[1.0, 2.0], ..)` are `f32`, as in PyTorch, rather
/// than the `f64` that Rust takes where several types fit.
pub trait Element: Storage<Kind: Kind<Element = Self>> {}

impl Element for f32 {}
impl Element for i64 {}
impl Element for bool {}

impl Kind for Float {
    type Element = f32;
    type Ct = Option<Tensor>;
    const DTYPES: &'static [DType] = &DType::FLOATS;
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
    ($($kind:ident of $element:ident as $dtypes:expr),*) => { $(
        impl Kind for $kind {
            type Element = $element;
            type Ct = ();
            const DTYPES: &'static [DType] = $dtypes;
            const ACTIVE: bool = false;

            fn ct(_: Option<Tensor>) {}
            fn ct_tensor((): ()) -> Option<Tensor> {
                None
            }
        }
    )* };
}
inactive!(Int of i64 as &DType::INTS, Bool of bool as &[DType::Bool]);

/// Numbers that lie in memory as they are.
macro_rules! plain {
    ($($t:ident: $kind:ident $dtype:ident, $number:ident $wide:ident;)*) => { $(
        impl Storage for $t {
            type Kind = $kind;
            type Stored = $t;
            const DTYPE: DType = DType::$dtype;

            fn scalar(self) -> Scalar {
                Scalar::$number($wide::from(self))
            }
            fn bytes(values: &[$t]) -> &[u8] {
                bytemuck::cast_slice(values)
            }
            fn of(stored: $t) -> $t {
                stored
            }
        }
    )* };
}
plain! {
    f64: Float F64, Float f64;
    f32: Float F32, Float f64;
    i64: Int I64, Int i64;
    i32: Int I32, Int i64;
    u8: Int U8, Int i64;
}

/// Floats of 16 bits, which lie in memory as their bits.
macro_rules! halves {
    ($($t:ident $dtype:ident)*) => { $(
        impl Storage for $t {
            type Kind = Float;
            type Stored = u16;
            const DTYPE: DType = DType::$dtype;

            fn scalar(self) -> Scalar {
                Scalar::Float(f64::from(self))
            }
            fn bytes(values: &[$t]) -> &[u8] {
                bytemuck::cast_slice(values.reinterpret_cast())
            }
            fn of(stored: u16) -> $t {
                $t::from_bits(stored)
            }
        }
    )* };
}
halves!(f16 F16 bf16 BF16);

impl Storage for bool {
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
    impl Sealed for f64 {}
    impl Sealed for f32 {}
    impl Sealed for half::f16 {}
    impl Sealed for half::bf16 {}
    impl Sealed for i64 {}
    impl Sealed for i32 {}
    impl Sealed for u8 {}
    impl Sealed for bool {}
}
