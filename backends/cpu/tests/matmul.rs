//! Matrix products against their definition, over shapes that reach every method.

mod views;

use cotangent_cpu::CpuBackend;
use cotangent_hal::native::Level;
use cotangent_hal::{Activation, Backend, DType, Epilogue, Error, LibraryCall, View};
use half::{bf16, f16};
use views::{Random, Tensor, activated, cases};

fn multiply(cpu: &CpuBackend, a: View<'_>, b: View<'_>, out: View<'_>) -> Result<(), Error> {
    cpu.library(&LibraryCall::MatMul { a, b, out, epilogue: Epilogue::default() })
}

/// The product by its definition; exact for the test's values, which are small multiples of 1/8.
fn naive(a: &[f64], b: &[f64], [count, m, n, k]: [usize; 4]) -> Vec<f64> {
    let mut out = vec![0.0; count * m * n];
    for c in 0..count {
        for i in 0..m {
            for l in 0..k {
                let x = a[(c * m + i) * k + l];
                for j in 0..n {
                    out[(c * m + i) * n + j] += x * b[(c * k + l) * n + j];
                }
            }
        }
    }
    out
}

fn check(cpu: &CpuBackend, r: &mut Random, [count, m, n, k]: [usize; 4], strided: bool) {
    let dtype = r.float();
    let tensor = |r: &mut Random, shape: &[usize], repeat: bool| {
        if strided { Tensor::strided(cpu, r, dtype, shape, repeat) } else { Tensor::contiguous(cpu, r, dtype, shape) }
    };
    // One element a hundred thousand times is a sum that `f32` does not hold.
    let repeat = k < 10_000;
    let a = tensor(r, &[count, m, k], repeat);
    let b = tensor(r, &[count, k, n], repeat);
    let out = tensor(r, &[count, m, n], false);
    let before = out.bytes(cpu);
    let wanted = naive(&a.values(cpu), &b.values(cpu), [count, m, n, k]);
    multiply(cpu, a.view(), b.view(), out.view()).unwrap();
    out.expect(cpu, &before, &wanted, &format!("{count} x [{m}, {k}] x [{k}, {n}], {a:?}, {b:?}"));
}

#[test]
fn random_shapes_and_layouts() {
    let cpu = CpuBackend::new();
    for seed in cases(500) {
        let r = &mut Random(seed);
        let limit = if cfg!(miri) { 5 } else { 40 };
        let mut extent = || if r.once_in(4) { 1 } else { r.below(limit) };
        let extents = [extent() % 6, extent(), extent(), extent()];
        check(&cpu, r, extents, seed % 4 > 0);
    }
}

#[test]
#[cfg(not(miri))]
fn every_method() {
    let cpu = CpuBackend::new();
    let r = &mut Random(7);
    for extents in [
        [1, 130, 150, 170],
        [1, 64, 128, 2500],
        [1, 3, 5, 100_000],
        [1, 1, 700, 900],
        [1, 900, 1, 700],
        [1, 5, 300, 400],
        [1, 300, 7, 400],
        [1, 9, 700, 1100],
        [1, 1, 1, 5000],
        [1, 1, 3, 300_000],
        [9, 33, 17, 65],
        [40, 16, 80, 90],
        [2, 1, 600, 1030],
        [50, 1, 20, 10],
    ] {
        for _ in 0..2 {
            check(&cpu, r, extents, false);
        }
        for _ in 0..4 {
            check(&cpu, r, extents, true);
        }
    }
}

/// Every extent around those of a tile, on every instruction set, of all dtypes and forms.
#[test]
#[cfg(not(miri))]
fn edges_of_tiles() {
    for &level in Level::available() {
        let cpu = CpuBackend::with_level(level);
        let r = &mut Random(15);
        for m in 1..=40 {
            for n in 1..=40 {
                let k = [1, 2, 7, 8, 9, 31, 300][r.below(7)];
                let strided = r.once_in(2);
                check(&cpu, r, [1, m, n, k], strided);
            }
        }
        for extents in [[1, 70, 90, 600], [1, 2100, 37, 20], [1, 40, 2100, 20], [2, 100, 33, 257]] {
            (0..4).for_each(|i| check(&cpu, r, extents, i > 0));
        }
    }
}

/// Bias and functions, by every method: tiles, transposed results, split sums, rows and batches.
#[test]
fn epilogues() {
    let all = [Activation::Identity, Activation::Relu, Activation::Gelu, Activation::GeluTanh, Activation::Silu];
    let shapes: &[[usize; 4]] = if cfg!(miri) {
        &[[1, 3, 5, 4], [2, 1, 4, 3]]
    } else {
        &[
            [1, 37, 45, 70],
            [1, 20, 30, 300],
            [3, 5, 40, 6],
            [1, 1, 600, 30],
            [1, 50, 1, 30],
            [1, 8, 90, 2500],
            [2, 3, 4, 0],
        ]
    };
    for &level in Level::available() {
        let cpu = CpuBackend::with_level(level);
        let r = &mut Random(16);
        for (i, &[count, m, n, k]) in shapes.iter().enumerate() {
            for (j, dtype) in DType::FLOATS.into_iter().enumerate() {
                let activation = all[(i + j) % 5];
                let a = Tensor::strided(&cpu, r, dtype, &[count, m, k], true);
                let b = Tensor::strided(&cpu, r, dtype, &[count, k, n], true);
                let bias = Tensor::strided(&cpu, r, dtype, &[n], false);
                let out = Tensor::strided(&cpu, r, dtype, &[count, m, n], false);
                let given = if r.once_in(4) { None } else { Some(bias.view()) };
                let epilogue = Epilogue { bias: given, activation };
                cpu.library(&LibraryCall::MatMul { a: a.view(), b: b.view(), out: out.view(), epilogue }).unwrap();
                let sums = naive(&a.values(&cpu), &b.values(&cpu), [count, m, n, k]);
                let bias = given.map_or(vec![0.0; n], |_| bias.values(&cpu));
                let unit = [1e-14, 1e-6, 1e-3, 8e-3][j];
                for (i, (got, sum)) in out.values(&cpu).iter().zip(sums).enumerate() {
                    let x = sum + bias[i % n];
                    let want = activated(activation, x);
                    let near = (got - want).abs() <= unit * (want.abs() + x.abs().min(1.0));
                    assert!(
                        near,
                        "{activation:?} of {x} is {got}, not {want}: {dtype}, {count} x [{m}, {k}] x [{k}, {n}]"
                    );
                }
            }
        }
    }
}

#[test]
fn one_right_factor_for_a_batch() {
    let cpu = CpuBackend::new();
    let r = &mut Random(8);
    for [count, m, n, k] in [[3, 4, 5, 6], [5, 1, 4, 3], [2, 3, 1, 4]] {
        let a = Tensor::contiguous(&cpu, r, DType::F32, &[count, m, k]);
        let mut b = Tensor::contiguous(&cpu, r, DType::F32, &[1, k, n]);
        (b.shape[0], b.strides[0]) = (count, 0);
        let out = Tensor::contiguous(&cpu, r, DType::F32, &[count, m, n]);
        let before = out.bytes(&cpu);
        let wanted = naive(&a.values(&cpu), &b.values(&cpu), [count, m, n, k]);
        multiply(&cpu, a.view(), b.view(), out.view()).unwrap();
        out.expect(&cpu, &before, &wanted, "broadcast right factor");
    }
}

#[test]
fn an_empty_sum_is_zero() {
    let cpu = CpuBackend::new();
    check(&cpu, &mut Random(9), [2, 3, 4, 0], false);
    check(&cpu, &mut Random(10), [2, 0, 4, 3], false);
}

#[test]
fn factors_and_products_are_verified() {
    let cpu = CpuBackend::new();
    let r = &mut Random(11);
    let a = Tensor::contiguous(&cpu, r, DType::F32, &[1, 3, 4]);
    let b = Tensor::contiguous(&cpu, r, DType::F32, &[1, 4, 5]);
    let out = Tensor::contiguous(&cpu, r, DType::F32, &[1, 3, 5]);
    let fails = |a: &Tensor, b: &Tensor, out: &Tensor, part: &str| {
        let error = multiply(&cpu, a.view(), b.view(), out.view()).unwrap_err();
        assert!(error.to_string().contains(part), "{error}");
    };
    fails(&a, &a, &out, "`[1, 3, 4]` times `[1, 3, 4]`");
    let flat = Tensor::contiguous(&cpu, r, DType::F32, &[3, 4]);
    fails(&flat, &b, &out, "expected `[N, M, K]`");
    let ints = Tensor::contiguous(&cpu, r, DType::I64, &[1, 3, 4]);
    fails(&ints, &b, &out, "dtype `i64` cannot be used here; accepted: `f64`, `f32`, `f16`, `bf16`");
    let half = Tensor::contiguous(&cpu, r, DType::BF16, &[1, 4, 5]);
    fails(&a, &half, &out, "dtype `bf16` cannot be used here; accepted: `f32`");
    fails(&Tensor { offset: 5, ..a.clone() }, &b, &out, "the left factor reaches outside its buffer");
    fails(&a, &b, &Tensor { strides: vec![0, 0, 1], ..out.clone() }, "repeats elements");
    let short = Tensor::contiguous(&cpu, r, DType::F32, &[4]);
    let with = |bias: &Tensor| {
        let epilogue = Epilogue { bias: Some(bias.view()), ..Epilogue::default() };
        cpu.library(&LibraryCall::MatMul { a: a.view(), b: b.view(), out: out.view(), epilogue })
            .unwrap_err()
            .to_string()
    };
    assert!(with(&short).contains("the bias of `[1, 3, 5]` is `[4]`, expected `[5]`"));
    assert!(with(&Tensor { shape: vec![5], strides: vec![1], ..out.clone() }).contains("overlaps the bias"));
    assert!(with(&Tensor { shape: vec![5], offset: 14, ..short }).contains("the bias reaches outside its buffer"));
    let square = Tensor::contiguous(&cpu, r, DType::F32, &[1, 4, 4]);
    fails(&square, &square, &square, "overlaps a factor");
}

#[test]
#[cfg(not(miri))]
fn any_number_of_threads_gives_the_same_bits() {
    let cpu = CpuBackend::new();
    let r = &mut Random(12);
    for [count, m, n, k] in [
        [1, 300, 200, 400],
        [1, 64, 128, 4000],
        [1, 1, 2000, 1500],
        [12, 64, 64, 64],
        [1, 8, 900, 700],
        [1, 900, 700, 300],
    ]
    .repeat(3)
    {
        let dtype = r.float();
        let noise = |r: &mut Random, shape: &[usize]| {
            let t = Tensor::contiguous(&cpu, r, dtype, shape);
            let len: usize = t.shape.iter().product();
            let mut element = || match (dtype, (r.next() >> 40) as f32 * 1e-7) {
                (DType::F64, v) => f64::from(v).to_ne_bytes().to_vec(),
                (DType::F16, v) => f16::from_f32(v).to_ne_bytes().to_vec(),
                (DType::BF16, v) => bf16::from_f32(v).to_ne_bytes().to_vec(),
                (_, v) => v.to_ne_bytes().to_vec(),
            };
            cpu.write(&t.buffer, &(0..len).flat_map(|_| element()).collect::<Vec<_>>()).unwrap();
            t
        };
        let a = noise(r, &[count, m, k]);
        let b = noise(r, &[count, k, n]);
        let mut run = |threads: usize| {
            let out = Tensor::contiguous(&cpu, r, dtype, &[count, m, n]);
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| multiply(&cpu, a.view(), b.view(), out.view())).unwrap();
            out.bytes(&cpu)
        };
        let one = run(1);
        for threads in [2, 3, 5] {
            assert!(run(threads) == one, "{threads} threads differ on {dtype}, {count} x [{m}, {k}] x [{k}, {n}]");
        }
    }
}
