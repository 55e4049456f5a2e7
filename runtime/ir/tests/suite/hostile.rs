//! Damaged input: errors, never panics.

use crate::common::{NAMED, Rng, args, kernel, random};
use cotangent_ir::{Arg, Builder, Id, Kernel, Num, Run, Save, cost, eval, jvp, link, parse, print, show, verify, vjp};

/// Everything that takes a kernel.
fn use_it(k: &Kernel, rng: &mut Rng) {
    let faults = verify(k);
    faults.iter().for_each(|f| assert!(!f.to_string().is_empty()));
    let (text, sound) = (print(k), faults.is_empty());
    show(k);
    cost(k);
    let again = parse(&text);
    let wrt: Vec<Arg> = (0..k.args.len() as u32).map(Arg).collect();
    let floats: Vec<Arg> = crate::common::floats(k);
    assert_eq!(link(k).is_ok(), sound);
    assert!(vjp(k, &wrt, Save::Useful).is_err() || sound);
    if sound {
        let canonical = Builder::open(k).unwrap().finish();
        assert!(verify(&canonical).is_empty(), "{k}\n{canonical}");
        assert!(again.is_ok(), "{again:?}\n{text}");
        for save in [Save::Nothing, Save::Useful] {
            if let Ok(d) = vjp(k, &floats, save) {
                assert!(verify(&d.backward.kernel).is_empty(), "{k}\n{}", d.backward.kernel);
                assert!(verify(&d.forward).is_empty());
            }
        }
        if let Ok(forward) = jvp(k, &floats) {
            assert!(verify(&forward).is_empty());
        }
        if k.args.iter().all(|a| a.dims.len() < 3) {
            let values: Vec<_> = k.args.iter().map(|a| rng.value(a.kind, &[3, 4][..a.dims.len()])).collect();
            let _ = eval(k, &values);
        }
    } else {
        assert!(eval(k, &[]).is_err());
    }
}

#[test]
fn damaged_text() {
    let pieces =
        ["(", ")", "[", "]", "x", "i", "r", "sum", "1", "1.5", "*", "/", "^", "-", ";", "?", "%0", ",", "<", "out "];
    let mut rng = Rng::new(4);
    let mut read = 0;
    for round in 0..4000 {
        let source = kernel(NAMED[round % NAMED.len()].1);
        let mut text = print(&source);
        for _ in 0..1 + rng.below(2) {
            let at = rng.below(text.len());
            let end = (at + rng.below(4)).min(text.len());
            text.replace_range(at..end, pieces[rng.below(pieces.len())]);
        }
        if let Ok(k) = parse(&text) {
            read += 1;
            use_it(&k, &mut rng);
        }
    }
    assert!(read > 50, "only {read} texts could be read");
}

#[test]
fn damaged_nodes() {
    let mut rng = Rng::new(6);
    let mut sound = 0;
    for round in 0..4000u64 {
        let mut k =
            if round % 2 == 0 { random::kernel(round) } else { kernel(NAMED[round as usize / 2 % NAMED.len()].1) };
        for _ in 0..1 + rng.below(2) {
            damage(&mut k, &mut rng);
        }
        sound += u32::from(verify(&k).is_empty());
        use_it(&k, &mut rng);
    }
    assert!(sound > 200, "only {sound} kernels are sound");
}

fn damage(k: &mut Kernel, rng: &mut Rng) {
    let ids = k.nodes.len();
    let id = Id(rng.below(ids + 2) as u32);
    match rng.below(6) {
        0 => {
            let (from, to) = (rng.below(ids), rng.below(ids));
            k.nodes.to_mut()[to] = k.nodes[from];
        }
        1 => {
            let at = rng.below(ids);
            let node = k.nodes[at];
            k.nodes.to_mut()[at] = node.with(|_| id, |run| run);
        }
        2 => {
            let at = rng.below(ids);
            let run = Run { at: rng.below(k.links.len() + 1) as u32, len: rng.below(4) as u32 };
            k.nodes.to_mut()[at] = k.nodes[at].with(|id| id, |_| run);
        }
        3 if !k.links.is_empty() => {
            let at = rng.below(k.links.len());
            k.links.to_mut()[at].id = id;
        }
        4 if !k.links.is_empty() => {
            let at = rng.below(k.links.len());
            let numbers = [0, 1, u64::MAX, 2, 1 << 63, f64::NAN.to_bits(), 2.5f64.to_bits()];
            k.links.to_mut()[at].k = Num(numbers[rng.below(numbers.len())]);
        }
        _ => {
            let out = rng.below(k.outs.len());
            let store = &mut k.outs.to_mut()[out].stores.to_mut()[0];
            store.node = id;
        }
    }
}

/// A product of huge powers, and one of many.
#[test]
fn extreme_powers_and_chains() {
    let mut b = Builder::new("k");
    let x = b.arg("x", cotangent_ir::Kind::Float, &[]);
    let x = b.load(x, &[]);
    let mut tower = x;
    for _ in 0..20 {
        tower = b.power(tower, 1 << 15);
    }
    let mut chain = x;
    for _ in 0..3000 {
        let (sum, sin) = (b.offset(chain, 1.0), b.unary(cotangent_ir::Unary::Sin, chain));
        let (less, product) = (b.lt(sum, sin), b.mul(sum, sin));
        chain = b.select(less, product, sum);
    }
    b.output_over("tower", &[], tower);
    b.output_over("chain", &[], chain);
    let k = b.finish();
    let d = vjp(&k, &[Arg(0)], Save::Useful).unwrap();
    assert!(verify(&d.backward.kernel).is_empty());
    let values = args(&k, &mut Rng::new(1));
    eval(&d.forward, &values).unwrap();
}
