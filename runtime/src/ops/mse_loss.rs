//! The mean squared difference.

#![allow(non_snake_case, reason = "companions are named `<operation>__vjp`")]
#![allow(clippy::type_complexity, reason = "the type of a companion names all of its cotangents")]

use super::elementwise::result_dtype;
use super::fold;
use super::loss::Total;
use crate::diff::{Pullback, Want, pull};
use crate::raise::raise;
use crate::tensor::Tensor;
use cotangent_hal::Error;
use cotangent_macros::kernel;

/// The sum over each row of `(a - b)^2`. The cotangent of `b` is that of `a` with the other sign.
#[kernel(unrounded)]
fn squares(a: Tensor![R.., C], b: Tensor![R.., C]) -> Tensor![R..] {
    |r| {
        sum(|j| {
            let d = a[r][j] - detach(b[r][j]);
            d * d
        })
    }
}

impl Tensor {
    /// The mean of `(self - target)^2` over all elements: two tensors of one shape to a scalar.
    ///
    /// Raises `Error::Shape` where the shapes differ.
    #[track_caller]
    pub fn mse_loss(self, target: Tensor) -> Tensor {
        mse_loss(self, target, Want::NONE).0
    }

    #[doc(hidden)]
    #[track_caller]
    pub fn mse_loss__vjp(
        self,
        target: Tensor,
        want: Want,
    ) -> (Tensor, impl Pullback<(), Ct = Option<Tensor>, In = (Option<Tensor>, Option<Tensor>)> + use<>) {
        mse_loss(self, target, want)
    }
}

#[track_caller]
fn mse_loss(
    a: Tensor,
    b: Tensor,
    want: Want,
) -> (Tensor, impl Pullback<(), Ct = Option<Tensor>, In = (Option<Tensor>, Option<Tensor>)> + use<>) {
    if a.shape() != b.shape() {
        let message = format!("{:?} and {:?} differ, expected equal shapes", a.shape(), b.shape());
        raise(Error::Shape { op: "mse_loss".into(), message });
    }
    a.raw.same_device("mse_loss", &b.raw);
    let (shape, dtypes, dtype) = (a.raw.shape, [a.dtype(), b.dtype()], result_dtype(&a.raw, &b.raw));
    let (a, b) = fold::any_rows_of_both(&a.to(dtype).raw, &b.to(dtype).raw);
    let mean = 1.0 / a.numel() as f64;
    let wanted = Want::of(&[false, want.has(0) || want.has(1)]);
    let (parts, of_parts) = squares::vjp(Tensor::from_raw(a), Tensor::from_raw(b), wanted);
    let (y, total) = Total::of(&parts, mean, dtype);
    let pullback = pull(move |ct: Option<Tensor>, (): &mut ()| {
        let (da, _) = of_parts.pull(ct.map(|ct| total.pull(ct)), &mut ());
        let da = da.map(|da| Tensor::from_raw(da.raw.reshape(&shape)));
        let db = da.clone().filter(|_| want.has(1)).map(|da| -da.to(dtypes[1]));
        (da.filter(|_| want.has(0)).map(|da| da.to(dtypes[0])), db)
    });
    (y, pullback)
}
