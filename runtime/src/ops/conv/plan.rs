//! One convolution: its shapes, verified, and the library calls for its output and for its cotangents.

use crate::diff::Want;
use crate::ops::sizes::{IntoPadding, Sizes};
use crate::raise::raise;
use crate::tensor::{Dims, Raw, Tensor};
use cotangent_hal::{Activation, ConvolutionPart, DType, Epilogue, Error, LibraryCall, Window};

/// A convolution between images and what filters make of them, all with two axes behind the channels.
#[derive(Clone, Copy)]
pub(super) struct Conv {
    op: &'static str,
    window: Window,
    /// The shapes of the images, of the filters, and of what these make of the images.
    images: Dims,
    filters: Dims,
    outputs: Dims,
    /// The dtype of the result, and those of images, filters and bias.
    dtype: DType,
    dtypes: [DType; 3],
    /// Whether the tensors have one axis behind the channels instead of two.
    flat: bool,
}

/// What the pullback of a convolution keeps: each operand where the cotangent of the other is wanted.
pub(super) struct Back {
    conv: Conv,
    images: Option<Raw>,
    filters: Option<Raw>,
    bias: bool,
}

/// The stride and the dilation; raises where one of them is 0, or where there are no groups.
#[track_caller]
pub(super) fn steps<const N: usize>(
    op: &str,
    stride: impl Sizes<N>,
    dilation: impl Sizes<N>,
    groups: usize,
) -> [[usize; N]; 2] {
    let (stride, dilation) = (stride.sizes(op, "stride"), dilation.sizes(op, "dilation"));
    if stride.contains(&0) || dilation.contains(&0) || groups == 0 {
        let message = format!(
            "stride {stride:?}, dilation {dilation:?} and {groups} groups were given, expected at least 1 of each"
        );
        raise(Error::Argument { op: op.into(), message })
    }
    [stride, dilation]
}

/// The sizes along rows and columns: of a sequence, which has one row, the first is `single`.
pub(super) fn both<const N: usize, T: Copy>(sizes: [T; N], single: T) -> [T; 2] {
    match sizes[..] {
        [rows, columns] => [rows, columns],
        [columns] => [single, columns],
        _ => [single; 2],
    }
}

/// The number of elements that a filter of `size` reaches over; nothing where that is no number.
pub(super) fn reach(size: usize, dilation: usize) -> Option<usize> {
    match size.checked_sub(1) {
        Some(gaps) => gaps.checked_mul(dilation)?.checked_add(1),
        None => Some(0),
    }
}

impl Conv {
    /// The convolution of images `x` by `weight`; raises where shapes do not fit.
    #[track_caller]
    pub(super) fn new<const N: usize>(
        op: &'static str,
        x: &Tensor,
        weight: &Tensor,
        bias: Option<&Tensor>,
        stride: impl Sizes<N>,
        padding: impl IntoPadding<N>,
        dilation: impl Sizes<N>,
        groups: usize,
    ) -> Conv {
        let [stride, dilation] = steps(op, stride, dilation, groups);
        let [images, filters] = shapes::<N>(op, x, weight);
        if filters[1].checked_mul(groups) != Some(images[1]) || filters[0] % groups != 0 {
            let message = format!(
                "channels differ: {:?} with weight {:?} in {groups} groups, expected the weight [O, {}, ..] with O a \
                 multiple of the groups",
                x.shape(),
                weight.shape(),
                quotient(images[1], groups),
            );
            raise(Error::Shape { op: op.into(), message })
        }
        check_bias(op, bias, filters[0]);
        let mut extents = [0; N];
        let axes = 2 - N;
        let over: [usize; N] = std::array::from_fn(|i| reach(filters[2 + axes + i], dilation[i]).unwrap_or(usize::MAX));
        let zeros = padding.zeros(op, over, stride);
        for (i, extent) in extents.iter_mut().enumerate() {
            let size = images[2 + axes + i];
            let padded = size.checked_add(zeros[i][0]).and_then(|n| n.checked_add(zeros[i][1]));
            let Some(room) = padded.and_then(|padded| padded.checked_sub(over[i])) else {
                let message = format!(
                    "the filters reach over {} along axis {} of {:?}, which is {size} with {} zeros around",
                    over[i],
                    2 + i,
                    x.shape(),
                    zeros[i][0].saturating_add(zeros[i][1]),
                );
                raise(Error::Shape { op: op.into(), message })
            };
            *extent = room / stride[i] + 1;
        }
        let [rows, columns] = both(extents, 1);
        let outputs = Dims::of(op, &[images[0], filters[0], rows, columns]);
        let padding = both(zeros.map(|[before, _]| before), 0);
        let window = Window { stride: both(stride, 1), padding, dilation: both(dilation, 1), groups };
        Conv::of(op, [x, weight], bias, window, [images, filters, outputs])
    }

    /// The convolution of these shapes, which fit, between images, filters and outputs. `x` is what is given beside the
    /// weight.
    #[track_caller]
    pub(super) fn of(
        op: &'static str,
        [x, weight]: [&Tensor; 2],
        bias: Option<&Tensor>,
        window: Window,
        [images, filters, outputs]: [Dims; 3],
    ) -> Conv {
        x.raw.same_device(op, &weight.raw);
        let both = x.dtype().promote(weight.dtype());
        let dtype = bias.map_or(both, |bias| both.promote(bias.dtype()));
        let dtypes = [x.dtype(), weight.dtype(), bias.map_or(dtype, |bias| bias.dtype())];
        Conv { op, window, images, filters, outputs, dtype, dtypes, flat: x.shape().len() == 3 }
    }

    /// What the filters make of the images, `bias` added, then the function applied.
    #[track_caller]
    pub(super) fn output(&self, x: Tensor, weight: Tensor, bias: Option<Tensor>, then: Activation) -> Tensor {
        self.run(ConvolutionPart::Output, self.given(x), self.given(weight), bias, then)
    }

    /// As [`output`](Conv::output), with what the cotangents need.
    #[track_caller]
    pub(super) fn output__vjp(
        &self,
        x: Tensor,
        weight: Tensor,
        bias: Option<Tensor>,
        then: Activation,
        want: Want,
    ) -> (Tensor, Back) {
        let (images, filters) =
            (want.has(1).then(|| x.raw.clone().keep()), want.has(0).then(|| weight.raw.clone().keep()));
        let back = Back { conv: *self, images, filters, bias: want.has(2) && bias.is_some() };
        (self.output(x, weight, bias, then), back)
    }

    /// A tensor with two axes behind the channels, in the dtype of the result.
    #[track_caller]
    pub(super) fn given(&self, x: Tensor) -> Raw {
        let x = x.raw.cast(self.dtype);
        if self.flat { x.insert_axis(self.op, 2) } else { x }
    }

    /// The part of the convolution that the other two, in the order images, filters, outputs, make, and what becomes of
    /// its elements.
    #[track_caller]
    pub(super) fn run(
        &self,
        part: ConvolutionPart,
        first: Raw,
        second: Raw,
        bias: Option<Tensor>,
        activation: Activation,
    ) -> Tensor {
        let empty = |shape: &Dims| Raw::empty(&first.device, self.dtype, shape);
        let (made, [x, w, y]) = match part {
            ConvolutionPart::Output => {
                let y = empty(&self.outputs);
                (y.clone(), [first, second, y])
            }
            ConvolutionPart::Input => {
                let x = empty(&self.images);
                (x.clone(), [x, first, second])
            }
            ConvolutionPart::Weight => {
                let w = empty(&self.filters);
                (w.clone(), [first, w, second])
            }
        };
        let (x, w, y, window) = (x.view(), w.view(), y.view(), &self.window);
        let bias = bias.map(|bias| bias.raw.cast(self.dtype));
        let epilogue = Epilogue { bias: bias.as_ref().map(Raw::view), activation };
        made.device.library(&LibraryCall::Convolution { part, x, w, y, epilogue, window });
        Tensor::from_raw(if self.flat { made.remove_axis(2) } else { made })
    }

    /// The cotangent of an operand in the operand's dtype.
    #[track_caller]
    pub(super) fn cotangent(&self, operand: usize, part: ConvolutionPart, first: Raw, second: Raw) -> Tensor {
        let ct = self.run(part, first, second, None, Activation::Identity);
        Tensor::from_raw(ct.raw.cast(self.dtypes[operand]))
    }

    /// The cotangent of the bias: the sum over all but the channels.
    #[track_caller]
    pub(super) fn bias_cotangent(&self, ct: Tensor) -> Tensor {
        let compute = ct.dtype().compute();
        let sum = if self.flat { ct.to(compute).sum([0, 2]) } else { ct.to(compute).sum([0, 2, 3]) };
        sum.to(self.dtypes[2])
    }
}

impl Back {
    /// The cotangents of images, filters and bias.
    #[track_caller]
    pub(super) fn pull(self, ct: Option<Tensor>) -> [Option<Tensor>; 3] {
        let Some(ct) = ct else { return [None, None, None] };
        let conv = self.conv;
        let given = |x: Raw| conv.given(Tensor::from_raw(x));
        let y = conv.given(ct.clone());
        let x = self.filters.map(|w| conv.cotangent(0, ConvolutionPart::Input, given(w), y.clone()));
        let w = self.images.map(|x| conv.cotangent(1, ConvolutionPart::Weight, given(x), y));
        [x, w, self.bias.then(|| conv.bias_cotangent(ct))]
    }
}

/// The shapes of images and filters with two axes behind the channels.
#[track_caller]
pub(super) fn shapes<const N: usize>(op: &str, x: &Tensor, weight: &Tensor) -> [Dims; 2] {
    [("input", x), ("weight", weight)].map(|(what, tensor)| {
        if tensor.shape().len() != N + 2 {
            let form = match (N, what) {
                (1, "input") => "[N, C, L]",
                (1, _) => "[O, C / groups, K]",
                (_, "input") => "[N, C, H, W]",
                (_, _) => "[O, C / groups, KH, KW]",
            };
            let message = format!("the {what} is {:?}, expected {form}", tensor.shape());
            raise(Error::Shape { op: op.into(), message })
        }
        let mut shape = tensor.raw.shape;
        if N == 1 {
            shape.insert(op, 2, 1);
        }
        shape
    })
}

/// Raises where a bias is not one number for each of so many channels.
#[track_caller]
pub(super) fn check_bias(op: &str, bias: Option<&Tensor>, channels: usize) {
    if let Some(bias) = bias.filter(|bias| bias.shape() != [channels]) {
        let message =
            format!("the bias is {:?}, expected [{channels}]: one for each channel of the result", bias.shape());
        raise(Error::Shape { op: op.into(), message })
    }
}

/// A quotient in words where it is none.
fn quotient(a: usize, b: usize) -> String {
    if a.is_multiple_of(b) { (a / b).to_string() } else { format!("{a} / {b}") }
}
