//! The pullbacks of binary operations: what each keeps, and the cotangents summed to the operands' real shapes.

use super::elementwise::{Chain, Forms, Function, Pair, binary};
use super::fold::sum_to;
use super::operand::{Slot, Value};
use crate::diff::{Pullback, Want};
use crate::tensor::{Dims, Float, Raw, Tensor};
use cotangent_hal::{DType, Scalar};
use std::marker::PhantomData;

/// What a binary operation leaves behind.
#[allow(clippy::large_enum_variant, reason = "a box would cost every operation an allocation")]
enum Saved {
    /// Two tensors: what their cotangents are like, which are wanted, and the operands that those need.
    Tensors { pair: &'static Pair, like: [Like; 2], want: [bool; 2], kept: [Option<Raw>; 2] },
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

/// `f(a, b)` and its pullback.
#[track_caller]
pub(crate) fn apply_vjp<L: Slot, R: Slot>(
    f: &'static Forms,
    a: Tensor,
    b: Value<Float>,
    want: (bool, bool),
) -> (Tensor, BinaryPullback<L, R>) {
    let (y, saved) = vjp(f, a, b, [want.0, want.1]);
    (y, BinaryPullback(saved, PhantomData))
}

/// The pullback of an operation with a number on the right.
pub(crate) fn of_chain<L: Slot, R: Slot>(chain: Chain) -> BinaryPullback<L, R> {
    BinaryPullback(Saved::Left(chain), PhantomData)
}

/// `f(n, x)` and its pullback.
#[track_caller]
pub(crate) fn apply_left_vjp<L: Slot, R: Slot>(
    f: &'static Function,
    n: Scalar,
    x: Tensor,
    want: bool,
) -> (Tensor, BinaryPullback<L, R>) {
    let (y, chain) = f.vjp(x, &[n], Want::of(&[want]));
    (y, BinaryPullback(Saved::Right(chain), PhantomData))
}

#[track_caller]
fn vjp(f: &'static Forms, a: Tensor, b: Value<Float>, want: [bool; 2]) -> (Tensor, Saved) {
    let b = match b {
        Value::Tensor(b) => b,
        Value::Number(n) => {
            let (y, chain) = f.right.vjp(a, &[n], Want::of(&want));
            return (y, Saved::Left(chain));
        }
    };
    let (pair, (a, b)) = (f.pair, (a.raw, b.raw));
    let keep = |at: usize, x: &Raw| {
        let mut slopes = pair.slopes.iter().zip(want).filter(|(_, wanted)| *wanted).filter_map(|(s, _)| s.as_ref());
        slopes.any(|slope| slope.reads[at]).then(|| x.clone().keep())
    };
    let saved = Saved::Tensors { pair, like: [Like::of(&a), Like::of(&b)], want, kept: [keep(0, &a), keep(1, &b)] };
    (Tensor::from_raw(binary(pair.forward, a, b, &[])), saved)
}

fn pull_saved(saved: Saved, ct: Raw) -> (Option<Raw>, Option<Raw>) {
    let (pair, like, want, kept) = match saved {
        Saved::Left(chain) => return (chain.ct(ct), None),
        Saved::Right(chain) => return (None, chain.ct(ct)),
        Saved::Tensors { pair, like, want, kept } => (pair, like, want, kept),
    };
    let part = |at: usize, ct: Raw| Some(like[at].sum(pair.slopes[at].as_ref()?.apply(ct, &kept)));
    match want {
        [true, true] => {
            let first = part(0, ct.clone());
            (first, part(1, ct))
        }
        [true, false] => (part(0, ct), None),
        [false, true] => (None, part(1, ct)),
        [false, false] => (None, None),
    }
}
