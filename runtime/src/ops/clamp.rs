//! Elements kept between bounds, which are numbers or tensors.

#![allow(non_snake_case, reason = "companions are named `<operation>__vjp`")]

use super::elementwise::{Chain, Function, Slope};
use super::operand::{IntOperand, Operand, Slot};
use crate::diff::{Pullback, Want};
use crate::kernel::{Elementwise, Entries, FusedPullback, Pointwise, elements, elements_vjp};
use crate::tensor::{Int, Tensor};
use cotangent_hal::Scalar;
use cotangent_macros::functions;

functions! {
    mod between = hardtanh(min_val, max_val);
}

/// What clamping by tensors computes for each element.
mod formulas {
    use cotangent_macros::kernel;

    #[kernel]
    pub(super) fn clamp(x: f32, min: f32, max: f32) -> f32 {
        x.clamp(min, max)
    }
    #[kernel]
    pub(super) fn clamp_min(x: f32, min: f32) -> f32 {
        x.clamp_min(min)
    }
    #[kernel]
    pub(super) fn clamp_max(x: f32, max: f32) -> f32 {
        x.clamp_max(max)
    }
}

/// The pullback of an operation that keeps elements between the bounds among the operands `E`.
#[doc(hidden)]
pub struct Clamped<E>(Bounds<E>);

enum Bounds<E> {
    Numbers(Chain),
    Tensors(FusedPullback<E>),
}

impl<A: Operand> Pullback<()> for Clamped<(Tensor, A)> {
    type Ct = Option<Tensor>;
    type In = (Option<Tensor>, A::Ct);
    fn pull(self, ct: Option<Tensor>, (): &mut ()) -> Self::In {
        match self.0 {
            Bounds::Numbers(chain) => (chain.pull(ct, &mut ()).0, A::Ct::slot(None)),
            Bounds::Tensors(slopes) => Pullback::pull(slopes, ct, &mut ()),
        }
    }
}

impl<A: Operand, B: Operand> Pullback<()> for Clamped<(Tensor, A, B)> {
    type Ct = Option<Tensor>;
    type In = (Option<Tensor>, A::Ct, B::Ct);
    fn pull(self, ct: Option<Tensor>, (): &mut ()) -> Self::In {
        match self.0 {
            Bounds::Numbers(chain) => (chain.pull(ct, &mut ()).0, A::Ct::slot(None), B::Ct::slot(None)),
            Bounds::Tensors(slopes) => Pullback::pull(slopes, ct, &mut ()),
        }
    }
}

/// Both bounds, if they are numbers.
fn numbers(min: Option<Scalar>, max: Option<Scalar>) -> Option<[Scalar; 2]> {
    Some([min?, max?])
}

const NO_MIN: Option<Scalar> = Some(Scalar::Float(f64::NEG_INFINITY));
const NO_MAX: Option<Scalar> = Some(Scalar::Float(f64::INFINITY));

#[track_caller]
fn by_numbers<E>(x: Tensor, bounds: &[Scalar; 2], want: Want) -> (Tensor, Clamped<E>) {
    let (y, chain) = between::FUNCTION.vjp(x, bounds, want);
    (y, Clamped(Bounds::Numbers(chain)))
}

#[track_caller]
fn by_tensors<E: Entries>(kernel: &'static Elementwise, operands: E, want: Want) -> (Tensor, Clamped<E>) {
    let (y, slopes) = elements_vjp(kernel, operands, want.of_function());
    (y, Clamped(Bounds::Tensors(slopes)))
}

impl Tensor {
    /// `min(max(self, min), max)`, NaN where an operand is. Bounds are numbers or tensors, whose shapes broadcast;
    /// [`clamp_min`](Tensor::clamp_min) and [`clamp_max`](Tensor::clamp_max) have one.
    ///
    /// At a bound the slope is 0 where both are numbers; of tensors, element and bound have a half each, as in PyTorch.
    #[track_caller]
    pub fn clamp<A: Operand, B: Operand>(self, min: A, max: B) -> Tensor {
        match numbers(min.as_number(), max.as_number()) {
            Some(bounds) => between::FUNCTION.of(self, &bounds),
            None => elements(formulas::clamp::KERNEL, (self, min, max)),
        }
    }

    #[doc(hidden)]
    #[track_caller]
    pub fn clamp__vjp<A: Operand, B: Operand>(self, min: A, max: B, want: Want) -> (Tensor, Clamped<(Tensor, A, B)>) {
        match numbers(min.as_number(), max.as_number()) {
            Some(bounds) => by_numbers(self, &bounds, want),
            None => by_tensors(formulas::clamp::KERNEL, (self, min, max), want),
        }
    }

    /// `max(self, min)`, NaN where an operand is, with the slopes of [`clamp`](Tensor::clamp).
    #[track_caller]
    pub fn clamp_min<A: Operand>(self, min: A) -> Tensor {
        match numbers(min.as_number(), NO_MAX) {
            Some(bounds) => between::FUNCTION.of(self, &bounds),
            None => elements(formulas::clamp_min::KERNEL, (self, min)),
        }
    }

    #[doc(hidden)]
    #[track_caller]
    pub fn clamp_min__vjp<A: Operand>(self, min: A, want: Want) -> (Tensor, Clamped<(Tensor, A)>) {
        match numbers(min.as_number(), NO_MAX) {
            Some(bounds) => by_numbers(self, &bounds, want),
            None => by_tensors(formulas::clamp_min::KERNEL, (self, min), want),
        }
    }

    /// `min(self, max)`, NaN where an operand is, with the slopes of [`clamp`](Tensor::clamp).
    #[track_caller]
    pub fn clamp_max<A: Operand>(self, max: A) -> Tensor {
        match numbers(NO_MIN, max.as_number()) {
            Some(bounds) => between::FUNCTION.of(self, &bounds),
            None => elements(formulas::clamp_max::KERNEL, (self, max)),
        }
    }

    #[doc(hidden)]
    #[track_caller]
    pub fn clamp_max__vjp<A: Operand>(self, max: A, want: Want) -> (Tensor, Clamped<(Tensor, A)>) {
        match numbers(NO_MIN, max.as_number()) {
            Some(bounds) => by_numbers(self, &bounds, want),
            None => by_tensors(formulas::clamp_max::KERNEL, (self, max), want),
        }
    }
}

impl Tensor<Int> {
    /// No less than `min` and no more than `max`, which wins where it is the smaller. Bounds are integers or tensors of
    /// them.
    #[track_caller]
    pub fn clamp<A: IntOperand, B: IntOperand>(self, min: A, max: B) -> Tensor<Int> {
        self.clamp_min(min).clamp_max(max)
    }

    /// No less than `min`, an integer or a tensor of them.
    #[track_caller]
    pub fn clamp_min<A: IntOperand>(self, min: A) -> Tensor<Int> {
        self.maximum(min)
    }

    /// No more than `max`, an integer or a tensor of them.
    #[track_caller]
    pub fn clamp_max<A: IntOperand>(self, max: A) -> Tensor<Int> {
        self.minimum(max)
    }
}
