//! Tiles of the operands: where they lie, how they are gathered into scratch and scattered out of it.
#![allow(unsafe_code, reason = "walks verified memory")]

use super::product::dense;
use super::real::Real;
use crate::gemm::Matrix;
use crate::memory::{Block, Pool};
use crate::strided::{self, Side, Way};
use cotangent_hal::{DType, Memory, Result};
use std::slice;
use std::sync::Arc;

/// A batch of matrices for each head in verified memory: element `(b, h, i, j)` lies at the sum of the index times the
/// strides, in elements.
#[derive(Clone, Copy)]
pub(super) struct Stack {
    pub ptr: *mut u8,
    pub dtype: DType,
    pub strides: [isize; 4],
}

// SAFETY: a stack is a place, not a right: those who read or write through it say why they may.
unsafe impl Send for Stack {}
// SAFETY: as above.
unsafe impl Sync for Stack {}

/// A part of one matrix of a [`Stack`].
#[derive(Clone, Copy)]
pub(super) struct Part {
    pub ptr: *mut u8,
    pub dtype: DType,
    pub extents: [usize; 2],
    pub strides: [isize; 2],
}

impl Stack {
    /// `extents` rows and columns from row `i` on of one matrix.
    pub(super) fn part(self, [b, h]: [usize; 2], i: usize, extents: [usize; 2]) -> Part {
        self.window([b, h], [i, 0], extents)
    }

    /// `extents` rows and columns from `(i, j)` on of one matrix.
    pub(super) fn window(self, [b, h]: [usize; 2], [i, j]: [usize; 2], extents: [usize; 2]) -> Part {
        let at: isize = [b, h, i, j].iter().zip(self.strides).map(|(&at, stride)| at as isize * stride).sum();
        let ptr = self.ptr.wrapping_offset(at * self.dtype.size() as isize);
        Part { ptr, dtype: self.dtype, extents, strides: [self.strides[2], self.strides[3]] }
    }
}

impl Part {
    pub(super) fn transposed(self) -> Part {
        let ([m, n], [rows, columns]) = (self.extents, self.strides);
        Part { extents: [n, m], strides: [columns, rows], ..self }
    }

    /// The part itself as a matrix, where its elements are what is computed in.
    fn matrix<T: Real>(self) -> Option<Matrix<T>> {
        let [rows, columns] = self.strides;
        (self.dtype == T::DTYPE).then(|| Matrix { ptr: self.ptr.cast(), rows, columns })
    }

    /// The part as the left factor of a product, gathered into scratch where it must be converted.
    ///
    /// # Safety
    /// Its elements may be read.
    pub(super) unsafe fn left<T: Real>(self, scratch: &mut Tile<T>) -> Matrix<T> {
        self.matrix().unwrap_or_else(|| {
            // SAFETY: the caller's promise.
            unsafe { scratch.gather(self) }
        })
    }

    /// The part as the right factor of a product, whose rows are contiguous: gathered where they are not.
    ///
    /// # Safety
    /// Its elements may be read.
    pub(super) unsafe fn right<T: Real>(self, scratch: &mut Tile<T>) -> Matrix<T> {
        self.matrix().filter(|matrix| matrix.columns == 1).unwrap_or_else(|| {
            // SAFETY: the caller's promise.
            unsafe { scratch.gather(self) }
        })
    }
}

/// Scratch for a tile, with rows of one pitch.
pub(super) struct Tile<T> {
    memory: Block,
    pitch: usize,
    /// Elements, behind which lies room for as many as a tensor stores.
    room: usize,
    of: std::marker::PhantomData<T>,
}

impl<T: Real> Tile<T> {
    /// Room for `rows` rows of `pitch` elements.
    pub(super) fn new(pool: &Arc<Pool>, rows: usize, pitch: usize) -> Result<Self> {
        let room = rows.saturating_mul(pitch);
        // What is stored in another dtype has 16 bits.
        let memory = pool.take(room.saturating_mul(size_of::<T>() + 2))?;
        Ok(Tile { memory, pitch, room, of: std::marker::PhantomData })
    }

    pub(super) fn pitch(&self) -> usize {
        self.pitch
    }

    /// Makes rows shorter or longer; there may be as many as still fit.
    pub(super) fn set_pitch(&mut self, pitch: usize) {
        self.pitch = pitch;
    }

    pub(super) fn matrix(&mut self) -> Matrix<T> {
        dense(self.memory.ptr().cast(), self.pitch)
    }

    /// The first `rows` rows.
    pub(super) fn rows(&mut self, rows: usize) -> &mut [T] {
        let len = rows * self.pitch;
        assert!(len <= self.room && self.room * size_of::<T>() <= self.memory.bytes(), "a tile has room for its rows");
        // SAFETY: the block is this tile's alone, aligned to 64, of at least `len` initialised elements; any bytes make
        // a float.
        unsafe { slice::from_raw_parts_mut(self.memory.ptr().cast(), len) }
    }

    /// Copies a part into the first rows, zeros behind its columns.
    ///
    /// # Safety
    /// Its elements may be read.
    pub(super) unsafe fn gather(&mut self, part: Part) -> Matrix<T> {
        let [m, n] = part.extents;
        let pitch = self.pitch;
        if n < pitch {
            self.rows(m).chunks_exact_mut(pitch).for_each(|row| row[n..].fill(T::ZERO));
        }
        // SAFETY: the caller's promise.
        unsafe { self.transfer(Way::In, part) };
        self.matrix()
    }

    /// Copies the first rows to a part, rounded to its dtype.
    ///
    /// # Safety
    /// The part's elements are distinct and the caller's alone.
    pub(super) unsafe fn scatter(&mut self, part: Part) {
        // SAFETY: the caller's promise.
        unsafe { self.transfer(Way::Out, part) };
    }

    /// # Safety
    /// The part's elements may be read, or written on the way out.
    unsafe fn transfer(&mut self, way: Way, part: Part) {
        let [m, n] = part.extents;
        assert!(n <= self.pitch && m * self.pitch <= self.room, "a tile has room for the part");
        let scratch = Side { ptr: self.memory.ptr(), strides: &[self.pitch as isize, 1] };
        let tensor = Side { ptr: part.ptr, strides: &part.strides };
        let raw = self.memory.ptr().wrapping_add(self.room * size_of::<T>());
        // SAFETY: the caller's promise for the part. Scratch has room for its rows, and behind them for as many elements
        // of 16 bits, which is what a dtype is stored in that is not computed in.
        unsafe { strided::transfer(way, &part.extents, (part.dtype, tensor), (T::DTYPE, scratch), raw) };
    }
}

/// Scratch for the truth values of a mask.
pub(super) struct Truths {
    memory: Block,
}

impl Truths {
    pub(super) fn new(pool: &Arc<Pool>, elements: usize) -> Result<Self> {
        Ok(Truths { memory: pool.take(elements)? })
    }

    /// The part's values, 0 or 1, in rows of `pitch`, of which it fills the first columns.
    ///
    /// # Safety
    /// The part's elements are truth values that may be read.
    pub(super) unsafe fn gather(&mut self, part: Part, pitch: usize) -> &[u8] {
        let [m, n] = part.extents;
        assert!(n <= pitch && m * pitch <= self.memory.bytes(), "there is room for the part");
        let scratch = Side { ptr: self.memory.ptr(), strides: &[pitch as isize, 1] };
        // SAFETY: the caller's promise; scratch has room for the rows.
        unsafe { strided::copy(DType::Bool, &part.extents, scratch, Side { ptr: part.ptr, strides: &part.strides }) };
        // SAFETY: the memory is this value's alone and initialised.
        unsafe { slice::from_raw_parts(self.memory.ptr(), m * pitch) }
    }
}
