//! Elements chosen along an axis: their cotangents are put back at their places.

use super::turn::Turn;
use crate::diff::{Pullback, Want};
use crate::tensor::{Kind, Raw, Tensor, launch};
use cotangent_hal::{Arg, Scalar};
use std::marker::PhantomData;

cotangent_hal::kernel! {
    static PUT = Rows "put" (ct: Whole F32, at: Whole I64; k) -> (dx: Each F32) |tile| {
        let k = k.i64() as usize;
        let row = tile.0 * k..(tile.0 + 1) * k;
        dx.fill(0.0);
        for (&ct, &at) in ct[row.clone()].iter().zip(&at[row]) {
            dx[at as usize] += ct;
        }
    }
}

/// A tensor of `extent` along an axis, 0 but for the values `ct` added up at their places `at` along it, in their order.
#[track_caller]
fn put(turn: Turn, ct: Raw, at: Raw, extent: usize) -> Raw {
    let (ct, at) = (turn.to_rows(ct), turn.to_rows(at));
    let last = ct.shape.len() - 1;
    let mut rows = ct.shape;
    rows[last] = extent;
    let out = turn.empty(&ct, ct.dtype, &rows);
    if out.numel() > 0 {
        let k = Arg::Scalar(Scalar::Int(ct.shape[last] as i64));
        launch(&out.device, &PUT, &rows, &[Arg::In(ct.view()), Arg::In(at.view()), Arg::Out(out.view()), k]);
    }
    turn.back(out)
}

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
        let whole = |raw: Raw| match self.turn {
            Turn::Swap(axis) if self.dropped => raw.insert_axis("put", axis),
            Turn::Swap(_) | Turn::Scalar => raw,
        };
        K::ct(Some(Tensor::from_raw(put(self.turn, whole(ct.raw), whole(at), self.extent))))
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
