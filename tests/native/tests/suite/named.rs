//! Named kernels.

use crate::common::{NAMED, Rng, kernel, shapes};
use crate::compare::{Case, Layout, Reference};
use cotangent::DType;
use cotangent_ir::{Data, Value};
use cotangent_native_tests::expanded::ALL;

/// Positions lie in every extent, and numbers are positive.
fn small(mut value: Value, dims: &[i64]) -> Value {
    let least = dims.iter().copied().min().unwrap_or(1).max(1);
    match &mut value.data {
        Data::Int(data) => data.iter_mut().for_each(|v| *v %= least),
        Data::Float(data) if value.shape.is_empty() => data[0] = data[0].abs() + 0.1,
        Data::Float(_) | Data::Bool(_) => {}
    }
    value
}

#[test]
fn named_kernels() {
    let sizes: &[[i64; 3]] = &[[3, 4, 5], [1, 1, 1], [5, 130, 7], [70, 3, 2], [2, 17, 64]];
    for (name, text) in NAMED {
        let kernel = &kernel(text);
        let reference = &Reference::new(kernel.clone());
        let (_, def) = ALL.iter().find(|(n, _)| n == name).expect("expanded");
        for dims in sizes {
            // Windows are as wide as three.
            let dims: Vec<i64> = (0..kernel.dims.len()).map(|d| dims[d % 3]).collect();
            if shapes(kernel, &dims).iter().flatten().any(|n| *n > 1 << 40)
                || text.contains("- 2") && dims.iter().any(|n| *n < 3)
            {
                continue;
            }
            let mut rng = Rng::new(dims.iter().sum::<i64>() as u64 + 1);
            let args = kernel.args.iter().zip(shapes(kernel, &dims));
            let args: Vec<Value> = args.map(|(a, shape)| small(rng.value(a.kind, &shape), &dims)).collect();
            for dtype in [DType::F32, DType::F64] {
                let case = Case { def, reference, dtype, layout: Layout::Plain };
                assert_eq!(case.check(&args, &mut rng), Ok(true), "{case:?} for {dims:?}");
            }
        }
    }
}
