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
    /// Finds it in columns, row by row, each thread in a range of its own.
    columns: &'static Kernel,
}

/// Elements of a row that are compared at once.
const RUN: usize = 32;

/// Declares searches: the extreme of a slice, how its elements are recognised, and whether an element comes before the
/// best so far.
macro_rules! searches {
    ($($(#[$doc:meta])* $NAME:ident $name:literal $t:ident, $first:ident $then:ident $columns:ident,
        $start:expr, |$s:ident, $x:ident| $step:expr, |$v:ident, $m:ident| $is:expr, $before:path;)*) => { $(
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
        cotangent_hal::kernel! {
            static $columns = Rows $name (x: Each $t) -> (y: Part $t, at: Part I64) |tile| {
                let x = &x[tile.2..tile.2 + y.len()];
                if tile.0 == 0 {
                    y.copy_from_slice(x);
                }
                // Few elements are better than all before: a run of them is looked at twice.
                for ((x, y), at) in x.chunks(RUN).zip(y.chunks_mut(RUN)).zip(at.chunks_mut(RUN)) {
                    if x.iter().zip(&*y).fold(false, |found, (&x, &y)| found | $before(x, y)) {
                        for i in 0..x.len() {
                            if $before(x[i], y[i]) {
                                (y[i], at[i]) = (x[i], tile.0 as i64);
                            }
                        }
                    }
                }
            }
        }
        $(#[$doc])*
        pub(crate) static $NAME: Search = Search { first: &$first, then: &$then, columns: &$columns };
    )* };
}

searches! {
    /// The largest float.
    LARGEST "max_dim" F32, LARGEST_FIRST LARGEST_THEN LARGEST_COLUMNS, Real::NEG_INFINITY, |s, x| scalar::maximum(s, x),
        |v, m| v == m || v.is_nan(), scalar::above;
    /// The smallest float.
    SMALLEST "min_dim" F32, SMALLEST_FIRST SMALLEST_THEN SMALLEST_COLUMNS, Real::INFINITY, |s, x| scalar::minimum(s, x),
        |v, m| v == m || v.is_nan(), scalar::below;
    /// The largest integer.
    LARGEST_INT "max_dim" I64, LARGEST_INT_FIRST LARGEST_INT_THEN LARGEST_INT_COLUMNS, i64::MIN, |s, x| s.max(x),
        |v, m| v == m, scalar::greater;
    /// The smallest integer.
    SMALLEST_INT "min_dim" I64, SMALLEST_INT_FIRST SMALLEST_INT_THEN SMALLEST_INT_COLUMNS, i64::MAX, |s, x| s.min(x),
        |v, m| v == m, scalar::less;
}

impl Search {
    /// The extreme over the axes in `mask`, none of which is empty, and its first place, counted in row-major order over
    /// these axes; both contiguous, without the axes.
    pub(crate) fn of(&self, x: &Raw, mask: u8) -> (Raw, Raw) {
        if let Some(found) = self.by_columns(x, mask) {
            return found;
        }
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

    /// As [`of`](Search::of), without turning columns into rows, where the axes are neighbours before others of a
    /// contiguous tensor, and long enough to be worth a launch for each index of the axes before them.
    fn by_columns(&self, x: &Raw, mask: u8) -> Option<(Raw, Raw)> {
        let (from, to) = (mask.trailing_zeros() as usize, 8 - mask.leading_zeros() as usize);
        let neighbours = mask != 0 && mask.count_ones() as usize == to - from;
        if !neighbours || !x.is_contiguous() {
            return None;
        }
        let extent = |axes: &[usize]| axes.iter().product::<usize>();
        let (outer, n, width) = (extent(&x.shape[..from]), extent(&x.shape[from..to]), extent(&x.shape[to..]));
        if width < 16 || n * width < BLOCK || outer > 256 {
            return None;
        }
        let slices = x.clone().reinterpret(&[outer, n, width]);
        let [y, at] = [x.dtype, DType::I64].map(|dtype| Raw::empty(&x.device, dtype, &[outer, width]));
        for i in 0..outer {
            let slice = |raw: &Raw| raw.clone().slice(0, i, 1).remove_axis(0);
            let (x, y, at) = (slice(&slices), slice(&y), slice(&at));
            launch(&x.device, self.columns, &x.shape, &[Arg::In(x.view()), Arg::Out(y.view()), Arg::Out(at.view())]);
        }
        let kept = [&x.shape[..from], &x.shape[to..]].concat();
        Some((y.reinterpret(&kept), at.reinterpret(&kept)))
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
