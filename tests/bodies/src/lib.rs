//! Random bodies of models for the tests.
#![allow(unused, clippy::all, reason = "random bodies do what nobody would write")]

use cotangent::Tensor;
use cotangent::prelude::*;

/// What bodies find in `self`.
#[model(dims(C))]
pub struct Net {
    #[init(normal(0.7))]
    w: Param![C],
    #[init(normal(0.7))]
    b: Param![C],
    lin: Linear![C => C],
    drop: Dropout![p = 0.25],
    #[config(0.6)]
    k: f64,
    #[config(true)]
    deep: bool,
    #[config(0)]
    mode: usize,
    #[config(2)]
    n: usize,
}

/// The loss of a body.
pub type Value = fn(&Net, Tensor, Tensor, &mut Cx) -> Tensor;
/// The loss, with the cotangents of the parameters and those of `x` and `y`.
pub type Gradients = fn(&Net, Tensor, Tensor, &mut Cx) -> (Tensor, NetGrads, (Option<Tensor>, Option<Tensor>));

/// A body as it is compiled.
pub struct Form {
    /// The method.
    pub value: Value,
    /// Its gradient.
    pub gradients: Gradients,
}

/// A body with fusion and without.
pub struct Body {
    /// What it was made from.
    pub seed: u64,
    /// Its statements.
    pub text: &'static str,
    /// Whether its operations have slopes everywhere.
    pub smooth: bool,
    /// With fusion.
    pub fused: Form,
    /// Without fusion.
    pub plain: Form,
}

include!(concat!(env!("OUT_DIR"), "/bodies.rs"));
