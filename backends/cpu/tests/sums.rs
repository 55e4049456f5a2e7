//! Totals, and outputs that threads fill in parts.

mod views;

use cotangent_cpu::CpuBackend;
use cotangent_hal::{Backend, DType, Error, kernel};
use views::{Random, Tensor, cases, size};

kernel! {
    static TOTALS = Pointwise "totals" (x: Each F32, k: Each I64) -> (y: Each F32, sum: Total F32, count: Total I64) |tile| {
        for i in 0..tile.1 {
            y[i] = -x[i];
            sum[0] += x[i];
            count[0] += k[i] + 1;
        }
    }
}

kernel! {
    static ROWS = Rows "rows" (x: Each F32) -> (sum: Total F32, column: PerColumn F32) |tile| {
        for i in 0..tile.1 {
            sum[0] += x[i];
            column[i] += x[i];
        }
    }
}

kernel! {
    static SCATTER = Rows "scatter" (to: Whole I64, x: Whole F32) -> (table: Part F32) |tile| {
        let n = x.len() / to.len().max(1);
        for (row, to) in to.iter().enumerate() {
            for i in 0..n {
                if let Some(at) = table.get_mut((*to as usize).wrapping_sub(tile.2).wrapping_mul(n).wrapping_add(i)) {
                    *at += x[row * n + i];
                }
            }
        }
    }
}

kernel! {
    /// Adds to what is there.
    static UPDATE = Rows "update" (to: Whole I64, x: Whole F32) -> (@mut table: Part F32) |tile| {
        let n = x.len() / to.len().max(1);
        for (row, to) in to.iter().enumerate() {
            for i in 0..n {
                if let Some(at) = table.get_mut((*to as usize).wrapping_sub(tile.2).wrapping_mul(n).wrapping_add(i)) {
                    *at += x[row * n + i];
                }
            }
        }
    }
}

#[test]
fn totals_of_elements() {
    let cpu = CpuBackend::new();
    for seed in cases(200) {
        let r = &mut Random(seed + 100);
        let mut shape = r.shape(0, 5, size());
        if !shape.is_empty() && r.once_in(10) {
            shape[0] = 0;
        }
        let kinds = [r.float(), r.int()];
        let [x, k] = kinds.map(|d| Tensor::strided(&cpu, r, d, &shape, true));
        let kinds = [(r.float(), &shape[..]), (r.float(), &[]), (r.int(), &[])];
        let outs = kinds.map(|(d, shape)| Tensor::strided(&cpu, r, d, shape, false));
        let before = outs.each_ref().map(|o| o.bytes(&cpu));
        let (xs, ks) = (x.values(&cpu), k.values(&cpu));
        let wanted =
            [xs.iter().map(|x| -x).collect::<Vec<_>>(), vec![xs.iter().sum()], vec![ks.iter().map(|k| k + 1.0).sum()]];
        let [y, sum, count] = &outs;
        cpu.launch(&TOTALS, &shape, &[x.input(), k.input(), y.output(), sum.output(), count.output()]).unwrap();
        for (i, (out, before)) in outs.iter().zip(&before).enumerate() {
            out.expect(&cpu, before, &wanted[i], &format!("seed {seed}, output {i} of {shape:?}"));
        }
    }
}

#[test]
fn totals_beside_columns() {
    let cpu = CpuBackend::new();
    for seed in cases(100) {
        let r = &mut Random(seed + 200);
        let shape = r.shape(1, 4, size());
        let n = shape[shape.len() - 1];
        let x = Tensor::strided(&cpu, r, DType::F32, &shape, true);
        let kinds = [(DType::F32, &[][..]), (DType::F32, &shape[shape.len() - 1..])];
        let outs = kinds.map(|(d, shape)| Tensor::strided(&cpu, r, d, shape, false));
        let before = outs.each_ref().map(|o| o.bytes(&cpu));
        let xs = x.values(&cpu);
        let column = |j: usize| xs.iter().skip(j).step_by(n.max(1)).sum();
        let wanted = [vec![xs.iter().sum()], (0..n).map(column).collect()];
        let [sum, columns] = &outs;
        cpu.launch(&ROWS, &shape, &[x.input(), sum.output(), columns.output()]).unwrap();
        for (i, (out, before)) in outs.iter().zip(&before).enumerate() {
            out.expect(&cpu, before, &wanted[i], &format!("seed {seed}, output {i} of {shape:?}"));
        }
    }
}

/// The table for rows of `n` elements added at places that collide.
fn scattered(cpu: &CpuBackend, rows: usize, n: usize, [x, places, table]: [&Tensor; 3]) -> Vec<f64> {
    let first = table.shape[0];
    let ids: Vec<u8> = (0..rows).flat_map(|i| ((i * 7 % first) as i64).to_ne_bytes()).collect();
    cpu.write(&places.buffer, &ids).unwrap();
    let xs = x.values(cpu);
    let mut wanted = vec![0.0; first * n];
    for i in 0..rows * n {
        wanted[i / n * 7 % first * n + i % n] += xs[i];
    }
    wanted
}

#[test]
fn parts_of_any_layout() {
    let cpu = CpuBackend::new();
    for seed in cases(60) {
        let r = &mut Random(seed + 300);
        let (rows, n, first) = (1 + r.below(50), 1 + r.below(9), 1 + r.below(8));
        let places = Tensor::contiguous(&cpu, r, DType::I64, &[rows]);
        let kinds = [r.float(), r.float()];
        let x = Tensor::strided(&cpu, r, kinds[0], &[rows, n], true);
        let table = Tensor::strided(&cpu, r, kinds[1], &[first, n], false);
        let before = table.bytes(&cpu);
        let wanted = scattered(&cpu, rows, n, [&x, &places, &table]);
        cpu.launch(&SCATTER, &[1], &[places.input(), x.input(), table.output()]).unwrap();
        table.expect(&cpu, &before, &wanted, &format!("seed {seed}"));
        // What is there stays where it is asked for.
        cpu.launch(&UPDATE, &[1], &[places.input(), x.input(), table.output()]).unwrap();
        let twice: Vec<f64> = wanted.iter().map(|v| 2.0 * v).collect();
        table.expect(&cpu, &before, &twice, &format!("seed {seed}, updated"));
    }
}

#[test]
#[cfg(not(miri))]
fn any_number_of_threads_gives_the_same_bits() {
    let cpu = CpuBackend::new();
    let r = &mut Random(7);
    let (rows, n) = (3000, 70);
    let x = Tensor::contiguous(&cpu, r, DType::F32, &[rows, n]);
    let noise: Vec<u8> = (0..rows * n).flat_map(|_| ((r.next() >> 40) as f32 * 1e-5).to_ne_bytes()).collect();
    cpu.write(&x.buffer, &noise).unwrap();
    let k = Tensor::contiguous(&cpu, r, DType::I64, &[rows, n]);
    let places = Tensor::contiguous(&cpu, r, DType::I64, &[rows]);
    let probe = Tensor::contiguous(&cpu, r, DType::F32, &[41, n]);
    scattered(&cpu, rows, n, [&x, &places, &probe]);
    let mut run = |threads: usize| {
        let mut out = |dtype, shape: &[usize]| Tensor::contiguous(&cpu, r, dtype, shape);
        let outs = [out(DType::F32, &[rows, n]), out(DType::F32, &[]), out(DType::I64, &[]), out(DType::F32, &[41, n])];
        let [y, sum, count, table] = &outs;
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let args = [x.input(), k.input(), y.output(), sum.output(), count.output()];
            cpu.launch(&TOTALS, &[rows, n], &args)?;
            cpu.launch(&SCATTER, &[1], &[places.input(), x.input(), table.output()])
        })
        .unwrap();
        outs.map(|o| o.bytes(&cpu))
    };
    let one = run(1);
    for threads in [2, 3, 8] {
        assert!(run(threads) == one, "{threads} threads differ");
    }
}

#[test]
fn a_part_has_a_first_axis() {
    let cpu = CpuBackend::new();
    let r = &mut Random(8);
    let [places, x, table] = [(DType::I64, &[2][..]), (DType::F32, &[2]), (DType::F32, &[])]
        .map(|(dtype, shape)| Tensor::contiguous(&cpu, r, dtype, shape));
    let refused = cpu.launch(&SCATTER, &[1], &[places.input(), x.input(), table.output()]);
    assert!(matches!(refused, Err(Error::Backend { .. })), "{refused:?}");
}
