//! Means of windows.
//!
//! A row of windows is first summed along its columns, where elements lie one after another, and backwards spread over
//! them last.

use super::axis::Axis;
use super::plan::Pool;
use crate::tensor::{Raw, launch};
use cotangent_hal::native::Float;
use cotangent_hal::{Arg, Scalar, kernel};

/// What the sum over a window is divided by.
#[derive(Clone, Copy)]
pub(super) enum Divisor {
    /// The elements of the window.
    Elements,
    /// The places of the window, those of the padding too.
    Places,
    /// A number.
    Number(usize),
}

impl Divisor {
    fn scalar(self) -> Scalar {
        Scalar::Int(match self {
            Divisor::Elements => 0,
            Divisor::Places => -1,
            Divisor::Number(n) => i64::try_from(n).unwrap_or(i64::MAX),
        })
    }
}

kernel! {
    /// The mean of each window.
    static AVG = Rows "avg_pool" (x: Whole F32; h, oh, kh, sh, ph, dh, w, ow, kw, sw, pw, dw, by) -> (y: Part F32) |tile| {
        let axes = [Axis::of([h, oh, kh, sh, ph, dh]), Axis::of([w, ow, kw, sw, pw, dw])];
        means(x, y, tile.2, axes, by.i64(), |n| 1.0 / n as Real);
    }
}
kernel! {
    /// The cotangent of each window shared out among its elements.
    static BACK = Rows "avg_pool" (ct: Whole F32; h, oh, kh, sh, ph, dh, w, ow, kw, sw, pw, dw, by) -> (dx: Part F32) |tile| {
        let axes = [Axis::of([h, oh, kh, sh, ph, dh]), Axis::of([w, ow, kw, sw, pw, dw])];
        shares(ct, dx, tile.2, axes, by.i64(), |n| 1.0 / n as Real);
    }
}

/// The mean of each window.
#[track_caller]
pub(super) fn values(pool: &Pool, x: &Raw, divisor: Divisor) -> Raw {
    let (x, y) = (pool.planes(x), pool.empty(x, x.dtype));
    run(&AVG, pool, &x, &y, divisor);
    pool.finish(y)
}

/// The cotangent of the operand.
#[track_caller]
pub(super) fn pull(pool: &Pool, ct: Raw, divisor: Divisor) -> Raw {
    let ct = pool.planes_of_result(ct);
    let dx = pool.empty_operand(&ct);
    run(&BACK, pool, &ct, &dx, divisor);
    pool.finish_operand(dx)
}

#[track_caller]
fn run(kernel: &'static cotangent_hal::Kernel, pool: &Pool, from: &Raw, to: &Raw, divisor: Divisor) {
    if from.numel() == 0 {
        to.fill(Scalar::Int(0));
    } else if to.numel() > 0 {
        let (tensors, by) = ([Arg::In(from.view()), Arg::Out(to.view())], [Arg::Scalar(divisor.scalar())]);
        launch(&from.device, kernel, &[1], &[&tensors[..], &pool.scalars(), &by].concat());
    }
}

/// One over the divisor of a window, given that of its row and its column.
#[inline(always)]
fn counted([rows, columns]: [Axis; 2], [i, j]: [usize; 2], by: i64) -> usize {
    match by {
        0 => rows.places(i).len() * columns.places(j).len(),
        -1 => rows.padded(i) * columns.padded(j),
        n => n as usize,
    }
}

#[inline(always)]
fn means<T: Float>(x: &[T], y: &mut [T], part: usize, axes: [Axis; 2], by: i64, one_over: impl Fn(usize) -> T) {
    let [rows, columns] = axes;
    let (size, output) = (rows.size * columns.size, rows.output * columns.output);
    let mut sums = vec![T::ZERO; columns.size];
    for (x, y) in x[part * size..].chunks_exact(size).zip(y.chunks_exact_mut(output)) {
        for (i, y) in y.chunks_exact_mut(columns.output).enumerate() {
            sums.fill(T::ZERO);
            for row in rows.places(i).iter() {
                for (sum, &x) in sums.iter_mut().zip(&x[row * columns.size..]) {
                    *sum = *sum + x;
                }
            }
            for (j, y) in y.iter_mut().enumerate() {
                let sum = columns.places(j).iter().fold(T::ZERO, |sum, column| sum + sums[column]);
                *y = sum * one_over(counted(axes, [i, j], by));
            }
        }
    }
}

#[inline(always)]
fn shares<T: Float>(ct: &[T], dx: &mut [T], part: usize, axes: [Axis; 2], by: i64, one_over: impl Fn(usize) -> T) {
    let [rows, columns] = axes;
    let (size, output) = (rows.size * columns.size, rows.output * columns.output);
    let mut sums = vec![T::ZERO; columns.size];
    for (ct, dx) in ct[part * output..].chunks_exact(output).zip(dx.chunks_exact_mut(size)) {
        for (i, ct) in ct.chunks_exact(columns.output).enumerate() {
            sums.fill(T::ZERO);
            for (j, &ct) in ct.iter().enumerate() {
                let share = ct * one_over(counted(axes, [i, j], by));
                for column in columns.places(j).iter() {
                    sums[column] = sums[column] + share;
                }
            }
            for row in rows.places(i).iter() {
                for (dx, &sum) in dx[row * columns.size..].iter_mut().zip(&sums) {
                    *dx = *dx + sum;
                }
            }
        }
    }
}
