//! The parts of matrices above and below a diagonal.

use super::undo::{Moved, Undo};
use crate::device::Device;
use crate::diff::Want;
use crate::raise::raise;
use crate::tensor::{Bool, Int, Kind, Raw, Tensor, launch, of_each_size};
use cotangent_hal::{Arg, Error, Scalar, kernel};

/// A side of a diagonal, the diagonal included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    /// Below it.
    Lower,
    /// Above it.
    Upper,
}

macro_rules! lower {
    ($NAME:ident $W:ident) => {
        kernel! {
            static $NAME = Rows "tril" (x: Each $W; rows, diagonal) -> (y: Each $W) |tile| {
                let end = last(tile.0, rows, diagonal).clamp(0, tile.1 as i64) as usize;
                y[..end].copy_from_slice(&x[..end]);
                y[end..].fill(Default::default());
            }
        }
    };
}
of_each_size!(lower => LOWER);

macro_rules! upper {
    ($NAME:ident $W:ident) => {
        kernel! {
            static $NAME = Rows "triu" (x: Each $W; rows, diagonal) -> (y: Each $W) |tile| {
                let start = (last(tile.0, rows, diagonal).saturating_sub(1)).clamp(0, tile.1 as i64) as usize;
                y[..start].fill(Default::default());
                y[start..].copy_from_slice(&x[start..]);
            }
        }
    };
}
of_each_size!(upper => UPPER);

/// The column behind that of a diagonal in the row of that number.
#[inline(always)]
fn last(row: usize, rows: Scalar, diagonal: Scalar) -> i64 {
    let row = row as i64 % rows.i64();
    row.saturating_add(diagonal.i64()).saturating_add(1)
}

/// One side of a diagonal of the last two axes, zero elsewhere; in place where nothing else holds it.
#[track_caller]
pub(super) fn triangle(x: Raw, side: Side, diagonal: isize) -> Raw {
    let out = Raw::output(&x.device, x.dtype, &x.shape, &[&x]);
    if x.numel() > 0 {
        let rows = x.shape[x.shape.len() - 2];
        let kernels = if side == Side::Lower { &LOWER } else { &UPPER };
        let (x, y) = (x.bits(), out.clone().bits());
        let numbers = [rows as i64, diagonal as i64].map(|n| Arg::Scalar(Scalar::Int(n)));
        let args = [Arg::In(x.view()), Arg::Out(y.view()), numbers[0], numbers[1]];
        launch(&out.device, kernels.of(out.dtype), &out.shape, &args);
    }
    out
}

/// Declares both sides of a diagonal.
macro_rules! sides {
    ($($(#[$doc:meta])* $name:ident, $companion:ident, $side:ident;)*) => {
        impl<K: Kind> Tensor<K> {
            $(
                $(#[$doc])*
                ///
                /// Diagonal 0 is the main one, positive ones lie above it. Raises `Error::Shape` for fewer than two axes.
                #[track_caller]
                pub fn $name(self, diagonal: isize) -> Self {
                    matrices(stringify!($name), &self.raw);
                    Tensor::from_raw(triangle(self.raw, Side::$side, diagonal))
                }

                #[doc(hidden)]
                #[track_caller]
                pub fn $companion(self, diagonal: isize, want: Want) -> (Self, Moved<K, 1>) {
                    (self.$name(diagonal), Moved::new(want, Undo::Triangle(Side::$side, diagonal)))
                }
            )*
        }
    };
}
sides! {
    /// The elements of each matrix, in the last two axes, on and below a diagonal; zero above it.
    tril, tril__vjp, Lower;
    /// The elements of each matrix, in the last two axes, on and above a diagonal; zero below it.
    triu, triu__vjp, Upper;
}

#[track_caller]
fn matrices(op: &str, x: &Raw) {
    if x.shape.len() < 2 {
        let message = format!("{:?} has {} axes, expected at least 2", x.shape, x.shape.len());
        raise(Error::Shape { op: op.into(), message });
    }
}

impl Tensor<Int> {
    /// The places of a `rows` by `columns` matrix on and below a diagonal, in row-major order: `[2, n]`, their rows above
    /// their columns.
    #[track_caller]
    pub fn tril_indices(rows: usize, columns: usize, diagonal: isize, device: &Device) -> Self {
        places(Tensor::tril_mask(rows, columns, diagonal, device))
    }

    /// The places of a `rows` by `columns` matrix on and above a diagonal, as [`tril_indices`](Self::tril_indices).
    #[track_caller]
    pub fn triu_indices(rows: usize, columns: usize, diagonal: isize, device: &Device) -> Self {
        places(Tensor::triu_mask(rows, columns, diagonal, device))
    }
}

/// The places where a mask is true, one below another.
#[track_caller]
fn places(mask: Tensor<Bool>) -> Tensor<Int> {
    mask.nonzero().t().contiguous()
}
