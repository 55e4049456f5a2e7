//! Sums, differences, products, quotients, maxima and minima of two operands, with broadcasting.
//!
//! The operators of `std::ops` and the companions of binary operators are in the module [`operators`](super::operators).

#![allow(non_snake_case, reason = "companions are named `<operation>__vjp`")]

use super::elementwise::{Chain, binary, broadcasting, unary};
use super::fold::sum_to;
use super::operand::{Operand, Slot, Value};
use crate::diff::{Pullback, Want};
use crate::tensor::{Dims, Float, Int, Raw, Tensor};
use cotangent_hal::{DType, Kernel, Scalar};
use std::marker::PhantomData;

pub use super::operators::{AddVjp, DivVjp, MulVjp, SubVjp};

/// Declares kernels of two tensors and of a tensor with a number, one module each.
macro_rules! kernels {
    ($($name:ident = $text:literal $dtype:ident |$a:ident, $b:ident| $f:expr; |$x:ident, $n:ident| $g:expr;)*) => { $(
        mod $name {
            cotangent_hal::kernel! {
                pub(super) static TENSORS = Pointwise $text ($a: Each $dtype, $b: Each $dtype) -> (out: Each $dtype) |tile| {
                    for i in 0..tile.1 {
                        let ($a, $b) = ($a[i], $b[i]);
                        out[i] = $f;
                    }
                }
            }
            cotangent_hal::kernel! {
                pub(super) static NUMBER = Pointwise $text ($x: Each $dtype; $n) -> (out: Each $dtype) |tile| {
                    let $n = super::of::$dtype($n);
                    for i in 0..tile.1 {
                        let $x = $x[i];
                        out[i] = $g;
                    }
                }
            }
        }
    )* };
}

kernels! {
    add = "add" F32 |a, b| a + b; |x, n| x + n;
    sub = "sub" F32 |a, b| a - b; |x, n| n - x;
    mul = "mul" F32 |a, b| a * b; |x, n| x * n;
    div = "div" F32 |a, b| a / b; |x, n| x / n;
    max = "maximum" F32 |a, b| if a > b || a != a { a } else { b }; |x, n| if x > n || x != x { x } else { n };
    min = "minimum" F32 |a, b| if a < b || a != a { a } else { b }; |x, n| if x < n || x != x { x } else { n };
    add_int = "add" I64 |a, b| a.wrapping_add(b); |x, n| x.wrapping_add(n);
    sub_int = "sub" I64 |a, b| a.wrapping_sub(b); |x, n| n.wrapping_sub(x);
    mul_int = "mul" I64 |a, b| a.wrapping_mul(b); |x, n| x.wrapping_mul(n);
}

mod of {
    #![allow(non_snake_case, reason = "named as the dtypes of kernel declarations")]
    use cotangent_hal::Scalar;

    #[inline(always)]
    pub(super) fn F32(n: Scalar) -> f32 {
        n.f32()
    }
    #[inline(always)]
    pub(super) fn I64(n: Scalar) -> i64 {
        n.i64()
    }
}

cotangent_hal::kernel! {
    static DIVIDE_NUMBER = Pointwise "div" (x: Each F32; n) -> (y: Each F32) |tile| {
        let n = n.f32();
        for i in 0..tile.1 {
            y[i] = n / x[i];
        }
    }
}

cotangent_hal::kernel! {
    static DIVIDE_NUMBER_BACKWARD = Pointwise "div" (ct: Each F32, x: Each F32; n) -> (dx: Each F32) |tile| {
        let n = n.f32();
        for i in 0..tile.1 {
            dx[i] = -ct[i] * ((n / x[i]) / x[i]);
        }
    }
}

cotangent_hal::kernel! {
    static DIVISOR_BACKWARD = Pointwise "div" (ct: Each F32, a: Each F32, b: Each F32) -> (db: Each F32) |tile| {
        for i in 0..tile.1 {
            db[i] = -ct[i] * ((a[i] / b[i]) / b[i]);
        }
    }
}

cotangent_hal::kernel! {
    static MAX_BACKWARD = Pointwise "maximum" (ct: Each F32, a: Each F32, b: Each F32) -> (da: Each F32) |tile| {
        for i in 0..tile.1 {
            da[i] = share(ct[i], a[i] < b[i], a[i] == b[i]);
        }
    }
}

cotangent_hal::kernel! {
    static MIN_BACKWARD = Pointwise "minimum" (ct: Each F32, a: Each F32, b: Each F32) -> (da: Each F32) |tile| {
        for i in 0..tile.1 {
            da[i] = share(ct[i], a[i] > b[i], a[i] == b[i]);
        }
    }
}

cotangent_hal::kernel! {
    static MAX_NUMBER_BACKWARD = Pointwise "maximum" (ct: Each F32, x: Each F32; n) -> (dx: Each F32) |tile| {
        let n = n.f32();
        for i in 0..tile.1 {
            dx[i] = share(ct[i], x[i] < n, x[i] == n);
        }
    }
}

cotangent_hal::kernel! {
    static MIN_NUMBER_BACKWARD = Pointwise "minimum" (ct: Each F32, x: Each F32; n) -> (dx: Each F32) |tile| {
        let n = n.f32();
        for i in 0..tile.1 {
            dx[i] = share(ct[i], x[i] > n, x[i] == n);
        }
    }
}

/// The cotangent of an operand of a maximum or minimum: nothing where it lost, half on a tie, all otherwise (also
/// where a NaN takes part).
#[inline(always)]
fn share(ct: f32, lost: bool, tie: bool) -> f32 {
    if lost {
        0.0
    } else if tie {
        0.5 * ct
    } else {
        ct
    }
}

cotangent_hal::kernel! {
    static NEG = Pointwise "neg" (x: Each F32) -> (y: Each F32) |tile| {
        for i in 0..tile.1 {
            y[i] = -x[i];
        }
    }
}

cotangent_hal::kernel! {
    static NEG_INT = Pointwise "neg" (x: Each I64) -> (y: Each I64) |tile| {
        for i in 0..tile.1 {
            y[i] = x[i].wrapping_neg();
        }
    }
}

/// A binary operation on floats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Op {
    Add,
    Sub,
    Mul,
    Div,
    Max,
    Min,
}

impl Op {
    /// The kernel of two tensors.
    fn tensors(self) -> &'static Kernel {
        match self {
            Op::Add => &add::TENSORS,
            Op::Sub => &sub::TENSORS,
            Op::Mul => &mul::TENSORS,
            Op::Div => &div::TENSORS,
            Op::Max => &max::TENSORS,
            Op::Min => &min::TENSORS,
        }
    }

    /// The kernel of a tensor and a number on its right, and that number: `x - n` is `x + (-n)`.
    fn number_right(self, n: Scalar) -> (&'static Kernel, Scalar) {
        match self {
            Op::Add => (&add::NUMBER, n),
            Op::Sub => (&add::NUMBER, minus(n)),
            Op::Mul => (&mul::NUMBER, n),
            Op::Div => (&div::NUMBER, n),
            Op::Max => (&max::NUMBER, n),
            Op::Min => (&min::NUMBER, n),
        }
    }

    /// The kernel of a tensor with a number on its left.
    fn number_left(self) -> &'static Kernel {
        match self {
            Op::Add => &add::NUMBER,
            Op::Sub => &sub::NUMBER,
            Op::Mul => &mul::NUMBER,
            Op::Div => &DIVIDE_NUMBER,
            Op::Max => &max::NUMBER,
            Op::Min => &min::NUMBER,
        }
    }
}

fn minus(n: Scalar) -> Scalar {
    match n {
        Scalar::Float(v) => Scalar::Float(-v),
        Scalar::Int(v) => Scalar::Int(v.wrapping_neg()),
    }
}

/// `a op b`.
#[track_caller]
pub(crate) fn apply(op: Op, a: Tensor, b: Value<Float>) -> Tensor {
    Tensor::from_raw(match b {
        Value::Tensor(b) => binary(op.tensors(), a.raw, b.raw, &[]),
        Value::Number(n) => {
            let (kernel, n) = op.number_right(n);
            unary(kernel, a.raw, &[n])
        }
    })
}

/// `n op x`.
#[track_caller]
pub(crate) fn apply_left(op: Op, n: Scalar, x: Tensor) -> Tensor {
    Tensor::from_raw(unary(op.number_left(), x.raw, &[n]))
}

/// `-x`.
#[track_caller]
pub(crate) fn negate(x: Tensor) -> Tensor {
    Tensor::from_raw(unary(&NEG, x.raw, &[]))
}

/// `-x` of integers.
#[track_caller]
pub(crate) fn negate_int(x: Tensor<Int>) -> Tensor<Int> {
    Tensor::from_raw(unary(&NEG_INT, x.raw, &[]))
}

/// A binary operation on integers: sum, difference or product, wrapping.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum IntOp {
    Add,
    Sub,
    Mul,
}

/// `a op b` of integers.
#[track_caller]
pub(crate) fn apply_int(op: IntOp, a: Tensor<Int>, b: Value<Int>) -> Tensor<Int> {
    Tensor::from_raw(match b {
        Value::Tensor(b) => {
            let kernel = match op {
                IntOp::Add => &add_int::TENSORS,
                IntOp::Sub => &sub_int::TENSORS,
                IntOp::Mul => &mul_int::TENSORS,
            };
            binary(kernel, a.raw, b.raw, &[])
        }
        Value::Number(n) => {
            let (kernel, n) = match op {
                IntOp::Add => (&add_int::NUMBER, n),
                IntOp::Sub => (&add_int::NUMBER, minus(n)),
                IntOp::Mul => (&mul_int::NUMBER, n),
            };
            unary(kernel, a.raw, &[n])
        }
    })
}

/// `n op x` of integers.
#[track_caller]
pub(crate) fn apply_int_left(op: IntOp, n: Scalar, x: Tensor<Int>) -> Tensor<Int> {
    let kernel = match op {
        IntOp::Add => &add_int::NUMBER,
        IntOp::Sub => &sub_int::NUMBER,
        IntOp::Mul => &mul_int::NUMBER,
    };
    Tensor::from_raw(unary(kernel, x.raw, &[n]))
}

/// What a binary operation leaves behind.
enum Saved {
    /// Nothing is wanted.
    Nothing,
    /// Two tensors: their shapes, which cotangents are wanted, and the operands that those need.
    Tensors { op: Op, shapes: (Dims, Dims), want: (bool, bool), a: Option<Raw>, b: Option<Raw> },
    /// A tensor on the left of a number.
    Left(Chain),
    /// A tensor on the right of a number.
    Right(Chain),
}

/// The pullback of a binary operation whose operands have cotangents `L` and `R`.
#[doc(hidden)]
pub struct BinaryPullback<L, R>(Saved, PhantomData<fn() -> (L, R)>);

impl<L: Slot, R: Slot> Pullback<()> for BinaryPullback<L, R> {
    type Ct = Option<Tensor>;
    type In = (L, R);
    fn pull(self, ct: Option<Tensor>, (): &mut ()) -> (L, R) {
        let (a, b) = match ct {
            Some(ct) => pull_saved(self.0, ct.raw),
            None => (None, None),
        };
        (L::slot(a.map(Tensor::from_raw)), R::slot(b.map(Tensor::from_raw)))
    }
}

/// `a op b` and its pullback.
#[track_caller]
pub(crate) fn apply_vjp<L: Slot, R: Slot>(
    op: Op,
    a: Tensor,
    b: Value<Float>,
    want: (bool, bool),
) -> (Tensor, BinaryPullback<L, R>) {
    let (y, saved) = vjp(op, a, b, want);
    (y, BinaryPullback(saved, PhantomData))
}

/// `n op x` and its pullback.
#[track_caller]
pub(crate) fn apply_left_vjp<L: Slot, R: Slot>(
    op: Op,
    n: Scalar,
    x: Tensor,
    want: bool,
) -> (Tensor, BinaryPullback<L, R>) {
    let (y, saved) = vjp_left(op, n, x, want);
    (y, BinaryPullback(saved, PhantomData))
}

#[track_caller]
fn vjp(op: Op, a: Tensor, b: Value<Float>, want: (bool, bool)) -> (Tensor, Saved) {
    let saved = match &b {
        Value::Tensor(b) if want.0 || want.1 => {
            let (keep_a, keep_b) = match op {
                Op::Add | Op::Sub => (false, false),
                Op::Mul => (want.1, want.0),
                Op::Div => (want.1, true),
                Op::Max | Op::Min => (true, true),
            };
            Saved::Tensors {
                op,
                shapes: (a.raw.shape, b.raw.shape),
                want,
                a: keep_a.then(|| a.raw.clone()),
                b: keep_b.then(|| b.raw.clone()),
            }
        }
        Value::Number(n) if want.0 => {
            let kept = |kernel| Chain::new(Some(kernel), Some(a.raw.clone()), Some(*n));
            Saved::Left(match op {
                Op::Add | Op::Sub => Chain::new(None, None, None),
                Op::Mul => Chain::new(Some(&mul::NUMBER), None, Some(*n)),
                Op::Div => Chain::new(Some(&div::NUMBER), None, Some(*n)),
                Op::Max => kept(&MAX_NUMBER_BACKWARD),
                Op::Min => kept(&MIN_NUMBER_BACKWARD),
            })
        }
        Value::Tensor(_) | Value::Number(_) => Saved::Nothing,
    };
    (apply(op, a, b), saved)
}

#[track_caller]
fn vjp_left(op: Op, n: Scalar, x: Tensor, want: bool) -> (Tensor, Saved) {
    let saved = if want {
        let kept = |kernel| Chain::new(Some(kernel), Some(x.raw.clone()), Some(n));
        Saved::Right(match op {
            Op::Add => Chain::new(None, None, None),
            Op::Sub => Chain::new(Some(&NEG), None, None),
            Op::Mul => Chain::new(Some(&mul::NUMBER), None, Some(n)),
            Op::Div => kept(&DIVIDE_NUMBER_BACKWARD),
            Op::Max => kept(&MAX_NUMBER_BACKWARD),
            Op::Min => kept(&MIN_NUMBER_BACKWARD),
        })
    } else {
        Saved::Nothing
    };
    (apply_left(op, n, x), saved)
}

fn pull_saved(saved: Saved, ct: Raw) -> (Option<Raw>, Option<Raw>) {
    match saved {
        Saved::Nothing => (None, None),
        Saved::Left(chain) => (Some(chain.apply(ct)), None),
        Saved::Right(chain) => (None, Some(chain.apply(ct))),
        Saved::Tensors { op, shapes, want, a, b } => {
            let left = |ct: Raw| match op {
                Op::Add | Op::Sub => ct,
                Op::Mul => with(&mul::TENSORS, ct, &b),
                Op::Div => with(&div::TENSORS, ct, &b),
                Op::Max => with_both(&MAX_BACKWARD, &ct, &a, &b),
                Op::Min => with_both(&MIN_BACKWARD, &ct, &a, &b),
            };
            let right = |ct: Raw| match op {
                Op::Add => ct,
                Op::Sub => unary(&NEG, ct, &[]),
                Op::Mul => with(&mul::TENSORS, ct, &a),
                Op::Div => with_both(&DIVISOR_BACKWARD, &ct, &a, &b),
                Op::Max => with_both(&MAX_BACKWARD, &ct, &b, &a),
                Op::Min => with_both(&MIN_BACKWARD, &ct, &b, &a),
            };
            match want {
                (true, true) => {
                    let first = sum_to(left(ct.clone()), &shapes.0);
                    (Some(first), Some(sum_to(right(ct), &shapes.1)))
                }
                (true, false) => (Some(sum_to(left(ct), &shapes.0)), None),
                (false, true) => (None, Some(sum_to(right(ct), &shapes.1))),
                (false, false) => (None, None),
            }
        }
    }
}

/// `kernel(ct, v)` with a value that `vjp` saved.
fn with(kernel: &'static Kernel, ct: Raw, v: &Option<Raw>) -> Raw {
    match v {
        Some(v) => binary(kernel, ct, v.clone(), &[]),
        None => ct,
    }
}

/// `kernel(ct, v, w)` with the values that `vjp` saved.
fn with_both(kernel: &'static Kernel, ct: &Raw, v: &Option<Raw>, w: &Option<Raw>) -> Raw {
    match (v, w) {
        (Some(v), Some(w)) => broadcasting(kernel, &[ct, v, w], DType::F32, &[]),
        _ => ct.clone(),
    }
}

/// Declares the methods of float tensors and their companions.
macro_rules! methods {
    ($($(#[$doc:meta])* $name:ident, $companion:ident, $op:ident;)*) => {
        impl Tensor {
            $(
                $(#[$doc])*
                ///
                /// Shapes broadcast: axes are aligned at the end, and an extent of 1 is repeated. Raises `Error::Shape`
                /// where two extents differ.
                #[track_caller]
                pub fn $name<R: Operand>(self, other: R) -> Tensor {
                    apply(Op::$op, self, other.operand())
                }
                #[doc(hidden)]
                #[track_caller]
                pub fn $companion<R: Operand>(
                    self,
                    other: R,
                    want: Want,
                ) -> (Tensor, BinaryPullback<Option<Tensor>, R::Ct>) {
                    apply_vjp(Op::$op, self, other.operand(), (want.has(0), want.has(1)))
                }
            )*
        }
    };
}

methods! {
    /// `self + other`, element by element.
    add, add__vjp, Add;
    /// `self - other`, element by element.
    sub, sub__vjp, Sub;
    /// `self * other`, element by element.
    mul, mul__vjp, Mul;
    /// `self / other`, element by element.
    div, div__vjp, Div;
    /// The larger of both, element by element; NaN where either is NaN. Both share the cotangent of a tie.
    maximum, maximum__vjp, Max;
    /// The smaller of both, element by element; NaN where either is NaN. Both share the cotangent of a tie.
    minimum, minimum__vjp, Min;
}

impl Tensor {
    /// `-self`, element by element.
    #[track_caller]
    pub fn neg(self) -> Tensor {
        negate(self)
    }

    #[doc(hidden)]
    #[track_caller]
    pub fn neg__vjp(
        self,
        want: Want,
    ) -> (Tensor, impl Pullback<(), Ct = Option<Tensor>, In = (Option<Tensor>,)> + use<>) {
        let chain = if want.has(0) { Chain::new(Some(&NEG), None, None) } else { Chain::unwanted() };
        (negate(self), chain)
    }
}
