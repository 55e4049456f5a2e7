//! Operations of a model's body that one kernel computes.
//!
//! Operands broadcast to one shape, and cotangents are summed to the operands' own. The dtype of the result is that of
//! the operations one after another, apart from what each of them would round.

use super::call::{self, Cotangents, Def, Saved};
use super::pointwise::{self, Elementwise, Kept};
use super::run::Given;
use super::typed::Outs;
use crate::diff::{Pullback, Want};
use crate::ops::{Operand, Value, fold};
use crate::raise::raise;
use crate::report;
use crate::tensor::{Dims, Float, Kind, Raw, Tensor, broadcast_all, try_broadcast};
use cotangent_hal::{DType, Error};
use std::marker::PhantomData;

/// A kernel for several operations.
pub struct Fusion {
    /// The names of the operations.
    pub name: &'static str,
    /// How they are computed.
    pub form: Form,
}

/// How a group of operations is computed.
pub enum Form {
    /// Element by element.
    Elements(&'static Elementwise),
    /// Row by row, over `[R.., C]`. It has one output.
    Rows {
        /// The kernel.
        kernel: &'static Def,
        /// Bit `i` for an operand that has one element a row.
        operands: u32,
        /// Bit `i` for an operand of one element a column, of which nothing broadcasts.
        vectors: u32,
        /// Whether the output has one element a row.
        out: bool,
        /// The operands, as bits, that must have whole rows together: those that give columns to what a reduction reads
        /// and to an output of whole rows.
        whole: &'static [u32],
    },
}

impl Fusion {
    /// How many launches a call takes, forward and backward.
    pub(crate) fn launches(&self) -> (usize, usize) {
        match &self.form {
            Form::Elements(kernel) => (1, usize::from(kernel.backward.is_some())),
            Form::Rows { kernel, .. } => {
                let derived = kernel.gradient.iter().flat_map(|g| g.stage.into_iter().chain([g.backward]));
                (kernel.forward.steps.len(), derived.map(|d| d.program.steps.len()).sum())
            }
        }
    }
}

/// The operands of a kernel.
pub trait Entries {
    /// The types of their cotangents.
    type Cts;
    /// The operands, and the dtype that they are promoted to.
    #[doc(hidden)]
    fn list(self) -> (Vec<Value<Float>>, DType);
    #[doc(hidden)]
    fn cotangents(cts: Cotangents) -> Self::Cts;
}

macro_rules! entries {
    ($($($o:ident)+;)*) => { $(
        impl<$($o: Operand),+> Entries for ($($o,)+) {
            type Cts = ($($o::Ct,)+);
            #[allow(non_snake_case, reason = "a value is named like its type")]
            fn list(self) -> (Vec<Value<Float>>, DType) {
                let ($($o,)+) = self;
                let dtype = common(&[$(($o.float_dtype(), $o.extents().is_empty())),+]);
                (vec![$($o.operand(dtype)),+], dtype)
            }
            fn cotangents(mut cts: Cotangents) -> Self::Cts {
                ($(cts.next::<$o::Ct>(),)+)
            }
        }
    )* };
}
entries! { A; A B; A B C; A B C D; A B C D E; A B C D E F; }

/// The dtype that float tensors of these are promoted to; one without axes counts where there is no other.
fn common(dtypes: &[(Option<DType>, bool)]) -> DType {
    let of = |scalar: bool| {
        let floats = dtypes.iter().filter(|(_, s)| *s == scalar).filter_map(|(dtype, _)| *dtype);
        floats.reduce(DType::promote)
    };
    of(false).or(of(true)).unwrap_or(DType::F32)
}

/// The outputs of a kernel.
#[track_caller]
pub fn fused<E: Entries>(fusion: &'static Fusion, operands: E) -> Outs {
    report::fused(fusion);
    run(fusion, operands.list())
}

/// The outputs, and what the pullback needs; bit `i + 1` of `want` stands for operand `i`.
#[track_caller]
pub fn fused_vjp<E: Entries>(fusion: &'static Fusion, operands: E, want: Want) -> (Outs, FusedPullback<E>) {
    report::fused(fusion);
    let (outs, kept) = run_vjp(fusion, operands.list(), want);
    (outs, FusedPullback(kept, PhantomData))
}

/// From the cotangents of the outputs to those of the operands.
pub struct FusedPullback<E>(Pull, PhantomData<fn() -> E>);

impl<E: Entries> FusedPullback<E> {
    /// The cotangents of the operands.
    #[track_caller]
    pub fn pull<const N: usize>(self, mut cts: [Option<Tensor>; N]) -> E::Cts {
        E::cotangents(self.0.pull(&mut cts))
    }
}

/// The output of a kernel of elements whose operands are tensors or numbers.
#[track_caller]
pub(crate) fn elements<E: Entries, K: Kind>(kernel: &'static Elementwise, operands: E) -> Tensor<K> {
    apply(kernel, operands.list()).next()
}

/// The output of a kernel of elements, and its pullback; bit `i + 1` of `want` stands for operand `i`.
#[track_caller]
pub(crate) fn elements_vjp<E: Entries>(
    kernel: &'static Elementwise,
    operands: E,
    want: Want,
) -> (Tensor, FusedPullback<E>) {
    let (mut outs, kept) = apply_vjp(kernel, operands.list(), want);
    (outs.next(), FusedPullback(Pull::Elements(kept), PhantomData))
}

#[track_caller]
fn apply(kernel: &'static Elementwise, operands: (Vec<Value<Float>>, DType)) -> Outs {
    pointwise::apply(kernel, tensors(kernel.forward.name, operands).into_iter().map(Given::of).collect())
}

#[track_caller]
fn apply_vjp(kernel: &'static Elementwise, operands: (Vec<Value<Float>>, DType), want: Want) -> (Outs, Kept) {
    let own = dtypes(&operands);
    let tensors = tensors(kernel.forward.name, operands);
    let (outs, kept) = pointwise::apply_vjp(kernel, tensors.into_iter().map(Given::of).collect(), want);
    (outs, kept.of_dtypes(&own))
}

impl<E: Entries> Pullback<()> for FusedPullback<E> {
    type Ct = Option<Tensor>;
    type In = E::Cts;
    #[track_caller]
    fn pull(self, ct: Option<Tensor>, (): &mut ()) -> E::Cts {
        E::cotangents(self.0.pull(&mut [ct]))
    }
}

impl Pull {
    #[track_caller]
    fn pull(self, cts: &mut [Option<Tensor>]) -> Cotangents {
        match self {
            Pull::Elements(kept) => kept.pull_all(cts),
            Pull::Rows(kept, saved) => kept.pull(saved, cts.iter_mut().find_map(Option::take)),
        }
    }
}

/// What is kept.
#[allow(clippy::large_enum_variant, reason = "a box would cost every call an allocation")]
enum Pull {
    Elements(Kept),
    Rows(RowsKept, Saved),
}

/// The operands' own shapes and dtypes, and which operands, or whether the output, have one element a row.
struct RowsKept {
    own: Vec<(Dims, DType)>,
    operands: u32,
    out: bool,
}

#[track_caller]
fn run(fusion: &'static Fusion, operands: (Vec<Value<Float>>, DType)) -> Outs {
    let tensors = tensors(fusion.name, operands);
    match fusion.form {
        Form::Elements(kernel) => pointwise::apply(kernel, tensors.into_iter().map(Given::of).collect()),
        Form::Rows { kernel, operands, out, .. } => {
            let outs = call::call(kernel, &rows(fusion.name, tensors, operands));
            if out { kept_axis(outs) } else { outs }
        }
    }
}

#[track_caller]
fn run_vjp(fusion: &'static Fusion, operands: (Vec<Value<Float>>, DType), want: Want) -> (Outs, Pull) {
    match fusion.form {
        Form::Elements(kernel) => {
            let (outs, kept) = apply_vjp(kernel, operands, want);
            (outs, Pull::Elements(kept))
        }
        Form::Rows { kernel, operands: of_rows, out, .. } => {
            let own = dtypes(&operands);
            let (tensors, operands) = (tensors(fusion.name, operands), of_rows);
            let own = tensors.iter().zip(own).map(|(t, dtype)| (t.shape, dtype)).collect();
            let (outs, saved) = call::vjp(kernel, rows(fusion.name, tensors, operands), want);
            let kept = RowsKept { own, operands, out };
            (if out { kept_axis(outs) } else { outs }, Pull::Rows(kept, saved))
        }
    }
}

/// The operands over one shape `[R.., C]`, or `[R..]` for those of one element a row.
#[track_caller]
fn rows(name: &str, tensors: Vec<Raw>, operands: u32) -> Vec<Given> {
    let is_row = |at: usize| operands >> at & 1 == 1;
    let wide = tensors.iter().enumerate().filter(|(at, _)| !is_row(*at));
    let shape = broadcast_all(name, wide.map(|(_, t)| &t.shape));
    if shape.is_empty() {
        let message = "the last axis of a tensor without axes is asked for".into();
        raise(Error::Shape { op: name.into(), message });
    }
    let mut narrow = shape;
    narrow[shape.len() - 1] = 1;
    let given = |(at, t): (usize, Raw)| match is_row(at) {
        false => t.expand_to(name, &shape),
        true => without_last(t.expand_to(name, &narrow)),
    };
    tensors.into_iter().enumerate().map(given).map(Given::of).collect()
}

/// The one output with the axis that its reduction left out, as an extent of 1.
fn kept_axis(outs: Outs) -> Outs {
    Outs(outs.0.map(|raw| raw.map(with_last)).collect::<Vec<_>>().into_iter())
}

/// The tensor with a last axis of extent 1.
fn with_last(raw: Raw) -> Raw {
    let rank = raw.shape.len();
    raw.insert_axis("unsqueeze", rank)
}

/// The tensor without its last axis, of extent 1.
fn without_last(raw: Raw) -> Raw {
    let rank = raw.shape.len();
    raw.remove_axis(rank - 1)
}

impl RowsKept {
    #[track_caller]
    fn pull(self, saved: Saved, ct: Option<Tensor>) -> Cotangents {
        let count = self.own.len();
        let ct = ct.map(|ct| if self.out { Tensor::from_raw(without_last(ct.raw)) } else { ct });
        let fold = |(at, ct): (usize, Option<Raw>)| {
            let (shape, dtype) = &self.own[at];
            let ct = ct.map(|ct| if self.operands >> at & 1 == 1 { with_last(ct) } else { ct });
            ct.map(|ct| fold::sum_to(ct, shape).cast(*dtype))
        };
        // What is added up where it is computed has its own shape already.
        let own = |at: usize| (self.operands >> at & 1 == 0).then(|| self.own[at].0);
        let cts: Vec<Option<Raw>> = saved.pull_summed(&mut [ct], count, &own).0.enumerate().map(fold).collect();
        Cotangents(cts.into_iter())
    }
}

/// Whether a kernel over rows computes, for operands of these shapes, what the operations do one after another: what a
/// reduction reads and what comes out has whole rows, and what meets values of rows alone is one of a row too.
pub fn fits(fusion: &'static Fusion, shapes: &[&[usize]]) -> bool {
    let Form::Rows { operands, vectors, whole: rows, .. } = fusion.form else { return true };
    let joined = |mask: u32| {
        let mut all = shapes.iter().enumerate().filter(|(at, _)| mask >> at & 1 == 1).map(|(_, shape)| *shape);
        all.try_fold(Dims::new(), |whole, shape| try_broadcast(&whole, shape).ok())
    };
    let Some(whole) = joined(!operands) else { return false };
    let Some(&width) = whole.last() else { return false };
    let is_one = |(at, shape): (usize, &&[usize])| {
        operands >> at & 1 == 0
            || shape.last().is_none_or(|&n| n == 1) && try_broadcast(&whole, shape).is_ok_and(|s| *s == *whole)
    };
    let is_vector = |(at, shape): (usize, &&[usize])| vectors >> at & 1 == 0 || **shape == [width];
    shapes.iter().enumerate().all(is_one)
        && shapes.iter().enumerate().all(is_vector)
        && rows.iter().all(|&mask| joined(mask).is_some_and(|shape| shape.last() == Some(&width)))
}

/// The operands' own dtypes, those of their cotangents.
fn dtypes((operands, dtype): &(Vec<Value<Float>>, DType)) -> Vec<DType> {
    let of = |operand: &Value<Float>| match operand {
        Value::Tensor(t) => t.raw.dtype,
        Value::Number(_) => *dtype,
    };
    operands.iter().map(of).collect()
}

/// The operands as tensors. A number, or a tensor without axes, is of the precision of tensors with axes.
#[track_caller]
fn tensors(name: &str, (operands, dtype): (Vec<Value<Float>>, DType)) -> Vec<Raw> {
    let device = operands.iter().find_map(|operand| match operand {
        Value::Tensor(t) => Some(t.raw.device),
        Value::Number(_) => None,
    });
    let Some(device) = device else {
        let message = "no operand is a tensor, so that its device is not known".into();
        raise(Error::Argument { op: name.into(), message })
    };
    let tensor = |operand| match operand {
        Value::Tensor(t) if t.raw.shape.is_empty() => t.raw.cast(dtype),
        Value::Tensor(t) => t.raw,
        Value::Number(n) => Raw::full(&device, dtype, &[], n),
    };
    operands.into_iter().map(tensor).collect()
}
