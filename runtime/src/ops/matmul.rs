//! Matrix products of vectors, matrices and batches of matrices.
//!
//! A product is cut into calls of the library on views: nothing is copied for transposed, sliced or repeated operands,
//! unless the leading axes of one matrix cannot be walked with one stride.

#![allow(non_snake_case, reason = "companions are named `<operation>__vjp`")]
#![allow(clippy::type_complexity, reason = "the type of a companion names all of its cotangents")]

use super::ending::ended;
use super::fold::sum_to;
use crate::diff::{Pullback, Want, pull};
use crate::raise::raise;
use crate::tensor::{Dims, Raw, Strides, Tensor, broadcast};
use cotangent_hal::{Activation, DType, Epilogue, Error, LibraryCall, Scalar};

/// The operation's name in errors.
const OP: &str = "matmul";

impl Tensor {
    /// The matrix product, as PyTorch defines it: `[.., M, K] x [.., K, N] -> [.., M, N]` with leading axes broadcast;
    /// a vector `[K]` on the left counts as a row, on the right as a column, and its extra axis is dropped from the
    /// result. Factors of different dtypes are promoted; sums of 16-bit floats are formed in `f32` and rounded once.
    ///
    /// Raises `Error::Shape` where the inner extents differ, leading axes do not broadcast, or an operand is a scalar.
    #[track_caller]
    pub fn matmul(self, other: Tensor) -> Tensor {
        self.matmul__then(other, Activation::Identity)
    }

    #[doc(hidden)]
    #[track_caller]
    pub fn matmul__then(self, other: Tensor, then: Activation) -> Tensor {
        let product = Product::new(&self.raw, &other.raw);
        Tensor::from_raw(product.run(&self.raw, &other.raw, then))
    }

    #[doc(hidden)]
    #[track_caller]
    pub fn matmul__vjp(
        self,
        other: Tensor,
        want: Want,
    ) -> (Tensor, impl Pullback<(), Ct = Option<Tensor>, In = (Option<Tensor>, Option<Tensor>)> + use<>) {
        differentiable(self.raw, other.raw, Activation::Identity, want)
    }

    #[doc(hidden)]
    #[track_caller]
    pub fn matmul__then__vjp(
        self,
        other: Tensor,
        then: Activation,
        want: Want,
    ) -> (Tensor, impl Pullback<(), Ct = Option<Tensor>, In = (Option<Tensor>, Option<Tensor>, ())> + use<>) {
        let (y, factors, chain) = ended(then, want, |then| differentiable(self.raw, other.raw, then, want));
        let pullback = pull(move |ct, (): &mut ()| {
            let (a, b) = factors.pull(chain.pull(ct, &mut ()).0, &mut ());
            (a, b, ())
        });
        (y, pullback)
    }
}

#[track_caller]
fn differentiable(a: Raw, b: Raw, then: Activation, want: Want) -> (Tensor, Factors) {
    let product = Product::new(&a, &b);
    let y = Tensor::from_raw(product.run(&a, &b, then));
    let (a, b) = (want.has(1).then(|| a.keep()), want.has(0).then(|| b.keep()));
    (y, Factors { product, a, b })
}

/// The shapes and dtypes of a product.
struct Product {
    a: Dims,
    b: Dims,
    dtypes: (DType, DType),
    /// The leading axes of the result.
    batch: Dims,
    m: usize,
    n: usize,
}

/// The pullback of a product: each factor's cotangent needs the other factor.
struct Factors {
    product: Product,
    a: Option<Raw>,
    b: Option<Raw>,
}

impl Pullback<()> for Factors {
    type Ct = Option<Tensor>;
    type In = (Option<Tensor>, Option<Tensor>);
    fn pull(self, ct: Option<Tensor>, (): &mut ()) -> Self::In {
        let Some(ct) = ct else { return (None, None) };
        let ct = self.product.as_matrices(&ct.raw);
        let da = self.b.map(|b| Tensor::from_raw(self.product.left_cotangent(&ct, &b)));
        let db = self.a.map(|a| Tensor::from_raw(self.product.right_cotangent(&ct, &a)));
        (da, db)
    }
}

impl Product {
    #[track_caller]
    fn new(a: &Raw, b: &Raw) -> Product {
        a.same_device(OP, b);
        if a.shape.is_empty() || b.shape.is_empty() {
            let message = format!("{:?} x {:?}: a scalar is no matrix; use `*`", a.shape, b.shape);
            raise(Error::Shape { op: OP.into(), message });
        }
        let (am, bm) = (as_row(a), as_column(b));
        let (ra, rb) = (am.shape.len(), bm.shape.len());
        if am.shape[ra - 1] != bm.shape[rb - 2] {
            let message = format!(
                "inner dimensions differ: {:?} x {:?}, {} and {}",
                a.shape,
                b.shape,
                am.shape[ra - 1],
                bm.shape[rb - 2]
            );
            raise(Error::Shape { op: OP.into(), message });
        }
        let batch = broadcast(OP, &am.shape[..ra - 2], &bm.shape[..rb - 2]);
        Product { a: a.shape, b: b.shape, dtypes: (a.dtype, b.dtype), batch, m: am.shape[ra - 2], n: bm.shape[rb - 1] }
    }

    fn run(&self, a: &Raw, b: &Raw, then: Activation) -> Raw {
        let y = multiply_then(&as_row(a), &as_column(b), &self.batch, then);
        let mut shape = self.batch;
        if self.a.len() > 1 {
            shape.push(OP, self.m);
        }
        if self.b.len() > 1 {
            shape.push(OP, self.n);
        }
        y.reinterpret(&shape)
    }

    /// The result's cotangent with the axes that vectors lack: `[batch.., M, N]`.
    fn as_matrices(&self, ct: &Raw) -> Raw {
        let mut ct = ct.clone();
        if self.b.len() == 1 {
            ct = unsqueezed(&ct, ct.shape.len());
        }
        if self.a.len() == 1 {
            ct = unsqueezed(&ct, ct.shape.len() - 1);
        }
        ct
    }

    /// `ct bᵀ`, summed where `a` was repeated.
    fn left_cotangent(&self, ct: &Raw, b: &Raw) -> Raw {
        let da = multiply(ct, &transposed(&as_column(b)), &self.batch);
        self.back_to(da, &self.a, 0).cast(self.dtypes.0)
    }

    /// `aᵀ ct`, summed where `b` was repeated; for a single matrix `b` in one product over all rows.
    fn right_cotangent(&self, ct: &Raw, a: &Raw) -> Raw {
        let a = as_row(a);
        if self.b.len() <= 2 && !self.batch.is_empty() {
            let a = flattened(a.expand_to(OP, &joined(&self.batch, &a.shape[a.shape.len() - 2..])));
            let db = multiply(&transposed(&a), &flattened(ct.clone()), &[]);
            return db.reinterpret(&self.b).cast(self.dtypes.1);
        }
        let db = multiply(&transposed(&a), ct, &self.batch);
        self.back_to(db, &self.b, 1).cast(self.dtypes.1)
    }

    /// A cotangent `[batch.., _, _]` summed to a factor's leading axes, without the axis that a vector lacks.
    fn back_to(&self, ct: Raw, shape: &Dims, extra: usize) -> Raw {
        let rank = ct.shape.len();
        let matrix = [ct.shape[rank - 2], ct.shape[rank - 1]];
        let full = if shape.len() == 1 { Dims::of(OP, &matrix) } else { *shape };
        debug_assert!(shape.len() > 1 || matrix[extra] == 1);
        sum_to(ct, &full).reinterpret(shape)
    }
}

/// `a b` for `a: [.., M, K]`, `b: [.., K, N]` whose leading axes broadcast to `batch`.
pub(super) fn multiply(a: &Raw, b: &Raw, batch: &[usize]) -> Raw {
    multiply_then(a, b, batch, Activation::Identity)
}

/// As [`multiply`], with a function of each element, which is 0 at 0.
fn multiply_then(a: &Raw, b: &Raw, batch: &[usize], then: Activation) -> Raw {
    let dtype = a.dtype.promote(b.dtype);
    let (a, b) = (&a.clone().cast(dtype), &b.clone().cast(dtype));
    let (m, k) = (a.shape[a.shape.len() - 2], a.shape[a.shape.len() - 1]);
    let n = b.shape[b.shape.len() - 1];
    let out = Raw::empty(&a.device, dtype, &joined(batch, &[m, n]));
    if out.numel() == 0 {
        return out;
    }
    if k == 0 {
        out.fill(Scalar::Float(0.0));
        return out;
    }
    // One matrix on the right serves all rows of the left: one product, if the rows have one stride.
    if b.shape.len() == 2 && !batch.is_empty() {
        let rows = a.expand_to(OP, &joined(batch, &[m, k]));
        if let Some(rows) = try_flattened(&rows) {
            let y = out.clone().reinterpret(&[rows.shape[0], n]);
            call(&with_batch(&rows), &with_batch(b), &with_batch(&y), then);
            return out;
        }
    }
    let a = a.expand_to(OP, &joined(batch, &[m, k]));
    let b = b.expand_to(OP, &joined(batch, &[k, n]));
    batched(&a, &b, &out, then);
    out
}

/// Products of `[batch.., M, K]` and `[batch.., K, N]`: one call for as many of the last leading axes as all three walk
/// with one stride, repeated over the others.
fn batched(a: &Raw, b: &Raw, out: &Raw, then: Activation) {
    let leading = out.shape.len() - 2;
    let mut first = leading;
    let (mut extent, mut strides) = (1, [0; 3]);
    let all = [a, b, out];
    while first > 0 {
        let axis = first - 1;
        let here = all.map(|x| x.strides[axis]);
        let fits = extent == 1 || (0..3).all(|i| here[i] == strides[i] * extent as isize);
        if !fits && out.shape[axis] != 1 {
            break;
        }
        if extent == 1 {
            strides = here;
        }
        extent *= out.shape[axis];
        first = axis;
    }
    let calls: usize = out.shape[..first].iter().product();
    for number in 0..calls {
        let part = |which: usize| {
            let x = all[which];
            let (mut rest, mut at) = (number, x.offset as isize);
            for axis in (0..first).rev() {
                at += (rest % out.shape[axis]) as isize * x.strides[axis];
                rest /= out.shape[axis];
            }
            let shape = Dims::of(OP, &[extent, x.shape[leading], x.shape[leading + 1]]);
            let strides = Strides::of(OP, &[strides[which], x.strides[leading], x.strides[leading + 1]]);
            Raw { shape, strides, offset: at as usize, ..x.clone() }
        };
        call(&part(0), &part(1), &part(2), then);
    }
}

fn call(a: &Raw, b: &Raw, out: &Raw, activation: Activation) {
    let epilogue = Epilogue { bias: None, activation };
    a.device.library(&LibraryCall::MatMul { a: a.view(), b: b.view(), out: out.view(), epilogue });
}

/// A vector as a matrix of one row; else itself.
pub(super) fn as_row(x: &Raw) -> Raw {
    if x.shape.len() == 1 { unsqueezed(x, 0) } else { x.clone() }
}

/// A vector as a matrix of one column; else itself.
fn as_column(x: &Raw) -> Raw {
    if x.shape.len() == 1 { unsqueezed(x, 1) } else { x.clone() }
}

fn unsqueezed(x: &Raw, axis: usize) -> Raw {
    let mut x = x.clone();
    x.shape.insert(OP, axis, 1);
    x.strides.insert(OP, axis, 0);
    x
}

pub(super) fn with_batch(x: &Raw) -> Raw {
    unsqueezed(x, 0)
}

/// The last two axes exchanged: a view.
pub(super) fn transposed(x: &Raw) -> Raw {
    let mut x = x.clone();
    let rank = x.shape.len();
    x.shape.swap(rank - 2, rank - 1);
    x.strides.swap(rank - 2, rank - 1);
    x
}

fn joined(leading: &[usize], last: &[usize]) -> Dims {
    let mut dims = Dims::of(OP, leading);
    last.iter().for_each(|&extent| dims.push(OP, extent));
    dims
}

/// `[.., M, K]` as `[.. * M, K]`, copied where the strides do not allow a view.
pub(super) fn flattened(x: Raw) -> Raw {
    match try_flattened(&x) {
        Some(x) => x,
        None => {
            let last = x.shape[x.shape.len() - 1];
            let rows = x.shape[..x.shape.len() - 1].iter().product();
            x.contiguous().reinterpret(&[rows, last])
        }
    }
}

/// `[.., M, K]` as a view `[.. * M, K]`, if all but the last axis can be walked with one stride.
fn try_flattened(x: &Raw) -> Option<Raw> {
    let rank = x.shape.len();
    let (mut extent, mut stride) = (1, 0);
    for axis in (0..rank - 1).rev() {
        if x.shape[axis] == 1 {
            continue;
        }
        if extent != 1 && x.strides[axis] != stride * extent as isize {
            return None;
        }
        if extent == 1 {
            stride = x.strides[axis];
        }
        extent *= x.shape[axis];
    }
    let shape = Dims::of(OP, &[extent, x.shape[rank - 1]]);
    let strides = Strides::of(OP, &[stride, x.strides[rank - 1]]);
    Some(Raw { shape, strides, ..x.clone() })
}
