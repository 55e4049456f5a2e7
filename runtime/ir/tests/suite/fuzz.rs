//! Random kernels: their gradients, their text, and forward against reverse mode.

use crate::common::{Rng, derive, error, floats, random};
use cotangent_ir::{Save, extents, parse, print, show, verify};

/// Gradients by central differences. Values of a random kernel can be large, so the step loses digits.
const TOLERANCE: f64 = 2e-6;

fn check(seeds: std::ops::Range<u64>) {
    for seed in seeds {
        let k = random::kernel(seed);
        assert!(verify(&k).is_empty(), "seed {seed}: {:?}\n{k}", verify(&k));
        let mut rng = Rng::new(seed + 1000);
        let args = random::args(&mut rng);
        let save = if seed % 2 == 0 { Save::Useful } else { Save::Nothing };
        let wrt = floats(&k);
        let d = derive(&k, &wrt, save);
        for kernel in [&k, &d.forward, &d.backward.kernel] {
            let text = print(kernel);
            assert_eq!(parse(&text).as_ref(), Ok(kernel), "seed {seed}\n{text}");
        }
        let worst = error(&k, &d, &wrt, &args, &extents(&k, &args).unwrap(), &mut rng);
        assert!(worst < TOLERANCE, "seed {seed}, {save:?}: {worst:e}\n{}\n{}", show(&k), show(&d.backward.kernel));
    }
}

#[test]
fn random_gradients_1() {
    check(0..500);
}

#[test]
fn random_gradients_2() {
    check(500..1000);
}

#[test]
fn random_gradients_3() {
    check(1000..1500);
}
