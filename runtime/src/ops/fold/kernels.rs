//! The loops of folds: what is done with a row, and with rows that are added up column by column.
//!
//! All take two numbers: the factor `k` of a sum, 1 but in its last step, and `a`, which the function of each element may
//! have. A fold of a function of each element may read a value `p` a row beside the elements.

use super::{BLOCK, Fold};
use crate::ops::arith::{maximum, minimum};
use cotangent_hal::native::{row, scalar};

/// Declares a sum of a function of each element, `|x, p, a|` of `Real`: the rows, whose blocks are added in `f64`, and
/// the columns.
macro_rules! sums {
    ($($(#[$doc:meta])* $NAME:ident $name:literal, $rows:ident $columns:ident,
        |$x:ident $(, $p:ident)?; $a:ident| $f:expr, then $then:expr;)*) => { $(
        cotangent_hal::kernel! {
            static $rows = Rows $name (x: Each F32 $(, $p: PerRow F32)?; k, a) -> (y: PerRow F32) |tile| {
                let $a = Real::from(a);
                $(let $p = $p[0];)?
                let mut sum = 0.0;
                for block in x.chunks(BLOCK) {
                    let part: Real = row::fold([block], 0.0, |s, [$x]| s + $f, |s, t| s + t);
                    sum += f64::from(part);
                }
                y[0] = (sum * f64::from(k)) as Real;
            }
        }
        cotangent_hal::kernel! {
            static $columns = Rows $name (x: Each F32 $(, $p: Each F32)?; k, a) -> (y: PerColumn F32) |tile| {
                let (k, $a) = (Real::from(k), Real::from(a));
                for i in 0..tile.1 {
                    let $x = x[i];
                    $(let $p = $p[i];)?
                    y[i] += k * $f;
                }
            }
        }
        $(#[$doc])*
        pub(crate) static $NAME: Fold = Fold { rows: &$rows, columns: Some(&$columns), pair: None, then: $then, empty: 0.0 };
    )* };
}

sums! {
    /// The sum.
    SUM "sum", SUM_ROWS SUM_COLUMNS, |x; a| x, then None;
    /// The sum of what is not NaN.
    NANSUM "nansum", NANSUM_ROWS NANSUM_COLUMNS, |x; a| if x.is_nan() { 0.0 } else { x }, then Some(&SUM);
    /// The number of elements that are not NaN.
    NUMBERS "nanmean", NUMBERS_ROWS NUMBERS_COLUMNS, |x; a| if x.is_nan() { 0.0 } else { 1.0 }, then Some(&SUM);
    /// The number of elements that are 0.
    ZEROS "prod", ZEROS_ROWS ZEROS_COLUMNS, |x; a| if x == 0.0 { 1.0 } else { 0.0 }, then Some(&SUM);
    /// The number of elements whose magnitude is `p`.
    TIES "norm", TIES_ROWS TIES_COLUMNS, |x, p; a| if x.abs() == p { 1.0 } else { 0.0 }, then Some(&SUM);
    /// The sum of `(x - p)^2`.
    SQUARES_ABOUT "var", SQUARES_ABOUT_ROWS SQUARES_ABOUT_COLUMNS, |x, p; a| (x - p) * (x - p), then Some(&SUM);
    /// The sum of `e^(x - p)`.
    EXPONENTIALS "logsumexp", EXPONENTIALS_ROWS EXPONENTIALS_COLUMNS, |x, p; a| math::exp::<FMA>(x - p), then Some(&SUM);
    /// The number of elements that are not 0.
    NORM_0 "norm", NORM_0_ROWS NORM_0_COLUMNS, |x; a| if x == 0.0 { 0.0 } else { 1.0 }, then Some(&SUM);
    /// The sum of magnitudes.
    NORM_1 "norm", NORM_1_ROWS NORM_1_COLUMNS, |x; a| x.abs(), then Some(&SUM);
    /// The sum of squares.
    NORM_2 "norm", NORM_2_ROWS NORM_2_COLUMNS, |x; a| x * x, then Some(&SUM);
    /// The sum of `|x|^a`.
    NORM_P "norm", NORM_P_ROWS NORM_P_COLUMNS, |x; a| x.abs().powf(a), then Some(&SUM);
}

/// Declares a fold by a function that has a start, of floats, integers or truth values.
macro_rules! joins {
    ($($(#[$doc:meta])* $NAME:ident $name:literal, $rows:ident $t:ident, $start:expr, |$s:ident, $x:ident| $step:expr,
        |$l:ident, $r:ident| $join:expr, pair $pair:expr, then $then:expr, empty $empty:expr;)*) => { $(
        cotangent_hal::kernel! {
            static $rows = Rows $name (x: Each $t; k, a) -> (y: PerRow $t) |tile| {
                y[0] = row::fold([x], $start, |$s, [$x]| $step, |$l, $r| $join);
            }
        }
        $(#[$doc])*
        pub(crate) static $NAME: Fold = Fold { rows: &$rows, columns: None, pair: $pair, then: $then, empty: $empty };
    )* };
}

joins! {
    /// The largest number, NaN where one is.
    MAX "amax", MAX_ROWS F32, Real::NEG_INFINITY, |s, x| scalar::maximum(s, x), |l, r| scalar::maximum(l, r),
        pair Some(maximum::FLOATS.forward), then None, empty f64::NEG_INFINITY;
    /// The smallest number, NaN where one is.
    MIN "amin", MIN_ROWS F32, Real::INFINITY, |s, x| scalar::minimum(s, x), |l, r| scalar::minimum(l, r),
        pair Some(minimum::FLOATS.forward), then None, empty f64::INFINITY;
    /// The largest magnitude, NaN where one is.
    NORM_INF "norm", NORM_INF_ROWS F32, 0.0, |s, x| scalar::maximum(s, x.abs()), |l, r| scalar::maximum(l, r),
        pair None, then Some(&MAX), empty 0.0;
    /// The smallest magnitude, NaN where one is.
    NORM_NEG_INF "norm", NORM_NEG_INF_ROWS F32, Real::INFINITY, |s, x| scalar::minimum(s, x.abs()),
        |l, r| scalar::minimum(l, r), pair None, then Some(&MIN), empty 0.0;
    /// The product of what is not 0.
    PROD_NONZERO "prod", PROD_NONZERO_ROWS F32, 1.0, |s, x| if x == 0.0 { s } else { s * x }, |l, r| l * r,
        pair None, then Some(&PROD), empty 1.0;
    /// The product.
    PROD "prod", PROD_ROWS F32, 1.0, |s, x| s * x, |l, r| l * r, pair None, then None, empty 1.0;
    /// The largest integer.
    MAX_INT "amax", MAX_INT_ROWS I64, i64::MIN, |s, x| s.max(x), |l, r| l.max(r), pair None, then None, empty 0.0;
    /// The smallest integer.
    MIN_INT "amin", MIN_INT_ROWS I64, i64::MAX, |s, x| s.min(x), |l, r| l.min(r), pair None, then None, empty 0.0;
    /// The wrapping product.
    PROD_INT "prod", PROD_INT_ROWS I64, 1, |s, x| s.wrapping_mul(x), |l, r| l.wrapping_mul(r),
        pair None, then None, empty 1.0;
    /// Whether one is true.
    ANY "any", ANY_ROWS Bool, false, |s, x| s | x, |l, r| l | r, pair None, then None, empty 0.0;
    /// Whether all are true.
    ALL "all", ALL_ROWS Bool, true, |s, x| s & x, |l, r| l & r, pair None, then None, empty 1.0;
}

cotangent_hal::kernel! {
    static SUM_INT_ROWS = Rows "sum" (x: Each I64; k, a) -> (y: PerRow I64) |tile| {
        y[0] = x.iter().fold(0, |sum: i64, &v| sum.wrapping_add(v));
    }
}

cotangent_hal::kernel! {
    static SUM_INT_COLUMNS = Rows "sum" (x: Each I64; k, a) -> (y: PerColumn I64) |tile| {
        for i in 0..tile.1 {
            y[i] = y[i].wrapping_add(x[i]);
        }
    }
}

cotangent_hal::kernel! {
    static COUNT_ROWS = Rows "count_nonzero" (x: Each Bool; k, a) -> (y: PerRow I64) |tile| {
        // Few enough for a byte, so that many are added at once.
        let few = |x: &[bool]| i64::from(x.iter().fold(0u8, |sum, &v| sum + u8::from(v)));
        y[0] = x.chunks(128).map(few).sum();
    }
}

cotangent_hal::kernel! {
    static COUNT_COLUMNS = Rows "count_nonzero" (x: Each Bool; k, a) -> (y: PerColumn I64) |tile| {
        for i in 0..tile.1 {
            y[i] += i64::from(x[i]);
        }
    }
}

/// The wrapping sum of integers.
pub(crate) static SUM_INT: Fold =
    Fold { rows: &SUM_INT_ROWS, columns: Some(&SUM_INT_COLUMNS), pair: None, then: None, empty: 0.0 };

/// How many are true.
pub(crate) static COUNT: Fold =
    Fold { rows: &COUNT_ROWS, columns: Some(&COUNT_COLUMNS), pair: None, then: Some(&SUM_INT), empty: 0.0 };
