//! Derived gradients against central differences.

use crate::common::{
    CONV, CROSS_ENTROPY, Cotangents, EMBEDDING, NAMED, PRODUCT, RMS_NORM, Rng, SOFTMAX, args, check_gradient,
    check_gradient_sized, cotangents, derive, floats, gradients, kernel, objective, random, run, shapes,
};
use cotangent_ir::{
    Arg, Builder, Derivative, Id, Kernel, Kind, Save, Source, Stage, Unary, Value, extents, jvp, link, show, slopes,
    slopes_by_hand, verify, vjp, vjp_of_calls,
};
use std::sync::OnceLock;

#[test]
fn named_kernels() {
    for (seed, (_, text)) in NAMED.iter().enumerate() {
        let k = kernel(text);
        let args = args(&k, &mut Rng::new(seed as u64 + 1));
        check_gradient(&k, &args, 2e-8);
    }
}

/// A kernel on `x: [R, C]`, `y: [R, C]` and `t: int[R]` with the output `out` over `axes`.
fn on(axes: &str, expression: &str) -> Kernel {
    let dims: Vec<String> =
        axes.split_terminator(", ").map(|a| if a == "r" { "R".into() } else { "C".into() }).collect();
    let brackets = |list: &str| if list.is_empty() { String::new() } else { format!("[{list}]") };
    kernel(&format!(
        "kernel k\ndim R, C\naxis r < R, i < C, j < C\narg x: float[R, C]\narg y: float[R, C]\narg t: int[R]\n\
         out out: float{}\n  out{} = {expression}",
        brackets(&dims.join(", ")),
        brackets(axes),
    ))
}

#[test]
fn every_construct() {
    let cases = [
        ("r", "prod[i](x[r, i]) * sum[i](y[r, i])"),
        ("", "prod[r, i](x[r, i] + 0.1 * y[r, i])"),
        ("", "max[r, i](x[r, i] * y[r, i])"),
        ("r", "min[i](x[r, i]) + max[i](y[r, i])"),
        ("i", "max[r](x[r, i]) * x[rem(i, 2), i]"),
        ("r, i", "cumsum[i](x[r, i]) * cumsum[r; reverse, exclusive](y[r, i])"),
        ("r, i", "cumsum[i; exclusive](y[r, 0] * x[r, i])"),
        ("r, i", "cumsum[i](y[r, 0])"),
        ("r", "sum[i](select((i == t[r]), x[r, i]^2, 0.0)) * y[r, t[r]]"),
        ("r", "cumsum[i](x[r, i])_at"),
        ("r, i", "select((x[r, i] < y[r, i]), exp(x[r, i]), y[r, i] / (x[r, i]^2 + 1.0))"),
        ("r, i", "float(int(10.0 * x[r, i])) * y[r, i]"),
        ("r, i", "x[r, i]^2 + round(y[r, i])"),
        ("r, i", "x[r, i] / (y[r, i]^2 + 0.3)^2"),
        ("r, i", "x?[r - 1, i + 1] * x?[r + 1, i] + y[r, i]"),
        ("r, i", "x?[t[r] + r - 1, i] * y[r, i]"),
        ("r, i", "x[r, i] * float(i) + float(R) * y[r, i]"),
        ("r, i", "x[t[t[r]], i] * y[r, argmax[j](x[r, j])]"),
        ("i, j", "sum[r](x[r, i] * y[r, j]) * x[0, i]"),
        ("r, i", "0.0 * x[r, i] + 3.0"),
        ("r", "lgamma(sum[i](x[r, i]^2) + 0.5)"),
        ("r, i", "rem(x[r, i], y[r, i]^2 + 2.0) + atan2(x[r, i], y[r, i])"),
        ("r, i", "pow(x[r, i]^2 + 0.5, y[r, i])"),
    ];
    for (seed, (axes, expression)) in cases.into_iter().enumerate() {
        let k = on(axes, &expression.replace("cumsum[i](x[r, i])_at", "sum[j](select((j <= t[r]), x[r, j], 0.0))"));
        check_gradient(&k, &args(&k, &mut Rng::new(40 + seed as u64)), 1e-7);
    }
}

#[test]
fn axes_of_size_one_and_zero() {
    for (_, text) in NAMED.iter().filter(|(name, _)| !matches!(*name, "conv" | "stencil" | "windows")) {
        let k = kernel(text);
        let dims = vec![1; k.dims.len()];
        let mut rng = Rng::new(9);
        let values = |dims: &[i64], rng: &mut Rng| -> Vec<Value> {
            let shapes = shapes(&k, dims);
            let pairs = k.args.iter().zip(&shapes);
            pairs.map(|(a, s)| if a.kind == Kind::Int { zeros(s) } else { positive(rng, s) }).collect()
        };
        check_gradient(&k, &values(&dims, &mut rng), 1e-7);
        let none = vec![0; k.dims.len()];
        check_gradient(&k, &values(&none, &mut rng), 1e-7);
    }
}

fn zeros(shape: &[usize]) -> Value {
    Value::int(shape, vec![0; shape.iter().product()])
}

fn positive(rng: &mut Rng, shape: &[usize]) -> Value {
    Value::float(shape, (0..shape.iter().product()).map(|_| rng.float().abs() + 0.1).collect())
}

#[test]
fn products_with_zeros() {
    let k = kernel(PRODUCT);
    let x = Value::float(&[4, 3], vec![2.0, 3.0, 4.0, 0.0, 3.0, 4.0, 0.0, 0.0, 4.0, 1.0, -1.0, 0.0]);
    check_gradient(&k, &[x], 1e-7);
}

#[test]
fn what_is_not_selected_may_be_infinite() {
    let k = on("r, i", "select((0.0 < x[r, i]), 1 / x[r, i] + log(x[r, i]), 0.0) * y[r, i]");
    let x = Value::float(&[1, 3], vec![0.0, 2.0, -1.0]);
    let (y, t) = (Value::float(&[1, 3], vec![1.0, 2.0, 3.0]), zeros(&[1]));
    for save in [Save::Nothing, Save::Useful] {
        let d = derive(&k, &[Arg(0)], save);
        let ones = Value::float(&[1, 3], vec![1.0; 3]);
        let found = gradients(&k, &d, &[x.clone(), y.clone(), t.clone()], &vec![Some(ones)]);
        assert_eq!(found[0].floats(), [0.0, 2.0 * (-0.25 + 0.5), 0.0]);
    }
}

#[test]
fn what_is_detached_has_no_gradient() {
    let k = on("r, i", "detach(x[r, i]) * x[r, i]");
    let (x, t) = (Value::float(&[1, 2], vec![3.0, 4.0]), zeros(&[1]));
    let d = derive(&k, &[Arg(0), Arg(1)], Save::Useful);
    let ones = Value::float(&[1, 2], vec![1.0; 2]);
    let found = gradients(&k, &d, &[x.clone(), x, t], &vec![Some(ones)]);
    assert_eq!((found[0].floats(), found[1].floats()), (&[3.0, 4.0][..], &[0.0, 0.0][..]));
}

#[test]
fn a_gradient_has_a_gradient() {
    for text in [SOFTMAX, RMS_NORM, CONV, CROSS_ENTROPY, EMBEDDING] {
        let k = kernel(text);
        let d = derive(&k, &floats(&k), Save::Nothing);
        assert_eq!(d.stage, None);
        let backward = &d.backward.kernel;
        let mut rng = Rng::new(2);
        let dims = extents(&k, &args(&k, &mut rng)).unwrap();
        let sizes: Vec<i64> = dims.iter().map(|d| d.unwrap()).collect();
        let shapes = shapes(backward, &sizes);
        let values: Vec<Value> = backward
            .args
            .iter()
            .zip(&shapes)
            .map(
                |(a, s)| {
                    if a.kind == Kind::Float && s.is_empty() { positive(&mut rng, s) } else { rng.value(a.kind, s) }
                },
            )
            .collect();
        // An extent that only an output shows has to be given.
        check_gradient_sized(backward, &values, &dims, 1e-6);
    }
}

#[test]
fn forward_mode_agrees_with_reverse_mode() {
    let random = (0..300).map(|seed| (random::kernel(seed), random::args(&mut Rng::new(seed + 7))));
    let named = NAMED.iter().map(|(_, text)| {
        let k = kernel(text);
        let values = args(&k, &mut Rng::new(11));
        (k, values)
    });
    for (k, values) in named.chain(random) {
        let wrt = floats(&k);
        let forward = jvp(&k, &wrt).unwrap();
        assert!(verify(&forward).is_empty(), "{:?}", verify(&forward));
        let mut rng = Rng::new(77);
        let tangents: Vec<Value> = wrt.iter().map(|a| rng.value(Kind::Float, &values[a.0 as usize].shape)).collect();
        let changes = run(&forward, &[&values[..], &tangents[..]].concat());
        let outs = run(&k, &values);
        let cts = cotangents(&k, &outs, &mut rng);
        let float_cts: Cotangents = cts.iter().filter(|c| c.is_some()).cloned().collect();
        let there = objective(&changes, &float_cts);
        let d = derive(&k, &wrt, Save::Useful);
        let grads = gradients(&k, &d, &values, &cts);
        let back = objective(&grads, &tangents.into_iter().map(Some).collect());
        assert!((there - back).abs() < 1e-9 * (1.0 + there.abs()), "{there} is not {back}\n{k}\n{forward}");
    }
}

#[test]
fn missing_rules_are_named() {
    let fails = |expression: &str, wrt: &[Arg], expected: &str| {
        let mut k = on("r, i", expression);
        k.spans = (0..k.nodes.len() as u32).collect();
        let errors = vjp(&k, wrt, Save::Useful).expect_err(expression);
        assert_eq!(errors.len(), 1);
        assert_eq!(errors[0].to_string(), expected);
        assert_eq!(errors[0].span, errors[0].node.map(|id| id.0));
        let errors = jvp(&k, wrt).expect_err(expression);
        assert_eq!(errors[0].to_string(), expected);
    };
    fails(
        "cummax[i](x[r, i])",
        &[Arg(0)],
        "the derivative of a scan over max is not supported yet; mark it with `detach`, or use the operation `cummax`",
    );
    fails("trigamma(x[r, i])", &[Arg(0)], "the derivative of `trigamma` is not supported yet; mark it with `detach`");
    fails("x[r, i]", &[Arg(2)], "`t` cannot have a derivative: it is an integer, not a float");
    fails("x[r, i]", &[Arg(9)], "there is no argument 9");
    assert!(vjp(&on("r, i", "detach(cummax[i](x[r, i]))"), &[Arg(0)], Save::Useful).is_ok());
}

#[test]
fn a_detached_maximum_changes_nothing() {
    let plain = kernel(SOFTMAX);
    let detached = kernel(&SOFTMAX.replace("max[i](x[r, i])", "detach(max[i](x[r, i]))"));
    let form = |k| show(&derive(k, &[Arg(0)], Save::Useful).backward.kernel);
    assert_eq!(form(&detached), form(&plain));
}

#[test]
fn an_argument_may_be_asked_for_twice() {
    let d = derive(&kernel(SOFTMAX), &[Arg(0), Arg(0)], Save::Useful);
    let [first, second] = &d.backward.kernel.outs[..] else { panic!("{}", d.backward.kernel) };
    assert_eq!((first.name.as_ref(), second.name.as_ref()), ("dx", "dx_1"));
    assert_eq!(first.stores, second.stores);
}

#[test]
fn gradients_are_reproducible() {
    for (_, text) in NAMED {
        let k = kernel(text);
        let first = derive(&k, &floats(&k), Save::Useful);
        assert!((0..5).all(|_| derive(&k, &floats(&k), Save::Useful) == first));
    }
}

/// The partial derivatives of what `calls` calls, found by name.
fn partials(kernel: &'static Kernel, of: usize, by: usize) -> Option<&'static Kernel> {
    static SLOPES: OnceLock<Vec<Kernel>> = OnceLock::new();
    let wrt = [Arg(0), Arg(1)];
    let slopes = SLOPES.get_or_init(|| slopes(kernel, of, &wrt, |_, _, _| None).expect("it has no calls"));
    slopes.get(by).filter(|_| kernel.name == "mix")
}

#[test]
fn calls_may_stand_as_they_are() {
    let mut b = Builder::new("mix");
    let args = ["a", "b"].map(|name| b.arg(name, Kind::Float, &[]));
    let [x, y] = args.map(|arg| b.load(arg, &[]));
    let (sin, square) = (b.unary(Unary::Sin, x), b.mul(y, y));
    let product = b.mul(sin, square);
    b.output_over("y", &[], product);
    let callee: &'static Kernel = Box::leak(Box::new(b.finish()));

    let mut b = Builder::new("caller");
    let n = b.dim("N");
    let extent = b.size(n);
    let (arg, i, j) = (b.arg("x", Kind::Float, &[extent]), b.axis("i", extent), b.axis("j", extent));
    let [at_i, at_j] = [i, j].map(|axis| b.index(axis));
    let (x, other) = (b.load(arg, &[at_i]), b.load(arg, &[at_j]));
    let of = b.callee(callee);
    let inner = b.call(of, 0, &[x, other]);
    let sum = b.sum(&[j], inner);
    let outer = b.call(of, 0, &[sum, x]);
    b.output_over("y", &[i], outer);
    let k = b.finish();

    let linked = vjp(&k, &[Arg(0)], Save::Nothing).unwrap();
    let opaque = vjp_of_calls(&k, &[Arg(0)], Save::Nothing, partials).unwrap();
    assert!(linked.backward.kernel.callees.is_empty() && opaque.backward.kernel.callees.len() == 3);
    let (x, ct) = (Value::float(&[3], vec![0.3, -1.0, 0.8]), Value::float(&[3], vec![1.0, 0.5, -2.0]));
    let found =
        |d: &Derivative| gradients(&k, d, std::slice::from_ref(&x), &vec![Some(ct.clone())])[0].floats().to_vec();
    let opaque =
        Derivative { backward: Stage { kernel: link(&opaque.backward.kernel).unwrap(), ..opaque.backward }, ..opaque };
    for (a, b) in found(&opaque).iter().zip(found(&linked)) {
        assert!((a - b).abs() < 1e-12, "{a} {b}");
    }

    let errors = vjp_of_calls(&k, &[Arg(0)], Save::Nothing, |_, _, _| None).unwrap_err();
    assert_eq!(errors[0].to_string(), "the derivative of this call is not supported yet; mark it with `detach`");
}

#[test]
fn slopes_by_hand_are_calls() {
    let scalars = |name: &str, args: &[&str], outs: fn(&mut Builder, &[Id]) -> Vec<Id>| {
        let mut b = Builder::new(name);
        let args: Vec<Arg> = args.iter().map(|name| b.arg(name, Kind::Float, &[])).collect();
        let args: Vec<Id> = args.into_iter().map(|arg| b.load(arg, &[])).collect();
        for (at, out) in outs(&mut b, &args).into_iter().enumerate() {
            b.output_over(&format!("y{at}"), &[], out);
        }
        b.finish()
    };
    let primal = scalars("primal", &["a", "b"], |b, x| vec![b.mul(x[0], x[1]), b.add(x[0], x[1])]);
    // Of the first result, the cotangents of both, the second argument: what it computes is of no matter.
    let hand = scalars("hand", &["y0", "ct0", "ct1", "b"], |b, x| {
        let twice = b.scale(2.0, x[2]);
        let ct = b.add(x[1], twice);
        vec![b.mul(ct, x[0]), b.mul(ct, x[3])]
    });
    let hand: &'static Kernel = Box::leak(Box::new(hand));
    let takes = [Source::Out(0), Source::Cotangent(0), Source::Cotangent(1), Source::Arg(Arg(1))];
    let args = [Value::float(&[], vec![3.0]), Value::float(&[], vec![5.0])];
    for (of, expected) in [(0, [15.0, 5.0]), (1, [30.0, 10.0])] {
        let slopes = slopes_by_hand(&primal, of, &[Arg(0), Arg(1)], hand, &takes).unwrap();
        assert_eq!(slopes.iter().map(|k| run(k, &args)[0].floats()[0]).collect::<Vec<_>>(), expected);
    }
}
