//! Indices that come from data: read back and checked before a kernel uses them.

use super::fold;
use crate::raise::raise;
use crate::tensor::{Dims, Raw, launch};
use cotangent_hal::{Arg, DType, Error, Scalar};

cotangent_hal::kernel! {
    /// The first element outside of `0..n`, or 0.
    static OUTSIDE = Rows "index" (x: Each I64; n) -> (y: PerRow I64) |tile| {
        let n = n.i64();
        let bad = x.iter().fold(0, |bad, &v| bad | u64::from(v as u64 >= n as u64));
        y[0] = if bad == 0 { 0 } else { x.iter().copied().find(|&v| v as u64 >= n as u64).unwrap_or(0) };
    }
}

cotangent_hal::kernel! {
    /// The first element outside of `0..n` that is not `skipped`, or `skipped`; and the number of those in `0..n`.
    static OUTSIDE_BUT = Rows "index" (x: Each I64; n, skipped) -> (y: PerRow I64, inside: PerRow I64) |tile| {
        let (n, skipped) = (n.i64() as u64, skipped.i64());
        inside[0] = x.iter().fold(0, |count, &v| count + i64::from((v as u64) < n));
        let gone = x.iter().fold(0, |count, &v| count + i64::from(v == skipped));
        let bad = |v: i64| v as u64 >= n && v != skipped;
        let whole = inside[0] + gone == tile.1 as i64;
        y[0] = if whole { skipped } else { x.iter().copied().find(|&v| bad(v)).unwrap_or(skipped) };
    }
}

/// Raises `Error::Argument` where an element of `ids` is not in `0..n`; `what` and `of` name the element and the extent.
#[track_caller]
pub(crate) fn check(op: &str, ids: &Raw, n: usize, what: &str, of: &str) {
    if ids.numel() == 0 {
        return;
    }
    let rows = fold::any_rows(&distinct(ids));
    let found = Raw::empty(&ids.device, DType::I64, &rows.shape[..rows.shape.len() - 1]);
    let limit = Arg::Scalar(Scalar::Int(n as i64));
    launch(&ids.device, &OUTSIDE, &rows.shape, &[Arg::In(rows.view()), Arg::Out(found.view()), limit]);
    if found.to_vec::<i64>().into_iter().any(|id| id as u64 >= n as u64) {
        let (id, place) = first(ids, |id| id as u64 >= n as u64);
        let message = format!("the {what} {id}{place} is out of range: {of} is {n}, expected 0 <= {what} < {n}");
        raise(Error::Argument { op: op.into(), message });
    }
}

/// The elements that are not repeated along an axis, as a view of no fewer axes.
fn distinct(ids: &Raw) -> Raw {
    let mut once = ids.clone();
    for axis in 0..once.shape.len() {
        if once.strides[axis] == 0 {
            once = once.slice(axis, 0, 1);
        }
    }
    once
}

/// The first element for which `bad` holds, of which there is one, and its place in words.
#[cold]
fn first(ids: &Raw, bad: impl Fn(i64) -> bool) -> (i64, String) {
    let all = ids.to_vec::<i64>();
    let at = all.iter().position(|&id| bad(id)).unwrap_or(0);
    let mut place = Dims::new();
    for (axis, stride) in ids.shape.row_major().iter().enumerate() {
        place.push("index", at / *stride as usize % ids.shape[axis]);
    }
    (all[at], if place.is_empty() { String::new() } else { format!(" at {place:?}") })
}

/// As [`check`], where `skipped`, a negative number, is allowed too: the number of elements that are not `skipped`.
#[track_caller]
pub(crate) fn count_but(op: &str, ids: &Raw, n: usize, skipped: i64, what: &str, of: &str) -> usize {
    if ids.numel() == 0 {
        return 0;
    }
    let rows = fold::any_rows(ids);
    let one_each = || Raw::empty(&ids.device, DType::I64, &rows.shape[..rows.shape.len() - 1]);
    let (found, inside) = (one_each(), one_each());
    let args = [Arg::In(rows.view()), Arg::Out(found.view()), Arg::Out(inside.view())];
    let scalars = [n as i64, skipped].map(|v| Arg::Scalar(Scalar::Int(v)));
    launch(&ids.device, &OUTSIDE_BUT, &rows.shape, &[&args[..], &scalars[..]].concat());
    if found.to_vec::<i64>().into_iter().any(|id| id != skipped) {
        let (id, place) = first(ids, |id| id as u64 >= n as u64 && id != skipped);
        let message = format!(
            "the {what} {id}{place} is out of range: {of} is {n}, expected 0 <= {what} < {n}, or {skipped} for none"
        );
        raise(Error::Argument { op: op.into(), message });
    }
    inside.to_vec::<i64>().into_iter().sum::<i64>() as usize
}
