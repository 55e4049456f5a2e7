//! Random kernels: pointwise work, rows, strided taps, gathers, maxima, scans and softmax-like sharing.

use super::Rng;
use cotangent_ir::{Arg, Axis, Builder, Fold, Id, Kernel, Kind, Mode, Store, Unary, Value};

/// What operations need besides their operands.
struct Axes {
    r: Axis,
    columns: [Axis; 2],
    k: Axis,
    /// `x: [R, C]`.
    x: Arg,
}

/// A kernel of about a dozen operations on `x: [R, C]`, `w: [C]`, `z: [R, 2 C + 1]` and `t: [R]`.
pub(crate) fn kernel(seed: u64) -> Kernel {
    let mut rng = Rng::new(seed);
    let mut b = Builder::new(&format!("random_{seed}"));
    let symbolic = rng.below(3) > 0;
    let extent = |b: &mut Builder, name: &str, n: i64| {
        if symbolic {
            let dim = b.dim(name);
            b.size(dim)
        } else {
            b.int(n)
        }
    };
    let (rows, columns, taps) = (extent(&mut b, "R", 3), extent(&mut b, "C", 4), b.int(2));
    let wide = b.affine(1, &[(2, columns)]);
    let r = b.axis("r", rows);
    let columns_axes = [b.axis("i", columns), b.axis("j", columns)];
    let k = b.axis("k", taps);
    let x = b.arg("x", Kind::Float, &[rows, columns]);
    let axes = Axes { r, columns: columns_axes, k, x };
    let w = b.arg("w", Kind::Float, &[columns]);
    let z = b.arg("z", Kind::Float, &[rows, wide]);
    let t = b.arg("t", Kind::Int, &[rows]);

    let [i, j] = axes.columns.map(|a| b.index(a));
    let (ri, k) = (b.index(r), b.index(axes.k));
    let target = b.load(t, &[ri]);
    let (stride, offset) = (1 + rng.below(2) as i64, rng.below(2) as i64);
    let tap = b.affine(offset, &[(stride, i), (1, k)]);
    let padded = b.affine(-1, &[(stride, j), (1, k)]);
    let (even, odd) = (b.affine(0, &[(2, i)]), b.affine(1, &[(2, i)]));
    let mut pool = vec![
        b.load(x, &[ri, i]),
        b.load(x, &[ri, j]),
        b.load(w, &[i]),
        b.load(w, &[j]),
        b.load(z, &[ri, tap]),
        b.load(z, &[ri, even]),
        b.load(z, &[ri, odd]),
        b.load(x, &[ri, target]),
        b.load_or_zero(z, &[ri, padded]),
        b.load(x, &[target, i]),
    ];
    for _ in 0..4 + rng.below(9) {
        let a = pool[rng.below(pool.len())];
        let recent = pool.len() - 1 - rng.below(pool.len().min(4));
        let made = operation(&mut b, &mut rng, &axes, a, pool[recent]);
        pool.push(made);
    }
    let (last, before) = (pool[pool.len() - 1], pool[pool.len() - 2]);
    let out = b.mul(last, before);
    let over = b.free(out).to_vec();
    b.output_over("y", &over, out);
    if rng.below(3) == 0 {
        let over = b.free(before).to_vec();
        b.output_over("z2", &over, before);
    }
    // Rows added where `t` says, columns written backwards.
    if rng.below(3) == 0 {
        let over = [&b.free(before).to_vec()[..], &[r, axes.columns[0]]].concat();
        let over: Vec<Axis> = (0..b.axes().len() as u32).map(Axis).filter(|a| over.contains(a)).collect();
        let back = b.affine(-1, &[(1, columns), (-1, i)]);
        let store = Store { over: over.into(), at: vec![target, back].into(), node: before };
        b.output("added", &[rows, columns], Mode::Add, vec![store]);
    }
    b.finish()
}

fn operation(b: &mut Builder, rng: &mut Rng, axes: &Axes, x: Id, y: Id) -> Id {
    let along: Vec<Axis> = b.free(y).iter().copied().filter(|&a| a != axes.r).collect();
    let axis = if along.is_empty() { None } else { Some(along[rng.below(along.len())]) };
    let positive = |b: &mut Builder, c: f64| {
        let square = b.power(y, 2);
        b.offset(square, c)
    };
    match (rng.below(23), axis) {
        (0, _) => b.add(x, y),
        (1, _) => b.sub(x, y),
        (2 | 3, _) => b.mul(x, y),
        (4, _) => b.unary(Unary::Tanh, x),
        (5, _) => b.unary(Unary::Sigmoid, x),
        (6, _) => {
            let small = b.unary(Unary::Tanh, x);
            b.unary(Unary::Exp, small)
        }
        (7, _) => {
            let positive = positive(b, 0.5);
            b.unary(Unary::Rsqrt, positive)
        }
        (8, _) => {
            let positive = positive(b, 0.7);
            b.div(x, positive)
        }
        (9, _) => {
            let positive = positive(b, 1.0);
            b.unary(Unary::Log, positive)
        }
        (10, _) => {
            // Continuous where the operands meet.
            let (less, twice, both) = (b.lt(x, y), b.scale(2.0, x), b.add(x, y));
            b.select(less, twice, both)
        }
        (11, _) => b.binary(cotangent_ir::Binary::Max, x, y),
        (12 | 13, Some(axis)) => b.sum(&[axis], y),
        (14, Some(axis)) => b.mean(&[axis], y),
        (15, Some(axis)) => b.fold(Fold::Max, &[axis], y),
        (16, Some(_)) => b.fold(Fold::Min, &along, y),
        (17, Some(axis)) => b.scan(Fold::Sum, axis, rng.below(2) == 0, rng.below(2) == 0, y),
        (18, Some(axis)) if axis != axes.k => {
            let top = b.fold(Fold::Max, &[axis], y);
            let below = b.sub(y, top);
            let e = b.unary(Unary::Exp, below);
            let total = b.sum(&[axis], e);
            b.div(e, total)
        }
        (19, Some(axis)) if axis != axes.k => {
            let mean = b.mean(&[axis], y);
            let centred = b.sub(y, mean);
            let square = b.power(centred, 2);
            let variance = b.mean(&[axis], square);
            let positive = b.offset(variance, 0.3);
            let k = b.unary(Unary::Rsqrt, positive);
            b.mul(centred, k)
        }
        (20, Some(axis)) => {
            let near_one = b.scale(0.5, y);
            let near_one = b.unary(Unary::Cos, near_one);
            b.fold(Fold::Prod, &[axis], near_one)
        }
        (21, Some(axis)) if axis != axes.k => {
            let (row, place) = (b.index(axes.r), b.fold(Fold::ArgMin, &[axis], y));
            b.load(axes.x, &[row, place])
        }
        (22, _) => {
            // Bounded, or towers of powers are too steep for differences.
            let (base, exponent) = (b.unary(Unary::Sigmoid, y), b.unary(Unary::Tanh, x));
            b.binary(cotangent_ir::Binary::Pow, base, exponent)
        }
        (_, Some(_)) | (_, None) => b.unary(Unary::Sin, y),
    }
}

/// Arguments for a random kernel.
pub(crate) fn args(rng: &mut Rng) -> Vec<Value> {
    let shapes: [&[usize]; 3] = [&[3, 4], &[4], &[3, 9]];
    let mut args: Vec<Value> = shapes.iter().map(|s| rng.value(Kind::Float, s)).collect();
    args.push(rng.value(Kind::Int, &[3]));
    args
}
