//! Kernels whose names, parameters and indices are those of emitted code.

use cotangent::prelude::*;

#[kernel]
fn added(result: &mut Tensor![N], outs: Tensor![N]) {
    |i| {
        result[i] += outs[i];
    }
}

#[kernel]
fn subtracted(outs: &mut Tensor![N], result: Tensor![N]) {
    |i| {
        outs[i] -= result[i];
    }
}

#[kernel]
fn product(saved: Tensor![N], cts: Tensor![N], ct: Tensor![N], want: f32) -> Tensor![N] {
    |row| saved[row] * cts[row] * ct[row] * want
}

#[kernel]
fn sum(r#type: Tensor![N]) -> Tensor![] {
    sum(|r#in| r#type[r#in])
}

#[kernel]
fn r#fn(ir: f32, math: f32) -> f32 {
    max(ir, math)
}

#[test]
fn any_name_will_do() {
    let two = Tensor::full([3], 2.0f32, &Device::cpu());
    let mut x = two.clone();
    added(&mut x, two.clone());
    added(&mut x, two.clone());
    subtracted(&mut x, two.clone());
    assert_eq!(x.to_vec(), [4.0; 3]);
    assert_eq!(product(x.clone(), two.clone(), two.clone(), 0.5).to_vec(), [8.0; 3]);
    assert_eq!(sum(x.clone()).item(), 12.0);
    assert_eq!(x.zip_map(two, r#fn).to_vec(), [4.0; 3]);
}
