//! The example of custom kernels at toy size.

#[allow(dead_code, unreachable_pub, reason = "it is a program of its own")]
#[path = "../examples/custom_kernel.rs"]
mod example;

#[test]
fn gradients_are_those_of_finite_differences() {
    for (name, error) in example::errors(3) {
        assert!(error < 1e-7, "{name}: {error}");
    }
}

#[test]
fn the_model_learns() {
    let (first, last) = (example::train(1, 3), example::train(200, 3));
    assert!(first > 2.0 && last < 0.1, "the loss goes from {first} to {last}");
}
