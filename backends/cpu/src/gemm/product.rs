//! The loops around the kernel: blocks for the caches, panels, tiles.
#![allow(unsafe_code, reason = "hands verified memory to kernels")]

use super::Matrix;
use super::factor::{Factor, Panels, Side};
use super::kernel::{Kernel, Packed, Tile};
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
/// Panels of the right factor of a task.
const PANELS: usize = 8;
/// Lanes that a task packs.
const LANES: usize = 128;
/// Bytes of a factor that is not packed since it stays in the first cache as it lies; one that is read once may fill the
/// second.
const FIRST: usize = 32 << 10;
/// Panels of the right factor, at most, for which the left one is not packed; those of a strip.
const FEW: usize = 4;
/// Bytes of a line of the caches.
const LINE: usize = 64;

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
pub(crate) struct Product<'a, P: Packed> {
    /// Its extents.
    pub extents: Extents,
    /// The left factor, of `m` lanes.
    pub a: &'a dyn Factor<P>,
    /// The right factor, of `n` lanes.
    pub b: &'a dyn Factor<P>,
    /// The place of the product.
    pub out: Output<P::Sum>,
}

impl<P: Packed> Product<'_, P> {
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
        let turned = self.out.matrix.columns != 1 && self.out.matrix.rows == 1;
        let product = if turned {
            Product { extents: Extents { m: n, n: m, k }, a: self.b, b: self.a, out: self.out.transposed() }
        } else {
            Product { out: self.out, ..*self }
        };
        // SAFETY: the caller's promise, for the same elements, maybe under other names.
        unsafe { product.strips(pool, level, parallel) }
    }

    /// The product in one piece; where there are few rows, in strips of columns: the panels of a strip are still in
    /// the second cache when they are read, which is once or twice.
    ///
    /// # Safety
    /// As for [`Product::run`].
    unsafe fn strips(&self, pool: &Arc<Pool>, level: Level, parallel: bool) -> Result<()> {
        let Extents { m, n, .. } = self.extents;
        let kernel = P::kernel(level);
        let strip = FEW * kernel.columns;
        if m > 2 * kernel.rows || n <= strip || self.lies_in_b(kernel).is_some() {
            // SAFETY: the caller's promise.
            return unsafe { self.blocks(pool, level, 0..n, kernel.depth, parallel) };
        }
        let depth = kernel.depth.min(kernel.second / (strip * size_of::<P>()));
        let one = |t: usize| {
            let columns = t * strip..n.min((t + 1) * strip);
            // SAFETY: the caller's promise; each strip has elements of its own.
            unsafe { self.blocks(pool, level, columns, depth, false) }
        };
        let strips = n.div_ceil(strip);
        if parallel { (0..strips).into_par_iter().try_for_each(one) } else { (0..strips).try_for_each(one) }
    }

    /// The right factor as it lies, where it need not be packed.
    fn lies_in_b(&self, kernel: &Kernel<P>) -> Option<Matrix<P>> {
        let Extents { m, n, k } = self.extents;
        let cache = if m <= kernel.rows { kernel.second } else { FIRST };
        self.b.matrix().filter(|b| b.rows == 1 && n * k * size_of::<P>() <= cache)
    }

    /// These columns of the product, of which at most `depth` terms are summed before the next are packed.
    ///
    /// # Safety
    /// As for [`Product::run`].
    unsafe fn blocks(
        &self,
        pool: &Arc<Pool>,
        level: Level,
        columns: Range<usize>,
        depth: usize,
        parallel: bool,
    ) -> Result<()> {
        let Extents { m, k, .. } = self.extents;
        let n = columns.len();
        let kernel = P::kernel(level);
        let direct_a = self.a.matrix().filter(|_| n <= FEW * kernel.columns || m * k * size_of::<P>() <= FIRST);
        let direct_b = self.lies_in_b(kernel);
        let depth = even(k.max(1), depth, kernel.terms);
        let in_place = self.out.in_place();
        let single = k <= depth;
        let most = if in_place.is_some() || single { BLOCK } else { SUMS };
        let (height, width) = (even(m, most, kernel.rows), even(n, most, kernel.columns));
        let panels = |packed: bool, lanes: usize, width: usize| {
            let bytes = if packed { lanes.next_multiple_of(width) * depth * size_of::<P>() } else { 0 };
            bytes.next_multiple_of(LINE)
        };
        let bytes_a = panels(direct_a.is_none(), height, kernel.rows);
        let bytes_b = panels(direct_b.is_none(), width, kernel.columns);
        let sums = if in_place.is_some() || single { 0 } else { height * width * size_of::<P::Sum>() };
        let bytes = bytes_a + bytes_b + sums;
        let memory = if bytes == 0 { None } else { Some(pool.take(bytes)?) };
        let first = memory.as_ref().map_or(std::ptr::null_mut(), |m| m.ptr());
        let (panels_a, panels_b) = (first.cast(), first.wrapping_add(bytes_a).cast());
        let sums = Matrix { ptr: first.wrapping_add(bytes_a + bytes_b).cast(), rows: width as isize, columns: 1 };
        for j in columns.clone().step_by(width) {
            for i in (0..m).step_by(height) {
                let (i, j) = (i..m.min(i + height), j..columns.end.min(j + width));
                for l in (0..k.max(1)).step_by(depth) {
                    let l = l..k.min(l + depth);
                    let lanes = |direct: Option<Matrix<P>>, at: usize, ptr: *mut P, width: usize| match direct {
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
                        a: lanes(direct_a, i.start, panels_a, kernel.rows),
                        b: lanes(direct_b, j.start, panels_b, kernel.columns),
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
struct Block<'a, P: Packed> {
    kernel: &'static Kernel<P>,
    level: Level,
    out: &'a Output<P::Sum>,
    a: Lanes<P>,
    b: Lanes<P>,
    /// Where sums of several ranges of terms are added up: in the product itself, or in memory of their own.
    sums: Option<Matrix<P::Sum>>,
    /// Whether these are the last terms of the sums.
    last: bool,
    rows: Range<usize>,
    columns: Range<usize>,
    terms: Range<usize>,
}

impl<P: Packed> Block<'_, P> {
    /// Packs the panels of the given factors.
    ///
    /// # Safety
    /// As for [`Product::run`]; the panels of these factors are the caller's alone.
    unsafe fn pack(&self, a: Option<&dyn Factor<P>>, b: Option<&dyn Factor<P>>, parallel: bool) {
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
                let to = Panels {
                    side: if side == 0 { Side::Left } else { Side::Right },
                    ptr: lanes.group(t * groups),
                    width: lanes.width,
                    pitch: lanes.width * self.terms.len(),
                };
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
        let second = self.kernel.second / (self.terms.len().max(1) * size_of::<P>());
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
        let mut scratch = [const { std::mem::MaybeUninit::<P::Sum>::uninit() }; TILE];
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
        if self.sums.is_some() {
            fetch(c, rows, columns);
        }
        // SAFETY: the caller's promise; scratch has room for a tile.
        unsafe {
            self.kernel.tile(&tile);
            if self.last {
                self.out.from(self.rows.start + i, self.columns.start + j).finish(self.level, c, [rows, columns]);
            }
        }
    }
}

/// Asks for the lines of a tile, which the kernel reads and writes once it has its sums.
#[cfg(all(target_arch = "x86_64", not(miri)))]
#[inline(always)]
fn fetch<T: Copy>(tile: Matrix<T>, rows: usize, columns: usize) {
    use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
    for i in 0..rows {
        for at in (0..columns * size_of::<T>()).step_by(LINE) {
            // SAFETY: the program sees nothing of it, wherever the line is.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(tile.from(i, 0).ptr.cast::<i8>().wrapping_add(at)) };
        }
    }
}

#[cfg(not(all(target_arch = "x86_64", not(miri))))]
fn fetch<T>(_: Matrix<T>, _: usize, _: usize) {}

/// The size of even parts, multiples of `unit`, of at most about `most`.
fn even(total: usize, most: usize, unit: usize) -> usize {
    total.div_ceil(total.div_ceil(most)).next_multiple_of(unit)
}

/// Calls `task` for each number, by several threads where `parallel`.
fn each(tasks: usize, parallel: bool, task: impl Fn(usize) + Send + Sync) {
    if parallel && tasks > 1 { (0..tasks).into_par_iter().for_each(task) } else { (0..tasks).for_each(task) }
}
