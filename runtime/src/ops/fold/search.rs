//! Where the extremes of rows are.

use super::{BLOCK, to_rows};
use crate::tensor::{Dims, Raw, Strides, launch};
use cotangent_hal::native::{row, scalar};
use cotangent_hal::{Arg, DType, Kernel, Scalar};

/// The search for an extreme and its first place. A NaN counts as the extreme.
pub(crate) struct Search {
    /// Finds it in rows of elements.
    first: &'static Kernel,
    /// Finds it among the extremes of blocks and their places in these.
    then: &'static Kernel,
}

/// Declares searches: the extreme of a slice and how its elements are recognised.
macro_rules! searches {
    ($($(#[$doc:meta])* $NAME:ident $name:literal $t:ident, $first:ident $then:ident,
        $start:expr, |$s:ident, $x:ident| $step:expr, |$v:ident, $m:ident| $is:expr;)*) => { $(
        cotangent_hal::kernel! {
            static $first = Rows $name (x: Each $t) -> (y: PerRow $t, at: PerRow I64) |tile| {
                let $m = row::fold([x], $start, |$s, [$x]| $step, |$s, $x| $step);
                at[0] = x.iter().position(|&$v| $is).unwrap_or(0) as i64;
                y[0] = $m;
            }
        }
        cotangent_hal::kernel! {
            static $then = Rows $name (x: Each $t, i: Each I64; step) -> (y: PerRow $t, at: PerRow I64) |tile| {
                let $m = row::fold([x], $start, |$s, [$x]| $step, |$s, $x| $step);
                let block = x.iter().position(|&$v| $is).unwrap_or(0);
                at[0] = i[block] + block as i64 * step.i64();
                y[0] = $m;
            }
        }
        $(#[$doc])*
        pub(crate) static $NAME: Search = Search { first: &$first, then: &$then };
    )* };
}

searches! {
    /// The largest float.
    LARGEST "max_dim" F32, LARGEST_FIRST LARGEST_THEN, Real::NEG_INFINITY, |s, x| scalar::maximum(s, x),
        |v, m| v == m || v.is_nan();
    /// The smallest float.
    SMALLEST "min_dim" F32, SMALLEST_FIRST SMALLEST_THEN, Real::INFINITY, |s, x| scalar::minimum(s, x),
        |v, m| v == m || v.is_nan();
    /// The largest integer.
    LARGEST_INT "max_dim" I64, LARGEST_INT_FIRST LARGEST_INT_THEN, i64::MIN, |s, x| s.max(x), |v, m| v == m;
    /// The smallest integer.
    SMALLEST_INT "min_dim" I64, SMALLEST_INT_FIRST SMALLEST_INT_THEN, i64::MAX, |s, x| s.min(x), |v, m| v == m;
}

impl Search {
    /// The extreme over the axes in `mask`, none of which is empty, and its first place, counted in row-major order over
    /// these axes; both contiguous, without the axes.
    pub(crate) fn of(&self, x: &Raw, mask: u8) -> (Raw, Raw) {
        let rows = to_rows(x, mask);
        let (kept, n) = rows.shape.split_at(rows.shape.len() - 1);
        let found = |shape: &[usize]| (Raw::empty(&x.device, x.dtype, shape), Raw::empty(&x.device, DType::I64, shape));
        let (count, n) = (kept.iter().product::<usize>(), n[0]);
        if count >= 16 || n < 4 * BLOCK || kept.len() > 6 {
            let (y, at) = found(kept);
            if count > 0 {
                let args = [Arg::In(rows.view()), Arg::Out(y.view()), Arg::Out(at.view())];
                launch(&x.device, self.first, &rows.shape, &args);
            }
            return (y, at);
        }
        // A few long rows: many short ones first, so that all threads have work.
        let (blocks, rest) = (n / BLOCK, n % BLOCK);
        let (y, at) = found(&[kept, &[blocks + usize::from(rest > 0)]].concat());
        let whole = |raw: &Raw| raw.clone().slice(kept.len(), 0, blocks);
        self.in_blocks(&blocks_of(&rows, blocks), &whole(&y), &whole(&at));
        if rest > 0 {
            let last = |raw: &Raw| raw.clone().slice(kept.len(), blocks, 1);
            let tail = rows.clone().slice(kept.len(), n - rest, rest).insert_axis("max_dim", kept.len());
            self.in_blocks(&tail, &last(&y), &last(&at));
        }
        let (value, place) = found(kept);
        let args = [
            Arg::In(y.view()),
            Arg::In(at.view()),
            Arg::Out(value.view()),
            Arg::Out(place.view()),
            Arg::Scalar(Scalar::Int(BLOCK as i64)),
        ];
        launch(&x.device, self.then, &y.shape, &args);
        (value, place)
    }

    fn in_blocks(&self, x: &Raw, y: &Raw, at: &Raw) {
        launch(&x.device, self.first, &x.shape, &[Arg::In(x.view()), Arg::Out(y.view()), Arg::Out(at.view())]);
    }
}

/// The first elements of rows as so many blocks: `[.., n]` as `[.., blocks, BLOCK]`.
pub(crate) fn blocks_of(rows: &Raw, blocks: usize) -> Raw {
    let last = rows.shape.len() - 1;
    let (mut shape, mut strides) = (rows.shape[..last].to_vec(), rows.strides[..last].to_vec());
    shape.extend([blocks, BLOCK]);
    strides.extend([rows.strides[last] * BLOCK as isize, rows.strides[last]]);
    Raw { shape: Dims::of("block", &shape), strides: Strides::of("block", &strides), ..rows.clone() }
}
