//! Truth values, bits and choices.

use crate::reference::{cpu, layouts, pulled, random};
use cotangent_runtime::diff::Want;
use cotangent_runtime::testing::{GradCheck, check_grad};
use cotangent_runtime::{Bool, DType, Int, Tensor};

fn floats(values: &[f32]) -> Tensor {
    Tensor::from_slice(values, [values.len()], &cpu())
}

fn ints(values: &[i64]) -> Tensor<Int> {
    Tensor::from_slice(values, [values.len()], &cpu())
}

fn truths(values: &[bool]) -> Tensor<Bool> {
    Tensor::from_slice(values, [values.len()], &cpu())
}

#[test]
fn truth_tables() {
    let (a, b) = (truths(&[false, false, true, true]), truths(&[false, true, false, true]));
    assert_eq!((&a & &b).to_vec(), [false, false, false, true]);
    assert_eq!((&a | &b).to_vec(), [false, true, true, true]);
    assert_eq!((&a ^ &b).to_vec(), [false, true, true, false]);
    assert_eq!((!&a).to_vec(), [true, true, false, false]);
    assert_eq!(a.clone().logical_xor(b.clone()).to_vec(), (a.clone() ^ b.clone()).to_vec());
    assert_eq!(a.clone().bitwise_and(b.clone()).to_vec(), (a.clone() & b.clone()).to_vec());
    assert_eq!(a.clone().eq(b.clone()).to_vec(), [true, false, false, true]);
    assert_eq!(a.clone().ne(b).to_vec(), [false, true, true, false]);
    // Of numbers what is not 0 is true.
    let x = floats(&[0.0, -0.0, f32::NAN, 2.0]);
    assert_eq!(x.clone().logical_not().to_vec(), [true, true, false, false]);
    assert_eq!(x.clone().logical_and(ints(&[1, 1, 1, 0])).to_vec(), [false, false, true, false]);
    assert_eq!(x.logical_or(a).to_vec(), [false, false, true, true]);
}

#[test]
fn bits() {
    let n = ints(&[6, -1, 0]);
    assert_eq!((&n & 3).to_vec(), [2, 3, 0]);
    assert_eq!((&n | ints(&[1])).to_vec(), [7, -1, 1]);
    assert_eq!((&n ^ &n).to_vec(), [0, 0, 0]);
    assert_eq!((!&n).to_vec(), [-7, 0, -1]);
    assert_eq!((&n << 2).to_vec(), [24, -4, 0]);
    assert_eq!((&n >> 1).to_vec(), [3, -1, 0]);
    assert_eq!((n.clone() << ints(&[64, 1, -1])).to_vec(), [0, -2, 0]);
    let u8s = ints(&[200, 1]).to(DType::U8);
    assert_eq!((u8s.clone() << 1).to_vec(), [144, 2]);
    assert_eq!((!u8s).to_vec(), [55, 254]);
    assert_eq!(n.bitwise_left_shift(1).to_vec(), [12, -2, 0]);
}

#[test]
fn kinds_of_floats() {
    let x = floats(&[f32::NAN, f32::INFINITY, f32::NEG_INFINITY, -0.0, 1.0]);
    assert_eq!(x.clone().isnan().to_vec(), [true, false, false, false, false]);
    assert_eq!(x.clone().isinf().to_vec(), [false, true, true, false, false]);
    assert_eq!(x.clone().isfinite().to_vec(), [false, false, false, true, true]);
    assert_eq!(x.narrow(0, 1, 4).signbit().to_vec(), [false, true, true, false]);
    assert_eq!(ints(&[-1, 0]).signbit().to_vec(), [true, false]);
    for x in layouts(&[3, 4], -1.0, 1.0, 1) {
        assert!(x.clone().signbit().equal(&x.lt(0.0)));
    }
}

#[test]
fn close_and_equal() {
    let inf = f32::INFINITY;
    let (a, b) = (floats(&[1.0, inf, -inf, f32::NAN, 100.0]), floats(&[1.01, inf, inf, f32::NAN, 101.0]));
    assert_eq!(a.clone().isclose(&b, 0.015, 0.0).to_vec(), [true, true, false, false, true]);
    assert_eq!(a.clone().isclose(&b, 0.0, 0.02).to_vec(), [true, true, false, false, false]);
    assert!(!a.allclose(&b, 1.0, 1.0) && floats(&[2.0]).allclose(2.00001, 1e-5, 0.0));
    assert!(a.clone().narrow(0, 0, 3).equal(&a.clone().narrow(0, 0, 3)) && !a.equal(&a));
    assert!(!floats(&[1.0]).equal(&floats(&[1.0, 1.0])) && floats(&[]).equal(&floats(&[])));
    assert!(ints(&[1, 2]).equal(&ints(&[1, 2])) && !truths(&[true]).equal(&truths(&[false])));
    assert!(ints(&[100]).allclose(ints(&[101]), 0.02, 0.0));
    let x = random(&[3, 1], 0.0, 1.0, 1);
    assert!(x.clone().expand([3, 4]).equal(&x.clone().expand([3, 4]).contiguous()));
}

#[test]
fn choices_of_every_kind() {
    let mask = truths(&[true, false]);
    assert_eq!(ints(&[1, 2]).mask_where(mask.clone(), ints(&[7])).to_vec(), [7, 2]);
    assert_eq!(truths(&[true, true]).mask_where(mask.clone(), !truths(&[true])).to_vec(), [false, true]);
    let x = random(&[3, 2], 0.0, 1.0, 1);
    let source = random(&[2], 2.0, 3.0, 2);
    let y = x.clone().mask_where(mask.clone(), source.clone());
    assert_eq!(y.shape(), [3, 2]);
    assert_eq!(y.to_vec()[4], source.to_vec()[0]);
    check_grad(
        |xs| xs[0].clone().mask_where(mask.clone(), xs[1].clone()),
        |xs, ct| {
            let (_, p) = xs[0].clone().mask_where__vjp(mask.clone(), xs[1].clone(), Want::ALL);
            let (dx, (), ds) = pulled(p, Some(ct));
            vec![dx, ds]
        },
        &[x, source],
        GradCheck::default(),
    );
}

#[test]
fn conversions_between_kinds() {
    assert_eq!(floats(&[0.0, -0.5, f32::NAN]).bool().to_vec(), [false, true, true]);
    assert_eq!(ints(&[0, 3]).bool().to_vec(), [false, true]);
    assert_eq!(floats(&[1.9, -1.9, f32::NAN, 1e30]).int().to_vec(), [1, -1, 0, i64::MAX]);
    assert_eq!(truths(&[true, false]).int().to_vec(), [1, 0]);
    assert_eq!(truths(&[true, false]).float().to_vec(), [1.0, 0.0]);
    assert_eq!(ints(&[300, -1]).to(DType::U8).int().to_vec(), [44, 255]);
    assert_eq!(ints(&[300]).to(DType::I32).int().dtype(), DType::I64);
}
