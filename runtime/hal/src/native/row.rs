//! Reductions of any number of slices at once, in lanes: what expanded kernels call.

use super::lanes::LANES;
use cotangent_ir::philox;

/// Random words that are computed together.
pub const WORDS: usize = philox::GROUP;

/// The words of the stream `key` among which word `at` is: all whose number has the same quotient by [`WORDS`].
#[inline(always)]
pub fn words(key: i64, at: usize) -> [u32; WORDS] {
    philox::group(key as u64, (at / WORDS) as u64)
}

/// Below this length elements are folded one after another.
const SHORT: usize = 16;

/// Folds slices of one length, the first slice's, into lanes that start at `start` and hold the identity of `join`,
/// element by element, and the lanes by `join` in a fixed tree.
#[inline(always)]
pub fn fold<T: Copy, const K: usize>(
    ins: [&[T]; K],
    start: T,
    step: impl Fn(T, [T; K]) -> T,
    join: impl Fn(T, T) -> T,
) -> T {
    let n = ins.first().map_or(0, |x| x.len());
    let ins = ins.map(|x| &x[..n]);
    if n < SHORT {
        return (0..n).fold(start, |s, i| step(s, ins.map(|x| x[i])));
    }
    let mut lanes = [start; LANES];
    let parts = ins.map(|x| x.as_chunks::<LANES>());
    for c in 0..n / LANES {
        let chunks = parts.map(|(chunks, _)| &chunks[c]);
        for l in 0..LANES {
            lanes[l] = step(lanes[l], chunks.map(|x| x[l]));
        }
    }
    let left = n % LANES;
    if left > 0 {
        // Whole lanes again, so that the last elements take the same vector instructions.
        let rest = parts.map(|(_, rest)| {
            let mut all = [start; LANES];
            all[..rest.len()].copy_from_slice(rest);
            all
        });
        for l in 0..LANES {
            let next = step(lanes[l], rest.each_ref().map(|x| x[l]));
            lanes[l] = if l < left { next } else { lanes[l] };
        }
    }
    for half in [32, 16, 8, 4, 2, 1] {
        for l in 0..half {
            lanes[l] = join(lanes[l], lanes[l + half]);
        }
    }
    lanes[0]
}
