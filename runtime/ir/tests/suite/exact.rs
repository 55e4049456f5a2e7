//! The builder gives what was written, to the bit.

use crate::common::Rng;
use cotangent_ir::{Binary, Builder, Id, Kind, Unary, Value, eval, link, parse, print};

/// Numbers that expose a change of order, of sign or of a constant.
const NUMBERS: [f64; 12] =
    [0.0, -0.0, 1.0, -1.0, 2.0, 0.1, -0.3, 1e16, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 5e-324];

/// One operation on what was made before, as a node and as a number.
fn step(b: &mut Builder, rng: &mut Rng, made: &[(Id, f64)]) -> (Id, f64) {
    let ((a, x), (c, y)) = (made[rng.below(made.len())], made[rng.below(made.len())]);
    let k = NUMBERS[rng.below(NUMBERS.len())];
    match rng.below(11) {
        0 => (b.add(a, c), x + y),
        1 => (b.sub(a, c), x - y),
        2 => (b.mul(a, c), x * y),
        3 => (b.div(a, c), x / y),
        4 => (b.neg(a), -x),
        5 => (b.scale(k, a), k * x),
        6 => (b.offset(a, k), x + k),
        7 => (b.power(a, 2), x * x),
        8 => (b.float(k), k),
        9 => {
            let less = b.lt(a, c);
            (b.select(less, a, c), if x < y { x } else { y })
        }
        _ => (b.unary(Unary::Abs, a), x.abs()),
    }
}

#[test]
fn floats_are_computed_as_written() {
    for seed in 0..2000 {
        let mut rng = Rng::new(seed);
        let mut b = Builder::new("k");
        let mut args = vec![];
        let mut made = vec![];
        for name in ["p", "q", "r"] {
            let (arg, value) = (b.arg(name, Kind::Float, &[]), NUMBERS[rng.below(NUMBERS.len())]);
            args.push(Value::float(&[], vec![value]));
            made.push((b.load(arg, &[]), value));
        }
        for _ in 0..12 {
            let next = step(&mut b, &mut rng, &made);
            made.push(next);
        }
        for (at, &(id, _)) in made.iter().enumerate() {
            b.output_over(&format!("y{at}"), &[], id);
        }
        let k = b.finish();
        let reopened = Builder::open(&k).unwrap().finish();
        for k in [&k, &link(&k).unwrap(), &reopened, &parse(&print(&k)).unwrap()] {
            let outs = eval(k, &args).unwrap();
            for (out, &(_, expected)) in outs.iter().zip(&made) {
                let found = out.floats()[0];
                let same = found.to_bits() == expected.to_bits() || (found.is_nan() && expected.is_nan());
                assert!(same, "seed {seed}, {}: {found:?} is not {expected:?}\n{k}", k.name);
            }
        }
    }
}

#[test]
fn integers_wrap_in_every_form() {
    const INTS: [i64; 8] = [0, 1, -1, 2, 7, i64::MAX, i64::MIN, 1 << 40];
    for seed in 0..2000 {
        let mut rng = Rng::new(seed);
        let mut b = Builder::new("k");
        let (p, q) = (b.arg("p", Kind::Int, &[]), b.arg("q", Kind::Int, &[]));
        let (x, y) = (INTS[rng.below(8)], INTS[rng.below(8)]);
        let mut made = vec![(b.load(p, &[]), x), (b.load(q, &[]), y)];
        for _ in 0..12 {
            let ((a, x), (c, y)) = (made[rng.below(made.len())], made[rng.below(made.len())]);
            let k = INTS[rng.below(8)];
            let next = match rng.below(9) {
                0 => (b.add(a, c), x.wrapping_add(y)),
                1 => (b.sub(a, c), x.wrapping_sub(y)),
                2 => (b.mul(a, c), x.wrapping_mul(y)),
                3 => (b.neg(a), x.wrapping_neg()),
                4 => {
                    (b.affine(k, &[(k, a), (3, c)]), k.wrapping_add(k.wrapping_mul(x)).wrapping_add(y.wrapping_mul(3)))
                }
                5 => (b.power(a, 3), x.wrapping_mul(x).wrapping_mul(x)),
                6 => (b.int(k), k),
                7 => (b.binary(Binary::Max, a, c), x.max(y)),
                _ => (b.binary(Binary::Xor, a, c), x ^ y),
            };
            made.push(next);
        }
        for (at, &(id, _)) in made.iter().enumerate() {
            b.output_over(&format!("y{at}"), &[], id);
        }
        let k = b.finish();
        let reopened = Builder::open(&k).unwrap().finish();
        for k in [&k, &reopened, &parse(&print(&k)).unwrap()] {
            let outs = eval(k, &[Value::int(&[], vec![x]), Value::int(&[], vec![y])]).unwrap();
            for (out, &(_, expected)) in outs.iter().zip(&made) {
                assert_eq!(out.ints()[0], expected, "seed {seed}\n{k}");
            }
        }
    }
}
