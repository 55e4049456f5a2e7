//! The tile driver against naive loops, over random shapes and layouts.

mod views;

use cotangent_cpu::CpuBackend;
use cotangent_hal::native::{In, Native, Out, Tile};
use cotangent_hal::{Access, Arg, Backend, DType, Domain, Error, Kernel, Operand, Role, Scalar, View, kernel};
use views::{Random, Tensor, cases, size};

kernel! {
    static AXPY = Pointwise "axpy" (x: Each F32, w: Each F32; a) -> (y: Each F32) |tile| {
        let a = Real::from(a);
        for i in 0..tile.1 {
            y[i] = a * x[i] + w[i];
        }
    }
}

kernel! {
    static MIXED = Pointwise "mixed" (x: Each F32, q: Each Bool, k: Each I64)
        -> (y: Each F32, p: Each Bool, i: Each I64) |tile| {
        for j in 0..tile.1 {
            y[j] = if q[j] { x[j] } else { k[j] as Real };
            p[j] = x[j] > 0.0;
            i[j] = (tile.0 + j) as i64;
        }
    }
}

kernel! {
    static UPDATE = Pointwise "update" (g: Each F32; rate) -> (@mut p: Each F32, @mut seen: Each Bool) |tile| {
        let rate = Real::from(rate);
        for i in 0..tile.1 {
            p[i] -= rate * g[i];
            seen[i] = seen[i] || g[i] > 0.0;
        }
    }
}

kernel! {
    static ROWS = Rows "rows" (x: Each F32, s: PerRow F32, w: Whole F32, q: PerRow Bool)
        -> (y: Each F32, total: PerRow F32, column: PerColumn F32, count: PerColumn I64, row: PerRow I64) |tile| {
        let mut sum = 0.0;
        for i in 0..tile.1 {
            y[i] = x[i] + s[0] + w[0];
            sum += x[i];
            column[i] += if q[0] { x[i] } else { 0.0 };
            count[i] += 1;
        }
        total[0] = sum;
        row[0] = tile.0 as i64;
    }
}

kernel! {
    static SCATTER = Rows "scatter" (to: PerRow I64, x: Each F32) -> (table: Whole F32) |tile| {
        let from = to[0] as usize * tile.1;
        for i in 0..tile.1 {
            table[from + i] += x[i];
        }
    }
}

fn products(shape: &[usize]) -> (usize, usize) {
    let n = shape.last().copied().unwrap_or(1);
    (shape[..shape.len().saturating_sub(1)].iter().product(), n)
}

/// A tensor of any float dtype.
fn floats(cpu: &CpuBackend, r: &mut Random, shape: &[usize], broadcast: bool) -> Tensor {
    let dtype = r.float();
    Tensor::strided(cpu, r, dtype, shape, broadcast)
}

/// A tensor of any integer dtype.
fn ints(cpu: &CpuBackend, r: &mut Random, shape: &[usize], broadcast: bool) -> Tensor {
    let dtype = r.int();
    Tensor::strided(cpu, r, dtype, shape, broadcast)
}

#[test]
fn pointwise() {
    let cpu = CpuBackend::new();
    for seed in cases(400) {
        let r = &mut Random(seed);
        let shape = r.shape(0, 8, size());
        let x = floats(&cpu, r, &shape, true);
        let w = floats(&cpu, r, &shape, true);
        let y = floats(&cpu, r, &shape, false);
        let before = y.bytes(&cpu);
        let wanted: Vec<f64> = x.values(&cpu).iter().zip(w.values(&cpu)).map(|(x, w)| 2.0 * x + w).collect();
        cpu.launch(&AXPY, &shape, &[x.input(), w.input(), y.output(), Arg::Scalar(Scalar::Float(2.0))]).unwrap();
        y.expect(&cpu, &before, &wanted, &format!("seed {seed}, {shape:?}, {x:?}, {w:?}"));
    }
}

#[test]
fn outputs_that_are_summed() {
    let cpu = CpuBackend::new();
    for seed in cases(300) {
        let r = &mut Random(seed + 7000);
        let mut shape = r.shape(1, 5, size());
        if r.once_in(4) {
            shape = vec![r.below(60) + 20, r.below(300) + 1000];
        }
        let [x, w] = [(); 2].map(|()| floats(&cpu, r, &shape, true));
        let own = &shape[r.below(shape.len() + 1)..];
        let dtype = r.float();
        let y = Tensor::contiguous(&cpu, r, dtype, own);
        let before = y.bytes(&cpu);
        let mut wanted = vec![0.0; own.iter().product()];
        for (i, (x, w)) in x.values(&cpu).iter().zip(w.values(&cpu)).enumerate() {
            let at = i % wanted.len();
            wanted[at] += 2.0 * x + w;
        }
        let strides = [vec![0; shape.len() - own.len()], y.strides.clone()].concat();
        let sum = Arg::Sum(View { shape: &shape, strides: &strides, ..y.view() });
        cpu.launch(&AXPY, &shape, &[x.input(), w.input(), sum, Arg::Scalar(Scalar::Float(2.0))]).unwrap();
        y.expect(&cpu, &before, &wanted, &format!("seed {seed}, {shape:?}, {own:?}, {x:?}, {w:?}"));
    }
    // A view that repeats elements between others is no sum.
    let x = Tensor::contiguous(&cpu, &mut Random(0), DType::F32, &[2, 3]);
    let one = Tensor::contiguous(&cpu, &mut Random(0), DType::F32, &[2]);
    let sum = Arg::Sum(View { shape: &[2, 3], strides: &[1, 0], ..one.view() });
    let refused = cpu.launch(&AXPY, &[2, 3], &[x.input(), x.input(), sum, Arg::Scalar(Scalar::Float(2.0))]);
    assert!(refused.is_err_and(|e| e.to_string().contains("trailing")));
}

#[test]
fn mixed_dtypes_and_positions() {
    let cpu = CpuBackend::new();
    for seed in cases(300) {
        let r = &mut Random(seed + 1000);
        let shape = r.shape(0, 5, size());
        let kinds = [r.float(), DType::Bool, r.int()];
        let [x, q, k] = kinds.map(|d| Tensor::strided(&cpu, r, d, &shape, true));
        let kinds = [r.float(), DType::Bool, r.int()];
        let outs = kinds.map(|d| Tensor::strided(&cpu, r, d, &shape, false));
        let before = outs.each_ref().map(|o| o.bytes(&cpu));
        let (xs, qs, ks) = (x.values(&cpu), q.values(&cpu), k.values(&cpu));
        let n = xs.len();
        let wanted = [
            (0..n).map(|i| if qs[i] != 0.0 { xs[i] } else { ks[i] }).collect::<Vec<_>>(),
            (0..n).map(|i| f64::from(xs[i] > 0.0)).collect(),
            (0..n).map(|i| i as f64).collect(),
        ];
        let [y, p, i] = &outs;
        let args = [x.input(), q.input(), k.input(), y.output(), p.output(), i.output()];
        cpu.launch(&MIXED, &shape, &args).unwrap();
        for ((out, before), wanted) in outs.iter().zip(&before).zip(&wanted) {
            out.expect(&cpu, before, wanted, &format!("seed {seed}, {shape:?}"));
        }
    }
}

#[test]
fn in_out_operands() {
    let cpu = CpuBackend::new();
    for seed in cases(200) {
        let r = &mut Random(seed + 2000);
        let shape = r.shape(0, 4, size());
        let g = floats(&cpu, r, &shape, true);
        let p = floats(&cpu, r, &shape, false);
        let seen = Tensor::strided(&cpu, r, DType::Bool, &shape, false);
        let (gs, ps, ss) = (g.values(&cpu), p.values(&cpu), seen.values(&cpu));
        let before = (p.bytes(&cpu), seen.bytes(&cpu));
        let args = [g.input(), p.output(), seen.output(), Arg::Scalar(Scalar::Float(0.5))];
        cpu.launch(&UPDATE, &shape, &args).unwrap();
        let wanted: Vec<f64> = ps.iter().zip(&gs).map(|(p, g)| p - 0.5 * g).collect();
        p.expect(&cpu, &before.0, &wanted, &format!("seed {seed}, {shape:?}"));
        let wanted: Vec<f64> = ss.iter().zip(&gs).map(|(&s, &g)| f64::from(s != 0.0 || g > 0.0)).collect();
        seen.expect(&cpu, &before.1, &wanted, &format!("seed {seed}, {shape:?}"));
    }
}

#[test]
fn rows_with_all_accesses() {
    let cpu = CpuBackend::new();
    for seed in cases(300) {
        let r = &mut Random(seed + 3000);
        let mut shape = r.shape(1, 6, size());
        if r.once_in(10) {
            let axis = r.below(shape.len());
            shape[axis] = 0;
        }
        let (rows, n) = products(&shape);
        let outer = &shape[..shape.len() - 1];
        let last = &shape[shape.len() - 1..];
        let x = floats(&cpu, r, &shape, true);
        let s = floats(&cpu, r, outer, true);
        let w = floats(&cpu, r, &[2, 3], true);
        let q = Tensor::strided(&cpu, r, DType::Bool, outer, true);
        let outs = [
            floats(&cpu, r, &shape, false),
            floats(&cpu, r, outer, false),
            floats(&cpu, r, last, false),
            ints(&cpu, r, last, false),
            ints(&cpu, r, outer, false),
        ];
        let before = outs.each_ref().map(|o| o.bytes(&cpu));
        let (xs, ss, ws, qs) = (x.values(&cpu), s.values(&cpu), w.values(&cpu), q.values(&cpu));
        let column = |j: usize| (0..rows).filter(|&i| qs[i] != 0.0).map(|i| xs[i * n + j]).sum();
        let wanted = [
            (0..rows * n).map(|i| xs[i] + ss[i / n] + ws[0]).collect::<Vec<_>>(),
            (0..rows).map(|i| xs[i * n..(i + 1) * n].iter().sum()).collect(),
            (0..n).map(column).collect(),
            vec![rows as f64; n],
            (0..rows).map(|i| i as f64).collect(),
        ];
        let [y, total, sums, count, row] = &outs;
        let args = [
            x.input(),
            s.input(),
            w.input(),
            q.input(),
            y.output(),
            total.output(),
            sums.output(),
            count.output(),
            row.output(),
        ];
        cpu.launch(&ROWS, &shape, &args).unwrap();
        for (i, (out, before)) in outs.iter().zip(&before).enumerate() {
            out.expect(&cpu, before, &wanted[i], &format!("seed {seed}, output {i} of {shape:?}"));
        }
    }
}

#[test]
fn whole_outputs_are_zeroed_and_filled_in_order() {
    let cpu = CpuBackend::new();
    for seed in cases(100) {
        let r = &mut Random(seed + 4000);
        let shape = r.shape(2, 3, size());
        let (rows, n) = products(&shape);
        let places = Tensor::contiguous(&cpu, r, DType::I64, &shape[..shape.len() - 1]);
        let ids: Vec<u8> = (0..rows).flat_map(|i| ((i * 7 % 5) as i64).to_ne_bytes()).collect();
        cpu.write(&places.buffer, &ids).unwrap();
        let x = floats(&cpu, r, &shape, true);
        let table = floats(&cpu, r, &[5, n], false);
        let before = table.bytes(&cpu);
        let xs = x.values(&cpu);
        let mut wanted = vec![0.0; 5 * n];
        for i in 0..rows * n {
            wanted[i / n * 7 % 5 * n + i % n] += xs[i];
        }
        cpu.launch(&SCATTER, &shape, &[places.input(), x.input(), table.output()]).unwrap();
        table.expect(&cpu, &before, &wanted, &format!("seed {seed}, {shape:?}"));
    }
}

#[test]
fn an_output_may_have_the_elements_of_an_input() {
    let cpu = CpuBackend::new();
    for seed in cases(200) {
        let r = &mut Random(seed + 5000);
        let shape = r.shape(0, 4, size());
        let x = floats(&cpu, r, &shape, false);
        let w = floats(&cpu, r, &shape, true);
        let wanted: Vec<f64> = x.values(&cpu).iter().zip(w.values(&cpu)).map(|(x, w)| 2.0 * x + w).collect();
        let before = x.bytes(&cpu);
        let two = Arg::Scalar(Scalar::Float(2.0));
        cpu.launch(&AXPY, &shape, &[x.input(), w.input(), x.output(), two]).unwrap();
        x.expect(&cpu, &before, &wanted, &format!("seed {seed}, {shape:?}"));
        let wanted: Vec<f64> = x.values(&cpu).iter().map(|x| 3.0 * x).collect();
        let before = x.bytes(&cpu);
        cpu.launch(&AXPY, &shape, &[x.input(), x.input(), x.output(), two]).unwrap();
        x.expect(&cpu, &before, &wanted, &format!("seed {seed}, {shape:?}, both inputs"));
    }
}

#[test]
fn slices_of_one_buffer_may_be_read_and_written() {
    let cpu = CpuBackend::new();
    let r = &mut Random(1);
    let all = Tensor::contiguous(&cpu, r, DType::F32, &[6, 10]);
    let part = |from: usize| Tensor { offset: from, shape: vec![6, 4], strides: vec![10, 1], ..all.clone() };
    let two = Arg::Scalar(Scalar::Float(2.0));
    let (x, y) = (part(0), part(5));
    let wanted: Vec<f64> = x.values(&cpu).iter().map(|x| 3.0 * x).collect();
    let before = all.bytes(&cpu);
    cpu.launch(&AXPY, &[6, 4], &[x.input(), x.input(), y.output(), two]).unwrap();
    y.expect(&cpu, &before, &wanted, "second half of the columns");
    let near = part(3);
    let error = cpu.launch(&AXPY, &[6, 4], &[x.input(), x.input(), near.output(), two]).unwrap_err();
    assert!(error.to_string().contains("the output `y` overlaps `x` other than element by element"), "{error}");
}

#[test]
fn arguments_are_verified() {
    let cpu = CpuBackend::new();
    let r = &mut Random(2);
    let x = Tensor::contiguous(&cpu, r, DType::F32, &[4, 3]);
    let y = Tensor::contiguous(&cpu, r, DType::F32, &[4, 3]);
    let i = Tensor::contiguous(&cpu, r, DType::I64, &[4, 3]);
    let two = Arg::Scalar(Scalar::Float(2.0));
    let fails = |shape: &[usize], args: &[Arg<'_>], part: &str| {
        let error = cpu.launch(&AXPY, shape, args).unwrap_err();
        assert!(error.to_string().contains(part), "{error}");
        error
    };
    fails(&[4, 3], &[x.input(), x.input(), y.output()], "3 arguments were given, expected 3 tensors and 1 scalars");
    fails(&[4, 3], &[x.input(), x.output(), y.output(), two], "`w` is an input");
    fails(&[4, 3], &[x.input(), x.input(), y.input(), two], "`y` is an output");
    fails(&[4, 3], &[x.input(), x.input(), y.output(), x.input()], "a tensor was given where a scalar is expected");
    let error = fails(&[4, 3], &[x.input(), i.input(), y.output(), two], "axpy (`w`): dtype `i64` cannot be used here");
    assert!(matches!(error, Error::Dtype { given: DType::I64, accepted, .. } if accepted == DType::FLOATS));
    let error = fails(&[3, 4], &[x.input(), x.input(), y.output(), two], "`x` is [4, 3], expected [3, 4]");
    assert!(matches!(error, Error::Shape { .. }));
    let outside = [
        Tensor { offset: 5, ..x.clone() },
        Tensor { strides: vec![-3, 1], ..x.clone() },
        Tensor { strides: vec![isize::MAX, 1], ..x.clone() },
        Tensor { offset: usize::MAX, ..x.clone() },
        Tensor { strides: vec![100, 1], ..x.clone() },
        Tensor { strides: vec![1], ..x.clone() },
    ];
    for bad in &outside {
        fails(&[4, 3], &[bad.input(), x.input(), y.output(), two], "`x`");
        fails(&[4, 3], &[x.input(), x.input(), bad.output(), two], "`y`");
    }
    let repeated = Tensor { strides: vec![0, 1], ..y.clone() };
    fails(&[4, 3], &[x.input(), x.input(), repeated.output(), two], "the output `y` repeats elements");
    let reversed = Tensor { offset: 9, strides: vec![-3, 1], ..x.clone() };
    fails(&[4, 3], &[x.input(), x.input(), reversed.output(), two], "overlaps");
    fails(&[usize::MAX, 2], &[x.input(), x.input(), y.output(), two], "too many elements");
    let nine = [1; 9];
    fails(&nine, &[x.input(), x.input(), y.output(), two], "9 axes");
}

#[test]
fn bytes_that_are_no_truth_values_read_as_true() {
    let cpu = CpuBackend::new();
    let r = &mut Random(3);
    let q = Tensor::contiguous(&cpu, r, DType::Bool, &[70]);
    cpu.write(&q.buffer, &(0..70u8).map(|i| i * 3).collect::<Vec<_>>()).unwrap();
    let x = Tensor::contiguous(&cpu, r, DType::F32, &[70]);
    let k = Tensor::contiguous(&cpu, r, DType::I64, &[70]);
    let outs = [DType::F32, DType::Bool, DType::I64].map(|d| Tensor::contiguous(&cpu, r, d, &[70]));
    let [y, p, i] = &outs;
    cpu.launch(&MIXED, &[70], &[x.input(), q.input(), k.input(), y.output(), p.output(), i.output()]).unwrap();
    assert_eq!(y.values(&cpu)[0], k.values(&cpu)[0]);
    assert_eq!(y.values(&cpu)[1..], x.values(&cpu)[1..]);
}

#[test]
#[cfg(not(miri))]
fn any_number_of_threads_gives_the_same_bits() {
    let cpu = CpuBackend::new();
    let r = &mut Random(6);
    for (shape, transposed) in [(vec![3000, 70], false), (vec![130, 900], true), (vec![20, 30, 400], false)] {
        let (rows, n) = products(&shape);
        let outer = &shape[..shape.len() - 1];
        let mut x = Tensor::contiguous(&cpu, r, DType::F32, &shape);
        if transposed {
            x.strides = vec![1, rows as isize];
        }
        let noise: Vec<u8> = (0..rows * n).flat_map(|_| ((r.next() >> 40) as f32 * 1e-5).to_ne_bytes()).collect();
        cpu.write(&x.buffer, &noise).unwrap();
        let s = Tensor::contiguous(&cpu, r, DType::F32, outer);
        let w = Tensor::contiguous(&cpu, r, DType::F32, &[1]);
        let q = Tensor::contiguous(&cpu, r, DType::Bool, outer);
        let mut run = |threads: usize| {
            let outs = [
                Tensor::contiguous(&cpu, r, DType::F32, &shape),
                Tensor::contiguous(&cpu, r, DType::F32, outer),
                Tensor::contiguous(&cpu, r, DType::F32, &[n]),
                Tensor::contiguous(&cpu, r, DType::I64, &[n]),
                Tensor::contiguous(&cpu, r, DType::I64, outer),
            ];
            let mut args = vec![x.input(), s.input(), w.input(), q.input()];
            args.extend(outs.iter().map(Tensor::output));
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| cpu.launch(&ROWS, &shape, &args)).unwrap();
            outs.map(|o| o.bytes(&cpu))
        };
        let one = run(1);
        for threads in [2, 3, 8] {
            assert!(run(threads) == one, "{threads} threads differ on {shape:?}");
        }
    }
}

fn negate(tile: &mut Tile<'_>) {
    if let ([In::F32(x)], [Out::F32(y)]) = (tile.ins, &mut *tile.outs) {
        y.iter_mut().zip(*x).for_each(|(y, x)| *y = -x);
    }
}

/// A kernel that has no loops over `f64`.
static SINGLE: Kernel = Kernel {
    name: "single",
    domain: Domain::Pointwise,
    operands: &[
        Operand { name: "x", role: Role::In, access: Access::Each, dtype: DType::F32 },
        Operand { name: "y", role: Role::Out, access: Access::Each, dtype: DType::F32 },
    ],
    scalars: 0,
    native: Native { fns: [negate, negate, negate] },
    native64: None,
};

#[test]
fn a_kernel_without_loops_over_f64_refuses_it() {
    let cpu = CpuBackend::new();
    let r = &mut Random(8);
    for dtype in [DType::F32, DType::F16, DType::BF16] {
        let (x, y) = (Tensor::contiguous(&cpu, r, dtype, &[9]), Tensor::contiguous(&cpu, r, DType::F32, &[9]));
        let wanted: Vec<f64> = x.values(&cpu).iter().map(|x| -x).collect();
        let before = y.bytes(&cpu);
        cpu.launch(&SINGLE, &[9], &[x.input(), y.output()]).unwrap();
        y.expect(&cpu, &before, &wanted, dtype.name());
    }
    let (x, y) = (Tensor::contiguous(&cpu, r, DType::F64, &[9]), Tensor::contiguous(&cpu, r, DType::F32, &[9]));
    let error = cpu.launch(&SINGLE, &[9], &[x.input(), y.output()]).unwrap_err().to_string();
    assert_eq!(error, "single (`x`): dtype `f64` cannot be used here; accepted: `f32`, `f16`, `bf16`");
}

/// A kernel that declares a dtype which no tile has.
static HALVES: Kernel = Kernel {
    name: "halves",
    domain: Domain::Pointwise,
    operands: &[Operand { name: "y", role: Role::Out, access: Access::Each, dtype: DType::BF16 }],
    scalars: 0,
    native: Native { fns: [negate, negate, negate] },
    native64: None,
};

#[test]
fn a_kernel_computes_in_single_precision_whatever_it_declares() {
    let cpu = CpuBackend::new();
    let y = Tensor::contiguous(&cpu, &mut Random(10), DType::BF16, &[9]);
    let error = cpu.launch(&HALVES, &[9], &[y.output()]).unwrap_err().to_string();
    let expected = "kernel `halves`: `y` declares `bf16`, but bodies see f32, i64 or bool, and bits as f16 or u8";
    assert!(error.ends_with(expected), "{error}");
}

kernel! {
    static MOVE_PAIRS = Pointwise "move" (x: Each F16) -> (y: Each F16) |tile| { y.copy_from_slice(x); }
}
kernel! {
    static MOVE_BYTES = Pointwise "move" (x: Each U8) -> (y: Each U8) |tile| { y.copy_from_slice(x); }
}

/// What is only moved is seen as bits, from any layout to any other, and never converted.
#[test]
fn bits_move_as_they_are() {
    let cpu = CpuBackend::new();
    for seed in cases(100) {
        let r = &mut Random(seed + 400);
        let shape = r.shape(0, 5, size());
        for (kernel, dtype) in [(&MOVE_PAIRS, DType::F16), (&MOVE_BYTES, DType::U8)] {
            let x = Tensor::strided(&cpu, r, dtype, &shape, true);
            let y = Tensor::strided(&cpu, r, dtype, &shape, false);
            let before = y.bytes(&cpu);
            cpu.launch(kernel, &shape, &[x.input(), y.output()]).unwrap();
            y.expect(&cpu, &before, &x.values(&cpu), &format!("seed {seed}, {dtype} {shape:?}"));
        }
    }
    let r = &mut Random(11);
    let [x, y] = [DType::BF16, DType::F16].map(|d| Tensor::contiguous(&cpu, r, d, &[9]));
    let error = cpu.launch(&MOVE_PAIRS, &[9], &[x.input(), y.output()]).unwrap_err().to_string();
    assert_eq!(error, "move (`x`): dtype `bf16` cannot be used here; accepted: `f16`");
}

/// One view of `f64` makes the launch one in `f64`; the others are converted, and rounded once on the way out.
#[test]
fn floats_beside_f64_are_computed_in_f64() {
    let cpu = CpuBackend::new();
    let r = &mut Random(9);
    let [x, w, y] = [DType::F32, DType::F64, DType::F64].map(|d| Tensor::contiguous(&cpu, r, d, &[1]));
    cpu.write(&x.buffer, &1f32.to_ne_bytes()).unwrap();
    cpu.write(&w.buffer, &1e-12f64.to_ne_bytes()).unwrap();
    let args = |out| [x.input(), w.input(), out, Arg::Scalar(Scalar::Float(0.1))];
    cpu.launch(&AXPY, &[1], &args(y.output())).unwrap();
    assert_eq!(y.values(&cpu), [0.1 + 1e-12]);
    let single = Tensor::contiguous(&cpu, r, DType::F32, &[1]);
    cpu.launch(&AXPY, &[1], &args(single.output())).unwrap();
    assert_eq!(single.values(&cpu), [f64::from((0.1 + 1e-12) as f32)]);
}
