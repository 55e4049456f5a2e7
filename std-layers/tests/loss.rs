//! Losses: gradients by central differences, empty batches, and what is refused. Values are those of the golden cases.

mod support;

use cotangent::diff::{Pullback, Want};
use cotangent::prelude::*;
use cotangent::testing::assert_close;
use support::{check_method, check_refused, device, layer};

fn floats(values: &[f32], shape: &[usize]) -> Tensor {
    Tensor::from_slice(values, shape, &device())
}

fn ints(values: &[i64], shape: &[usize]) -> Tensor<Int> {
    Tensor::from_slice(values, shape, &device())
}

/// Random numbers from `low` to `high`.
fn random(seed: u64, shape: &[usize], low: f64, high: f64) -> Tensor {
    let mut rng = Rng::seed(seed);
    let values: Vec<f32> = (0..shape.iter().product()).map(|_| (low + rng.uniform() * (high - low)) as f32).collect();
    floats(&values, shape)
}

/// Checks both forms of a loss of float tensors: shapes, and the gradient of each.
macro_rules! check {
    ($loss:expr, $inputs:expr, $each:expr, ($($x:ident),*), [$($index:literal),*]) => {{
        let (loss, inputs): (_, Vec<Tensor>) = ($loss, $inputs);
        check_method(&loss, &inputs, &[],
            |loss, xs| loss.forward($(xs[$index].clone()),*),
            |loss, xs, ct, grads| {
                let (_, back) = loss.forward__vjp($(xs[$index].clone(),)* Want::ALL);
                let ($($x),*) = back.pull(Some(ct), grads);
                vec![$($x),*]
            });
        check_method(&loss, &inputs, $each,
            |loss, xs| loss.forward_no_reduction($(xs[$index].clone()),*),
            |loss, xs, ct, grads| {
                let (_, back) = loss.forward_no_reduction__vjp($(xs[$index].clone(),)* Want::ALL);
                let ($($x),*) = back.pull(Some(ct), grads);
                vec![$($x),*]
            });
    }};
}

/// Checks a loss of two tensors at several shapes, and that nothing makes nothing.
macro_rules! check_pair {
    ($Loss:ty, $config:expr, $x:expr, $y:expr) => {{
        for shape in [&[5][..], &[1], &[2, 1, 3], &[3, 4], &[]] {
            check!(
                layer::<$Loss>(&$config),
                vec![random(1, shape, $x.0, $x.1), random(2, shape, $y.0, $y.1)],
                shape,
                (a, b),
                [0, 1]
            );
        }
        let loss = layer::<$Loss>(&$config);
        let none = || Tensor::zeros([0, 3], &device());
        assert_eq!(loss.forward_no_reduction(none(), none()).shape(), [0, 3]);
        assert!(loss.forward(none(), none()).item().is_nan(), "the mean of no losses");
    }};
}

#[test]
fn regression() {
    check_pair!(L1Loss, L1LossConfig::default(), (0.1, 2.0), (-2.0, -0.1));
    check_pair!(MseLoss, MseLossConfig::default(), (-2.0, 2.0), (-2.0, 2.0));
    check_pair!(HuberLoss, HuberLossConfig { delta: 0.7, ..Default::default() }, (1.0, 2.0), (-2.0, -0.1));
    check_pair!(HuberLoss, HuberLossConfig::default(), (0.1, 0.4), (-0.4, -0.1));
    check_pair!(SmoothL1Loss, SmoothL1LossConfig { beta: 0.5, ..Default::default() }, (1.0, 2.0), (-2.0, -0.1));
    check_pair!(SmoothL1Loss, SmoothL1LossConfig { beta: 0.0, ..Default::default() }, (0.1, 2.0), (-2.0, -0.1));
}

#[test]
fn distributions() {
    check_pair!(KlDivLoss, KlDivLossConfig::default(), (-3.0, -0.1), (0.1, 1.0));
    check_pair!(KlDivLoss, KlDivLossConfig { log_target: true, ..Default::default() }, (-3.0, -0.1), (-3.0, -0.1));
    check_pair!(PoissonNllLoss, PoissonNllLossConfig { full: true, ..Default::default() }, (-1.0, 1.0), (1.5, 4.0));
    let rates = PoissonNllLossConfig { log_input: false, ..Default::default() };
    check_pair!(PoissonNllLoss, rates, (0.5, 2.0), (0.1, 4.0));
    let normal = layer::<GaussianNllLoss>(&GaussianNllLossConfig { full: true, ..Default::default() });
    let inputs = vec![random(1, &[2, 3], -1.0, 1.0), random(2, &[2, 3], -1.0, 1.0), random(3, &[2, 3], 0.5, 2.0)];
    check!(normal, inputs, &[2, 3], (a, b, c), [0, 1, 2]);
}

#[test]
fn truths() {
    check_pair!(BceLoss, BceLossConfig::default(), (0.1, 0.9), (0.1, 0.9));
    check_pair!(BceWithLogitsLoss, BceWithLogitsLossConfig::default(), (-3.0, 3.0), (0.1, 0.9));
    check_pair!(
        HingeEmbeddingLoss,
        HingeEmbeddingLossConfig { margin: 0.5, ..Default::default() },
        (1.0, 2.0),
        (1.0, 1.0)
    );
    check_pair!(
        HingeEmbeddingLoss,
        HingeEmbeddingLossConfig { margin: 3.0, ..Default::default() },
        (1.0, 2.0),
        (-1.0, -1.0)
    );
}

#[test]
fn distances() {
    let triple = |shape: &[usize]| (1..4).map(|seed| random(seed, shape, -1.0, 1.0)).collect::<Vec<_>>();
    let swapped = TripletMarginLossConfig { swap: true, margin: 9.0, ..Default::default() };
    check!(layer::<TripletMarginLoss>(&swapped), triple(&[3, 4]), &[3], (a, b, c), [0, 1, 2]);
    check!(layer::<TripletMarginLoss>(&Default::default()), triple(&[2, 1, 4]), &[2, 1], (a, b, c), [0, 1, 2]);
    let apart = layer::<CosineEmbeddingLoss>(&CosineEmbeddingLossConfig { margin: -1.0, ..Default::default() });
    for sign in [1.0, -1.0] {
        let mut inputs = triple(&[3, 4]);
        inputs[2] = Tensor::full([3], sign, &device());
        let y = inputs.pop().expect("a target");
        check_method(
            &apart,
            &inputs,
            &[3],
            |loss, xs| loss.forward_no_reduction(xs[0].clone(), xs[1].clone(), y.clone().to(xs[0].dtype())),
            |loss, xs, ct, grads| {
                let y = y.clone().to(xs[0].dtype());
                let (_, back) = loss.forward_no_reduction__vjp(xs[0].clone(), xs[1].clone(), y, Want::ALL);
                let (a, b, _) = back.pull(Some(ct), grads);
                vec![a, b]
            },
        );
    }
}

/// Checks a loss of classes: the gradient of its logits.
macro_rules! check_classes {
    ($loss:expr, $x:expr, $y:expr) => {{
        let (loss, y) = ($loss, $y);
        check_method(
            &loss,
            &[$x],
            &[],
            |loss, xs| loss.forward(xs[0].clone(), y.clone()),
            |loss, xs, ct, grads| {
                vec![loss.forward__vjp(xs[0].clone(), y.clone(), Want::ALL).1.pull(Some(ct), grads).0]
            },
        );
    }};
}

#[test]
fn classes() {
    let x = || random(1, &[4, 3], -2.0, 2.0);
    let y = ints(&[2, 0, -100, 1], &[4]);
    let smoothed = CrossEntropyLossConfig { label_smoothing: 0.2, ..Default::default() };
    check_classes!(layer::<CrossEntropyLoss>(&smoothed), x(), y.clone());
    check_classes!(layer::<CrossEntropyLoss>(&Default::default()), x(), y.clone());
    check_classes!(layer::<NllLoss>(&Default::default()), x(), y);
    let margins = MultiMarginLossConfig { p: 2.0, margin: 5.0, ..Default::default() };
    check_classes!(layer::<MultiMarginLoss>(&margins), x(), ints(&[2, 0, 1, 1], &[4]));
    let loss = layer::<CrossEntropyLoss>(&Default::default());
    let none = loss.forward(Tensor::zeros([0, 3], &device()), ints(&[], &[0]));
    assert!(none.item().is_nan(), "the mean of no losses");
    assert_close(
        &loss.forward(x(), ints(&[0, 1, 2, 0], &[4])),
        &x().cross_entropy(ints(&[0, 1, 2, 0], &[4])),
        1e-6,
        0.0,
    );
    let wrong = cotangent::attempt(|| loss.forward(x(), ints(&[0, 3, 0, 0], &[4])));
    check_refused(wrong, &["3"]);
    let short = cotangent::attempt(|| loss.forward(x(), ints(&[0, 1], &[2])));
    check_refused(short, &["[2]", "4"]);
}

#[test]
fn alignments() {
    let x = || random(1, &[5, 3, 4], -2.0, 2.0).log_softmax(-1);
    let (y, times, lengths) = (ints(&[1, 2, 1, 1, 3, 0], &[3, 2]), ints(&[5, 4, 3], &[3]), ints(&[2, 2, 1], &[3]));
    let loss = layer::<CtcLoss>(&Default::default());
    let all = || (y.clone(), times.clone(), lengths.clone());
    check_method(
        &loss,
        &[x()],
        &[3],
        |loss, xs| loss.forward_no_reduction(xs[0].clone(), all().0, all().1, all().2),
        |loss, xs, ct, grads| {
            let (_, back) = loss.forward_no_reduction__vjp(xs[0].clone(), all().0, all().1, all().2, Want::ALL);
            vec![back.pull(Some(ct), grads).0]
        },
    );
    // More labels than times, no labels, and no times.
    let (times, lengths) = (ints(&[1, 4, 0], &[3]), ints(&[2, 0, 0], &[3]));
    let each = loss.forward_no_reduction(x(), y.clone(), times.clone(), lengths.clone()).to_vec();
    let blanks: f32 = (0..4).map(|time| x().narrow(0, time, 1).narrow(1, 1, 1).to_vec()[0]).sum();
    assert!(each[0].is_infinite() && (each[1] + blanks).abs() < 1e-5 && each[2] == 0.0, "{each:?}");
    let finite = layer::<CtcLoss>(&CtcLossConfig { zero_infinity: true, ..Default::default() });
    let (each, back) = finite.forward_no_reduction__vjp(x(), y.clone(), times, lengths.clone(), Want::ALL);
    assert_eq!(each.to_vec()[0], 0.0);
    let dx = back.pull(Some(Tensor::ones([3], &device())), &mut Default::default()).0.expect("a gradient");
    assert_eq!(dx.narrow(1, 0, 1).to_vec(), [0.0; 20]);

    let refused = |targets: Tensor<Int>, times: Tensor<Int>, lengths: Tensor<Int>| {
        cotangent::attempt(|| x().ctc_loss(targets, times, lengths, 0))
    };
    let full = || ints(&[5, 5, 5], &[3]);
    check_refused(refused(y.clone(), ints(&[5, 6, 5], &[3]), lengths.clone()), &["input length", "6"]);
    check_refused(refused(y.clone(), full(), ints(&[3, 1, 1], &[3])), &["target length", "3"]);
    check_refused(refused(ints(&[1, 0, 1, 1, 3, 0], &[3, 2]), full(), ints(&[2, 2, 1], &[3])), &["label 0", "blank"]);
    check_refused(refused(ints(&[1, 4, 1, 1, 3, 0], &[3, 2]), full(), ints(&[2, 2, 1], &[3])), &["label 4"]);
    check_refused(refused(y.clone(), ints(&[5, 5], &[2]), lengths.clone()), &["[2]", "[3]"]);
    check_refused(refused(ints(&[1, 2, 3], &[3]), full(), ints(&[1, 1, 0], &[3])), &["add up to 2", "3"]);
    check_refused(cotangent::attempt(|| x().ctc_loss(y, full(), lengths, 4)), &["blank 4", "4"]);
}
