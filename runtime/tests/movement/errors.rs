//! What movement says of a mistake.

use crate::numbered;
use cotangent_runtime::ops::{Entry, NEW, PadMode, hstack, meshgrid};
use cotangent_runtime::{Device, Tensor, attempt, s};

#[track_caller]
fn error<T>(f: impl FnOnce() -> T, expected: &str) {
    match attempt(f) {
        Ok(_) => panic!("expected the error `{expected}`"),
        Err(error) => assert_eq!(error.to_string(), expected),
    }
}

fn x() -> Tensor {
    numbered(&[2, 3])
}

#[test]
fn of_orders_and_copies() {
    error(|| x().flip(2), "flip: axis 2 was given, but [2, 3] has the axes -2 to 1");
    error(|| x().roll([1, 2], 0), "roll: 2 shifts [1, 2] were given for 1 axes [0]");
    error(|| x().movedim([0, 1], 0), "movedim: 2 axes [0, 1] cannot become 1 axes [0]");
    error(|| x().rot90(1, 0), "rot90: the axes are [0], expected two");
    error(|| x().repeat([2]), "repeat: [2] are 1 numbers for the axes of [2, 3]");
    let all = usize::MAX;
    let copies = format!("repeat_interleave: {all} copies of axis 0 of [2, 3] are more elements than any memory holds");
    error(|| x().repeat_interleave(0, all), &copies);
    let copies = format!("tile: {} copies of axis 1 of [0, 3] are more elements than any memory holds", all / 2);
    error(|| numbered(&[0, 3]).tile([1, all / 2]), &copies);
    error(|| x().unflatten(1, [2, 2]), "unflatten: [3] has 3 elements, which do not fill [2, 2]");
    error(|| x().squeeze([0]), "squeeze: axis 0 of [2, 3] is 2, expected 1");
    error(|| x().chunk(0, 0), "chunk: 0 parts of axis 0 of [2, 3] were asked for, expected at least 1");
    let counts = |values: &[i64]| Tensor::from_slice(values, [values.len()], &Device::cpu());
    error(
        || x().repeat_interleave_each(0, counts(&[1])),
        "repeat_interleave_each: the counts are [1], expected [2] for axis 0 of [2, 3]",
    );
    error(
        || x().unfold(1, 4, 1),
        "unfold: windows of 4, 1 apart, do not fit axis 1 of [2, 3], expected a size of at most the extent and a step \
         of at least 1",
    );
    error(|| meshgrid([x()]), "meshgrid: tensor 0 is [2, 3], expected a vector");
    error(
        || hstack([x(), numbered(&[3, 3])]),
        "hstack: tensor 1 is [3, 3] and tensor 0 is [2, 3], expected equal extents but for axis 1",
    );
}

#[test]
fn of_matrices_and_borders() {
    error(|| numbered(&[3]).tril(0), "tril: [3] has 1 axes, expected at least 2");
    error(|| x().diagonal(0, 1, -1), "diagonal: axis 1 of [2, 3] was given for rows and columns, expected two axes");
    error(|| numbered(&[2, 2, 2]).diag(0), "diag: [2, 2, 2] has 3 axes, expected a vector or a matrix");
    error(|| numbered(&[]).diag_embed(0, 0, 1), "diag_embed: a scalar was given, expected at least one axis");
    error(|| numbered(&[3]).diag_embed(0, 0, 2), "diag_embed: the axes 0 and 2 were given, but the result has 2 axes");
    error(|| numbered(&[3]).trace(), "trace: [3] has 1 axes, expected a matrix");
    error(|| x().pad([1], 0.0), "pad: 1 widths were given, expected pairs for at most 2 axes of [2, 3]");
    error(|| x().pad([-2, -2], 0.0), "pad: the widths [-2, -2] take away more than axis 1 of [2, 3] has");
    error(
        || x().pad_with([3, 0], PadMode::Reflect),
        "pad_with: the widths [3, 0] need more elements than axis 1 of [2, 3] has",
    );
}

#[test]
fn of_slices() {
    error(
        || x().slice(s![0, 1, 2]),
        "slice: 3 axes and 0 ellipses were given, but [2, 3] has 2 axes, expected at most as many and one ellipsis",
    );
    error(|| x().slice(s![.., 3]), "slice: entry 3 was given, but axis 1 of [2, 3] has 3 entries");
    error(|| x().slice(s![..;0]), "slice: axis 0 of [2, 3] was given the step 0, expected another");
    error(|| Entry::At(1).step(2), "slice: At(1) was given the step 2, but only a range takes one");
    error(|| x().slice([NEW; 7]), "slice: 9 axes, but a tensor has at most 8");
    error(|| x().select(0, -3), "select: entry -3 was given, but axis 0 of [2, 3] has 2 entries");
    error(
        || x().slice_assign(s![0], numbered(&[2])),
        "slice_assign: [2] does not expand to [3]: axis 0 is 2, expected 1 or 3",
    );
}
