//! Tensors: typed by kind, counted, strided.
//!
//! **Invariant:** a tensor is a value. Operations never change a tensor that anyone else can see: they write in place
//! only where the buffer has one owner, and views share memory only for reading.

mod bits;
mod convert;
mod copy;
mod create;
mod dims;
mod display;
#[cfg(feature = "image")]
mod image;
mod kind;
#[cfg(feature = "ndarray")]
mod ndarray;
mod raw;
mod sequence;
mod sizes;

#[cfg(feature = "cpu")]
pub use create::{arange, causal_mask};
pub use dims::{Dims, MAX_RANK, PerAxis, Strides};
pub use kind::{Bool, Element, Float, Int, Kind, Storage};
pub use sequence::Constant;
pub use sizes::{Axes, Extent, Extents, IntoAxes, IntoShape};

pub(crate) use bits::{Moves, of_each_size};
pub(crate) use dims::{broadcast, broadcast_all, try_broadcast};
pub(crate) use raw::{Raw, launch};
pub(crate) use sizes::{axis_below, axis_of};

use crate::device::Device;
use crate::raise::raise;
use cotangent_hal::{DType, Error};
use std::fmt;
use std::marker::PhantomData;

/// A tensor of rank 0 to 8: floats unless `K` says [`Int`] or [`Bool`].
///
/// A clone is a reference count. Operations take tensors by value, so that a buffer with one owner is reused in place.
/// Errors are raised (see [`attempt`](crate::attempt)).
pub struct Tensor<K: Kind = Float> {
    pub(crate) raw: Raw,
    kind: PhantomData<K>,
}

impl<K: Kind> Tensor<K> {
    /// Gives a raw tensor its kind, which the caller knows to be `K`.
    pub(crate) fn from_raw(raw: Raw) -> Self {
        debug_assert!(K::accepts(raw.dtype), "a tensor of dtype `{}` is not of this kind", raw.dtype);
        Tensor { raw, kind: PhantomData }
    }

    /// The extents, outermost first.
    pub fn shape(&self) -> &[usize] {
        &self.raw.shape
    }

    /// The extent of an axis, counted from the end where negative; raises where there is no such axis.
    #[track_caller]
    pub fn size(&self, axis: isize) -> usize {
        self.raw.shape[axis_of("size", axis, &self.raw.shape)]
    }

    /// The number of axes.
    pub fn rank(&self) -> usize {
        self.raw.shape.len()
    }

    /// The number of elements.
    pub fn numel(&self) -> usize {
        self.raw.numel()
    }

    /// The type of an element.
    pub fn dtype(&self) -> DType {
        self.raw.dtype
    }

    /// Where the tensor lives.
    pub fn device(&self) -> &Device {
        &self.raw.device
    }

    /// Whether the elements lie one after another in row-major order.
    pub fn is_contiguous(&self) -> bool {
        self.raw.is_contiguous()
    }

    /// All elements in row-major order, as the number of the kind: `f32`, `i64` or `bool`, whatever the dtype. Waits
    /// for the device.
    #[track_caller]
    pub fn to_vec(&self) -> Vec<K::Element> {
        self.raw.to_vec()
    }

    /// All elements in row-major order as any number of the kind, such as `f64`, converted where the dtype is another.
    #[track_caller]
    pub fn to_vec_of<E: Storage<Kind = K>>(&self) -> Vec<E> {
        self.raw.to_vec()
    }

    /// The only element, as [`to_vec`](Self::to_vec) reads it; raises where there is not exactly one. Waits for the
    /// device.
    #[track_caller]
    pub fn item(&self) -> K::Element {
        self.item_of()
    }

    /// As [`item`](Self::item), as any number of the kind.
    #[track_caller]
    pub fn item_of<E: Storage<Kind = K>>(&self) -> E {
        match self.raw.single() {
            Some(element) => element,
            None => raise(Error::Shape {
                op: "item".into(),
                message: format!(
                    "{:?} has {} elements, but only a single one can be read as a number",
                    self.shape(),
                    self.numel()
                ),
            }),
        }
    }

    /// The same values on `device`; itself where it lives there.
    #[track_caller]
    pub fn to_device(self, device: &Device) -> Self {
        if self.raw.device == *device {
            return self;
        }
        let mut bytes = vec![0; self.numel() * self.dtype().size()];
        self.raw.read_into(&mut bytes);
        Tensor::from_raw(Raw::from_bytes("to_device", device, self.dtype(), self.shape(), &bytes))
    }
}

impl Tensor<Float> {
    /// The same values, cut off from the derivative.
    pub fn detach(self) -> Self {
        self
    }
}

impl<K: Kind> Clone for Tensor<K> {
    fn clone(&self) -> Self {
        Tensor { raw: self.raw.clone(), kind: PhantomData }
    }
}

/// The values as PyTorch prints them: four decimals or powers of ten, large tensors by their edges.
impl<K: Kind> fmt::Display for Tensor<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&display::text(&self.raw))
    }
}

/// Short: `Tensor[2, 3] f32 on cpu`. The values are in the `Display` form.
impl<K: Kind> fmt::Debug for Tensor<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Tensor{:?} {} on {}", self.raw.shape, self.raw.dtype, self.raw.device)
    }
}
