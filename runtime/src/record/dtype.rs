//! Dtypes as safetensors names them.

use cotangent_hal::DType;
use safetensors::Dtype;

/// The dtype in a header.
pub(super) fn written(dtype: DType) -> Dtype {
    match dtype {
        DType::F64 => Dtype::F64,
        DType::F32 => Dtype::F32,
        DType::F16 => Dtype::F16,
        DType::BF16 => Dtype::BF16,
        DType::I64 => Dtype::I64,
        DType::I32 => Dtype::I32,
        DType::U8 => Dtype::U8,
        DType::Bool => Dtype::BOOL,
    }
}

/// The dtype of a tensor with that header; `None` where tensors have no such dtype.
pub(super) fn read(dtype: Dtype) -> Option<DType> {
    DType::ALL.into_iter().find(|&own| written(own) == dtype)
}

/// Swaps the bytes of elements on a machine whose order is not that of the file, which is little-endian.
pub(super) fn in_file_order(dtype: DType, bytes: &mut [u8]) {
    if cfg!(target_endian = "big") {
        bytes.chunks_exact_mut(dtype.size()).for_each(<[u8]>::reverse);
    }
}
