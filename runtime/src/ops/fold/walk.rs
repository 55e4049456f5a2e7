//! How a fold goes over a strided tensor, run by run.

use super::{BLOCK, Fold, OP, scale};
use crate::ops::elementwise::binary;
use crate::tensor::{Dims, Raw, Strides, launch};
use cotangent_hal::{Arg, Kernel, Scalar};

/// Axes that are walked with one stride.
#[derive(Clone, Copy)]
struct Run {
    extent: usize,
    stride: isize,
    /// The stride of the value a row, 0 where a run is folded.
    beside: isize,
    folded: bool,
}

pub(super) fn fold(how: &'static Fold, x: &Raw, beside: Option<&Raw>, mask: u8, factor: f64, a: f64) -> Raw {
    let is_folded = |i: usize| mask >> i & 1 == 1;
    let kept: Vec<usize> = (0..x.shape.len()).filter(|&i| !is_folded(i)).map(|i| x.shape[i]).collect();
    if x.shape.contains(&0) {
        let out = Raw::empty(&x.device, how.out(x.dtype), &kept);
        out.fill(Scalar::Float(how.empty * factor));
        return out;
    }
    let mut steps = beside.map_or(&[][..], |p| &p.strides).iter();
    let mut runs = Vec::with_capacity(x.shape.len());
    for i in 0..x.shape.len() {
        let beside = if is_folded(i) { 0 } else { steps.next().copied().unwrap_or(0) };
        if x.shape[i] != 1 {
            runs.push(Run { extent: x.shape[i], stride: x.strides[i], beside, folded: is_folded(i) });
        }
    }
    if !runs.iter().any(|run| run.folded) {
        if how.then.is_none() {
            let y = x.clone().cast(how.out(x.dtype)).contiguous();
            let y = if factor == 1.0 { y } else { scale(y, factor) };
            return y.reinterpret(&kept);
        }
        // Each element is a fold of its own.
        runs.push(Run { extent: 1, stride: 1, beside: 0, folded: true });
    }
    let mut state = State { how, at: x.clone(), beside: beside.cloned(), runs, a };
    state.merge();
    while state.runs.iter().any(|run| run.folded) {
        state.step(factor);
        state.merge();
    }
    state.at.reinterpret(&kept)
}

/// A fold under way: the tensor so far, seen as runs.
struct State {
    how: &'static Fold,
    at: Raw,
    /// The value a row that the first round reads.
    beside: Option<Raw>,
    runs: Vec<Run>,
    a: f64,
}

impl State {
    /// Merges neighbours that are walked with one stride and share a fate.
    fn merge(&mut self) {
        let mut merged: Vec<Run> = Vec::with_capacity(self.runs.len());
        for &run in &self.runs {
            let extent = run.extent as isize;
            match merged.last_mut() {
                Some(last)
                    if last.folded == run.folded
                        && last.stride == run.stride * extent
                        && last.beside == run.beside * extent =>
                {
                    *last = Run { extent: last.extent * run.extent, ..run };
                }
                _ => merged.push(run),
            }
        }
        self.runs = merged;
    }

    /// Folds one run, or several at once; the last step of a sum applies the factor.
    fn step(&mut self, factor: f64) {
        let folded = self.runs.iter().filter(|run| run.folded).count();
        let last = self.runs.len() - 1;
        let wide = !self.runs[last].folded && self.runs[last].extent >= 16;
        if wide && let Some(columns) = self.how.columns {
            if folded == last {
                return self.fold_columns(columns, factor);
            }
            let outer: usize = self.runs[..last - 1].iter().map(|run| run.extent).product();
            let work = self.runs[last - 1].extent * self.runs[last].extent;
            if self.runs[last - 1].folded && work >= 4096 && outer <= 256 {
                return self.fold_slices(columns, if folded == 1 { factor } else { 1.0 });
            }
        }
        if wide
            && last > 0
            && self.runs[last - 1].folded
            && let Some(pair) = self.how.pair
        {
            return self.halve(pair);
        }
        if let Some(i) = self.runs.iter().rposition(|run| run.folded) {
            let run = self.runs.remove(i);
            self.runs.push(run);
            let rows: usize = self.runs[..self.runs.len() - 1].iter().map(|run| run.extent).product();
            if rows < 16 && run.extent >= 4 * BLOCK {
                self.cut_row();
            } else {
                self.fold_rows(if folded == 1 { factor } else { 1.0 });
            }
        }
    }

    fn empty(&self, shape: &[usize]) -> Raw {
        Raw::empty(&self.at.device, self.how.out(self.at.dtype), shape)
    }

    /// Launches a kernel over the elements that `runs` walk from `offset` on; the value a row is seen along `beside`.
    fn launch(&self, kernel: &'static Kernel, offset: usize, runs: &[Run], beside: &[Run], y: &Raw, factor: f64) {
        let x = window(&self.at, offset, runs, |run| run.stride);
        let p = self.beside.as_ref().map(|p| window(p, p.offset, beside, |run| run.beside));
        let numbers = [factor, self.a].map(|n| Arg::Scalar(Scalar::Float(n)));
        let mut args = vec![Arg::In(x.view())];
        args.extend(p.as_ref().map(|p| Arg::In(p.view())));
        args.push(Arg::Out(y.view()));
        args.extend(numbers);
        launch(&x.device, kernel, &x.shape, &args);
    }

    /// Folds the last run, one row each.
    fn fold_rows(&mut self, factor: f64) {
        let kept = &self.runs[..self.runs.len() - 1];
        let out = self.empty(&extents(kept));
        self.launch(self.how.rows, self.at.offset, &self.runs, kept, &out, factor);
        self.go_on(out, self.runs.len() - 1);
    }

    /// Replaces the last run, a long one, by that of the folds of its blocks.
    fn cut_row(&mut self) {
        let last = self.runs.len() - 1;
        let Run { extent, stride, .. } = self.runs[last];
        let (blocks, rest) = (extent / BLOCK, extent % BLOCK);
        let kept = &self.runs[..last];
        let mut partial = extents(kept);
        partial.push(blocks + usize::from(rest > 0));
        let out = self.empty(&partial);

        let block = Run { extent: BLOCK, stride, beside: 0, folded: true };
        let many = Run { extent: blocks, stride: stride * BLOCK as isize, beside: 0, folded: false };
        let mut y = out.clone();
        partial[last] = blocks;
        y.shape = Dims::of(OP, &partial);
        let rows = [kept, &[many]].concat();
        self.launch(self.how.rows, self.at.offset, &[&rows[..], &[block]].concat(), &rows, &y, 1.0);
        if rest > 0 {
            let start = self.at.offset as isize + stride * (blocks * BLOCK) as isize;
            let strides = Strides::of(OP, &out.strides[..last]);
            let y = Raw { shape: Dims::of(OP, &partial[..last]), strides, offset: out.offset + blocks, ..out.clone() };
            let block = Run { extent: rest, ..block };
            self.launch(self.how.rows, start as usize, &[kept, &[block]].concat(), kept, &y, 1.0);
        }
        self.runs[last].extent = blocks + usize::from(rest > 0);
        self.go_on(out, last + 1);
    }

    /// Adds up all runs but the last one, a kept one, at once.
    fn fold_columns(&mut self, kernel: &'static Kernel, factor: f64) {
        let last = self.runs[self.runs.len() - 1];
        let out = self.empty(&[last.extent]);
        self.launch(kernel, self.at.offset, &self.runs, &self.runs, &out, factor);
        self.runs = vec![last];
        self.go_on(out, 1);
    }

    /// Adds up the run before the last one, a kept one, with one launch for each index of the runs before.
    fn fold_slices(&mut self, kernel: &'static Kernel, factor: f64) {
        let (outer, inner) = self.runs.split_at(self.runs.len() - 2);
        let width = inner[1].extent;
        let mut shape = extents(outer);
        shape.push(width);
        let out = self.empty(&shape);
        let count: usize = outer.iter().map(|run| run.extent).product();
        let first = self.beside.as_ref().map_or(0, |p| p.offset);
        let mut slice = State { beside: self.beside.clone(), runs: Vec::new(), at: self.at.clone(), ..*self };
        for n in 0..count {
            let (mut rest, mut start, mut beside) = (n, self.at.offset as isize, first as isize);
            for run in outer.iter().rev() {
                let at = (rest % run.extent) as isize;
                (start, beside) = (start + at * run.stride, beside + at * run.beside);
                rest /= run.extent;
            }
            let y =
                Raw { shape: Dims::of(OP, &[width]), strides: Strides::of(OP, &[1]), offset: n * width, ..out.clone() };
            if let Some(p) = &mut slice.beside {
                p.offset = beside as usize;
            }
            slice.launch(kernel, start as usize, inner, inner, &y, factor);
        }
        self.runs.remove(self.runs.len() - 2);
        self.go_on(out, self.runs.len());
    }

    /// Folds both halves of the run before the last one, element by element. The halves of an odd run share an element.
    fn halve(&mut self, pair: &'static Kernel) {
        let at = self.runs.len() - 2;
        let Run { extent, stride, .. } = self.runs[at];
        let half = extent.div_ceil(2);
        self.runs[at].extent = half;
        let start = self.at.offset as isize + stride * (extent - half) as isize;
        let part = |offset| window(&self.at, offset, &self.runs, |run| run.stride);
        let out = binary(pair, part(self.at.offset), part(start as usize), &[]);
        if half == 1 {
            self.runs[at].folded = false;
        }
        self.go_on(out, self.runs.len());
    }

    /// Goes on with `out`, the contiguous result whose runs are the first `n`.
    fn go_on(&mut self, out: Raw, n: usize) {
        self.runs.truncate(n);
        for (run, &stride) in self.runs.iter_mut().zip(out.strides.iter()) {
            run.stride = stride;
            run.beside = 0;
        }
        self.at = out;
        self.beside = None;
        self.how = self.how.then.unwrap_or(self.how);
    }
}

fn extents(runs: &[Run]) -> Vec<usize> {
    runs.iter().map(|run| run.extent).collect()
}

/// The part of a buffer that `runs` walk, each with its stride.
fn window(x: &Raw, offset: usize, runs: &[Run], stride: impl Fn(&Run) -> isize) -> Raw {
    let strides: Vec<isize> = runs.iter().map(stride).collect();
    Raw { shape: Dims::of(OP, &extents(runs)), strides: Strides::of(OP, &strides), offset, ..x.clone() }
}
