//! Whether whole tensors are equal or close: one answer for all elements.

use super::operand::Operand;
use crate::tensor::{Bool, Int, Kind, Raw, Tensor, launch};
use cotangent_hal::{Arg, DType, Kernel, Scalar};

cotangent_hal::kernel! {
    static DIFFER_FLOATS = Pointwise "equal" (x: Each F32, y: Each F32) -> (count: Total I64) |tile| {
        count[0] += x.iter().zip(y).fold(0, |count, (a, b)| count + i64::from(a != b));
    }
}

cotangent_hal::kernel! {
    static DIFFER_INTS = Pointwise "equal" (x: Each I64, y: Each I64) -> (count: Total I64) |tile| {
        count[0] += x.iter().zip(y).fold(0, |count, (a, b)| count + i64::from(a != b));
    }
}

cotangent_hal::kernel! {
    static DIFFER_TRUTHS = Pointwise "equal" (x: Each Bool, y: Each Bool) -> (count: Total I64) |tile| {
        count[0] += x.iter().zip(y).fold(0, |count, (a, b)| count + i64::from(a != b));
    }
}

impl<K: Kind> Tensor<K> {
    /// Whether both have the same shape and the same elements, whatever their dtypes; NaN equals nothing. Waits for the
    /// device.
    #[track_caller]
    pub fn equal(&self, other: &Tensor<K>) -> bool {
        let kernel = match self.dtype().compute() {
            DType::Bool => &DIFFER_TRUTHS,
            DType::I64 | DType::I32 | DType::U8 => &DIFFER_INTS,
            DType::F64 | DType::F32 | DType::F16 | DType::BF16 => &DIFFER_FLOATS,
        };
        self.shape() == other.shape() && none(kernel, &self.raw, &other.raw)
    }
}

impl Tensor {
    /// Whether all elements are equal or differ by at most `atol + rtol * |other|`, as in PyTorch, whose defaults are
    /// `1e-5` and `1e-8`. NaN is close to nothing; shapes broadcast. Waits for the device.
    #[track_caller]
    pub fn allclose<A: Operand>(&self, other: A, rtol: f64, atol: f64) -> bool {
        self.clone().isclose(other, rtol, atol).all(..).item()
    }
}

impl Tensor<Int> {
    /// Where both are equal or differ by at most `atol + rtol * |other|`; shapes broadcast.
    #[track_caller]
    pub fn isclose<A: Operand>(self, other: A, rtol: f64, atol: f64) -> Tensor<Bool> {
        self.double().isclose(other, rtol, atol)
    }

    /// Whether all elements are equal or differ by at most `atol + rtol * |other|`; shapes broadcast. Waits for the
    /// device.
    #[track_caller]
    pub fn allclose<A: Operand>(&self, other: A, rtol: f64, atol: f64) -> bool {
        self.clone().isclose(other, rtol, atol).all(..).item()
    }
}

/// Whether a kernel that counts finds nothing in two tensors of one shape.
#[track_caller]
fn none(kernel: &'static Kernel, x: &Raw, y: &Raw) -> bool {
    x.same_device(kernel.name, y);
    if x.numel() == 0 {
        return true;
    }
    let count = Raw::full(&x.device, DType::I64, &[], Scalar::Int(0));
    launch(&x.device, kernel, &x.shape, &[Arg::In(x.view()), Arg::In(y.view()), Arg::Out(count.view())]);
    count.single::<i64>() == Some(0)
}
