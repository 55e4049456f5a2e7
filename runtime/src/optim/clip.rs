//! Clipping of gradients, between a backward pass and a step.

use crate::model::{Grads, Path};
use crate::tensor::Tensor;

/// Scales all gradients so that their joint 2-norm is at most `max_norm`; returns the norm before.
///
/// The factor is `min(1, max_norm / (norm + 1e-6))`, as in PyTorch's `clip_grad_norm_`; a norm that is not a
/// number makes every gradient so, rather than passing unseen. The gradients of a tied parameter's names count apart.
pub fn clip_grad_norm(grads: &mut impl Grads, max_norm: f64) -> f64 {
    let mut squares = 0.0;
    grads.visit(&Path::ROOT, &mut |_, grad| {
        if let Some(grad) = grad {
            let grad = grad.clone();
            // Squares of 16-bit floats would overflow, or lose their digits.
            let dtype = grad.dtype().compute();
            squares += grad.to(dtype).square().sum(..).item_of::<f64>();
        }
    });
    let norm = squares.sqrt();
    let factor = max_norm / (norm + 1e-6);
    // `f64::min` would turn a factor that is not a number into 1.
    let factor = if factor > 1.0 { 1.0 } else { factor };
    change(grads, &mut |grad| grad * factor);
    norm
}

/// Limits every element to `-limit..=limit`, as PyTorch's `clip_grad_value_`.
pub fn clip_grad_value(grads: &mut impl Grads, limit: f64) {
    change(grads, &mut |grad| grad.minimum(limit).maximum(-limit));
}

fn change(grads: &mut impl Grads, f: &mut dyn FnMut(Tensor) -> Tensor) {
    grads.visit(&Path::ROOT, &mut |_, grad| *grad = grad.take().map(&mut *f));
}
