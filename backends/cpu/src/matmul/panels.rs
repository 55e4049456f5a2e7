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
use std::sync::Arc;

/// Rows and columns of a panel of the product, at most: each element of a factor that is converted is used so often.
const SIDE: usize = 512;
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
    let width = if m <= FEW_ROWS { (CACHED / k).clamp(16, SIDE) } else { SIDE };
    let (down, across) = (m.div_ceil(SIDE), n.div_ceil(width));
    let tasks = count * down * across;
    let work = m.saturating_mul(n).saturating_mul(k).saturating_mul(count);
    let parallel = work >= PARALLEL && threads() > 1;
    let task = |t: usize| {
        let (i, j) = (t / across % down * SIDE, t % across * width);
        let (rows, columns, batch) = (SIDE.min(m - i), width.min(n - j), t / across / down);
        let parts = [
            part(a, dtype, batch, [i, 0], [rows, k]),
            part(b, dtype, batch, [0, j], [k, columns]),
            part(c, dtype, batch, [i, j], [rows, columns]),
        ];
        let extents = Extents { m: rows, n: columns, k };
        // SAFETY: the caller's promise; each task has a part of the products of its own.
        unsafe {
            if dtype == DType::F64 {
                in_scratch::<f64>(pool, dtype, parts, |[a, b, c]| {
                    double::product(level, extents, a, b, c);
                    Ok(())
                })
            } else {
                in_scratch::<f32>(pool, dtype, parts, |[a, b, c]| {
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

/// Gathers both factors, runs `multiply` and scatters the product.
///
/// # Safety
/// As for [`products`]; `T` is what `dtype` computes in.
unsafe fn in_scratch<T: Copy>(
    pool: &Arc<Pool>,
    dtype: DType,
    [a, b, c]: [Part; 3],
    multiply: impl FnOnce([Matrix<T>; 3]) -> Result<()>,
) -> Result<()> {
    let scratch = [Scratch::new(pool, dtype, &a)?, Scratch::new(pool, dtype, &b)?, Scratch::new(pool, dtype, &c)?];
    // SAFETY: the caller's promise; scratch is this call's alone.
    unsafe {
        scratch[0].transfer(Way::In, dtype, &a);
        scratch[1].transfer(Way::In, dtype, &b);
        multiply([scratch[0].matrix, scratch[1].matrix, scratch[2].matrix])?;
        scratch[2].transfer(Way::Out, dtype, &c);
    }
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
