//! Derived kernels are as small as hand-written ones.

use crate::common::{self, NAMED, derive, floats, kernel};
use cotangent_ir::{Arg, Builder, Cost, Kernel, Kind, Save, Source, Unary, cost, show};

#[test]
fn forms() {
    let mut text = String::new();
    for (name, source) in NAMED {
        let k = kernel(source);
        let d = derive(&k, &floats(&k), Save::Useful);
        text += &format!("== {name}: {}\n{}", counted(&k), show(&d.forward));
        if let Some(stage) = &d.stage {
            text += &format!("-- stage: {}\n{}", counted(&stage.kernel), show(&stage.kernel));
        }
        text += &format!("-- backward: {}\n{}\n", counted(&d.backward.kernel), show(&d.backward.kernel));
    }
    insta::assert_snapshot!(text);
}

fn counted(kernel: &Kernel) -> String {
    let Cost { operations, loads, reductions, calls } = cost(kernel);
    format!("{operations} operations, {loads} loads, {reductions} reductions, {calls} calls")
}

/// The exact text of derived kernels, modes and guards included.
#[test]
fn texts() {
    let mut text = String::new();
    for source in [common::LAYER_NORM, common::ROTARY, common::CONV_STRIDE, common::EMBEDDING, common::MAX_POOL] {
        let k = kernel(source);
        text += &format!("{k}\n{}\n", derive(&k, &floats(&k), Save::Useful).backward.kernel);
    }
    insta::assert_snapshot!(text);
}

#[test]
fn what_is_saved() {
    let check = |expression: &str, expected: &[Source]| {
        let k = kernel(&format!(
            "kernel k\ndim R, C\naxis r < R, i < C\narg x: float[R, C]\narg w: float[C]\nout y: float[R, C]\n  y[r, i] = {expression}"
        ));
        let d = derive(&k, &[Arg(0)], Save::Useful);
        assert_eq!(d.backward.sources, expected, "{expression}\n{}", show(&d.backward.kernel));
        let alone = derive(&k, &[Arg(0)], Save::Nothing);
        assert_eq!(alone.forward, k);
    };
    let (x, w, ct, y) = (Source::Arg(Arg(0)), Source::Arg(Arg(1)), Source::Cotangent(0), Source::Out(0));
    check("tanh(x[r, i])", &[ct, y]);
    check("sigmoid(x[r, i])", &[ct, y]);
    check("exp(x[r, i])", &[ct, y]);
    check("x[r, i] + 2.0", &[ct]);
    check("sin(x[r, i])", &[x, ct]);
    check("x[r, i] * sigmoid(x[r, i])", &[x, ct]);
    check("tanh(x[r, i] * w[i])", &[w, ct, y]);
    // The reduction is a second output of the forward kernel.
    check("x[r, i] / (sum[i](x[r, i]^2) + 1.0)", &[ct, y, Source::Out(1)]);
    // Only the place of the maximum is needed.
    check("w[i] * max[i](x[r, i])", &[w, ct, Source::Out(1)]);
}

/// The gradient of a chain of steps has a bounded number of operations a step, as a tape would.
#[test]
fn long_chains_stay_linear() {
    for steps in [10, 100, 400] {
        let mut b = Builder::new("chain");
        let n = b.dim("N");
        let n = b.size(n);
        let i = b.axis("i", n);
        let x = b.arg("x", Kind::Float, &[n]);
        let x = b.load_over(x, &[i]);
        let mut v = x;
        for step in 0..steps {
            let tanh = b.unary(Unary::Tanh, v);
            let product = b.mul(tanh, x);
            v = if step % 2 == 0 { b.add(product, v) } else { b.sub(product, tanh) };
        }
        b.output_over("y", &[i], v);
        let gradient = derive(&b.finish(), &[Arg(0)], Save::Useful).backward.kernel;
        let Cost { operations, calls, .. } = cost(&gradient);
        assert!(operations <= 12 * steps && calls <= steps, "{steps} steps: {}", counted(&gradient));
    }
}
