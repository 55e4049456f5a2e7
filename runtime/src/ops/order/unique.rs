//! Different elements, each once.

use super::first;
use super::search::places;
use crate::ops::turn::Turn;
use crate::tensor::{Dims, Int, Kind, Raw, Tensor, launch};
use cotangent_hal::{Arg, DType, Kernel, Scalar};

/// Declares what needs a text for each kind of elements.
macro_rules! kinds {
    ($($t:ident, $differ:ident $gather:ident;)*) => { $(
        cotangent_hal::kernel! {
            static $differ = Pointwise "unique" (a: Each $t, b: Each $t) -> (y: Each Bool) |tile| {
                for i in 0..tile.1 {
                    y[i] = a[i] != b[i];
                }
            }
        }
        cotangent_hal::kernel! {
            static $gather = Pointwise "unique" (at: Each I64, x: Whole $t) -> (y: Each $t) |tile| {
                for i in 0..tile.1 {
                    y[i] = x[at[i] as usize];
                }
            }
        }
    )* };
}
kinds! {
    F32, DIFFER_FLOATS GATHER_FLOATS;
    I64, DIFFER_INTS GATHER_INTS;
    Bool, DIFFER_TRUTHS GATHER_TRUTHS;
}

cotangent_hal::kernel! {
    /// The number of the run that each element belongs to.
    static NUMBERS = Pointwise "unique" (start: Each Bool, at: Each I64) -> (y: Whole I64, count: Whole I64) |tile| {
        let mut number = count[0];
        for i in 0..tile.1 {
            number += i64::from(start[i]);
            y[at[i] as usize] = number - 1;
        }
        count[0] = number;
    }
}

cotangent_hal::kernel! {
    static LENGTHS = Pointwise "unique" (start: Each I64, end: Each I64) -> (y: Each I64) |tile| {
        for i in 0..tile.1 {
            y[i] = end[i] - start[i];
        }
    }
}

/// Runs of equal elements of a vector.
struct Runs {
    x: Raw,
    /// Where an element differs from the one before.
    differs: Raw,
    /// Where each run begins.
    starts: Raw,
}

/// The kernels for elements of that dtype.
fn kernels(dtype: DType) -> (&'static Kernel, &'static Kernel) {
    match dtype.compute() {
        DType::Bool => (&DIFFER_TRUTHS, &GATHER_TRUTHS),
        DType::I64 | DType::I32 | DType::U8 => (&DIFFER_INTS, &GATHER_INTS),
        DType::F64 | DType::F32 | DType::F16 | DType::BF16 => (&DIFFER_FLOATS, &GATHER_FLOATS),
    }
}

impl Runs {
    #[track_caller]
    fn of(x: Raw) -> Runs {
        let n = x.numel();
        let differs = Raw::full(&x.device, DType::Bool, &[n], Scalar::Int(1));
        if n > 1 {
            let (a, b, y) =
                (x.clone().slice(0, 1, n - 1), x.clone().slice(0, 0, n - 1), differs.clone().slice(0, 1, n - 1));
            let args = [Arg::In(a.view()), Arg::In(b.view()), Arg::Out(y.view())];
            launch(&x.device, kernels(x.dtype).0, &a.shape, &args);
        }
        let starts = places(&differs);
        Runs { x, differs, starts }
    }

    /// The first element of each.
    fn values(&self) -> Raw {
        let out = Raw::empty(&self.x.device, self.x.dtype, &self.starts.shape);
        if out.numel() > 0 {
            let args = [Arg::In(self.starts.view()), Arg::In(self.x.view()), Arg::Out(out.view())];
            launch(&out.device, kernels(self.x.dtype).1, &out.shape, &args);
        }
        out
    }

    /// How many elements each has.
    fn lengths(&self) -> Raw {
        let (starts, count) = (&self.starts, self.starts.numel());
        let out = Raw::empty(&starts.device, DType::I64, &[count]);
        if count > 0 {
            let ends = Raw::full(&starts.device, DType::I64, &[count], Scalar::Int(self.x.numel() as i64));
            starts.clone().slice(0, 1, count - 1).copy_to(&ends.clone().slice(0, 0, count - 1));
            let args = [Arg::In(starts.view()), Arg::In(ends.view()), Arg::Out(out.view())];
            launch(&out.device, &LENGTHS, &out.shape, &args);
        }
        out
    }

    /// The number of the run of each element, which goes to the place `at`.
    fn numbers(&self, at: &Raw) -> Raw {
        let out = Raw::empty(&at.device, DType::I64, &at.shape);
        let count = Raw::empty(&at.device, DType::I64, &[1]);
        if out.numel() > 0 {
            let args = [Arg::In(self.differs.view()), Arg::In(at.view()), Arg::Out(out.view()), Arg::Out(count.view())];
            launch(&out.device, &NUMBERS, &out.shape, &args);
        }
        out
    }
}

#[track_caller]
fn flat(x: Raw) -> Raw {
    let n = x.numel();
    x.reshape(&Dims::of("unique", &[n]))
}

#[track_caller]
fn sorted(x: Raw) -> (Raw, Raw) {
    let n = x.numel();
    first(Turn::Swap(0), &flat(x), n, false)
}

/// Values, numbers in the operand's shape, and lengths.
fn all<K: Kind>(runs: &Runs, at: &Raw, shape: &Dims) -> (Tensor<K>, Tensor<Int>, Tensor<Int>) {
    let numbers = runs.numbers(at).reinterpret(shape);
    (Tensor::from_raw(runs.values()), Tensor::from_raw(numbers), Tensor::from_raw(runs.lengths()))
}

impl<K: Kind> Tensor<K> {
    /// The different elements, each once, in ascending order: `[N]`. Each NaN is one of its own. Waits for the device.
    #[track_caller]
    pub fn unique(self) -> Tensor<K> {
        Tensor::from_raw(Runs::of(sorted(self.raw).0).values())
    }

    /// [`unique`](Tensor::unique) elements `[N]`, for each element of the operand the place among them, in the operand's
    /// shape, and how often each occurs, `[N]`. Waits for the device.
    #[track_caller]
    pub fn unique_with(self) -> (Tensor<K>, Tensor<Int>, Tensor<Int>) {
        let shape = self.raw.shape;
        let (x, at) = sorted(self.raw);
        all(&Runs::of(x), &at, &shape)
    }

    /// The first of each run of equal elements, in row-major order: `[N]`. Each NaN is a run of its own. Waits for the
    /// device.
    #[track_caller]
    pub fn unique_consecutive(self) -> Tensor<K> {
        Tensor::from_raw(Runs::of(flat(self.raw)).values())
    }

    /// [`unique_consecutive`](Tensor::unique_consecutive) elements `[N]`, for each element of the operand the number of
    /// its run, in the operand's shape, and how long each run is, `[N]`. Waits for the device.
    #[track_caller]
    pub fn unique_consecutive_with(self) -> (Tensor<K>, Tensor<Int>, Tensor<Int>) {
        let shape = self.raw.shape;
        let at = Tensor::<Int>::arange(shape.numel(), &self.raw.device).raw;
        all(&Runs::of(flat(self.raw)), &at, &shape)
    }
}
