//! The loops around the kernel: blocks for the caches, panels, tiles.
#![allow(unsafe_code, reason = "hands verified memory to kernels")]

use super::Matrix;
use super::factor::{Factor, Panels};
use super::kernel::{Element, Kernel, Tile};
use super::output::{Output, TILE};
use crate::memory::Pool;
use cotangent_hal::Result;
use cotangent_hal::native::Level;
use rayon::prelude::*;
use std::ops::Range;
use std::sync::Arc;

/// Rows and columns of a block of the product, at most: its panels stay in the last cache.
const BLOCK: usize = 2048;
/// The same where sums need memory of their own.
const SUMS: usize = 1024;
/// Bytes of the left factor's panels that a task runs through for each panel of the right one: they stay in the
/// second cache.
const SECOND: usize = 192 << 10;
/// Panels of the right factor of a task.
const PANELS: usize = 8;
/// Lanes that a task packs.
const LANES: usize = 128;
/// Bytes of a factor that is not packed since it stays in the first cache as it lies.
const FIRST: usize = 32 << 10;
/// Panels of the other factor, at most, for which a left factor is not packed.
const FEW: usize = 4;

/// Extents of a product: `[m, k] [k, n] -> [m, n]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Extents {
    /// Rows.
    pub m: usize,
    /// Columns.
    pub n: usize,
    /// Terms of each sum.
    pub k: usize,
}

/// A product, `out = a b`.
pub(crate) struct Product<'a, T> {
    /// Its extents.
    pub extents: Extents,
    /// The left factor, of `m` lanes.
    pub a: &'a dyn Factor<T>,
    /// The right factor, of `n` lanes.
    pub b: &'a dyn Factor<T>,
    /// The place of the product.
    pub out: Output<T>,
}

impl<T: Element> Product<'_, T> {
    /// Computes the product, by several threads where `parallel`.
    ///
    /// # Errors
    /// Where there is no memory for panels; small products need none.
    ///
    /// # Safety
    /// The elements of the factors may be read, those of the product are distinct, overlap no factor, and are the
    /// caller's alone; the processor has the level.
    pub(crate) unsafe fn run(&self, pool: &Arc<Pool>, level: Level, parallel: bool) -> Result<()> {
        let Extents { m, n, k } = self.extents;
        if m == 0 || n == 0 {
            return Ok(());
        }
        if self.out.matrix.columns != 1 && self.out.matrix.rows == 1 {
            let extents = Extents { m: n, n: m, k };
            let turned = Product { extents, a: self.b, b: self.a, out: self.out.transposed() };
            // SAFETY: the caller's promise, for the same elements under other names.
            return unsafe { turned.blocks(pool, level, parallel) };
        }
        // SAFETY: the caller's promise.
        unsafe { self.blocks(pool, level, parallel) }
    }

    /// # Safety
    /// As for [`Product::run`].
    unsafe fn blocks(&self, pool: &Arc<Pool>, level: Level, parallel: bool) -> Result<()> {
        let Extents { m, n, k } = self.extents;
        let kernel = T::kernel(level);
        let size = size_of::<T>();
        let whole = |lanes: usize| lanes * k * size <= FIRST;
        let direct_a = self.a.matrix().filter(|_| n <= FEW * kernel.columns || whole(m));
        let direct_b = self.b.matrix().filter(|b| b.rows == 1 && (m <= kernel.rows || whole(n)));
        let depth = k.div_ceil(k.div_ceil(kernel.depth).max(1)).max(1);
        let in_place = self.out.in_place();
        let single = k <= depth;
        let most = if in_place.is_some() || single { BLOCK } else { SUMS };
        let (rows, columns) = (even(m, most, kernel.rows), even(n, most, kernel.columns));
        let panels = |packed: bool, lanes: usize, width: usize| {
            if packed { lanes.next_multiple_of(width) * depth } else { 0 }
        };
        let room_a = panels(direct_a.is_none(), rows, kernel.rows).next_multiple_of(16);
        let room_b = panels(direct_b.is_none(), columns, kernel.columns).next_multiple_of(16);
        let room_sums = if in_place.is_some() || single { 0 } else { rows * columns };
        let room = room_a + room_b + room_sums;
        let memory = if room == 0 { None } else { Some(pool.take(room * size)?) };
        let first = memory.as_ref().map_or(std::ptr::null_mut(), |m| m.ptr().cast::<T>());
        let sums = Matrix { ptr: first.wrapping_add(room_a + room_b), rows: columns as isize, columns: 1 };
        for j in (0..n).step_by(columns) {
            for i in (0..m).step_by(rows) {
                let (i, j) = (i..m.min(i + rows), j..n.min(j + columns));
                for l in (0..k.max(1)).step_by(depth) {
                    let l = l..k.min(l + depth);
                    let lanes = |direct: Option<Matrix<T>>, at: usize, ptr: *mut T, width: usize| match direct {
                        Some(matrix) => {
                            Lanes { matrix: matrix.from(at, l.start), width, step: width as isize * matrix.rows }
                        }
                        None => {
                            let step = (width * l.len()) as isize;
                            Lanes { matrix: Matrix { ptr, rows: 1, columns: width as isize }, width, step }
                        }
                    };
                    let block = Block {
                        kernel,
                        level,
                        out: &self.out,
                        a: lanes(direct_a, i.start, first, kernel.rows),
                        b: lanes(direct_b, j.start, first.wrapping_add(room_a), kernel.columns),
                        sums: match in_place {
                            Some(place) => Some(place.from(i.start, j.start)),
                            None => (!single).then_some(sums),
                        },
                        last: l.end == k,
                        rows: i.clone(),
                        columns: j.clone(),
                        terms: l,
                    };
                    // SAFETY: the caller's promise; panels and sums are this call's alone.
                    unsafe {
                        block.pack(
                            (direct_a.is_none()).then_some(self.a),
                            (direct_b.is_none()).then_some(self.b),
                            parallel,
                        );
                        block.multiply(parallel);
                    }
                }
            }
        }
        Ok(())
    }
}

/// A factor's lanes in groups of `width`, as panels or as they lie: group `p` begins `p * step` elements later.
#[derive(Clone, Copy)]
struct Lanes<T> {
    matrix: Matrix<T>,
    width: usize,
    step: isize,
}

impl<T> Lanes<T> {
    fn group(&self, p: usize) -> *mut T {
        self.matrix.ptr.wrapping_offset(p as isize * self.step)
    }
}

/// A block of the product over some of the terms.
struct Block<'a, T: 'static> {
    kernel: &'static Kernel<T>,
    level: Level,
    out: &'a Output<T>,
    a: Lanes<T>,
    b: Lanes<T>,
    /// Where sums of several ranges of terms are added up: in the product itself, or in memory of their own.
    sums: Option<Matrix<T>>,
    /// Whether these are the last terms of the sums.
    last: bool,
    rows: Range<usize>,
    columns: Range<usize>,
    terms: Range<usize>,
}

impl<T: Element> Block<'_, T> {
    /// Packs the panels of the given factors.
    ///
    /// # Safety
    /// As for [`Product::run`]; the panels of these factors are the caller's alone.
    unsafe fn pack(&self, a: Option<&dyn Factor<T>>, b: Option<&dyn Factor<T>>, parallel: bool) {
        let sides = [(a, &self.a, &self.rows), (b, &self.b, &self.columns)];
        let counts = sides.map(|(factor, lanes, range)| {
            let groups = LANES / lanes.width;
            if factor.is_some() { range.len().div_ceil(groups * lanes.width) } else { 0 }
        });
        each(counts[0] + counts[1], parallel, |t| {
            let (side, t) = if t < counts[0] { (0, t) } else { (1, t - counts[0]) };
            let (factor, lanes, range) = &sides[side];
            let groups = LANES / lanes.width;
            let from = range.start + t * groups * lanes.width;
            let part = from..range.end.min(from + groups * lanes.width);
            if let Some(factor) = factor {
                let to =
                    Panels { ptr: lanes.group(t * groups), width: lanes.width, pitch: lanes.width * self.terms.len() };
                // SAFETY: the caller's promise; each task has panels of its own.
                unsafe { factor.pack(part, self.terms.clone(), to) };
            }
        });
    }

    /// Multiplies the panels.
    ///
    /// # Safety
    /// As for [`Product::run`].
    unsafe fn multiply(&self, parallel: bool) {
        let (height, width) = (self.kernel.rows, self.kernel.columns);
        let (m, n) = (self.rows.len(), self.columns.len());
        let second = SECOND / (self.terms.len().max(1) * size_of::<T>());
        let down = even(m, second.max(height), height);
        let across = even(n, PANELS * width, width);
        let (downs, acrosses) = (m.div_ceil(down), n.div_ceil(across));
        each(downs * acrosses, parallel, |t| {
            let (i, j) = (t / acrosses * down, t % acrosses * across);
            for j in (j..n.min(j + across)).step_by(width) {
                for i in (i..m.min(i + down)).step_by(height) {
                    // SAFETY: the caller's promise; each task has tiles of its own.
                    unsafe { self.tile([i, j], [height.min(m - i), width.min(n - j)]) };
                }
            }
        });
    }

    /// # Safety
    /// As for [`Product::run`].
    unsafe fn tile(&self, [i, j]: [usize; 2], [rows, columns]: [usize; 2]) {
        let mut scratch = [const { std::mem::MaybeUninit::<T>::uninit() }; TILE];
        let c = match self.sums {
            Some(sums) => sums.from(i, j),
            None => Matrix { ptr: scratch.as_mut_ptr().cast(), rows: columns as isize, columns: 1 },
        };
        let tile = Tile {
            k: self.terms.len(),
            rows,
            columns,
            a: self.a.group(i / self.kernel.rows),
            a_row: self.a.matrix.rows,
            a_col: self.a.matrix.columns,
            b: self.b.group(j / self.kernel.columns),
            b_row: self.b.matrix.columns,
            c: c.ptr,
            c_row: c.rows,
            accumulate: self.terms.start > 0,
        };
        // SAFETY: the caller's promise; scratch has room for a tile.
        unsafe {
            self.kernel.tile(&tile);
            if self.last {
                self.out.from(self.rows.start + i, self.columns.start + j).finish(self.level, c, [rows, columns]);
            }
        }
    }
}

/// The size of even parts, multiples of `unit`, of at most about `most`.
fn even(total: usize, most: usize, unit: usize) -> usize {
    total.div_ceil(total.div_ceil(most)).next_multiple_of(unit)
}

/// Calls `task` for each number, by several threads where `parallel`.
fn each(tasks: usize, parallel: bool, task: impl Fn(usize) + Send + Sync) {
    if parallel && tasks > 1 { (0..tasks).into_par_iter().for_each(task) } else { (0..tasks).for_each(task) }
}
