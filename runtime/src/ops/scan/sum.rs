//! Running sums, and the running products of integers.

use super::blocks::Blocked;
use crate::ops::turn::Turn;
use crate::tensor::Raw;
use cotangent_hal::DType;

cotangent_hal::kernel! {
    static SUM_ROWS = Rows "cumsum" (x: Each F32) -> (y: Each F32) |tile| {
        let mut sum = 0.0;
        for i in 0..tile.1 {
            sum += f64::from(x[i]);
            y[i] = sum as Real;
        }
    }
}

cotangent_hal::kernel! {
    /// The total of each block, its rounding error apart.
    static SUM_TOTALS = Rows "cumsum" (x: Each F32) -> (high: PerRow F32, low: PerRow F32) |tile| {
        let mut parts = [0.0f64; 16];
        let (chunks, rest) = x.as_chunks::<16>();
        for chunk in chunks {
            for l in 0..16 {
                parts[l] += f64::from(chunk[l]);
            }
        }
        let total = parts.iter().sum::<f64>() + rest.iter().map(|&v| f64::from(v)).sum::<f64>();
        high[0] = total as Real;
        low[0] = (total - f64::from(high[0])) as Real;
    }
}

cotangent_hal::kernel! {
    /// What stands before each block, its rounding error apart.
    static SUM_STARTS = Rows "cumsum" (x: Each F32, e: Each F32; block) -> (high: Each F32, low: Each F32) |tile| {
        let mut sum = 0.0;
        for i in 0..tile.1 {
            high[i] = sum as Real;
            low[i] = (sum - f64::from(high[i])) as Real;
            sum += f64::from(x[i]) + f64::from(e[i]);
        }
    }
}

cotangent_hal::kernel! {
    static SUM_FROM = Rows "cumsum" (x: Each F32, high: PerRow F32, low: PerRow F32; blocks, first) -> (y: Each F32) |tile| {
        let mut sum = f64::from(high[0]) + f64::from(low[0]);
        for i in 0..tile.1 {
            sum += f64::from(x[i]);
            y[i] = sum as Real;
        }
    }
}

static SUM: Blocked = Blocked { rows: &SUM_ROWS, totals: &SUM_TOTALS, starts: &SUM_STARTS, from: &SUM_FROM };

/// The running sum of floats along the axis of `turn`, or from its end back.
#[track_caller]
pub(super) fn cumsum(turn: Turn, x: &Raw, back: bool) -> Raw {
    let state = [x.dtype.compute(); 2];
    SUM.along(turn, x, back, &[x.dtype], &state).remove(0)
}

/// Declares running reductions of integers.
macro_rules! of_integers {
    ($($(#[$doc:meta])* $f:ident, $name:literal, $rows:ident $totals:ident $starts:ident $from:ident,
        $start:literal, $join:path;)*) => { $(
        cotangent_hal::kernel! {
            static $rows = Rows $name (x: Each I64) -> (y: Each I64) |tile| {
                let mut s = $start;
                for i in 0..tile.1 {
                    s = $join(s, x[i]);
                    y[i] = s;
                }
            }
        }
        cotangent_hal::kernel! {
            static $totals = Rows $name (x: Each I64) -> (s: PerRow I64) |tile| {
                s[0] = x.iter().fold($start, |s, &x| $join(s, x));
            }
        }
        cotangent_hal::kernel! {
            static $starts = Rows $name (x: Each I64; block) -> (s: Each I64) |tile| {
                let mut total = $start;
                for i in 0..tile.1 {
                    s[i] = total;
                    total = $join(total, x[i]);
                }
            }
        }
        cotangent_hal::kernel! {
            static $from = Rows $name (x: Each I64, s: PerRow I64; blocks, first) -> (y: Each I64) |tile| {
                let mut s = s[0];
                for i in 0..tile.1 {
                    s = $join(s, x[i]);
                    y[i] = s;
                }
            }
        }
        $(#[$doc])*
        #[track_caller]
        pub(super) fn $f(turn: Turn, x: &Raw) -> Raw {
            let how = Blocked { rows: &$rows, totals: &$totals, starts: &$starts, from: &$from };
            how.along(turn, x, false, &[DType::I64], &[DType::I64]).remove(0)
        }
    )* };
}

of_integers! {
    /// The running sum of integers, which wraps.
    cumsum_int, "cumsum", INTS_ROWS INTS_TOTALS INTS_STARTS INTS_FROM, 0, i64::wrapping_add;
    /// The running product of integers, which wraps.
    cumprod_int, "cumprod", PRODUCT_ROWS PRODUCT_TOTALS PRODUCT_STARTS PRODUCT_FROM, 1, i64::wrapping_mul;
}
