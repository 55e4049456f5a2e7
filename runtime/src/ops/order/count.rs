//! How often values occur.

use crate::ops::fold::{MAX, MAX_INT, MIN, MIN_INT, all};
use crate::raise::raise;
use crate::tensor::{Int, Raw, Tensor, launch};
use cotangent_hal::{Arg, DType, Error, Scalar};

cotangent_hal::kernel! {
    static BINCOUNT = Pointwise "bincount" (x: Each I64) -> (y: Whole I64) |tile| {
        for &v in x {
            y[v as usize] += 1;
        }
    }
}

cotangent_hal::kernel! {
    /// The last bin holds `high` too; what is outside, and NaN, is in none.
    static HISTC = Pointwise "histc" (x: Each F32; low, high) -> (y: Whole I64) |tile| {
        let (low, high, bins) = (Real::from(low), Real::from(high), y.len());
        for &v in x {
            if low <= v && v <= high {
                let bin = ((v - low) / (high - low) * bins as Real) as usize;
                y[bin.min(bins - 1)] += 1;
            }
        }
    }
}

impl Tensor<Int> {
    /// How often each of `0..N` occurs: `[N]`, where `N` is the largest element plus 1, but at least `minlength`. Waits for
    /// the device.
    ///
    /// Raises `Error::Argument` for an element below 0.
    #[track_caller]
    pub fn bincount(self, minlength: usize) -> Tensor<Int> {
        let (x, axes) = (&self.raw, all(self.rank()));
        let extreme = |how: &'static crate::ops::fold::Fold| {
            let raw = (x.numel() > 0).then(|| how.of(x, None, axes, 1.0, 0.0));
            raw.and_then(|raw| raw.single::<i64>())
        };
        let (least, most) = (extreme(&MIN_INT).unwrap_or(0), extreme(&MAX_INT));
        if least < 0 {
            let message = format!("the element {least} was given, expected none below 0");
            raise(Error::Argument { op: "bincount".into(), message });
        }
        let n = minlength.max(most.map_or(0, |most| most as usize + 1));
        Tensor::from_raw(counted(x, n, |out| {
            launch(&x.device, &BINCOUNT, &x.shape, &[Arg::In(x.view()), Arg::Out(out.view())])
        }))
    }
}

/// Counts in `n` bins: those that `count` writes, 0 where there is nothing to count.
fn counted(x: &Raw, n: usize, count: impl FnOnce(&Raw)) -> Raw {
    if x.numel() == 0 || n == 0 {
        return Raw::full(&x.device, DType::I64, &[n], Scalar::Int(0));
    }
    let out = Raw::empty(&x.device, DType::I64, &[n]);
    count(&out);
    out
}

impl Tensor {
    /// How many elements lie in each of `bins` intervals of one length from `min` to `max`, as floats: `[bins]`. The last
    /// holds `max` too; elements outside, and NaN, are not counted. Where `min` equals `max`, the range is that of the
    /// elements, and waits for the device; where it is empty, 1 to both sides.
    ///
    /// Raises `Error::Argument` for no bins, and for a range that is reversed or not finite.
    #[track_caller]
    pub fn histc(self, bins: usize, min: f64, max: f64) -> Tensor {
        let (x, axes) = (&self.raw, all(self.rank()));
        let fault = |message: String| Error::Argument { op: "histc".into(), message };
        if bins == 0 {
            raise(fault("0 bins were asked for, expected at least 1".into()));
        }
        let (mut low, mut high) = (min, max);
        if min == max && x.numel() > 0 {
            let extreme = |how: &'static crate::ops::fold::Fold| how.of(x, None, axes, 1.0, 0.0).single::<f64>();
            (low, high) = (extreme(&MIN).unwrap_or(0.0), extreme(&MAX).unwrap_or(0.0));
        }
        if low == high {
            (low, high) = (low - 1.0, high + 1.0);
        }
        if !(low.is_finite() && high.is_finite() && low < high) {
            raise(fault(format!("the range is {low} to {high}, expected finite ends in ascending order")));
        }
        let numbers = [low, high].map(|n| Arg::Scalar(Scalar::Float(n)));
        let counts = counted(x, bins, |out| {
            launch(&x.device, &HISTC, &x.shape, &[Arg::In(x.view()), Arg::Out(out.view()), numbers[0], numbers[1]]);
        });
        Tensor::from_raw(counts.cast(x.dtype))
    }
}
