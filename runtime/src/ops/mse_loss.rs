//! The mean squared difference.

#![allow(non_snake_case, reason = "companions are named `<operation>__vjp`")]
#![allow(clippy::type_complexity, reason = "the type of a companion names all of its cotangents")]

use super::elementwise::{broadcasting, result_dtype};
use super::fold;
use crate::diff::{Pullback, Want};
use crate::raise::raise;
use crate::tensor::{Raw, Tensor, launch};
use cotangent_hal::native::lanes;
use cotangent_hal::{Arg, Error, Scalar};

cotangent_hal::kernel! {
    static ROW = Rows "mse_loss" (a: Each F32, b: Each F32) -> (y: PerRow F32) |tile| {
        y[0] = lanes::sum2(a, b, |a, b| (a - b) * (a - b));
    }
}

cotangent_hal::kernel! {
    static BACKWARD = Pointwise "mse_loss" (a: Each F32, b: Each F32, ct: Each F32; k) -> (da: Each F32) |tile| {
        let k = Real::from(k);
        for i in 0..tile.1 {
            da[i] = k * ct[i] * (a[i] - b[i]);
        }
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
fn mse_loss(a: Tensor, b: Tensor, want: Want) -> (Tensor, Squares) {
    if a.shape() != b.shape() {
        let message = format!("{:?} and {:?} differ, expected equal shapes", a.shape(), b.shape());
        raise(Error::Shape { op: "mse_loss".into(), message });
    }
    a.raw.same_device("mse_loss", &b.raw);
    let (ra, rb) = fold::any_rows_of_both(&a.raw, &b.raw);
    let dtype = result_dtype(&a.raw, &b.raw);
    let parts = Raw::empty(&ra.device, dtype.compute(), &ra.shape[..ra.shape.len() - 1]);
    if ra.numel() > 0 {
        launch(&ra.device, &ROW, &ra.shape, &[Arg::In(ra.view()), Arg::In(rb.view()), Arg::Out(parts.view())]);
    } else {
        parts.fill(Scalar::Float(0.0));
    }
    let y = fold::sum(&parts, fold::all(parts.shape.len()), 1.0 / ra.numel() as f64).cast(dtype);
    let want = [want.has(0), want.has(1)];
    let saved = want.contains(&true).then_some((a.raw, b.raw));
    (Tensor::from_raw(y), Squares { want, saved })
}

/// The pullback of [`Tensor::mse_loss`].
struct Squares {
    want: [bool; 2],
    saved: Option<(Raw, Raw)>,
}

impl Pullback<()> for Squares {
    type Ct = Option<Tensor>;
    type In = (Option<Tensor>, Option<Tensor>);
    fn pull(self, ct: Option<Tensor>, (): &mut ()) -> Self::In {
        let (Some(ct), Some((a, b))) = (ct, self.saved) else { return (None, None) };
        let k = 2.0 / a.numel() as f64;
        let part = |k: f64, dtype| broadcasting(&BACKWARD, &[&a, &b, &ct.raw], dtype, &[Scalar::Float(k)]);
        let da = self.want[0].then(|| Tensor::from_raw(part(k, a.dtype)));
        let db = self.want[1].then(|| match &da {
            Some(da) if a.dtype == b.dtype => -da,
            Some(_) | None => Tensor::from_raw(part(-k, b.dtype)),
        });
        (da, db)
    }
}
