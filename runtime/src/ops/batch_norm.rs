//! Batch normalisation over all axes but the channels, axis 1.

#![allow(non_snake_case, reason = "companions are named `<operation>__vjp`")]
#![allow(clippy::type_complexity, reason = "the type of a companion names all of its cotangents")]

use super::conv::OptionalTensor;
use super::operand::Number;
use crate::diff::{Pullback, Want, pull};
use crate::raise::raise;
use crate::tensor::{Dims, Raw, Tensor, launch};
use cotangent_hal::native::{Float, row};
use cotangent_hal::{Arg, Error, Kernel, Scalar, kernel};
use cotangent_macros::model;

kernel! {
    /// The mean and the variance of each channel.
    static STATISTICS = Rows "batch_norm" (x: Whole F32; count, channels, size) -> (mean: Part F32, var: Part F32) |tile| {
        let planes = Planes::of([count, channels, size]);
        let one_over = 1.0 / (planes.count * planes.size) as Real;
        for (c, (mean, var)) in mean.iter_mut().zip(var).enumerate() {
            let sum = |f: &dyn Fn(&[Real]) -> Real| planes.channel(x, tile.2 + c).map(f).sum::<Real>();
            let m = sum(&|x| row::fold([x], 0.0, |s, [x]| s + x, |s, t| s + t)) * one_over;
            *var = sum(&|x| row::fold([x], 0.0, |s, [x]| s + (x - m) * (x - m), |s, t| s + t)) * one_over;
            *mean = m;
        }
    }
}
kernel! {
    /// Each channel shifted by its mean, scaled, and shifted again.
    static NORMALIZE = Rows "batch_norm" (x: Whole F32, mean: Whole F32, var: Whole F32, weight: Whole F32, bias: Whole F32;
        count, channels, size, eps) -> (y: Part F32) |tile| {
        let planes = Planes::of([count, channels, size]);
        let eps = Real::from(eps);
        planes.each(tile.2, y, |c, plane, y| {
            let (m, scale, shift) = (mean[c], weight[c] / (var[c] + eps).sqrt(), bias[c]);
            for (y, &x) in y.iter_mut().zip(&x[plane]) {
                *y = (x - m) * scale + shift;
            }
        });
    }
}
kernel! {
    /// The sums over each channel of the cotangent, and of the cotangent times the normalised elements.
    static SUMS = Rows "batch_norm" (ct: Whole F32, x: Whole F32, mean: Whole F32, var: Whole F32; count, channels, size, eps)
        -> (plain: Part F32, scaled: Part F32) |tile| {
        let planes = Planes::of([count, channels, size]);
        let eps = Real::from(eps);
        for (i, (plain, scaled)) in plain.iter_mut().zip(scaled).enumerate() {
            let c = tile.2 + i;
            let m = mean[c];
            for (ct, x) in planes.channel(ct, c).zip(planes.channel(x, c)) {
                *plain += row::fold([ct], 0.0, |s, [ct]| s + ct, |s, t| s + t);
                *scaled += row::fold([ct, x], 0.0, |s, [ct, x]| s + ct * (x - m), |s, t| s + t);
            }
            *scaled /= (var[c] + eps).sqrt();
        }
    }
}
kernel! {
    /// The cotangent of the operand, from those of the result, of the mean, and of the variance.
    static BACK = Rows "batch_norm" (ct: Whole F32, x: Whole F32, mean: Whole F32, var: Whole F32, weight: Whole F32,
        plain: Whole F32, scaled: Whole F32, of_mean: Whole F32, of_var: Whole F32; count, channels, size, eps)
        -> (dx: Part F32) |tile| {
        let planes = Planes::of([count, channels, size]);
        let eps = Real::from(eps);
        let one_over = 1.0 / (planes.count * planes.size) as Real;
        planes.each(tile.2, dx, |c, plane, dx| {
            let k = 1.0 / (var[c] + eps).sqrt();
            let scale = weight[c] * k;
            let slope = (2.0 * of_var[c] - scale * k * scaled[c]) * one_over;
            let (m, shift) = (mean[c], (of_mean[c] - scale * plain[c]) * one_over);
            for ((dx, &ct), &x) in dx.iter_mut().zip(&ct[plane.clone()]).zip(&x[plane]) {
                *dx = ct * scale + (x - m) * slope + shift;
            }
        });
    }
}

/// A tensor as `count` times `channels` planes of `size` elements.
#[derive(Clone, Copy)]
struct Planes {
    count: usize,
    channels: usize,
    size: usize,
}

impl Planes {
    #[inline(always)]
    fn of(scalars: [Scalar; 3]) -> Planes {
        let [count, channels, size] = scalars.map(|n| n.i64() as usize);
        Planes { count, channels, size }
    }

    /// The planes of a channel.
    #[inline(always)]
    fn channel<T>(self, x: &[T], c: usize) -> impl Iterator<Item = &[T]> {
        (0..self.count).map(move |n| &x[(n * self.channels + c) * self.size..][..self.size])
    }

    /// Calls a function on every plane of `y`, which begins with plane 0 of entry `first`: with its channel, and where it
    /// lies in the whole.
    #[inline(always)]
    fn each<T: Float>(self, first: usize, y: &mut [T], f: impl Fn(usize, std::ops::Range<usize>, &mut [T])) {
        for (i, y) in y.chunks_exact_mut(self.size).enumerate() {
            let start = (first * self.channels + i) * self.size;
            f(i % self.channels, start..start + self.size, y);
        }
    }
}

/// The normalisation by given statistics, all of the shape `[C, 1, ..]`.
#[model]
fn normalized(x: Tensor, mean: Tensor, var: Tensor, weight: Tensor, bias: Tensor, eps: f64) -> Tensor {
    (x - mean) * ((var + eps).rsqrt() * weight) + bias
}

/// A channel of ones or zeros where a parameter is left out.
#[track_caller]
fn given(parameter: Option<Tensor>, x: &Tensor, default: f64) -> Raw {
    match parameter {
        Some(parameter) => parameter.raw,
        None => Raw::full(&x.raw.device, x.dtype().compute(), &[x.shape()[1]], Scalar::Float(default)),
    }
}

impl Tensor {
    /// Each channel of axis 1 shifted to mean 0 and scaled to variance 1, then times `weight` plus `bias`, with the mean
    /// and the variance that it had: `y = (x - mean) / sqrt(var + eps) * weight + bias`, the variance with divisor `M`,
    /// the number of elements of a channel. `[N, C, ..], [C], [C] -> [N, C, ..], [C], [C]`.
    ///
    /// The result has the dtype of `self`, the statistics that which it is computed in. Raises `Error::Shape` where a
    /// channel has no elements, and where a parameter is not as long as axis 1.
    #[track_caller]
    pub fn batch_norm(
        self,
        weight: impl OptionalTensor,
        bias: impl OptionalTensor,
        eps: impl Number,
    ) -> (Tensor, Tensor, Tensor) {
        let norm = Norm::new(self, weight.optional(), bias.optional(), eps.number().f64());
        (norm.result(), Tensor::from_raw(norm.mean), Tensor::from_raw(norm.var))
    }

    #[doc(hidden)]
    #[track_caller]
    pub fn batch_norm__vjp<W: OptionalTensor, B: OptionalTensor, E: Number>(
        self,
        weight: W,
        bias: B,
        eps: E,
        want: Want,
    ) -> (
        (Tensor, Tensor, Tensor),
        impl Pullback<
            (),
            Ct = (Option<Tensor>, Option<Tensor>, Option<Tensor>),
            In = (Option<Tensor>, Option<Tensor>, Option<Tensor>, ()),
        > + use<W, B, E>,
    ) {
        let (weight, bias) = (weight.optional(), bias.optional());
        let parameters = [&weight, &bias].map(|p| p.as_ref().map(Tensor::dtype));
        let wanted = [want.has(0), want.has(1) && weight.is_some(), want.has(2) && bias.is_some()];
        let norm = Norm::new(self, weight, bias, eps.number().f64());
        let results = (norm.result(), Tensor::from_raw(norm.mean.clone()), Tensor::from_raw(norm.var.clone()));
        let norm = (wanted != [false; 3]).then(|| norm.kept());
        let pullback = move |cts: (Option<Tensor>, Option<Tensor>, Option<Tensor>), (): &mut ()| {
            let Some(norm) = norm else { return Default::default() };
            let [x, weight, bias] = norm.pull(cts, wanted);
            let of = |ct: Option<Tensor>, dtype: Option<cotangent_hal::DType>| match (ct, dtype) {
                (Some(ct), Some(dtype)) => Some(ct.to(dtype)),
                (ct, _) => ct,
            };
            (x, of(weight, parameters[0]), of(bias, parameters[1]), ())
        };
        (results, pull(pullback))
    }

    /// As [`batch_norm`](Tensor::batch_norm) by a mean and a variance that are given: `(x - mean) / sqrt(var + eps) *
    /// weight + bias`, in the dtype of `self`.
    #[track_caller]
    pub fn batch_norm_with(
        self,
        mean: Tensor,
        var: Tensor,
        weight: impl OptionalTensor,
        bias: impl OptionalTensor,
        eps: impl Number,
    ) -> Tensor {
        let given = Given::new(&self, mean, var, weight.optional(), bias.optional());
        let [mean, var, weight, bias] = given.along;
        let dtype = self.dtype();
        normalized(self, mean, var, weight, bias, eps.number().f64()).to(dtype)
    }

    #[doc(hidden)]
    #[track_caller]
    pub fn batch_norm_with__vjp<W: OptionalTensor, B: OptionalTensor, E: Number>(
        self,
        mean: Tensor,
        var: Tensor,
        weight: W,
        bias: B,
        eps: E,
        want: Want,
    ) -> (
        Tensor,
        impl Pullback<
            (),
            Ct = Option<Tensor>,
            In = (Option<Tensor>, Option<Tensor>, Option<Tensor>, Option<Tensor>, Option<Tensor>, ()),
        > + use<W, B, E>,
    ) {
        let given = Given::new(&self, mean, var, weight.optional(), bias.optional());
        let (dtype, has) = (self.dtype(), given.has);
        let [mean, var, weight, bias] = given.along;
        let want = Want::of(&std::array::from_fn::<bool, 6, _>(|i| i > 0 && want.has(i - 1) && (i < 4 || has[i - 4])));
        let (y, back) = normalized::vjp(self, mean, var, weight, bias, eps.number().f64(), want);
        let (y, stored) = y.to__vjp(dtype, Want::ALL);
        let pullback = move |ct: Option<Tensor>, (): &mut ()| {
            let (x, mean, var, weight, bias, ()) = back.pull(stored.pull(ct, &mut ()).0, &mut ());
            let flat = |ct: Option<Tensor>| ct.map(|ct| ct.flatten(0));
            (x, flat(mean), flat(var), flat(weight), flat(bias), ())
        };
        (y, pull(pullback))
    }
}

/// Statistics and parameters that are given, with as many axes of 1 as line them up with axis 1.
struct Given {
    along: [Tensor; 4],
    /// Whether there are a weight and a bias.
    has: [bool; 2],
}

impl Given {
    #[track_caller]
    fn new(x: &Tensor, mean: Tensor, var: Tensor, weight: Option<Tensor>, bias: Option<Tensor>) -> Given {
        let op = "batch_norm_with";
        let named =
            [("mean", Some(&mean)), ("variance", Some(&var)), ("weight", weight.as_ref()), ("bias", bias.as_ref())];
        check(op, x, &named);
        let has = [weight.is_some(), bias.is_some()];
        let weight = Tensor::from_raw(given(weight, x, 1.0));
        let bias = Tensor::from_raw(given(bias, x, 0.0));
        let mut shape = Dims::repeat(op, 1, x.shape().len() - 1);
        shape[0] = x.shape()[1];
        Given { along: [mean, var, weight, bias].map(|t| t.reshape(shape)), has }
    }
}

/// A normalisation by the statistics of its operand.
struct Norm {
    x: Raw,
    weight: Raw,
    bias: Raw,
    mean: Raw,
    var: Raw,
    planes: Planes,
    eps: f64,
}

impl Norm {
    #[track_caller]
    fn new(x: Tensor, weight: Option<Tensor>, bias: Option<Tensor>, eps: f64) -> Norm {
        let op = "batch_norm";
        check(op, &x, &[("weight", weight.as_ref()), ("bias", bias.as_ref())]);
        let shape = x.raw.shape;
        let planes = Planes { count: shape[0], channels: shape[1], size: shape[2..].iter().product() };
        if planes.count * planes.size == 0 && planes.channels > 0 {
            let message = format!("{shape:?} has no elements in a channel, and nothing has no mean");
            raise(Error::Shape { op: op.into(), message })
        }
        let (weight, bias) = (given(weight, &x, 1.0), given(bias, &x, 0.0));
        let empty = || Raw::empty(&x.raw.device, x.dtype().compute(), &[planes.channels]);
        let norm = Norm { mean: empty(), var: empty(), x: x.raw, weight, bias, planes, eps };
        norm.run(&STATISTICS, &[&norm.x], &[&norm.mean, &norm.var], false);
        norm
    }

    #[track_caller]
    fn result(&self) -> Tensor {
        let y = Raw::empty(&self.x.device, self.x.dtype, &self.x.shape);
        self.run(&NORMALIZE, &[&self.x, &self.mean, &self.var, &self.weight, &self.bias], &[&y], true);
        Tensor::from_raw(y)
    }

    /// What the cotangents need.
    fn kept(self) -> Norm {
        Norm { x: self.x.keep(), mean: self.mean.keep(), var: self.var.keep(), weight: self.weight.keep(), ..self }
    }

    /// The cotangents of operand, weight and bias, each where it is wanted.
    #[track_caller]
    fn pull(
        &self,
        (ct, of_mean, of_var): (Option<Tensor>, Option<Tensor>, Option<Tensor>),
        wanted: [bool; 3],
    ) -> [Option<Tensor>; 3] {
        if ct.is_none() && of_mean.is_none() && of_var.is_none() {
            return [None, None, None];
        }
        let zeros = || Raw::full(&self.x.device, self.mean.dtype, &self.mean.shape, Scalar::Int(0));
        let or_zeros = |ct: Option<Tensor>| ct.map_or_else(zeros, |ct| ct.raw);
        let ct = match ct {
            Some(ct) => ct.raw,
            None => {
                Raw::full(&self.x.device, self.x.dtype, &[1], Scalar::Int(0)).expand_to("batch_norm", &self.x.shape)
            }
        };
        let empty = || Raw::empty(&self.x.device, self.mean.dtype, &self.mean.shape);
        let (plain, scaled) = (empty(), empty());
        self.run(&SUMS, &[&ct, &self.x, &self.mean, &self.var], &[&plain, &scaled], true);
        let x = wanted[0].then(|| {
            let dx = Raw::empty(&self.x.device, self.x.dtype, &self.x.shape);
            let (of_mean, of_var) = (or_zeros(of_mean), or_zeros(of_var));
            let ins = [&ct, &self.x, &self.mean, &self.var, &self.weight, &plain, &scaled, &of_mean, &of_var];
            self.run(&BACK, &ins, &[&dx], true);
            Tensor::from_raw(dx)
        });
        [x, wanted[1].then(|| Tensor::from_raw(scaled)), wanted[2].then(|| Tensor::from_raw(plain))]
    }

    #[track_caller]
    fn run(&self, kernel: &'static Kernel, ins: &[&Raw], outs: &[&Raw], with_eps: bool) {
        if self.x.numel() == 0 {
            return;
        }
        let Planes { count, channels, size } = self.planes;
        let sizes = [count, channels, size].map(|n| Arg::Scalar(Scalar::Int(n as i64)));
        let eps = with_eps.then_some(Arg::Scalar(Scalar::Float(self.eps)));
        let tensors = ins.iter().map(|x| Arg::In(x.view())).chain(outs.iter().map(|y| Arg::Out(y.view())));
        launch(&self.x.device, kernel, &[1], &tensors.chain(sizes).chain(eps).collect::<Vec<_>>());
    }
}

/// Raises where there is no axis 1, and where a parameter is not one number for each of its entries.
#[track_caller]
fn check(op: &str, x: &Tensor, parameters: &[(&str, Option<&Tensor>)]) {
    let [_, channels, ..] = *x.shape() else {
        let message = format!("the input is {:?}, expected [N, C, ..]", x.shape());
        raise(Error::Shape { op: op.into(), message })
    };
    for (name, parameter) in parameters {
        if let Some(parameter) = parameter.filter(|p| p.shape() != [channels]) {
            let message =
                format!("the {name} is {:?}, axis 1 of {:?} needs [{channels}]", parameter.shape(), x.shape());
            raise(Error::Shape { op: op.into(), message })
        }
        if let Some(parameter) = parameter {
            x.raw.same_device(op, &parameter.raw);
        }
    }
}
