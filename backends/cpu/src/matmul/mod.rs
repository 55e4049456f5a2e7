//! Matrix products: verification, batches, and the choice of a method by shape alone, so that the bits of a result do
//! not depend on the number of threads.
#![allow(unsafe_code, reason = "hands verified memory to the methods")]

mod double;
mod gemm;
mod panels;
mod vector;

use crate::backend::{block_of, in_use, refused, threads};
use crate::gemm::{Extents, Matrix};
use crate::launch::{outside, range, repeats};
use crate::memory::Pool;
use crate::strided::{self, Side};
use cotangent_hal::native::Level;
use cotangent_hal::{DType, Error, Result, View};
use rayon::prelude::*;
use std::sync::Arc;

/// Multiplications from which a product is worth several threads.
const PARALLEL: usize = 1 << 19;
/// Products that sum at least this many terms for each of at most so many elements are split along the sum: gemm has
/// too little to share out there.
const LONG: usize = 2048;
const FEW: usize = 1 << 15;
/// Terms of a split, at least, and the most splits.
const SPLIT: usize = 512;
const SPLITS: usize = 16;

/// A batch of matrices in verified memory, of any dtype: element `(n, i, j)` lies `n * step + i * rows + j * columns`
/// elements after `ptr`.
#[derive(Clone, Copy)]
struct Stack {
    ptr: *mut u8,
    step: isize,
    rows: isize,
    columns: isize,
}

// SAFETY: as for a matrix.
unsafe impl Send for Stack {}
// SAFETY: as above.
unsafe impl Sync for Stack {}

/// A batch of products.
struct Batch {
    count: usize,
    extents: Extents,
    a: (Matrix<f32>, isize),
    b: (Matrix<f32>, isize),
    c: (Matrix<f32>, isize),
}

/// See [`LibraryCall::MatMul`](cotangent_hal::LibraryCall::MatMul).
pub(crate) fn matmul(pool: &Arc<Pool>, level: Level, a: &View<'_>, b: &View<'_>, out: &View<'_>) -> Result<()> {
    let dtype = a.dtype;
    if !dtype.is_float() {
        return Err(Error::Dtype { op: "matmul".into(), given: dtype, accepted: DType::FLOATS.to_vec() });
    }
    if let Some(other) = [b, out].into_iter().find(|view| view.dtype != dtype) {
        return Err(Error::Dtype { op: "matmul".into(), given: other.dtype, accepted: vec![dtype] });
    }
    let (&[count, m, k], &[b_count, b_k, n], &[c_count, c_m, c_n]) = (a.shape, b.shape, out.shape) else {
        return Err(misshapen(a, b, out));
    };
    if (b_count, b_k, c_count, c_m, c_n) != (count, k, count, m, n) {
        return Err(misshapen(a, b, out));
    }
    let mut ranges = [(0, 0); 3];
    let blocks = [block_of(a.buffer)?, block_of(b.buffer)?, block_of(out.buffer)?];
    for ((view, block), (range_of, name)) in
        [a, b, out].into_iter().zip(blocks).zip(ranges.iter_mut().zip(["left factor", "right factor", "product"]))
    {
        let Some(range) = range(view, block) else {
            let message = format!("the {name} {}", outside(view, block));
            return Err(Error::Shape { op: "matmul".into(), message });
        };
        *range_of = range;
    }
    let (low, high) = ranges[2];
    if low == high {
        return Ok(());
    }
    if repeats(out.shape, out.strides) {
        return Err(refused("matmul: the product repeats elements; give it memory of its own".into()));
    }
    for i in 0..2 {
        let (l, h) = ranges[i];
        if std::ptr::eq(blocks[i], blocks[2]) && l < high && low < h {
            return Err(refused("matmul: the product overlaps a factor; give it memory of its own".into()));
        }
    }
    // A buffer that holds both the product and a factor is borrowed once, for writing.
    let shared = |i: usize| (i + 1..3).any(|j| std::ptr::eq(blocks[i], blocks[j]));
    let borrow = |i: usize| if shared(i) { Ok(None) } else { blocks[i].borrow(i == 2).map(Some).ok_or_else(in_use) };
    let _borrows = [borrow(0)?, borrow(1)?, borrow(2)?];
    let stack = |i: usize, view: &View<'_>| {
        let offset = if ranges[i].0 < ranges[i].1 { view.offset } else { 0 };
        let ptr = blocks[i].ptr().wrapping_add(offset * dtype.size());
        Stack { ptr, step: view.strides[0], rows: view.strides[1], columns: view.strides[2] }
    };
    let stacks = [stack(0, a), stack(1, b), stack(2, out)];
    if k == 0 {
        let zero = Side { ptr: (&raw const ZERO).cast_mut().cast(), strides: &[0; 3] };
        let target = Side { ptr: stacks[2].ptr, strides: out.strides };
        // SAFETY: the product's elements are verified and borrowed for writing; the source is one zero, only read,
        // whose bytes are those of a zero of every dtype.
        unsafe { strided::copy(dtype, out.shape, target, zero) };
        return Ok(());
    }
    let extents = Extents { m, n, k };
    if dtype != DType::F32 {
        // SAFETY: the elements are verified and borrowed; the products are distinct and overlap no factor.
        return unsafe { panels::products(pool, level, dtype, count, extents, stacks) };
    }
    let [a, b, c] = stacks.map(|s| (Matrix { ptr: s.ptr.cast(), rows: s.rows, columns: s.columns }, s.step));
    Batch { count, extents, a, b, c }.merged().run(pool, level)
}

static ZERO: f64 = 0.0;

impl Batch {
    /// The batch as one product, where its left factors and its products lie row under row and the right factor is
    /// one for all.
    fn merged(self) -> Batch {
        let Extents { m, n, k } = self.extents;
        let follows = |(matrix, step): (Matrix<f32>, isize)| step == matrix.rows.wrapping_mul(m as isize);
        if self.count > 1 && self.b.1 == 0 && m > 1 && follows(self.a) && follows(self.c) {
            return Batch { count: 1, extents: Extents { m: m * self.count, n, k }, ..self };
        }
        if self.count > 1 && self.b.1 == 0 && m == 1 {
            let stack = |(matrix, step): (Matrix<f32>, isize)| (Matrix { rows: step, ..matrix }, 0);
            let (a, c) = (stack(self.a), stack(self.c));
            return Batch { count: 1, extents: Extents { m: self.count, n, k }, a, c, ..self };
        }
        self
    }

    fn run(&self, pool: &Arc<Pool>, level: Level) -> Result<()> {
        let Extents { m, n, k } = self.extents;
        let work = m.saturating_mul(n).saturating_mul(k);
        let threads = if work.saturating_mul(self.count) < PARALLEL { 1 } else { threads() };
        let one = |i: usize, parallel: bool| {
            let at = |(matrix, step): (Matrix<f32>, isize)| Matrix {
                ptr: matrix.ptr.wrapping_offset(i as isize * step),
                ..matrix
            };
            // SAFETY: `matmul` verified and borrowed the factors and products, which do not overlap; each product
            // of the batch has elements of its own.
            unsafe { product(pool, level, self.extents, at(self.a), at(self.b), at(self.c), parallel) }
        };
        if threads > 1 && self.count > 1 && (self.count >= 4 * threads || work < 2 * PARALLEL) {
            let tasks = self.count.min(4 * threads);
            return (0..tasks).into_par_iter().try_for_each(|t| {
                (t * self.count / tasks..(t + 1) * self.count / tasks).try_for_each(|i| one(i, false))
            });
        }
        (0..self.count).try_for_each(|i| one(i, threads > 1))
    }
}

/// `c = a b`, by the method that fits the extents.
///
/// # Safety
/// The elements of `a` and `b` may be read, those of `c` are distinct, overlap neither, and are the caller's alone.
unsafe fn product(
    pool: &Arc<Pool>,
    level: Level,
    extents: Extents,
    a: Matrix<f32>,
    b: Matrix<f32>,
    c: Matrix<f32>,
    parallel: bool,
) -> Result<()> {
    let Extents { m, n, k } = extents;
    // SAFETY: the caller's promise, for the same elements under other names.
    unsafe {
        if m.saturating_mul(n) <= FEW && k >= LONG && m * n * k >= PARALLEL {
            return split(pool, level, extents, a, b, c, parallel);
        }
        if vector::fits(m, b) {
            return vector::product(pool, level, extents, a, b, c, parallel);
        }
        if vector::fits(n, a.transposed()) {
            let extents = Extents { m: n, n: m, k };
            return vector::product(pool, level, extents, b.transposed(), a.transposed(), c.transposed(), parallel);
        }
        gemm::product(pool, level, extents, a, b, c, parallel)
    }
}

/// `c = a b` as a sum of products over parts of the inner axis, added in order.
///
/// # Safety
/// As for [`product`].
unsafe fn split(
    pool: &Arc<Pool>,
    level: Level,
    Extents { m, n, k }: Extents,
    a: Matrix<f32>,
    b: Matrix<f32>,
    c: Matrix<f32>,
    parallel: bool,
) -> Result<()> {
    let parts = (k / SPLIT).min(SPLITS);
    let memory = pool.take(parts * m * n * size_of::<f32>())?;
    let sums = Matrix { ptr: memory.ptr().cast(), rows: n as isize, columns: 1 };
    let part = |i: usize| {
        let (from, to) = (i * k / parts, (i + 1) * k / parts);
        let extents = Extents { m, n, k: to - from };
        // SAFETY: a part of the factors, whose product has its own `m n` elements of `memory`.
        unsafe {
            let (a, b, c) = (a.from(0, from), b.from(from, 0), sums.from(i * m, 0));
            if vector::fits(m, b) {
                return vector::product(pool, level, extents, a, b, c, false);
            }
            gemm::product(pool, level, extents, a, b, c, false)
        }
    };
    if parallel {
        (0..parts).into_par_iter().try_for_each(part)?;
    } else {
        (0..parts).try_for_each(part)?;
    }
    // SAFETY: all `parts * m * n` sums are written and nobody else has them.
    let sums = unsafe { std::slice::from_raw_parts_mut(sums.ptr, parts * m * n) };
    let (total, rest) = sums.split_at_mut(m * n);
    for part in rest.chunks_exact(m * n) {
        for (t, &p) in total.iter_mut().zip(part) {
            *t += p;
        }
    }
    let dense = [n as isize, 1];
    let source = Side { ptr: total.as_mut_ptr().cast(), strides: &dense };
    let strides = [c.rows, c.columns];
    let target = Side { ptr: c.ptr.cast(), strides: &strides };
    // SAFETY: the caller's promise for `c`; the source is the total.
    unsafe { strided::copy(DType::F32, &[m, n], target, source) };
    Ok(())
}

#[cold]
fn misshapen(a: &View<'_>, b: &View<'_>, out: &View<'_>) -> Error {
    let message = format!(
        "`{:?}` times `{:?}` into `{:?}`, expected `[N, M, K]` times `[N, K, P]` into `[N, M, P]`",
        a.shape, b.shape, out.shape
    );
    Error::Shape { op: "matmul".into(), message }
}
