//! A matrix product of a program as calls of the library.

use super::few::Few;
use crate::tensor::{Dims, Raw, Strides};
use cotangent_hal::{DType, Epilogue, LibraryCall, Scalar};
use cotangent_ir::Axis;

/// A tensor of a product: for each axis of the kernel, the extents and strides of the tensor's own axes along it.
pub(super) struct Side {
    pub(super) raw: Raw,
    pub(super) along: Vec<(Axis, Dims, Strides)>,
}

/// One axis of the index space of a product: how far apart neighbours are in both factors and in the result, 0 where it
/// is not an axis of theirs.
#[derive(Clone, Copy)]
struct Walk {
    extent: usize,
    steps: [isize; 3],
}

/// Axes of one sort.
type List = Few<Walk, 4>;

/// An axis of one element.
const SINGLE: Walk = Walk { extent: 1, steps: [0; 3] };

/// Computes `out`, the sum of `a * b` over the axes that it lacks.
///
/// Nothing is copied, unless several axes are summed over that cannot be walked as one. Rows, or columns, that cannot be
/// walked as one become a batch of products.
pub(super) fn run(name: &str, sides: &mut [Side; 3]) {
    if sides[..2].iter().any(|side| side.raw.numel() == 0) {
        return sides[2].raw.fill(Scalar::Float(0.0));
    }
    let mut walks = walks(sides);
    if walks.summed.len() > 1 {
        // In row-major order, with what is summed over last, all of it is one axis.
        let kept: Vec<Axis> = sides[2].along.iter().map(|along| along.0).collect();
        sides[..2].iter_mut().for_each(|side| side.gather(name, &kept));
        walks = self::walks(sides);
    }
    let Walks { mut batch, rows, columns, summed } = walks;
    let mut largest = |walks: &List| {
        let at = (0..walks.len()).max_by_key(|at| walks[*at].extent);
        walks.iter().enumerate().filter(|(i, _)| Some(*i) != at).for_each(|(_, walk)| batch.push(*walk));
        at.map_or(SINGLE, |at| walks[at])
    };
    let (m, n) = (largest(&rows), largest(&columns));
    let k = summed.first().copied().unwrap_or(SINGLE);
    let batch = merged(batch, 2);
    let (last, outer) = batch.split_last().map_or((SINGLE, &[][..]), |(last, outer)| (*last, outer));
    let calls: usize = outer.iter().map(|walk| walk.extent).product();
    for number in 0..calls {
        let part = |side: usize, i: &Walk, j: &Walk| {
            let raw = &sides[side].raw;
            let (mut rest, mut offset) = (number, raw.offset as isize);
            for walk in outer.iter().rev() {
                offset += (rest % walk.extent) as isize * walk.steps[side];
                rest /= walk.extent;
            }
            let shape = Dims::of(name, &[last.extent, i.extent, j.extent]);
            let strides = Strides::of(name, &[last, *i, *j].map(|walk| walk.steps[side]));
            Raw { shape, strides, offset: offset as usize, ..raw.clone() }
        };
        let (a, b, out) = (part(0, &m, &k), part(1, &k, &n), part(2, &m, &n));
        out.device.library(&LibraryCall::MatMul {
            a: a.view(),
            b: b.view(),
            out: out.view(),
            epilogue: Epilogue::default(),
        });
    }
}

/// The axes of a product by the tensors that have them.
struct Walks {
    batch: List,
    rows: List,
    columns: List,
    summed: List,
}

fn walks(sides: &[Side; 3]) -> Walks {
    let mut axes = Few::<Axis, 8>::new(Axis(0));
    for (axis, ..) in sides.iter().flat_map(|side| &side.along) {
        if !axes.contains(axis) {
            axes.push(*axis);
        }
    }
    axes.sort_unstable();
    let none = || List::new(SINGLE);
    let mut walks = Walks { batch: none(), rows: none(), columns: none(), summed: none() };
    for &axis in &*axes {
        let along = [0, 1, 2].map(|side| sides[side].along.iter().find(|along| along.0 == axis));
        let list = match along.map(|along| along.is_some()) {
            [true, true, false] => &mut walks.summed,
            [true, false, _] => &mut walks.rows,
            [false, true, _] => &mut walks.columns,
            [_, _, _] => &mut walks.batch,
        };
        let extents = along.iter().flatten().next().map_or(Dims::new(), |along| along.1);
        for (at, &extent) in extents.iter().enumerate() {
            list.push(Walk { extent, steps: along.map(|along| along.map_or(0, |along| along.2[at])) });
        }
    }
    let Walks { batch, rows, columns, summed } = walks;
    Walks { batch, rows: merged(rows, 2), columns: merged(columns, 2), summed: merged(summed, 0) }
}

/// The axes with neighbours joined that all three tensors walk as one, in the order in which `by` stores them.
fn merged(mut walks: List, by: usize) -> List {
    walks.sort_by_key(|walk| std::cmp::Reverse(walk.steps[by].unsigned_abs()));
    let mut merged = List::new(SINGLE);
    for &walk in &*walks {
        if walk.extent == 1 {
            continue;
        }
        match merged.last_mut() {
            Some(last)
                if (0..3).all(|side| last.steps[side] == walk.steps[side].wrapping_mul(walk.extent as isize)) =>
            {
                *last = Walk { extent: last.extent * walk.extent, steps: walk.steps };
            }
            _ => merged.push(walk),
        }
    }
    merged
}

impl Side {
    /// Gives a factor another dtype.
    pub(super) fn convert(&mut self, dtype: DType) {
        if self.raw.dtype == dtype {
            return;
        }
        self.raw = self.raw.clone().cast(dtype);
        let mut begin = 0;
        for (_, extents, steps) in &mut self.along {
            steps.copy_from_slice(&self.raw.strides[begin..begin + extents.len()]);
            begin += extents.len();
        }
    }

    /// Makes a factor row-major, the axes in `first` before all others.
    fn gather(&mut self, name: &str, first: &[Axis]) {
        self.along.sort_by_key(|(axis, ..)| (!first.contains(axis), *axis));
        let (mut shape, mut strides) = (Dims::new(), Strides::new());
        for (_, extents, steps) in &self.along {
            for (&extent, &step) in extents.iter().zip(steps.iter()) {
                shape.push(name, extent);
                strides.push(name, step);
            }
        }
        let raw = Raw { shape, strides, ..self.raw.clone() };
        self.raw = raw.copy();
        let mut at = 0;
        for (_, extents, steps) in &mut self.along {
            steps.copy_from_slice(&self.raw.strides[at..at + extents.len()]);
            at += extents.len();
        }
    }
}
