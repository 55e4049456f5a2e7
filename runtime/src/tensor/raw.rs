//! The untyped tensor below [`Tensor`](crate::Tensor): what operations compute with.

use super::copy;
use super::dims::{Dims, Strides};
use super::kind::Storage;
use crate::device::Device;
use crate::raise::raise;
use crate::report;
use bytemuck::Zeroable;
use cotangent_hal::{Arg, Buffer, DType, Error, Kernel, Scalar, View};

/// A strided window on a counted buffer. Clones share the buffer.
#[derive(Clone)]
pub(crate) struct Raw {
    pub(crate) device: Device,
    pub(crate) buffer: Buffer,
    pub(crate) dtype: DType,
    /// Position of the first element, in elements.
    pub(crate) offset: usize,
    pub(crate) shape: Dims,
    pub(crate) strides: Strides,
}

/// Runs `kernel` on `device` over the index space `shape`, with inputs, then outputs, then scalars.
#[track_caller]
pub(crate) fn launch(device: &Device, kernel: &'static Kernel, shape: &[usize], args: &[Arg<'_>]) {
    device.launch(kernel, shape, args)
}

impl Raw {
    /// A row-major tensor with unspecified contents; raises where the device has no memory for it.
    #[track_caller]
    pub(crate) fn empty(device: &Device, dtype: DType, shape: &[usize]) -> Raw {
        let shape = Dims::of("tensor", shape);
        let bytes = shape.iter().try_fold(dtype.size(), |bytes, &extent| bytes.checked_mul(extent));
        // An extent of 0 anywhere makes the tensor empty, even where the product of the others overflows.
        let bytes = if shape.contains(&0) { Some(0) } else { bytes };
        // What no `usize` counts is refused as any other request that is too large.
        let buffer = device.alloc(bytes.unwrap_or(usize::MAX));
        Raw { buffer, device: *device, dtype, offset: 0, strides: shape.row_major(), shape }
    }

    /// A row-major tensor whose every element is `value`.
    #[track_caller]
    pub(crate) fn full(device: &Device, dtype: DType, shape: &[usize], value: Scalar) -> Raw {
        let out = Raw::empty(device, dtype, shape);
        out.fill(value);
        out
    }

    /// A row-major tensor of the elements whose bytes are given; raises where their number is not that of `shape`.
    #[track_caller]
    pub(crate) fn from_bytes(op: &str, device: &Device, dtype: DType, shape: &[usize], bytes: &[u8]) -> Raw {
        let out = Raw::empty(device, dtype, shape);
        let (given, needed) = (bytes.len() / dtype.size(), out.numel());
        if given != needed {
            raise(Error::Shape {
                op: op.into(),
                message: format!("{given} elements were given, but {shape:?} has {needed}"),
            });
        }
        if needed > 0 {
            device.write(&out.buffer, bytes);
        }
        out
    }

    /// A row-major tensor of numbers that the host computes. Raises where the device has no memory for it, before there is
    /// any on the host.
    #[track_caller]
    pub(crate) fn computed<E: Storage>(device: &Device, shape: &[usize], values: impl Iterator<Item = E>) -> Raw {
        let out = Raw::empty(device, E::DTYPE, shape);
        let values: Vec<E> = values.collect();
        if !values.is_empty() {
            device.write(&out.buffer, E::bytes(&values));
        }
        out
    }

    /// The bytes of all elements in row-major order, into a buffer of exactly their length.
    #[track_caller]
    pub(crate) fn read_into(&self, bytes: &mut [u8]) {
        if bytes.is_empty() {
            return;
        }
        if self.offset == 0 && self.is_contiguous() {
            self.device.read(&self.buffer, bytes);
        } else {
            self.copy().read_into(bytes);
        }
    }

    /// All elements in row-major order, converted where they are stored as another type.
    #[track_caller]
    pub(crate) fn to_vec<E: Storage>(&self) -> Vec<E> {
        // What has no memory of its own on the device has none on the host either.
        let packed = self.clone().cast(E::DTYPE).contiguous();
        let mut stored = vec![Zeroable::zeroed(); self.numel()];
        packed.read_into(bytemuck::cast_slice_mut(&mut stored));
        stored.into_iter().map(E::of).collect()
    }

    /// The only element, converted as by [`to_vec`](Raw::to_vec), or `None` where there is not exactly one.
    #[track_caller]
    pub(crate) fn single<E: Storage>(&self) -> Option<E> {
        if self.numel() != 1 {
            return None;
        }
        let mut stored = Zeroable::zeroed();
        self.clone().cast(E::DTYPE).read_into(bytemuck::bytes_of_mut(&mut stored));
        Some(E::of(stored))
    }

    /// The result of an operation on tensors that it owns: the buffer of the first of `owned` that has the result's
    /// shape and dtype, is contiguous and has no other owner; otherwise a new one.
    ///
    /// The operation then writes in place, which kernels that read and write element by element allow. A tensor that
    /// the caller only borrows must be cloned before: its buffer then has two owners and is left alone.
    #[track_caller]
    pub(crate) fn output(device: &Device, dtype: DType, shape: &[usize], owned: &[&Raw]) -> Raw {
        for candidate in owned {
            if candidate.buffer.is_unique()
                && candidate.dtype == dtype
                && *candidate.shape == *shape
                && candidate.is_contiguous()
            {
                return (*candidate).clone();
            }
        }
        Raw::empty(device, dtype, shape)
    }

    /// The window as backends take it.
    pub(crate) fn view(&self) -> View<'_> {
        View {
            buffer: &self.buffer,
            dtype: self.dtype,
            offset: self.offset,
            shape: &self.shape,
            strides: &self.strides,
        }
    }

    /// The number of elements.
    pub(crate) fn numel(&self) -> usize {
        self.shape.numel()
    }

    /// Whether the elements lie one after another in row-major order.
    pub(crate) fn is_contiguous(&self) -> bool {
        self.view().is_contiguous()
    }

    /// The same values in row-major order: itself where that is so already, else a copy.
    #[track_caller]
    pub(crate) fn contiguous(self) -> Raw {
        if self.is_contiguous() { self } else { self.copy() }
    }

    /// A row-major copy.
    #[track_caller]
    pub(crate) fn copy(&self) -> Raw {
        let out = Raw::empty(&self.device, self.dtype, &self.shape);
        self.copy_to(&out);
        out
    }

    /// Writes the values to `out`, which has the same shape, a dtype of the same kind, and shares no memory with
    /// `self`.
    #[track_caller]
    pub(crate) fn copy_to(&self, out: &Raw) {
        if self.numel() == 0 {
            return;
        }
        let kernel = copy::cast_kernel(self.dtype, out.dtype);
        let (x, y) =
            if kernel.is_some() { (self.clone(), out.clone()) } else { (self.clone().bits(), out.clone().bits()) };
        let kernel = kernel.unwrap_or_else(|| copy::COPY.of(self.dtype));
        launch(&self.device, kernel, &self.shape, &[Arg::In(x.view()), Arg::Out(y.view())]);
    }

    /// Sets every element to `value`.
    #[track_caller]
    pub(crate) fn fill(&self, value: Scalar) {
        if self.numel() > 0 {
            launch(
                &self.device,
                copy::fill_kernel(self.dtype),
                &self.shape,
                &[Arg::Out(self.view()), Arg::Scalar(value)],
            );
        }
    }

    /// The same values converted, element by element; itself where it has that dtype already.
    #[track_caller]
    pub(crate) fn cast(self, dtype: DType) -> Raw {
        let Some(kernel) = copy::cast_kernel(self.dtype, dtype) else { return self };
        let out = Raw::empty(&self.device, dtype, &self.shape);
        if self.numel() > 0 {
            launch(&self.device, kernel, &self.shape, &[Arg::In(self.view()), Arg::Out(out.view())]);
        }
        out
    }

    /// A view in which axes of extent 1, and new leading axes, repeat their values; raises where an axis does not fit.
    #[track_caller]
    pub(crate) fn expand_to(&self, op: &str, shape: &[usize]) -> Raw {
        if *self.shape == *shape {
            return self.clone();
        }
        let lead = shape.len().wrapping_sub(self.shape.len());
        let mut strides = Strides::repeat(op, 0, shape.len());
        if self.shape.len() > shape.len() {
            raise(Error::Shape {
                op: op.into(),
                message: format!(
                    "{:?} has {} axes, more than {shape:?} with {}",
                    self.shape,
                    self.shape.len(),
                    shape.len()
                ),
            });
        }
        for axis in 0..self.shape.len() {
            let (given, wanted) = (self.shape[axis], shape[lead + axis]);
            if given == wanted {
                strides[lead + axis] = self.strides[axis];
            } else if given != 1 {
                raise(Error::Shape {
                    op: op.into(),
                    message: format!(
                        "{:?} does not expand to {shape:?}: axis {axis} is {given}, expected 1 or {wanted}",
                        self.shape
                    ),
                });
            }
        }
        Raw { shape: Dims::of(op, shape), strides, ..self.clone() }
    }

    /// The elements of a contiguous tensor under another shape of as many elements.
    #[track_caller]
    pub(crate) fn reinterpret(self, shape: &[usize]) -> Raw {
        let shape = Dims::of("reshape", shape);
        debug_assert!(self.is_contiguous() && self.numel() == shape.numel());
        Raw { strides: shape.row_major(), shape, ..self }
    }

    /// The tensor as a pullback keeps it: what a report counts.
    pub(crate) fn keep(self) -> Raw {
        report::kept(&self);
        self
    }

    /// What a view that repeats elements was expanded from: the row-major tensor of that shape.
    pub(crate) fn reinterpret_repeated(self, shape: &Dims) -> Raw {
        Raw { strides: shape.row_major(), shape: *shape, ..self }
    }

    /// Raises where `other` lives on another device.
    #[track_caller]
    pub(crate) fn same_device(&self, op: &str, other: &Raw) {
        if self.device != other.device {
            raise(Error::Backend {
                device: self.device.name().into(),
                message: format!("`{op}` got another tensor on `{}`; move one of them with `to_device`", other.device),
            });
        }
    }
}
