use crate::reference::{Array, close, layouts, pulled, random};
use cotangent_runtime::diff::Want;
use cotangent_runtime::ops::Padding;
use cotangent_runtime::testing::{GradCheck, assert_close, check_grad};
use cotangent_runtime::{DType, Error, Rng, Tensor, attempt};

/// A window over rows and columns.
#[derive(Clone, Copy, Debug)]
struct Window {
    stride: [usize; 2],
    padding: [usize; 2],
    dilation: [usize; 2],
    groups: usize,
}

/// The convolution by its definition.
fn naive(x: &Array, w: &Array, bias: Option<&Array>, window: Window, output: [usize; 2]) -> Array {
    let Window { stride, padding, dilation, groups } = window;
    let filters = w.shape[0] / groups;
    Array::from_fn(&[x.shape[0], w.shape[0], output[0], output[1]], |at| {
        let mut sum = bias.map_or(0.0, |b| b.data[at[1]]);
        for c in 0..w.shape[1] {
            for k in 0..w.shape[2] {
                for l in 0..w.shape[3] {
                    let place = |axis: usize, tap: usize| {
                        (at[2 + axis] * stride[axis] + tap * dilation[axis]).checked_sub(padding[axis])
                    };
                    let (Some(row), Some(column)) = (place(0, k), place(1, l)) else { continue };
                    if row < x.shape[2] && column < x.shape[3] {
                        let channel = at[1] / filters * w.shape[1] + c;
                        sum += w.at(&[at[1], c, k, l]) * x.at(&[at[0], channel, row, column]);
                    }
                }
            }
        }
        sum
    })
}

/// Shapes of images and filters, and the window.
fn cases() -> Vec<([usize; 4], [usize; 4], Window)> {
    let plain = Window { stride: [1; 2], padding: [0; 2], dilation: [1; 2], groups: 1 };
    let mut rng = Rng::seed(3);
    let mut below = |n: usize| (rng.uniform() * n as f64) as usize;
    let mut cases = vec![
        ([2, 3, 6, 5], [4, 3, 3, 2], plain),
        ([0, 3, 6, 5], [4, 3, 3, 2], plain),
        ([1, 1, 1, 1], [1, 1, 1, 1], plain),
        ([2, 2, 4, 3], [3, 2, 4, 3], plain),
    ];
    for _ in 0..8 {
        let (groups, filter) = (1 + below(2), [1 + below(3), 1 + below(3)]);
        let window = Window {
            stride: [1 + below(2), 1 + below(3)],
            padding: [below(3), below(2)],
            dilation: [1 + below(2), 1],
            groups,
        };
        let image = [0, 1].map(|i| (filter[i] - 1) * window.dilation[i] + 1 + below(4));
        let (c, o) = (1 + below(2), 1 + below(3));
        cases.push(([1 + below(2), c * groups, image[0], image[1]], [o * groups, c, filter[0], filter[1]], window));
    }
    cases
}

fn extents(x: &[usize], w: &[usize], window: Window) -> [usize; 2] {
    [0, 1].map(|i| (x[2 + i] + 2 * window.padding[i] - window.dilation[i] * (w[2 + i] - 1) - 1) / window.stride[i] + 1)
}

#[test]
fn images_are_convolved() {
    for (seed, (x_shape, w_shape, window)) in (0u64..).zip(cases()) {
        let Window { stride, padding, dilation, groups } = window;
        let output = extents(&x_shape, &w_shape, window);
        let ws = layouts(&w_shape, -1.0, 1.0, seed + 1);
        for (x, w) in layouts(&x_shape, -1.0, 1.0, seed).into_iter().zip(ws) {
            let bias = random(&[w_shape[0]], -1.0, 1.0, seed);
            let f =
                |xs: &[Tensor]| xs[0].clone().conv2d(xs[1].clone(), xs[2].clone(), stride, padding, dilation, groups);
            let y = f(&[x.clone(), w.clone(), bias.clone()]);
            assert_eq!(y.dtype(), x.dtype().promote(w.dtype()).promote(bias.dtype()));
            close(&y, &naive(&Array::of(&x), &Array::of(&w), Some(&Array::of(&bias)), window, output));
            let y = x.clone().conv2d(w.clone(), None, stride, padding, dilation, groups);
            close(&y, &naive(&Array::of(&x), &Array::of(&w), None, window, output));
            let vjp = |xs: &[Tensor], ct, want| {
                let [x, w, b] = [0, 1, 2].map(|i| xs[i].clone());
                let (x, w, b, ..) = pulled(x.conv2d__vjp(w, b, stride, padding, dilation, groups, want).1, Some(ct));
                vec![x, w, b]
            };
            let inputs = [x, w, bias];
            check_grad(f, |xs, ct| vjp(xs, ct, Want::ALL), &inputs, GradCheck { most: 6, ..GradCheck::default() });
            for (wanted, want) in
                [Want::of(&[true]), Want::of(&[false, true]), Want::of(&[false, false, true])].into_iter().enumerate()
            {
                let given: Vec<bool> = vjp(&inputs, f(&inputs).ones_like(), want).iter().map(Option::is_some).collect();
                assert_eq!(given, [0, 1, 2].map(|i| i == wanted), "only what is wanted");
            }
        }
    }
}

#[test]
fn transposed_convolutions_are_the_adjoint() {
    for (seed, (x_shape, w_shape, window)) in (0u64..).zip(cases()) {
        let Window { stride, padding, dilation, groups } = window;
        let output = extents(&x_shape, &w_shape, window);
        let of = |shape: &[usize], seed| random(shape, -1.0, 1.0, seed).to(DType::F64);
        let (x, w) = (of(&x_shape, seed), of(&w_shape, seed + 1));
        let y = of(&[x_shape[0], w_shape[0], output[0], output[1]], seed + 2);
        // What a stride leaves of the image at its end.
        let more = [0, 1].map(|i| {
            let covered = (output[i] - 1) * stride[i] + dilation[i] * (w_shape[2 + i] - 1) + 1;
            x_shape[2 + i] + 2 * padding[i] - covered
        });
        let back = y.clone().conv_transpose2d(w.clone(), None, stride, padding, more, groups, dilation);
        assert_eq!(back.shape(), x.shape());
        let forward = x.clone().conv2d(w.clone(), None, stride, padding, dilation, groups);
        assert_close(&(forward * y.clone()).sum(..), &(back * x).sum(..), 1e-10, 1e-10);
        let bias = of(&[x_shape[1]], seed + 3);
        check_grad(
            |xs| xs[0].clone().conv_transpose2d(xs[1].clone(), xs[2].clone(), stride, padding, more, groups, dilation),
            |xs, ct| {
                let [y, w, b] = [0, 1, 2].map(|i| xs[i].clone());
                let vjp = y.conv_transpose2d__vjp(w, b, stride, padding, more, groups, dilation, Want::ALL);
                let (y, w, b, ..) = pulled(vjp.1, Some(ct));
                vec![y, w, b]
            },
            &[y, w, bias],
            GradCheck { most: 6, ..GradCheck::default() },
        );
    }
}

#[test]
fn sequences_are_images_of_one_row() {
    for x in layouts(&[2, 4, 7], -1.0, 1.0, 1) {
        let (w, b) = (random(&[6, 2, 3], -1.0, 1.0, 2), random(&[6], -1.0, 1.0, 3));
        let y = x.clone().conv1d(w.clone(), b.clone(), 2, 1, 2, 2);
        let image = x.clone().unsqueeze(2).conv2d(w.clone().unsqueeze(2), b.clone(), [1, 2], [0, 1], [1, 2], 2);
        assert_close(&y, &image.squeeze(2), 0.0, 0.0);
        check_grad(
            |xs| xs[0].clone().conv1d(xs[1].clone(), xs[2].clone(), 2, 1, 2, 2),
            |xs, ct| {
                let [x, w, b] = [0, 1, 2].map(|i| xs[i].clone());
                let (x, w, b, ..) = pulled(x.conv1d__vjp(w, b, 2, 1, 2, 2, Want::ALL).1, Some(ct));
                vec![x, w, b]
            },
            &[x.clone(), w, b],
            GradCheck { most: 8, ..GradCheck::default() },
        );
        let (w, b) = (random(&[4, 3, 3], -1.0, 1.0, 2), random(&[6], -1.0, 1.0, 3));
        let y = x.clone().conv_transpose1d(w.clone(), b.clone(), 2, 1, 1, 2, 1);
        let image = x.clone().unsqueeze(2).conv_transpose2d(w.unsqueeze(2), b, [1, 2], [0, 1], [0, 1], 2, 1);
        assert_close(&y, &image.squeeze(2), 0.0, 0.0);
    }
}

#[test]
fn padding_keeps_the_extents() {
    let x = random(&[1, 1, 5, 6], -1.0, 1.0, 1);
    for size in 1..5 {
        let w = random(&[1, 1, size, size], -1.0, 1.0, 2);
        let y = x.clone().conv2d(w.clone(), None, 1, Padding::Same, 1, 1);
        let zeros = size as isize - 1;
        let padded = x.clone().pad([zeros / 2, zeros - zeros / 2, zeros / 2, zeros - zeros / 2], 0.0);
        assert_close(&y, &padded.conv2d(w.clone(), None, 1, Padding::Valid, 1, 1), 1e-6, 1e-6);
        assert_eq!(y.shape(), x.shape());
    }
}

#[test]
fn what_does_not_fit_is_named() {
    let x = || random(&[2, 4, 5, 5], -1.0, 1.0, 1);
    let w = |shape: &[usize]| random(shape, -1.0, 1.0, 2);
    let check = |f: &dyn Fn() -> Tensor, parts: &[&str]| {
        let error = attempt(f).unwrap_err();
        assert!(matches!(error, Error::Shape { .. } | Error::Argument { .. }));
        assert!(parts.iter().all(|part| error.to_string().contains(part)), "{error}");
    };
    check(
        &|| x().conv2d(w(&[8, 3, 3, 3]), None, 1, 0, 1, 1),
        &["conv2d: channels differ: [2, 4, 5, 5] with weight [8, 3, 3, 3]", "[O, 4, ..]"],
    );
    check(&|| x().conv2d(w(&[3, 2, 3, 3]), None, 1, 0, 1, 2), &["in 2 groups", "a multiple of the groups"]);
    check(
        &|| x().conv2d(w(&[8, 4, 3]), None, 1, 0, 1, 1),
        &["the weight is [8, 4, 3], expected [O, C / groups, KH, KW]"],
    );
    check(&|| x().conv1d(w(&[8, 4, 3]), None, 1, 0, 1, 1), &["the input is [2, 4, 5, 5], expected [N, C, L]"]);
    check(&|| x().conv2d(w(&[8, 4, 3, 3]), w(&[4]), 1, 0, 1, 1), &["the bias is [4], expected [8]"]);
    check(
        &|| x().conv2d(w(&[8, 4, 3, 6]), None, 1, 0, 1, 1),
        &["the filters reach over 6 along axis 3 of [2, 4, 5, 5], which is 5 with 0 zeros around"],
    );
    check(&|| x().conv2d(w(&[8, 4, 3, 3]), None, 0, 0, 1, 1), &["stride [0, 0]", "at least 1"]);
    check(&|| x().conv2d(w(&[8, 4, 3, 3]), None, 1, -1, 1, 1), &["the padding is -1"]);
    check(
        &|| x().conv2d(w(&[8, 4, 3, 3]), None, 2, Padding::Same, 1, 1),
        &["the extents stay the same only with a stride of 1"],
    );
    check(&|| x().conv_transpose2d(w(&[3, 2, 3, 3]), None, 1, 0, 0, 1, 1), &["channels differ", "[4, O / groups, ..]"]);
    check(&|| x().conv_transpose2d(w(&[4, 2, 3, 3]), None, 1, 0, 1, 1, 1), &["the output padding is [1, 1]"]);
    check(
        &|| x().conv_transpose2d(w(&[4, 2, 1, 1]), None, 1, 3, 0, 1, 1),
        &["a padding of 3 leaves nothing along axis 2"],
    );
}
