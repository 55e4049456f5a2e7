//! Elements chosen by truth values.

use super::along::{Put, pick, put};
use crate::diff::{Pullback, Want, pull};
use crate::ops::compare::masked_fill;
use crate::ops::movement::{Merge, Moved, Undo};
use crate::ops::order::places;
use crate::raise::raise;
use crate::tensor::{Bool, Dims, Int, Kind, Raw, Tensor, broadcast};
use cotangent_hal::{DType, Error, Scalar, kernel};

impl<K: Kind> Tensor<K> {
    /// The elements where `mask` is true, in row-major order: a vector whose length depends on the data. The mask and
    /// `self` broadcast to each other. In the body of a model, a typed binding names the length:
    /// `let y: Tensor![N] = x.masked_select(mask);`.
    ///
    /// Raises `Error::Shape` where the shapes do not broadcast.
    #[track_caller]
    pub fn masked_select(self, mask: Tensor<Bool>) -> Self {
        let chosen = Chosen::new("masked_select", &self.raw, &mask.raw);
        Tensor::from_raw(chosen.of(&self.raw))
    }

    #[doc(hidden)]
    #[track_caller]
    pub fn masked_select__vjp(self, mask: Tensor<Bool>, want: Want) -> (Self, Moved<K, 1>) {
        let chosen = Chosen::new("masked_select", &self.raw, &mask.raw);
        let y = Tensor::from_raw(chosen.of(&self.raw));
        let undo = || {
            let Chosen { shape, row, index } = chosen;
            let put = Undo::Put { shape: row, axis: 0, index: index.keep() };
            put.then(Undo::Shape(shape)).then(Undo::Sum(self.raw.shape))
        };
        (y, Moved::with(want, undo))
    }

    /// `self` where the elements of `src`, in row-major order, have replaced those at which `mask` is true. The mask's shape
    /// broadcasts to that of `self`; `src` is converted to the dtype of `self`.
    ///
    /// Raises `Error::Shape` where the mask does not broadcast, or `src` has fewer elements than are true.
    #[track_caller]
    pub fn masked_scatter(self, mask: Tensor<Bool>, src: Tensor<K>) -> Self {
        let chosen = Chosen::within("masked_scatter", &self.raw, &mask.raw);
        Tensor::from_raw(chosen.replaced(self.raw, &src.raw))
    }

    #[doc(hidden)]
    #[track_caller]
    pub fn masked_scatter__vjp(
        self,
        mask: Tensor<Bool>,
        src: Tensor<K>,
        want: Want,
    ) -> (Self, impl Pullback<(), Ct = K::Ct, In = (K::Ct, (), K::Ct)> + use<K>) {
        let chosen = Chosen::within("masked_scatter", &self.raw, &mask.raw);
        let (own, dtype) = (src.raw.shape, src.raw.dtype);
        let y = Tensor::from_raw(chosen.replaced(self.raw, &src.raw));
        let (into, from) = (K::ACTIVE && want.has(0), K::ACTIVE && want.has(2));
        let merge = match into || from {
            true => chosen.merge(own, dtype, into, from),
            false => Merge::NONE,
        };
        let pullback = move |ct, (): &mut ()| {
            let (x, src) = merge.pull::<K>(ct);
            (x, (), src)
        };
        (y, pull(pullback))
    }
}

/// The places of a shape at which a mask is true.
struct Chosen {
    shape: Dims,
    /// As one axis.
    row: Dims,
    /// The places in row-major order.
    index: Raw,
}

impl Chosen {
    /// Of the shape that tensor and mask broadcast to.
    #[track_caller]
    fn new(op: &str, x: &Raw, mask: &Raw) -> Chosen {
        x.same_device(op, mask);
        let shape = broadcast(op, &x.shape, &mask.shape);
        let index = places(&mask.expand_to(op, &shape));
        Chosen { shape, row: Dims::of(op, &[shape.numel()]), index }
    }

    /// Of the tensor's shape, to which the mask broadcasts.
    #[track_caller]
    fn within(op: &str, x: &Raw, mask: &Raw) -> Chosen {
        let chosen = Chosen::new(op, x, mask);
        if chosen.shape != x.shape {
            let message = format!("the mask {:?} does not broadcast to the tensor {:?}", mask.shape, x.shape);
            raise(Error::Shape { op: op.into(), message });
        }
        chosen
    }

    #[track_caller]
    fn of(&self, x: &Raw) -> Raw {
        pick(&x.expand_to("masked_select", &self.shape).reshape(&self.row), 0, &self.index)
    }

    #[track_caller]
    fn replaced(&self, x: Raw, src: &Raw) -> Raw {
        x.same_device("masked_scatter", src);
        let (given, wanted) = (src.numel(), self.index.numel());
        if given < wanted {
            let message = format!("the source {:?} has {given} elements, but {wanted} are true", src.shape);
            raise(Error::Shape { op: "masked_scatter".into(), message });
        }
        let row = Dims::of("masked_scatter", &[given]);
        let src = src.clone().reshape(&row).slice(0, 0, wanted).cast(x.dtype);
        put(x.reshape(&self.row), 0, &self.index, &src, Put::Set).reshape(&self.shape)
    }

    /// The pullback of [`Tensor::masked_scatter`], for a source of that shape and dtype.
    fn merge(self, own: Dims, dtype: DType, into: bool, from: bool) -> Merge {
        let (index, row) = (self.index.keep(), self.row);
        let flat = Dims::of("masked_scatter", &[own.numel()]);
        let clear = Undo::Clear { axis: 0, index: index.clone() };
        let back = Undo::Pick { axis: 0, index, last: None }.then(Undo::Corner(flat));
        let merge = Merge { into: into.then_some(clear), src: from.then_some((back, dtype)) };
        merge.between(Undo::Shape(row), [Undo::Shape(self.shape), Undo::Shape(own)])
    }
}

kernel! {
    static FILL_INTS = Pointwise "masked_fill" (x: Each I64, m: Each Bool; value) -> (y: Each I64) |tile| {
        let value = value.i64();
        for i in 0..tile.1 {
            y[i] = if m[i] { value } else { x[i] };
        }
    }
}

kernel! {
    static FILL_BOOLS = Pointwise "masked_fill" (x: Each Bool, m: Each Bool; value) -> (y: Each Bool) |tile| {
        let value = value.i64() != 0;
        for i in 0..tile.1 {
            y[i] = if m[i] { value } else { x[i] };
        }
    }
}

impl Tensor<Int> {
    /// `value` where `mask` is true, `self` elsewhere. The mask's shape broadcasts to that of `self`; raises
    /// `Error::Shape` where it does not.
    #[track_caller]
    pub fn masked_fill(self, mask: Tensor<Bool>, value: i64) -> Self {
        Tensor::from_raw(masked_fill(&FILL_INTS, self.raw, &mask.raw, Scalar::Int(value)))
    }
}

impl Tensor<Bool> {
    /// `value` where `mask` is true, `self` elsewhere. The mask's shape broadcasts to that of `self`; raises
    /// `Error::Shape` where it does not.
    #[track_caller]
    pub fn masked_fill(self, mask: Tensor<Bool>, value: bool) -> Self {
        let value = Scalar::Int(i64::from(value));
        Tensor::from_raw(masked_fill(&FILL_BOOLS, self.raw, &mask.raw, value))
    }
}
