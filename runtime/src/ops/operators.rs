//! The operators `+ - * / %` and unary `-`, and the traits by which model bodies differentiate them.

#![allow(non_snake_case, reason = "companions are named `<operation>__vjp`")]

use super::arith::{add, apply, apply_int, apply_int_left, div, divide_int, mul, sub};
use super::arith_pullback::{BinaryPullback, apply_left_vjp, apply_vjp};
use super::division::{self, remainder as rem};
use super::operand::{IntOperand, Number, Operand, Value};
use crate::diff::{Diff, Pullback, Want};
use crate::tensor::{Float, Int, Tensor};
use std::ops;

/// The pullback of an operation without a derivative.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct Inert;

impl Pullback<()> for Inert {
    type Ct = ();
    type In = ((), ());
    fn pull(self, (): (), (): &mut ()) -> ((), ()) {
        ((), ())
    }
}

/// One operator: `std::ops` for all operands, and the trait of its companion.
///
/// A number on the left is `f64` or `i32` alone: a second float type there would leave the type of `2.0 * x` open
/// until the end of inference, so that `(2.0 * x).relu()` would not compile.
macro_rules! operator {
    ($Trait:ident, $method:ident, $Vjp:ident, $vjp:ident, $text:literal) => {
        impl<R: Operand> ops::$Trait<R> for Tensor {
            type Output = Tensor;
            #[track_caller]
            fn $method(self, rhs: R) -> Tensor {
                let rhs = rhs.operand(self.dtype());
                apply(&$method::FLOATS_FORMS, self, rhs)
            }
        }
        impl<R: Operand> ops::$Trait<R> for &Tensor {
            type Output = Tensor;
            #[track_caller]
            fn $method(self, rhs: R) -> Tensor {
                apply(&$method::FLOATS_FORMS, self.clone(), rhs.operand(self.dtype()))
            }
        }
        impl ops::$Trait<Tensor> for Tensor<Int> {
            type Output = Tensor;
            #[track_caller]
            fn $method(self, rhs: Tensor) -> Tensor {
                apply(&$method::FLOATS_FORMS, self.floats(rhs.dtype()), Value::Tensor(rhs))
            }
        }
        impl ops::$Trait<f64> for Tensor<Int> {
            type Output = Tensor;
            #[track_caller]
            fn $method(self, rhs: f64) -> Tensor {
                apply(&$method::FLOATS_FORMS, self.float(), Value::Number(rhs.number()))
            }
        }
        operator!(@left $Trait $method f64);
        operator!(@left $Trait $method i32);

        #[doc = concat!("`", $text, "` in a differentiated body: the result and the pullback to both operands.")]
        pub trait $Vjp<Rhs> {
            /// The result.
            type Output: Diff;
            /// The left operand's cotangent.
            type CtLeft;
            /// The right operand's cotangent.
            type CtRight;
            /// The map from the result's cotangent to those of the operands.
            type Pullback: Pullback<(), Ct = <Self::Output as Diff>::Ct, In = (Self::CtLeft, Self::CtRight)>;
            /// Bit 0 of `want` stands for the left operand, bit 1 for the right one.
            fn $vjp(self, rhs: Rhs, want: Want) -> (Self::Output, Self::Pullback);
        }
        impl<R: Operand> $Vjp<R> for Tensor {
            type Output = Tensor;
            type CtLeft = Option<Tensor>;
            type CtRight = R::Ct;
            type Pullback = BinaryPullback<Option<Tensor>, R::Ct>;
            #[track_caller]
            fn $vjp(self, rhs: R, want: Want) -> (Tensor, Self::Pullback) {
                let rhs = rhs.operand(self.dtype());
                apply_vjp(&$method::FLOATS_FORMS, self, rhs, (want.has(0), want.has(1)))
            }
        }
        impl<R: Operand> $Vjp<R> for &Tensor {
            type Output = Tensor;
            type CtLeft = Option<Tensor>;
            type CtRight = R::Ct;
            type Pullback = BinaryPullback<Option<Tensor>, R::Ct>;
            #[track_caller]
            fn $vjp(self, rhs: R, want: Want) -> (Tensor, Self::Pullback) {
                apply_vjp(&$method::FLOATS_FORMS, self.clone(), rhs.operand(self.dtype()), (want.has(0), want.has(1)))
            }
        }
        impl $Vjp<Tensor> for Tensor<Int> {
            type Output = Tensor;
            type CtLeft = ();
            type CtRight = Option<Tensor>;
            type Pullback = BinaryPullback<(), Option<Tensor>>;
            #[track_caller]
            fn $vjp(self, rhs: Tensor, want: Want) -> (Tensor, Self::Pullback) {
                apply_vjp(&$method::FLOATS_FORMS, self.floats(rhs.dtype()), Value::Tensor(rhs), (false, want.has(1)))
            }
        }
        operator!(@numbers $Trait $method $Vjp $vjp f32 f64 i32 i64 usize);
    };
    (@left $Trait:ident $method:ident $N:ident) => {
        impl ops::$Trait<Tensor> for $N {
            type Output = Tensor;
            #[track_caller]
            fn $method(self, rhs: Tensor) -> Tensor {
                $method::FLOATS_LEFT.of(rhs, &[self.number()])
            }
        }
        impl ops::$Trait<&Tensor> for $N {
            type Output = Tensor;
            #[track_caller]
            fn $method(self, rhs: &Tensor) -> Tensor {
                $method::FLOATS_LEFT.of(rhs.clone(), &[self.number()])
            }
        }
    };
    (@numbers $Trait:ident $method:ident $Vjp:ident $vjp:ident $($N:ident)*) => { $(
        impl $Vjp<$N> for $N {
            type Output = $N;
            type CtLeft = ();
            type CtRight = ();
            type Pullback = Inert;
            fn $vjp(self, rhs: $N, _: Want) -> ($N, Inert) {
                (ops::$Trait::$method(self, rhs), Inert)
            }
        }
    )* };
}

operator!(Add, add, AddVjp, add__vjp, "a + b");
operator!(Sub, sub, SubVjp, sub__vjp, "a - b");
operator!(Mul, mul, MulVjp, mul__vjp, "a * b");
operator!(Div, div, DivVjp, div__vjp, "a / b");
operator!(Rem, rem, RemVjp, rem__vjp, "a % b");

/// Companions of a number on the left of a tensor.
macro_rules! left_vjp {
    ($($method:ident $Vjp:ident $vjp:ident: $($N:ident)*;)*) => { $($(
        impl $Vjp<Tensor> for $N {
            type Output = Tensor;
            type CtLeft = ();
            type CtRight = Option<Tensor>;
            type Pullback = BinaryPullback<(), Option<Tensor>>;
            #[track_caller]
            fn $vjp(self, rhs: Tensor, want: Want) -> (Tensor, Self::Pullback) {
                apply_left_vjp(&$method::FLOATS_LEFT, self.number(), rhs, want.has(1))
            }
        }
        impl $Vjp<&Tensor> for $N {
            type Output = Tensor;
            type CtLeft = ();
            type CtRight = Option<Tensor>;
            type Pullback = BinaryPullback<(), Option<Tensor>>;
            #[track_caller]
            fn $vjp(self, rhs: &Tensor, want: Want) -> (Tensor, Self::Pullback) {
                apply_left_vjp(&$method::FLOATS_LEFT, self.number(), rhs.clone(), want.has(1))
            }
        }
    )*)* };
}
left_vjp! {
    add AddVjp add__vjp: f64 i32;
    sub SubVjp sub__vjp: f64 i32;
    mul MulVjp mul__vjp: f64 i32;
    div DivVjp div__vjp: f64 i32;
    rem RemVjp rem__vjp: f64 i32;
}

/// Operators on integer tensors; sums, differences and products wrap, and remainders by 0 are errors.
macro_rules! int_operator {
    ($Trait:ident, $method:ident, $Vjp:ident, $vjp:ident, $apply:path, $apply_left:path) => {
        impl<R: IntOperand> ops::$Trait<R> for Tensor<Int> {
            type Output = Tensor<Int>;
            #[track_caller]
            fn $method(self, rhs: R) -> Tensor<Int> {
                $apply(&$method::INTS_FORMS, self, rhs.operand())
            }
        }
        impl<R: IntOperand> ops::$Trait<R> for &Tensor<Int> {
            type Output = Tensor<Int>;
            #[track_caller]
            fn $method(self, rhs: R) -> Tensor<Int> {
                $apply(&$method::INTS_FORMS, self.clone(), rhs.operand())
            }
        }
        impl ops::$Trait<Tensor<Int>> for i32 {
            type Output = Tensor<Int>;
            #[track_caller]
            fn $method(self, rhs: Tensor<Int>) -> Tensor<Int> {
                $apply_left(&$method::INTS_LEFT, self.number(), rhs)
            }
        }
        impl ops::$Trait<&Tensor<Int>> for i32 {
            type Output = Tensor<Int>;
            #[track_caller]
            fn $method(self, rhs: &Tensor<Int>) -> Tensor<Int> {
                $apply_left(&$method::INTS_LEFT, self.number(), rhs.clone())
            }
        }
        impl<R: IntOperand> $Vjp<R> for Tensor<Int> {
            type Output = Tensor<Int>;
            type CtLeft = ();
            type CtRight = ();
            type Pullback = Inert;
            #[track_caller]
            fn $vjp(self, rhs: R, _: Want) -> (Tensor<Int>, Inert) {
                ($apply(&$method::INTS_FORMS, self, rhs.operand()), Inert)
            }
        }
    };
}
int_operator!(Add, add, AddVjp, add__vjp, apply_int, apply_int_left);
int_operator!(Sub, sub, SubVjp, sub__vjp, apply_int, apply_int_left);
int_operator!(Mul, mul, MulVjp, mul__vjp, apply_int, apply_int_left);

int_operator!(Rem, rem, RemVjp, rem__vjp, division::apply_int, division::apply_int_left);

/// Integers divide into floats.
impl<R: IntOperand> ops::Div<R> for Tensor<Int> {
    type Output = Tensor;
    #[track_caller]
    fn div(self, rhs: R) -> Tensor {
        divide_int(self, rhs.operand())
    }
}

impl<R: IntOperand> ops::Div<R> for &Tensor<Int> {
    type Output = Tensor;
    #[track_caller]
    fn div(self, rhs: R) -> Tensor {
        divide_int(self.clone(), rhs.operand())
    }
}

impl ops::Neg for Tensor {
    type Output = Tensor;
    #[track_caller]
    fn neg(self) -> Tensor {
        Tensor::<Float>::neg(self)
    }
}

impl ops::Neg for &Tensor {
    type Output = Tensor;
    #[track_caller]
    fn neg(self) -> Tensor {
        Tensor::<Float>::neg(self.clone())
    }
}

impl ops::Neg for Tensor<Int> {
    type Output = Tensor<Int>;
    #[track_caller]
    fn neg(self) -> Tensor<Int> {
        Tensor::<Int>::neg(self)
    }
}

impl ops::Neg for &Tensor<Int> {
    type Output = Tensor<Int>;
    #[track_caller]
    fn neg(self) -> Tensor<Int> {
        Tensor::<Int>::neg(self.clone())
    }
}
