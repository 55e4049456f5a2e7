//! Indices that come from data: read back and checked before a kernel uses them.

use super::fold;
use crate::raise::raise;
use crate::tensor::{Raw, launch};
use cotangent_hal::{Arg, DType, Error, Scalar};

cotangent_hal::kernel! {
    /// The first element outside of `0..n`, or 0.
    static OUTSIDE = Rows "index" (x: Each I64; n) -> (y: PerRow I64) |tile| {
        let n = n.i64();
        let bad = x.iter().fold(0, |bad, &v| bad | u64::from(v as u64 >= n as u64));
        y[0] = if bad == 0 { 0 } else { x.iter().copied().find(|&v| v as u64 >= n as u64).unwrap_or(0) };
    }
}

/// Raises `Error::Argument` where an element of `ids` is not in `0..n`; `what` and `of` name the element and the extent.
#[track_caller]
pub(crate) fn check(op: &str, ids: &Raw, n: usize, what: &str, of: &str) {
    if ids.numel() == 0 {
        return;
    }
    let rows = fold::any_rows(ids);
    let found = Raw::empty(&ids.device, DType::I64, &rows.shape[..rows.shape.len() - 1]);
    let limit = Arg::Scalar(Scalar::Int(n as i64));
    launch(&ids.device, &OUTSIDE, &rows.shape, &[Arg::In(rows.view()), Arg::Out(found.view()), limit]);
    let mut bytes = vec![0; found.numel() * DType::I64.size()];
    found.read_into(&mut bytes);
    for chunk in bytes.chunks_exact(8) {
        let id = chunk.iter().rev().fold(0u64, |id, &byte| id << 8 | u64::from(byte)) as i64;
        if id as u64 >= n as u64 {
            let message = format!("the {what} {id} is out of range: {of} is {n}, expected 0 <= {what} < {n}");
            raise(Error::Argument { op: op.into(), message });
        }
    }
}
