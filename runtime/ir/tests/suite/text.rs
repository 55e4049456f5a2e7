//! The text form prints and parses back to an equal value.

use crate::common::{NAMED, kernel};
use cotangent_ir::{parse, print, show};

/// What `print` gives reads back equal, and prints the same again.
fn check(text: &str) {
    let first = kernel(text);
    let printed = print(&first);
    let second = parse(&printed).unwrap_or_else(|e| panic!("{e}\n{printed}"));
    assert_eq!(first, second, "\n{printed}");
    assert_eq!(printed, print(&second));
}

/// Parsing fails with this message.
fn fails(text: &str, message: &str) {
    let error = parse(text).expect_err(text);
    assert_eq!(error.to_string(), message);
}

#[test]
fn named_kernels_come_back() {
    NAMED.iter().for_each(|(_, text)| check(text));
}

#[test]
fn every_construct_comes_back() {
    check(
        "
        kernel f
        arg a: float
        out y: float
          y = a / 2.0 - nan(0x7ff8000000000001)
        kernel everything
        dim N, M
        axis i < N, j < 2 * N + M - 1, k < quot(M, 2)
        arg x: float[N, 2 * N + M - 1]
        arg t: int[N]
        arg b: bool[N]
        arg max: float
        %0 = x[i, j]^2 * max / (+max)^3 - 0.0 * t_float 
        out y: float[N] sparse
          y[t[i]] over i = max[j](x?[i - 1, rem(j, 3)] - 1.5 * max)
        out z: int add
          z[] over i = argmax[j, k](@f.y(x[i, j])) * (2 + N) * 3
        out w: bool[N]
          w[i] = and(not(b[i]), (cumprod[i; reverse, exclusive](t[i]) <= random(3, i)))
        out v: float[N]
          v[i] = select((t[i] == -9223372036854775808), inf, 1 / max - (2.0) * nan * (-2.0) + 3.0 * 1 / max)
        out u: int[N]
          u[i] = int(cumsum[i](float(t[i]))) - shl(1, t[i]) + cumsum[i; exclusive](t[i]^1)
        "
        .replace("t_float", "float(t[i])")
        .as_str(),
    );
}

#[test]
fn spans_come_back() {
    let mut k = kernel(crate::common::SOFTMAX);
    k.spans = (0..k.nodes.len() as u32).map(|n| n * 7).collect();
    assert_eq!(parse(&print(&k)).unwrap(), k);
}

#[test]
fn errors_name_line_and_expectation() {
    fails("", "line 0: expected `kernel`, found the end");
    fails("kernel k\naxis i < ", "line 2: expected an expression, found the end");
    fails("kernel k\ndim N, N", "line 2: expected the name of an extent that is not taken, found `N`");
    fails("kernel k\narg x: real", "line 2: expected `float`, `int` or `bool`, found `real`");
    fails("kernel k\nout y: int\n  y = q", "line 3: expected the name of an extent, an axis or an argument, found `q`");
    fails("kernel k\nout y: int\n  y = max(1)", "line 3: expected a function of 1 argument, found `max`");
    fails("kernel k\nout y: int\n  y = %3", "line 3: expected a name that is defined before, found `3`");
    fails("kernel k $", "line 1: expected a word, a number or a sign, found `$`");
    let deep = format!("kernel k\nout y: int\n  y = {}1", "(".repeat(1000));
    fails(&deep, "line 3: expected an expression that is nested less deeply, found `(`");
}

#[test]
fn long_chains_print_in_steps() {
    let mut b = cotangent_ir::Builder::new("chain");
    let mut x = b.float(1.0);
    for _ in 0..20_000 {
        x = b.unary(cotangent_ir::Unary::Sin, x);
    }
    b.output_over("y", &[], x);
    let k = b.finish();
    assert_eq!(parse(&print(&k)).unwrap(), k);
}

#[test]
fn reports_are_short() {
    let k = kernel(crate::common::LAYER_NORM);
    assert_eq!(
        show(&k),
        "%0 = x[r][i] - sum[i](x[r][i]) / C\n\
         y[r][i] = (%0 * rsqrt(sum[i](%0^2) / C + eps)) * w[i] + b[i]\n"
    );
}
