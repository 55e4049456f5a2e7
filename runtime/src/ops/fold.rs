//! Sums and maxima along axes of a strided tensor, without copying it.
//!
//! Axes that lie beside each other in memory are merged first. Then a trailing run is folded row by row, a run before
//! long trailing ones column by column; what remains is folded in the next round. Partial results are in the dtype that
//! is computed in, so that a sum of 16-bit floats is rounded once. Rows are summed in blocks whose sums are added in
//! `f64`, and a few long rows are cut into many short ones, so that the error does not grow with the length and all
//! threads have work.

use super::arith::maximum;
use super::elementwise::{binary, unary};
use crate::tensor::{Dims, Raw, Strides, launch};
use cotangent_hal::native::lanes;
use cotangent_hal::{Arg, DType, Kernel, Scalar};

cotangent_hal::kernel! {
    static SUM_ROWS = Rows "sum" (x: Each F32; k) -> (y: PerRow F32) |tile| {
        let mut sum = 0.0;
        for block in x.chunks(BLOCK) {
            sum += f64::from(lanes::sum(block));
        }
        y[0] = (sum * f64::from(k)) as Real;
    }
}

cotangent_hal::kernel! {
    static SUM_COLUMNS = Rows "sum" (x: Each F32; k) -> (y: PerColumn F32) |tile| {
        let k = Real::from(k);
        for i in 0..tile.1 {
            y[i] += k * x[i];
        }
    }
}

cotangent_hal::kernel! {
    static MAX_ROWS = Rows "amax" (x: Each F32; k) -> (y: PerRow F32) |tile| {
        y[0] = lanes::max_or_nan(x);
    }
}

cotangent_hal::kernel! {
    static ARGMAX_ROWS = Rows "argmax" (x: Each F32) -> (y: PerRow I64) |tile| {
        let m = lanes::max_or_nan(x);
        y[0] = x.iter().position(|&v| v == m || v.is_nan()).unwrap_or(0) as i64;
    }
}

cotangent_hal::kernel! {
    static SCALE = Pointwise "mean" (x: Each F32; k) -> (y: Each F32) |tile| {
        let k = Real::from(k);
        for i in 0..tile.1 {
            y[i] = k * x[i];
        }
    }
}

/// The operation's name where an error can only be a fault of this module.
const OP: &str = "fold";

/// Elements whose sum is formed in one precision.
const BLOCK: usize = 4096;

/// What is done along the axes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fold {
    /// The sum times a factor.
    Sum,
    /// The maximum.
    Max,
}

/// Axes that are walked with one stride.
#[derive(Clone, Copy)]
struct Run {
    extent: usize,
    stride: isize,
    folded: bool,
}

/// The sum over the axes in `mask` times `k`, contiguous, without these axes.
pub(crate) fn sum(x: &Raw, mask: u8, k: f64) -> Raw {
    fold(Fold::Sum, x, mask, k)
}

/// The maximum over the axes in `mask`, none of which is empty; contiguous, without these axes.
pub(crate) fn max(x: &Raw, mask: u8) -> Raw {
    fold(Fold::Max, x, mask, 1.0)
}

/// `k x`, in place where nothing else holds it.
pub(crate) fn scale(x: Raw, k: f64) -> Raw {
    unary(&SCALE, x, &[Scalar::Float(k)])
}

/// `x` summed to `shape`, a shape that broadcasts to that of `x`.
pub(crate) fn sum_to(x: Raw, shape: &[usize]) -> Raw {
    if *x.shape == *shape {
        return x;
    }
    let added = x.shape.len() - shape.len();
    let mut mask = 0;
    for (i, &extent) in x.shape.iter().enumerate() {
        if i < added || (shape[i - added] == 1 && extent != 1) {
            mask |= 1 << i;
        }
    }
    sum(&x, mask, 1.0).reinterpret(shape)
}

/// The position of the first maximum (or NaN) along the axes in `mask`, counted in row-major order over them.
pub(crate) fn argmax(x: &Raw, mask: u8) -> Raw {
    let rows = to_rows(x, mask);
    let kept = &rows.shape[..rows.shape.len() - 1];
    let out = Raw::empty(&x.device, DType::I64, kept);
    if !kept.contains(&0) {
        launch(&x.device, &ARGMAX_ROWS, &rows.shape, &[Arg::In(rows.view()), Arg::Out(out.view())]);
    }
    out
}

/// `x` with the axes in `mask` moved to the end and merged into one, as a view where the strides allow.
pub(crate) fn to_rows(x: &Raw, mask: u8) -> Raw {
    let (shape, strides) = folded_last(x, mask);
    let kept = shape.len() - mask.count_ones() as usize;
    let moved = Raw { shape: Dims::of(OP, &shape), strides: Strides::of(OP, &strides), ..x.clone() };
    let (mut extent, mut stride) = (1, 1);
    let mut mergeable = true;
    for (&e, &s) in shape[kept..].iter().zip(&strides[kept..]).rev() {
        if e == 1 {
            continue;
        }
        mergeable &= extent == 1 || s == stride * extent as isize;
        if extent == 1 {
            stride = s;
        }
        extent *= e;
    }
    let rows = |strides: &[isize], stride: isize| {
        let shape: Vec<usize> = shape[..kept].iter().copied().chain([extent]).collect();
        let strides: Vec<isize> = strides[..kept].iter().copied().chain([stride]).collect();
        (Dims::of(OP, &shape), Strides::of(OP, &strides))
    };
    let (moved, (shape, strides)) = if mergeable {
        (moved, rows(&strides, stride))
    } else {
        let moved = moved.contiguous();
        let merged = rows(&moved.strides, 1);
        (moved, merged)
    };
    Raw { shape, strides, ..moved }
}

/// The inverse of [`to_rows`] for a contiguous tensor of its result's shape: the axes in `mask` of `shape` taken apart
/// and back in place.
pub(crate) fn from_rows(rows: Raw, mask: u8, shape: &[usize]) -> Raw {
    let order: Vec<usize> = axis_order(shape.len(), mask).collect();
    let mut strides = vec![0; shape.len()];
    let mut step = 1;
    for &axis in order.iter().rev() {
        strides[axis] = step;
        step *= shape[axis].max(1) as isize;
    }
    Raw { shape: Dims::of(OP, shape), strides: Strides::of(OP, &strides), ..rows }
}

/// The mask of all axes.
pub(crate) fn all(rank: usize) -> u8 {
    ((1u16 << rank) - 1) as u8
}

/// The elements as rows, in any cut: one row where they are contiguous, else as they lie.
pub(crate) fn any_rows(x: &Raw) -> Raw {
    if x.is_contiguous() { x.clone().reinterpret(&[x.numel()]) } else { x.clone() }
}

/// Two tensors of one shape as rows in the same cut.
pub(crate) fn any_rows_of_both(a: &Raw, b: &Raw) -> (Raw, Raw) {
    let n = a.numel();
    let shape: &[usize] = match a.shape.last() {
        None => &[1],
        Some(_) if !a.is_contiguous() || !b.is_contiguous() => return (a.clone(), b.clone()),
        Some(_) if n > BLOCK && n.is_multiple_of(BLOCK) => &[n / BLOCK, BLOCK],
        Some(&last) if n <= BLOCK || last < 64 => &[n],
        Some(_) => &a.shape,
    };
    (a.clone().reinterpret(shape), b.clone().reinterpret(shape))
}

/// The axes outside `mask`, then those in it.
fn axis_order(rank: usize, mask: u8) -> impl Iterator<Item = usize> {
    (0..rank).filter(move |i| mask >> i & 1 == 0).chain((0..rank).filter(move |i| mask >> i & 1 == 1))
}

fn folded_last(x: &Raw, mask: u8) -> (Vec<usize>, Vec<isize>) {
    axis_order(x.shape.len(), mask).map(|i| (x.shape[i], x.strides[i])).unzip()
}

fn fold(how: Fold, x: &Raw, mask: u8, k: f64) -> Raw {
    let is_folded = |i: usize| mask >> i & 1 == 1;
    let kept: Vec<usize> = (0..x.shape.len()).filter(|&i| !is_folded(i)).map(|i| x.shape[i]).collect();
    if x.shape.contains(&0) {
        let out = Raw::empty(&x.device, x.dtype, &kept);
        out.fill(Scalar::Float(0.0 * k));
        return out;
    }
    let runs: Vec<Run> = (0..x.shape.len())
        .map(|i| Run { extent: x.shape[i], stride: x.strides[i], folded: is_folded(i) })
        .filter(|run| run.extent != 1)
        .collect();
    if !runs.iter().any(|run| run.folded) {
        let y = if k == 1.0 { x.clone().contiguous() } else { scale(x.clone(), k) };
        return y.reinterpret(&kept);
    }
    let mut state = State { how, at: x.clone(), runs };
    state.merge();
    while state.runs.iter().any(|run| run.folded) {
        state.step(k);
        state.merge();
    }
    state.at.reinterpret(&kept).cast(x.dtype)
}

/// A fold under way: the tensor so far, seen as runs.
struct State {
    how: Fold,
    at: Raw,
    runs: Vec<Run>,
}

impl State {
    /// Merges neighbours that are walked with one stride and share a fate.
    fn merge(&mut self) {
        let mut merged: Vec<Run> = Vec::with_capacity(self.runs.len());
        for &run in &self.runs {
            match merged.last_mut() {
                Some(last) if last.folded == run.folded && last.stride == run.stride * run.extent as isize => {
                    *last = Run { extent: last.extent * run.extent, ..run };
                }
                _ => merged.push(run),
            }
        }
        self.runs = merged;
    }

    /// Folds one run, or several at once; the last step of a sum applies the factor.
    fn step(&mut self, k: f64) {
        let folded = self.runs.iter().filter(|run| run.folded).count();
        let last = self.runs.len() - 1;
        if self.how == Fold::Sum && !self.runs[last].folded && self.runs[last].extent >= 16 {
            if folded == last {
                return self.fold_columns(k);
            }
            let outer: usize = self.runs[..last - 1].iter().map(|run| run.extent).product();
            let work = self.runs[last - 1].extent * self.runs[last].extent;
            if self.runs[last - 1].folded && work >= 4096 && outer <= 256 {
                return self.fold_slices(if folded == 1 { k } else { 1.0 });
            }
        }
        if self.how == Fold::Max && last > 0 && self.runs[last - 1].folded && self.runs[last].extent >= 16 {
            return self.halve();
        }
        if let Some(i) = self.runs.iter().rposition(|run| run.folded) {
            let run = self.runs.remove(i);
            self.runs.push(run);
            let rows: usize = self.runs[..self.runs.len() - 1].iter().map(|run| run.extent).product();
            if rows < 16 && run.extent >= 4 * BLOCK {
                self.cut_row();
            } else {
                self.fold_rows(if folded == 1 { k } else { 1.0 });
            }
        }
    }

    fn rows_kernel(&self) -> &'static Kernel {
        match self.how {
            Fold::Sum => &SUM_ROWS,
            Fold::Max => &MAX_ROWS,
        }
    }

    /// Folds the last run, one row each.
    fn fold_rows(&mut self, k: f64) {
        let kept = &self.runs[..self.runs.len() - 1];
        let out = Raw::empty(&self.at.device, self.at.dtype.compute(), &extents(kept));
        run_rows(self.rows_kernel(), &window(&self.at, self.at.offset, &self.runs), &out, k);
        self.become_contiguous(out, self.runs.len() - 1);
    }

    /// Replaces the last run, a long one, by that of the folds of its blocks.
    fn cut_row(&mut self) {
        let last = self.runs.len() - 1;
        let Run { extent, stride, .. } = self.runs[last];
        let (blocks, rest) = (extent / BLOCK, extent % BLOCK);
        let kept = &self.runs[..last];
        let mut partial = extents(kept);
        partial.push(blocks + usize::from(rest > 0));
        let out = Raw::empty(&self.at.device, self.at.dtype.compute(), &partial);

        let kernel = self.rows_kernel();
        let block = Run { extent: BLOCK, stride, folded: true };
        let many = Run { extent: blocks, stride: stride * BLOCK as isize, folded: false };
        let x = window(&self.at, self.at.offset, &[kept, &[many, block]].concat());
        let mut y = out.clone();
        partial[last] = blocks;
        y.shape = Dims::of(OP, &partial);
        run_rows(kernel, &x, &y, 1.0);
        if rest > 0 {
            let start = self.at.offset as isize + stride * (blocks * BLOCK) as isize;
            let x = window(&self.at, start as usize, &[kept, &[Run { extent: rest, stride, folded: true }]].concat());
            let strides = Strides::of(OP, &out.strides[..last]);
            let y = Raw { shape: Dims::of(OP, &partial[..last]), strides, offset: out.offset + blocks, ..out.clone() };
            run_rows(kernel, &x, &y, 1.0);
        }
        self.runs[last].extent = blocks + usize::from(rest > 0);
        self.become_contiguous(out, last + 1);
    }

    /// Sums all runs but the last one, a kept one, at once.
    fn fold_columns(&mut self, k: f64) {
        let last = self.runs[self.runs.len() - 1];
        let out = Raw::empty(&self.at.device, self.at.dtype.compute(), &[last.extent]);
        run_rows(&SUM_COLUMNS, &window(&self.at, self.at.offset, &self.runs), &out, k);
        self.runs = vec![last];
        self.become_contiguous(out, 1);
    }

    /// Sums the run before the last one, a kept one, with one launch for each index of the runs before.
    fn fold_slices(&mut self, k: f64) {
        let (outer, inner) = self.runs.split_at(self.runs.len() - 2);
        let width = inner[1].extent;
        let mut shape = extents(outer);
        shape.push(width);
        let out = Raw::empty(&self.at.device, self.at.dtype.compute(), &shape);
        let count: usize = outer.iter().map(|run| run.extent).product();
        for n in 0..count {
            let (mut rest, mut start) = (n, self.at.offset as isize);
            for run in outer.iter().rev() {
                start += (rest % run.extent) as isize * run.stride;
                rest /= run.extent;
            }
            let y =
                Raw { shape: Dims::of(OP, &[width]), strides: Strides::of(OP, &[1]), offset: n * width, ..out.clone() };
            run_rows(&SUM_COLUMNS, &window(&self.at, start as usize, inner), &y, k);
        }
        self.runs.remove(self.runs.len() - 2);
        self.become_contiguous(out, self.runs.len());
    }

    /// Takes the maximum of both halves of the run before the last one, element by element. The halves of an odd run
    /// share an element, which does a maximum no harm.
    fn halve(&mut self) {
        let at = self.runs.len() - 2;
        let Run { extent, stride, .. } = self.runs[at];
        let half = extent.div_ceil(2);
        self.runs[at].extent = half;
        let start = self.at.offset as isize + stride * (extent - half) as isize;
        let (a, b) = (window(&self.at, self.at.offset, &self.runs), window(&self.at, start as usize, &self.runs));
        let out = binary(maximum::FLOATS.forward, a, b, &[]);
        if half == 1 {
            self.runs[at].folded = false;
        }
        self.become_contiguous(out, self.runs.len());
    }

    /// Goes on with `out`, the contiguous result whose runs are the first `n`.
    fn become_contiguous(&mut self, out: Raw, n: usize) {
        self.runs.truncate(n);
        for (run, &stride) in self.runs.iter_mut().zip(out.strides.iter()) {
            run.stride = stride;
        }
        self.at = out;
    }
}

fn extents(runs: &[Run]) -> Vec<usize> {
    runs.iter().map(|run| run.extent).collect()
}

/// The part of a buffer that `runs` walk.
fn window(x: &Raw, offset: usize, runs: &[Run]) -> Raw {
    let strides: Vec<isize> = runs.iter().map(|run| run.stride).collect();
    Raw { shape: Dims::of(OP, &extents(runs)), strides: Strides::of(OP, &strides), offset, ..x.clone() }
}

fn run_rows(kernel: &'static Kernel, x: &Raw, y: &Raw, k: f64) {
    launch(&x.device, kernel, &x.shape, &[Arg::In(x.view()), Arg::Out(y.view()), Arg::Scalar(Scalar::Float(k))]);
}
