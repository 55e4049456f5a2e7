//! Named kernels.

use crate::common::products::PRODUCTS;
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
    for (name, text) in NAMED.iter().chain(PRODUCTS) {
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

/// What the steps of a program are, as data.
#[test]
fn matrix_products_are_library_calls() {
    let def = |name: &str| ALL.iter().find(|(n, _)| *n == name).expect("expanded").1;
    let steps = [
        (
            "matmul",
            "y[i, j] = matmul a[i, k] b[k, j]\n",
            "da[i, k] = matmul b[k, j] ct[i, j]\n\
             db[k, j] = matmul a[i, k] ct[i, j]\n",
        ),
        (
            "linear_relu",
            "#0[i, j] = matmul x[i, k] w[j, k]\n\
             y = elements #0 b\n",
            "#0 = elements b s0 ct\n\
             dx[i, k] = matmul w[j, k] #0[i, j]\n\
             dw[j, k] = matmul x[i, k] #0[i, j]\n\
             db = rows b s0 ct\n",
        ),
    ];
    for (name, forward, backward) in steps {
        let def = def(name);
        assert_eq!(def.forward.to_string(), forward, "{name}");
        assert_eq!(def.gradient.expect("floats").backward.program.to_string(), backward, "{name}");
    }
}
