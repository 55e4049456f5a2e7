//! Scenario: Derivatives by hand, and functions for the CPU, of other types than they need.

use cotangent::prelude::*;

fn of_x(x: Tensor, ct: Tensor) -> Tensor {
    x * ct
}

/// It is passed `y` too.
#[kernel(vjp = of_x)]
fn everything(x: Tensor![N]) -> Tensor![N] {
    |i| x[i] * x[i]
}

/// It gives one cotangent of two.
#[kernel(vjp = of_x(x, ct))]
fn two(x: Tensor![N], w: Tensor![N]) -> Tensor![N] {
    |i| x[i] * w[i]
}

#[kernel(vjp = missing(ct))]
fn unknown(x: Tensor![N]) -> Tensor![N] {
    |i| x[i]
}

fn copy(x: &[f32], y: &mut [f32]) {
    y.copy_from_slice(x);
}

#[kernel(raw, cpu = copy)]
fn copied(x: Tensor![N]) -> Tensor![N] {}

/// Without `vjp` it has no gradient.
#[kernel(raw, cpu = double)]
fn doubled(x: Tensor![N]) -> Tensor![N] {}

fn double(x: &[f32], y: &mut [f32], _: [usize; 1]) {
    y.iter_mut().zip(x).for_each(|(y, x)| *y = 2.0 * x);
}

#[model]
struct Doubles {
    #[init(ones)]
    w: Param![3],
}

#[model]
impl Doubles {
    fn loss(&self) -> Tensor![] {
        doubled(self.w).sum(..)
    }
}

fn main() {}
