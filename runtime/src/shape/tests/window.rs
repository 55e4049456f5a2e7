//! Convolutions, pools and batch norms.

use super::*;
use crate::shape::rules::*;

fn plain(values: &[i64]) -> Vec<Plain> {
    values.iter().map(|&v| Plain::dim(l(v))).collect()
}

const NONE: Shape = Shape::UNKNOWN;

#[test]
fn windows_leave_what_they_reach() {
    let conv = |x: &[Dim], w: &[Dim], values: &[i64]| say("conv2d", conv2d(&[of(x), of(w), NONE], &plain(values), 0));
    let image = [B, l(3), l(32), l(30)];
    assert_eq!(conv(&image, &[l(16), l(3), l(3), l(3)], &[1, 0, 1, 1]), "= [B, 16, 30, 28]");
    assert_eq!(conv(&image, &[l(16), l(3), l(3), l(3)], &[1, 1, 1, 1]), "= [B, 16, 32, 30]");
    assert_eq!(conv(&image, &[l(16), l(3), l(3), l(3)], &[2, 1, 2, 1]), "= [B, 16, 15, 14]");
    assert_eq!(conv(&image, &[l(6), l(1), l(1), l(1)], &[1, 0, 1, 3]), "= [B, 6, 32, 30]");
    assert_eq!(conv(&[B, C, T, T], &[H, C, l(1), l(3)], &[1, 0, 1, 1]), "? [B, H, T, T - 2]");
    assert_eq!(conv(&[B, C, T, T], &[H, C, l(3), l(3)], &[2, 1, 1, 1]), "= [B, H, floor((T + 1)/2), floor((T + 1)/2)]");
    assert_eq!(conv(&[B, C, l(8), l(8)], &[H, T, l(3), l(3)], &[1, 0, 1, 1]), "? [B, H, 6, 6]");
    let pair = conv2d(
        &[of(&image), of(&[l(4), l(3), l(5), l(1)]), NONE],
        &[Plain::list(&[l(2), l(3)]), Plain::list(&[l(2), l(0)])],
        0,
    );
    assert_eq!(say("conv2d", pair), "= [B, 4, 16, 10]");
    let same = conv2d(&[of(&image), of(&[l(4), l(3), l(3), l(3)]), NONE], &[Plain::dim(l(1)), Plain::UNKNOWN], 0);
    assert_eq!(say("conv2d", same), "? [B, 4, ?, ?]");
    assert_eq!(
        conv(&image, &[l(16), l(1), l(3), l(3)], &[1, 0, 1, 1]),
        "conv2d: channels differ: [B, 3, 32, 30] with weight [16, 1, 3, 3]: axis 1 of the weight is 1, expected 3"
    );
    assert_eq!(
        conv(&[B, l(6), T, T], &[l(16), l(2), l(3), l(3)], &[1, 0, 1, 3]),
        "conv2d: axis 0 of [16, 2, 3, 3] is 16, which 3 groups do not divide"
    );
    assert_eq!(
        conv(&image, &[l(16), l(3), l(3), l(40)], &[1, 1, 1, 1]),
        "conv2d: a window over 40 does not fit: axis 3 of [B, 3, 32, 30] is 32 with its padding"
    );
    assert_eq!(conv(&image[..3], &[l(16), l(3), l(3), l(3)], &[]), "conv2d: [B, 3, 32] has 3 axes, expected 4");
    let bias = conv2d(&[of(&image), of(&[l(16), l(3), l(3), l(3)]), of(&[l(3)])], &plain(&[1, 0, 1, 1]), 0);
    assert_eq!(say("conv2d", bias), "conv2d: a bias is [3], axis 0 of [16, 3, 3, 3] needs [16]");
    let row = conv1d(&[of(&[B, l(2), l(9)]), of(&[l(4), l(2), l(3)]), NONE], &plain(&[2, 0, 1, 1]), 0);
    assert_eq!(say("conv1d", row), "= [B, 4, 4]");
}

#[test]
fn transposed_convolutions_give_it_back() {
    let conv = |x: &[Dim], w: &[Dim], values: &[i64]| {
        say("conv_transpose2d", conv_transpose2d(&[of(x), of(w), NONE], &plain(values), 0))
    };
    assert_eq!(conv(&[B, l(8), l(5), T], &[l(8), l(3), l(2), l(2)], &[2, 0, 0, 1, 1]), "= [B, 3, 10, 2*T]");
    assert_eq!(conv(&[B, l(8), l(4), l(4)], &[l(8), l(3), l(3), l(3)], &[2, 1, 1, 2, 1]), "= [B, 6, 8, 8]");
    assert_eq!(
        conv(&[B, l(8), l(4), l(4)], &[l(4), l(3), l(3), l(3)], &[]),
        "conv_transpose2d: channels differ: [B, 8, 4, 4] with weight [4, 3, 3, 3]: axis 0 of the weight is 4, expected 8"
    );
}

#[test]
fn pools_keep_what_leads() {
    let pool = |x: Shape, values: &[i64]| say("max_pool2d", max_pool2d(&[x], &plain(values), 0));
    assert_eq!(pool(of(&[B, C, l(28), l(27)]), &[2]), "= [B, C, 14, 13]");
    assert_eq!(pool(rest(&[l(28), T]), &[2]), "? [R.., 14, floor(T/2)]");
    assert_eq!(pool(of(&[l(9), l(9)]), &[3, 2, 1, 1, 0]), "= [5, 5]");
    assert_eq!(pool(of(&[l(7), l(6)]), &[2, 2, 0, 1, 1]), "= [4, 3]");
    assert_eq!(pool(of(&[l(3), l(3)]), &[2, 2, 1, 1, 1]), "= [2, 2]");
    assert_eq!(pool(of(&[T, l(6)]), &[2, 2, 0, 1, 1]), "? [?, 3]");
    assert_eq!(
        pool(of(&[B, l(4), l(4)]), &[5]),
        "max_pool2d: a window over 5 does not fit: axis 1 of [B, 4, 4] is 4 with its padding"
    );
    assert_eq!(pool(of(&[l(4)]), &[2]), "max_pool2d: [4] has 1 axis, expected at least 2");
    assert_eq!(say("avg_pool1d", avg_pool1d(&[of(&[B, l(9)])], &plain(&[3, 3, 0, 0]), 0)), "= [B, 3]");
    let size = [Plain::list(&[l(2), C])];
    assert_eq!(say("adaptive_avg_pool2d", adaptive_pool2d(&[of(&[B, T, T])], &size, 0)), "= [B, 2, C]");
}

#[test]
fn norms_have_a_parameter_for_each_channel() {
    let norm = |w: Shape, out| say("batch_norm", batch_norm(&[of(&[B, C, T]), w, of(&[C])], &[], out));
    assert_eq!([norm(of(&[C]), 0), norm(of(&[C]), 1)], ["= [B, C, T]", "= [C]"]);
    assert_eq!(norm(NONE, 0), "? [B, C, T]");
    assert_eq!(norm(of(&[C.add(l(1))]), 0), "batch_norm: a parameter is [C + 1], axis 1 of [B, C, T] needs [C]");
    assert_eq!(say("batch_norm", batch_norm(&[of(&[C])], &[], 0)), "batch_norm: [C] has 1 axis, expected at least 2");
}
