//! Scenario: What a kernel calls is a pointwise kernel of as many floats.

use cotangent::prelude::*;

fn plainly(x: f32) -> f32 {
    x
}

#[kernel]
fn bump(x: f32) -> f32 {
    x * x
}

#[kernel]
fn count(x: f32, n: i64) -> f32 {
    x + n
}

#[kernel]
fn mean_of(x: Tensor![N]) -> Tensor![] {
    mean(|i| x[i])
}

#[kernel]
fn of_a_function(x: f32) -> f32 {
    plainly(x)
}

#[kernel]
fn of_nothing(x: f32) -> f32 {
    bmup(x)
}

#[kernel]
fn of_a_misspelt_function(x: f32) -> f32 {
    sigmod(x)
}

#[kernel]
fn of_one_result(x: f32) -> f32 {
    let (a, b) = bump(x);
    a * b
}

#[kernel]
fn of_another_arity(x: f32) -> f32 {
    bump(x, 2.0)
}

#[kernel]
fn of_other_kinds(x: f32) -> f32 {
    count(x, 2)
}

#[kernel]
fn of_tensors(x: f32) -> f32 {
    mean_of(x)
}

fn main() {}
