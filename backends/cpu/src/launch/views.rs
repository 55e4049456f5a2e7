//! Verification of the views of a library call.

use super::few::Few;
use super::operand::{outside, range};
use super::overlap::repeats;
use crate::backend::{block_of, in_use, refused};
use crate::memory::{Block, Borrow};
use cotangent_hal::{DType, Error, Result, View};

/// The most views of a call.
const MOST: usize = 12;

/// The views of a library call: each is verified when it is taken, all beside each other when their memory is borrowed.
pub(crate) struct Views<'a> {
    op: &'static str,
    taken: Few<Taken<'a>, MOST>,
}

/// The right to use the memory of a call's views, each buffer once.
pub(crate) type Borrows<'a> = Few<Borrow<'a>, MOST>;

/// A view inside of its block.
struct Taken<'a> {
    /// What messages call it by itself, and where it is one of those that are overlapped.
    names: [&'static str; 2],
    block: &'a Block,
    /// The first byte and the one behind the last; equal where the view is empty.
    range: (usize, usize),
    written: bool,
}

impl Taken<'_> {
    fn overlaps(&self, other: &Taken<'_>) -> bool {
        let ((low, high), (other_low, other_high)) = (self.range, other.range);
        std::ptr::eq(self.block, other.block) && low < other_high && other_low < high
    }
}

impl<'a> Views<'a> {
    /// No views yet, of the operation that errors name.
    pub(crate) fn of(op: &'static str) -> Self {
        Views { op, taken: Few::new() }
    }

    /// Takes a view that is read, of one of the dtypes; its first element, which an empty view does not have.
    pub(crate) fn read(&mut self, names: [&'static str; 2], view: &View<'a>, dtypes: &[DType]) -> Result<*mut u8> {
        self.take(names, view, dtypes, false)
    }

    /// Takes a view that is written and repeats no element, otherwise as [`read`](Views::read).
    pub(crate) fn written(&mut self, name: &'static str, view: &View<'a>, dtypes: &[DType]) -> Result<*mut u8> {
        self.take([name; 2], view, dtypes, true)
    }

    fn take(&mut self, names: [&'static str; 2], view: &View<'a>, dtypes: &[DType], written: bool) -> Result<*mut u8> {
        let (op, name) = (self.op, names[0]);
        if !dtypes.contains(&view.dtype) {
            return Err(Error::Dtype { op: op.into(), given: view.dtype, accepted: dtypes.to_vec() });
        }
        let block = block_of(view.buffer)?;
        let Some((low, high)) = range(view, block) else {
            return Err(Error::Shape { op: op.into(), message: format!("{name} {}", outside(view, block)) });
        };
        if written && low < high && repeats(view.shape, view.strides) {
            return Err(refused(format!("{op}: {name} repeats elements; give it memory of its own")));
        }
        let size = view.dtype.size();
        self.taken.push(Taken { names, block, range: (low * size, high * size), written });
        let offset = if low < high { view.offset } else { 0 };
        Ok(block.ptr().wrapping_add(offset * size))
    }

    /// Whether no view that is written has an element.
    pub(crate) fn writes_nothing(&self) -> bool {
        self.taken.iter().all(|view| !view.written || view.range.0 == view.range.1)
    }

    /// The right to use all of the memory, where nothing that is written overlaps another view.
    pub(crate) fn borrow(&self) -> Result<Borrows<'a>> {
        let mut borrows = Few::new();
        for (i, view) in self.taken.iter().enumerate() {
            let before = &self.taken[..i];
            if let Some(other) = before.iter().find(|other| (view.written || other.written) && view.overlaps(other)) {
                let (result, other) = if view.written { (view, other) } else { (other, view) };
                let (op, result, other) = (self.op, result.names[0], other.names[1]);
                return Err(refused(format!("{op}: {result} overlaps {other}; give it memory of its own")));
            }
            let same = |other: &&Taken<'_>| std::ptr::eq(view.block, other.block);
            if !before.iter().any(|other| same(&other)) {
                let written = self.taken[i..].iter().filter(same).any(|other| other.written);
                borrows.push(view.block.borrow(written).ok_or_else(in_use)?);
            }
        }
        Ok(borrows)
    }
}
