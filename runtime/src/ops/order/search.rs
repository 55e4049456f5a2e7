//! Searches in sorted sequences, and for elements that are not 0.

use super::first;
use crate::ops::fold::COUNT;
use crate::ops::turn::Turn;
use crate::raise::raise;
use crate::tensor::{Bool, Dims, Float, Int, Kind, Raw, Tensor, launch};
use cotangent_hal::{Arg, DType, Error, Kernel, Scalar};

/// Declares searches by halving in `s`, of floats or integers.
macro_rules! searches {
    ($($t:ident, $in_one:ident $in_rows:ident $is_in:ident;)*) => { $(
        cotangent_hal::kernel! {
            static $in_one = Pointwise "searchsorted" (v: Each $t, s: Whole $t; right) -> (y: Each I64) |tile| {
                let right = right.i64() != 0;
                for i in 0..tile.1 {
                    let v = v[i];
                    // Negated, so that NaN has its place at the end.
                    #[allow(clippy::neg_cmp_op_on_partial_ord, reason = "NaN compares to nothing")]
                    let before = |&s: &_| if right { !(s > v) } else { !(s >= v) };
                    y[i] = s.partition_point(before) as i64;
                }
            }
        }
        cotangent_hal::kernel! {
            static $in_rows = Rows "searchsorted" (v: Each $t, s: Whole $t; right, n) -> (y: Each I64) |tile| {
                let (right, n) = (right.i64() != 0, n.i64() as usize);
                let s = &s[tile.0 * n..(tile.0 + 1) * n];
                for i in 0..tile.1 {
                    let v = v[i];
                    #[allow(clippy::neg_cmp_op_on_partial_ord, reason = "NaN compares to nothing")]
                    let before = |&s: &_| if right { !(s > v) } else { !(s >= v) };
                    y[i] = s.partition_point(before) as i64;
                }
            }
        }
        cotangent_hal::kernel! {
            static $is_in = Pointwise "isin" (v: Each $t, s: Whole $t) -> (y: Each Bool) |tile| {
                for i in 0..tile.1 {
                    let v = v[i];
                    let at = s.partition_point(|&s| s < v);
                    y[i] = s.get(at).is_some_and(|&s| s == v);
                }
            }
        }
    )* };
}
searches! {
    F32, IN_FLOATS IN_ROWS_OF_FLOATS IS_IN_FLOATS;
    I64, IN_INTS IN_ROWS_OF_INTS IS_IN_INTS;
}

cotangent_hal::kernel! {
    /// The places of what is true, in order; `count` is how many were found so far.
    static PLACES = Pointwise "nonzero" (x: Each Bool) -> (at: Whole I64, count: Whole I64) |tile| {
        let mut next = count[0] as usize;
        for (i, &is) in x.iter().enumerate() {
            // Each place is written, so that nothing is guessed; what is not true is written over.
            if let Some(at) = at.get_mut(next) {
                *at = (tile.0 + i) as i64;
            }
            next += usize::from(is);
        }
        count[0] = next as i64;
    }
}

cotangent_hal::kernel! {
    /// The index along an axis of elements, given their places in row-major order.
    static INDEX = Pointwise "nonzero" (place: Each I64; step, extent) -> (y: Each I64) |tile| {
        let (step, extent) = (step.i64(), extent.i64());
        for i in 0..tile.1 {
            y[i] = place[i] / step % extent;
        }
    }
}

/// The places of what is true, counted in row-major order.
#[track_caller]
pub(in crate::ops) fn places(x: &Raw) -> Raw {
    let flat = x.clone().contiguous().reinterpret(&[x.numel()]);
    let count = COUNT.of(&flat, None, 1, 1.0, 0.0).single::<i64>().unwrap_or(0);
    let at = Raw::empty(&x.device, DType::I64, &[count as usize]);
    let found = Raw::empty(&x.device, DType::I64, &[1]);
    if count > 0 {
        let args = [Arg::In(flat.view()), Arg::Out(at.view()), Arg::Out(found.view())];
        launch(&x.device, &PLACES, &flat.shape, &args);
    }
    at
}

impl<K: Kind> Tensor<K> {
    /// The indices of the elements that are true or not 0, in row-major order: `[N, rank]`. NaN is not 0. Waits for the
    /// device.
    #[track_caller]
    pub fn nonzero(self) -> Tensor<Int> {
        let shape = self.raw.shape;
        let places = places(&self.raw.cast(DType::Bool));
        let out = Raw::empty(&places.device, DType::I64, &[places.shape[0], shape.len()]);
        let mut step = 1;
        for (axis, &extent) in shape.iter().enumerate().rev() {
            if out.numel() > 0 {
                let column = out.clone().slice(1, axis, 1).remove_axis(1);
                let numbers = [step, extent].map(|n| Arg::Scalar(Scalar::Int(n as i64)));
                let args = [Arg::In(places.view()), Arg::Out(column.view()), numbers[0], numbers[1]];
                launch(&out.device, &INDEX, &places.shape, &args);
            }
            step *= extent;
        }
        Tensor::from_raw(out)
    }
}

/// The kernels of one kind of tensors.
struct Kernels {
    in_one: &'static Kernel,
    in_rows: &'static Kernel,
    is_in: &'static Kernel,
}

static FLOATS: Kernels = Kernels { in_one: &IN_FLOATS, in_rows: &IN_ROWS_OF_FLOATS, is_in: &IS_IN_FLOATS };
static INTS: Kernels = Kernels { in_one: &IN_INTS, in_rows: &IN_ROWS_OF_INTS, is_in: &IS_IN_INTS };

#[track_caller]
fn search(op: &str, kernels: &Kernels, sorted: &Raw, values: &Raw, right: bool) -> Raw {
    sorted.same_device(op, values);
    let (rank, shape) = (sorted.shape.len(), &values.shape);
    let alike = rank > 0 && rank == shape.len() && sorted.shape[..rank - 1] == shape[..rank - 1];
    if rank != 1 && !alike {
        let message = format!(
            "the sorted sequence is {:?} and the values {shape:?}, expected [N] or equal axes before the last",
            sorted.shape
        );
        raise(Error::Shape { op: op.into(), message });
    }
    let out = Raw::empty(&values.device, DType::I64, shape);
    if out.numel() > 0 {
        let (kernel, numbers): (_, &[i64]) = match rank {
            1 => (kernels.in_one, &[i64::from(right)]),
            _ => (kernels.in_rows, &[i64::from(right), sorted.shape[rank - 1] as i64]),
        };
        let mut args = vec![Arg::In(values.view()), Arg::In(sorted.view()), Arg::Out(out.view())];
        args.extend(numbers.iter().map(|&n| Arg::Scalar(Scalar::Int(n))));
        launch(&out.device, kernel, shape, &args);
    }
    out
}

#[track_caller]
fn is_in(kernels: &Kernels, x: &Raw, tests: &Raw) -> Raw {
    x.same_device("isin", tests);
    let n = tests.numel();
    let (sorted, _) = first(Turn::Swap(0), &tests.clone().reshape(&Dims::of("isin", &[n])), n, false);
    let out = Raw::empty(&x.device, DType::Bool, &x.shape);
    if out.numel() > 0 {
        launch(&x.device, kernels.is_in, &x.shape, &[Arg::In(x.view()), Arg::In(sorted.view()), Arg::Out(out.view())]);
    }
    out
}

/// Declares the searches of one kind of tensors.
macro_rules! methods {
    ($kind:ty, $kernels:ident) => {
        impl Tensor<$kind> {
            /// Where `values` would be put so that this ascending sequence stays in order: before equal elements, or behind
            /// them where `right`. A sequence `[N]` serves values of any shape; one of more axes, `[.., N]`, serves values
            /// `[.., K]`, row by row. NaN stands at the end.
            ///
            /// Raises `Error::Shape` where the axes before the last differ.
            #[track_caller]
            pub fn searchsorted(self, values: Tensor<$kind>, right: bool) -> Tensor<Int> {
                Tensor::from_raw(search("searchsorted", &$kernels, &self.raw, &values.raw, right))
            }

            /// The number of the bucket of each element, between ascending `boundaries` `[N]`: 0 before the first, `N`
            /// behind the last. A boundary belongs to the bucket before it, or behind it where `right`.
            ///
            /// Raises `Error::Shape` where the boundaries have not one axis.
            #[track_caller]
            pub fn bucketize(self, boundaries: Tensor<$kind>, right: bool) -> Tensor<Int> {
                if boundaries.rank() != 1 {
                    let message = format!("the boundaries are {:?}, expected [N]", boundaries.shape());
                    raise(Error::Shape { op: "bucketize".into(), message });
                }
                Tensor::from_raw(search("bucketize", &$kernels, &boundaries.raw, &self.raw, right))
            }

            /// Whether each element is among those of `tests`. NaN equals nothing.
            #[track_caller]
            pub fn isin(self, tests: Tensor<$kind>) -> Tensor<Bool> {
                Tensor::from_raw(is_in(&$kernels, &self.raw, &tests.raw))
            }
        }
    };
}
methods!(Float, FLOATS);
methods!(Int, INTS);
