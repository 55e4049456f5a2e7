//! Remainders and quotients that are rounded, of floats and of integers.
//!
//! `remainder` and `floor_divide` round down, as Python's `%` and `//`: the remainder has the sign of the divisor. `fmod`
//! rounds towards 0. Integers cannot be divided by 0: that is an error, found before anything is computed.

#![allow(non_snake_case, reason = "companions are named `<operation>__vjp`")]

use super::arith::{apply, float_methods, int_methods};
use super::arith_pullback::{BinaryPullback, apply_vjp};
use super::elementwise::{Forms, Function, Pair, PairSlope, Slope, binary, unary};
use super::operand::{IntOperand, Operand, Value};
use crate::diff::Want;
use crate::raise::raise;
use crate::tensor::{Int, Raw, Tensor, launch};
use cotangent_hal::{Arg, DType, Error, Scalar};

cotangent_macros::binary! { remainder of both; fmod; floor_divide; }

cotangent_hal::kernel! {
    /// How many elements are 0.
    static ZEROS = Pointwise "zeros" (x: Each I64) -> (count: Total I64) |tile| {
        count[0] += x.iter().fold(0, |count, &v| count + i64::from(v == 0));
    }
}

/// `f(a, b)` of integers; raises where a divisor is 0.
#[track_caller]
pub(crate) fn apply_int(f: &Forms, a: Tensor<Int>, b: Value<Int>) -> Tensor<Int> {
    Tensor::from_raw(match b {
        Value::Tensor(b) => {
            check(f.pair.forward.name, &b.raw);
            binary(f.pair.forward, a.raw, b.raw, &[])
        }
        Value::Number(n) => {
            if n.i64() == 0 {
                by_zero(f.right.forward.name, "the divisor is 0");
            }
            unary(f.right.forward, a.raw, &[n])
        }
    })
}

/// `f(n, x)` of integers; raises where a divisor is 0.
#[track_caller]
pub(crate) fn apply_int_left(f: &Function, n: Scalar, x: Tensor<Int>) -> Tensor<Int> {
    check(f.forward.name, &x.raw);
    f.of(x, &[n])
}

#[track_caller]
fn check(op: &str, divisors: &Raw) {
    if divisors.numel() == 0 {
        return;
    }
    let count = Raw::empty(&divisors.device, DType::I64, &[]);
    launch(&divisors.device, &ZEROS, &divisors.shape, &[Arg::In(divisors.view()), Arg::Out(count.view())]);
    let zeros: Vec<i64> = count.to_vec();
    if zeros[0] > 0 {
        by_zero(op, &format!("{} of {} divisors are 0", zeros[0], divisors.numel()));
    }
}

#[track_caller]
fn by_zero(op: &str, what: &str) -> ! {
    let message = format!("{what}; integers cannot be divided by 0, floats can (`float`)");
    raise(Error::Argument { op: op.into(), message })
}

float_methods! {
    "`other` is a tensor, whose shape broadcasts, or a number; dtypes are promoted as by `+`. What is divided by 0 is not \
     finite."
    /// The remainder of `self / other` rounded down, element by element: it has the sign of `other`. Also `self % other`.
    remainder, remainder__vjp;
    /// The remainder of `self / other` rounded towards 0, element by element: it has the sign of `self`.
    fmod, fmod__vjp;
    /// `self / other` rounded down, element by element. Slope 0.
    floor_divide, floor_divide__vjp;
}

int_methods! {
    by apply_int,
    "`other` is a tensor of integers, whose shape broadcasts, or an integer. Raises `Error::Argument` where it is 0 anywhere."
    /// The remainder of `self / other` rounded down, element by element: it has the sign of `other`. Also `self % other`.
    remainder;
    /// The remainder of `self / other` rounded towards 0, element by element: it has the sign of `self`.
    fmod;
    /// `self / other` rounded down, element by element.
    floor_divide;
}
