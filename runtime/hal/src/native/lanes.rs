//! Reductions for kernel bodies, in 64 lanes and a fixed tree.
//!
//! A plain `iter().sum()` is never vectorised, since that would reorder the additions. Here element `i` is folded into
//! lane `i % 64`, and the lanes are folded in halves: an order that depends on the length alone, so that AVX2 and
//! AVX-512 give the same bits. All are generic over `f32` and `f64`.

use super::Float;
use super::scalar::{Number, maximum};

/// The number of partial results.
pub const LANES: usize = 64;

/// Below this length elements are folded one after another: setting up lanes would take longer.
const SHORT: usize = 16;

/// Folds `x` into lanes that start at `start`, each by `step(lane, element)`, and the lanes by `join`.
#[inline(always)]
pub fn fold1<T: Float>(x: &[T], start: T, step: impl Fn(T, T) -> T, join: impl Fn(T, T) -> T) -> T {
    if x.len() < SHORT {
        return x.iter().fold(start, |s, &x| step(s, x));
    }
    let mut lanes = [start; LANES];
    let (chunks, rest) = x.as_chunks::<LANES>();
    for x in chunks {
        for l in 0..LANES {
            lanes[l] = step(lanes[l], x[l]);
        }
    }
    if !rest.is_empty() {
        let (x, n) = (padded(rest), rest.len());
        for l in 0..LANES {
            lanes[l] = if l < n { step(lanes[l], x[l]) } else { lanes[l] };
        }
    }
    tree(lanes, join)
}

/// Folds two slices of one length into lanes by `step(lane, x, y)`, and the lanes by `join`.
#[inline(always)]
pub fn fold2<T: Float>(x: &[T], y: &[T], start: T, step: impl Fn(T, T, T) -> T, join: impl Fn(T, T) -> T) -> T {
    let y = &y[..x.len()];
    if x.len() < SHORT {
        return x.iter().zip(y).fold(start, |s, (&x, &y)| step(s, x, y));
    }
    let mut lanes = [start; LANES];
    let (chunks, rest) = x.as_chunks::<LANES>();
    let (y_chunks, y_rest) = y.as_chunks::<LANES>();
    for (x, y) in chunks.iter().zip(y_chunks) {
        for l in 0..LANES {
            lanes[l] = step(lanes[l], x[l], y[l]);
        }
    }
    if !rest.is_empty() {
        let (x, y, n) = (padded(rest), padded(y_rest), rest.len());
        for l in 0..LANES {
            lanes[l] = if l < n { step(lanes[l], x[l], y[l]) } else { lanes[l] };
        }
    }
    tree(lanes, join)
}

/// Folds three slices of one length into lanes by `step(lane, x, y, z)`, and the lanes by `join`.
#[inline(always)]
pub fn fold3<T: Float>(
    x: &[T],
    y: &[T],
    z: &[T],
    start: T,
    step: impl Fn(T, T, T, T) -> T,
    join: impl Fn(T, T) -> T,
) -> T {
    let (y, z) = (&y[..x.len()], &z[..x.len()]);
    if x.len() < SHORT {
        return x.iter().zip(y).zip(z).fold(start, |s, ((&x, &y), &z)| step(s, x, y, z));
    }
    let mut lanes = [start; LANES];
    let (chunks, rest) = x.as_chunks::<LANES>();
    let (y_chunks, y_rest) = y.as_chunks::<LANES>();
    let (z_chunks, z_rest) = z.as_chunks::<LANES>();
    for ((x, y), z) in chunks.iter().zip(y_chunks).zip(z_chunks) {
        for l in 0..LANES {
            lanes[l] = step(lanes[l], x[l], y[l], z[l]);
        }
    }
    if !rest.is_empty() {
        let (x, y, z, n) = (padded(rest), padded(y_rest), padded(z_rest), rest.len());
        for l in 0..LANES {
            lanes[l] = if l < n { step(lanes[l], x[l], y[l], z[l]) } else { lanes[l] };
        }
    }
    tree(lanes, join)
}

/// The sum, 0 where empty.
#[inline(always)]
pub fn sum<T: Float>(x: &[T]) -> T {
    fold1(x, T::ZERO, |s, x| s + x, |a, b| a + b)
}

/// The sum of `f(x)`.
#[inline(always)]
pub fn sum1<T: Float>(x: &[T], f: impl Fn(T) -> T) -> T {
    fold1(x, T::ZERO, |s, x| s + f(x), |a, b| a + b)
}

/// The sum of `f(x, y)` over two slices of one length.
#[inline(always)]
pub fn sum2<T: Float>(x: &[T], y: &[T], f: impl Fn(T, T) -> T) -> T {
    fold2(x, y, T::ZERO, |s, x, y| s + f(x, y), |a, b| a + b)
}

/// The sum of `f(x, y, z)` over three slices of one length.
#[inline(always)]
pub fn sum3<T: Float>(x: &[T], y: &[T], z: &[T], f: impl Fn(T, T, T) -> T) -> T {
    fold3(x, y, z, T::ZERO, |s, x, y, z| s + f(x, y, z), |a, b| a + b)
}

/// The sum of `x y` over two slices of one length.
#[inline(always)]
pub fn dot<const FMA: bool, T: Float>(x: &[T], y: &[T]) -> T {
    fold2(x, y, T::ZERO, |s, x, y| x.fma::<FMA>(y, s), |a, b| a + b)
}

/// The largest number, `-inf` where there is none; NaN is skipped.
///
/// For a value that is only subtracted before an `exp`, where NaN comes back by itself.
#[inline(always)]
pub fn max<T: Float>(x: &[T]) -> T {
    fold1(x, T::NEG_INFINITY, larger, larger)
}

/// The largest number, `-inf` where there is none, NaN where one is NaN.
#[inline(always)]
pub fn max_or_nan<T: Float + Number>(x: &[T]) -> T {
    fold1(x, T::NEG_INFINITY, maximum, maximum)
}

#[inline(always)]
fn larger<T: Float>(a: T, b: T) -> T {
    if b > a { b } else { a }
}

/// The last elements in a full set of lanes, so that they are folded by the same vector instructions.
#[inline(always)]
fn padded<T: Float>(rest: &[T]) -> [T; LANES] {
    let mut all = [T::ZERO; LANES];
    all[..rest.len()].copy_from_slice(rest);
    all
}

/// Folds the lanes in halves.
#[inline(always)]
fn tree<T: Float>(mut lanes: [T; LANES], join: impl Fn(T, T) -> T) -> T {
    for l in 0..32 {
        lanes[l] = join(lanes[l], lanes[l + 32]);
    }
    for l in 0..16 {
        lanes[l] = join(lanes[l], lanes[l + 16]);
    }
    for l in 0..8 {
        lanes[l] = join(lanes[l], lanes[l + 8]);
    }
    for l in 0..4 {
        lanes[l] = join(lanes[l], lanes[l + 4]);
    }
    join(join(lanes[0], lanes[2]), join(lanes[1], lanes[3]))
}
