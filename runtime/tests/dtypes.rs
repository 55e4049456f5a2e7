//! Dtypes of tensors: numbers in and out, conversion, promotion, errors, and the text of tensors.

use cotangent_runtime::diff::{Pullback, Want};
use cotangent_runtime::ops::{AddVjp, cat, select, stack};
use cotangent_runtime::{Bool, DType, Device, Error, Int, Tensor, attempt, bf16, f16};

fn cpu() -> Device {
    Device::cpu()
}

/// A float tensor of `dtype`.
fn floats(values: &[f64], dtype: DType) -> Tensor {
    Tensor::from_slice_of(values, [values.len()], &cpu()).to(dtype)
}

fn ints(values: &[i64], dtype: DType) -> Tensor<Int> {
    Tensor::<Int>::from_slice(values, [values.len()], &cpu()).to(dtype)
}

#[test]
fn numbers_of_every_type_go_in_and_out() {
    let device = cpu();
    assert_eq!(Tensor::from_slice_of(&[1.5f64, 1.0 / 3.0], [2], &device).to_vec_of::<f64>(), [1.5, 1.0 / 3.0]);
    let x = Tensor::from_slice_of(&[f16::from_f32(0.1), f16::MAX], [2], &device);
    assert_eq!((x.dtype(), x.to_vec_of::<f16>()), (DType::F16, vec![f16::from_f32(0.1), f16::MAX]));
    let x = Tensor::from_slice_of(&[bf16::from_f32(0.1), bf16::MAX], [2], &device);
    assert_eq!((x.dtype(), x.to_vec_of::<bf16>()), (DType::BF16, vec![bf16::from_f32(0.1), bf16::MAX]));
    let n = Tensor::from_slice_of(&[7i32, i32::MIN], [2], &device);
    assert_eq!((n.dtype(), n.to_vec_of::<i32>()), (DType::I32, vec![7, i32::MIN]));
    let n = Tensor::from_slice_of(&[7u8, 255], [2], &device);
    assert_eq!((n.dtype(), n.to_vec_of::<u8>(), n.to_vec()), (DType::U8, vec![7, 255], vec![7i64, 255]));
    assert_eq!(Tensor::from_slice_of(&[true], [1], &device).to_vec_of::<bool>(), [true]);
    // Read as the number of the kind, or as any other.
    assert_eq!(floats(&[0.1], DType::F64).item(), 0.1f32);
    assert_eq!(floats(&[0.1], DType::F64).item_of::<f64>(), 0.1);
    assert_eq!(floats(&[0.5], DType::BF16).item_of::<f64>(), 0.5);
    let full = Tensor::full_of([2, 2], bf16::from_f32(3.0), &device);
    assert_eq!((full.dtype(), full.to_vec()), (DType::BF16, vec![3.0; 4]));
    // Literals are `f32` and `i64`, as in PyTorch.
    assert_eq!(Tensor::from_slice(&[1.0], [1], &device).dtype(), DType::F32);
    assert_eq!(Tensor::full([1], 7, &device).dtype(), DType::I64);
    assert_eq!(floats(&[2.0], DType::F16).ones_like().dtype(), DType::F16);
}

/// Every value of 16 bits, and what lies between, through tensors: `half` says what each is.
#[test]
fn conversion_of_all_16_bit_values() {
    let halves: Vec<f16> = (0..=u16::MAX).map(f16::from_bits).collect();
    let x = Tensor::from_slice_of(&halves, [256, 256], &cpu()).t();
    let transposed = |i: usize| halves[i % 256 * 256 + i / 256];
    for (i, v) in x.clone().float().to_vec().into_iter().enumerate() {
        assert!(v.to_bits() == transposed(i).to_f32().to_bits() || v.is_nan() && transposed(i).is_nan());
    }
    for (i, v) in x.clone().bfloat16().to_vec_of::<bf16>().into_iter().enumerate() {
        let want = bf16::from_f32(transposed(i).to_f32());
        assert!(v.to_bits() == want.to_bits() || v.is_nan() && want.is_nan());
    }
    let back = x.double().half().t().to_vec_of::<f16>();
    assert!(back.iter().zip(&halves).all(|(b, h)| b.to_bits() == h.to_bits() || b.is_nan() && h.is_nan()));
    let halves: Vec<bf16> = (0..=u16::MAX).map(bf16::from_bits).collect();
    let x = Tensor::from_slice_of(&halves, [65536], &cpu());
    let back = x.float().double().bfloat16().to_vec_of::<bf16>();
    assert!(back.iter().zip(&halves).all(|(b, h)| b.to_bits() == h.to_bits() || b.is_nan() && h.is_nan()));
}

#[test]
fn conversion_between_kinds() {
    let x = floats(&[-1.9, 300.7, 1e12 + 0.5, f64::NAN], DType::F64);
    assert_eq!(x.clone().int().to_vec(), [-1, 300, 1_000_000_000_000, 0]);
    assert_eq!(x.int().to(DType::U8).to_vec(), [255, 44, 0, 0]);
    let wide = ints(&[1 << 40, -1, 256], DType::I64);
    assert_eq!(wide.clone().to(DType::I32).to_vec(), [0, -1, 256]);
    assert_eq!(wide.double().to_vec_of::<f64>(), [(1i64 << 40) as f64, -1.0, 256.0]);
    assert_eq!(ints(&[3, 255], DType::U8).bfloat16().to_vec(), [3.0, 255.0]);
    let flags = Tensor::<Bool>::from_slice(&[true, false], [2], &cpu());
    assert_eq!((flags.clone().half().dtype(), flags.clone().half().to_vec()), (DType::F16, vec![1.0, 0.0]));
    assert_eq!(flags.int().dtype(), DType::I64);
}

#[test]
fn cotangents_return_in_the_dtype_of_the_operand() {
    let x = floats(&[1.0, 2.0], DType::BF16);
    let ct = || Some(floats(&[0.1, 0.2], DType::F64));
    let (y, p) = x.clone().double__vjp(Want::ALL);
    assert_eq!(y.dtype(), DType::F64);
    let (dx,) = p.pull(ct(), &mut ());
    assert_eq!(dx.map(|d| (d.dtype(), d.to_vec())), Some((DType::BF16, vec![0.100_097_656, 0.200_195_31])));
    let (dx, ()) = x.clone().to__vjp(DType::F64, Want::ALL).1.pull(ct(), &mut ());
    assert_eq!(dx.map(|d| d.dtype()), Some(DType::BF16));
    assert!(x.clone().float__vjp(Want::NONE).1.pull(ct(), &mut ()).0.is_none());
    let (_, p) = ints(&[1, 2], DType::I32).float__vjp(Want::ALL);
    let ((),) = p.pull(ct(), &mut ());
    // A product of two dtypes: each factor's own.
    let (y, p) = x.clone().mul__vjp(floats(&[3.0, 4.0], DType::F32), Want::ALL);
    assert_eq!(y.dtype(), DType::F32);
    let (a, b) = p.pull(Some(y.ones_like()), &mut ());
    assert_eq!([a, b].map(|ct| ct.map(|ct| ct.dtype())), [Some(DType::BF16), Some(DType::F32)]);
    let (_, p) = AddVjp::add__vjp(x.clone(), ints(&[1, 1], DType::U8), Want::ALL);
    let (a, ()) = p.pull(Some(x), &mut ());
    assert_eq!(a.map(|ct| ct.dtype()), Some(DType::BF16));
}

/// Every binary operation gives what `DType::promote` says.
#[test]
fn operands_are_promoted() {
    for a in DType::FLOATS {
        for b in DType::FLOATS {
            let (x, y) = (floats(&[3.0, 1.5], a), floats(&[0.5, 4.0], b));
            let both = a.promote(b);
            let check =
                |z: Tensor, want: [f64; 2]| assert_eq!((z.dtype(), z.to_vec_of::<f64>()), (both, want.to_vec()));
            check(&x + &y, [3.5, 5.5]);
            check(x.clone() - &y, [2.5, -2.5]);
            check(&x * y.clone(), [1.5, 6.0]);
            check(x.clone() / y.clone(), [6.0, 0.375]);
            check(x.clone().maximum(&y), [3.0, 4.0]);
            check(x.clone().minimum(&y), [0.5, 1.5]);
            check(select(x.clone().lt(&y), &x, &y), [0.5, 1.5]);
            assert_eq!(x.clone().mse_loss(y.clone()).dtype(), both);
            assert_eq!(x.clone().matmul(y.clone()).dtype(), both);
            assert_eq!(x.clone().gt(&y).to_vec(), [true, false]);
            assert_eq!(cat([x.clone(), y.clone()], 0).dtype(), both);
            let joined = stack([x, y], 1);
            assert_eq!((joined.dtype(), joined.to_vec()), (both, vec![3.0, 0.5, 1.5, 4.0]));
        }
    }
    for a in DType::INTS {
        for b in DType::INTS {
            let (x, y) = (ints(&[3, 200], a), ints(&[100, 4], b));
            let check = |z: Tensor<Int>, want: [i64; 2]| {
                let both = a.promote(b);
                assert_eq!((z.dtype(), z.to_vec()), (both, ints(&want, both).to_vec()), "{a} with {b}");
            };
            check(&x + &y, [103, 204]);
            check(&x - &y, [-97, 196]);
            check(&x * y.clone(), [300, 800]);
            assert_eq!(x.clone().lt(y.clone()).to_vec(), [true, false]);
        }
    }
}

#[test]
fn numbers_and_tensors_without_axes_give_way() {
    for dtype in DType::FLOATS {
        let x = floats(&[0.5, 2.0], dtype);
        let single = floats(&[1.0 / 3.0], DType::F64).squeeze(0);
        for y in [&x + 1.5, 2 * &x, 1.0 / x.clone(), &x * &single, &single - &x, x.clone().powf(2), -&x] {
            assert_eq!(y.dtype(), dtype);
        }
        assert_eq!((x.clone() + ints(&[1, 2], DType::I32)).dtype(), dtype);
        assert_eq!((ints(&[1, 2], DType::I64) * x.clone()).dtype(), dtype);
        assert_eq!(select(x.clone().gt(1), &x, ints(&[1, 2], DType::U8)).dtype(), dtype);
        assert_eq!(select(x.clone().gt(1), 0, &x).dtype(), dtype);
        assert_eq!(x.clone().masked_fill(x.clone().gt(1), f64::NEG_INFINITY).dtype(), dtype);
        for y in [x.clone().sum(0), x.clone().mean(..), x.clone().amax(0), x.clone().softmax(0)] {
            assert_eq!(y.dtype(), dtype);
        }
    }
    let n = ints(&[250, 10], DType::U8);
    assert_eq!((&n + 10).to_vec(), [4, 20]);
    assert_eq!((-&n).to_vec(), [6, 246]);
    assert_eq!((n.clone() * 2.5).dtype(), DType::F32);
    assert_eq!(select(n.gt(100), 1, 2.0).dtype(), DType::F32);
}

#[test]
fn sums_of_integers_are_wide() {
    let n = Tensor::from_slice_of(&[200u8, 100, 1, 2, 3, 4], [2, 3], &cpu());
    let rows = n.clone().sum(1);
    assert_eq!((rows.dtype(), rows.to_vec()), (DType::I64, vec![301, 9]));
    assert_eq!(n.clone().t().sum(-1).to_vec(), [202, 103, 5]);
    assert_eq!(n.clone().sum_keepdim(0).shape(), [1, 3]);
    assert_eq!(n.clone().sum(..).item(), 310);
    assert_eq!(n.narrow(0, 0, 0).sum(0).to_vec(), [0, 0, 0]);
    assert_eq!(Tensor::from_slice_of(&[i32::MAX; 4], [4], &cpu()).sum(0).item(), 4 * i64::from(i32::MAX));
}

#[test]
fn sums_of_halves_are_formed_in_single_precision() {
    // In bf16 a running sum of ones stops at 256, in f16 at 2048.
    for dtype in [DType::BF16, DType::F16] {
        for shape in [[20_000, 1], [1, 20_000], [100, 200]] {
            let ones = Tensor::ones(shape, &cpu()).to(dtype);
            assert_eq!(ones.clone().sum(..).item(), if dtype == DType::BF16 { 19_968.0 } else { 20_000.0 });
            assert_eq!(ones.mean(..).item(), 1.0);
        }
        // What a layer norm computes on the way is beyond f16.
        let x = floats(&[3000.0, -3000.0], dtype).reshape([1, 2]);
        let y = x.layer_norm(floats(&[1.0, 1.0], dtype), floats(&[0.0, 0.0], dtype), 1e-5);
        assert_eq!(y.to_vec(), [1.0, -1.0]);
    }
}

#[test]
fn indices_are_of_any_integer_dtype() {
    let table = floats(&[0.0, 1.0, 2.0, 3.0, 4.0, 5.0], DType::F32);
    for width in [1, 2, 3] {
        for dtype in DType::FLOATS {
            let table = table.clone().reshape([6 / width, width]).to(dtype);
            let rows = table.to_vec();
            for index in DType::INTS {
                let y = table.clone().embedding(ints(&[1, 0, 1], index));
                let want: Vec<f32> = [1, 0, 1].iter().flat_map(|&i| rows[i * width..][..width].to_vec()).collect();
                assert_eq!((y.dtype(), y.to_vec()), (dtype, want));
                let (_, p) = table.clone().embedding__vjp(ints(&[1, 0, 1], index), Want::ALL);
                let (dw, ()) = p.pull(Some(y.ones_like()), &mut ());
                let dw = dw.map(|d| (d.dtype(), d.narrow(0, 0, 2).to_vec()));
                assert_eq!(dw, Some((dtype, [vec![1.0; width], vec![2.0; width]].concat())));
            }
        }
    }
    let logits = floats(&[1.0, 3.0, 2.0], DType::F16).reshape([1, 3]);
    assert_eq!(logits.clone().cross_entropy(ints(&[1], DType::U8)).dtype(), DType::F16);
    assert_eq!(logits.argmax(-1).dtype(), DType::I64);
}

#[test]
fn bits_of_a_half_survive_a_lookup() {
    let odd = f16::from_bits(0x7d01);
    let table = Tensor::from_slice_of(&[odd, f16::ONE, f16::ZERO, odd], [2, 2], &cpu());
    let y = table.embedding(ints(&[1], DType::I64)).to_vec_of::<f16>();
    assert_eq!(y.iter().map(|v| v.to_bits()).collect::<Vec<_>>(), [0, 0x7d01]);
}

#[test]
fn a_wrong_dtype_is_named_with_those_that_are_accepted() {
    let fails = |f: &dyn Fn() -> DType, given: DType, text: &str| {
        let error = attempt(f).unwrap_err();
        assert!(matches!(&error, Error::Dtype { given: g, .. } if *g == given), "{error}");
        assert_eq!(error.to_string(), text);
    };
    let x = floats(&[1.0], DType::F16);
    fails(
        &|| x.clone().to(DType::I32).dtype(),
        DType::I32,
        "to: dtype `i32` cannot be used here; accepted: `f64`, `f32`, `f16`, `bf16`",
    );
    let n = ints(&[1], DType::I32);
    fails(
        &|| n.clone().to(DType::BF16).dtype(),
        DType::BF16,
        "to: dtype `bf16` cannot be used here; accepted: `i64`, `i32`, `u8`",
    );
    let flag = Tensor::<Bool>::from_slice(&[true], [1], &cpu());
    fails(&|| flag.clone().to(DType::U8).dtype(), DType::U8, "to: dtype `u8` cannot be used here; accepted: `bool`");
}

#[test]
fn text_is_pytorch_s() {
    let text = |x: Tensor| x.to_string();
    assert_eq!(text(floats(&[1.5, -2.0], DType::F64)), "tensor([ 1.5000, -2.0000], dtype=torch.float64)");
    assert_eq!(text(floats(&[1.0, 2.0], DType::BF16)), "tensor([1., 2.], dtype=torch.bfloat16)");
    assert_eq!(text(floats(&[65504.0], DType::F16)), "tensor([65504.], dtype=torch.float16)");
    assert_eq!(text(floats(&[0.1], DType::BF16)), "tensor([0.1001], dtype=torch.bfloat16)");
    assert_eq!(text(floats(&[], DType::F64)), "tensor([], dtype=torch.float64)");
    assert_eq!(ints(&[1, -20], DType::I32).to_string(), "tensor([  1, -20], dtype=torch.int32)");
    assert_eq!(ints(&[7], DType::U8).to_string(), "tensor([7], dtype=torch.uint8)");
    assert_eq!(format!("{:?}", floats(&[0.0], DType::BF16)), "Tensor[1] bf16 on cpu");
}
