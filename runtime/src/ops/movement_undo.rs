//! Derivatives of movement: every movement is linear, so its pullback is a movement of the cotangent.

use crate::diff::{Pullback, Want};
use crate::tensor::{Dims, Kind, Raw, Tensor};
use cotangent_hal::Scalar;
use std::marker::PhantomData;

/// What takes the cotangent of a moved tensor back to that of the tensor.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Undo {
    /// The same place for every element.
    Same,
    /// The operand's shape.
    Shape(Dims),
    /// The operand's axes in this order.
    Order(Dims),
    /// Two axes swapped.
    Swap(usize, usize),
    /// Repeated elements summed to this shape.
    Sum(Dims),
    /// Zero but for entries of an axis from `start` on.
    Pad {
        /// The operand's shape.
        shape: Dims,
        /// The axis.
        axis: usize,
        /// The first entry.
        start: usize,
    },
}

impl Undo {
    #[track_caller]
    fn apply(self, ct: Tensor) -> Tensor {
        Tensor::from_raw(match self {
            Undo::Same => ct.raw,
            Undo::Shape(shape) => ct.raw.reshape(&shape),
            Undo::Order(order) => ct.raw.permute(&order),
            Undo::Swap(a, b) => ct.raw.swap_axes(a, b),
            Undo::Sum(shape) => return super::sum_to(ct, &shape),
            Undo::Pad { shape, axis, start } => joined(&shape, axis, &[(start, ct.raw)]),
        })
    }
}

/// The order of axes that undoes `order`.
pub(super) fn inverse(order: &Dims) -> Dims {
    let mut out = *order;
    for (to, &from) in order.iter().enumerate() {
        out[from] = to;
    }
    out
}

/// A tensor of `shape` that holds each part, of which there is at least one, from its place along `axis` on, and 0
/// elsewhere.
#[track_caller]
pub(crate) fn joined(shape: &Dims, axis: usize, parts: &[(usize, Raw)]) -> Raw {
    let first = &parts[0].1;
    let dtype = parts.iter().fold(first.dtype, |dtype, (_, part)| dtype.promote(part.dtype));
    let out = Raw::empty(&first.device, dtype, shape);
    let mut at = 0;
    for (start, part) in parts {
        clear(&out, axis, at, *start);
        at = start + part.shape[axis];
        part.copy_to(&out.clone().slice(axis, *start, part.shape[axis]));
    }
    clear(&out, axis, at, shape[axis]);
    out
}

#[track_caller]
fn clear(out: &Raw, axis: usize, start: usize, end: usize) {
    if start < end {
        out.clone().slice(axis, start, end - start).fill(Scalar::Int(0));
    }
}

/// The pullback of a movement of a tensor of kind `K` with `VALUES` plain arguments.
#[derive(Debug)]
pub struct Moved<K: Kind, const VALUES: usize> {
    undo: Option<Undo>,
    kind: PhantomData<fn() -> K>,
}

impl<K: Kind, const VALUES: usize> Moved<K, VALUES> {
    /// The pullback that `undo` is, or of nothing wanted.
    pub(crate) fn new(want: Want, undo: Undo) -> Self {
        Moved { undo: (K::ACTIVE && want.has(0)).then_some(undo), kind: PhantomData }
    }

    #[track_caller]
    fn back(self, ct: K::Ct) -> K::Ct {
        match (self.undo, K::ct_tensor(ct)) {
            (Some(undo), Some(ct)) => K::ct(Some(undo.apply(ct))),
            (_, _) => K::Ct::default(),
        }
    }
}

macro_rules! arguments {
    ($($values:literal => ($($unit:tt),*);)*) => { $(
        impl<K: Kind> Pullback<()> for Moved<K, $values> {
            type Ct = K::Ct;
            type In = (K::Ct, $($unit),*);
            fn pull(self, ct: K::Ct, (): &mut ()) -> Self::In {
                (self.back(ct), $($unit),*)
            }
        }
    )* };
}
arguments! {
    0 => ();
    1 => (());
    2 => ((), ());
    3 => ((), (), ());
}
