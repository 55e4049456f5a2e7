//! Layer normalisation over the last axis.

#![allow(non_snake_case, reason = "companions are named `<operation>__vjp`")]
#![allow(clippy::type_complexity, reason = "the type of a companion names all of its cotangents")]

use super::operand::Number;
use crate::diff::{Pullback, Want, pull};
use crate::raise::raise;
use crate::tensor::Tensor;
use cotangent_hal::Error;
use cotangent_macros::kernel;

/// Each row shifted and scaled to mean 0 and variance 1, times `weight` plus `bias`.
#[kernel]
fn layer_norm(x: Tensor![R.., C], weight: Tensor![C], bias: Tensor![C], eps: f64) -> Tensor![R.., C] {
    |r, i| {
        let m = mean(|j| x[r][j]);
        let variance = mean(|j| (x[r][j] - m) * (x[r][j] - m));
        (x[r][i] - m) * rsqrt(variance + eps) * weight[i] + bias[i]
    }
}

impl Tensor {
    /// Each row of the last axis shifted to mean 0 and scaled to variance 1, then times `weight` plus `bias`:
    /// `(x - mean) / sqrt(var + eps) * weight + bias`, the variance with divisor `C`.
    /// `[.., C], [C], [C] -> [.., C]` in the dtype of `self`; raises `Error::Shape` where an extent differs.
    #[track_caller]
    pub fn layer_norm(self, weight: Tensor, bias: Tensor, eps: impl Number) -> Tensor {
        check(&self, &weight, &bias);
        let dtype = self.dtype();
        layer_norm(self, weight, bias, eps.number().f64()).to(dtype)
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
        check(&self, &weight, &bias);
        let dtype = self.dtype();
        let (y, normal) = layer_norm::vjp(self, weight, bias, eps.number().f64(), want.of_function());
        let (y, stored) = y.to__vjp(dtype, Want::ALL);
        (y, pull(move |ct, (): &mut ()| normal.pull(stored.pull(ct, &mut ()).0, &mut ())))
    }
}

#[track_caller]
fn check(x: &Tensor, weight: &Tensor, bias: &Tensor) {
    for (name, parameter) in [("weight", weight), ("bias", bias)] {
        if x.shape().last().is_none_or(|&c| parameter.shape() != [c]) {
            let message = format!(
                "the {name} is {:?}, but the input is {:?}: expected one axis, as long as the input's last",
                parameter.shape(),
                x.shape()
            );
            raise(Error::Shape { op: "layer_norm".into(), message });
        }
    }
}
