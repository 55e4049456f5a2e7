//! Sorting of rows: verification, and how rows are shared out to threads.
//!
//! Elements are sorted as words: a key that orders them as unsigned integers, before the place of the element. Words
//! are distinct, so that the result is that of a stable sort whatever the method and the number of threads.
#![allow(unsafe_code, reason = "hands verified memory to the methods")]

mod element;
mod least;
mod radix;

use crate::backend::threads;
use crate::launch::Views;
use crate::memory::{Block, Pool};
use cotangent_hal::{DType, Error, Memory, Result, View};
use element::{Element, Truth, Word};
use half::{bf16, f16};
use rayon::prelude::*;
use std::slice;
use std::sync::Arc;

/// Elements from which sorting is worth several threads.
const PARALLEL: usize = 1 << 14;

/// A row of elements in verified memory: element `i` lies at `ptr + i * step`.
#[derive(Clone, Copy)]
struct Line<T> {
    ptr: *mut T,
    step: isize,
}

// SAFETY: a line is a place, not a right: those who read or write through it say why they may.
unsafe impl<T> Send for Line<T> {}
// SAFETY: as above.
unsafe impl<T> Sync for Line<T> {}

impl<T: Copy> Line<T> {
    /// # Safety
    /// The line has an element `i`, which may be read.
    unsafe fn read(self, i: usize) -> T {
        // SAFETY: the caller's promise.
        unsafe { *self.ptr.wrapping_offset(i as isize * self.step) }
    }

    /// # Safety
    /// The line has an element `i`, which is the caller's alone.
    unsafe fn write(self, i: usize, value: T) {
        // SAFETY: the caller's promise.
        unsafe { *self.ptr.wrapping_offset(i as isize * self.step) = value }
    }
}

/// The rows of a view.
struct Lines<'a> {
    view: &'a View<'a>,
    ptr: *mut u8,
}

// SAFETY: as for a line.
unsafe impl Sync for Lines<'_> {}

impl Lines<'_> {
    fn line<T>(&self, row: usize) -> Line<T> {
        let (mut rest, mut at) = (row, 0);
        let last = self.view.shape.len() - 1;
        for (&extent, &stride) in self.view.shape[..last].iter().zip(self.view.strides).rev() {
            at += (rest % extent) as isize * stride;
            rest /= extent;
        }
        Line { ptr: self.ptr.cast::<T>().wrapping_offset(at), step: self.view.strides[last] }
    }
}

/// The rows of a call.
struct Call<'a> {
    x: Lines<'a>,
    values: Lines<'a>,
    at: Lines<'a>,
    /// The number of rows, the elements of one, and how many of these are wanted.
    rows: usize,
    n: usize,
    k: usize,
    descending: bool,
}

/// See [`LibraryCall::Sort`](cotangent_hal::LibraryCall::Sort).
pub(crate) fn sort(pool: &Arc<Pool>, x: &View<'_>, values: &View<'_>, at: &View<'_>, descending: bool) -> Result<()> {
    let dtype = x.dtype;
    let (Some((&n, rows)), Some((&k, kept))) = (x.shape.split_last(), values.shape.split_last()) else {
        return Err(misshapen(x, values, at));
    };
    if rows != kept || values.shape != at.shape || k > n {
        return Err(misshapen(x, values, at));
    }
    if u32::try_from(n).is_err() {
        let message = format!("rows of {n} elements were given, of which no more than {} are supported yet", u32::MAX);
        return Err(Error::Shape { op: "sort".into(), message });
    }
    let mut views = Views::of("sort");
    let x = Lines { view: x, ptr: views.read(["the input"; 2], x, &[dtype])? };
    let values = Lines { view: values, ptr: views.written("the tensor of values", values, &[dtype])? };
    let at = Lines { view: at, ptr: views.written("the tensor of positions", at, &[DType::I64])? };
    if views.writes_nothing() {
        return Ok(());
    }
    let _borrows = views.borrow()?;
    let call = Call { x, values, at, rows: rows.iter().product(), n, k, descending };
    // SAFETY: the elements are verified and borrowed, of the type that the dtype names; results are distinct.
    unsafe {
        match dtype {
            DType::F64 => call.run::<f64>(pool),
            DType::F32 => call.run::<f32>(pool),
            DType::F16 => call.run::<f16>(pool),
            DType::BF16 => call.run::<bf16>(pool),
            DType::I64 => call.run::<i64>(pool),
            DType::I32 => call.run::<i32>(pool),
            DType::U8 => call.run::<u8>(pool),
            DType::Bool => call.run::<Truth>(pool),
        }
    }
}

impl Call<'_> {
    /// # Safety
    /// The elements of `x` may be read as `E`, those of the results are distinct and the caller's alone.
    unsafe fn run<E: Element>(&self, pool: &Arc<Pool>) -> Result<()> {
        let threads = if self.n.saturating_mul(self.rows) < PARALLEL { 1 } else { threads() };
        if threads == 1 || self.rows < threads {
            let mut words = Words::new::<E::Word>(pool, self.n)?;
            let parts = if self.n < PARALLEL { 1 } else { threads };
            // SAFETY: the caller's promise.
            (0..self.rows).for_each(|row| unsafe { self.row::<E>(row, &mut words, parts) });
            return Ok(());
        }
        let tasks = self.rows.min(4 * threads);
        (0..tasks).into_par_iter().try_for_each(|task| {
            let mut words = Words::new::<E::Word>(pool, self.n)?;
            let rows = task * self.rows / tasks..(task + 1) * self.rows / tasks;
            // SAFETY: the caller's promise; rows are distinct.
            rows.for_each(|row| unsafe { self.row::<E>(row, &mut words, 1) });
            Ok(())
        })
    }

    /// Sorts one row, on as many threads as there are `parts`.
    ///
    /// # Safety
    /// As for [`run`](Call::run).
    unsafe fn row<E: Element>(&self, row: usize, words: &mut Words, parts: usize) {
        let (x, values, at) = (self.x.line::<E>(row), self.values.line::<E>(row), self.at.line::<i64>(row));
        let (words, spare) = words.halves::<E::Word>();
        // SAFETY: the row has `n` elements, which may be read.
        let word = |i: usize| unsafe { E::Word::new(E::key(x.read(i), self.descending), i as u32) };
        let sorted = if self.k < self.n / 4 {
            let found = least::least(&word, self.n, self.k, spare, parts);
            found.sort_unstable();
            found
        } else {
            in_parts(words, parts, |start, part| part.iter_mut().zip(start..).for_each(|(to, i)| *to = word(i)));
            radix::sort(words, spare, parts)
        };
        in_parts(&mut sorted[..self.k], parts, |start, part| {
            for (&mut word, to) in part.iter_mut().zip(start..) {
                let place = word.index();
                // SAFETY: places are below `n`; `to` is below `k`, the number of elements in the results' rows, and
                // each is written once.
                unsafe {
                    let value = E::of(word.key(), self.descending).unwrap_or_else(|| x.read(place as usize));
                    values.write(to, value);
                    at.write(to, i64::from(place));
                }
            }
        });
    }
}

/// Calls a function on about equal parts of a slice, at once, each with the place where it begins.
fn in_parts<T: Send>(slice: &mut [T], parts: usize, f: impl Fn(usize, &mut [T]) + Sync) {
    let size = slice.len().div_ceil(parts).max(1);
    if parts == 1 {
        f(0, slice);
    } else {
        slice.par_chunks_mut(size).enumerate().for_each(|(i, part)| f(i * size, part));
    }
}

/// Memory for the words of a row, twice.
struct Words {
    block: Block,
    n: usize,
}

impl Words {
    fn new<W: Word>(pool: &Arc<Pool>, n: usize) -> Result<Words> {
        Ok(Words { block: pool.take(2 * n * size_of::<W>())?, n })
    }

    fn halves<W: Word>(&mut self) -> (&mut [W], &mut [W]) {
        let room = self.block.bytes() / size_of::<W>() / 2;
        assert!(self.n <= room && align_of::<W>() <= 64, "the memory was asked for words of this size");
        // SAFETY: the block is this value's alone, aligned to 64, its bytes are initialised, and any of them make words.
        let words = unsafe { slice::from_raw_parts_mut(self.block.ptr().cast::<W>(), 2 * self.n) };
        words.split_at_mut(self.n)
    }
}

#[cold]
fn misshapen(x: &View<'_>, values: &View<'_>, at: &View<'_>) -> Error {
    let message = format!(
        "the shapes {:?}, {:?} and {:?} were given, expected [.., n], [.., k] and [.., k] with k <= n",
        x.shape, values.shape, at.shape
    );
    Error::Shape { op: "sort".into(), message }
}
