//! What stands beside a tensor in an operation: another tensor or a number.

use crate::diff::Cotangent;
use crate::tensor::{Float, Int, Kind, Tensor};
use cotangent_hal::{DType, Scalar};

/// A number that a tensor operation takes by value.
pub trait Number: Copy + sealed::Sealed + Send + 'static {
    #[doc(hidden)]
    fn number(self) -> Scalar;
}

/// What may stand beside a float tensor: a tensor by value or by reference, or a number. An integer tensor is converted
/// to the float tensor's dtype.
pub trait Operand: sealed::Sealed {
    /// Its cotangent: that of a tensor for float tensors, `()` for everything else.
    type Ct: Slot;
    /// The operand beside a tensor of that dtype.
    #[doc(hidden)]
    fn operand(self, beside: DType) -> Value<Float>;
    /// The dtype of a float tensor.
    #[doc(hidden)]
    fn float_dtype(&self) -> Option<DType> {
        None
    }
    /// The number, where it is one.
    #[doc(hidden)]
    fn as_number(&self) -> Option<Scalar> {
        None
    }
    /// The shape of a tensor; a number has no axes.
    #[doc(hidden)]
    fn extents(&self) -> &[usize] {
        &[]
    }
}

/// What may stand beside an integer tensor so that the result is one too: an integer tensor by value or by reference,
/// or an integer.
pub trait IntOperand: sealed::Sealed {
    #[doc(hidden)]
    fn operand(self) -> Value<Int>;
}

/// An operand, sorted out.
#[doc(hidden)]
#[derive(Debug)]
pub enum Value<K: Kind> {
    /// A tensor.
    Tensor(Tensor<K>),
    /// A number.
    Number(Scalar),
}

/// The place of an operand in the result of a pullback.
pub trait Slot: Cotangent + 'static {
    #[doc(hidden)]
    fn slot(ct: Option<Tensor>) -> Self;
}

impl Slot for Option<Tensor> {
    fn slot(ct: Option<Tensor>) -> Self {
        ct
    }
}

impl Slot for () {
    fn slot(_: Option<Tensor>) -> Self {}
}

mod sealed {
    pub trait Sealed {}
}

impl<K: Kind> sealed::Sealed for Tensor<K> {}
impl<K: Kind> sealed::Sealed for &Tensor<K> {}

macro_rules! numbers {
    ($variant:ident($wide:ty): $($t:ty),*) => { $(
        impl sealed::Sealed for $t {}
        impl Number for $t {
            fn number(self) -> Scalar {
                Scalar::$variant(self as $wide)
            }
        }
        impl Operand for $t {
            type Ct = ();
            fn operand(self, _: DType) -> Value<Float> {
                Value::Number(Scalar::Float(self as f64))
            }
            fn as_number(&self) -> Option<Scalar> {
                Some(Scalar::Float(*self as f64))
            }
        }
    )* };
}
numbers!(Float(f64): f32, f64);
numbers!(Int(i64): i32, i64, usize);

macro_rules! int_numbers {
    ($($t:ty),*) => { $(
        impl IntOperand for $t {
            fn operand(self) -> Value<Int> {
                Value::Number(Scalar::Int(self as i64))
            }
        }
    )* };
}
int_numbers!(i32, i64, usize);

impl Operand for Tensor {
    type Ct = Option<Tensor>;
    fn extents(&self) -> &[usize] {
        self.shape()
    }
    fn operand(self, _: DType) -> Value<Float> {
        Value::Tensor(self)
    }
    fn float_dtype(&self) -> Option<DType> {
        Some(self.dtype())
    }
}

impl Operand for &Tensor {
    type Ct = Option<Tensor>;
    fn extents(&self) -> &[usize] {
        self.shape()
    }
    fn operand(self, _: DType) -> Value<Float> {
        Value::Tensor(self.clone())
    }
    fn float_dtype(&self) -> Option<DType> {
        Some(self.dtype())
    }
}

impl Operand for Tensor<Int> {
    type Ct = ();
    fn extents(&self) -> &[usize] {
        self.shape()
    }
    fn operand(self, beside: DType) -> Value<Float> {
        Value::Tensor(self.floats(beside))
    }
}

impl Operand for &Tensor<Int> {
    type Ct = ();
    fn extents(&self) -> &[usize] {
        self.shape()
    }
    fn operand(self, beside: DType) -> Value<Float> {
        Value::Tensor(self.clone().floats(beside))
    }
}

impl IntOperand for Tensor<Int> {
    fn operand(self) -> Value<Int> {
        Value::Tensor(self)
    }
}

impl IntOperand for &Tensor<Int> {
    fn operand(self) -> Value<Int> {
        Value::Tensor(self.clone())
    }
}
