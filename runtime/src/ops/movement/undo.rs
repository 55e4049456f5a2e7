//! Derivatives of movement: every movement is linear, so its pullback is a movement of the cotangent.

use super::triangle::{Side, triangle};
use super::window::Window;
use super::{order, pad, repeat};
use crate::diff::{Pullback, Want};
use crate::ops::index::{Put, fill, pick, pick_last, put};
use crate::tensor::{Dims, Kind, Raw, Tensor};
use cotangent_hal::Scalar;
use std::marker::PhantomData;

/// What takes the cotangent of a moved tensor back to that of the tensor.
#[derive(Clone)]
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
    /// Summed over one axis.
    Fold(usize),
    /// One number everywhere.
    Spread(Dims),
    /// Zero but for entries of an axis from `start` on.
    Pad {
        /// The operand's shape.
        shape: Dims,
        /// The axis.
        axis: usize,
        /// The first entry.
        start: usize,
    },
    /// Zero but for a view that does not repeat elements.
    Inlay(Window),
    /// A view.
    View(Window),
    /// Zero in a view.
    Blank(Window),
    /// The elements on one side of a diagonal of the last two axes, zero elsewhere.
    Triangle(Side, isize),
    /// The entries of an axis moved on.
    Roll {
        /// The axis.
        axis: usize,
        /// By so many places.
        by: isize,
    },
    /// Windows along an axis, one behind the other in a last axis, added up where they overlap.
    Unfold {
        /// The operand's shape.
        shape: Dims,
        /// The axis.
        axis: usize,
        /// From one window to the next.
        step: usize,
    },
    /// What padding took from the elements that it repeated, added up at these.
    Padding(pad::Plan),
    /// Zero but for what is added up at positions along an axis.
    Put {
        /// The operand's shape.
        shape: Dims,
        /// The axis.
        axis: usize,
        /// The positions, of the cotangent's shape.
        index: Raw,
    },
    /// What is at positions along an axis.
    Pick {
        /// The axis.
        axis: usize,
        /// The positions, of the operand's shape.
        index: Raw,
        /// The cotangent's shape where only the last of equal positions counts; the others have 0.
        last: Option<Dims>,
    },
    /// 0 at positions along an axis.
    Clear {
        /// The axis.
        axis: usize,
        /// The positions.
        index: Raw,
    },
    /// Zero but for the first entries of each axis of this shape.
    Corner(Dims),
    /// One after the other.
    Both(Box<[Undo; 2]>),
}

impl Undo {
    /// This, and then another.
    pub(crate) fn then(self, next: Undo) -> Undo {
        Undo::Both(Box::new([self, next]))
    }

    /// The cotangent of the operand.
    #[track_caller]
    pub(crate) fn apply(self, ct: Tensor) -> Tensor {
        let ct = ct.raw;
        Tensor::from_raw(match self {
            Undo::Same => ct,
            Undo::Shape(shape) => ct.reshape(&shape),
            Undo::Order(order) => ct.permute(&order),
            Undo::Swap(a, b) => ct.swap_axes(a, b),
            Undo::Sum(shape) => return crate::ops::sum_to(Tensor::from_raw(ct), &shape),
            Undo::Fold(axis) => repeat::summed(&ct, axis),
            Undo::Spread(shape) => ct.expand_to("expand", &shape),
            Undo::Pad { shape, axis, start } => joined(&shape, axis, &[(start, ct)]),
            Undo::Inlay(window) => {
                let whole = Raw::empty(&ct.device, ct.dtype, &window.whole);
                if !window.is_whole() {
                    whole.fill(Scalar::Int(0));
                }
                ct.copy_to(&window.on(&whole));
                whole
            }
            Undo::View(window) => window.on(&ct.contiguous()),
            Undo::Blank(window) => {
                let ct = ct.owned();
                window.on(&ct).fill(Scalar::Int(0));
                ct
            }
            Undo::Triangle(side, diagonal) => triangle(ct, side, diagonal),
            Undo::Roll { axis, by } => order::rolled(ct, axis, by),
            Undo::Unfold { shape, axis, step } => repeat::folded(&ct, &shape, axis, step),
            Undo::Padding(plan) => plan.undo(ct),
            Undo::Put { shape, axis, index } => {
                let zeros = Raw::full(&ct.device, ct.dtype, &shape, Scalar::Int(0));
                put(zeros, axis, &index, &ct, Put::Add)
            }
            Undo::Pick { axis, index, last: None } => pick(&ct, axis, &index),
            Undo::Pick { axis, index, last: Some(shape) } => pick_last(&ct, axis, &index, &shape),
            Undo::Clear { axis, index } => fill(ct, axis, &index, Scalar::Int(0)),
            Undo::Corner(shape) => {
                let whole = Raw::full(&ct.device, ct.dtype, &shape, Scalar::Int(0));
                ct.copy_to(&whole.clone().corner(&ct.shape));
                whole
            }
            Undo::Both(both) => {
                let [first, second] = *both;
                return second.apply(first.apply(Tensor::from_raw(ct)));
            }
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
pub struct Moved<K: Kind, const VALUES: usize> {
    undo: Option<Undo>,
    kind: PhantomData<fn() -> K>,
}

impl<K: Kind, const VALUES: usize> Moved<K, VALUES> {
    /// The pullback that `undo` is, or of nothing wanted.
    pub(crate) fn new(want: Want, undo: Undo) -> Self {
        Moved::with(want, || undo)
    }

    /// As [`new`](Moved::new), where it takes work or memory to say what undoes the movement.
    pub(crate) fn with(want: Want, undo: impl FnOnce() -> Undo) -> Self {
        Moved { undo: (K::ACTIVE && want.has(0)).then(undo), kind: PhantomData }
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
