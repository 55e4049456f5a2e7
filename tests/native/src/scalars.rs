use cotangent::prelude::*;

/// `x sigmoid(x)`.
#[kernel]
pub fn swish(x: f32) -> f32 {
    x * sigmoid(x)
}

/// Calls a kernel of its own crate.
#[kernel]
pub fn swiglu(a: f32, b: f32) -> f32 {
    swish(a) * b
}
