//! Elements put to positions along an axis.

use super::along::{Put, put};
use super::gather::{aligned, entries, flat_positions};
use crate::diff::{Pullback, Want, pull};
use crate::ops::indices;
use crate::ops::movement::Merge;
use crate::ops::movement::{Moved, Undo};
use crate::ops::operand::Number;
use crate::raise::raise;
use crate::tensor::{Dims, Int, Kind, Raw, Tensor};
use cotangent_hal::{DType, Error, Scalar};

/// Declares operations that put a tensor to positions along an axis, and their companions.
macro_rules! putting {
    ($($(#[$doc:meta])* $name:ident, $companion:ident, $target:ident, $put:ident;)*) => {
        impl<K: Kind> Tensor<K> {
            $(
                $(#[$doc])*
                #[track_caller]
                pub fn $name(self, axis: isize, index: Tensor<Int>, src: Tensor<K>) -> Self {
                    let target = Target::$target(stringify!($name), &self.raw, axis, &index.raw, &src.raw);
                    Tensor::from_raw(target.put(self.raw, &src.raw, Put::$put))
                }

                #[doc(hidden)]
                #[track_caller]
                pub fn $companion(
                    self,
                    axis: isize,
                    index: Tensor<Int>,
                    src: Tensor<K>,
                    want: Want,
                ) -> (Self, impl Pullback<(), Ct = K::Ct, In = (K::Ct, (), (), K::Ct)> + use<K>) {
                    let target = Target::$target(stringify!($name), &self.raw, axis, &index.raw, &src.raw);
                    let y = Tensor::from_raw(target.put(self.raw, &src.raw, Put::$put));
                    let merge = target.merge::<K>(Put::$put, want.has(0), want.has(3));
                    (y, pull(move |ct, (): &mut ()| {
                        let (x, src) = merge.pull::<K>(ct);
                        (x, (), (), src)
                    }))
                }
            )*
        }
    };
}

putting! {
    /// `self` where `src[.., i, ..]` has replaced the entry `index[.., i, ..]` of `axis`, for every place of `index`. Of
    /// several that are put to one place the last one stays, in row-major order, and it alone has a cotangent. `src` is
    /// converted to the dtype of `self`.
    ///
    /// Raises `Error::Shape` where the numbers of axes differ, or `index` is longer than `self` along another axis or
    /// than `src` along any; `Error::Argument` where a position is not in the axis, with its place.
    scatter, scatter__vjp, of_places, Set;
    /// As [`scatter`](Self::scatter), where `src` is added to what is there, in the order of `index` whatever the number
    /// of threads; integers wrap. Raises `Error::Dtype` for truth values.
    scatter_add, scatter_add__vjp, of_places, Add;
    /// `self` where the entry `i` of `src` along `axis` has replaced the entry `index[i]`: of `[A, N, B]`, `[M]` and
    /// `[A, M, B]`. Otherwise as [`scatter`](Self::scatter).
    index_copy, index_copy__vjp, of_entries, Set;
    /// As [`index_copy`](Self::index_copy), where entries of `src` are added to those of `self`, in the order of `index`.
    index_add, index_add__vjp, of_entries, Add;
}

impl<K: Kind> Tensor<K> {
    /// As [`scatter`](Self::scatter) of a number: `zeros.scatter_fill(1, index, 1.0)`. Of truth values, 0 is false.
    #[track_caller]
    pub fn scatter_fill(self, axis: isize, index: Tensor<Int>, value: impl Number) -> Self {
        let axis = aligned("scatter_fill", &self.raw, axis, &index.raw);
        Tensor::from_raw(fill(self.raw, axis, &index.raw, value.number()))
    }

    #[doc(hidden)]
    #[track_caller]
    pub fn scatter_fill__vjp<N: Number>(
        self,
        axis: isize,
        index: Tensor<Int>,
        value: N,
        want: Want,
    ) -> (Self, Moved<K, 3>) {
        let axis = aligned("scatter_fill", &self.raw, axis, &index.raw);
        let y = Tensor::from_raw(fill(self.raw, axis, &index.raw, value.number()));
        (y, Moved::with(want, || Undo::Clear { axis, index: index.raw.keep() }))
    }

    /// `self` with a number in the entries of `axis` that `index`, a vector, names. Of truth values, 0 is false.
    ///
    /// Raises `Error::Shape` where `index` is no vector, `Error::Argument` where a number is not in the axis.
    #[track_caller]
    pub fn index_fill(self, axis: isize, index: Tensor<Int>, value: impl Number) -> Self {
        let (axis, index) = entries("index_fill", &self.raw, axis, &index.raw);
        Tensor::from_raw(fill(self.raw, axis, &index, value.number()))
    }

    #[doc(hidden)]
    #[track_caller]
    pub fn index_fill__vjp<N: Number>(
        self,
        axis: isize,
        index: Tensor<Int>,
        value: N,
        want: Want,
    ) -> (Self, Moved<K, 3>) {
        let (axis, index) = entries("index_fill", &self.raw, axis, &index.raw);
        let y = Tensor::from_raw(fill(self.raw, axis, &index, value.number()));
        (y, Moved::with(want, || Undo::Clear { axis, index: index.keep() }))
    }

    /// `self` where `src` has replaced the elements at positions in row-major order, counted from the end where negative.
    /// Of several that are put to one place the last one stays; with `accumulate` they are added to what is there.
    ///
    /// Raises `Error::Shape` where `src` has not as many elements as `index`, `Error::Argument` where there is no element
    /// at a position.
    #[track_caller]
    pub fn put(self, index: Tensor<Int>, src: Tensor<K>, accumulate: bool) -> Self {
        let target = Target::of_elements(&self.raw, &index.raw, &src.raw);
        let (shape, row) = (self.raw.shape, target.shape);
        let src = src.raw.reshape(&target.index.shape);
        Tensor::from_raw(target.put(self.raw.reshape(&row), &src, Put::added(accumulate)).reshape(&shape))
    }

    #[doc(hidden)]
    #[track_caller]
    pub fn put__vjp(
        self,
        index: Tensor<Int>,
        src: Tensor<K>,
        accumulate: bool,
        want: Want,
    ) -> (Self, impl Pullback<(), Ct = K::Ct, In = (K::Ct, (), K::Ct, ())> + use<K>) {
        let target = Target::of_elements(&self.raw, &index.raw, &src.raw);
        let (shape, own, row) = (self.raw.shape, src.raw.shape, target.shape);
        let (index, how) = (target.index.shape, Put::added(accumulate));
        let y = Tensor::from_raw(target.put(self.raw.reshape(&row), &src.raw.reshape(&index), how).reshape(&shape));
        let merge = target.merge::<K>(how, want.has(0), want.has(2));
        let merge = merge.between(Undo::Shape(row), [Undo::Shape(shape), Undo::Shape(own)]);
        let pullback = move |ct, (): &mut ()| {
            let (x, src) = merge.pull::<K>(ct);
            (x, (), src, ())
        };
        (y, pull(pullback))
    }
}

impl Put {
    fn added(accumulate: bool) -> Put {
        if accumulate { Put::Add } else { Put::Set }
    }
}

/// Where something is put.
pub(super) struct Target {
    op: &'static str,
    /// The shape of the target.
    shape: Dims,
    pub(super) axis: usize,
    pub(super) index: Raw,
    /// The shape and dtype of what is put there.
    src: Dims,
    dtype: DType,
}

impl Target {
    /// A position for each element of `src`, of which those beyond the positions' shape are left out.
    #[track_caller]
    pub(super) fn of_places(op: &'static str, x: &Raw, axis: isize, index: &Raw, src: &Raw) -> Target {
        let axis = aligned(op, x, axis, index);
        x.same_device(op, src);
        let fits = src.shape.len() == index.shape.len() && index.shape.iter().zip(&*src.shape).all(|(i, n)| i <= n);
        if !fits {
            let message = format!("the source is {:?}, expected at least the shape {:?}", src.shape, index.shape);
            raise(Error::Shape { op: op.into(), message: message + " of the index" });
        }
        Target { op, shape: x.shape, axis, index: index.clone(), src: src.shape, dtype: src.dtype }
    }

    /// A position for each entry of `src` along the axis.
    #[track_caller]
    pub(super) fn of_entries(op: &'static str, x: &Raw, axis: isize, index: &Raw, src: &Raw) -> Target {
        let (axis, index) = entries(op, x, axis, index);
        x.same_device(op, src);
        if src.shape != index.shape {
            let message = format!("the source is {:?}, expected {:?}", src.shape, index.shape);
            raise(Error::Shape { op: op.into(), message });
        }
        Target { op, shape: x.shape, axis, index, src: src.shape, dtype: src.dtype }
    }

    /// A position in row-major order for each element of `src`.
    #[track_caller]
    fn of_elements(x: &Raw, index: &Raw, src: &Raw) -> Target {
        let index = flat_positions("put", x, index);
        x.same_device("put", src);
        if src.numel() != index.numel() {
            let (given, wanted) = (src.numel(), index.numel());
            let message = format!("the source {:?} has {given} elements, expected {wanted}", src.shape);
            raise(Error::Shape { op: "put".into(), message: format!("{message} for the index {:?}", index.shape) });
        }
        let [shape, count] = [x.numel(), index.numel()].map(|n| Dims::of("put", &[n]));
        Target { op: "put", shape, axis: 0, index: index.reinterpret(&count), src: count, dtype: src.dtype }
    }

    /// `x` with `src` put there.
    #[track_caller]
    pub(super) fn put(&self, x: Raw, src: &Raw, how: Put) -> Raw {
        if how != Put::Set && x.dtype == DType::Bool {
            let accepted = [&DType::FLOATS[..], &DType::INTS].concat();
            raise(Error::Dtype { op: self.op.into(), given: DType::Bool, accepted });
        }
        let src = src.clone().corner(&self.index.shape).cast(x.dtype);
        put(x, self.axis, &self.index, &src, how)
    }

    /// The pullback of putting, by what becomes of the elements that are there.
    pub(super) fn merge<K: Kind>(self, how: Put, into: bool, src: bool) -> Merge {
        let Target { axis, index, src: own, dtype, .. } = self;
        if !(K::ACTIVE && (into || src)) {
            return Merge::NONE;
        }
        let (cut, index) = (index.shape != own, index.keep());
        let back = |last| Undo::Pick { axis, index: index.clone(), last };
        let back = if how == Put::Set { back(Some(self.shape)) } else { back(None) };
        let back = if cut { back.then(Undo::Corner(own)) } else { back };
        let kept = if how == Put::Set { Undo::Clear { axis, index: index.clone() } } else { Undo::Same };
        Merge { into: into.then_some(kept), src: src.then_some((back, dtype)) }
    }
}

/// `x` with a number at positions along an axis.
#[track_caller]
pub(crate) fn fill(x: Raw, axis: usize, index: &Raw, value: Scalar) -> Raw {
    let value = Raw::full(&x.device, x.dtype, &[], value).expand_to("fill", &index.shape);
    put(x, axis, index, &value, Put::Set)
}

impl Tensor<Int> {
    /// 1 at the number that is there, 0 elsewhere, along a new last axis of so many classes: `[..]` gives `[.., classes]`
    /// (`i64`).
    ///
    /// Raises `Error::Argument` where a number is not in `0..classes`, with its place.
    #[track_caller]
    pub fn one_hot(self, classes: usize) -> Self {
        indices::check("one_hot", &self.raw, classes, "class", "the number of classes");
        let mut shape = self.raw.shape;
        shape.push("one_hot", classes);
        let zeros = Raw::full(&self.raw.device, DType::I64, &shape, Scalar::Int(0));
        let axis = self.raw.shape.len();
        Tensor::from_raw(fill(zeros, axis, &self.raw.insert_axis("one_hot", axis), Scalar::Int(1)))
    }
}
