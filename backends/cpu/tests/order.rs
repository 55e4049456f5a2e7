//! What a sort refuses; its results are tested through `Tensor`.

mod views;

use cotangent_cpu::CpuBackend;
use cotangent_hal::{Backend, DType, LibraryCall};
use views::{Random, Tensor};

#[test]
fn operands_are_verified() {
    let cpu = CpuBackend::new();
    let r = &mut Random(3);
    let x = Tensor::contiguous(&cpu, r, DType::F32, &[3, 4]);
    let values = Tensor::contiguous(&cpu, r, DType::F32, &[3, 4]);
    let at = Tensor::contiguous(&cpu, r, DType::I64, &[3, 4]);
    let fails = |x: &Tensor, values: &Tensor, at: &Tensor, part: &str| {
        let call = LibraryCall::Sort { x: x.view(), values: values.view(), at: at.view(), descending: false };
        let error = cpu.library(&call).unwrap_err().to_string();
        assert!(error.contains(part), "{error}");
    };
    fails(&x, &at, &at, "dtype `i64` cannot be used here; accepted: `f32`");
    fails(&x, &values, &values, "dtype `f32` cannot be used here; accepted: `i64`");
    fails(&Tensor { offset: 9, ..x.clone() }, &values, &at, "the input reaches outside its buffer");
    fails(&x, &Tensor { strides: vec![0, 1], ..values.clone() }, &at, "the tensor of values repeats elements");
    fails(&x, &x, &at, "the tensor of values overlaps the input; give it memory of its own");
    let ints = Tensor { shape: vec![3, 2], strides: vec![4, 2], ..at.clone() };
    let odd = Tensor { offset: 1, ..ints.clone() };
    fails(&at, &odd, &ints, "the tensor of values overlaps the input");
    let (long, kept) = (Tensor::contiguous(&cpu, r, DType::I64, &[3, 4]), ints);
    fails(&long, &odd, &kept, "the tensor of positions overlaps the tensor of values");
}
