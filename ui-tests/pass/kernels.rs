//! Kernels wherever an item may stand, in a crate with strict lints: expansions add nothing that they refuse.
#![forbid(unsafe_code)]
#![deny(missing_docs, warnings, clippy::all)]

use cotangent::prelude::*;
use cotangent::testing::assert_close;

/// Root-mean-square normalisation over the last axis.
#[kernel]
pub fn rms_norm(x: Tensor![R.., C], w: Tensor![C], eps: f32) -> Tensor![R.., C] {
    |r, i| {
        let ms = mean(|j| x[r][j] * x[r][j]);
        x[r][i] * rsqrt(ms + eps) * w[i]
    }
}

/// Pointwise, and public.
#[kernel]
pub fn swish(x: f32) -> f32 {
    x * sigmoid(x)
}

/// Two results for a kernel that takes them apart.
#[kernel]
pub fn rotate(x: f32, y: f32) -> (f32, f32) {
    (x - y, x + y)
}

/// Calls one of a name like a function's.
#[kernel]
pub fn swirl(x: f32, y: f32) -> f32 {
    let (a, b) = rotate(x, y);
    gelu2(a) * self::mish(b)
}

/// A public kernel whose gradient is private.
#[kernel(vjp = gelu2_slope(x, ct))]
pub fn gelu2(x: f32) -> f32 {
    gelu(gelu(x))
}

#[kernel]
fn gelu2_slope(x: f32, ct: f32) -> f32 {
    ct * x
}

/// Of the name of a function.
#[kernel]
fn mish(x: f32) -> f32 {
    2.0 * x
}

/// A constant of this crate.
const TAPS: usize = 3;

/// Constants as dims.
#[kernel]
pub fn taps(x: Tensor![N], w: Tensor![{ TAPS }]) -> Tensor![N - { TAPS } + 1] {
    |i| sum(|k| x[i + k] * w[k])
}

/// Several results of different kinds.
#[kernel]
pub fn peaks(x: Tensor![R.., C]) -> (Tensor![R..], Tensor![Int; R..]) {
    |r| (max(|j| x[r][j]), argmax(|j| x[r][j]))
}

/// Private, and changing its argument.
#[kernel]
fn descend(w: &mut Tensor![N..], g: Tensor![N..], lr: f32) {
    |i| {
        w[i] -= lr * g[i];
    }
}

#[kernel]
fn noisy(x: Tensor![N], key: Key, scale: f32) -> Tensor![N] {
    |i| x[i] + scale * uniform(key, i)
}

#[kernel]
fn rows(ids: Tensor![Int; T], w: Tensor![V, C]) -> Tensor![T, C] {
    |t, c| w[ids[t]][c]
}

/// Left out, with all that is emitted for it.
#[cfg(any())]
#[kernel]
pub fn rows(x: Missing) -> Tensor![N] {
    |i| x[i]
}

pub mod nested {
    //! Another module.

    pub(super) mod inner {
        use cotangent::prelude::*;

        #[kernel]
        pub(in super::super) fn product(a: Tensor![M, K], b: Tensor![K, N]) -> Tensor![M, N] {
            |i, j| sum(|k| a[i][k] * b[k][j])
        }
    }
}

/// A layer with a kernel.
#[model(dims(C))]
pub struct Normed {
    /// A scale.
    #[init(ones)]
    pub w: Param![C],
}

#[model]
impl Normed {
    /// Mean of squares.
    pub fn loss(&self, x: Tensor![B, C]) -> Tensor![] {
        rms_norm(x, self.w, 1e-5).map(swish).square().mean(..)
    }
}

#[cfg(test)]
mod tests {
    use cotangent::prelude::*;

    #[kernel]
    fn doubled(x: f32) -> f32 {
        2.0 * x
    }

    #[test]
    fn doubles() {
        assert_eq!(Tensor::ones([1], &Device::cpu()).map(doubled).item(), 2.0);
    }
}

fn main() {
    #[kernel]
    fn halves(x: Tensor![R.., 2*H]) -> Tensor![R.., H] {
        |r, i| x[r][i] * x[r][i + H]
    }

    #[kernel]
    fn doubled(x: f32) -> f32 {
        2.0 * x
    }

    let device = Device::cpu();
    let x = Tensor::ones([3, 4], &device);
    assert_eq!(halves(x.clone()).shape(), [3, 2]);
    assert_eq!(x.clone().map(doubled).map(swish).shape(), [3, 4]);
    assert_eq!(x.clone().zip_map(1.0, swirl).shape(), [3, 4]);
    assert_eq!(taps(Tensor::ones([5], &device), Tensor::ones([TAPS], &device)).to_vec(), vec![3.0; 3]);
    let (most, at) = peaks(x.clone());
    assert_eq!((most.to_vec(), at.to_vec()), (vec![1.0; 3], vec![0; 3]));
    let mut w = x.clone();
    descend(&mut w, x.clone(), 0.25);
    assert_close(&w, &Tensor::full([3, 4], 0.75f32, &device), 0.0, 1e-6);
    let random = noisy(Tensor::zeros([5], &device), Rng::seed(0).key(), 1.0).to_vec();
    assert!(random.iter().all(|v| (0.0..1.0).contains(v)));
    let ids = Tensor::<Int>::from_slice(&[2, 0], [2], &device);
    assert_eq!(rows(ids, x.clone()).shape(), [2, 4]);
    assert_eq!(nested::inner::product(x.clone(), x.clone().t()).to_vec(), vec![4.0; 9]);
    let model = Normed::init(NormedConfig::new(4), &mut Rng::seed(0), &device);
    let (loss, grads) = model.loss_grad(x);
    assert!(loss.item() > 0.0 && grads.w.is_some());
}
