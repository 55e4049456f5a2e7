//! The pullbacks of binary operations: what each keeps, and the cotangents summed to the operands' real shapes.

use super::arith::{Op, apply, apply_left};
use super::arith_kernels::{
    DIVIDE_NUMBER_BACKWARD, DIVISOR_BACKWARD, MAX_BACKWARD, MAX_NUMBER_BACKWARD, MIN_BACKWARD, MIN_NUMBER_BACKWARD,
    div, mul,
};
use super::elementwise::{Chain, binary, broadcasting, result_dtype, unary};
use super::fold::sum_to;
use super::operand::{Slot, Value};
use super::pointwise::negation;
use crate::diff::Pullback;
use crate::tensor::{Dims, Float, Raw, Tensor};
use cotangent_hal::{DType, Kernel, Scalar};
use std::marker::PhantomData;

/// What a binary operation leaves behind.
#[allow(clippy::large_enum_variant, reason = "a box would cost every operation an allocation")]
enum Saved {
    /// Nothing is wanted.
    Nothing,
    /// Two tensors: what their cotangents are like, which are wanted, and the operands that those need.
    Tensors { op: Op, like: (Like, Like), want: (bool, bool), a: Option<Raw>, b: Option<Raw> },
    /// A tensor on the left of a number.
    Left(Chain),
    /// A tensor on the right of a number.
    Right(Chain),
}

/// The shape and dtype of an operand, and so of its cotangent.
#[derive(Clone, Copy)]
struct Like {
    shape: Dims,
    dtype: DType,
}

impl Like {
    fn of(x: &Raw) -> Like {
        Like { shape: x.shape, dtype: x.dtype }
    }

    /// A cotangent of the result, summed to the operand's shape and rounded to its dtype.
    fn sum(&self, ct: Raw) -> Raw {
        sum_to(ct, &self.shape).cast(self.dtype)
    }
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
                like: (Like::of(&a.raw), Like::of(&b.raw)),
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
            Op::Sub => Chain::new(Some(negation()), None, None),
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
        Saved::Tensors { op, like, want, a, b } => {
            let left = |ct: Raw| match op {
                Op::Add | Op::Sub => ct,
                Op::Mul => with(&mul::TENSORS, ct, &b),
                Op::Div => with(&div::TENSORS, ct, &b),
                Op::Max => with_both(&MAX_BACKWARD, &ct, &a, &b),
                Op::Min => with_both(&MIN_BACKWARD, &ct, &a, &b),
            };
            let right = |ct: Raw| match op {
                Op::Add => ct,
                Op::Sub => unary(negation(), ct, &[]),
                Op::Mul => with(&mul::TENSORS, ct, &a),
                Op::Div => with_both(&DIVISOR_BACKWARD, &ct, &a, &b),
                Op::Max => with_both(&MAX_BACKWARD, &ct, &b, &a),
                Op::Min => with_both(&MIN_BACKWARD, &ct, &b, &a),
            };
            match want {
                (true, true) => {
                    let first = like.0.sum(left(ct.clone()));
                    (Some(first), Some(like.1.sum(right(ct))))
                }
                (true, false) => (Some(like.0.sum(left(ct))), None),
                (false, true) => (None, Some(like.1.sum(right(ct)))),
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
        (Some(v), Some(w)) => broadcasting(kernel, &[ct, v, w], result_dtype(v, w), &[]),
        _ => ct.clone(),
    }
}
