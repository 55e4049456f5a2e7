//! Sorting words by the bytes of their keys, lowest first: each pass is stable, and places are in order at first.
#![allow(unsafe_code, reason = "threads write to places of their own that lie in between each other")]

use super::element::Word;
use rayon::prelude::*;
use std::ops::Range;

/// Below this many words comparing them is faster.
const FEW: usize = 1 << 10;
const DIGITS: usize = 256;

type Counts = [u32; DIGITS];

/// A pointer that threads share, each for places of its own.
struct Shared<W>(*mut W);

// SAFETY: those who write through it say why no two threads write to one place.
unsafe impl<W> Sync for Shared<W> {}

/// Sorts words, whose places ascend at first, with `spare` as room for as many; gives the one of both that is sorted.
/// Runs on as many threads as there are `parts`.
pub(super) fn sort<'a, W: Word>(words: &'a mut [W], spare: &'a mut [W], parts: usize) -> &'a mut [W] {
    if words.len() < FEW {
        words.sort_unstable();
        return words;
    }
    let (mut from, mut to) = (words, spare);
    for digit in 0..W::BYTES {
        if pass(from, to, digit, parts) {
            std::mem::swap(&mut from, &mut to);
        }
    }
    from
}

/// Sorts by one byte into `to`, or says that all words have the same.
fn pass<W: Word>(from: &[W], to: &mut [W], digit: usize, parts: usize) -> bool {
    let n = from.len();
    let range = |part: usize| -> Range<usize> { part * n / parts..(part + 1) * n / parts };
    let count = |part: usize| {
        // In turns, so that a run of one byte does not wait for its own count.
        let mut counts = [[0u32; DIGITS]; 2];
        let (pairs, rest) = from[range(part)].as_chunks::<2>();
        for [a, b] in pairs {
            counts[0][a.digit(digit)] += 1;
            counts[1][b.digit(digit)] += 1;
        }
        rest.iter().for_each(|w| counts[0][w.digit(digit)] += 1);
        let [mut sum, other] = counts;
        sum.iter_mut().zip(other).for_each(|(sum, other)| *sum += other);
        sum
    };
    let mut starts: Vec<Counts> =
        if parts == 1 { vec![count(0)] } else { (0..parts).into_par_iter().map(count).collect() };
    if (0..DIGITS).any(|d| starts.iter().map(|counts| counts[d] as usize).sum::<usize>() == n) {
        return false;
    }
    let mut next = 0;
    for d in 0..DIGITS {
        for counts in &mut starts {
            next += std::mem::replace(&mut counts[d], next);
        }
    }
    assert!(to.len() >= n, "there is room for all words");
    let target = Shared(to.as_mut_ptr());
    let move_part = |(part, starts): (usize, &mut Counts)| {
        let target = &target;
        for &word in &from[range(part)] {
            let start = &mut starts[word.digit(digit)];
            // SAFETY: the starts of all parts and bytes lie apart by the numbers of words that were counted, `n` in all,
            // so that each place below `n` is written once.
            unsafe { target.0.add(*start as usize).write(word) };
            *start += 1;
        }
    };
    if parts == 1 {
        starts.iter_mut().enumerate().for_each(move_part);
    } else {
        starts.par_iter_mut().enumerate().for_each(move_part);
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check<W: Word + std::fmt::Debug>(n: usize, key: impl Fn(u64) -> W::Key) {
        let mut seed = 7u64;
        let words: Vec<W> = (0..n)
            .map(|i| {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                W::new(key(seed >> 20), i as u32)
            })
            .collect();
        let mut want = words.clone();
        want.sort_unstable();
        for parts in [1, 2, 5] {
            let (mut from, mut spare) = (words.clone(), words.clone());
            assert!(sort(&mut from, &mut spare, parts) == want, "{n} words in {parts} parts");
        }
    }

    #[test]
    fn sorts_as_comparing_does() {
        for n in if cfg!(miri) { vec![0, 1, 1030] } else { vec![0, 1, 5, 1023, 1024, 5000, 70_001] } {
            check::<u64>(n, |v| v as u32);
            check::<u64>(n, |v| v as u32 % 3);
            check::<u64>(n, |_| 9);
            check::<u128>(n, |v| v << 13);
        }
    }
}
