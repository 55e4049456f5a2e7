//! Operations along one axis that need all of it: softmax and layer normalisation.

#![allow(non_snake_case, reason = "companions are named `<operation>__vjp`")]

use crate::diff::{Pullback, Want};
use crate::tensor::{Raw, Tensor, axis_of, launch};
use cotangent_hal::native::lanes;
use cotangent_hal::{Arg, Kernel};

cotangent_hal::kernel! {
    static SOFTMAX = Rows "softmax" (x: Each F32) -> (y: Each F32) |tile| {
        let m = lanes::max(x);
        for i in 0..tile.1 {
            y[i] = math::exp::<FMA>(x[i] - m);
        }
        let k = 1.0 / lanes::sum(y);
        for y in y {
            *y *= k;
        }
    }
}

cotangent_hal::kernel! {
    static SOFTMAX_BACKWARD = Rows "softmax" (ct: Each F32, y: Each F32) -> (dx: Each F32) |tile| {
        let s = lanes::dot::<FMA, _>(ct, y);
        for i in 0..tile.1 {
            dx[i] = y[i] * (ct[i] - s);
        }
    }
}

cotangent_hal::kernel! {
    static LOG_SOFTMAX = Rows "log_softmax" (x: Each F32) -> (y: Each F32) |tile| {
        let m = lanes::max(x);
        for i in 0..tile.1 {
            y[i] = math::exp::<FMA>(x[i] - m);
        }
        let l = math::log::<FMA>(lanes::sum(y));
        for i in 0..tile.1 {
            y[i] = (x[i] - m) - l;
        }
    }
}

cotangent_hal::kernel! {
    static LOG_SOFTMAX_BACKWARD = Rows "log_softmax" (ct: Each F32, y: Each F32) -> (dx: Each F32) |tile| {
        let s = lanes::sum(ct);
        for i in 0..tile.1 {
            dx[i] = ct[i] - s * math::exp::<FMA>(y[i]);
        }
    }
}

/// The axis with the given number as the last one, the others in order: a view.
fn axis_last(x: &Raw, axis: usize) -> Raw {
    let mut x = x.clone();
    let (extent, stride) = (x.shape.remove(axis), x.strides.remove(axis));
    x.shape.push("permute", extent);
    x.strides.push("permute", stride);
    x
}

/// The axis an operation runs along; a scalar counts as having one.
#[track_caller]
fn along(op: &str, x: &Raw, axis: isize) -> Option<usize> {
    if x.shape.is_empty() && (axis == 0 || axis == -1) {
        return None;
    }
    Some(axis_of(op, axis, &x.shape))
}

/// A row kernel of inputs and a result of one shape, along `axis`; in place of `owned` where nothing else holds it.
fn run_along(kernel: &'static Kernel, owned: Raw, others: &[&Raw], axis: Option<usize>) -> Raw {
    let out = Raw::output(&owned.device, owned.dtype, &owned.shape, &[&owned]);
    if owned.numel() == 0 {
        return out;
    }
    let turned = |x: &Raw| match axis {
        Some(axis) => axis_last(x, axis),
        None => x.clone().reinterpret(&[1]),
    };
    let ins: Vec<Raw> = [&owned].into_iter().chain(others.iter().copied()).map(turned).collect();
    let y = turned(&out);
    let args: Vec<Arg<'_>> = ins.iter().map(|x| Arg::In(x.view())).chain([Arg::Out(y.view())]).collect();
    launch(&owned.device, kernel, &y.shape, &args);
    out
}

/// The pullback of [`Tensor::softmax`] and [`Tensor::log_softmax`], which keep their result.
struct Along {
    kernel: &'static Kernel,
    axis: Option<usize>,
    y: Option<Raw>,
}

impl Pullback<()> for Along {
    type Ct = Option<Tensor>;
    type In = (Option<Tensor>, ());
    fn pull(self, ct: Option<Tensor>, (): &mut ()) -> Self::In {
        let (Some(ct), Some(y)) = (ct, self.y) else { return (None, ()) };
        (Some(Tensor::from_raw(run_along(self.kernel, ct.raw, &[&y], self.axis))), ())
    }
}

#[track_caller]
fn along_vjp(
    forward: &'static Kernel,
    backward: &'static Kernel,
    x: Tensor,
    axis: isize,
    want: Want,
) -> (Tensor, Along) {
    let axis = along(forward.name, &x.raw, axis);
    let y = run_along(forward, x.raw, &[], axis);
    let kept = want.has(0).then(|| y.clone());
    (Tensor::from_raw(y), Along { kernel: backward, axis, y: kept })
}

impl Tensor {
    /// `exp(x) / sum(exp(x))` along an axis, counted from the end where negative.
    #[track_caller]
    pub fn softmax(self, axis: isize) -> Tensor {
        along_vjp(&SOFTMAX, &SOFTMAX_BACKWARD, self, axis, Want::NONE).0
    }

    #[doc(hidden)]
    #[track_caller]
    pub fn softmax__vjp(
        self,
        axis: isize,
        want: Want,
    ) -> (Tensor, impl Pullback<(), Ct = Option<Tensor>, In = (Option<Tensor>, ())> + use<>) {
        along_vjp(&SOFTMAX, &SOFTMAX_BACKWARD, self, axis, want)
    }

    /// The logarithm of the [`softmax`](Tensor::softmax) along an axis, without its loss of digits.
    #[track_caller]
    pub fn log_softmax(self, axis: isize) -> Tensor {
        along_vjp(&LOG_SOFTMAX, &LOG_SOFTMAX_BACKWARD, self, axis, Want::NONE).0
    }

    #[doc(hidden)]
    #[track_caller]
    pub fn log_softmax__vjp(
        self,
        axis: isize,
        want: Want,
    ) -> (Tensor, impl Pullback<(), Ct = Option<Tensor>, In = (Option<Tensor>, ())> + use<>) {
        along_vjp(&LOG_SOFTMAX, &LOG_SOFTMAX_BACKWARD, self, axis, want)
    }
}
