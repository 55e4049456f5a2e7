//! Rows of a table, looked up by number.

#![allow(non_snake_case, reason = "companions are named `<operation>__vjp`")]

use super::indices;
use crate::diff::{Pullback, Want};
use crate::raise::raise;
use crate::tensor::{Dims, Int, Raw, Tensor, launch};
use cotangent_hal::{Arg, DType, Error, Scalar};

cotangent_hal::kernel! {
    /// Moves bits alone: its operands may be [`words`] of another dtype.
    static GATHER = Rows "embedding" (ids: PerRow I64, w: Whole F32) -> (y: Each F32) |tile| {
        let start = ids[0] as usize * tile.1;
        y.copy_from_slice(&w[start..start + tile.1]);
    }
}

cotangent_hal::kernel! {
    static SCATTER_ADD = Rows "embedding" (ct: Each F32, ids: PerRow I64) -> (dw: Whole F32) |tile| {
        let start = ids[0] as usize * tile.1;
        let row = &mut dw[start..start + tile.1];
        for i in 0..tile.1 {
            row[i] += ct[i];
        }
    }
}

impl Tensor {
    /// The rows of this table `[V, C]` with the numbers `ids`, of any shape: `[ids.., C]`. Repeated rows add up their
    /// cotangents, in the order of `ids`.
    ///
    /// Raises `Error::Shape` where the table is no matrix, `Error::Argument` where a number is not in `0..V`.
    #[track_caller]
    pub fn embedding(self, ids: Tensor<Int>) -> Tensor {
        gather(self, &ids)
    }

    #[doc(hidden)]
    #[track_caller]
    pub fn embedding__vjp(
        self,
        ids: Tensor<Int>,
        want: Want,
    ) -> (Tensor, impl Pullback<(), Ct = Option<Tensor>, In = (Option<Tensor>, ())> + use<>) {
        let (table, dtype) = (self.raw.shape, self.raw.dtype);
        let y = gather(self, &ids);
        (y, Scatter { table, dtype, ids: want.has(0).then(|| ids.raw.keep()) })
    }
}

#[track_caller]
fn gather(table: Tensor, ids: &Tensor<Int>) -> Tensor {
    let &[rows, columns] = table.shape() else {
        let message = format!("the table is {:?}, expected [V, C]", table.shape());
        raise(Error::Shape { op: "embedding".into(), message })
    };
    table.raw.same_device("embedding", &ids.raw);
    indices::check("embedding", &ids.raw, rows, "id", "the number of rows V");
    let mut shape = ids.raw.shape;
    shape.push("embedding", columns);
    let out = Raw::empty(&table.raw.device, table.dtype(), &shape);
    if out.numel() > 0 {
        let w = table.raw.contiguous();
        let (w, y) = words(&w).zip(words(&out)).unwrap_or_else(|| (w, out.clone()));
        launch(&w.device, &GATHER, &y.shape, &[Arg::In(ids.raw.view()), Arg::In(w.view()), Arg::Out(y.view())]);
    }
    Tensor::from_raw(out)
}

/// A contiguous tensor whose rows are whole words of 32 bits, as these words: a table that is stored in another dtype
/// is not converted for the sake of a few of its rows.
fn words(x: &Raw) -> Option<Raw> {
    let word = DType::F32.size();
    let bytes = |elements: usize| elements * x.dtype.size();
    let row = bytes(x.shape.last().copied()?);
    let whole = |bytes: usize| bytes.is_multiple_of(word);
    if !(whole(row) && whole(bytes(x.offset)) && x.is_contiguous()) {
        return None;
    }
    let mut shape = x.shape;
    let last = shape.len() - 1;
    shape[last] = row / word;
    Some(Raw { dtype: DType::F32, offset: bytes(x.offset) / word, strides: shape.row_major(), shape, ..x.clone() })
}

/// The pullback of a lookup.
struct Scatter {
    table: Dims,
    dtype: DType,
    ids: Option<Raw>,
}

impl Pullback<()> for Scatter {
    type Ct = Option<Tensor>;
    type In = (Option<Tensor>, ());
    fn pull(self, ct: Option<Tensor>, (): &mut ()) -> Self::In {
        let (Some(ct), Some(ids)) = (ct, self.ids) else { return (None, ()) };
        let ct = ct.raw;
        let dw = Raw::empty(&ct.device, self.dtype, &self.table);
        if ct.numel() == 0 {
            dw.fill(Scalar::Float(0.0));
        } else {
            let args = [Arg::In(ct.view()), Arg::In(ids.view()), Arg::Out(dw.view())];
            launch(&ct.device, &SCATTER_ADD, &ct.shape, &args);
        }
        (Some(Tensor::from_raw(dw)), ())
    }
}
