//! Factors in `bf16` for kernels that multiply them as they are stored, two neighbouring terms at a time.
#![allow(unsafe_code, reason = "copies between raw places")]

use super::factor::{Factor, Panels, Side};
use super::kernel::{Kernel, Packed, SIDE};
use super::{Extents, Matrix, Output, Product, amx, avx2};
use crate::memory::Pool;
use cotangent_hal::Result;
use cotangent_hal::native::Level;
use half::bf16;
use std::ops::Range;
use std::sync::Arc;

/// Lanes of a panel.
pub(super) const WIDTH: usize = 32;
/// Pairs of a lane that are multiplied at a time.
pub(super) const TERMS: usize = 16;
/// Elements of so many pairs of all lanes.
pub(super) const LEFT: usize = WIDTH * TERMS;

/// Two neighbouring terms of a lane: the bits of the first are the lower ones.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(crate) struct Pair(u32);

impl Packed for Pair {
    type Sum = f32;

    fn kernel(_: Level) -> &'static Kernel<Pair> {
        &amx::PAIRS
    }
}

/// `out = a b`, where the processor multiplies pairs.
///
/// # Errors
/// Where there is no memory for panels.
///
/// # Safety
/// As for [`Product::run`].
pub(super) unsafe fn product(
    pool: &Arc<Pool>,
    level: Level,
    Extents { m, n, k }: Extents,
    [a, b]: [Matrix<bf16>; 2],
    out: Output<f32>,
    parallel: bool,
) -> Option<Result<()>> {
    if level < Level::V4 || !amx::available() {
        return None;
    }
    let (a, b) = (Pairs { matrix: a, terms: k }, Pairs { matrix: b.transposed(), terms: k });
    let extents = Extents { m, n, k: k.div_ceil(2).next_multiple_of(TERMS) };
    // SAFETY: the caller's promise; the processor has the kernel's instructions.
    Some(unsafe { Product { extents, a: &a, b: &b, out }.run(pool, level, parallel) })
}

/// A factor in `bf16` whose terms are pairs; beyond the last there are zeros.
struct Pairs {
    /// Lanes as rows, terms as columns.
    matrix: Matrix<bf16>,
    /// Terms of a lane.
    terms: usize,
}

impl Factor<Pair> for Pairs {
    fn matrix(&self) -> Option<Matrix<Pair>> {
        None
    }

    unsafe fn pack(&self, lanes: Range<usize>, terms: Range<usize>, to: Panels<Pair>) {
        // SAFETY: the caller's promise; processors that multiply pairs have the instructions.
        unsafe { packed(self, lanes, terms, to) }
    }
}

/// Packs squares of lanes and pairs. Panels of a left factor hold, for as many pairs as are multiplied at a time, those
/// of one lane after another; panels of a right one, as others, one pair of all lanes after another.
///
/// # Safety
/// As for [`Factor::pack`], on a processor with these instructions.
#[target_feature(enable = "avx2,fma")]
unsafe fn packed(from: &Pairs, lanes: Range<usize>, pairs: Range<usize>, to: Panels<Pair>) {
    let left = to.side == Side::Left;
    for pair in pairs.clone().step_by(SIDE) {
        for lane in (lanes.start..lanes.start + lanes.len().next_multiple_of(WIDTH)).step_by(SIDE) {
            let corner = from.matrix.from(lane, 2 * pair);
            let (count, terms) = (lanes.end.saturating_sub(lane), from.terms.saturating_sub(2 * pair));
            let panel = to.from((lane - lanes.start) / WIDTH, 0).ptr.cast::<f32>();
            let (lane, pair) = ((lane - lanes.start) % WIDTH, pair - pairs.start);
            let at = if left { pair / TERMS * LEFT + lane * TERMS + pair % TERMS } else { pair * WIDTH + lane };
            let (to, step) = (panel.wrapping_add(at), if left { TERMS } else { WIDTH });
            let whole = count >= SIDE && terms >= 2 * SIDE;
            // SAFETY: elements of the factor; a square of the panel.
            unsafe {
                match (whole && corner.columns == 1, whole && corner.rows == 1) {
                    (true, _) => put(by_lane(corner), left, to, step),
                    (_, true) => put(by_pair(corner), !left, to, step),
                    _ => put(rest(corner, count.min(SIDE), terms.min(2 * SIDE)), left, to, step),
                }
            }
        }
    }
}

/// Bits of pairs, in which nothing is computed.
type Square = [[f32; SIDE]; SIDE];

/// Writes the rows of a square, or its columns as rows, `step` apart.
///
/// # Safety
/// There is room for them, on a processor with these instructions.
#[target_feature(enable = "avx2,fma")]
#[inline]
unsafe fn put(square: Square, straight: bool, to: *mut f32, step: usize) {
    // SAFETY: the caller's promise.
    unsafe {
        if !straight {
            return avx2::turn(&square, SIDE, to, step);
        }
        for (i, row) in square.into_iter().enumerate() {
            to.add(i * step).cast::<[f32; SIDE]>().write_unaligned(row);
        }
    }
}

/// A square whose lanes are rows, of a factor whose terms are contiguous.
///
/// # Safety
/// Its elements may be read.
#[inline(always)]
unsafe fn by_lane(corner: Matrix<bf16>) -> Square {
    // SAFETY: the terms of a lane.
    std::array::from_fn(|i| unsafe { corner.from(i, 0).ptr.cast::<[f32; SIDE]>().read_unaligned() })
}

/// A square whose pairs are rows, of a factor whose lanes are contiguous.
///
/// # Safety
/// Its elements may be read, on a processor with these instructions.
#[target_feature(enable = "avx2,fma")]
#[inline]
unsafe fn by_pair(corner: Matrix<bf16>) -> Square {
    let mut square = [[0f32; SIDE]; SIDE];
    for (p, row) in square.iter_mut().enumerate() {
        // SAFETY: two terms of these lanes, and a row.
        unsafe { avx2::interleave([2 * p, 2 * p + 1].map(|l| corner.from(0, l).ptr.cast_const()), row) };
    }
    square
}

/// A square whose lanes are rows, with zeros beyond so many lanes and terms.
///
/// # Safety
/// Its elements may be read.
#[cold]
unsafe fn rest(corner: Matrix<bf16>, lanes: usize, terms: usize) -> Square {
    let mut square = [[0f32; SIDE]; SIDE];
    for (i, row) in square[..lanes].iter_mut().enumerate() {
        for (p, pair) in row[..terms.div_ceil(2)].iter_mut().enumerate() {
            // SAFETY: an element.
            let term = |l: usize| if l < terms { unsafe { corner.from(i, l).ptr.read() }.to_bits() } else { 0 };
            *pair = bits(term(2 * p), term(2 * p + 1));
        }
    }
    square
}

/// Two terms as a pair.
#[inline(always)]
fn bits(first: u16, second: u16) -> f32 {
    f32::from_bits(u32::from(first) | u32::from(second) << 16)
}

#[cfg(test)]
#[cfg(not(miri))]
mod tests {
    use super::*;

    /// Panels of either side hold the pairs of lanes as kernels read them, whichever axis of the factor is contiguous,
    /// and zeros where it ends.
    #[test]
    fn panels_hold_pairs() {
        if Level::detect() < Level::V3 {
            return;
        }
        for (lanes, terms) in [(1, 1), (7, 33), (32, 32), (40, 64), (70, 75), (64, 16)] {
            for (rows, columns) in [(terms, 1), (1, lanes), (2 * terms, 2)] {
                let elements: Vec<bf16> = (0..2 * lanes * terms).map(|i| bf16::from_bits((i * 7 + 1) as u16)).collect();
                let ptr = elements.as_ptr().cast_mut();
                let factor = Pairs { matrix: Matrix { ptr, rows: rows as isize, columns: columns as isize }, terms };
                let pairs = terms.div_ceil(2).next_multiple_of(TERMS);
                for side in [Side::Left, Side::Right] {
                    let mut panels = vec![Pair(u32::MAX); lanes.next_multiple_of(WIDTH) * pairs];
                    let to = Panels { side, ptr: panels.as_mut_ptr(), width: WIDTH, pitch: WIDTH * pairs };
                    // SAFETY: the factor lies in the vector, and the panels have room for it.
                    unsafe { factor.pack(0..lanes, 0..pairs, to) };
                    for lane in 0..lanes.next_multiple_of(WIDTH) {
                        for pair in 0..pairs {
                            let term = |l: usize| {
                                let within = lane < lanes && l < terms;
                                if within { u32::from(elements[lane * rows + l * columns].to_bits()) } else { 0 }
                            };
                            let at = match side {
                                Side::Left => pair / TERMS * LEFT + lane % WIDTH * TERMS + pair % TERMS,
                                Side::Right => pair * WIDTH + lane % WIDTH,
                            };
                            let given = panels[lane / WIDTH * WIDTH * pairs + at].0;
                            let wanted = term(2 * pair) | term(2 * pair + 1) << 16;
                            assert_eq!(given, wanted, "{lanes} x {terms} by {rows}, {columns}: {lane}, {pair}");
                        }
                    }
                }
            }
        }
    }
}
