//! The smallest program that computes something: how long a process takes to its first result, and how large it is.

#![allow(clippy::print_stdout, reason = "the result is the point")]

use cotangent::{Device, Tensor};

fn main() {
    let x = Tensor::from_slice(&[1.0f32, 2.0, 3.0, 4.0], [2, 2], &Device::default());
    println!("{}", x.clone().matmul(x).sum(..).item());
}
