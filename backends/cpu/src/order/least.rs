//! The least words of many, without sorting the others.

use super::element::Word;
use rayon::prelude::*;

/// Words that are kept before the superfluous are sorted out, in multiples of those that are wanted.
const KEPT: usize = 4;
const AT_LEAST: usize = 1 << 10;

/// The least `k` of `n` words, in any order, in the front of `room`, which holds `n` words. Runs on as many threads as
/// there are `parts`.
pub(super) fn least<'a, W: Word>(
    word: &(impl Fn(usize) -> W + Sync),
    n: usize,
    k: usize,
    room: &'a mut [W],
    parts: usize,
) -> &'a mut [W] {
    let part = |i: usize| of_range(word, i * n / parts..(i + 1) * n / parts, k);
    let mut found: Vec<W> =
        if parts == 1 { part(0) } else { (0..parts).into_par_iter().map(part).collect::<Vec<_>>().concat() };
    cut(&mut found, k);
    let out = &mut room[..found.len()];
    out.copy_from_slice(&found);
    out
}

fn of_range<W: Word>(word: &impl Fn(usize) -> W, range: std::ops::Range<usize>, k: usize) -> Vec<W> {
    let most = (KEPT * k).max(AT_LEAST);
    let mut kept = Vec::with_capacity(most.min(range.len()));
    // Behind all of the least so far.
    let mut limit = W::LAST;
    for i in range {
        let word = word(i);
        if word <= limit {
            kept.push(word);
            if kept.len() == most {
                limit = cut(&mut kept, k).unwrap_or(limit);
            }
        }
    }
    cut(&mut kept, k);
    kept
}

/// Leaves the least `k` words, and gives the last of them where others were left out.
fn cut<W: Word>(words: &mut Vec<W>, k: usize) -> Option<W> {
    if words.len() <= k {
        return None;
    }
    let last = if k > 0 { Some(*words.select_nth_unstable(k - 1).1) } else { None };
    words.truncate(k);
    last
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_least() {
        for (n, k) in [(1, 1), (10, 0), (3000, 7), (20_000, 700), (9000, 2000)] {
            let word = |i: usize| u64::new((i as u32).wrapping_mul(2_654_435_761) >> 24, i as u32);
            let mut want: Vec<u64> = (0..n).map(word).collect();
            want.sort_unstable();
            for parts in [1, 3] {
                let mut room = vec![0; n];
                let found = least(&word, n, k, &mut room, parts);
                found.sort_unstable();
                assert!(found == &want[..k], "{k} of {n}");
            }
        }
    }
}
