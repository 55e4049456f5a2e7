//! Checks for tests: tensors that must be close, and cotangents against central differences.

use crate::random::Rng;
use crate::tensor::{Kind, Tensor};
use cotangent_hal::DType;

/// How gradients are compared; see [`check_grad`].
#[derive(Clone, Copy, Debug)]
pub struct GradCheck {
    /// The step of the differences, times `max(1, |x|)` for an element `x`.
    pub step: f64,
    /// Accepted error, relative to the difference quotient plus the largest one of the input (or 1, if that is larger).
    /// `None` takes what suits the coarsest dtype of the inputs: see [`GradCheck::tolerance`].
    pub tolerance: Option<f64>,
    /// At most so many elements of an input are tried, chosen at random.
    pub most: usize,
    /// Chooses the linear functional and the elements.
    pub seed: u64,
}

impl GradCheck {
    /// The accepted error for cotangents that are computed in `dtype`: some roundings of it, and for `f64` what
    /// the difference quotient leaves.
    pub const fn tolerance(dtype: DType) -> f64 {
        match dtype {
            DType::F64 => 1e-7,
            DType::F16 => 2e-3,
            DType::BF16 => 1.5e-2,
            DType::F32 | DType::I64 | DType::I32 | DType::U8 | DType::Bool => 1e-4,
        }
    }

    fn accepted(&self, inputs: &[Tensor]) -> f64 {
        let coarsest = inputs.iter().map(|x| GradCheck::tolerance(x.dtype())).fold(0.0, f64::max);
        self.tolerance.unwrap_or(coarsest)
    }
}

/// A step of 1/512, which balances the rounding of `f64` (about 1e-13) against the error of the fourth-order quotient
/// (about 1e-11 times the fifth derivative); 40 elements of each input.
impl Default for GradCheck {
    fn default() -> Self {
        GradCheck { step: 1.0 / 512.0, tolerance: None, most: 40, seed: 0 }
    }
}

/// Checks the cotangents of `f` at `inputs`.
///
/// The result is multiplied by random coefficients and added up, in `f64`. `vjp` gets the inputs and the coefficients
/// as the result's cotangent, and returns a cotangent for each input, `None` for zero. Each tried element is compared
/// with `(8 (L(x+h) - L(x-h)) - (L(x+2h) - L(x-2h))) / 12h`, where `f` gets all inputs as `f64`. Keep inputs away from
/// kinks by twice the step.
///
/// Inputs may be of any float dtype, in which `vjp` gets them; the tolerance follows from it. They may be views of any
/// layout: the moved ones are contiguous, and `f` must give close results for both.
///
/// A model is checked by closures that put inputs into a clone of it; see also [`check_loss_grad`].
///
/// Panics, naming the input and the element, where one differs.
#[track_caller]
pub fn check_grad(
    f: impl Fn(&[Tensor]) -> Tensor,
    vjp: impl Fn(&[Tensor], Tensor) -> Vec<Option<Tensor>>,
    inputs: &[Tensor],
    options: GradCheck,
) {
    let mut rng = Rng::seed(options.seed);
    let y = f(inputs);
    let coefficients: Vec<f64> = (0..y.numel()).map(|_| rng.uniform() * 2.0 - 1.0).collect();
    let packed: Vec<Tensor> = inputs.iter().map(|x| Tensor::from_raw(x.raw.clone().contiguous())).collect();
    let accepted = options.accepted(inputs);
    assert_close(&y, &f(&packed), accepted, accepted);
    let ct = Tensor::from_slice_of(&coefficients, y.shape(), y.device()).to(y.dtype());
    let coefficients = ct.to_vec_of::<f64>();
    let cts = vjp(inputs, ct);
    let functional = |xs: &[Tensor]| {
        let y = f(xs).to_vec_of::<f64>();
        y.iter().zip(&coefficients).map(|(y, c)| y * c).sum()
    };
    compare(&functional, &cts, inputs, &options, &mut rng);
}

/// Checks the gradients of a loss: `f` gives a scalar and its gradient for each input, `None` for zero.
///
/// Serves models whose methods return `(loss, gradients)`; otherwise as [`check_grad`].
///
/// Panics, naming the input and the element, where one differs.
#[track_caller]
pub fn check_loss_grad(f: impl Fn(&[Tensor]) -> (Tensor, Vec<Option<Tensor>>), inputs: &[Tensor], options: GradCheck) {
    let cts = f(inputs).1;
    let functional = |xs: &[Tensor]| f(xs).0.item_of::<f64>();
    compare(&functional, &cts, inputs, &options, &mut Rng::seed(options.seed));
}

#[track_caller]
fn compare(
    functional: &dyn Fn(&[Tensor]) -> f64,
    cts: &[Option<Tensor>],
    inputs: &[Tensor],
    options: &GradCheck,
    rng: &mut Rng,
) {
    assert_eq!(cts.len(), inputs.len(), "one cotangent for each input");
    let tolerance = options.accepted(inputs);
    let exact: Vec<Tensor> = inputs.iter().map(|x| x.clone().double()).collect();
    for (n, (x, ct)) in inputs.iter().zip(cts).enumerate() {
        let given = match ct {
            Some(ct) => {
                assert_eq!(ct.shape(), x.shape(), "the cotangent of input {n} must have the input's shape");
                assert_eq!(ct.dtype(), x.dtype(), "the cotangent of input {n} must have the input's dtype");
                ct.to_vec_of::<f64>()
            }
            None => vec![0.0; x.numel()],
        };
        let mut chosen = rng.permutation(x.numel());
        chosen.truncate(options.most);
        let quotients: Vec<f64> = chosen.iter().map(|&i| quotient(functional, &exact, n, i, options.step)).collect();
        let largest = quotients.iter().fold(1.0, |m: f64, q| m.max(q.abs()));
        for (&i, &want) in chosen.iter().zip(&quotients) {
            let got = given[i];
            let accepted = tolerance * (largest + want.abs());
            let fits = (got - want).abs() <= accepted;
            assert!(
                fits,
                "input {n} of shape {:?}, element {:?}: the cotangent is {got}, central differences give {want} (accepted error {accepted:.1e})",
                x.shape(),
                place(i, x.shape()),
            );
        }
    }
}

/// The derivative of `functional` by element `i` of input `n`, all of `f64`, by a fourth-order central difference.
fn quotient(functional: &dyn Fn(&[Tensor]) -> f64, inputs: &[Tensor], n: usize, i: usize, step: f64) -> f64 {
    let x = &inputs[n];
    let values = x.to_vec_of::<f64>();
    let h = step * values[i].abs().max(1.0);
    let moved = |by: f64| {
        let mut values = values.clone();
        values[i] += by;
        let mut inputs = inputs.to_vec();
        inputs[n] = Tensor::from_slice_of(&values, x.shape(), x.device());
        functional(&inputs)
    };
    let (near, far) = (moved(h) - moved(-h), moved(2.0 * h) - moved(-2.0 * h));
    (8.0 * near - far) / (12.0 * h)
}

/// Panics unless `|a - b| <= atol + rtol |b|` for every element, naming the first one that differs and the worst. NaN
/// equals NaN, and infinities equal themselves. True and false differ by 1.
#[track_caller]
pub fn assert_close<K: Kind>(a: &Tensor<K>, b: &Tensor<K>, rtol: f64, atol: f64) {
    assert_eq!(a.shape(), b.shape(), "the shapes differ");
    if K::ACTIVE {
        let same = |a: f64, b: f64| a == b || (a.is_nan() && b.is_nan());
        let distance = |a: f64, b: f64| if same(a, b) { 0.0 } else { (a - b).abs() };
        let accepted = |b: f64| atol + rtol * b.abs();
        close(a.shape(), &a.raw.to_vec(), &b.raw.to_vec(), distance, accepted);
    } else {
        let distance = |a: i64, b: i64| a.abs_diff(b) as f64;
        close(a.shape(), &a.raw.to_vec(), &b.raw.to_vec(), distance, |b| atol + rtol * b.unsigned_abs() as f64);
    }
}

/// An element that differs: its place, both values, their distance, and by how much that is too large.
struct Differs<T> {
    at: usize,
    a: T,
    b: T,
    distance: f64,
    excess: f64,
}

#[track_caller]
fn close<T: Copy + std::fmt::Display>(
    shape: &[usize],
    a: &[T],
    b: &[T],
    distance: impl Fn(T, T) -> f64,
    accepted: impl Fn(T) -> f64,
) {
    let differs = |(at, (&a, &b)): (usize, (&T, &T))| {
        let (distance, accepted) = (distance(a, b), accepted(b));
        // A comparison with NaN is false: a NaN on one side alone counts as infinitely far.
        let fits = distance <= accepted || distance == 0.0;
        let excess = if distance.is_nan() { f64::INFINITY } else { distance - accepted };
        (!fits).then_some(Differs { at, a, b, distance, excess })
    };
    let found: Vec<Differs<T>> = a.iter().zip(b).enumerate().filter_map(differs).collect();
    let Some(first) = found.first() else { return };
    let worst = found.iter().fold(first, |worst, d| if d.excess > worst.excess { d } else { worst });
    let told = |d: &Differs<T>| {
        format!(
            "at {:?}: {} against {} (difference {:.2e}, accepted {:.1e})",
            place(d.at, shape),
            d.a,
            d.b,
            d.distance,
            accepted(d.b)
        )
    };
    let first = if worst.at == first.at { String::new() } else { format!("the first {}, ", told(first)) };
    panic!("{} of {} elements of shape {shape:?} differ, {first}the worst {}", found.len(), a.len(), told(worst));
}

/// Panics unless both tensors have the same shape and elements, of any kind and whatever the dtypes; NaN equals nothing.
#[track_caller]
pub fn assert_equal<K: Kind>(a: &Tensor<K>, b: &Tensor<K>)
where
    K::Element: PartialEq + std::fmt::Debug,
{
    assert_eq!(a.shape(), b.shape(), "the shapes differ");
    if a.dtype().is_float() {
        same(&a.raw.to_vec::<f64>(), &b.raw.to_vec::<f64>(), a.shape());
    } else {
        same(&a.to_vec(), &b.to_vec(), a.shape());
    }
}

#[track_caller]
fn same<T: PartialEq + std::fmt::Debug>(a: &[T], b: &[T], shape: &[usize]) {
    for (i, (x, y)) in a.iter().zip(b).enumerate() {
        assert_eq!(x, y, "element {:?} of shape {shape:?} differs", place(i, shape));
    }
}

/// The indices of the `i`-th element in row-major order.
fn place(mut i: usize, shape: &[usize]) -> Vec<usize> {
    let mut at = vec![0; shape.len()];
    for (at, &extent) in at.iter_mut().zip(shape).rev() {
        *at = i % extent;
        i /= extent;
    }
    at
}
