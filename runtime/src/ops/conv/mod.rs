//! Convolutions of images and of sequences, which are images of one row.

#![allow(non_snake_case, reason = "companions are named `<operation>__vjp`")]
#![allow(clippy::type_complexity, reason = "the type of a companion names all of its cotangents")]
#![allow(clippy::too_many_arguments, reason = "the arguments are PyTorch's")]

mod plan;
mod transpose;

use super::ending::ended;
use super::sizes::{IntoPadding, Sizes};
use crate::diff::{Diff, Pullback, Want, pull};
use crate::tensor::Tensor;
use cotangent_hal::Activation;
use plan::Conv;

/// What a parameter that may be left out can be: a tensor, or an option of one.
pub trait OptionalTensor: Diff<Ct = Option<Tensor>> {
    /// The tensor, where there is one.
    #[doc(hidden)]
    fn optional(self) -> Option<Tensor>;
}

impl OptionalTensor for Tensor {
    fn optional(self) -> Option<Tensor> {
        Some(self)
    }
}

impl OptionalTensor for Option<Tensor> {
    fn optional(self) -> Option<Tensor> {
        self
    }
}

/// Declares a convolution over so many axes, and the one that ends in a function.
macro_rules! convolutions {
    ($($(#[$doc:meta])* $name:ident $companion:ident $then:ident $then_companion:ident $axes:literal;)*) => {
        impl Tensor {
            $(
                $(#[$doc])*
                ///
                /// `stride`, `padding` and `dilation` are [`Sizes`], the padding also a [`Padding`](super::Padding). The
                /// result has the promoted dtype of the operands; sums of 16-bit floats are formed in `f32` and rounded
                /// once.
                ///
                /// Raises `Error::Shape` for other ranks, where channels, groups or the bias do not fit, and where
                /// filters reach further than the padded images, `Error::Argument` for a stride or dilation of 0.
                #[track_caller]
                pub fn $name(
                    self,
                    weight: Tensor,
                    bias: impl OptionalTensor,
                    stride: impl Sizes<$axes>,
                    padding: impl IntoPadding<$axes>,
                    dilation: impl Sizes<$axes>,
                    groups: usize,
                ) -> Tensor {
                    self.$then(weight, bias, stride, padding, dilation, groups, Activation::Identity)
                }
                #[doc(hidden)]
                #[track_caller]
                pub fn $companion<B: OptionalTensor, S: Sizes<$axes>, P: IntoPadding<$axes>, D: Sizes<$axes>>(
                    self,
                    weight: Tensor,
                    bias: B,
                    stride: S,
                    padding: P,
                    dilation: D,
                    groups: usize,
                    want: Want,
                ) -> (
                    Tensor,
                    impl Pullback<
                        (),
                        Ct = Option<Tensor>,
                        In = (Option<Tensor>, Option<Tensor>, Option<Tensor>, (), (), (), ()),
                    > + use<B, S, P, D>,
                ) {
                    let then = Activation::Identity;
                    let (y, back) =
                        self.$then_companion(weight, bias, stride, padding, dilation, groups, then, want);
                    (y, pull(move |ct, (): &mut ()| {
                        let (x, w, b, ..) = back.pull(ct, &mut ());
                        (x, w, b, (), (), (), ())
                    }))
                }

                #[doc(hidden)]
                #[track_caller]
                pub fn $then(
                    self,
                    weight: Tensor,
                    bias: impl OptionalTensor,
                    stride: impl Sizes<$axes>,
                    padding: impl IntoPadding<$axes>,
                    dilation: impl Sizes<$axes>,
                    groups: usize,
                    then: Activation,
                ) -> Tensor {
                    let bias = bias.optional();
                    let conv = Conv::new(
                        stringify!($name), &self, &weight, bias.as_ref(), stride, padding, dilation, groups,
                    );
                    conv.output(self, weight, bias, then)
                }
                #[doc(hidden)]
                #[track_caller]
                pub fn $then_companion<
                    B: OptionalTensor,
                    S: Sizes<$axes>,
                    P: IntoPadding<$axes>,
                    D: Sizes<$axes>,
                >(
                    self,
                    weight: Tensor,
                    bias: B,
                    stride: S,
                    padding: P,
                    dilation: D,
                    groups: usize,
                    then: Activation,
                    want: Want,
                ) -> (
                    Tensor,
                    impl Pullback<
                        (),
                        Ct = Option<Tensor>,
                        In = (Option<Tensor>, Option<Tensor>, Option<Tensor>, (), (), (), (), ()),
                    > + use<B, S, P, D>,
                ) {
                    let bias = bias.optional();
                    let conv = Conv::new(
                        stringify!($name), &self, &weight, bias.as_ref(), stride, padding, dilation, groups,
                    );
                    let (y, back, chain) =
                        ended(then, want, |then| conv.output__vjp(self, weight, bias, then, want));
                    (y, pull(move |ct: Option<Tensor>, (): &mut ()| {
                        let [x, w, b] = back.pull(chain.pull(ct, &mut ()).0);
                        (x, w, b, (), (), (), (), ())
                    }))
                }
            )*
        }
    };
}

convolutions! {
    /// The convolution of images: `y[n, o, i, j] = bias[o] + sum_{c, k, l} weight[o, c, k, l] x[n, c', i * stride + k *
    /// dilation - padding, ..]` with zeros outside of the images, where the channels `c'` are those of the group of `o`.
    /// `[N, C, H, W], [O, C / groups, KH, KW], [O] -> [N, O, OH, OW]` with `OH = floor((H + 2 padding - dilation (KH - 1)
    /// - 1) / stride) + 1`.
    conv2d conv2d__vjp conv2d__then conv2d__then__vjp 2;
    /// The convolution of sequences, as [`conv2d`](Tensor::conv2d) of images: `[N, C, L], [O, C / groups, K], [O] ->
    /// [N, O, OL]`.
    conv1d conv1d__vjp conv1d__then conv1d__then__vjp 1;
}
