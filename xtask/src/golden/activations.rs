//! Activations: methods of one tensor.

use super::inputs::{Inputs, Stop};
use super::registry::{Results, Row};
use cotangent::__private::{Pullback, Want};

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
