//! Matrix products: verification, and what the core needs to know of a call.
#![allow(unsafe_code, reason = "hands verified memory to the methods")]

mod batch;
mod vector;

use crate::backend::{block_of, in_use, refused};
use crate::gemm::{Epilogue, Extents, Matrix, Stored};
use crate::launch::{outside, range, repeats};
use crate::memory::{Block, Pool};
use crate::strided::{self, Side, Way};
use batch::Batch;
use cotangent_hal::native::Level;
use cotangent_hal::{DType, Error, Result, View};
use half::{bf16, f16};
use std::sync::Arc;

/// See [`LibraryCall::MatMul`](cotangent_hal::LibraryCall::MatMul).
pub(crate) fn matmul(
    pool: &Arc<Pool>,
    level: Level,
    [a, b, out]: [&View<'_>; 3],
    epilogue: &cotangent_hal::Epilogue<'_>,
) -> Result<()> {
    let dtype = a.dtype;
    if !dtype.is_float() {
        return Err(Error::Dtype { op: "matmul".into(), given: dtype, accepted: DType::FLOATS.to_vec() });
    }
    let bias = epilogue.bias.as_ref();
    if let Some(other) = [b, out].into_iter().chain(bias).find(|view| view.dtype != dtype) {
        return Err(Error::Dtype { op: "matmul".into(), given: other.dtype, accepted: vec![dtype] });
    }
    let (&[count, m, k], &[b_count, b_k, n], &[c_count, c_m, c_n]) = (a.shape, b.shape, out.shape) else {
        return Err(misshapen(a, b, out));
    };
    if (b_count, b_k, c_count, c_m, c_n) != (count, k, count, m, n) {
        return Err(misshapen(a, b, out));
    }
    if let Some(bias) = bias.filter(|bias| bias.shape != [n]) {
        let message = format!("the bias of `{:?}` is `{:?}`, expected `[{n}]`", out.shape, bias.shape);
        return Err(Error::Shape { op: "matmul".into(), message });
    }
    // The product comes first, then all that is read.
    let views = [Some(out), Some(a), Some(b), bias];
    let mut places: [Option<Place<'_>>; 4] = [None; 4];
    for ((view, place), name) in views.iter().zip(&mut places).zip(["product", "left factor", "right factor", "bias"]) {
        let Some(view) = view else { continue };
        let block = block_of(view.buffer)?;
        let Some(range) = range(view, block) else {
            let message = format!("the {name} {}", outside(view, block));
            return Err(Error::Shape { op: "matmul".into(), message });
        };
        *place = Some(Place { block, range });
    }
    let [Some(product), Some(left), Some(right), _] = places else { return Err(misshapen(a, b, out)) };
    if product.range.0 == product.range.1 {
        return Ok(());
    }
    if repeats(out.shape, out.strides) {
        return Err(refused("matmul: the product repeats elements; give it memory of its own".into()));
    }
    for (place, name) in [(Some(left), "a factor"), (Some(right), "a factor"), (places[3], "the bias")] {
        if place.is_some_and(|place| place.overlaps(&product)) {
            return Err(refused(format!("matmul: the product overlaps {name}; give it memory of its own")));
        }
    }
    // A buffer that holds several of them is borrowed once, for writing where one is the product.
    let mut borrows = [const { None }; 4];
    for (i, place) in places.iter().enumerate() {
        let Some(place) = place else { continue };
        if !places[..i].iter().flatten().any(|other| std::ptr::eq(other.block, place.block)) {
            borrows[i] = Some(place.block.borrow(i == 0).ok_or_else(in_use)?);
        }
    }
    let extents = Extents { m, n, k };
    let call = Call { pool, level, count, extents, a: left.first(a), b: right.first(b), out: product.first(out) };
    let bias = bias.zip(places[3]).map(|(view, place)| (place.first(view), view.strides[0]));
    // SAFETY: the elements are verified and borrowed; the products are distinct and overlap nothing that is read.
    unsafe {
        match dtype {
            DType::F32 => call.run::<f32>([a, b, out], bias, epilogue),
            DType::F64 => call.run::<f64>([a, b, out], bias, epilogue),
            DType::F16 => call.run::<f16>([a, b, out], bias, epilogue),
            DType::BF16 => call.run::<bf16>([a, b, out], bias, epilogue),
            DType::I64 | DType::I32 | DType::U8 | DType::Bool => Ok(()),
        }
    }
}

/// Where a verified view lies.
#[derive(Clone, Copy)]
struct Place<'a> {
    block: &'a Block,
    /// Its lowest element, and what follows its highest.
    range: (usize, usize),
}

impl Place<'_> {
    fn overlaps(&self, other: &Place<'_>) -> bool {
        let ((l, h), (low, high)) = (self.range, other.range);
        std::ptr::eq(self.block, other.block) && l < high && low < h
    }

    /// The first element, which an empty view does not have.
    fn first(&self, view: &View<'_>) -> *mut u8 {
        let offset = if self.range.0 < self.range.1 { view.offset } else { 0 };
        self.block.ptr().wrapping_add(offset * view.dtype.size())
    }
}

/// A verified call.
struct Call<'a> {
    pool: &'a Arc<Pool>,
    level: Level,
    count: usize,
    extents: Extents,
    a: *mut u8,
    b: *mut u8,
    out: *mut u8,
}

impl Call<'_> {
    /// # Safety
    /// The elements of the views, of dtype `S`, may be read; those of the product are distinct, overlap no other, and are
    /// the caller's alone.
    unsafe fn run<S: Stored>(
        &self,
        [a, b, out]: [&View<'_>; 3],
        bias: Option<(*mut u8, isize)>,
        epilogue: &cotangent_hal::Epilogue<'_>,
    ) -> Result<()> {
        let n = self.extents.n;
        let stack = |ptr: *mut u8, view: &View<'_>| {
            (Matrix { ptr: ptr.cast(), rows: view.strides[1], columns: view.strides[2] }, view.strides[0])
        };
        // The bias one element after another, as it is computed with.
        let memory = match bias {
            Some(_) => Some(self.pool.take(n * (size_of::<S::Computed>() + size_of::<S>()))?),
            None => None,
        };
        let bias = bias.zip(memory.as_ref()).map(|((ptr, step), memory)| {
            let computed = n * size_of::<S::Computed>();
            let row = [n as isize, 1];
            let (tensor, scratch) = (Side { ptr, strides: &[0, step] }, Side { ptr: memory.ptr(), strides: &row });
            let raw = memory.ptr().wrapping_add(computed);
            let (stored, dtype) = (S::DTYPE, S::DTYPE.compute());
            // SAFETY: the caller's promise; the memory has room for the elements in both dtypes.
            unsafe { strided::transfer(Way::In, &[1, n], (stored, tensor), (dtype, scratch), raw) };
            Matrix { ptr: memory.ptr().cast(), rows: 0, columns: 1 }
        });
        let batch = Batch::<S> {
            count: self.count,
            extents: self.extents,
            a: stack(self.a, a),
            b: stack(self.b, b),
            c: stack(self.out, out),
            epilogue: Epilogue { bias, activation: epilogue.activation },
        };
        // SAFETY: the caller's promise.
        unsafe { batch.merged().run(self.pool, self.level) }
    }
}

#[cold]
fn misshapen(a: &View<'_>, b: &View<'_>, out: &View<'_>) -> Error {
    let message = format!(
        "`{:?}` times `{:?}` into `{:?}`, expected `[N, M, K]` times `[N, K, P]` into `[N, M, P]`",
        a.shape, b.shape, out.shape
    );
    Error::Shape { op: "matmul".into(), message }
}
