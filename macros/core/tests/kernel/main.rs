//! `#[kernel]`: what it writes in the kernel language, what that computes, what it reports, and that no input makes it
//! panic.

mod errors;
mod expansions;
mod fuzz;
mod inplace;
mod inside;
mod pointwise;
mod tensors;

use cotangent_ir::{Data, Kernel, Value, eval, parse, print, verify};
use cotangent_macros_core::kernel_ir;
use proc_macro2::TokenStream;

/// The kernel language of a kernel that has no mistakes.
fn text(source: &str) -> String {
    let item: TokenStream = source.parse().expect("tokens");
    kernel_ir(TokenStream::new(), item).unwrap_or_else(|errors| panic!("{errors}\n{source}"))
}

/// Whether a kernel has no mistakes.
fn accepted(source: &str) -> bool {
    kernel_ir(TokenStream::new(), source.parse().expect("tokens")).is_ok()
}

/// The kernel, which is sound and reads back from its text.
fn kernel(source: &str) -> Kernel {
    let text = text(source);
    let kernel = parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    assert_eq!(verify(&kernel), [], "{text}");
    assert_eq!(print(&kernel), text);
    kernel
}

/// Compares the outputs of a kernel with what plain loops gave, and its text with the snapshot of its name.
#[track_caller]
fn check(source: &str, args: &[Value], expected: &[Value]) {
    let kernel = kernel(source);
    insta::assert_snapshot!(kernel.name.as_ref(), text(source));
    compare(&kernel, args, expected);
}

/// Compares the outputs of a kernel with what plain loops gave.
#[track_caller]
fn compare(kernel: &Kernel, args: &[Value], expected: &[Value]) {
    let found = eval(kernel, args).unwrap_or_else(|e| panic!("{e}\n{kernel}"));
    assert_eq!(found.len(), expected.len(), "{kernel}");
    for (found, expected) in found.iter().zip(expected) {
        assert_eq!(found.shape, expected.shape, "{kernel}");
        match (&found.data, &expected.data) {
            (Data::Float(x), Data::Float(y)) => {
                assert!(x.iter().zip(y).all(|(x, y)| near(*x, *y)), "{x:?}\n{y:?}\n{kernel}");
            }
            (x, y) => assert_eq!(x, y, "{kernel}"),
        }
    }
}

fn near(x: f64, y: f64) -> bool {
    x == y || (x.is_nan() && y.is_nan()) || (x - y).abs() <= 1e-12 * x.abs().max(y.abs()).max(1.0)
}

/// Numbers between -1.5 and 1.5, the same in every run.
fn numbers(n: usize) -> Vec<f64> {
    let mut state = 0x9E37_79B9_7F4A_7C15u64.wrapping_add(n as u64);
    let mut next = || {
        state = state.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(0x1405_7B7E_F767_814F);
        ((state >> 33) % 3001) as f64 / 1000.0 - 1.5
    };
    (0..n).map(|_| next()).collect()
}

/// A float tensor of that shape, and its elements.
fn tensor(shape: &[usize]) -> (Value, Vec<f64>) {
    let data = numbers(shape.iter().product());
    (Value::float(shape, data.clone()), data)
}

/// A float scalar.
fn scalar(x: f64) -> Value {
    Value::float(&[], vec![x])
}
