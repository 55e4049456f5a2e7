//! Transposed convolutions: what a convolution does to cotangents, as an operation of its own.

use super::plan::{Conv, both, check_bias, reach, shapes, steps};
use super::{OptionalTensor, Sizes};
use crate::diff::{Pullback, Want, pull};
use crate::raise::raise;
use crate::tensor::{Dims, Tensor};
use cotangent_hal::{Activation, ConvolutionPart, Error, Window};

/// Declares a transposed convolution over so many axes.
macro_rules! transposed {
    ($($(#[$doc:meta])* $name:ident $companion:ident $axes:literal;)*) => {
        impl Tensor {
            $(
                $(#[$doc])*
                ///
                /// `output_padding` more rows and columns lie behind the others. The result has the promoted dtype of the
                /// operands. Raises `Error::Shape` for other ranks, where channels, groups or the bias do not fit, and
                /// where the padding leaves nothing, `Error::Argument` for a stride or dilation of 0 and for an
                /// `output_padding` that is no less than both.
                #[track_caller]
                pub fn $name(
                    self,
                    weight: Tensor,
                    bias: impl OptionalTensor,
                    stride: impl Sizes<$axes>,
                    padding: impl Sizes<$axes>,
                    output_padding: impl Sizes<$axes>,
                    groups: usize,
                    dilation: impl Sizes<$axes>,
                ) -> Tensor {
                    let (op, bias) = (stringify!($name), bias.optional());
                    let further = [padding.sizes(op, "padding"), output_padding.sizes(op, "output padding")];
                    let conv = adjoint(op, &self, &weight, bias.as_ref(), stride, further, groups, dilation);
                    run(&conv, self, weight, bias)
                }
                #[doc(hidden)]
                #[track_caller]
                pub fn $companion<B: OptionalTensor, S: Sizes<$axes>, P: Sizes<$axes>, O: Sizes<$axes>, D: Sizes<$axes>>(
                    self,
                    weight: Tensor,
                    bias: B,
                    stride: S,
                    padding: P,
                    output_padding: O,
                    groups: usize,
                    dilation: D,
                    want: Want,
                ) -> (
                    Tensor,
                    impl Pullback<
                        (),
                        Ct = Option<Tensor>,
                        In = (Option<Tensor>, Option<Tensor>, Option<Tensor>, (), (), (), (), ()),
                    > + use<B, S, P, O, D>,
                ) {
                    let (op, bias) = (stringify!($name), bias.optional());
                    let further = [padding.sizes(op, "padding"), output_padding.sizes(op, "output padding")];
                    let conv = adjoint(op, &self, &weight, bias.as_ref(), stride, further, groups, dilation);
                    let kept_x = want.has(1).then(|| self.raw.clone().keep());
                    let kept_w = want.has(0).then(|| weight.raw.clone().keep());
                    let wants_bias = want.has(2) && bias.is_some();
                    let y = run(&conv, self, weight, bias);
                    (y, pull(move |ct: Option<Tensor>, (): &mut ()| {
                        let Some(ct) = ct else { return Default::default() };
                        let given = |raw| conv.given(Tensor::from_raw(raw));
                        let image = conv.given(ct.clone());
                        let x = kept_w.map(|w| conv.cotangent(0, ConvolutionPart::Output, image.clone(), given(w)));
                        let w = kept_x.map(|x| conv.cotangent(1, ConvolutionPart::Weight, image, given(x)));
                        (x, w, wants_bias.then(|| conv.bias_cotangent(ct)), (), (), (), (), ())
                    }))
                }
            )*
        }
    };
}

transposed! {
    /// The transposed convolution of images: the linear map that takes cotangents of the output of
    /// [`conv2d`](Tensor::conv2d) to those of its input, with the same `weight`, `stride`, `padding` and `dilation`.
    /// `[N, C, H, W], [C, O / groups, KH, KW], [O] -> [N, O, OH, OW]` with `OH = (H - 1) stride - 2 padding + dilation
    /// (KH - 1) + output_padding + 1`.
    conv_transpose2d conv_transpose2d__vjp 2;
    /// The transposed convolution of sequences, as [`conv_transpose2d`](Tensor::conv_transpose2d) of images:
    /// `[N, C, L], [C, O / groups, K], [O] -> [N, O, OL]`.
    conv_transpose1d conv_transpose1d__vjp 1;
}

/// The convolution that a transposed one belongs to: its outputs are what is given, its images what comes out.
#[track_caller]
fn adjoint<const N: usize>(
    op: &'static str,
    x: &Tensor,
    weight: &Tensor,
    bias: Option<&Tensor>,
    stride: impl Sizes<N>,
    [padding, more]: [[usize; N]; 2],
    groups: usize,
    dilation: impl Sizes<N>,
) -> Conv {
    let [stride, dilation] = steps(op, stride, dilation, groups);
    let [outputs, filters] = shapes::<N>(op, x, weight);
    let channels = filters[1].checked_mul(groups);
    let Some(channels) = channels.filter(|_| filters[0] == outputs[1] && outputs[1].is_multiple_of(groups)) else {
        let message = format!(
            "channels differ: {:?} with weight {:?} in {groups} groups, expected the weight [{}, O / groups, ..] with \
             the groups a divisor of {}",
            x.shape(),
            weight.shape(),
            outputs[1],
            outputs[1],
        );
        raise(Error::Shape { op: op.into(), message })
    };
    check_bias(op, bias, channels);
    let mut extents = [0; N];
    for (i, extent) in extents.iter_mut().enumerate() {
        if more[i] >= stride[i].max(dilation[i]) {
            let message = format!(
                "the output padding is {more:?}, expected less than the stride {stride:?} or the dilation {dilation:?}"
            );
            raise(Error::Argument { op: op.into(), message })
        }
        let axis = 4 - N + i;
        let covered = match outputs[axis].checked_sub(1) {
            Some(steps) => steps.checked_mul(stride[i]).zip(reach(filters[axis], dilation[i])),
            None => None,
        };
        let covered = covered.and_then(|(steps, reach)| steps.checked_add(reach)?.checked_add(more[i]));
        let around = padding[i].checked_mul(2);
        match covered.zip(around).and_then(|(covered, around)| covered.checked_sub(around)) {
            Some(left) if left > 0 => *extent = left,
            _ => {
                let message = format!(
                    "a padding of {} leaves nothing along axis {} of {:?} with weight {:?}",
                    padding[i],
                    2 + i,
                    x.shape(),
                    weight.shape()
                );
                raise(Error::Shape { op: op.into(), message })
            }
        }
    }
    let [rows, columns] = both(extents, 1);
    let images = Dims::of(op, &[outputs[0], channels, rows, columns]);
    let window = Window { stride: both(stride, 1), padding: both(padding, 0), dilation: both(dilation, 1), groups };
    Conv::of(op, [x, weight], bias, window, [images, filters, outputs])
}

#[track_caller]
fn run(conv: &Conv, x: Tensor, weight: Tensor, bias: Option<Tensor>) -> Tensor {
    conv.run(ConvolutionPart::Input, conv.given(weight), conv.given(x), bias, Activation::Identity)
}
