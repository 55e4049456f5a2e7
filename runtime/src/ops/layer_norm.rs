//! Layer normalisation over the last axis.

#![allow(non_snake_case, reason = "companions are named `<operation>__vjp`")]
#![allow(clippy::type_complexity, reason = "the type of a companion names all of its cotangents")]

use super::operand::Number;
use crate::diff::{Pullback, Want};
use crate::raise::raise;
use crate::tensor::{Raw, Tensor, launch};
use cotangent_hal::native::{Float, lanes};
use cotangent_hal::{Arg, DType, Error, Scalar};

/// The row's mean and one over its standard deviation, and the normalised row times `w` plus `b`.
#[inline(always)]
fn normalise<const FMA: bool, T: Float>(x: &[T], w: &[T], b: &[T], eps: T, y: &mut [T]) -> (T, T) {
    let n = y.len();
    let (x, w, b) = (&x[..n], &w[..n], &b[..n]);
    let count = T::of(n as f64);
    let mean = lanes::sum(x) / count;
    let var = lanes::sum1(x, |v| (v - mean) * (v - mean)) / count;
    let k = T::ONE / (var + eps).sqrt();
    for i in 0..n {
        y[i] = ((x[i] - mean) * k).fma::<FMA>(w[i], b[i]);
    }
    (mean, k)
}

cotangent_hal::kernel! {
    static FORWARD = Rows "layer_norm" (x: Each F32, w: Whole F32, b: Whole F32; eps) -> (y: Each F32) |tile| {
        normalise::<FMA, _>(x, w, b, Real::from(eps), y);
    }
}

cotangent_hal::kernel! {
    static FORWARD_SAVING = Rows "layer_norm" (x: Each F32, w: Whole F32, b: Whole F32; eps)
     -> (y: Each F32, mean: PerRow F32, k: PerRow F32) |tile| {
        (mean[0], k[0]) = normalise::<FMA, _>(x, w, b, Real::from(eps), y);
    }
}

cotangent_hal::kernel! {
    static BACKWARD = Rows "layer_norm"
     (ct: Each F32, x: Each F32, mean: PerRow F32, k: PerRow F32, w: Whole F32) -> (dx: Each F32) |tile| {
        input_cotangent::<FMA, _>(ct, x, mean[0], k[0], w, dx);
    }
}

cotangent_hal::kernel! {
    static BACKWARD_ALL = Rows "layer_norm"
     (ct: Each F32, x: Each F32, mean: PerRow F32, k: PerRow F32, w: Whole F32)
     -> (dx: Each F32, dw: PerColumn F32, db: PerColumn F32) |tile| {
        let (mean, k) = (mean[0], k[0]);
        for i in 0..tile.1 {
            dw[i] = math::fma::<FMA>(ct[i], (x[i] - mean) * k, dw[i]);
            db[i] += ct[i];
        }
        input_cotangent::<FMA, _>(ct, x, mean, k, w, dx);
    }
}

cotangent_hal::kernel! {
    static BACKWARD_PARAMETERS = Rows "layer_norm" (ct: Each F32, x: Each F32, mean: PerRow F32, k: PerRow F32)
     -> (dw: PerColumn F32, db: PerColumn F32) |tile| {
        let (mean, k) = (mean[0], k[0]);
        for i in 0..tile.1 {
            dw[i] = math::fma::<FMA>(ct[i], (x[i] - mean) * k, dw[i]);
            db[i] += ct[i];
        }
    }
}

/// `dx = k (g - mean(g) - h mean(g h))` with `g = w ct` and the normalised row `h`.
#[inline(always)]
fn input_cotangent<const FMA: bool, T: Float>(ct: &[T], x: &[T], mean: T, k: T, w: &[T], dx: &mut [T]) {
    let n = dx.len();
    let (ct, x, w) = (&ct[..n], &x[..n], &w[..n]);
    let count = T::of(n as f64);
    let a = lanes::dot::<FMA, _>(w, ct) / count;
    let b = lanes::sum3(w, ct, x, |w, ct, x| w * ct * (x - mean)) * k * k / count;
    for i in 0..n {
        dx[i] = k * (w[i] * ct[i] - a - (x[i] - mean) * b);
    }
}

/// The pullback of [`Tensor::layer_norm`].
struct Normalised {
    want: [bool; 3],
    saved: Option<Saved>,
}

struct Saved {
    x: Raw,
    mean: Raw,
    k: Raw,
    w: Raw,
    /// That of the bias and of its cotangent.
    b_dtype: DType,
}

impl Pullback<()> for Normalised {
    type Ct = Option<Tensor>;
    type In = (Option<Tensor>, Option<Tensor>, Option<Tensor>, ());
    fn pull(self, ct: Option<Tensor>, (): &mut ()) -> Self::In {
        let (Some(ct), Some(saved)) = (ct, self.saved) else { return (None, None, None, ()) };
        let [dx, dw, db] = backward(ct.raw, saved, self.want).map(|raw| raw.map(Tensor::from_raw));
        (dx, dw, db, ())
    }
}

fn backward(ct: Raw, saved: Saved, want: [bool; 3]) -> [Option<Raw>; 3] {
    let Saved { x, mean, k, w, b_dtype } = saved;
    let columns = |dtype| Raw::empty(&x.device, dtype, &w.shape);
    let parameters = want[1] || want[2];
    let dx = want[0].then(|| Raw::output(&x.device, x.dtype, &x.shape, &[&ct]));
    let (dw, db) = (parameters.then(|| columns(w.dtype)), parameters.then(|| columns(b_dtype)));
    if x.numel() == 0 {
        dw.iter().chain(&db).for_each(|d| d.fill(Scalar::Float(0.0)));
    } else {
        let ins = [Arg::In(ct.view()), Arg::In(x.view()), Arg::In(mean.view()), Arg::In(k.view())];
        let kernel = match (&dx, &dw) {
            (Some(_), Some(_)) => &BACKWARD_ALL,
            (Some(_), None) => &BACKWARD,
            (None, _) => &BACKWARD_PARAMETERS,
        };
        let mut args = ins.to_vec();
        if dx.is_some() {
            args.push(Arg::In(w.view()));
        }
        args.extend(dx.iter().chain(&dw).chain(&db).map(|d| Arg::Out(d.view())));
        launch(&x.device, kernel, &x.shape, &args);
    }
    [dx, dw.filter(|_| want[1]), db.filter(|_| want[2])]
}

impl Tensor {
    /// Each row of the last axis shifted to mean 0 and scaled to variance 1, then times `weight` plus `bias`:
    /// `(x - mean) / sqrt(var + eps) * weight + bias`, the variance with divisor `C`.
    /// `[.., C], [C], [C] -> [.., C]` in the dtype of `self`; raises `Error::Shape` where an extent differs.
    #[track_caller]
    pub fn layer_norm(self, weight: Tensor, bias: Tensor, eps: impl Number) -> Tensor {
        layer_norm(self, weight, bias, eps.number(), Want::NONE).0
    }

    #[doc(hidden)]
    #[track_caller]
    pub fn layer_norm__vjp<N: Number>(
        self,
        weight: Tensor,
        bias: Tensor,
        eps: N,
        want: Want,
    ) -> (
        Tensor,
        impl Pullback<(), Ct = Option<Tensor>, In = (Option<Tensor>, Option<Tensor>, Option<Tensor>, ())> + use<N>,
    ) {
        layer_norm(self, weight, bias, eps.number(), want)
    }
}

#[track_caller]
fn layer_norm(x: Tensor, weight: Tensor, bias: Tensor, eps: Scalar, want: Want) -> (Tensor, Normalised) {
    for (name, parameter) in [("weight", &weight), ("bias", &bias)] {
        x.raw.same_device("layer_norm", &parameter.raw);
        if x.shape().last().is_none_or(|&c| parameter.shape() != [c]) {
            let message = format!(
                "the {name} is {:?}, but the input is {:?}: expected one axis, as long as the input's last",
                parameter.shape(),
                x.shape()
            );
            raise(Error::Shape { op: "layer_norm".into(), message });
        }
    }
    let (x, w, b) = (x.raw, weight.raw.contiguous(), bias.raw.contiguous());
    let want = [want.has(0), want.has(1), want.has(2)];
    let eps = Arg::Scalar(eps);
    if !want.contains(&true) {
        let y = Raw::output(&x.device, x.dtype, &x.shape, &[&x]);
        if x.numel() > 0 {
            let args = [Arg::In(x.view()), Arg::In(w.view()), Arg::In(b.view()), Arg::Out(y.view()), eps];
            launch(&x.device, &FORWARD, &x.shape, &args);
        }
        return (Tensor::from_raw(y), Normalised { want, saved: None });
    }
    let rows = &x.shape[..x.shape.len() - 1];
    let y = Raw::empty(&x.device, x.dtype, &x.shape);
    let row = || Raw::empty(&x.device, x.dtype.compute(), rows);
    let (mean, k) = (row(), row());
    if x.numel() > 0 {
        let ins = [Arg::In(x.view()), Arg::In(w.view()), Arg::In(b.view())];
        let outs = [Arg::Out(y.view()), Arg::Out(mean.view()), Arg::Out(k.view()), eps];
        launch(&x.device, &FORWARD_SAVING, &x.shape, &[&ins[..], &outs[..]].concat());
    }
    (Tensor::from_raw(y), Normalised { want, saved: Some(Saved { x, mean, k, w, b_dtype: b.dtype }) })
}
