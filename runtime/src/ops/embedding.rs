//! Rows of a table, looked up by number.

#![allow(non_snake_case, reason = "companions are named `<operation>__vjp`")]

use super::index::pick;
use super::indices;
use super::movement::{Moved, Undo};
use crate::diff::Want;
use crate::raise::raise;
use crate::tensor::{Dims, Float, Int, Raw, Tensor};
use cotangent_hal::Error;

impl Tensor {
    /// The rows of this table `[V, C]` with the numbers `ids`, of any shape: `[ids.., C]`. Repeated rows add up their
    /// cotangents, in the order of `ids`.
    ///
    /// Raises `Error::Shape` where the table is no matrix, `Error::Argument` where a number is not in `0..V`.
    #[track_caller]
    pub fn embedding(self, ids: Tensor<Int>) -> Tensor {
        Lookup::new(&self.raw, &ids.raw).of(&self.raw)
    }

    #[doc(hidden)]
    #[track_caller]
    pub fn embedding__vjp(self, ids: Tensor<Int>, want: Want) -> (Tensor, Moved<Float, 1>) {
        let lookup = Lookup::new(&self.raw, &ids.raw);
        let y = lookup.of(&self.raw);
        let undo = || {
            let index = lookup.index.keep();
            Undo::Shape(index.shape).then(Undo::Put { shape: self.raw.shape, axis: 0, index })
        };
        (y, Moved::with(want, undo))
    }
}

struct Lookup {
    /// The shape of the result.
    shape: Dims,
    /// The number of each row, for all of its elements.
    index: Raw,
}

impl Lookup {
    #[track_caller]
    fn new(table: &Raw, ids: &Raw) -> Lookup {
        let [rows, columns] = *table.shape else {
            let message = format!("the table is {:?}, expected [V, C]", table.shape);
            raise(Error::Shape { op: "embedding".into(), message })
        };
        table.same_device("embedding", ids);
        indices::check("embedding", ids, rows, "id", "the number of rows V");
        let mut shape = ids.shape;
        shape.push("embedding", columns);
        let column = Dims::of("embedding", &[ids.numel(), 1]);
        let index = ids.clone().reshape(&column).expand_to("embedding", &[ids.numel(), columns]);
        Lookup { shape, index }
    }

    #[track_caller]
    fn of(&self, table: &Raw) -> Tensor {
        Tensor::from_raw(pick(table, 0, &self.index).reinterpret(&self.shape))
    }
}
