//! Tensors from numbers.

use super::{Bool, Element, Float, Int, IntoShape, Kind, Raw, Storage, Tensor};
use crate::device::Device;
use cotangent_hal::{DType, Scalar};

impl<K: Kind> Tensor<K> {
    /// The elements of `data` in row-major order, copied to `device`. The numbers' type gives the kind.
    ///
    /// Raises where the number of elements is not that of `shape`.
    #[track_caller]
    pub fn from_slice<E: Element<Kind = K>>(data: &[E], shape: impl IntoShape, device: &Device) -> Self {
        let shape = shape.into_shape().all("from_slice");
        Tensor::from_raw(Raw::from_bytes("from_slice", device, E::DTYPE, &shape, E::bytes(data)))
    }

    /// As [`from_slice`](Self::from_slice), of any number of the kind: `Tensor::from_slice_of(&[1.0f64, 2.0], ..)`.
    #[track_caller]
    pub fn from_slice_of<E: Storage<Kind = K>>(data: &[E], shape: impl IntoShape, device: &Device) -> Self {
        let shape = shape.into_shape().all("from_slice_of");
        Tensor::from_raw(Raw::from_bytes("from_slice_of", device, E::DTYPE, &shape, E::bytes(data)))
    }

    /// As [`from_slice`](Self::from_slice).
    #[track_caller]
    pub fn from_vec<E: Element<Kind = K>>(data: Vec<E>, shape: impl IntoShape, device: &Device) -> Self {
        let shape = shape.into_shape().all("from_vec");
        Tensor::from_raw(Raw::from_bytes("from_vec", device, E::DTYPE, &shape, E::bytes(&data)))
    }

    /// `value` everywhere. The number's type gives the kind.
    #[track_caller]
    pub fn full<E: Element<Kind = K>>(shape: impl IntoShape, value: E, device: &Device) -> Self {
        Tensor::from_raw(Raw::full(device, E::DTYPE, &shape.into_shape().all("full"), value.scalar()))
    }

    /// As [`full`](Self::full), of any number of the kind.
    #[track_caller]
    pub fn full_of<E: Storage<Kind = K>>(shape: impl IntoShape, value: E, device: &Device) -> Self {
        Tensor::from_raw(Raw::full(device, E::DTYPE, &shape.into_shape().all("full_of"), value.scalar()))
    }

    /// 0 everywhere (false, of truth values), of this tensor's shape, dtype and device.
    #[track_caller]
    pub fn zeros_like(&self) -> Self {
        Tensor::from_raw(Raw::full(&self.raw.device, self.raw.dtype, &self.raw.shape, Scalar::Int(0)))
    }

    /// 1 everywhere (true, of truth values), of this tensor's shape, dtype and device.
    #[track_caller]
    pub fn ones_like(&self) -> Self {
        Tensor::from_raw(Raw::full(&self.raw.device, self.raw.dtype, &self.raw.shape, Scalar::Int(1)))
    }

    /// `value` everywhere, of this tensor's shape, dtype and device.
    #[track_caller]
    pub fn full_like<E: Element<Kind = K>>(&self, value: E) -> Self {
        Tensor::from_raw(Raw::full(&self.raw.device, self.raw.dtype, &self.raw.shape, value.scalar()))
    }

    /// A tensor without axes. The number's type gives the kind.
    #[track_caller]
    pub fn scalar<E: Element<Kind = K>>(value: E, device: &Device) -> Self {
        Tensor::from_raw(Raw::full(device, E::DTYPE, &[], value.scalar()))
    }
}

impl Tensor<Float> {
    /// 0 everywhere.
    #[track_caller]
    pub fn zeros(shape: impl IntoShape, device: &Device) -> Self {
        Tensor::from_raw(Raw::full(device, DType::F32, &shape.into_shape().all("zeros"), Scalar::Float(0.0)))
    }

    /// 1 everywhere.
    #[track_caller]
    pub fn ones(shape: impl IntoShape, device: &Device) -> Self {
        Tensor::from_raw(Raw::full(device, DType::F32, &shape.into_shape().all("ones"), Scalar::Float(1.0)))
    }
}

impl Tensor<Int> {
    /// `0, 1, .., n - 1` on `device`: `[n]`.
    #[track_caller]
    pub fn arange(n: usize, device: &Device) -> Self {
        Tensor::from_raw(Raw::computed(device, &[n], 0..n as i64))
    }
}

impl Tensor<Bool> {
    /// Which pairs of query (row) and key (column) a causal attention must not see: `[n, n]`, true where the key comes
    /// after the query.
    #[track_caller]
    pub fn causal_mask(n: usize, device: &Device) -> Self {
        let values = (0..n).flat_map(|query| (0..n).map(move |key| key > query));
        Tensor::from_raw(Raw::computed(device, &[n, n], values))
    }
}

/// `0, 1, .., n - 1` on the processor: `[n]`.
#[cfg(feature = "cpu")]
#[track_caller]
pub fn arange(n: usize) -> Tensor<Int> {
    Tensor::arange(n, &Device::cpu())
}

/// [`Tensor::causal_mask`] on the processor: `[n, n]`, true where the key (column) comes after the query (row).
#[cfg(feature = "cpu")]
#[track_caller]
pub fn causal_mask(n: usize) -> Tensor<Bool> {
    Tensor::causal_mask(n, &Device::cpu())
}
