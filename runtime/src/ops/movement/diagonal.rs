//! Diagonals of matrices, as views and as matrices.

use super::undo::{Moved, Undo};
use super::window::Window;
use crate::diff::Want;
use crate::raise::raise;
use crate::tensor::{Float, Int, Kind, Raw, Tensor, axis_below, axis_of};
use cotangent_hal::{Error, Scalar};

/// A diagonal of the plane of two axes: positive ones lie above the main one.
#[derive(Clone, Copy)]
struct Diagonal {
    offset: isize,
    rows: usize,
    columns: usize,
}

impl Diagonal {
    #[track_caller]
    fn of(op: &str, shape: &[usize], offset: isize, rows: isize, columns: isize) -> Diagonal {
        let (rows, columns) = (axis_of(op, rows, shape), axis_of(op, columns, shape));
        if rows == columns {
            let message = format!("axis {rows} of {shape:?} was given for rows and columns, expected two axes");
            raise(Error::Argument { op: op.into(), message });
        }
        Diagonal { offset, rows, columns }
    }

    /// The view of the diagonal as a last axis behind the others.
    fn view(self, mut x: Raw) -> Raw {
        let Diagonal { offset, rows, columns } = self;
        let (down, right) = (offset.min(0).unsigned_abs(), offset.max(0).unsigned_abs());
        let extent = x.shape[rows].saturating_sub(down).min(x.shape[columns].saturating_sub(right));
        let stride = x.strides[rows] + x.strides[columns];
        if extent > 0 {
            x = x.slice(rows, down, extent).slice(columns, right, extent);
        }
        for axis in [rows.max(columns), rows.min(columns)] {
            x.shape.remove(axis);
            x.strides.remove(axis);
        }
        // Two axes have gone, so that there is room for one.
        x.shape.push("diagonal", extent);
        x.strides.push("diagonal", stride);
        x
    }
}

impl<K: Kind> Tensor<K> {
    /// The diagonal `offset` of the matrices in the axes `rows` and `columns`, as a view with it as the last axis:
    /// `[A, M, N]` gives `[A, D]`. Diagonal 0 is the main one, positive ones lie above it.
    ///
    /// Raises `Error::Argument` where an axis is not there, or both are the same.
    #[track_caller]
    pub fn diagonal(self, offset: isize, rows: isize, columns: isize) -> Self {
        let diagonal = Diagonal::of("diagonal", &self.raw.shape, offset, rows, columns);
        Tensor::from_raw(diagonal.view(self.raw))
    }

    #[doc(hidden)]
    #[track_caller]
    pub fn diagonal__vjp(self, offset: isize, rows: isize, columns: isize, want: Want) -> (Self, Moved<K, 3>) {
        let diagonal = Diagonal::of("diagonal", &self.raw.shape, offset, rows, columns);
        let window = Window::of(&self.raw, |x| diagonal.view(x));
        (Tensor::from_raw(diagonal.view(self.raw)), Moved::new(want, Undo::Inlay(window)))
    }

    /// A matrix with this vector on the diagonal `offset` and zero elsewhere; the diagonal of a matrix, as a view.
    ///
    /// Raises `Error::Shape` for any other number of axes.
    #[track_caller]
    pub fn diag(self, offset: isize) -> Self {
        match self.rank() {
            1 => Tensor::from_raw(embedded("diag", &self.raw, offset, -2, -1).0),
            2 => self.diagonal(offset, 0, 1),
            rank => {
                let message = format!("{:?} has {rank} axes, expected a vector or a matrix", self.shape());
                raise(Error::Shape { op: "diag".into(), message })
            }
        }
    }

    #[doc(hidden)]
    #[track_caller]
    pub fn diag__vjp(self, offset: isize, want: Want) -> (Self, Moved<K, 1>) {
        if self.rank() == 1 {
            let (y, window) = embedded("diag", &self.raw, offset, -2, -1);
            return (Tensor::from_raw(y), Moved::new(want, Undo::View(window)));
        }
        let raw = self.raw.clone();
        let y = self.diag(offset);
        let diagonal = Diagonal { offset, rows: 0, columns: 1 };
        (y, Moved::new(want, Undo::Inlay(Window::of(&raw, |x| diagonal.view(x)))))
    }

    /// Matrices in the axes `rows` and `columns` of the result with the last axis on the diagonal `offset`, zero elsewhere:
    /// `[A, D]` gives `[A, D, D]` for `offset = 0`, `rows = -2`, `columns = -1`.
    ///
    /// Raises `Error::Argument` where an axis is not there, or both are the same, `Error::Shape` for a scalar.
    #[track_caller]
    pub fn diag_embed(self, offset: isize, rows: isize, columns: isize) -> Self {
        Tensor::from_raw(embedded("diag_embed", &self.raw, offset, rows, columns).0)
    }

    #[doc(hidden)]
    #[track_caller]
    pub fn diag_embed__vjp(self, offset: isize, rows: isize, columns: isize, want: Want) -> (Self, Moved<K, 3>) {
        let (y, window) = embedded("diag_embed", &self.raw, offset, rows, columns);
        (Tensor::from_raw(y), Moved::new(want, Undo::View(window)))
    }
}

/// The result of [`Tensor::diag_embed`], and where the diagonal lies in it.
#[track_caller]
fn embedded(op: &str, x: &Raw, offset: isize, rows: isize, columns: isize) -> (Raw, Window) {
    let Some(&last) = x.shape.last() else {
        raise(Error::Shape { op: op.into(), message: "a scalar was given, expected at least one axis".into() })
    };
    let rank = x.shape.len() + 1;
    let (Some(a), Some(b)) = (axis_below(rows, rank), axis_below(columns, rank)) else {
        let message = format!("the axes {rows} and {columns} were given, but the result has {rank} axes");
        raise(Error::Argument { op: op.into(), message })
    };
    let extent = last + offset.unsigned_abs();
    let mut shape = x.shape;
    shape.remove(rank - 2);
    for axis in [a.min(b), a.max(b)] {
        shape.insert(op, axis.min(shape.len()), extent);
    }
    let diagonal = Diagonal::of(op, &shape, offset, rows, columns);
    let out = Raw::full(&x.device, x.dtype, &shape, Scalar::Int(0));
    let window = Window::of(&out, |y| diagonal.view(y));
    x.copy_to(&window.on(&out));
    (out, window)
}

impl Tensor {
    /// The sum of the main diagonal of a matrix.
    ///
    /// Raises `Error::Shape` for any other number of axes.
    #[track_caller]
    pub fn trace(self) -> Tensor {
        square(&self.raw);
        self.diagonal(0, 0, 1).sum(..)
    }

    #[doc(hidden)]
    #[track_caller]
    pub fn trace__vjp(self, want: Want) -> (Tensor, Moved<Float, 0>) {
        square(&self.raw);
        let window = Window::of(&self.raw, |x| Diagonal { offset: 0, rows: 0, columns: 1 }.view(x));
        let undo = Undo::Spread(window.shape).then(Undo::Inlay(window));
        (self.trace(), Moved::new(want, undo))
    }
}

impl Tensor<Int> {
    /// The sum of the main diagonal of a matrix.
    ///
    /// Raises `Error::Shape` for any other number of axes.
    #[track_caller]
    pub fn trace(self) -> Self {
        square(&self.raw);
        self.diagonal(0, 0, 1).sum(..)
    }
}

#[track_caller]
fn square(x: &Raw) {
    if x.shape.len() != 2 {
        let message = format!("{:?} has {} axes, expected a matrix", x.shape, x.shape.len());
        raise(Error::Shape { op: "trace".into(), message });
    }
}
