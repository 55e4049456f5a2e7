//! Activations: methods of one tensor.

use super::inputs::{Inputs, Stop};
use super::registry::{Results, Row};
use cotangent::diff::{Pullback, Want};

/// Calls a method of `in.x`, with an argument or none, in its plain form and as its companion.
macro_rules! method {
    ($inputs:ident, $plain:ident, $companion:ident($($arg:expr),*)) => {{
        let x = $inputs.float("in.x")?;
        let mut results = Results::new();
        results.out("y", x.clone().$plain($($arg),*));
        let (y, pullback) = x.$companion($($arg,)* Want::ALL);
        results.out("y", y);
        results.grad("in.x", pullback.pull($inputs.ct("y")?, &mut ()).0);
        Ok(results)
    }};
}
pub(super) use method;

pub(super) const ROWS: &[Row] = &[
    ("ReLU", |i| method!(i, relu, relu__vjp())),
    ("GELU", gelu),
    ("Sigmoid", |i| method!(i, sigmoid, sigmoid__vjp())),
    ("SiLU", |i| method!(i, silu, silu__vjp())),
    ("Tanh", |i| method!(i, tanh, tanh__vjp())),
    ("Mish", |i| method!(i, mish, mish__vjp())),
    ("SELU", |i| method!(i, selu, selu__vjp())),
    ("CELU", |i| method!(i, celu, celu__vjp(i.number("alpha")?))),
    ("ELU", |i| method!(i, elu, elu__vjp(i.number("alpha")?))),
    ("LeakyReLU", |i| method!(i, leaky_relu, leaky_relu__vjp(i.number("negative_slope")?))),
    ("Hardtanh", |i| method!(i, hardtanh, hardtanh__vjp(i.number("min_val")?, i.number("max_val")?))),
    ("Hardswish", |i| method!(i, hardswish, hardswish__vjp())),
    ("Hardsigmoid", |i| method!(i, hardsigmoid, hardsigmoid__vjp())),
    ("LogSigmoid", |i| method!(i, logsigmoid, logsigmoid__vjp())),
    ("Softsign", |i| method!(i, softsign, softsign__vjp())),
    ("Softplus", softplus),
    ("GLU", |i| method!(i, glu, glu__vjp(i.integer("dim")?))),
    ("Softmax", |i| method!(i, softmax, softmax__vjp(i.integer("dim")?))),
    ("LogSoftmax", |i| method!(i, log_softmax, log_softmax__vjp(i.integer("dim")?))),
];

fn gelu(i: &Inputs<'_>) -> Result<Results, Stop> {
    match i.word("approximate")? {
        "none" => method!(i, gelu, gelu__vjp()),
        "tanh" => method!(i, gelu_tanh, gelu_tanh__vjp()),
        _ => Err(i.missing("approximate")),
    }
}

fn softplus(i: &Inputs<'_>) -> Result<Results, Stop> {
    match (i.number("beta")?, i.number("threshold")?) {
        (1.0, 20.0) => method!(i, softplus, softplus__vjp()),
        (beta, threshold) => method!(i, softplus_with, softplus_with__vjp(beta, threshold)),
    }
}
