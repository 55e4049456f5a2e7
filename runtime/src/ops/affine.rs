//! Affine maps: a product whose bias is added before its elements are stored.

#![allow(non_snake_case, reason = "companions are named `<operation>__vjp`")]
#![allow(clippy::type_complexity, reason = "the type of a companion names all of its cotangents")]

use super::ending::ended;
use super::fold::sum_to;
use super::matmul::{as_row, flattened, multiply, transposed, with_batch};
use crate::diff::{Pullback, Want, pull};
use crate::raise::raise;
use crate::tensor::{Dims, Raw, Tensor};
use cotangent_hal::{Activation, DType, Epilogue, Error, LibraryCall};

/// The operation's name in errors.
const OP: &str = "linear";

impl Tensor {
    /// The affine map of the last axis, `x Wᵀ + b`: `[.., I], [O, I], [O] -> [.., O]`. Operands of different dtypes are
    /// promoted; sums of 16-bit floats are formed in `f32` and rounded once, the bias included. PyTorch's
    /// `functional.linear`; without a bias it is `x.matmul(w.t())`.
    ///
    /// Raises `Error::Shape` where the weight is no matrix of rows as long as the last axis of `x`, or the bias has not a
    /// number for each row.
    #[track_caller]
    pub fn linear(self, weight: Tensor, bias: Tensor) -> Tensor {
        self.linear__then(weight, bias, Activation::Identity)
    }

    #[doc(hidden)]
    #[track_caller]
    pub fn linear__then(self, weight: Tensor, bias: Tensor, then: Activation) -> Tensor {
        Tensor::from_raw(map(&self.raw, &weight.raw, &bias.raw, then))
    }

    #[doc(hidden)]
    #[track_caller]
    pub fn linear__vjp(
        self,
        weight: Tensor,
        bias: Tensor,
        want: Want,
    ) -> (Tensor, impl Pullback<(), Ct = Option<Tensor>, In = (Option<Tensor>, Option<Tensor>, Option<Tensor>)> + use<>)
    {
        differentiable(self.raw, weight.raw, bias.raw, Activation::Identity, want)
    }

    #[doc(hidden)]
    #[track_caller]
    pub fn linear__then__vjp(
        self,
        weight: Tensor,
        bias: Tensor,
        then: Activation,
        want: Want,
    ) -> (
        Tensor,
        impl Pullback<(), Ct = Option<Tensor>, In = (Option<Tensor>, Option<Tensor>, Option<Tensor>, ())> + use<>,
    ) {
        let make = |then| differentiable(self.raw, weight.raw, bias.raw, then, want);
        let (y, operands, chain) = ended(then, want, make);
        let pullback = pull(move |ct, (): &mut ()| {
            let (x, weight, bias) = operands.pull(chain.pull(ct, &mut ()).0, &mut ());
            (x, weight, bias, ())
        });
        (y, pullback)
    }
}

#[track_caller]
fn differentiable(x: Raw, w: Raw, bias: Raw, then: Activation, want: Want) -> (Tensor, Operands) {
    let y = Tensor::from_raw(map(&x, &w, &bias, then));
    let operands = Operands {
        shape: x.shape,
        dtypes: [x.dtype, w.dtype, bias.dtype],
        x: want.has(1).then(|| x.keep()),
        weight: want.has(0).then(|| w.keep()),
        bias: want.has(2).then_some(bias.shape),
    };
    (y, operands)
}

/// The pullback: the cotangents of `x` and of the weight need the other one.
struct Operands {
    /// That of `x`.
    shape: Dims,
    dtypes: [DType; 3],
    x: Option<Raw>,
    weight: Option<Raw>,
    bias: Option<Dims>,
}

impl Pullback<()> for Operands {
    type Ct = Option<Tensor>;
    type In = (Option<Tensor>, Option<Tensor>, Option<Tensor>);
    fn pull(self, ct: Option<Tensor>, (): &mut ()) -> Self::In {
        let Some(ct) = ct else { return (None, None, None) };
        let rows = flattened(as_row(&ct.raw));
        let given = |raw: Raw, i: usize| Tensor::from_raw(raw.cast(self.dtypes[i]));
        let dx = self.weight.map(|w| given(multiply(&rows, &w, &[]).reinterpret(&self.shape), 0));
        let dw = self.x.map(|x| given(multiply(&transposed(&rows), &flattened(as_row(&x)), &[]), 1));
        let db = self.bias.map(|shape| given(sum_to(rows, &shape), 2));
        (dx, dw, db)
    }
}

/// The function of `x wᵀ + bias`.
#[track_caller]
fn map(x: &Raw, w: &Raw, bias: &Raw, then: Activation) -> Raw {
    x.same_device(OP, w);
    x.same_device(OP, bias);
    let (&[outputs, inputs], Some((&last, leading))) = (&*w.shape, x.shape.split_last()) else {
        let message = format!("{:?} with the weight {:?}, expected `[.., I]` and `[O, I]`", x.shape, w.shape);
        raise(Error::Shape { op: OP.into(), message })
    };
    if last != inputs || *bias.shape != [outputs] {
        let message = format!(
            "{:?} with the weight {:?} and the bias {:?}, expected `[.., I]`, `[O, I]` and `[O]`",
            x.shape, w.shape, bias.shape
        );
        raise(Error::Shape { op: OP.into(), message });
    }
    let mut shape = Dims::of(OP, leading);
    shape.push(OP, outputs);
    let dtype = x.dtype.promote(w.dtype).promote(bias.dtype);
    let out = Raw::empty(&x.device, dtype, &shape);
    if out.numel() > 0 {
        let rows = flattened(as_row(&x.clone().cast(dtype)));
        let y = out.clone().reinterpret(&[rows.shape[0], outputs]);
        let (w, bias) = (transposed(&w.clone().cast(dtype)), bias.clone().cast(dtype));
        let (a, b, y) = (with_batch(&rows), with_batch(&w), with_batch(&y));
        let epilogue = Epilogue { bias: Some(bias.view()), activation: then };
        x.device.library(&LibraryCall::MatMul { a: a.view(), b: b.view(), out: y.view(), epilogue });
    }
    out
}
