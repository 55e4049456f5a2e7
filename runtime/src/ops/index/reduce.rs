//! Elements joined with what is at positions along an axis.

use super::along::{Put, pick, put};
use super::scatter::{Target, fill};
use crate::diff::{Diff, Pullback, Want, pull};
use crate::ops::elementwise::run;
use crate::ops::movement::Undo;
use crate::ops::select;
use crate::tensor::{Float, Int, Kind, Raw, Tensor};
use cotangent_hal::native::scalar::int_quotient;
use cotangent_hal::{DType, Scalar, kernel};

/// How [`Tensor::scatter_reduce`] joins elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reduce {
    /// Their sum.
    Sum,
    /// Their product.
    Prod,
    /// Their mean; of integers, rounded down.
    Mean,
    /// The largest, NaN where one is.
    Amax,
    /// The smallest, NaN where one is.
    Amin,
}

impl Diff for Reduce {
    type Ct = ();
}

impl Reduce {
    fn put(self) -> Put {
        match self {
            Reduce::Sum | Reduce::Mean => Put::Add,
            Reduce::Prod => Put::Mul,
            Reduce::Amax => Put::Max,
            Reduce::Amin => Put::Min,
        }
    }

    /// The number that changes nothing.
    fn identity(self, dtype: DType) -> Scalar {
        match self {
            Reduce::Sum | Reduce::Mean => Scalar::Int(0),
            Reduce::Prod => Scalar::Int(1),
            Reduce::Amax if dtype.is_float() => Scalar::Float(f64::NEG_INFINITY),
            Reduce::Amin if dtype.is_float() => Scalar::Float(f64::INFINITY),
            Reduce::Amax => Scalar::Int(range(dtype).0),
            Reduce::Amin => Scalar::Int(range(dtype).1),
        }
    }
}

/// The smallest and the largest integer of a dtype.
fn range(dtype: DType) -> (i64, i64) {
    match dtype {
        DType::U8 => (0, i64::from(u8::MAX)),
        DType::I32 => (i64::from(i32::MIN), i64::from(i32::MAX)),
        DType::I64 | DType::F64 | DType::F32 | DType::F16 | DType::BF16 | DType::Bool => (i64::MIN, i64::MAX),
    }
}

impl<K: Kind> Tensor<K> {
    /// As [`scatter`](Self::scatter), where all that is put to one place is joined by `reduce`, with what is there where
    /// `include_self`. Places to which nothing is put keep their value.
    ///
    /// The cotangent of a largest or smallest element is shared out evenly among equal ones. Raises `Error::Dtype` for
    /// truth values.
    #[track_caller]
    pub fn scatter_reduce(
        self,
        axis: isize,
        index: Tensor<Int>,
        src: Tensor<K>,
        reduce: Reduce,
        include_self: bool,
    ) -> Self {
        let target = Target::of_places("scatter_reduce", &self.raw, axis, &index.raw, &src.raw);
        Tensor::from_raw(joined(&target, self.raw, &src.raw, reduce, include_self))
    }

    #[doc(hidden)]
    #[track_caller]
    pub fn scatter_reduce__vjp(
        self,
        axis: isize,
        index: Tensor<Int>,
        src: Tensor<K>,
        reduce: Reduce,
        include_self: bool,
        want: Want,
    ) -> (Self, impl Pullback<(), Ct = K::Ct, In = (K::Ct, (), (), K::Ct, (), ())> + use<K>) {
        let target = Target::of_places("scatter_reduce", &self.raw, axis, &index.raw, &src.raw);
        let wanted = K::ACTIVE && (want.has(0) || want.has(3));
        let kept = wanted.then(|| (self.raw.clone(), src.raw.clone()));
        let y = joined(&target, self.raw, &src.raw, reduce, include_self);
        let kept = kept.map(|(x, src)| Kept { x: x.keep(), src: src.keep(), y: y.clone().keep(), target });
        let pullback = move |ct, (): &mut ()| match kept.zip(K::ct_tensor(ct)) {
            Some((kept, ct)) => {
                let (x, src) = kept.pull(ct, reduce, include_self);
                let (x, src) = (want.has(0).then_some(x), want.has(3).then_some(src));
                (K::ct(x), (), (), K::ct(src), (), ())
            }
            None => Default::default(),
        };
        (Tensor::from_raw(y), pull(pullback))
    }
}

#[track_caller]
fn joined(target: &Target, x: Raw, src: &Raw, reduce: Reduce, include_self: bool) -> Raw {
    let (dtype, compute) = (x.dtype, x.dtype.compute());
    let Reduce::Mean = reduce else {
        let x = if include_self { x } else { fill(x, target.axis, &target.index, reduce.identity(dtype)) };
        return target.put(x, src, reduce.put());
    };
    // Means of 16-bit floats are rounded once.
    let x = x.cast(compute);
    let counts = counts(target, &x, include_self);
    let x = if include_self { x } else { fill(x, target.axis, &target.index, Scalar::Int(0)) };
    let sum = target.put(x, &src.clone().cast(compute), Put::Add);
    let mean = if compute.is_float() {
        (Tensor::<Float>::from_raw(sum) / Tensor::<Float>::from_raw(counts)).raw
    } else {
        quotient(sum, &counts)
    };
    mean.cast(dtype)
}

kernel! {
    static QUOTIENT = Pointwise "scatter_reduce" (a: Each I64, b: Each I64) -> (y: Each I64) |tile| {
        for i in 0..tile.1 {
            y[i] = int_quotient(a[i], b[i]);
        }
    }
}

#[track_caller]
fn quotient(a: Raw, b: &Raw) -> Raw {
    let out = Raw::empty(&a.device, a.dtype, &a.shape);
    run(&QUOTIENT, &a.shape, &[&a, b], &out, &[]);
    out
}

/// How many elements are joined at each place, 1 where none are; of the shape and dtype of `x`.
#[track_caller]
fn counts(target: &Target, x: &Raw, include_self: bool) -> Raw {
    let ones = Raw::full(&x.device, x.dtype, &x.shape, Scalar::Int(1));
    let start = if include_self { ones } else { fill(ones, target.axis, &target.index, Scalar::Int(0)) };
    let one = Raw::full(&x.device, x.dtype, &[], Scalar::Int(1)).expand_to("scatter_reduce", &target.index.shape);
    put(start, target.axis, &target.index, &one, Put::Add)
}

/// What the pullback of a float tensor keeps.
struct Kept {
    x: Raw,
    src: Raw,
    y: Raw,
    target: Target,
}

impl Kept {
    /// The cotangents of both, computed in the dtype that sums are formed in.
    fn pull(self, ct: Tensor, reduce: Reduce, include_self: bool) -> (Tensor, Tensor) {
        let Kept { x, src, y, target } = self;
        let (dtype, given) = (x.dtype, src.dtype);
        let compute = dtype.compute();
        let [x, y, ct] = [x, y, ct.raw].map(|t| Tensor::<Float>::from_raw(t.cast(compute)));
        let own = src.shape;
        let src = Tensor::<Float>::from_raw(src.corner(&target.index.shape).cast(dtype).cast(compute));
        let at = |t: &Tensor| Tensor::<Float>::from_raw(pick(&t.raw, target.axis, &target.index));
        let add =
            |t: Tensor, v: &Tensor| Tensor::<Float>::from_raw(put(t.raw, target.axis, &target.index, &v.raw, Put::Add));
        let clear = |t: Tensor| match include_self {
            true => t,
            false => Tensor::from_raw(fill(t.raw, target.axis, &target.index, Scalar::Int(0))),
        };
        let (dx, dsrc) = match reduce {
            Reduce::Sum => (ct.clone(), at(&ct)),
            Reduce::Mean => {
                let ct = ct / Tensor::<Float>::from_raw(counts(&target, &x.raw, include_self));
                (ct.clone(), at(&ct))
            }
            Reduce::Amax | Reduce::Amin => {
                let mine = clear(x.eq(&y).floats(compute));
                let theirs = src.eq(at(&y)).floats(compute);
                let share = ct / add(mine.clone(), &theirs);
                (mine * share.clone(), theirs * at(&share))
            }
            Reduce::Prod => {
                let mut all = x.clone();
                if !include_self {
                    all = Tensor::from_raw(fill(all.raw, target.axis, &target.index, Scalar::Int(1)));
                }
                let times = |t: Tensor, v: &Tensor| {
                    Tensor::<Float>::from_raw(put(t.raw, target.axis, &target.index, &v.raw, Put::Mul))
                };
                let dx = ct.clone() * times(all.ones_like(), &src);
                // What meets the only zero of a product is the product of all others.
                let zero = src.clone().eq(0.0);
                let zeros = at(&add(x.zeros_like(), &zero.clone().floats(compute)));
                let only = zero.clone().logical_and(zeros.eq(1.0));
                let others = at(&(ct.clone() * times(all, &src.clone().masked_fill(only.clone(), 1.0))));
                let plain = at(&(ct * y)) / src.masked_fill(zero, 1.0);
                (dx, select(only, others, plain))
            }
        };
        let dsrc = if own == target.index.shape { dsrc } else { Undo::Corner(own).apply(dsrc) };
        (clear(dx).to(dtype), dsrc.to(given))
    }
}
