//! Sums, differences, products, quotients, maxima and minima of two operands, with broadcasting.
//!
//! The operators of `std::ops` and the companions of binary operators are in the module `operators`.

#![allow(non_snake_case, reason = "companions are named `<operation>__vjp`")]

use super::arith_pullback::{BinaryPullback, apply_vjp};
use super::elementwise::{Forms, Function, Pair, PairSlope, Slope, binary, unary};
use super::operand::{IntOperand, Operand, Value};
use crate::diff::Want;
use crate::tensor::{Float, Int, Tensor};
use cotangent_hal::Scalar;

cotangent_macros::binary! { add of both; sub of both; mul of both; div of both; maximum; minimum; }

/// `f(a, b)`.
#[track_caller]
pub(crate) fn apply(f: &Forms, a: Tensor, b: Value<Float>) -> Tensor {
    match b {
        Value::Tensor(b) => Tensor::from_raw(binary(f.pair.forward, a.raw, b.raw, &[])),
        Value::Number(n) => f.right.of(a, &[n]),
    }
}

/// `f(a, b)` of integers.
#[track_caller]
pub(crate) fn apply_int(f: &Forms, a: Tensor<Int>, b: Value<Int>) -> Tensor<Int> {
    Tensor::from_raw(match b {
        Value::Tensor(b) => binary(f.pair.forward, a.raw, b.raw, &[]),
        Value::Number(n) => unary(f.right.forward, a.raw, &[n]),
    })
}

/// `f(n, x)` of integers.
#[track_caller]
pub(crate) fn apply_int_left(f: &Function, n: Scalar, x: Tensor<Int>) -> Tensor<Int> {
    f.of(x, &[n])
}

/// The quotient of integers as floats, `f32` as in PyTorch.
#[track_caller]
pub(crate) fn divide_int(a: Tensor<Int>, b: Value<Int>) -> Tensor {
    let b = match b {
        Value::Tensor(b) => Value::Tensor(b.float()),
        Value::Number(n) => Value::Number(Scalar::Float(n.f64())),
    };
    apply(&div::FLOATS_FORMS, a.float(), b)
}

/// Declares methods of float tensors and their companions, with a paragraph that all docs end in.
macro_rules! float_methods {
    ($of_all:literal $($(#[$doc:meta])* $name:ident, $companion:ident;)*) => {
        #[allow(clippy::should_implement_trait, reason = "the traits are implemented too, for more left operands")]
        impl Tensor {
            $(
                $(#[$doc])*
                #[doc = ""]
                #[doc = $of_all]
                #[track_caller]
                pub fn $name<R: Operand>(self, other: R) -> Tensor {
                    let other = other.operand(self.dtype());
                    apply(&$name::FLOATS_FORMS, self, other)
                }
                #[doc(hidden)]
                #[track_caller]
                pub fn $companion<R: Operand>(
                    self,
                    other: R,
                    want: Want,
                ) -> (Tensor, BinaryPullback<Option<Tensor>, R::Ct>) {
                    let other = other.operand(self.dtype());
                    apply_vjp(&$name::FLOATS_FORMS, self, other, (want.has(0), want.has(1)))
                }
            )*
        }
    };
}
pub(super) use float_methods;

/// Declares methods of integer tensors by a function of their forms, with a paragraph that all docs end in.
macro_rules! int_methods {
    (by $apply:ident, $of_all:literal $($(#[$doc:meta])* $name:ident;)*) => {
        #[allow(clippy::should_implement_trait, reason = "the traits are implemented too, for more left operands")]
        impl Tensor<Int> {
            $(
                $(#[$doc])*
                #[doc = ""]
                #[doc = $of_all]
                #[track_caller]
                pub fn $name<R: IntOperand>(self, other: R) -> Tensor<Int> {
                    $apply(&$name::INTS_FORMS, self, other.operand())
                }
            )*
        }
    };
}
pub(super) use int_methods;

float_methods! {
    "Dtypes are promoted, except that a number, and a tensor without axes beside one with axes, takes the other's. Shapes \
     broadcast: axes are aligned at the end, and an extent of 1 is repeated. Raises `Error::Shape` where two extents differ."
    /// `self + other`, element by element.
    add, add__vjp;
    /// `self - other`, element by element.
    sub, sub__vjp;
    /// `self * other`, element by element.
    mul, mul__vjp;
    /// `self / other`, element by element.
    div, div__vjp;
    /// The larger of both, element by element; NaN where either is NaN. Both share the cotangent of a tie.
    maximum, maximum__vjp;
    /// The smaller of both, element by element; NaN where either is NaN. Both share the cotangent of a tie.
    minimum, minimum__vjp;
}

impl Tensor<Int> {
    /// The quotients as floats (`f32`), as in PyTorch; what is divided by 0 is infinite or NaN.
    /// [`floor_divide`](Self::floor_divide) gives integers.
    #[allow(clippy::should_implement_trait, reason = "the trait is implemented too, for more left operands")]
    #[track_caller]
    pub fn div<R: IntOperand>(self, other: R) -> Tensor {
        divide_int(self, other.operand())
    }
}

int_methods! {
    by apply_int,
    "`other` is a tensor of integers, whose shape broadcasts and with whose dtype that of `self` is promoted, or an integer."
    /// `self + other`, element by element, wrapping.
    add;
    /// `self - other`, element by element, wrapping.
    sub;
    /// `self * other`, element by element, wrapping.
    mul;
    /// The larger of both, element by element.
    maximum;
    /// The smaller of both, element by element.
    minimum;
}
