//! Derived gradients against central differences.

mod common;

use common::{NAMED, Rng, args, check_gradient, kernel};

#[test]
fn named_kernels() {
    for (seed, (name, text)) in NAMED.iter().enumerate() {
        println!("{name}");
        let k = kernel(text);
        let args = args(&k, &mut Rng::new(seed as u64 + 1));
        check_gradient(&k, &args, 2e-8);
    }
}
