//! Elements chosen along an axis: their cotangents are put back at their places.

use super::movement::Undo;
use super::turn::Turn;
use crate::diff::{Pullback, Want};
use crate::tensor::{Kind, Raw, Tensor};
use std::marker::PhantomData;

/// The pullback of an operation on a tensor of kind `K` with `VALUES` plain arguments that gives elements chosen along
/// an axis, and their places.
pub struct Placed<K: Kind, const VALUES: usize> {
    turn: Turn,
    /// The operand's extent along the axis.
    extent: usize,
    /// Whether the results lack the axis.
    dropped: bool,
    at: Option<Raw>,
    kind: PhantomData<fn() -> K>,
}

impl<K: Kind, const VALUES: usize> Placed<K, VALUES> {
    /// That of elements at the places `at` of an operand with that extent, or of nothing wanted.
    pub(super) fn new(turn: Turn, extent: usize, at: &Raw, want: Want) -> Self {
        let at = (K::ACTIVE && want.has(0)).then(|| at.clone().keep());
        Placed { turn, extent, dropped: false, at, kind: PhantomData }
    }

    /// The same of results that lack the axis.
    pub(super) fn dropped(self) -> Self {
        Placed { dropped: true, ..self }
    }

    #[track_caller]
    fn back(self, ct: K::Ct) -> K::Ct {
        let (Some(ct), Some(at)) = (K::ct_tensor(ct), self.at) else { return K::Ct::default() };
        // A scalar is the only element of its row.
        let Turn::Swap(axis) = self.turn else { return K::ct(Some(ct)) };
        let whole = |raw: Raw| if self.dropped { raw.insert_axis("put", axis) } else { raw };
        let (ct, index) = (Tensor::from_raw(whole(ct.raw)), whole(at));
        let mut shape = ct.raw.shape;
        shape[axis] = self.extent;
        K::ct(Some(Undo::Put { shape, axis, index }.apply(ct)))
    }
}

macro_rules! arguments {
    ($($values:literal => ($($unit:tt),*);)*) => { $(
        impl<K: Kind> Pullback<()> for Placed<K, $values> {
            type Ct = (K::Ct, ());
            type In = (K::Ct, $($unit),*);
            fn pull(self, (ct, ()): Self::Ct, (): &mut ()) -> Self::In {
                (self.back(ct), $($unit),*)
            }
        }
    )* };
}
arguments! {
    1 => (());
    2 => ((), ());
    4 => ((), (), (), ());
}
