//! The running sum of floats.

use crate::ops::fold::{BLOCK, blocks_of};
use crate::ops::turn::Turn;
use crate::tensor::{Raw, launch};
use cotangent_hal::{Arg, Kernel};

cotangent_hal::kernel! {
    static CUMSUM = Rows "cumsum" (x: Each F32) -> (y: Each F32) |tile| {
        let mut sum = 0.0;
        for i in 0..tile.1 {
            sum += f64::from(x[i]);
            y[i] = sum as Real;
        }
    }
}

cotangent_hal::kernel! {
    /// The total of each block, its rounding error apart.
    static TOTALS = Rows "cumsum" (x: Each F32) -> (high: PerRow F32, low: PerRow F32) |tile| {
        let mut parts = [0.0f64; 16];
        let (chunks, rest) = x.as_chunks::<16>();
        for chunk in chunks {
            for l in 0..16 {
                parts[l] += f64::from(chunk[l]);
            }
        }
        let total = parts.iter().sum::<f64>() + rest.iter().map(|&v| f64::from(v)).sum::<f64>();
        high[0] = total as Real;
        low[0] = (total - f64::from(high[0])) as Real;
    }
}

cotangent_hal::kernel! {
    /// What stands before each block, its rounding error apart.
    static STARTS = Rows "cumsum" (x: Each F32, e: Each F32) -> (high: Each F32, low: Each F32) |tile| {
        let mut sum = 0.0;
        for i in 0..tile.1 {
            high[i] = sum as Real;
            low[i] = (sum - f64::from(high[i])) as Real;
            sum += f64::from(x[i]) + f64::from(e[i]);
        }
    }
}

cotangent_hal::kernel! {
    static CUMSUM_FROM = Rows "cumsum" (x: Each F32, high: PerRow F32, low: PerRow F32) -> (y: Each F32) |tile| {
        let mut sum = f64::from(high[0]) + f64::from(low[0]);
        for i in 0..tile.1 {
            sum += f64::from(x[i]);
            y[i] = sum as Real;
        }
    }
}

/// The running sum along the axis of `turn`, or from its end back.
#[track_caller]
pub(super) fn cumsum(turn: Turn, x: &Raw, back: bool) -> Raw {
    let rows = turn.to_rows(x.clone());
    let out = turn.empty(&rows, x.dtype, &rows.shape);
    let seen = |raw: &Raw| if back { reversed(raw) } else { raw.clone() };
    if rows.numel() > 0 {
        scan(&seen(&rows), &seen(&out));
    }
    turn.back(out)
}

/// Rows from their end.
fn reversed(rows: &Raw) -> Raw {
    let last = rows.shape.len() - 1;
    let mut strides = rows.strides;
    let step = strides[last];
    strides[last] = -step;
    let reach = (rows.shape[last].max(1) - 1) as isize * step;
    Raw { strides, offset: rows.offset.wrapping_add_signed(reach), ..rows.clone() }
}

fn scan(x: &Raw, y: &Raw) {
    let last = x.shape.len() - 1;
    let (count, n) = (x.shape[..last].iter().product::<usize>(), x.shape[last]);
    if count >= 16 || n < 4 * BLOCK || last > 6 {
        return run(&CUMSUM, x, &[x], &[y]);
    }
    let (blocks, rest) = (n / BLOCK, n % BLOCK);
    let mut shape = x.shape;
    shape[last] = blocks + usize::from(rest > 0);
    let [high, low, start, error] = [(); 4].map(|()| Raw::empty(&x.device, x.dtype.compute(), &shape));
    let whole = |raw: &Raw| raw.clone().slice(last, 0, blocks);
    let (x_blocks, y_blocks) = (blocks_of(x, blocks), blocks_of(y, blocks));
    run(&TOTALS, &x_blocks, &[&x_blocks], &[&whole(&high), &whole(&low)]);
    // The total of the last block, if it is a part, is nobody's start.
    run(&STARTS, &high, &[&high, &low], &[&start, &error]);
    run(&CUMSUM_FROM, &x_blocks, &[&x_blocks, &whole(&start), &whole(&error)], &[&y_blocks]);
    if rest > 0 {
        let tail = |raw: &Raw| raw.clone().slice(last, n - rest, rest);
        let only = |raw: &Raw| raw.clone().slice(last, blocks, 1).remove_axis(last);
        run(&CUMSUM_FROM, &tail(x), &[&tail(x), &only(&start), &only(&error)], &[&tail(y)]);
    }
}

fn run(kernel: &'static Kernel, over: &Raw, ins: &[&Raw], outs: &[&Raw]) {
    let args = ins.iter().map(|x| Arg::In(x.view())).chain(outs.iter().map(|y| Arg::Out(y.view())));
    launch(&over.device, kernel, &over.shape, &args.collect::<Vec<_>>());
}
