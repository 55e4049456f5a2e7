//! The kernels of binary operations and their derivatives, and the negation of integers.

use cotangent_hal::native::Float;

/// Declares kernels of two tensors and of a tensor with a number, one module each.
macro_rules! kernels {
    ($($name:ident = $text:literal $dtype:ident |$a:ident, $b:ident| $f:expr; |$x:ident, $n:ident| $g:expr;)*) => { $(
        pub(crate) mod $name {
            cotangent_hal::kernel! {
                pub(crate) static TENSORS = Pointwise $text ($a: Each $dtype, $b: Each $dtype) -> (out: Each $dtype) |tile| {
                    for i in 0..tile.1 {
                        let ($a, $b) = ($a[i], $b[i]);
                        out[i] = $f;
                    }
                }
            }
            cotangent_hal::kernel! {
                pub(crate) static NUMBER = Pointwise $text ($x: Each $dtype; $n) -> (out: Each $dtype) |tile| {
                    let $n = kernels!(@number $dtype $n);
                    for i in 0..tile.1 {
                        let $x = $x[i];
                        out[i] = $g;
                    }
                }
            }
        }
    )* };
    (@number F32 $n:ident) => { Real::from($n) };
    (@number I64 $n:ident) => { $n.i64() };
}

kernels! {
    add = "add" F32 |a, b| a + b; |x, n| x + n;
    sub = "sub" F32 |a, b| a - b; |x, n| n - x;
    mul = "mul" F32 |a, b| a * b; |x, n| x * n;
    div = "div" F32 |a, b| a / b; |x, n| x / n;
    max = "maximum" F32 |a, b| if a > b || a.is_nan() { a } else { b }; |x, n| if x > n || x.is_nan() { x } else { n };
    min = "minimum" F32 |a, b| if a < b || a.is_nan() { a } else { b }; |x, n| if x < n || x.is_nan() { x } else { n };
    add_int = "add" I64 |a, b| a.wrapping_add(b); |x, n| x.wrapping_add(n);
    sub_int = "sub" I64 |a, b| a.wrapping_sub(b); |x, n| n.wrapping_sub(x);
    mul_int = "mul" I64 |a, b| a.wrapping_mul(b); |x, n| x.wrapping_mul(n);
}

cotangent_hal::kernel! {
    pub(crate) static DIVIDE_NUMBER = Pointwise "div" (x: Each F32; n) -> (y: Each F32) |tile| {
        let n = Real::from(n);
        for i in 0..tile.1 {
            y[i] = n / x[i];
        }
    }
}

cotangent_hal::kernel! {
    pub(crate) static DIVIDE_NUMBER_BACKWARD = Pointwise "div" (ct: Each F32, x: Each F32; n) -> (dx: Each F32) |tile| {
        let n = Real::from(n);
        for i in 0..tile.1 {
            dx[i] = -ct[i] * ((n / x[i]) / x[i]);
        }
    }
}

cotangent_hal::kernel! {
    pub(crate) static DIVISOR_BACKWARD = Pointwise "div" (ct: Each F32, a: Each F32, b: Each F32) -> (db: Each F32) |tile| {
        for i in 0..tile.1 {
            db[i] = -ct[i] * ((a[i] / b[i]) / b[i]);
        }
    }
}

cotangent_hal::kernel! {
    pub(crate) static MAX_BACKWARD = Pointwise "maximum" (ct: Each F32, a: Each F32, b: Each F32) -> (da: Each F32) |tile| {
        for i in 0..tile.1 {
            da[i] = share(ct[i], a[i] < b[i], a[i] == b[i]);
        }
    }
}

cotangent_hal::kernel! {
    pub(crate) static MIN_BACKWARD = Pointwise "minimum" (ct: Each F32, a: Each F32, b: Each F32) -> (da: Each F32) |tile| {
        for i in 0..tile.1 {
            da[i] = share(ct[i], a[i] > b[i], a[i] == b[i]);
        }
    }
}

cotangent_hal::kernel! {
    pub(crate) static MAX_NUMBER_BACKWARD = Pointwise "maximum" (ct: Each F32, x: Each F32; n) -> (dx: Each F32) |tile| {
        let n = Real::from(n);
        for i in 0..tile.1 {
            dx[i] = share(ct[i], x[i] < n, x[i] == n);
        }
    }
}

cotangent_hal::kernel! {
    pub(crate) static MIN_NUMBER_BACKWARD = Pointwise "minimum" (ct: Each F32, x: Each F32; n) -> (dx: Each F32) |tile| {
        let n = Real::from(n);
        for i in 0..tile.1 {
            dx[i] = share(ct[i], x[i] > n, x[i] == n);
        }
    }
}

/// The cotangent of an operand of a maximum or minimum: nothing where it lost, half on a tie, all otherwise (also
/// where a NaN takes part).
#[inline(always)]
fn share<T: Float>(ct: T, lost: bool, tie: bool) -> T {
    if lost {
        T::ZERO
    } else if tie {
        T::of(0.5) * ct
    } else {
        ct
    }
}

cotangent_hal::kernel! {
    pub(crate) static NEG_INT = Pointwise "neg" (x: Each I64) -> (y: Each I64) |tile| {
        for i in 0..tile.1 {
            y[i] = x[i].wrapping_neg();
        }
    }
}
