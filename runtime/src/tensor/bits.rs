//! Kernels that move elements without looking at them: one for each size of an element serves all dtypes.

use super::Raw;
use cotangent_hal::{DType, Kernel};

/// One kernel for each size of an element. Its operands that are moved are seen as [`Raw::bits`].
pub(crate) struct Moves(pub(crate) [&'static Kernel; 4]);

impl Moves {
    /// The kernel for elements of a dtype.
    pub(crate) fn of(&self, dtype: DType) -> &'static Kernel {
        let [w8, w16, w32, w64] = self.0;
        match bits_of(dtype) {
            DType::U8 => w8,
            DType::F16 => w16,
            DType::F32 => w32,
            DType::F64 | DType::BF16 | DType::I64 | DType::I32 | DType::Bool => w64,
        }
    }
}

impl Raw {
    /// The same elements under the dtype that stands for bits of their size.
    pub(crate) fn bits(self) -> Raw {
        Raw { dtype: bits_of(self.dtype), ..self }
    }
}

/// The dtype as which kernels see elements that they only move.
fn bits_of(dtype: DType) -> DType {
    match dtype {
        DType::F64 | DType::I64 => DType::I64,
        DType::F32 | DType::I32 => DType::F32,
        DType::F16 | DType::BF16 => DType::F16,
        DType::U8 | DType::Bool => DType::U8,
    }
}

/// Declares [`Moves`] from a macro of the caller that declares the kernel of a name with a dtype for what is moved.
macro_rules! of_each_size {
    ($kernel:ident => $vis:vis $NAME:ident) => {
        $vis static $NAME: $crate::tensor::Moves = {
            $kernel!(W8 U8);
            $kernel!(W16 F16);
            $kernel!(W32 F32);
            $kernel!(W64 I64);
            $crate::tensor::Moves([&W8, &W16, &W32, &W64])
        };
    };
}
pub(crate) use of_each_size;
