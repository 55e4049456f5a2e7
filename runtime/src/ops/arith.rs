//! Sums, differences, products, quotients, maxima and minima of two operands, with broadcasting.
//!
//! The operators of `std::ops` and the companions of binary operators are in the module `operators`.

#![allow(non_snake_case, reason = "companions are named `<operation>__vjp`")]

use super::arith_pullback::{BinaryPullback, apply_vjp};
use super::elementwise::{Function, Pair, PairSlope, Slope, binary, unary};
use super::operand::{Operand, Value};
use crate::diff::Want;
use crate::tensor::{Float, Int, Tensor};
use cotangent_hal::Scalar;

cotangent_macros::binary! { add of both; sub of both; mul of both; div of both; maximum; minimum; }

/// A binary operation on floats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Op {
    Add,
    Sub,
    Mul,
    Div,
    Max,
    Min,
}

impl Op {
    /// The operation of two tensors.
    pub(crate) fn pair(self) -> &'static Pair {
        match self {
            Op::Add => &add::FLOATS,
            Op::Sub => &sub::FLOATS,
            Op::Mul => &mul::FLOATS,
            Op::Div => &div::FLOATS,
            Op::Max => &maximum::FLOATS,
            Op::Min => &minimum::FLOATS,
        }
    }

    /// The operation with a number on the right.
    pub(crate) fn right(self) -> &'static Function {
        match self {
            Op::Add => &add::FLOATS_RIGHT,
            Op::Sub => &sub::FLOATS_RIGHT,
            Op::Mul => &mul::FLOATS_RIGHT,
            Op::Div => &div::FLOATS_RIGHT,
            Op::Max => &maximum::FLOATS_RIGHT,
            Op::Min => &minimum::FLOATS_RIGHT,
        }
    }

    /// The operation with a number on the left.
    pub(crate) fn left(self) -> &'static Function {
        match self {
            Op::Add => &add::FLOATS_LEFT,
            Op::Sub => &sub::FLOATS_LEFT,
            Op::Mul => &mul::FLOATS_LEFT,
            Op::Div => &div::FLOATS_LEFT,
            Op::Max | Op::Min => self.right(),
        }
    }
}

/// `a op b`.
#[track_caller]
pub(crate) fn apply(op: Op, a: Tensor, b: Value<Float>) -> Tensor {
    match b {
        Value::Tensor(b) => Tensor::from_raw(binary(op.pair().forward, a.raw, b.raw, &[])),
        Value::Number(n) => op.right().of(a, &[n]),
    }
}

/// `n op x`.
#[track_caller]
pub(crate) fn apply_left(op: Op, n: Scalar, x: Tensor) -> Tensor {
    op.left().of(x, &[n])
}

/// A binary operation on integers: sum, difference or product, wrapping.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum IntOp {
    Add,
    Sub,
    Mul,
}

/// `a op b` of integers.
#[track_caller]
pub(crate) fn apply_int(op: IntOp, a: Tensor<Int>, b: Value<Int>) -> Tensor<Int> {
    let (pair, right) = match op {
        IntOp::Add => (&add::INTS, &add::INTS_RIGHT),
        IntOp::Sub => (&sub::INTS, &sub::INTS_RIGHT),
        IntOp::Mul => (&mul::INTS, &mul::INTS_RIGHT),
    };
    Tensor::from_raw(match b {
        Value::Tensor(b) => binary(pair.forward, a.raw, b.raw, &[]),
        Value::Number(n) => unary(right.forward, a.raw, &[n]),
    })
}

/// `n op x` of integers.
#[track_caller]
pub(crate) fn apply_int_left(op: IntOp, n: Scalar, x: Tensor<Int>) -> Tensor<Int> {
    let left = match op {
        IntOp::Add => &add::INTS_LEFT,
        IntOp::Sub => &sub::INTS_LEFT,
        IntOp::Mul => &mul::INTS_LEFT,
    };
    Tensor::from_raw(unary(left.forward, x.raw, &[n]))
}

/// Declares the methods of float tensors and their companions.
macro_rules! methods {
    ($($(#[$doc:meta])* $name:ident, $companion:ident, $op:ident;)*) => {
        #[allow(clippy::should_implement_trait, reason = "the traits are implemented too, for more left operands")]
        impl Tensor {
            $(
                $(#[$doc])*
                ///
                /// Dtypes are promoted, except that a number, and a tensor without axes beside one with axes, takes the
                /// other's. Shapes broadcast: axes are aligned at the end, and an extent of 1 is repeated. Raises
                /// `Error::Shape` where two extents differ.
                #[track_caller]
                pub fn $name<R: Operand>(self, other: R) -> Tensor {
                    let other = other.operand(self.dtype());
                    apply(Op::$op, self, other)
                }
                #[doc(hidden)]
                #[track_caller]
                pub fn $companion<R: Operand>(
                    self,
                    other: R,
                    want: Want,
                ) -> (Tensor, BinaryPullback<Option<Tensor>, R::Ct>) {
                    let other = other.operand(self.dtype());
                    apply_vjp(Op::$op, self, other, (want.has(0), want.has(1)))
                }
            )*
        }
    };
}

methods! {
    /// `self + other`, element by element.
    add, add__vjp, Add;
    /// `self - other`, element by element.
    sub, sub__vjp, Sub;
    /// `self * other`, element by element.
    mul, mul__vjp, Mul;
    /// `self / other`, element by element.
    div, div__vjp, Div;
    /// The larger of both, element by element; NaN where either is NaN. Both share the cotangent of a tie.
    maximum, maximum__vjp, Max;
    /// The smaller of both, element by element; NaN where either is NaN. Both share the cotangent of a tie.
    minimum, minimum__vjp, Min;
}
