//! Arrays of the crate `ndarray`, with the feature of that name.

use super::{Kind, Storage, Tensor};
use crate::device::Device;
use crate::raise::raise;
use cotangent_hal::Error;
use ndarray::{ArrayBase, ArrayD, Data, Dimension, IxDyn};

impl<K: Kind> Tensor<K> {
    /// The elements of an array of any layout, copied to `device` in its logical order.
    #[track_caller]
    pub fn from_ndarray<E, S, D>(array: &ArrayBase<S, D>, device: &Device) -> Self
    where
        E: Storage<Kind = K>,
        S: Data<Elem = E>,
        D: Dimension,
    {
        let values: Vec<E> = array.iter().copied().collect();
        Tensor::from_slice_of(&values, array.shape(), device)
    }

    /// The elements as an array in row-major order, as [`to_vec`](Self::to_vec) reads them. Waits for the device.
    #[track_caller]
    pub fn to_ndarray(&self) -> ArrayD<K::Element> {
        match ArrayD::from_shape_vec(IxDyn(self.shape()), self.to_vec()) {
            Ok(array) => array,
            Err(fault) => raise(Error::Shape { op: "to_ndarray".into(), message: fault.to_string() }),
        }
    }
}
