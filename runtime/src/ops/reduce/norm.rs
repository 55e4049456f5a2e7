//! Norms, and the logarithm of a sum of exponentials.

use super::{Over, reductions};
use crate::diff::{Pullback, Want, pull};
use crate::ops::arith::div;
use crate::ops::elementwise::{binary, broadcasting, unary};
use crate::ops::fold::{EXPONENTIALS, MAX, NORM_0, NORM_1, NORM_2, NORM_INF, NORM_NEG_INF, NORM_P, TIES};
use crate::ops::pointwise::sqrt;
use crate::raise::raise;
use crate::tensor::{IntoAxes, Raw, Tensor};
use cotangent_hal::{Error, Scalar};

cotangent_hal::kernel! {
    /// `sgn(x) (|x| / y)^(p - 1)` times the cotangent; 0 where the norm is.
    static SLOPE = Pointwise "norm" (x: Each F32, y: Each F32, ct: Each F32; p) -> (dx: Each F32) |tile| {
        let p = Real::from(p);
        for i in 0..tile.1 {
            let part = x[i] / y[i];
            let slope = if p == 2.0 {
                part
            } else if p == 1.0 {
                x[i].signum()
            } else {
                part.abs().powf(p - 1.0) * x[i].signum()
            };
            dx[i] = if x[i] == 0.0 && p < 2.0 || y[i] == 0.0 { 0.0 } else { slope * ct[i] };
        }
    }
}

cotangent_hal::kernel! {
    /// The cotangent with the sign of `x` where its magnitude is the norm, NaN where it is NaN.
    static EXTREME = Pointwise "norm" (x: Each F32, y: Each F32, ct: Each F32) -> (dx: Each F32) |tile| {
        for i in 0..tile.1 {
            let sign = if x[i] == 0.0 { 0.0 } else { x[i].signum() };
            dx[i] = if x[i].abs() == y[i] || x[i].is_nan() { sign * ct[i] } else { 0.0 };
        }
    }
}

cotangent_hal::kernel! {
    /// 0 in place of an infinite maximum, which would make NaN of what it is subtracted from.
    static FINITE = Pointwise "logsumexp" (x: Each F32) -> (y: Each F32) |tile| {
        for i in 0..tile.1 {
            y[i] = if x[i].is_infinite() { 0.0 } else { x[i] };
        }
    }
}

cotangent_hal::kernel! {
    static LOG_PLUS = Pointwise "logsumexp" (s: Each F32, m: Each F32) -> (y: Each F32) |tile| {
        for i in 0..tile.1 {
            y[i] = math::log::<FMA>(s[i]) + m[i];
        }
    }
}

cotangent_hal::kernel! {
    static SOFT = Pointwise "logsumexp" (x: Each F32, y: Each F32, ct: Each F32) -> (dx: Each F32) |tile| {
        for i in 0..tile.1 {
            dx[i] = ct[i] * math::exp::<FMA>(x[i] - y[i]);
        }
    }
}

/// The norm without the axes, in the dtype that is computed in.
#[track_caller]
fn raw_norm(x: &Raw, over: &Over, p: f64) -> Raw {
    if p.is_nan() {
        raise(Error::Argument { op: "norm".into(), message: "the exponent is NaN, expected a number".into() });
    }
    if p < 0.0 || p.is_infinite() {
        over.not_empty("norm");
    }
    let (how, root) = match p {
        0.0 => (&NORM_0, 1.0),
        1.0 => (&NORM_1, 1.0),
        2.0 => (&NORM_2, 2.0),
        f64::INFINITY => (&NORM_INF, 1.0),
        f64::NEG_INFINITY => (&NORM_NEG_INF, 1.0),
        _ => (&NORM_P, p),
    };
    let y = how.of(x, None, over.mask, 1.0, p);
    if root == 1.0 {
        y
    } else if root == 2.0 {
        unary(sqrt::FUNCTION.forward, y, &[])
    } else {
        Tensor::from_raw(y).powf(1.0 / root).raw
    }
}

#[track_caller]
fn norm(x: &Raw, over: &Over, p: f64) -> Tensor {
    Tensor::from_raw(over.finish(raw_norm(x, over, p).cast(x.dtype)))
}

/// The pullback of a norm.
struct Norm {
    over: Over,
    p: f64,
    /// The operand, and the norm without the axes.
    saved: Option<(Raw, Raw)>,
}

impl Norm {
    fn back(self, ct: Option<Tensor>) -> Option<Tensor> {
        let (ct, (x, y)) = (ct?, self.saved?);
        let over = &self.over;
        let ct = over.dropped(&ct.raw);
        let dx = if self.p.is_infinite() {
            let ties = TIES.of(&x, Some(&y), over.mask, 1.0, 0.0);
            let share = binary(div::FLOATS.forward, ct.cast(ties.dtype), ties, &[]);
            broadcasting(&EXTREME, &[&x, &over.repeat(&y), &over.repeat(&share)], x.dtype, &[])
        } else {
            let ins = [&x, &over.repeat(&y), &over.repeat(&ct)];
            broadcasting(&SLOPE, &ins, x.dtype, &[Scalar::Float(self.p)])
        };
        Some(Tensor::from_raw(dx))
    }
}

#[track_caller]
fn norm_vjp(x: Raw, over: Over, p: f64, want: Want) -> (Tensor, Norm) {
    let y = raw_norm(&x, &over, p);
    let result = Tensor::from_raw(over.finish(y.clone().cast(x.dtype)));
    // The number of elements that are not 0 has no slope.
    let saved = (want.has(0) && p != 0.0).then(|| (x.keep(), y.keep()));
    (result, Norm { over, p, saved })
}

fn raw_logsumexp(x: &Raw, over: &Over) -> Raw {
    let m = unary(&FINITE, MAX.of(x, None, over.mask, 1.0, 0.0), &[]);
    let s = EXPONENTIALS.of(x, Some(&m), over.mask, 1.0, 0.0);
    binary(&LOG_PLUS, s, m, &[])
}

#[track_caller]
fn logsumexp(x: &Raw, over: &Over) -> Tensor {
    Tensor::from_raw(over.finish(raw_logsumexp(x, over).cast(x.dtype)))
}

/// The pullback of the logarithm of a sum of exponentials.
struct Soft {
    over: Over,
    saved: Option<(Raw, Raw)>,
}

impl Soft {
    fn back(self, ct: Option<Tensor>) -> Option<Tensor> {
        let (ct, (x, y)) = (ct?, self.saved?);
        let ins = [&x, &self.over.repeat(&y), &self.over.spread(&ct.raw)];
        Some(Tensor::from_raw(broadcasting(&SOFT, &ins, x.dtype, &[])))
    }
}

#[track_caller]
fn logsumexp_vjp(x: Raw, over: Over, want: Want) -> (Tensor, Soft) {
    let y = raw_logsumexp(&x, &over);
    let result = Tensor::from_raw(over.finish(y.clone().cast(x.dtype)));
    let saved = want.has(0).then(|| (x.keep(), y.keep()));
    (result, Soft { over, saved })
}

reductions! {
    /// The norm with exponent `p` over `axes`, as [`sum`](Tensor::sum) takes them: `(sum |x|^p)^(1/p)`; the number of
    /// elements that are not 0 for 0, the largest magnitude for infinity, the smallest for minus infinity.
    ///
    /// Where the norm is 0 its slope is 0. For infinite `p` equal magnitudes share the cotangent evenly. Raises
    /// `Error::Argument` for NaN, and `Error::Shape` for an empty axis where `p` is negative or infinite.
    norm, norm__vjp(p: f64;) -> Tensor, Option<Tensor>, norm, norm_vjp, false;
    /// As [`norm`](Tensor::norm), the axes kept with an extent of 1.
    norm_keepdim, norm_keepdim__vjp(p: f64;) -> Tensor, Option<Tensor>, norm, norm_vjp, true;
    /// `log(sum(exp(x)))` over `axes`, as [`sum`](Tensor::sum) takes them, without overflow. Minus infinity for no
    /// elements.
    logsumexp, logsumexp__vjp(;) -> Tensor, Option<Tensor>, logsumexp, logsumexp_vjp, false;
    /// As [`logsumexp`](Tensor::logsumexp), the axes kept with an extent of 1.
    logsumexp_keepdim, logsumexp_keepdim__vjp(;) -> Tensor, Option<Tensor>, logsumexp, logsumexp_vjp, true;
}
