//! Products of other dtypes than `f32`: cut into panels, each gathered into scratch of the dtype that is computed in,
//! multiplied there, and rounded once on the way out.
#![allow(unsafe_code, reason = "hands verified memory to the methods")]

use super::{Extents, Matrix, PARALLEL, Stack, double, product};
use crate::backend::threads;
use crate::memory::{Block, Pool};
use crate::strided::{self, Side, Way};
use cotangent_hal::native::Level;
use cotangent_hal::{DType, Result};
use rayon::prelude::*;
use std::ops::AddAssign;
use std::slice;
use std::sync::Arc;

/// Rows and columns of a panel of the product, at most: each element of a factor that is converted is used so often.
const SIDE: usize = 512;
/// Terms of a sum that are gathered at once, at most; the sums of longer cuts are added.
const DEPTH: usize = 4096;
/// Few rows use each element of the right factor so seldom that its panels had better stay in cache: elements of one.
const FEW_ROWS: usize = 16;
const CACHED: usize = 1 << 18;

/// A part of one of the factors or of the product, as it is stored.
#[derive(Clone, Copy)]
struct Part {
    ptr: *mut u8,
    shape: [usize; 2],
    strides: [isize; 2],
}

/// Scratch that a part is computed in.
struct Scratch<T> {
    matrix: Matrix<T>,
    /// The memory of the matrix and, behind it, of the elements as they are stored.
    memory: Block,
    raw: usize,
    /// Whether the second axis of the part is the outer one in scratch.
    turned: bool,
}

/// `c[i] = a[i] b[i]` for a batch, all of `dtype`.
///
/// # Safety
/// The elements of the factors may be read, those of the products are distinct, overlap no factor, and are the caller's
/// alone.
pub(super) unsafe fn products(
    pool: &Arc<Pool>,
    level: Level,
    dtype: DType,
    count: usize,
    Extents { m, n, k }: Extents,
    [a, b, c]: [Stack; 3],
) -> Result<()> {
    // A right factor whose columns are contiguous is read along them, others along their rows.
    let by_columns = b.rows.unsigned_abs() < b.columns.unsigned_abs();
    let (width, depth) = match (m <= FEW_ROWS, by_columns) {
        (false, _) => (SIDE, DEPTH),
        (true, true) => ((CACHED / k.min(DEPTH)).min(SIDE), DEPTH),
        (true, false) => (SIDE, CACHED / SIDE),
    };
    let (down, across) = (m.div_ceil(SIDE), n.div_ceil(width));
    let tasks = count * down * across;
    let work = m.saturating_mul(n).saturating_mul(k).saturating_mul(count);
    let parallel = work >= PARALLEL && threads() > 1;
    let task = |t: usize| {
        let (i, j) = (t / across % down * SIDE, t % across * width);
        let (rows, columns, batch) = (SIDE.min(m - i), width.min(n - j), t / across / down);
        let out = part(c, dtype, batch, [i, j], [rows, columns]);
        let factors = (0..k).step_by(depth).map(|l| {
            let terms = depth.min(k - l);
            (part(a, dtype, batch, [i, l], [rows, terms]), part(b, dtype, batch, [l, j], [terms, columns]))
        });
        // SAFETY: the caller's promise; each task has a part of the products of its own.
        unsafe {
            if dtype == DType::F64 {
                in_scratch::<f64>(pool, dtype, factors, out, |extents, [a, b, c]| {
                    double::product(level, extents, a, b, c);
                    Ok(())
                })
            } else {
                in_scratch::<f32>(pool, dtype, factors, out, |extents, [a, b, c]| {
                    product(pool, level, extents, a, b, c, parallel && tasks == 1)
                })
            }
        }
    };
    if parallel && tasks > 1 { (0..tasks).into_par_iter().try_for_each(task) } else { (0..tasks).try_for_each(task) }
}

/// The part of a matrix of the batch that begins at `(i, j)`.
fn part(stack: Stack, dtype: DType, batch: usize, [i, j]: [usize; 2], shape: [usize; 2]) -> Part {
    let offset = batch as isize * stack.step + i as isize * stack.rows + j as isize * stack.columns;
    let ptr = stack.ptr.wrapping_offset(offset * dtype.size() as isize);
    Part { ptr, shape, strides: [stack.rows, stack.columns] }
}

/// Gathers pairs of factors, adds up their products as `multiply` forms them, and scatters the sum.
///
/// # Safety
/// As for [`products`]; `T` is what `dtype` computes in.
unsafe fn in_scratch<T: Copy + AddAssign>(
    pool: &Arc<Pool>,
    dtype: DType,
    factors: impl Iterator<Item = (Part, Part)>,
    out: Part,
    multiply: impl Fn(Extents, [Matrix<T>; 3]) -> Result<()>,
) -> Result<()> {
    let [m, n] = out.shape;
    let total = Scratch::<T>::new(pool, dtype, &out)?;
    for (number, (a, b)) in factors.enumerate() {
        let (left, right) = (Scratch::<T>::new(pool, dtype, &a)?, Scratch::<T>::new(pool, dtype, &b)?);
        let extents = Extents { m, n, k: a.shape[1] };
        // SAFETY: the caller's promise; scratch is this call's alone, and both sums lie in it alike.
        unsafe {
            left.transfer(Way::In, dtype, &a);
            right.transfer(Way::In, dtype, &b);
            if number == 0 {
                multiply(extents, [left.matrix, right.matrix, total.matrix])?;
                continue;
            }
            let sum = Scratch::<T>::new(pool, dtype, &out)?;
            multiply(extents, [left.matrix, right.matrix, sum.matrix])?;
            let sums = slice::from_raw_parts_mut(total.matrix.ptr, m * n);
            for (total, &term) in sums.iter_mut().zip(slice::from_raw_parts(sum.matrix.ptr, m * n)) {
                *total += term;
            }
        }
    }
    // SAFETY: the caller's promise.
    unsafe { total.transfer(Way::Out, dtype, &out) };
    Ok(())
}

impl<T: Copy> Scratch<T> {
    /// Room for a part, in the order of axes in which it is stored. Rows of `f64` are what its product needs.
    fn new(pool: &Arc<Pool>, dtype: DType, part: &Part) -> Result<Self> {
        let [rows, columns] = part.shape;
        let turned = dtype != DType::F64 && part.strides[0].unsigned_abs() < part.strides[1].unsigned_abs();
        let raw = (rows * columns * size_of::<T>()).next_multiple_of(64);
        let memory = pool.take(raw + rows * columns * dtype.size())?;
        let ptr = memory.ptr().cast();
        let matrix = if turned {
            Matrix { ptr, rows: 1, columns: rows as isize }
        } else {
            Matrix { ptr, rows: columns as isize, columns: 1 }
        };
        Ok(Scratch { matrix, memory, raw, turned })
    }

    /// Copies between the part and scratch.
    ///
    /// # Safety
    /// The part's elements may be read, or written on the way out.
    unsafe fn transfer(&self, way: Way, dtype: DType, part: &Part) {
        let mut extents = part.shape;
        let mut tensor = part.strides;
        let mut scratch = [self.matrix.rows, self.matrix.columns];
        if self.turned {
            extents.reverse();
            tensor.reverse();
            scratch.reverse();
        }
        let tensor = Side { ptr: part.ptr, strides: &tensor };
        let scratch = Side { ptr: self.matrix.ptr.cast(), strides: &scratch };
        let raw = self.memory.ptr().wrapping_add(self.raw);
        // SAFETY: the caller's promise; scratch holds all elements twice, computed and stored.
        unsafe { strided::transfer(way, &extents, (dtype, tensor), (dtype.compute(), scratch), raw) };
    }
}
