//! Products over axes.

use super::{Inert, Over, integer_reductions, reductions};
use crate::diff::{Pullback, Want, pull};
use crate::ops::elementwise::broadcasting;
use crate::ops::fold::{PROD, PROD_INT, PROD_NONZERO, ZEROS};
use crate::tensor::{Int, IntoAxes, Raw, Tensor};

cotangent_hal::kernel! {
    /// The product of all other elements, times the cotangent: `p` is that of the elements that are not 0, `zeros` the
    /// number of those that are.
    static OTHERS = Pointwise "prod" (x: Each F32, p: Each F32, zeros: Each F32, ct: Each F32) -> (dx: Each F32) |tile| {
        for i in 0..tile.1 {
            let is_zero = x[i] == 0.0;
            let others = if is_zero { p[i] } else { p[i] / x[i] };
            let alone = zeros[i] == if is_zero { 1.0 } else { 0.0 };
            dx[i] = if alone { ct[i] * others } else { 0.0 };
        }
    }
}

#[track_caller]
fn prod(x: &Raw, over: &Over) -> Tensor {
    Tensor::from_raw(over.finish(PROD.of(x, None, over.mask, 1.0, 0.0).cast(x.dtype)))
}

/// The pullback of a product.
struct Others {
    over: Over,
    x: Option<Raw>,
}

impl Others {
    fn back(self, ct: Option<Tensor>) -> Option<Tensor> {
        let (ct, x, over) = (ct?, self.x?, &self.over);
        let p = PROD_NONZERO.of(&x, None, over.mask, 1.0, 0.0);
        let zeros = ZEROS.of(&x, None, over.mask, 1.0, 0.0);
        let ins = [&x, &over.repeat(&p), &over.repeat(&zeros), &over.spread(&ct.raw)];
        Some(Tensor::from_raw(broadcasting(&OTHERS, &ins, x.dtype, &[])))
    }
}

#[track_caller]
fn prod_vjp(x: Raw, over: Over, want: Want) -> (Tensor, Others) {
    let y = prod(&x, &over);
    (y, Others { over, x: want.has(0).then(|| x.keep()) })
}

#[track_caller]
fn prod_int(x: &Raw, over: &Over) -> Tensor<Int> {
    Tensor::from_raw(over.finish(PROD_INT.of(x, None, over.mask, 1.0, 0.0)))
}

reductions! {
    /// The product over `axes`, as [`sum`](Tensor::sum) takes them. The product of no elements is 1. The cotangent of
    /// an element is the product of all others, also where some of these are 0.
    prod, prod__vjp(;) -> Tensor, Option<Tensor>, prod, prod_vjp, false;
    /// As [`prod`](Tensor::prod), the axes kept with an extent of 1.
    prod_keepdim, prod_keepdim__vjp(;) -> Tensor, Option<Tensor>, prod, prod_vjp, true;
}

integer_reductions! {
    /// The product over `axes`, which the result lacks; as [`Tensor::sum`] takes them. It is of `i64`, whatever the dtype,
    /// and wraps.
    prod, prod__vjp, prod_int, false;
    /// As [`prod`](Tensor::prod), the axes kept with an extent of 1.
    prod_keepdim, prod_keepdim__vjp, prod_int, true;
}
