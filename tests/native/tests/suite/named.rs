//! Native code of named kernels, forward and backward, against the evaluator in `f64`.

#[path = "../../../runtime/ir/tests/suite/common/mod.rs"]
mod common;

use common::{NAMED, Rng, cotangents, derive, floats, gradients, kernel, run, shapes};
use cotangent::__private::kernel::{Def, Given, IntoGiven, call, vjp};
use cotangent::__private::{Bool, Float, Int, Want};
use cotangent::{Device, Tensor};
use cotangent_ir::{Data, Kernel, Kind, Save, Value};
use cotangent_native_tests::expanded::ALL;

/// A value as an argument.
fn given(value: &Value, number: bool) -> Given {
    let device = Device::cpu();
    match &value.data {
        Data::Float(data) if number => data[0].given(),
        Data::Int(data) if number => data[0].given(),
        Data::Bool(data) if number => data[0].given(),
        Data::Float(data) => {
            let data: Vec<f32> = data.iter().map(|v| *v as f32).collect();
            Tensor::<Float>::from_slice(&data, &value.shape, &device).given()
        }
        Data::Int(data) => Tensor::<Int>::from_slice(data, &value.shape, &device).given(),
        Data::Bool(data) => Tensor::<Bool>::from_slice(data, &value.shape, &device).given(),
    }
}

/// The largest distance, relative to `1 + |expected|`.
fn distance(found: &[f32], expected: &[f64]) -> f64 {
    assert_eq!(found.len(), expected.len());
    let pairs = found.iter().zip(expected);
    pairs.map(|(f, e)| if f64::from(*f) == *e { 0.0 } else { (f64::from(*f) - e).abs() / (1.0 + e.abs()) }).fold(
        0.0,
        |a, b| {
            if b.is_nan() { f64::INFINITY } else { a.max(b) }
        },
    )
}

fn check(name: &str, def: &'static Def, k: &Kernel, dims: &[i64], tolerance: f64) {
    let mut rng = Rng::new(dims.iter().sum::<i64>() as u64 + 1);
    let args: Vec<Value> =
        k.args.iter().zip(shapes(k, dims)).map(|(a, s)| small(k, rng.value(a.kind, &s), dims)).collect();
    let list = || -> Vec<Given> { k.args.iter().zip(&args).map(|(def, v)| given(v, def.dims.is_empty())).collect() };
    let expected = run(k, &args);
    let mut outs = call(def, &list());
    for (out, expected) in k.outs.iter().zip(&expected) {
        match (&out.kind, &expected.data) {
            (Kind::Float, Data::Float(e)) => {
                let found = outs.next::<Float>();
                assert_eq!(found.shape(), expected.shape, "{name} {dims:?}");
                let error = distance(&found.to_vec(), e);
                assert!(error < tolerance, "{name} {dims:?}: `{}` is off by {error}\n{k}", out.name);
            }
            (Kind::Int, Data::Int(e)) => assert_eq!(outs.next::<Int>().to_vec(), *e, "{name} {dims:?}"),
            (_, Data::Bool(e)) => assert_eq!(outs.next::<Bool>().to_vec(), *e, "{name} {dims:?}"),
            other => panic!("{other:?}"),
        }
    }
    let wrt: Vec<_> = floats(k).into_iter().filter(|a| !k.args[a.0 as usize].dims.is_empty()).collect();
    if wrt.is_empty() {
        return;
    }
    let cts = cotangents(k, &expected, &mut rng);
    let wanted = gradients(k, &derive(k, &wrt, Save::Nothing), &args, &cts);
    let (_, saved) = vjp(def, list(), Want::ALL);
    let tensor = |v: &Value| {
        let data: Vec<f32> = v.floats().iter().map(|v| *v as f32).collect();
        Tensor::from_slice(&data, &v.shape, &Device::cpu())
    };
    let cts: Vec<Option<Tensor>> = cts.iter().map(|ct| ct.as_ref().map(tensor)).collect();
    let mut found = match cts.len() {
        1 => saved.pull([cts[0].clone()], args.len()),
        n => panic!("{n} outputs"),
    };
    for (at, arg) in k.args.iter().enumerate() {
        let ct: Option<Tensor> = found.next();
        let Some(place) = wrt.iter().position(|a| a.0 as usize == at) else { continue };
        let ct = ct.unwrap_or_else(|| panic!("{name}: no cotangent of `{}`", arg.name));
        assert_eq!(ct.shape(), wanted[place].shape, "{name} {dims:?}: the cotangent of `{}`", arg.name);
        let error = distance(&ct.to_vec(), wanted[place].floats());
        assert!(error < tolerance, "{name} {dims:?}: the cotangent of `{}` is off by {error}\n{k}", arg.name);
    }
}

/// Positions lie in every extent, and numbers are positive.
fn small(_: &Kernel, mut value: Value, dims: &[i64]) -> Value {
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
        let k = kernel(text);
        let (_, def) = ALL.iter().find(|(n, _)| n == name).expect("expanded");
        for dims in sizes {
            // Windows are as wide as three.
            let dims: Vec<i64> = (0..k.dims.len()).map(|d| dims[d % 3]).collect();
            if shapes(&k, &dims).iter().flatten().any(|n| *n > 1 << 40)
                || text.contains("- 2") && dims.iter().any(|n| *n < 3)
            {
                continue;
            }
            check(name, def, &k, &dims, 2e-4);
        }
    }
}
