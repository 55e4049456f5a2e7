//! Functions that end a product or a convolution, applied to its elements before they are stored. In bodies of models,
//! `x.linear(w, b).relu()` is one call of `linear__then`.

use super::elementwise::{Chain, Function};
use super::pointwise::{gelu, gelu_tanh, relu, silu};
use crate::diff::Want;
use crate::tensor::Tensor;
use cotangent_hal::Activation;

/// What ends in a function, its pullback from the cotangents before the function, and that of the function. `make` gives
/// the first two with a function applied.
///
/// Where a cotangent is wanted and the slope cannot be read from the result, the function is a launch of its own, since
/// what it was applied to must be kept.
#[track_caller]
pub(super) fn ended<P>(
    then: Activation,
    want: Want,
    make: impl FnOnce(Activation) -> (Tensor, P),
) -> (Tensor, P, Chain) {
    let wanted = Want::of(&[want.any()]);
    let Some(function) = function(then) else {
        let (y, pullback) = make(Activation::Identity);
        return (y, pullback, Chain::passing());
    };
    if function.needs_operand() && want.any() {
        let (x, pullback) = make(Activation::Identity);
        let (y, chain) = function.vjp(x, &[], wanted);
        return (y, pullback, chain);
    }
    let (y, pullback) = make(then);
    let chain = function.chain(None, &y.raw, &[], wanted);
    (y, pullback, chain)
}

fn function(then: Activation) -> Option<&'static Function> {
    match then {
        Activation::Identity => None,
        Activation::Relu => Some(&relu::FUNCTION),
        Activation::Gelu => Some(&gelu::FUNCTION),
        Activation::GeluTanh => Some(&gelu_tanh::FUNCTION),
        Activation::Silu => Some(&silu::FUNCTION),
    }
}
