//! Covariances and correlations of variables, and the product of Kronecker.

#![allow(non_snake_case, reason = "companions are named `<operation>__vjp`")]
#![allow(clippy::type_complexity, reason = "the type of a companion names all of its cotangents")]

use super::summation::einsum;
use crate::diff::{Pullback, Want};
use crate::raise::raise;
use crate::tensor::{Dims, Raw, Tensor};
use cotangent_hal::Error;
use cotangent_macros::model;

/// The covariances of rows, over `n - correction`.
#[model]
fn covariance(x: Tensor, divisor: f64) -> Tensor {
    let centred = x.clone() - x.mean_keepdim(-1);
    centred.clone().matmul(centred.transpose(0, 1)) / divisor
}

/// Covariances over the deviations of both variables.
#[model]
fn correlation(x: Tensor) -> Tensor {
    let products = covariance(x, 1.0);
    let deviation = einsum("ii->i", (products.clone(),)).sqrt();
    (products / deviation.clone().unsqueeze(1) / deviation.unsqueeze(0)).clamp(-1.0, 1.0)
}

/// Every element of `a` times all of `b`, with these shapes on the way.
#[model]
fn blocks(a: Tensor, b: Tensor, spread: &Dims, within: &Dims, whole: &Dims) -> Tensor {
    (a.reshape(spread) * b.reshape(within)).reshape(whole)
}

impl Tensor {
    /// The covariances of variables that are rows, over their number of observations less `correction`:
    /// `[V, N] -> [V, V]`. PyTorch's correction is 1.
    ///
    /// Raises `Error::Shape` for other ranks.
    #[track_caller]
    pub fn cov(self, correction: usize) -> Tensor {
        let divisor = observations("cov", &self, correction);
        covariance(self, divisor)
    }

    #[doc(hidden)]
    #[track_caller]
    pub fn cov__vjp(
        self,
        correction: usize,
        want: Want,
    ) -> (Tensor, impl Pullback<(), Ct = Option<Tensor>, In = (Option<Tensor>, ())> + use<>) {
        let divisor = observations("cov", &self, correction);
        covariance::vjp(self, divisor, want.of_function())
    }

    /// The correlations of variables that are rows: their covariances over the deviations of both, between -1 and 1.
    /// `[V, N] -> [V, V]`; NaN for a variable that does not vary.
    ///
    /// Raises `Error::Shape` for other ranks.
    #[track_caller]
    pub fn corrcoef(self) -> Tensor {
        observations("corrcoef", &self, 0);
        correlation(self)
    }

    #[doc(hidden)]
    #[track_caller]
    pub fn corrcoef__vjp(
        self,
        want: Want,
    ) -> (Tensor, impl Pullback<(), Ct = Option<Tensor>, In = (Option<Tensor>,)> + use<>) {
        observations("corrcoef", &self, 0);
        correlation::vjp(self, want.of_function())
    }

    /// The product of Kronecker: every element of `self` times all of `other`, as one block. Extents multiply; the tensor
    /// with fewer axes gets leading ones of extent 1.
    #[track_caller]
    pub fn kron(self, other: Tensor) -> Tensor {
        let [spread, within, whole] = block_shapes(&self.raw, &other.raw);
        blocks(self, other, &spread, &within, &whole)
    }

    #[doc(hidden)]
    #[track_caller]
    pub fn kron__vjp(
        self,
        other: Tensor,
        want: Want,
    ) -> (Tensor, impl Pullback<(), Ct = Option<Tensor>, In = (Option<Tensor>, Option<Tensor>)> + use<>) {
        let [spread, within, whole] = block_shapes(&self.raw, &other.raw);
        let (y, product) = blocks::vjp(self, other, &spread, &within, &whole, want.of_function());
        let pullback = crate::diff::pull(move |ct, (): &mut ()| {
            let (da, db, (), (), ()) = product.pull(ct, &mut ());
            (da, db)
        });
        (y, pullback)
    }
}

#[track_caller]
fn observations(op: &str, x: &Tensor, correction: usize) -> f64 {
    if x.rank() != 2 {
        let message = format!("{:?} was given, expected variables by observations, 2 axes", x.shape());
        raise(Error::Shape { op: op.into(), message });
    }
    x.shape()[1].saturating_sub(correction) as f64
}

/// `[a0, 1, a1, 1, ..]`, `[1, b0, 1, b1, ..]` and `[a0 b0, a1 b1, ..]`; axes of extent 1 are left out where there are too
/// many.
#[track_caller]
fn block_shapes(a: &Raw, b: &Raw) -> [Dims; 3] {
    let rank = a.shape.len().max(b.shape.len());
    let extent = |x: &Raw, axis: usize| (axis + x.shape.len()).checked_sub(rank).map_or(1, |at| x.shape[at]);
    let (mut spread, mut within, mut whole) = (Dims::new(), Dims::new(), Dims::new());
    for axis in 0..rank {
        let (m, n) = (extent(a, axis), extent(b, axis));
        whole.push("kron", m * n);
        if m != 1 {
            spread.push("kron", m);
            within.push("kron", 1);
        }
        if n != 1 {
            spread.push("kron", 1);
            within.push("kron", n);
        }
    }
    [spread, within, whole]
}
