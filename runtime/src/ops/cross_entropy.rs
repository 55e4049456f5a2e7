//! The losses that take logits or predictions and give one number.

#![allow(non_snake_case, reason = "companions are named `<operation>__vjp`")]

use super::{fold, indices};
use crate::diff::{Pullback, Want};
use crate::raise::raise;
use crate::tensor::{Int, Raw, Tensor, launch};
use cotangent_hal::native::lanes;
use cotangent_hal::{Arg, Error, Scalar};

/// The target of rows that do not count: PyTorch's `ignore_index`.
const IGNORED: i64 = -100;

cotangent_hal::kernel! {
    static FORWARD = Rows "cross_entropy" (x: Each F32, t: PerRow I64) -> (loss: PerRow F32, lse: PerRow F32) |tile| {
        let m = lanes::max(x);
        let l = math::log::<FMA>(lanes::sum1(x, |v| math::exp::<FMA>(v - m)));
        lse[0] = m + l;
        loss[0] = if t[0] == IGNORED { 0.0 } else { (m - x[t[0] as usize]) + l };
    }
}

cotangent_hal::kernel! {
    /// `dx = k ct (exp(x - lse) - 1 at the target)`, 0 in ignored rows.
    static BACKWARD = Rows "cross_entropy" (x: Each F32, t: PerRow I64, lse: PerRow F32, ct: PerRow F32; k)
     -> (dx: Each F32) |tile| {
        let (lse, k) = (lse[0], Real::from(k) * ct[0]);
        if t[0] == IGNORED {
            dx.fill(0.0);
        } else {
            for i in 0..tile.1 {
                dx[i] = k * math::exp::<FMA>(x[i] - lse);
            }
            dx[t[0] as usize] -= k;
        }
    }
}

impl Tensor {
    /// The mean over all rows of `-log softmax(row)[target]`: `[.., C], [..] -> []`, the classes along the last axis.
    ///
    /// A row whose target is -100 is ignored: it has no loss and no gradient, and the mean is that of the other rows;
    /// NaN where there are none, as in PyTorch.
    ///
    /// Raises `Error::Shape` where the shapes do not fit, `Error::Argument` where a target is neither in `0..C` nor -100.
    #[track_caller]
    pub fn cross_entropy(self, targets: Tensor<Int>) -> Tensor {
        cross_entropy(self, targets, Want::NONE).0
    }

    #[doc(hidden)]
    #[track_caller]
    pub fn cross_entropy__vjp(
        self,
        targets: Tensor<Int>,
        want: Want,
    ) -> (Tensor, impl Pullback<(), Ct = Option<Tensor>, In = (Option<Tensor>, ())> + use<>) {
        cross_entropy(self, targets, want)
    }
}

#[track_caller]
fn cross_entropy(x: Tensor, targets: Tensor<Int>, want: Want) -> (Tensor, Classes) {
    let Some((&classes, rows)) = x.shape().split_last().filter(|(_, rows)| *rows == targets.shape()) else {
        let message = format!(
            "logits {:?} and targets {:?}: expected logits [.., C] and targets of the same leading axes",
            x.shape(),
            targets.shape()
        );
        raise(Error::Shape { op: "cross_entropy".into(), message })
    };
    x.raw.same_device("cross_entropy", &targets.raw);
    let of = "the number of classes C";
    let count = indices::count_but("cross_entropy", &targets.raw, classes, IGNORED, "target", of);
    let (device, x, t) = (&x.raw.device, &x.raw, &targets.raw);
    let row = || Raw::empty(device, x.dtype.compute(), rows);
    let (loss, lse) = (row(), row());
    if loss.numel() > 0 {
        let args = [Arg::In(x.view()), Arg::In(t.view()), Arg::Out(loss.view()), Arg::Out(lse.view())];
        launch(device, &FORWARD, &x.shape, &args);
    }
    let factor = 1.0 / count as f64;
    let y = fold::sum(&loss, fold::all(rows.len()), factor).cast(x.dtype);
    let saved = want.has(0).then(|| (x.clone(), targets.raw.clone(), lse));
    (Tensor::from_raw(y), Classes { factor, saved })
}

/// The pullback of [`Tensor::cross_entropy`].
struct Classes {
    factor: f64,
    /// Logits, targets, and for each row the logarithm of the sum of exponentials.
    saved: Option<(Raw, Raw, Raw)>,
}

impl Pullback<()> for Classes {
    type Ct = Option<Tensor>;
    type In = (Option<Tensor>, ());
    fn pull(self, ct: Option<Tensor>, (): &mut ()) -> Self::In {
        let (Some(ct), Some((x, t, lse))) = (ct, self.saved) else { return (None, ()) };
        let dx = Raw::output(&x.device, x.dtype, &x.shape, &[&x]);
        if x.numel() > 0 {
            let ct = ct.raw.expand_to("cross_entropy", &t.shape);
            let ins = [Arg::In(x.view()), Arg::In(t.view()), Arg::In(lse.view()), Arg::In(ct.view())];
            let rest = [Arg::Out(dx.view()), Arg::Scalar(Scalar::Float(self.factor))];
            launch(&x.device, &BACKWARD, &x.shape, &[&ins[..], &rest[..]].concat());
        }
        (Some(Tensor::from_raw(dx)), ())
    }
}
