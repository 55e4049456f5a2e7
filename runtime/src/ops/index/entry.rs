//! What the macro `s!` makes: entries of a slice, and what they mean for a shape.

use crate::raise::raise;
use crate::tensor::{Dims, Raw, axis_below};
use cotangent_hal::Error;
use std::ops::{Range, RangeFrom, RangeFull, RangeInclusive, RangeTo, RangeToInclusive};

/// What [`Tensor::slice`](crate::Tensor::slice) takes of one axis. Written by `s!`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry {
    /// A single entry; the axis goes.
    At(isize),
    /// A range, each of whose bounds may be left out.
    Range {
        /// The first entry.
        start: Option<isize>,
        /// The entry behind the last one.
        end: Option<isize>,
        /// From one entry to the next.
        step: isize,
    },
    /// All axes that no other entry stands for.
    Ellipsis,
    /// A new axis of extent 1.
    New,
}

/// All axes that no other entry of `s!` stands for.
pub const ELLIPSIS: Entry = Entry::Ellipsis;
/// A new axis of extent 1 in `s!`.
pub const NEW: Entry = Entry::New;

impl Entry {
    /// The same with a step.
    ///
    /// Raises `Error::Argument` where it is no range.
    #[track_caller]
    pub fn step(self, by: isize) -> Entry {
        match self {
            Entry::Range { start, end, .. } => Entry::Range { start, end, step: by },
            Entry::At(_) | Entry::Ellipsis | Entry::New => {
                let message = format!("{self:?} was given the step {by}, but only a range takes one");
                raise(Error::Argument { op: "slice".into(), message })
            }
        }
    }
}

impl From<RangeFull> for Entry {
    fn from(_: RangeFull) -> Entry {
        Entry::Range { start: None, end: None, step: 1 }
    }
}

macro_rules! numbers {
    ($($t:ty),*) => { $(
        impl From<$t> for Entry {
            fn from(at: $t) -> Entry {
                Entry::At(at as isize)
            }
        }
        impl From<Range<$t>> for Entry {
            fn from(r: Range<$t>) -> Entry {
                Entry::Range { start: Some(r.start as isize), end: Some(r.end as isize), step: 1 }
            }
        }
        impl From<RangeFrom<$t>> for Entry {
            fn from(r: RangeFrom<$t>) -> Entry {
                Entry::Range { start: Some(r.start as isize), end: None, step: 1 }
            }
        }
        impl From<RangeTo<$t>> for Entry {
            fn from(r: RangeTo<$t>) -> Entry {
                Entry::Range { start: None, end: Some(r.end as isize), step: 1 }
            }
        }
        impl From<RangeInclusive<$t>> for Entry {
            fn from(r: RangeInclusive<$t>) -> Entry {
                Entry::Range { start: Some(*r.start() as isize), end: behind(*r.end() as isize), step: 1 }
            }
        }
        impl From<RangeToInclusive<$t>> for Entry {
            fn from(r: RangeToInclusive<$t>) -> Entry {
                Entry::Range { start: None, end: behind(r.end as isize), step: 1 }
            }
        }
    )* };
}
numbers!(usize, isize, i64, i32);

/// The bound behind an entry; behind the last one there is none.
fn behind(last: isize) -> Option<isize> {
    (last != -1).then_some(last.saturating_add(1))
}

/// Entries of a slice: `s![.., 1.., -1, ..;2, 2..-1, ELLIPSIS, NEW]`. See
/// [`Tensor::slice`](crate::Tensor::slice).
#[macro_export]
macro_rules! s {
    ($($entry:expr $(; $step:expr)?),* $(,)?) => {{
        #[allow(clippy::reversed_empty_ranges, reason = "negative bounds count from the end")]
        let entries: [$crate::ops::Entry; _] = [$($crate::ops::Entry::from($entry)$(.step($step))?),*];
        entries
    }};
}

/// What becomes of an axis.
#[derive(Clone, Copy)]
enum Part {
    /// A single entry; the axis goes.
    At(usize),
    /// `len` entries from `start` on, `step` apart.
    Range { start: usize, len: usize, step: isize },
    /// A new axis.
    New,
}

/// A slice of tensors of one shape.
pub(super) struct Cut(Vec<Part>);

impl Cut {
    /// The view.
    #[track_caller]
    pub(super) fn of(&self, mut x: Raw) -> Raw {
        let mut axis = 0;
        for &part in &self.0 {
            match part {
                Part::At(at) => x = x.slice(axis, at, 1).remove_axis(axis),
                Part::Range { start, len, step } => {
                    let stride = x.strides[axis];
                    x = x.slice(axis, start, len.min(1));
                    (x.shape[axis], x.strides[axis]) = (len, stride * step);
                    axis += 1;
                }
                Part::New => {
                    x = x.insert_axis("slice", axis);
                    axis += 1;
                }
            }
        }
        x
    }
}

/// What entries mean for a shape.
#[track_caller]
pub(super) fn resolve(op: &str, shape: &Dims, entries: &[Entry]) -> Cut {
    let named = entries.iter().filter(|e| matches!(e, Entry::At(_) | Entry::Range { .. })).count();
    let ellipses = entries.iter().filter(|e| matches!(e, Entry::Ellipsis)).count();
    let rank = shape.len();
    if named > rank || ellipses > 1 {
        let message = format!("{named} axes and {ellipses} ellipses were given, but {shape:?} has {rank} axes");
        let hint = ", expected at most as many and one ellipsis";
        raise(Error::Argument { op: op.into(), message: message + hint });
    }
    let mut parts = Vec::with_capacity(entries.len());
    let mut axis = 0;
    let implied = (ellipses == 0).then_some(Entry::Ellipsis);
    for entry in entries.iter().copied().chain(implied) {
        match entry {
            Entry::New => parts.push(Part::New),
            Entry::Ellipsis => {
                for _ in 0..rank - named {
                    parts.push(Part::Range { start: 0, len: shape[axis], step: 1 });
                    axis += 1;
                }
            }
            Entry::At(at) => {
                let Some(at) = axis_below(at, shape[axis]) else {
                    raise(Error::Argument { op: op.into(), message: outside(at, axis, shape) })
                };
                parts.push(Part::At(at));
                axis += 1;
            }
            Entry::Range { step: 0, .. } => {
                let message = format!("axis {axis} of {shape:?} was given the step 0, expected another");
                raise(Error::Argument { op: op.into(), message })
            }
            Entry::Range { start, end, step } => {
                let (start, len) = range(shape[axis] as isize, start, end, step);
                parts.push(Part::Range { start, len, step });
                axis += 1;
            }
        }
    }
    Cut(parts)
}

/// The first entry of a range and the number of entries, for an axis of `n`.
fn range(n: isize, start: Option<isize>, end: Option<isize>, step: isize) -> (usize, usize) {
    let (low, high) = if step > 0 { (0, n) } else { (-1, n - 1) };
    let bound = |given: isize| (if given < 0 { given.saturating_add(n) } else { given }).clamp(low, high);
    let (first, last) = if step > 0 { (low, high) } else { (high, low) };
    let (start, end) = (start.map_or(first, bound), end.map_or(last, bound));
    let gap = if step > 0 { end - start } else { start - end };
    if gap <= 0 { (0, 0) } else { (start as usize, (gap as usize).div_ceil(step.unsigned_abs())) }
}

/// There is no such entry.
pub(super) fn outside(index: isize, axis: usize, shape: &Dims) -> String {
    let extent = shape[axis];
    format!("entry {index} was given, but axis {axis} of {shape:?} has {extent} entries")
}

#[cfg(test)]
mod tests {
    use super::range;

    #[test]
    fn ranges_are_numpy_s() {
        // (n, start, end, step) and what `range(*slice(start, end, step).indices(n))` lists.
        let cases: [(isize, Option<isize>, Option<isize>, isize, &[isize]); 11] = [
            (5, None, None, 1, &[0, 1, 2, 3, 4]),
            (5, Some(1), Some(-1), 1, &[1, 2, 3]),
            (5, Some(-9), Some(9), 2, &[0, 2, 4]),
            (5, None, None, -1, &[4, 3, 2, 1, 0]),
            (5, None, None, -2, &[4, 2, 0]),
            (5, Some(9), Some(1), -1, &[4, 3, 2]),
            (5, Some(-2), None, -3, &[3, 0]),
            (5, Some(3), Some(1), 1, &[]),
            (5, Some(1), Some(3), -1, &[]),
            (0, None, None, -1, &[]),
            (4, Some(1), None, 2, &[1, 3]),
        ];
        for (n, start, end, step, want) in cases {
            let (first, len) = range(n, start, end, step);
            let got: Vec<isize> = (0..len as isize).map(|i| first as isize + i * step).collect();
            assert_eq!(got, want, "{n} {start:?} {end:?} {step}");
        }
    }
}
