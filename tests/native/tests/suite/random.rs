//! Random kernels: random shapes, layouts and dtypes.

use crate::common::{Rng, random, shapes};
use crate::compare::{Case, Layout, Reference};
use cotangent::DType;
use cotangent_ir::{Data, Value};
use cotangent_native_tests::expanded::RANDOM;

/// Extents of the dims, those of no and of one element among them.
const SIZES: [[i64; 2]; 8] = [[3, 4], [1, 1], [0, 3], [2, 0], [1, 7], [6, 1], [5, 19], [2, 70]];

#[test]
fn random_kernels() {
    let (mut compared, mut wrong) = (0, vec![]);
    for (seed, def) in RANDOM {
        let (kernel, mut rng) = (random::kernel(*seed), Rng::new(seed + 1));
        let reference = &Reference::new(kernel.clone());
        for (at, sizes) in SIZES.iter().enumerate() {
            if kernel.dims.is_empty() && at >= 2 {
                break;
            }
            let shapes = shapes(&kernel, &sizes[..kernel.dims.len()]);
            let least = shapes[0].iter().min().map_or(1, |n| *n as i64).max(1);
            let mut args: Vec<Value> =
                kernel.args.iter().zip(shapes).map(|(a, shape)| rng.value(a.kind, &shape)).collect();
            for arg in &mut args {
                if let Data::Int(data) = &mut arg.data {
                    data.iter_mut().for_each(|v| *v %= least);
                }
            }
            for dtype in [DType::F64, DType::F32, DType::BF16, DType::F16] {
                let layout = Layout::ALL[rng.below(3)];
                match (Case { def, reference, dtype, layout }).check(&args, &mut rng) {
                    Ok(done) => compared += usize::from(done),
                    Err(message) => wrong.push(message),
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {compared} differ:\n{}", wrong.len(), wrong.join("\n"));
    assert!(compared > 8 * RANDOM.len(), "{compared} comparisons of {} kernels", RANDOM.len());
}
