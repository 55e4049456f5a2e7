//! The logarithm of a running sum of exponentials.

use super::along_to;
use crate::diff::{Pullback, Want, pull};
use crate::ops::turn::Turn;
use crate::tensor::Tensor;

cotangent_hal::kernel! {
    /// The sum is that of exponentials less the largest exponent so far.
    static LOGCUMSUMEXP = Rows "logcumsumexp" (x: Each F32) -> (y: Each F32) |tile| {
        let (mut largest, mut sum) = (Real::NEG_INFINITY, 0.0);
        for i in 0..tile.1 {
            let v = x[i];
            if v > largest || v.is_nan() {
                sum = sum * f64::from(math::exp::<FMA>(largest - v)) + 1.0;
                largest = v;
            } else if v == largest {
                sum += f64::from(u8::from(v != Real::NEG_INFINITY));
            } else {
                sum += f64::from(math::exp::<FMA>(v - largest));
            }
            y[i] = largest + math::log::<FMA>(sum as Real);
        }
    }
}

cotangent_hal::kernel! {
    /// Element `i` gets `exp(x[i])` times the sum of `ct[j] exp(-y[j])` over `j >= i`. That sum is carried less the
    /// exponent `y[i]`, which only grows, so that nothing overflows. An element that is minus infinity gets 0.
    static SLOPE = Rows "logcumsumexp" (x: Each F32, y: Each F32, ct: Each F32) -> (dx: Each F32) |tile| {
        let mut sum = 0.0;
        for i in (0..tile.1).rev() {
            if i + 1 < tile.1 && y[i] != y[i + 1] {
                sum *= math::exp::<FMA>(y[i] - y[i + 1]);
            }
            sum += ct[i];
            dx[i] = if x[i] == Real::NEG_INFINITY {
                0.0
            } else if x[i] == y[i] {
                sum
            } else {
                sum * math::exp::<FMA>(x[i] - y[i])
            };
        }
    }
}

impl Tensor {
    /// The logarithm of the running sum of exponentials along an axis, without overflow.
    #[track_caller]
    pub fn logcumsumexp(self, axis: isize) -> Tensor {
        let turn = Turn::of("logcumsumexp", self.shape(), axis);
        Tensor::from_raw(along_to(turn, &LOGCUMSUMEXP, &[&self.raw], self.dtype()))
    }

    #[doc(hidden)]
    #[track_caller]
    pub fn logcumsumexp__vjp(
        self,
        axis: isize,
        want: Want,
    ) -> (Tensor, impl Pullback<(), Ct = Option<Tensor>, In = (Option<Tensor>, ())> + use<>) {
        let turn = Turn::of("logcumsumexp", self.shape(), axis);
        let (dtype, x) = (self.dtype(), self.raw);
        // Kept before it is rounded.
        let y = along_to(turn, &LOGCUMSUMEXP, &[&x], dtype.compute());
        let result = Tensor::from_raw(y.clone().cast(dtype));
        let saved = want.has(0).then(|| (x.keep(), y.keep()));
        let pullback = move |ct: Option<Tensor>, (): &mut ()| {
            let dx = ct.zip(saved).map(|(ct, (x, y))| along_to(turn, &SLOPE, &[&x, &y, &ct.raw], dtype));
            (dx.map(Tensor::from_raw), ())
        };
        (result, pull(pullback))
    }
}
