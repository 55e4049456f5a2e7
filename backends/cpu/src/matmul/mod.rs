//! Matrix products: verification, and what the core needs to know of a call.
#![allow(unsafe_code, reason = "hands verified memory to the methods")]

mod batch;
mod vector;

use crate::gemm::{Epilogue, Extents, Matrix, Stored};
use crate::launch::Views;
use crate::memory::Pool;
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
    let (&[count, m, k], &[b_count, b_k, n], &[c_count, c_m, c_n]) = (a.shape, b.shape, out.shape) else {
        return Err(misshapen(a, b, out));
    };
    if (b_count, b_k, c_count, c_m, c_n) != (count, k, count, m, n) {
        return Err(misshapen(a, b, out));
    }
    let bias = epilogue.bias.as_ref();
    if let Some(bias) = bias.filter(|bias| bias.shape != [n]) {
        let message = format!("the bias of `{:?}` is `{:?}`, expected `[{n}]`", out.shape, bias.shape);
        return Err(Error::Shape { op: "matmul".into(), message });
    }
    let mut views = Views::of("matmul");
    let left = views.read(["the left factor", "a factor"], a, &DType::FLOATS)?;
    let right = views.read(["the right factor", "a factor"], b, &[dtype])?;
    let bias = match bias {
        Some(view) => Some((views.read(["the bias"; 2], view, &[dtype])?, view.strides[0])),
        None => None,
    };
    let product = views.written("the product", out, &[dtype])?;
    if views.writes_nothing() {
        return Ok(());
    }
    let _borrows = views.borrow()?;
    let call = Call { pool, level, count, extents: Extents { m, n, k }, a: left, b: right, out: product };
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
