//! Powers with a fixed exponent.

#![allow(non_snake_case, reason = "companions are named `<operation>__vjp`")]

use super::elementwise::{Chain, unary};
use super::operand::Number;
use crate::diff::{Pullback, Want, pull};
use crate::tensor::Tensor;
use cotangent_hal::Scalar;
use cotangent_hal::native::Float;

/// `out[i] = x[i]^p`: small integer exponents by multiplication, others by the standard library.
#[inline(always)]
fn powers<T: Float>(x: &[T], p: T, out: &mut [T]) {
    let x = &x[..out.len()];
    let is = |exponent: f64| p == T::of(exponent);
    if is(1.0) {
        out.copy_from_slice(x);
    } else if is(2.0) {
        (0..x.len()).for_each(|i| out[i] = x[i] * x[i]);
    } else if is(3.0) {
        (0..x.len()).for_each(|i| out[i] = x[i] * x[i] * x[i]);
    } else if is(0.5) {
        (0..x.len()).for_each(|i| out[i] = x[i].sqrt());
    } else if is(-0.5) {
        (0..x.len()).for_each(|i| out[i] = T::ONE / x[i].sqrt());
    } else if is(-1.0) {
        (0..x.len()).for_each(|i| out[i] = T::ONE / x[i]);
    } else if is(-2.0) {
        (0..x.len()).for_each(|i| out[i] = T::ONE / (x[i] * x[i]));
    } else {
        (0..x.len()).for_each(|i| out[i] = x[i].powf(p));
    }
}

cotangent_hal::kernel! {
    static FORWARD = Pointwise "powf" (x: Each F32; p) -> (y: Each F32) |tile| {
        powers(x, Real::from(p), y);
    }
}

cotangent_hal::kernel! {
    static BACKWARD = Pointwise "powf" (ct: Each F32, x: Each F32; p) -> (dx: Each F32) |tile| {
        let p = Real::from(p);
        if p == 0.0 {
            dx.fill(0.0);
        } else {
            powers(x, p - 1.0, dx);
            for i in 0..tile.1 {
                dx[i] = ct[i] * (p * dx[i]);
            }
        }
    }
}

impl Tensor {
    /// Each element to the power of `exponent`; NaN for a negative element with a fractional exponent.
    #[track_caller]
    pub fn powf(self, exponent: impl Number) -> Tensor {
        Tensor::from_raw(unary(&FORWARD, self.raw, &[exponent.number()]))
    }

    #[doc(hidden)]
    #[track_caller]
    pub fn powf__vjp<N: Number>(
        self,
        exponent: N,
        want: Want,
    ) -> (Tensor, impl Pullback<(), Ct = Option<Tensor>, In = (Option<Tensor>, ())> + use<N>) {
        let (y, chain) = vjp(self, exponent.number(), want);
        (y, pull(move |ct, (): &mut ()| (chain.pull(ct, &mut ()).0, ())))
    }
}

fn vjp(x: Tensor, exponent: Scalar, want: Want) -> (Tensor, Chain) {
    let chain = match want.has(0) {
        true => Chain::new(Some(&BACKWARD), Some(x.raw.clone()), Some(exponent)),
        false => Chain::unwanted(),
    };
    (Tensor::from_raw(unary(&FORWARD, x.raw, &[exponent])), chain)
}
