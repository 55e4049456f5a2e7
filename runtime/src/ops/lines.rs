//! Values put back at places along rows: the cotangents of operations that choose elements.

use super::turn::Turn;
use crate::tensor::{Raw, launch};
use cotangent_hal::{Arg, Scalar};

cotangent_hal::kernel! {
    static PUT = Rows "put" (ct: Whole F32, at: Whole I64; k) -> (dx: Each F32) |tile| {
        let k = k.i64() as usize;
        let row = tile.0 * k..(tile.0 + 1) * k;
        dx.fill(0.0);
        for (&ct, &at) in ct[row.clone()].iter().zip(&at[row]) {
            dx[at as usize] += ct;
        }
    }
}

/// A tensor of `extent` along an axis, 0 but for the values `ct` added up at their places `at` along it, in their order.
#[track_caller]
pub(super) fn put(turn: Turn, ct: Raw, at: &Raw, extent: usize) -> Raw {
    let (ct, at) = (turn.to_rows(ct), turn.to_rows(at.clone()));
    let last = ct.shape.len() - 1;
    let mut rows = ct.shape;
    rows[last] = extent;
    let out = turn.empty(&ct, ct.dtype, &rows);
    if out.numel() > 0 {
        let k = Arg::Scalar(Scalar::Int(ct.shape[last] as i64));
        launch(&out.device, &PUT, &rows, &[Arg::In(ct.view()), Arg::In(at.view()), Arg::Out(out.view()), k]);
    }
    turn.back(out)
}
