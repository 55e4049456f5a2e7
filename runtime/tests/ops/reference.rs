//! The naive reference: dense arrays of `f64`, and inputs in all layouts.

use cotangent_runtime::diff::{Pullback, Want};
use cotangent_runtime::testing::{GradCheck, assert_close, check_grad};
use cotangent_runtime::{DType, Device, Rng, Tensor};

/// A dense row-major array.
#[derive(Clone, Debug)]
pub(crate) struct Array {
    pub(crate) shape: Vec<usize>,
    pub(crate) data: Vec<f64>,
}

impl Array {
    pub(crate) fn of(x: &Tensor) -> Array {
        Array { shape: x.shape().to_vec(), data: x.to_vec_of::<f64>() }
    }

    pub(crate) fn from_fn(shape: &[usize], mut f: impl FnMut(&[usize]) -> f64) -> Array {
        let data = (0..shape.iter().product()).map(|i| f(&index(i, shape))).collect();
        Array { shape: shape.to_vec(), data }
    }

    /// The element at an index of a shape that this array broadcasts to.
    pub(crate) fn at(&self, index: &[usize]) -> f64 {
        let lead = index.len() - self.shape.len();
        let flat =
            self.shape.iter().zip(&index[lead..]).fold(0, |flat, (&n, &i)| flat * n + if n == 1 { 0 } else { i });
        self.data[flat]
    }

    pub(crate) fn map(&self, f: impl Fn(f64) -> f64) -> Array {
        Array { shape: self.shape.clone(), data: self.data.iter().map(|&v| f(v)).collect() }
    }
}

/// The index of the `i`-th element in row-major order.
pub(crate) fn index(mut i: usize, shape: &[usize]) -> Vec<usize> {
    let mut at = vec![0; shape.len()];
    for (at, &n) in at.iter_mut().zip(shape).rev() {
        *at = i % n;
        i /= n;
    }
    at
}

pub(crate) fn broadcast(a: &[usize], b: &[usize]) -> Vec<usize> {
    let rank = a.len().max(b.len());
    let extent = |s: &[usize], i: usize| if i + s.len() < rank { 1 } else { s[i + s.len() - rank] };
    (0..rank).map(|i| if extent(a, i) == 1 { extent(b, i) } else { extent(a, i) }).collect()
}

/// How far a result may be from the exact one, relative to it. Of 16 bits it is one rounding, so that
/// rounding on the way would be found.
pub(crate) fn tolerance(dtype: DType) -> f64 {
    match dtype {
        DType::F64 => 1e-12,
        DType::F32 => 1e-5,
        DType::F16 => 5e-4,
        DType::BF16 => 4e-3,
        DType::I64 | DType::I32 | DType::U8 | DType::Bool => 0.0,
    }
}

/// Asserts that a result is the exact one within the [`tolerance`] of its dtype, an eighth of it where it is near 0.
#[track_caller]
pub(crate) fn close(got: &Tensor, want: &Array) {
    near(got, want, tolerance(got.dtype()));
}

/// Asserts that a result is the exact one.
#[track_caller]
pub(crate) fn exact(got: &Tensor, want: &Array) {
    near(got, want, 0.0);
}

#[track_caller]
pub(crate) fn near(got: &Tensor, want: &Array, tolerance: f64) {
    assert_close(got, &Tensor::from_slice_of(&want.data, &want.shape[..], got.device()), tolerance, tolerance / 8.0);
}

pub(crate) fn cpu() -> Device {
    Device::cpu()
}

/// Rank 0, empty, size-1 and odd shapes, and one of many tiles.
pub(crate) const SHAPES: &[&[usize]] =
    &[&[], &[1], &[0], &[7], &[3, 4], &[2, 0, 3], &[1, 9], &[5, 1, 3], &[2, 3, 4], &[33, 129]];

/// Random tensors of one shape: contiguous, transposed, cut out of a larger one, and repeated along an axis of extent
/// 1 where the shape has one longer than that. Each is of another float dtype, and which is of which depends on the
/// seed.
pub(crate) fn layouts(shape: &[usize], low: f32, high: f32, seed: u64) -> Vec<Tensor> {
    let mut rng = Rng::seed(seed);
    let mut out = Vec::new();
    let mut next = |shape: &[usize], view: &dyn Fn(Tensor) -> Tensor| {
        let dtype = DType::FLOATS[(out.len() + seed as usize) % 4];
        out.push(view(Tensor::uniform(shape, low, high, &mut rng, &cpu()).to(dtype)));
    };
    next(shape, &|x| x);
    if let [.., a, b] = *shape {
        let mut turned = shape.to_vec();
        turned[shape.len() - 2] = b;
        turned[shape.len() - 1] = a;
        next(&turned, &|x| x.transpose(-1, -2));
    }
    if let [.., n] = *shape {
        let mut larger = shape.to_vec();
        larger[shape.len() - 1] = n + 3;
        next(&larger, &|x| x.narrow(-1, 2, n));
        let mut one = shape.to_vec();
        one[0] = 1;
        next(&one, &|x| x.expand(shape));
    }
    out
}

/// A contiguous tensor of `f32`: for operands whose layout and dtype are not under test.
pub(crate) fn random(shape: &[usize], low: f32, high: f32, seed: u64) -> Tensor {
    Tensor::uniform(shape, low, high, &mut Rng::seed(seed), &cpu())
}

/// Checks an operation of one float operand: values, gradient, and that nothing is given where nothing is wanted.
#[track_caller]
pub(crate) fn check_unary<P>(
    x: &Tensor,
    want: &Array,
    f: impl Fn(Tensor) -> Tensor,
    vjp: impl Fn(Tensor, Want) -> (Tensor, P),
    first: impl Fn(P, Option<Tensor>) -> Option<Tensor>,
) {
    let y = f(x.clone());
    assert_eq!(y.dtype(), x.dtype());
    close(&y, want);
    let (y, pullback) = vjp(x.clone(), Want::ALL);
    close(&y, want);
    assert!(first(pullback, None).is_none(), "a zero cotangent gives a zero one");
    let (y, pullback) = vjp(x.clone(), Want::NONE);
    close(&y, want);
    assert!(first(pullback, Some(y.ones_like())).is_none(), "an unwanted cotangent is none");
    check_grad(
        |xs| f(xs[0].clone()),
        |xs, ct| vec![first(vjp(xs[0].clone(), Want::ALL).1, Some(ct))],
        std::slice::from_ref(x),
        GradCheck::default(),
    );
}

/// `pullback(ct)` of an operation without parameters.
pub(crate) fn pulled<P: Pullback<()>>(pullback: P, ct: P::Ct) -> P::In {
    pullback.pull(ct, &mut ())
}
