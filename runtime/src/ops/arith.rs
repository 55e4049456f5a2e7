//! Sums, differences, products, quotients, maxima and minima of two operands, with broadcasting.
//!
//! The operators of `std::ops` and the companions of binary operators are in the module `operators`.

#![allow(non_snake_case, reason = "companions are named `<operation>__vjp`")]

use super::arith_kernels::{DIVIDE_NUMBER, NEG_INT, add, add_int, div, max, min, mul, mul_int, sub, sub_int};
use super::arith_pullback::{BinaryPullback, apply_vjp};
use super::elementwise::{binary, unary};
use super::operand::{Operand, Value};
use crate::diff::Want;
use crate::tensor::{Float, Int, Tensor};
use cotangent_hal::{Kernel, Scalar};

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
    /// The kernel of two tensors.
    fn tensors(self) -> &'static Kernel {
        match self {
            Op::Add => &add::TENSORS,
            Op::Sub => &sub::TENSORS,
            Op::Mul => &mul::TENSORS,
            Op::Div => &div::TENSORS,
            Op::Max => &max::TENSORS,
            Op::Min => &min::TENSORS,
        }
    }

    /// The kernel of a tensor and a number on its right, and that number: `x - n` is `x + (-n)`.
    fn number_right(self, n: Scalar) -> (&'static Kernel, Scalar) {
        match self {
            Op::Add => (&add::NUMBER, n),
            Op::Sub => (&add::NUMBER, minus(n)),
            Op::Mul => (&mul::NUMBER, n),
            Op::Div => (&div::NUMBER, n),
            Op::Max => (&max::NUMBER, n),
            Op::Min => (&min::NUMBER, n),
        }
    }

    /// The kernel of a tensor with a number on its left.
    fn number_left(self) -> &'static Kernel {
        match self {
            Op::Add => &add::NUMBER,
            Op::Sub => &sub::NUMBER,
            Op::Mul => &mul::NUMBER,
            Op::Div => &DIVIDE_NUMBER,
            Op::Max => &max::NUMBER,
            Op::Min => &min::NUMBER,
        }
    }
}

fn minus(n: Scalar) -> Scalar {
    match n {
        Scalar::Float(v) => Scalar::Float(-v),
        Scalar::Int(v) => Scalar::Int(v.wrapping_neg()),
    }
}

/// `a op b`.
#[track_caller]
pub(crate) fn apply(op: Op, a: Tensor, b: Value<Float>) -> Tensor {
    Tensor::from_raw(match b {
        Value::Tensor(b) => binary(op.tensors(), a.raw, b.raw, &[]),
        Value::Number(n) => {
            let (kernel, n) = op.number_right(n);
            unary(kernel, a.raw, &[n])
        }
    })
}

/// `n op x`.
#[track_caller]
pub(crate) fn apply_left(op: Op, n: Scalar, x: Tensor) -> Tensor {
    Tensor::from_raw(unary(op.number_left(), x.raw, &[n]))
}

/// `-x` of integers.
#[track_caller]
pub(crate) fn negate_int(x: Tensor<Int>) -> Tensor<Int> {
    Tensor::from_raw(unary(&NEG_INT, x.raw, &[]))
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
    Tensor::from_raw(match b {
        Value::Tensor(b) => {
            let kernel = match op {
                IntOp::Add => &add_int::TENSORS,
                IntOp::Sub => &sub_int::TENSORS,
                IntOp::Mul => &mul_int::TENSORS,
            };
            binary(kernel, a.raw, b.raw, &[])
        }
        Value::Number(n) => {
            let (kernel, n) = match op {
                IntOp::Add => (&add_int::NUMBER, n),
                IntOp::Sub => (&add_int::NUMBER, minus(n)),
                IntOp::Mul => (&mul_int::NUMBER, n),
            };
            unary(kernel, a.raw, &[n])
        }
    })
}

/// `n op x` of integers.
#[track_caller]
pub(crate) fn apply_int_left(op: IntOp, n: Scalar, x: Tensor<Int>) -> Tensor<Int> {
    let kernel = match op {
        IntOp::Add => &add_int::NUMBER,
        IntOp::Sub => &sub_int::NUMBER,
        IntOp::Mul => &mul_int::NUMBER,
    };
    Tensor::from_raw(unary(kernel, x.raw, &[n]))
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
