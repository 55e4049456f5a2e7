//! Scenario: The gradient of a pointwise kernel is another one, of the types that the names ask for.

use cotangent::prelude::*;

#[kernel]
fn slope(x: f32, ct: f32) -> f32 {
    2.0 * ct * x
}

#[kernel]
fn slopes(x: f32, ct: f32) -> (f32, f32) {
    (ct * x, ct)
}

#[kernel]
fn of_tensors(x: Tensor![N], ct: Tensor![N]) -> Tensor![N] {
    |i| x[i] * ct[i]
}

#[kernel(vjp = slope(ct))]
fn too_few(x: f32) -> f32 {
    x * x
}

#[kernel(vjp = slopes(x, ct))]
fn too_many(x: f32) -> f32 {
    x * x
}

#[kernel(vjp = of_tensors(x, ct))]
fn no_elements(x: f32, n: i64) -> f32 {
    x * n
}

#[kernel(vjp = slope(n, ct))]
fn of_other_kinds(x: f32, n: i64) -> f32 {
    x * n
}

fn main() {}
