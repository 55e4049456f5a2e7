//! Conversion between dtypes and kinds. Cotangents are converted back.

#![allow(non_snake_case, reason = "companions are named `<operation>__vjp`")]

use super::{Bool, Int, Kind, Tensor};
use crate::diff::{Pullback, Want, pull};
use crate::raise::raise;
use cotangent_hal::{DType, Error};

impl<K: Kind> Tensor<K> {
    /// The same values as `dtype`, another of the same kind: rounded to nearest with ties to even; integers wrap.
    /// Itself where it has that dtype.
    ///
    /// Raises `Error::Dtype` where the dtype is of another kind: a change of kind is one of type, by
    /// [`int`](Self::int), [`float`](Self::float) and [`bool`](Self::bool).
    #[track_caller]
    pub fn to(self, dtype: DType) -> Self {
        if !K::accepts(dtype) {
            raise(Error::Dtype { op: "to".into(), given: dtype, accepted: K::DTYPES.to_vec() });
        }
        Tensor::from_raw(self.raw.cast(dtype))
    }

    #[doc(hidden)]
    #[track_caller]
    pub fn to__vjp(self, dtype: DType, want: Want) -> (Self, impl Pullback<(), Ct = K::Ct, In = (K::Ct, ())> + use<K>) {
        let from = want.has(0).then_some(self.dtype());
        let y = self.to(dtype);
        (y, pull(move |ct, (): &mut ()| (back::<K>(K::ct_tensor(ct), from), ())))
    }

    /// The values as floats of `dtype`; of truth values, true is 1.
    #[track_caller]
    pub(crate) fn floats(self, dtype: DType) -> Tensor {
        Tensor::from_raw(self.raw.cast(dtype))
    }
}

/// A cotangent in the dtype of the operand; nothing where the kind has none, or nobody wants it.
fn back<K: Kind>(ct: Option<Tensor>, from: Option<DType>) -> K::Ct {
    K::ct(ct.zip(from.filter(|_| K::ACTIVE)).map(|(ct, from)| ct.to(from)))
}

/// Declares conversions of every kind to floats, and their companions.
macro_rules! floats {
    ($($(#[$doc:meta])* $name:ident, $companion:ident, $dtype:ident;)*) => {
        impl<K: Kind> Tensor<K> {
            $(
                $(#[$doc])*
                ///
                /// Of truth values, true is 1 and false 0.
                #[track_caller]
                pub fn $name(self) -> Tensor {
                    self.floats(DType::$dtype)
                }
                #[doc(hidden)]
                #[track_caller]
                pub fn $companion(
                    self,
                    want: Want,
                ) -> (Tensor, impl Pullback<(), Ct = Option<Tensor>, In = (K::Ct,)> + use<K>) {
                    let from = want.has(0).then_some(self.dtype());
                    let y = self.$name();
                    (y, pull(move |ct, (): &mut ()| (back::<K>(ct, from),)))
                }
            )*
        }
    };
}

floats! {
    /// The values as `f32`.
    float, float__vjp, F32;
    /// The values as `f64`.
    double, double__vjp, F64;
    /// The values as `f16`. What is beyond 65504 becomes infinite; [`bfloat16`](Tensor::bfloat16) has the range of
    /// `f32`.
    half, half__vjp, F16;
    /// The values as `bf16`.
    bfloat16, bfloat16__vjp, BF16;
}

impl<K: Kind> Tensor<K> {
    /// The values as integers (`i64`): floats towards zero, true as 1. NaN becomes 0, and what is out of range the nearest
    /// integer. [`to`](Self::to) makes other precisions of them, which wraps.
    #[track_caller]
    pub fn int(self) -> Tensor<Int> {
        Tensor::from_raw(self.raw.cast(DType::I64))
    }

    /// Where the values are not 0: true for NaN.
    #[track_caller]
    pub fn bool(self) -> Tensor<Bool> {
        Tensor::from_raw(self.raw.cast(DType::Bool))
    }
}
