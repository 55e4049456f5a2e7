//! The linear parts of reverse mode: cotangents added up, and summed back onto operands that were broadcast.

use crate::tensor::{Dims, Raw, Strides, Tensor, launch};
use cotangent_hal::{Arg, DType, kernel};

kernel! {
    /// `y = a + b`.
    static ADD_CT = Pointwise "add" (a: Each F32, b: Each F32) -> (y: Each F32) |tile| {
        for i in 0..tile.1 {
            y[i] = a[i] + b[i];
        }
    }
}

kernel! {
    /// `y[r] = sum_i x[r][i]`, in sixteen partial sums, which are added pairwise.
    static SUM_ROWS = Rows "sum" (x: Each F32) -> (y: PerRow F32) |tile| {
        let mut sums = [0f32; 16];
        let (whole, rest) = x.as_chunks::<16>();
        for chunk in whole {
            for (sum, value) in sums.iter_mut().zip(chunk) {
                *sum += value;
            }
        }
        for (sum, value) in sums.iter_mut().zip(rest) {
            *sum += value;
        }
        for width in [8, 4, 2, 1] {
            for i in 0..width {
                sums[i] += sums[i + width];
            }
        }
        y[0] = sums[0];
    }
}

kernel! {
    /// `y[i] = sum_r x[r][i]`.
    static SUM_COLUMNS = Rows "sum" (x: Each F32) -> (y: PerColumn F32) |tile| {
        for i in 0..tile.1 {
            y[i] += x[i];
        }
    }
}

/// `a + b` of two cotangents of one tensor, in place where either has a buffer of its own.
#[track_caller]
pub(crate) fn add_ct(a: Tensor, b: Tensor) -> Tensor {
    debug_assert_eq!(a.shape(), b.shape(), "cotangents of one tensor have its shape");
    let (a, b) = (a.raw, b.raw);
    let out = Raw::output(&a.device, a.dtype, &a.shape, &[&a, &b]);
    launch(&a.device, &ADD_CT, &a.shape, &[Arg::In(a.view()), Arg::In(b.view()), Arg::Out(out.view())]);
    Tensor::from_raw(out)
}

/// Sums a cotangent of a broadcast result back to the shape of the operand: over leading axes that `shape` lacks, and
/// over axes of extent 1 in `shape`. Itself where the shapes are equal.
#[track_caller]
pub(crate) fn sum_to(ct: Tensor, shape: &[usize]) -> Tensor {
    if ct.shape() == shape {
        return ct;
    }
    let x = ct.raw;
    let lead = x.shape.len() - shape.len();
    // The summed axes last, or all of them first where they lead already: two kernels serve all cases.
    let (mut kept, mut kept_strides) = (Dims::new(), Strides::new());
    let (mut summed, mut summed_strides) = (Dims::new(), Strides::new());
    let mut leading = true;
    for axis in 0..x.shape.len() {
        let keeps = axis >= lead && shape[axis - lead] == x.shape[axis];
        if keeps {
            kept.push("sum", x.shape[axis]);
            kept_strides.push("sum", x.strides[axis]);
        } else {
            leading &= kept.numel() == 1;
            summed.push("sum", x.shape[axis]);
            summed_strides.push("sum", x.strides[axis]);
        }
    }
    let out = Raw::empty(&x.device, DType::F32, shape);
    let (n_kept, n_summed) = (kept.numel(), summed.numel());
    if n_kept == 0 {
        return Tensor::from_raw(out);
    }
    if leading && n_kept > 1 {
        let rows = x.contiguous().reinterpret(&[n_summed, n_kept]);
        let y = out.clone().reinterpret(&[n_kept]);
        launch(&rows.device, &SUM_COLUMNS, &rows.shape, &[Arg::In(rows.view()), Arg::Out(y.view())]);
        return Tensor::from_raw(out);
    }
    for axis in 0..summed.len() {
        kept.push("sum", summed[axis]);
        kept_strides.push("sum", summed_strides[axis]);
    }
    let turned = Raw { shape: kept, strides: kept_strides, ..x };
    let rows = turned.contiguous().reinterpret(&[n_kept, n_summed]);
    let y = out.clone().reinterpret(&[n_kept]);
    launch(&rows.device, &SUM_ROWS, &rows.shape, &[Arg::In(rows.view()), Arg::Out(y.view())]);
    Tensor::from_raw(out)
}
