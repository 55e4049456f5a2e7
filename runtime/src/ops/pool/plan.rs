//! One pool: its windows, verified, and its tensors as planes.

use super::axis::Axis;
use crate::ops::sizes::Sizes;
use crate::raise::raise;
use crate::tensor::{Dims, Raw};
use cotangent_hal::{Arg, DType, Error};

/// A pool of the planes that the last two axes, or rows of the last axis, are.
#[derive(Clone, Copy)]
pub(super) struct Pool {
    /// The windows along rows and columns.
    pub(super) axes: [Axis; 2],
    count: usize,
    operand: Dims,
    result: Dims,
    dtype: DType,
}

/// The windows of a pool as they are given.
pub(super) struct Given<const N: usize> {
    pub(super) kernel: [usize; N],
    pub(super) stride: [usize; N],
    pub(super) padding: [usize; N],
    pub(super) dilation: [usize; N],
    /// Whether windows may begin inside and reach behind the padding.
    pub(super) ceil: bool,
}

impl<const N: usize> Given<N> {
    /// Windows side by side.
    #[track_caller]
    pub(super) fn side_by_side(op: &str, kernel: impl Sizes<N>) -> Given<N> {
        let kernel = kernel.sizes(op, "kernel");
        Given { kernel, stride: kernel, padding: [0; N], dilation: [1; N], ceil: false }
    }

    /// The pool of `x` by these windows; raises where they do not fit.
    #[track_caller]
    pub(super) fn of(self, op: &str, x: &Raw) -> Pool {
        let Given { kernel, stride, padding, dilation, ceil } = self;
        if [kernel, stride, dilation].iter().flatten().any(|&n| n == 0) {
            let message = format!(
                "kernel {kernel:?}, stride {stride:?} and dilation {dilation:?} were given, expected at least 1 of each"
            );
            raise(Error::Argument { op: op.into(), message })
        }
        let sizes = extents::<N>(op, x);
        let mut axes = [Axis::SINGLE; 2];
        for i in 0..N {
            let (window, stride, padding, dilation, size) = (kernel[i], stride[i], padding[i], dilation[i], sizes[i]);
            let reach = (window - 1).checked_mul(dilation).and_then(|n| n.checked_add(1));
            if reach.is_none_or(|reach| padding > reach / 2) {
                let message = format!(
                    "the padding {padding} is more than half of the window, which is {window} in steps of {dilation}"
                );
                raise(Error::Argument { op: op.into(), message })
            }
            let room = size.checked_add(2 * padding).zip(reach).and_then(|(padded, reach)| padded.checked_sub(reach));
            let Some(room) = room else {
                let message = format!(
                    "a window of {window} in steps of {dilation} does not fit: axis {} of {:?} is {size}, with a padding of \
                     {padding} on both sides",
                    x.shape.len() - N + i,
                    x.shape,
                );
                raise(Error::Shape { op: op.into(), message })
            };
            let mut output = if ceil { room.div_ceil(stride) } else { room / stride } + 1;
            if ceil && (output - 1) * stride >= size + padding {
                output -= 1;
            }
            axes[2 - N + i] = Axis { size, output, window, stride, padding, dilation };
        }
        Pool::new::<N>(op, x, axes)
    }
}

impl Pool {
    /// The pool of `x` whose windows share out each axis among so many.
    #[track_caller]
    pub(super) fn adaptive<const N: usize>(op: &str, x: &Raw, output: impl Sizes<N>) -> Pool {
        let (output, sizes) = (output.sizes(op, "size"), extents::<N>(op, x));
        let mut axes = [Axis::SINGLE; 2];
        for i in 0..N {
            axes[2 - N + i] = Axis::shared(sizes[i], output[i]);
        }
        Pool::new::<N>(op, x, axes)
    }

    fn new<const N: usize>(op: &str, x: &Raw, axes: [Axis; 2]) -> Pool {
        let (lead, mut result) = (x.shape.len() - N, x.shape);
        for i in 0..N {
            result[lead + i] = axes[2 - N + i].output;
        }
        Pool { axes, count: Dims::of(op, &x.shape[..lead]).numel(), operand: x.shape, result, dtype: x.dtype }
    }

    /// The numbers that describe the windows.
    pub(super) fn scalars(&self) -> Vec<Arg<'static>> {
        self.axes.iter().flat_map(Axis::scalars).map(Arg::Scalar).collect()
    }

    /// The operand with a plane in each row.
    #[track_caller]
    pub(super) fn planes(&self, x: &Raw) -> Raw {
        let size = self.axes.iter().map(|axis| axis.size).product();
        x.clone().reshape(&Dims::of("pool", &[self.count, size]))
    }

    /// A tensor of the result's shape with a plane in each row.
    #[track_caller]
    pub(super) fn planes_of_result(&self, y: Raw) -> Raw {
        y.reshape(&Dims::of("pool", &[self.count, self.outputs()]))
    }

    /// Memory for a result.
    #[track_caller]
    pub(super) fn empty(&self, x: &Raw, dtype: DType) -> Raw {
        Raw::empty(&x.device, dtype, &[self.count, self.outputs()])
    }

    /// Memory for the operand's cotangent.
    #[track_caller]
    pub(super) fn empty_operand(&self, beside: &Raw) -> Raw {
        let size = self.axes.iter().map(|axis| axis.size).product();
        Raw::empty(&beside.device, self.dtype, &[self.count, size])
    }

    /// A result in its own shape.
    pub(super) fn finish(&self, y: Raw) -> Raw {
        y.reinterpret(&self.result)
    }

    /// The operand's cotangent in its own shape.
    pub(super) fn finish_operand(&self, dx: Raw) -> Raw {
        dx.reinterpret(&self.operand)
    }

    fn outputs(&self) -> usize {
        self.axes.iter().map(|axis| axis.output).product()
    }
}

/// The extents of the last axes, none of which is empty.
#[track_caller]
fn extents<const N: usize>(op: &str, x: &Raw) -> [usize; N] {
    let Some(sizes) = x.shape.last_chunk() else {
        let message = format!("{:?} has {} axes, expected at least {N}", x.shape, x.shape.len());
        raise(Error::Shape { op: op.into(), message })
    };
    if let Some(empty) = sizes.iter().position(|&size| size == 0) {
        let message = format!("axis {} of {:?} is empty", x.shape.len() - N + empty, x.shape);
        raise(Error::Shape { op: op.into(), message })
    }
    *sizes
}
