//! Every rule: what it proves, what it leaves open, what it refuses and in which words.

use super::*;
use crate::shape::rules::*;

fn axis(axis: i64) -> Plain {
    Plain::dim(l(axis))
}

fn list(dims: &[Dim]) -> Plain {
    Plain::list(dims)
}

#[test]
fn same_keeps_the_shape() {
    assert_eq!(say("relu", same(&[rest(&[C])], &[], 0)), "= [R.., C]");
    assert_eq!(say("relu", same(&[Shape::UNKNOWN], &[], 0)), "? [?]");
    assert_eq!(say("relu", same(&[], &[], 0)), "? [?]");
}

#[test]
fn broadcast_takes_equal_axes_and_the_number_1() {
    let cases: &[(Shape, Shape, &str)] = &[
        (of(&[B, T, C]), of(&[B, T, C]), "= [B, T, C]"),
        (of(&[B, T, C]), of(&[C]), "= [B, T, C]"),
        (of(&[B, l(1), C]), of(&[T, C]), "= [B, T, C]"),
        (of(&[C]), Shape::SCALAR, "= [C]"),
        (Shape::SCALAR, of(&[C]), "= [C]"),
        (of(&[B, C]), of(&[T, C]), "? [?, C]"),
        (of(&[B, C]), of(&[l(5), C]), "? [5, C]"),
        (of(&[B, ANY]), of(&[B, l(5)]), "? [B, 5]"),
        (of(&[B, ANY]), of(&[B, l(1)]), "= [B, ?]"),
        (of(&[B, C]), Shape::UNKNOWN, "? [?]"),
        (rest(&[C]), of(&[C]), "= [R.., C]"),
        (of(&[C]), rest(&[C]), "= [R.., C]"),
        (rest(&[C]), rest(&[C]), "= [R.., C]"),
        (rest(&[C]), of(&[B, T, C]), "? [.., C]"),
        (rest(&[C]), dots(&[C]), "? [.., C]"),
        (rest(&[T, C]), rest(&[C]), "? [.., C]"),
        (of(&[B, l(256)]), of(&[B, l(128)]), "cannot broadcast [B, 256] with [B, 128]: axis 1 is 256 and 128"),
        (of(&[B, C]), of(&[C.add(l(1))]), "cannot broadcast [B, C] with [C + 1]: axis -1 is C and C + 1"),
        (rest(&[l(3)]), of(&[T, l(4)]), "cannot broadcast [R.., 3] with [T, 4]: axis -1 is 3 and 4"),
        (
            of(&[B, l(32), l(28), l(28)]),
            of(&[l(32)]),
            "cannot broadcast [B, 32, 28, 28] with [32]: axis -1 is 28 and 32\n\
             help: to line it up with axis 1, reshape the right operand to [32, 1, 1]",
        ),
    ];
    for (left, right, text) in cases {
        assert_eq!(say("add", broadcast(&[*left, *right], &[], 0)), *text);
    }
    let three = select(&[of(&[T, T]), of(&[B, l(1), T]), Shape::SCALAR], &[], 0);
    assert_eq!(say("select", three), "= [B, T, T]");
}

#[test]
fn prelu_takes_one_weight_or_one_a_channel() {
    let prelu = |x, weight| say("prelu", prelu(&[x, weight], &[], 0));
    assert_eq!(prelu(of(&[B, C, T]), of(&[C])), "= [B, C, T]");
    assert_eq!(prelu(of(&[B]), of(&[l(1)])), "= [B]");
    assert_eq!(prelu(of(&[B, C]), Shape::SCALAR), "= [B, C]");
    assert_eq!(prelu(of(&[B, C]), of(&[T])), "? [B, C]");
    assert_eq!(prelu(rest(&[C]), of(&[C])), "? [R.., C]");
    let text =
        "prelu: the weight is [5], but the input is [B, 3]: expected one weight, or one for each entry of axis 1";
    assert_eq!(prelu(of(&[B, l(3)]), of(&[l(5)])), text);
    assert!(prelu(of(&[B]), of(&[l(5)])).starts_with("prelu: the weight is [5]"));
}

#[test]
fn broadcast_first_keeps_the_first_shape() {
    let fill = |x, mask| say("masked_fill", broadcast_first(&[x, mask], &[], 0));
    assert_eq!(fill(of(&[B, H, T, T]), of(&[T, T])), "= [B, H, T, T]");
    assert_eq!(fill(rest(&[T, T]), of(&[T, T])), "= [R.., T, T]");
    assert_eq!(fill(of(&[B, T]), of(&[B, N])), "? [B, T]");
    assert_eq!(fill(of(&[B, T]), Shape::UNKNOWN), "? [B, T]");
    assert_eq!(
        fill(of(&[T]), of(&[B, T])),
        "masked_fill: [B, T] does not broadcast into [T], whose shape the result keeps"
    );
    assert_eq!(
        fill(of(&[l(1), T]), of(&[l(4), T])),
        "masked_fill: [4, T] does not broadcast into [1, T], whose shape the result keeps"
    );
    assert_eq!(fill(of(&[T]), of(&[T.add(l(1))])), "cannot broadcast [T] with [T + 1]: axis 0 is T and T + 1");
}

#[test]
fn matmul_contracts_the_inner_axes() {
    let product = |left, right| say("matmul", matmul(&[left, right], &[], 0));
    assert_eq!(product(of(&[B, l(784)]), of(&[l(784), l(10)])), "= [B, 10]");
    assert_eq!(product(of(&[B, T, C]), of(&[C, H])), "= [B, T, H]");
    assert_eq!(product(of(&[B, H, T, C.div(H)]), of(&[B, H, C.div(H), T])), "= [B, H, T, T]");
    assert_eq!(product(of(&[T, C]), of(&[B, C, N])), "= [B, T, N]");
    assert_eq!(product(of(&[C]), of(&[C, N])), "= [N]");
    assert_eq!(product(of(&[B, C]), of(&[C])), "= [B]");
    assert_eq!(product(of(&[C]), of(&[C])), "= []");
    assert_eq!(product(of(&[C]), of(&[B, C, N])), "= [B, N]");
    assert_eq!(product(rest(&[C]), of(&[C, N])), "= [R.., N]");
    assert_eq!(product(rest(&[T, C]), rest(&[C, N])), "= [R.., T, N]");
    assert_eq!(product(rest(&[C]), rest(&[C, N])), "? [?]");
    assert_eq!(product(Shape::UNKNOWN, of(&[C, N])), "? [.., N]");
    assert_eq!(product(of(&[B, C]), of(&[H, N])), "? [B, N]");
    assert_eq!(product(of(&[B, T, C]), of(&[N, C, H])), "? [?, T, H]");
    assert_eq!(
        product(of(&[B, l(256)]), of(&[l(128), l(10)])),
        "matmul: inner dimensions differ: [B, 256] x [128, 10]"
    );
    assert_eq!(
        product(of(&[B, l(256)]), of(&[l(10), l(256)])),
        "matmul: inner dimensions differ: [B, 256] x [10, 256]\nhelp: transpose the right operand: `transpose(-2, -1)`"
    );
    assert_eq!(product(of(&[l(2), T, C]), of(&[l(3), C, N])), "matmul: leading axes differ: [2, T, C] x [3, C, N]");
    assert_eq!(product(of(&[]), of(&[C, N])), "matmul: [] has 0 axes, expected at least 1");
}

#[test]
fn reductions_drop_axes_or_leave_1() {
    let sum = |shape, axes| say("sum", reduce(&[shape], &[axes], 0));
    let keep = |shape, axes| say("sum_keepdim", reduce_keepdim(&[shape], &[axes], 0));
    assert_eq!(sum(of(&[B, T, C]), axis(1)), "= [B, C]");
    assert_eq!(sum(of(&[B, T, C]), axis(-1)), "= [B, T]");
    assert_eq!(sum(of(&[B, T, C]), list(&[l(0), l(-1)])), "= [T]");
    assert_eq!(sum(of(&[B, T, C]), Plain::ALL), "= []");
    assert_eq!(sum(Shape::UNKNOWN, Plain::ALL), "= []");
    assert_eq!(sum(of(&[B, T]), Plain::UNKNOWN), "? [?]");
    assert_eq!(sum(rest(&[T, C]), axis(-2)), "= [R.., C]");
    assert_eq!(sum(rest(&[T, C]), axis(0)), "? [?]");
    assert_eq!(sum(of(&[B, C]), axis(2)), "sum: there is no axis 2 in [B, C], whose axes are 0 to 1");
    assert_eq!(sum(of(&[B, C]), axis(-3)), "sum: there is no axis -3 in [B, C], whose axes are 0 to 1");
    assert_eq!(sum(of(&[B, C]), list(&[l(1), l(-1)])), "sum: axis 1 of [B, C] is named twice");
    assert_eq!(sum(of(&[]), axis(0)), "sum: there is no axis 0 in []");
    assert_eq!(keep(of(&[B, T, C]), axis(1)), "= [B, 1, C]");
    assert_eq!(keep(of(&[B, T]), Plain::ALL), "= [1, 1]");
    assert_eq!(keep(of(&[B, T]), Plain::UNKNOWN), "? [?, ?]");
    assert_eq!(keep(rest(&[C]), axis(-1)), "= [R.., 1]");
    assert_eq!(keep(rest(&[C]), Plain::ALL), "? [?]");
    assert_eq!(keep(of(&[B]), axis(1)), "sum_keepdim: there is no axis 1 in [B], whose axes are 0 to 0");
}

#[test]
fn norms_take_their_axes_second() {
    let p = Plain::UNKNOWN;
    assert_eq!(say("norm", reduce_second(&[of(&[B, T, C])], &[p, list(&[l(0), l(-1)])], 0)), "= [T]");
    assert_eq!(say("norm_keepdim", reduce_second_keepdim(&[of(&[B, T])], &[p, axis(-1)], 0)), "= [B, 1]");
    let beyond = say("norm", reduce_second(&[of(&[B, C])], &[axis(2), axis(2)], 0));
    assert_eq!(beyond, "norm: there is no axis 2 in [B, C], whose axes are 0 to 1");
}

#[test]
fn the_first_in_order_are_a_part_of_an_axis() {
    let first = |shape, k, at| say("topk", topk(&[shape], &[k, at], 0));
    assert_eq!(first(of(&[B, l(10)]), axis(3), axis(-1)), "= [B, 3]");
    assert_eq!(first(of(&[B, C]), axis(3), axis(1)), "? [B, 3]");
    assert_eq!(first(of(&[B, C]), Plain::UNKNOWN, axis(1)), "? [B, ?]");
    assert_eq!(
        first(of(&[B, l(10)]), axis(11), axis(1)),
        "topk: entries from 0, 11 of them, reach past the end: axis 1 of [B, 10] is 10"
    );
    assert_eq!(first(of(&[B, C]), axis(1), axis(2)), "topk: there is no axis 2 in [B, C], whose axes are 0 to 1");
}

#[test]
fn extents_that_depend_on_data_are_unknown() {
    assert_eq!(say("unique", some(&[of(&[B, C])], &[], 0)), "? [?]");
    assert_eq!(say("unique_with", unique_with(&[of(&[B, C])], &[], 1)), "= [B, C]");
    assert_eq!(say("unique_with", unique_with(&[of(&[B, C])], &[], 2)), "? [?]");
    assert_eq!(say("nonzero", nonzero(&[of(&[B, C])], &[], 0)), "? [?, 2]");
    assert_eq!(say("nonzero", nonzero(&[rest(&[C])], &[], 0)), "? [?, ?]");
    assert_eq!(say("searchsorted", searchsorted(&[of(&[N]), of(&[B, C])], &[], 0)), "? [B, C]");
    assert_eq!(say("searchsorted", searchsorted(&[of(&[B, N]), of(&[B, C])], &[], 0)), "? [B, C]");
    let rows = searchsorted(&[of(&[l(4), N]), of(&[l(6), C])], &[], 0);
    assert_eq!(say("searchsorted", rows), "searchsorted: shapes differ: [4] and [6]: axis 0 is 4 and 6");
    assert_eq!(say("histc", histc(&[of(&[N])], &[axis(10)], 0)), "= [10]");
}

#[test]
fn operations_along_an_axis_need_it() {
    let softmax = |shape, at| say("softmax", along(&[shape], &[at], 0));
    assert_eq!(softmax(of(&[B, T]), axis(-1)), "= [B, T]");
    assert_eq!(softmax(rest(&[C]), axis(3)), "? [R.., C]");
    assert_eq!(softmax(of(&[B, T]), axis(2)), "softmax: there is no axis 2 in [B, T], whose axes are 0 to 1");
    let norm = |x, w, b| say("layer_norm", layer_norm(&[x, w, b], &[Plain::UNKNOWN], 0));
    assert_eq!(norm(of(&[B, T, C]), of(&[C]), of(&[C])), "= [B, T, C]");
    assert_eq!(norm(rest(&[C]), of(&[C]), of(&[C])), "= [R.., C]");
    assert_eq!(norm(of(&[B, C]), of(&[H]), of(&[C])), "? [B, C]");
    assert_eq!(norm(Shape::UNKNOWN, of(&[C]), of(&[C])), "? [?]");
    assert_eq!(
        norm(of(&[B, l(64)]), of(&[l(64)]), of(&[l(32)])),
        "layer_norm: the bias is [32], the last axis of [B, 64] needs [64]"
    );
    assert_eq!(norm(of(&[]), of(&[C]), of(&[C])), "layer_norm: [] has 0 axes, expected at least 1");
}

#[test]
fn losses_are_numbers() {
    let entropy = |x, y| say("cross_entropy", cross_entropy(&[x, y], &[], 0));
    assert_eq!(entropy(of(&[B, l(10)]), of(&[B])), "= []");
    assert_eq!(entropy(of(&[B, T, C]), of(&[B, T])), "= []");
    assert_eq!(entropy(rest(&[C]), rest(&[])), "= []");
    assert_eq!(entropy(of(&[B, C]), Shape::UNKNOWN), "? []");
    assert_eq!(entropy(of(&[B, C]), of(&[T])), "? []");
    assert_eq!(
        entropy(of(&[B, l(10)]), of(&[B, l(10)])),
        "cross_entropy: targets are [B, 10], predictions [B, 10] need [B]"
    );
    let mse = |x, y| say("mse_loss", scalar_of_same(&[x, y], &[], 0));
    assert_eq!(mse(of(&[B, C]), of(&[B, C])), "= []");
    assert_eq!(mse(of(&[B, C]), of(&[B, H])), "? []");
    assert_eq!(mse(of(&[B, C]), of(&[B])), "mse_loss: shapes differ: [B, C] and [B]");
    assert_eq!(mse(of(&[B, l(3)]), of(&[B, l(4)])), "mse_loss: shapes differ: [B, 3] and [B, 4]: axis 1 is 3 and 4");
}

#[test]
fn embedding_puts_the_width_behind_the_ids() {
    let look = |weight, ids| say("embedding", embedding(&[weight, ids], &[], 0));
    assert_eq!(look(of(&[N, C]), of(&[B, T])), "= [B, T, C]");
    assert_eq!(look(of(&[N, C]), rest(&[])), "= [R.., C]");
    assert_eq!(look(of(&[N, C]), Shape::UNKNOWN), "? [.., C]");
    assert_eq!(look(Shape::UNKNOWN, of(&[B])), "? [B, ?]");
    assert_eq!(look(of(&[C]), of(&[B])), "embedding: [C] has 1 axis, expected 2");
}

#[test]
fn reshape_keeps_the_number_of_elements() {
    let to = |shape, dims: &[Dim]| say("reshape", reshape(&[shape], &[list(dims)], 0));
    assert_eq!(to(of(&[B, l(28), l(28)]), &[B, l(784)]), "= [B, 784]");
    assert_eq!(to(of(&[B, T, C]), &[B.mul(T), C]), "= [B*T, C]");
    assert_eq!(to(of(&[B, T, C]), &[B, T, H, C.div(H)]), "= [B, T, H, C/H]");
    assert_eq!(to(of(&[B, T, C]), &[l(-1), C]), "= [B*T, C]");
    assert_eq!(to(of(&[B, T.add(l(1)), C]), &[B, l(-1)]), "= [B, T*C + C]");
    assert_eq!(to(of(&[B, T.add(l(1))]), &[l(-1), T.add(l(1))]), "= [B, T + 1]");
    assert_eq!(to(of(&[B, T, C]), &[B, T, H, l(-1)]), "? [B, T, H, C/H]");
    assert_eq!(to(of(&[B, C]), &[T, N]), "? [T, N]");
    assert_eq!(to(rest(&[C]), &[l(-1), C]), "? [?, C]");
    assert_eq!(to(Shape::UNKNOWN, &[B, C]), "? [B, C]");
    assert_eq!(to(of(&[B, ANY]), &[B, l(-1)]), "? [B, ?]");
    assert_eq!(to(of(&[l(1)]), &[]), "= []");
    assert_eq!(to(of(&[B, l(784)]), &[B, l(780)]), "reshape: [B, 784] has 784*B elements, [B, 780] has 780*B");
    assert_eq!(to(of(&[l(4), l(6)]), &[l(5), l(-1)]), "reshape: [4, 6] has 24 elements, which [5, -1] does not divide");
    assert_eq!(to(of(&[B, C]), &[l(-1), l(-1)]), "reshape: [-1, -1] leaves more than one extent open");
    assert_eq!(say("reshape", reshape(&[of(&[B])], &[Plain::UNKNOWN], 0)), "? [?]");
}

#[test]
fn flatten_multiplies_the_last_axes() {
    let flat = |shape, at| say("flatten", flatten(&[shape], &[axis(at)], 0));
    assert_eq!(flat(of(&[B, l(64), l(7), l(7)]), 1), "= [B, 3136]");
    assert_eq!(flat(of(&[B, T, C]), 0), "= [B*T*C]");
    assert_eq!(flat(of(&[B, T, C]), -2), "= [B, T*C]");
    assert_eq!(flat(of(&[]), 0), "= [1]");
    assert_eq!(flat(rest(&[T, C]), -2), "= [R.., T*C]");
    assert_eq!(flat(rest(&[C]), 0), "? [?]");
    assert_eq!(flat(of(&[B]), 1), "flatten: there is no axis 1 in [B], whose axes are 0 to 0");
}

#[test]
fn axes_change_places() {
    let turn = |shape, a, b| say("transpose", transpose(&[shape], &[axis(a), axis(b)], 0));
    assert_eq!(turn(of(&[B, T, H, C]), 1, 2), "= [B, H, T, C]");
    assert_eq!(turn(rest(&[T, C]), -2, -1), "= [R.., C, T]");
    assert_eq!(turn(rest(&[T, C]), 0, 1), "? [?]");
    assert_eq!(turn(of(&[B, T]), 1, 2), "transpose: there is no axis 2 in [B, T], whose axes are 0 to 1");
    let flip = |shape| say("t", t(&[shape], &[], 0));
    assert_eq!(flip(of(&[B, C])), "= [C, B]");
    assert_eq!(flip(of(&[B])), "= [B]");
    assert_eq!(flip(rest(&[C])), "? [?]");
    assert_eq!(flip(of(&[B, T, C])), "t: [B, T, C] has 3 axes, expected at most 2");
    let order = |shape, axes: &[Dim]| say("permute", permute(&[shape], &[list(axes)], 0));
    assert_eq!(order(of(&[B, T, C]), &[l(2), l(0), l(-2)]), "= [C, B, T]");
    assert_eq!(order(of(&[B, T]), &[N, l(0)]), "? [?, B]");
    assert_eq!(order(rest(&[C]), &[l(1), l(0)]), "? [?]");
    assert_eq!(order(of(&[B, T]), &[l(0)]), "permute: [0] does not name each axis of [B, T] once");
    assert_eq!(order(of(&[B, T]), &[l(0), l(0)]), "permute: [0, 0] does not name each axis of [B, T] once");
    assert_eq!(order(of(&[B]), &[l(1)]), "permute: there is no axis 1 in [B], whose axes are 0 to 0");
}

#[test]
fn axes_of_1_come_and_go() {
    let add = |shape, at| say("unsqueeze", unsqueeze(&[shape], &[axis(at)], 0));
    assert_eq!(add(of(&[B, C]), 1), "= [B, 1, C]");
    assert_eq!(add(of(&[B, C]), -1), "= [B, C, 1]");
    assert_eq!(add(of(&[B, C]), 2), "= [B, C, 1]");
    assert_eq!(add(rest(&[C]), -2), "= [R.., 1, C]");
    assert_eq!(add(rest(&[C]), 0), "? [.., C]");
    assert_eq!(add(of(&[B]), 3), "unsqueeze: there is no axis 3 in [B], whose axes are 0 to 0");
    let drop = |shape, at| say("squeeze", squeeze(&[shape], &[axis(at)], 0));
    assert_eq!(drop(of(&[B, l(1), C]), 1), "= [B, C]");
    assert_eq!(drop(rest(&[l(1), C]), -2), "= [R.., C]");
    assert_eq!(drop(of(&[B, C]), 0), "? [C]");
    assert_eq!(drop(of(&[B, l(3)]), 1), "squeeze: axis 1 of [B, 3] is 3, expected 1");
}

#[test]
fn expand_repeats_axes_of_1() {
    let to = |shape, dims: &[Dim]| say("expand", expand(&[shape], &[list(dims)], 0));
    assert_eq!(to(of(&[l(1), C]), &[B, C]), "= [B, C]");
    assert_eq!(to(of(&[C]), &[B, T, l(-1)]), "= [B, T, C]");
    assert_eq!(to(of(&[B, C]), &[T, C]), "? [T, C]");
    assert_eq!(to(rest(&[l(1)]), &[B, C]), "? [B, C]");
    assert_eq!(to(Shape::UNKNOWN, &[B, l(-1)]), "? [B, ?]");
    assert_eq!(to(of(&[l(2), C]), &[l(3), C]), "expand: cannot expand [2, C] to [3, C]: axis 0 is 2 and 3");
    assert_eq!(to(of(&[B, C]), &[C]), "expand: cannot expand [B, C] to [C]: fewer axes");
    assert_eq!(
        to(of(&[C]), &[l(-1), C]),
        "expand: cannot expand [C] to [-1, C]: `-1` keeps an axis, and there is none to keep"
    );
}

#[test]
fn parts_fit_into_their_axis() {
    let part = |shape, at, start, length| {
        say("narrow", narrow(&[shape], &[axis(at), Plain::dim(start), Plain::dim(length)], 0))
    };
    assert_eq!(part(of(&[B, l(3).mul(C)]), 1, C, C), "= [B, C]");
    assert_eq!(part(rest(&[l(8)]), -1, l(2), l(6)), "= [R.., 6]");
    assert_eq!(part(of(&[B, T]), 1, l(0), l(4)), "? [B, 4]");
    assert_eq!(part(of(&[B, l(8)]), 1, ANY, l(4)), "? [B, 4]");
    assert_eq!(part(of(&[B, l(8)]), 1, N, ANY), "? [B, ?]");
    assert_eq!(
        part(of(&[B, l(8)]), 1, l(5), l(4)),
        "narrow: entries from 5, 4 of them, reach past the end: axis 1 of [B, 8] is 8"
    );
    assert_eq!(
        part(of(&[B, l(8)]), 1, ANY, l(9)),
        "narrow: entries from ?, 9 of them, reach past the end: axis 1 of [B, 8] is 8"
    );
    let cut = |shape, at, sizes: &[Dim], out| say("split", split(&[shape], &[axis(at), list(sizes)], out));
    assert_eq!(cut(of(&[B, T, l(3).mul(C)]), 2, &[C, C, C], 1), "= [B, T, C]");
    assert_eq!(cut(rest(&[C]), -1, &[C.div(l(2)), C.div(l(2))], 0), "= [R.., C/2]");
    assert_eq!(cut(of(&[B, N]), 1, &[C, H], 1), "? [B, H]");
    assert_eq!(
        cut(of(&[B, T, l(3).mul(C)]), 2, &[C, C], 0),
        "split: sizes [C, C] add up to 2*C, axis 2 of [B, T, 3*C] is 3*C"
    );
    assert_eq!(say("split", split(&[of(&[B, C])], &[axis(1), Plain::UNKNOWN], 0)), "? [B, ?]");
}

#[test]
fn tensors_are_put_together() {
    let join = |shapes: &[Shape], at| say("cat", cat(shapes, &[axis(at)], 0));
    assert_eq!(join(&[of(&[B, C]), of(&[B, H])], 1), "= [B, C + H]");
    assert_eq!(join(&[of(&[B, C]), of(&[T, C]), of(&[N, C])], 0), "= [B + T + N, C]");
    assert_eq!(join(&[rest(&[C]), rest(&[H])], -1), "= [R.., C + H]");
    assert_eq!(join(&[of(&[B, C]), Shape::UNKNOWN], 1), "? [B, ?]");
    assert_eq!(join(&[of(&[B, C]), of(&[T, H])], 1), "? [B, C + H]");
    assert_eq!(join(&[], 0), "? [?]");
    assert_eq!(join(&[of(&[B, C]), of(&[B])], 0), "cat: shapes differ: [B, C] and [B]");
    assert_eq!(
        join(&[of(&[l(2), C]), of(&[l(2), H]), of(&[l(3), C])], 1),
        "cat: shapes differ: [2, C] and [3, C] (operand 3): axis 0 is 2 and 3"
    );
    let pile = |shapes: &[Shape], at| say("stack", stack(shapes, &[axis(at)], 0));
    assert_eq!(pile(&[of(&[B, C]), of(&[B, C])], 1), "= [B, 2, C]");
    assert_eq!(pile(&[of(&[B, C]), of(&[B, C])], -1), "= [B, C, 2]");
    assert_eq!(pile(&[rest(&[C]), rest(&[C])], -1), "= [R.., C, 2]");
    assert_eq!(pile(&[of(&[B]), of(&[T])], 0), "? [2, B]");
    assert_eq!(pile(&[of(&[l(2)]), of(&[l(3)])], 0), "stack: shapes differ: [2] and [3]: axis 0 is 2 and 3");
}

#[test]
fn sizes_make_shapes() {
    assert_eq!(say("arange", arange(&[], &[Plain::dim(T)], 0)), "= [T]");
    assert_eq!(say("arange", arange(&[], &[], 0)), "? [?]");
    assert_eq!(say("causal_mask", causal_mask(&[], &[Plain::dim(T)], 0)), "= [T, T]");
}

#[test]
fn branches_join_to_what_both_have() {
    assert_eq!(show_shape(&join(&of(&[B, C]), &of(&[B, H]))), "[B, ?]");
    assert_eq!(show_shape(&join(&of(&[B, C]), &of(&[C]))), "[?]");
    assert_eq!(show_shape(&join(&rest(&[T, C]), &rest(&[T, C]))), "[R.., T, C]");
    assert_eq!(show_shape(&join(&rest(&[T, C]), &of(&[B, T, C]))), "[.., T, C]");
    assert_eq!(show_shape(&join(&Shape::UNKNOWN, &of(&[B]))), "[?]");
}

#[test]
fn ctc_loss_gives_a_loss_for_each_sample() {
    let lengths = of(&[B]);
    let ctc = |x, targets, lengths| say("ctc_loss", ctc_loss(&[x, targets, lengths, lengths], &[], 0));
    assert_eq!(ctc(of(&[T, B, C]), of(&[B, H]), lengths), "= [B]");
    assert_eq!(ctc(of(&[T, B, C]), of(&[H]), lengths), "= [B]");
    assert_eq!(ctc(of(&[T, B, C]), Shape::UNKNOWN, lengths), "? [B]");
    assert!(ctc(of(&[T, C]), of(&[B, H]), lengths).contains("[T, C]"));
    assert!(ctc(of(&[T, l(4), C]), of(&[l(3), H]), of(&[l(4)])).contains("[4] and [3]"));
    assert!(ctc(of(&[T, l(4), C]), of(&[l(4), H]), of(&[l(3)])).contains("[3]"));
}

#[test]
fn einsum_gives_each_letter_one_extent() {
    let sum = |text: &'static str, inputs: &[Shape]| say("einsum", einsum(inputs, &[Plain::text(text)], 0));
    assert_eq!(sum("bij,bjk->bik", &[of(&[B, T, C]), of(&[B, C, H])]), "= [B, T, H]");
    assert_eq!(sum("ij,jk", &[of(&[T, C]), of(&[C, H])]), "= [T, H]");
    assert_eq!(sum("ba, cb", &[of(&[T, C]), of(&[H, T])]), "= [C, H]");
    assert_eq!(sum("ii", &[of(&[C, C])]), "= []");
    assert_eq!(sum("ii->i", &[of(&[C, C])]), "= [C]");
    assert_eq!(sum("...ij->...ji", &[of(&[B, T, C])]), "= [B, C, T]");
    assert_eq!(sum("...i,...i->...", &[of(&[B, T, C]), of(&[C])]), "= [B, T]");
    assert_eq!(sum("...i,ij->...j", &[rest(&[C]), of(&[C, H])]), "= [R.., H]");
    assert_eq!(sum("...i,ij->...j", &[Shape::UNKNOWN, of(&[C, H])]), "? [.., H]");
    assert_eq!(sum("ij,jk->ik", &[of(&[T, l(1)]), of(&[C, H])]), "= [T, H]");
    assert_eq!(sum("ij,jk->ik", &[of(&[T, C]), of(&[H, N])]), "? [T, N]");
    assert_eq!(sum("ij,jk->ik", &[of(&[T, l(4)]), of(&[l(5), H])]), "einsum: `ij,jk->ik`: `j` is 4 and 5");
    assert_eq!(sum("ij,jk->ik", &[of(&[T, C])]), "einsum: `ij,jk->ik`: 2 terms for 1 operands");
    assert_eq!(
        sum("ij->ji", &[of(&[B, T, C])]),
        "einsum: `ij->ji`: operand 1 is [B, T, C], but its term has 2 letters"
    );
    assert_eq!(sum("ij->ik", &[of(&[T, C])]), "einsum: `ij->ik`: `k` is in the result, but in no operand");
    assert_eq!(sum("ij->ii", &[of(&[T, C])]), "einsum: `ij->ii`: `i` is in the result twice");
    assert_eq!(sum("i+j", &[of(&[T, C])]), "einsum: `i+j`: `+` is no letter, `,`, `->` or `...`");
    assert_eq!(sum("..ij", &[of(&[T, C])]), "einsum: `..ij`: points stand three together, `...`, once in a term");
    assert_eq!(sum("ij->...ij", &[of(&[T, C])]), "einsum: `ij->...ij`: `...` is in the result, but in no operand");
    assert_eq!(sum("...i,...i", &[of(&[l(2), C]), of(&[l(3), C])]), "einsum: `...i,...i`: `...` is [2] and [3]");
    assert_eq!(say("einsum", einsum(&[of(&[T, C])], &[Plain::UNKNOWN], 0)), "? [?]");
}

#[test]
fn products_of_fixed_ranks() {
    assert_eq!(say("dot", dot(&[of(&[C]), of(&[C])], &[], 0)), "= []");
    assert_eq!(say("dot", dot(&[of(&[B, C]), of(&[C])], &[], 0)), "dot: [B, C] has 2 axes, expected 1");
    assert_eq!(say("mv", mv(&[of(&[T, C]), of(&[C])], &[], 0)), "= [T]");
    assert_eq!(say("mm", mm(&[of(&[T, C]), of(&[C, H])], &[], 0)), "= [T, H]");
    assert_eq!(say("bmm", bmm(&[of(&[B, T, C]), of(&[B, C, H])], &[], 0)), "= [B, T, H]");
    assert_eq!(say("bmm", bmm(&[of(&[T, C]), of(&[B, C, H])], &[], 0)), "bmm: [T, C] has 2 axes, expected 3");
    assert_eq!(say("linear", linear(&[of(&[B, T, C]), of(&[H, C]), of(&[H])], &[], 0)), "= [B, T, H]");
    assert_eq!(say("linear", linear(&[of(&[C]), of(&[H, C]), of(&[H])], &[], 0)), "= [H]");
    assert_eq!(
        say("linear", linear(&[of(&[T, l(3)]), of(&[H, l(4)]), of(&[H])], &[], 0)),
        "linear: inner dimensions differ: [T, 3] x [4, H]"
    );
    assert_eq!(
        say("linear", linear(&[of(&[T, l(3)]), of(&[l(5), l(3)]), of(&[l(4)])], &[], 0)),
        "linear: the bias is [4], the last axis of [T, 5] needs [5]"
    );
    assert_eq!(say("linear", linear(&[of(&[C]), of(&[C]), of(&[H])], &[], 0)), "linear: [C] has 1 axis, expected 2");
    assert_eq!(say("addmm", addmm(&[of(&[H]), of(&[T, C]), of(&[C, H])], &[], 0)), "= [T, H]");
    assert_eq!(say("baddbmm", baddbmm(&[of(&[H]), of(&[B, T, C]), of(&[B, C, H])], &[], 0)), "= [B, T, H]");
    assert_eq!(say("outer", outer(&[of(&[T]), of(&[C])], &[], 0)), "= [T, C]");
    assert_eq!(say("outer", outer(&[of(&[T]), of(&[B, C])], &[], 0)), "outer: [B, C] has 2 axes, expected 1");
}

#[test]
fn distances_angles_and_blocks() {
    assert_eq!(say("cdist", cdist(&[of(&[B, T, C]), of(&[N, C])], &[], 0)), "= [B, T, N]");
    assert_eq!(
        say("cdist", cdist(&[of(&[T, l(2)]), of(&[N, l(3)])], &[], 0)),
        "cdist: shapes differ: [T, 2] and [N, 3]: axis 1 is 2 and 3"
    );
    assert_eq!(say("cdist", cdist(&[of(&[C]), of(&[N, C])], &[], 0)), "cdist: [C] has 1 axis, expected at least 2");
    assert_eq!(say("cross", cross(&[of(&[B, l(3)]), of(&[l(3)])], &[axis(-1)], 0)), "= [B, 3]");
    assert_eq!(
        say("cross", cross(&[of(&[B, l(4)]), of(&[l(4)])], &[axis(1)], 0)),
        "cross: axis 1 of [B, 4] is 4, expected 3"
    );
    assert_eq!(say("cosine", cosine_similarity(&[of(&[B, C]), of(&[C])], &[axis(1)], 0)), "= [B]");
    assert_eq!(say("cov", cov(&[of(&[C, N])], &[], 0)), "= [C, C]");
    assert_eq!(say("cov", cov(&[of(&[N])], &[], 0)), "cov: [N] has 1 axis, expected 2");
    assert_eq!(say("kron", kron(&[of(&[l(2), C]), of(&[l(3)])], &[], 0)), "= [2, 3*C]");
    assert_eq!(say("matrix_power", square(&[of(&[B, C, C])], &[], 0)), "= [B, C, C]");
    assert_eq!(
        say("matrix_power", square(&[of(&[l(2), l(3)])], &[], 0)),
        "matrix_power: [2, 3] is no square matrix, nor a batch of them"
    );
}

#[test]
fn draws_fill_the_last_axis() {
    let draw = |shape| say("multinomial", multinomial(&[shape], &[axis(5)], 0));
    assert_eq!(draw(of(&[B, C])), "= [B, 5]");
    assert_eq!(draw(of(&[C])), "= [5]");
    assert_eq!(draw(of(&[B, T, C])), "multinomial: [B, T, C] has 3 axes, expected at most 2");
}
