//! Tensors whose elements follow a rule: sequences, identities, masks; and tensors from nested arrays.

use super::{Bool, Element, Float, Int, IntoShape, Kind, Raw, Tensor};
use crate::device::Device;
use crate::ops::Number;
use crate::raise::raise;
use cotangent_hal::{DType, Error, Scalar};

/// 0 or 1 everywhere, for the kinds without a derivative: `Tensor::<Int>::zeros([2], &device)`. `Tensor::zeros` alone
/// makes floats.
pub trait Constant: Sized {
    /// 0 everywhere; false, of truth values.
    fn zeros(shape: impl IntoShape, device: &Device) -> Self;
    /// 1 everywhere; true, of truth values.
    fn ones(shape: impl IntoShape, device: &Device) -> Self;
}

macro_rules! constant {
    ($($K:ident of $dtype:ident),*) => { $(
        impl Constant for Tensor<$K> {
            #[track_caller]
            fn zeros(shape: impl IntoShape, device: &Device) -> Self {
                Tensor::from_raw(Raw::full(device, DType::$dtype, &shape.into_shape().all("zeros"), Scalar::Int(0)))
            }
            #[track_caller]
            fn ones(shape: impl IntoShape, device: &Device) -> Self {
                Tensor::from_raw(Raw::full(device, DType::$dtype, &shape.into_shape().all("ones"), Scalar::Int(1)))
            }
        }
    )* };
}
constant!(Int of I64, Bool of Bool);

impl<K: Kind> Tensor<K> {
    /// `start`, `start + step` and so on, up to `end`, which is left out: PyTorch's `arange(start, end, step)`. The numbers'
    /// type gives the kind, floats or integers. Raises `Error::Argument` where `step` is 0 or leads away from `end`.
    ///
    /// ```
    /// use cotangent_runtime::{Device, Tensor};
    /// assert_eq!(Tensor::arange_step(5, 0, -2, &Device::cpu()).to_vec(), [5, 3, 1]);
    /// assert_eq!(Tensor::arange_step(0.0, 1.0, 0.25, &Device::cpu()).to_vec(), [0.0, 0.25, 0.5, 0.75]);
    /// ```
    #[track_caller]
    pub fn arange_step<E: Element<Kind = K> + Number>(start: E, end: E, step: E, device: &Device) -> Self {
        let [start, end, step] = [start, end, step].map(Number::number);
        match (start, end, step) {
            (Scalar::Int(start), Scalar::Int(end), Scalar::Int(step)) => {
                check_step(start, end, step, 0);
                let size = u64::try_from((i128::from(end) - i128::from(start)).unsigned_abs()).unwrap_or(u64::MAX);
                let count = size.div_ceil(step.unsigned_abs()) as usize;
                let value = |i: usize| start.wrapping_add(step.wrapping_mul(i as i64));
                Tensor::from_raw(Raw::computed(device, &[count], (0..count).map(value)))
            }
            _ => {
                let [start, end, step] = [start, end, step].map(Scalar::f64);
                check_step(start, end, step, 0.0);
                let count = ((end - start) / step).ceil() as usize;
                let values = (0..count).map(|i| (start + step * i as f64) as f32);
                Tensor::from_raw(Raw::computed(device, &[count], values))
            }
        }
    }
}

#[track_caller]
fn check_step<T: PartialOrd + std::fmt::Display + Copy>(start: T, end: T, step: T, zero: T) {
    let leads = (step > zero && end >= start) || (step < zero && end <= start);
    if !leads {
        let message = format!("steps of {step} do not lead from {start} to {end}");
        raise(Error::Argument { op: "arange".into(), message });
    }
}

impl Tensor<Float> {
    /// `n` numbers from `start` to `end`, both included, at equal distances; `start` alone where `n` is 1.
    #[track_caller]
    pub fn linspace(start: impl Number, end: impl Number, n: usize, device: &Device) -> Self {
        Tensor::from_raw(Raw::computed(device, &[n], spaced(start, end, n).map(|v| v as f32)))
    }

    /// `n` powers of `base`, with the exponents of [`linspace`](Self::linspace).
    #[track_caller]
    pub fn logspace(start: impl Number, end: impl Number, n: usize, base: impl Number, device: &Device) -> Self {
        let base = base.number().f64();
        Tensor::from_raw(Raw::computed(device, &[n], spaced(start, end, n).map(|v| base.powf(v) as f32)))
    }

    /// The identity matrix: `[n, n]`, 1 on the diagonal and 0 elsewhere.
    #[track_caller]
    pub fn eye(n: usize, device: &Device) -> Self {
        Tensor::eye_of(n, n, device)
    }

    /// `[n, m]`, 1 on the diagonal and 0 elsewhere.
    #[track_caller]
    pub fn eye_of(n: usize, m: usize, device: &Device) -> Self {
        let out = Raw::full(device, DType::F32, &[n, m], Scalar::Float(0.0));
        let len = n.min(m);
        if len > 0 {
            let stride = out.strides[0] + out.strides[1];
            let mut diagonal = out.clone().slice(0, 0, len).slice(1, 0, 1).remove_axis(1);
            diagonal.strides[0] = stride;
            diagonal.fill(Scalar::Float(1.0));
        }
        Tensor::from_raw(out)
    }
}

/// From both ends, so that both are exact.
fn spaced(start: impl Number, end: impl Number, n: usize) -> impl Iterator<Item = f64> {
    let (start, end) = (start.number().f64(), end.number().f64());
    let step = (end - start) / n.saturating_sub(1).max(1) as f64;
    (0..n).map(move |i| if i < n.div_ceil(2) { start + step * i as f64 } else { end - step * (n - 1 - i) as f64 })
}

impl Tensor<Bool> {
    /// The lower triangle of a matrix: `[rows, columns]`, true up to the diagonal, or `diagonal` entries to the right of
    /// it.
    #[track_caller]
    pub fn tril_mask(rows: usize, columns: usize, diagonal: isize, device: &Device) -> Self {
        triangle(rows, columns, device, |row, column| column <= row.saturating_add(diagonal))
    }

    /// The upper triangle of a matrix: `[rows, columns]`, true from the diagonal on, or from `diagonal` entries to the
    /// right of it.
    #[track_caller]
    pub fn triu_mask(rows: usize, columns: usize, diagonal: isize, device: &Device) -> Self {
        triangle(rows, columns, device, |row, column| column >= row.saturating_add(diagonal))
    }
}

#[track_caller]
fn triangle(rows: usize, columns: usize, device: &Device, inside: impl Fn(isize, isize) -> bool) -> Tensor<Bool> {
    let cells = (0..rows).flat_map(|row| (0..columns).map(move |column| (row as isize, column as isize)));
    Tensor::from_raw(Raw::computed(device, &[rows, columns], cells.map(|(row, column)| inside(row, column))))
}

/// Declares tensors from arrays in arrays, on the processor.
#[cfg(feature = "cpu")]
macro_rules! nested {
    ($($(#[$doc:meta])* [$($n:ident)+] $array:ty, $values:ident => $flat:expr;)*) => { $(
        $(#[$doc])*
        impl<K: Kind, E: Element<Kind = K>, $(const $n: usize),+> From<$array> for Tensor<K> {
            #[track_caller]
            fn from($values: $array) -> Tensor<K> {
                Tensor::from_slice($flat, [$($n),+], &Device::cpu())
            }
        }
    )* };
}

#[cfg(feature = "cpu")]
nested! {
    /// `Tensor::from([1.0, 2.0])`: `[2]` on the processor.
    [A] [E; A], values => &values;
    /// `Tensor::from([[1.0, 2.0], [3.0, 4.0]])`: `[2, 2]` on the processor.
    [A B] [[E; B]; A], values => values.as_flattened();
    /// Arrays three deep: three axes.
    [A B C] [[[E; C]; B]; A], values => values.as_flattened().as_flattened();
    /// Arrays four deep: four axes.
    [A B C D] [[[[E; D]; C]; B]; A], values => values.as_flattened().as_flattened().as_flattened();
}

/// `Tensor::from(vec![1.0, 2.0])`: one axis, on the processor.
#[cfg(feature = "cpu")]
impl<K: Kind, E: Element<Kind = K>> From<Vec<E>> for Tensor<K> {
    #[track_caller]
    fn from(values: Vec<E>) -> Tensor<K> {
        let len = values.len();
        Tensor::from_vec(values, [len], &Device::cpu())
    }
}

/// `Tensor::from(&values[..])`: one axis, on the processor.
#[cfg(feature = "cpu")]
impl<K: Kind, E: Element<Kind = K>> From<&[E]> for Tensor<K> {
    #[track_caller]
    fn from(values: &[E]) -> Tensor<K> {
        Tensor::from_slice(values, [values.len()], &Device::cpu())
    }
}

/// As [`Tensor::to_vec`].
impl<K: Kind> From<Tensor<K>> for Vec<K::Element> {
    #[track_caller]
    fn from(tensor: Tensor<K>) -> Vec<K::Element> {
        tensor.to_vec()
    }
}
