//! Running reductions of a few long rows, cut into blocks so that all threads have work.
//!
//! The totals of the blocks are found at once, then what stands before each of them, and from there each block is run
//! through at once. Which rows are cut depends on shapes alone, so that results do not depend on the number of threads.

use super::launch_over;
use crate::ops::fold::{BLOCK, blocks_of};
use crate::ops::turn::Turn;
use crate::tensor::Raw;
use cotangent_hal::{DType, Kernel};

/// A running reduction by blocks. What is known of a block is one or two numbers, its state.
pub(super) struct Blocked {
    /// Rows as they are: `(x) -> results`.
    pub(super) rows: &'static Kernel,
    /// The state of each block by itself: `(x) -> state`.
    pub(super) totals: &'static Kernel,
    /// The state before each block: `(state; block) -> state`, where `block` is the length of a block.
    pub(super) starts: &'static Kernel,
    /// Blocks from their state on: `(x, state; blocks, first) -> results`. The first block of `blocks` in a row begins at
    /// the place `first`.
    pub(super) from: &'static Kernel,
}

impl Blocked {
    /// The results along the axis of `turn`, or from its end back, of the dtypes `outs`; a state is of the dtypes `state`.
    #[track_caller]
    pub(super) fn along(&self, turn: Turn, x: &Raw, back: bool, outs: &[DType], state: &[DType]) -> Vec<Raw> {
        let rows = turn.to_rows(x.clone());
        let outs: Vec<Raw> = outs.iter().map(|&dtype| turn.empty(&rows, dtype, &rows.shape)).collect();
        if rows.numel() > 0 {
            let seen = |raw: &Raw| if back { reversed(raw) } else { raw.clone() };
            self.run(&seen(&rows), &outs.iter().map(seen).collect::<Vec<_>>(), state);
        }
        outs.into_iter().map(|y| turn.back(y)).collect()
    }

    fn run(&self, x: &Raw, outs: &[Raw], state: &[DType]) {
        let last = x.shape.len() - 1;
        let (count, n) = (x.shape[..last].iter().product::<usize>(), x.shape[last]);
        if count >= 16 || n < 4 * BLOCK || last > 6 {
            return launch_over(self.rows, std::slice::from_ref(x), outs, &[]);
        }
        let (blocks, rest) = (n / BLOCK, n % BLOCK);
        let mut shape = x.shape;
        shape[last] = blocks + usize::from(rest > 0);
        let states = || state.iter().map(|&dtype| Raw::empty(&x.device, dtype, &shape)).collect::<Vec<_>>();
        let whole = |raw: &Raw| raw.clone().slice(last, 0, blocks);
        let cut = blocks_of(x, blocks);
        // The total of the last block, if it is a part, is nobody's start.
        let (totals, starts) = (states(), states());
        launch_over(self.totals, std::slice::from_ref(&cut), &totals.iter().map(whole).collect::<Vec<_>>(), &[]);
        launch_over(self.starts, &totals, &starts, &[BLOCK]);
        let ins: Vec<Raw> = [cut].into_iter().chain(starts.iter().map(whole)).collect();
        launch_over(self.from, &ins, &outs.iter().map(|y| blocks_of(y, blocks)).collect::<Vec<_>>(), &[blocks, 0]);
        if rest > 0 {
            let tail = |raw: &Raw| raw.clone().slice(last, n - rest, rest);
            let only = |raw: &Raw| raw.clone().slice(last, blocks, 1).remove_axis(last);
            let ins: Vec<Raw> = [tail(x)].into_iter().chain(starts.iter().map(only)).collect();
            launch_over(self.from, &ins, &outs.iter().map(tail).collect::<Vec<_>>(), &[1, n - rest]);
        }
    }
}

/// Rows from their end.
fn reversed(rows: &Raw) -> Raw {
    let last = rows.shape.len() - 1;
    let mut strides = rows.strides;
    let step = strides[last];
    strides[last] = -step;
    let reach = (rows.shape[last].max(1) - 1) as isize * step;
    Raw { strides, offset: rows.offset.wrapping_add_signed(reach), ..rows.clone() }
}
