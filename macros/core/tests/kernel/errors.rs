//! Every rule with a kernel that breaks it: the message, and the tokens that it points at.

use cotangent_macros_core::kernel_ir;
use proc_macro2::{Span, TokenStream, TokenTree};

/// A mistake: its message, and the first and the last of its tokens.
struct Mistake {
    message: String,
    first: Span,
    last: Span,
}

/// The mistakes of a kernel, `args` standing in `#[kernel(..)]`.
fn mistakes(args: &str, source: &str) -> Vec<Mistake> {
    let args: TokenStream = args.parse().expect("tokens");
    let item: TokenStream = source.parse().expect("tokens");
    match kernel_ir(args, item) {
        Ok(text) => panic!("no mistake in\n{source}\n{text}"),
        Err(tokens) => in_tokens(&tokens),
    }
}

/// Reads `::core::compile_error! { "message" }`s.
fn in_tokens(tokens: &TokenStream) -> Vec<Mistake> {
    let tokens: Vec<TokenTree> = tokens.clone().into_iter().collect();
    let mut found = vec![];
    for (at, token) in tokens.iter().enumerate() {
        let (TokenTree::Ident(name), Some(TokenTree::Group(group))) = (token, tokens.get(at + 2)) else { continue };
        if name == "compile_error" {
            let message: syn::LitStr = syn::parse2(group.stream()).expect("a message");
            found.push(Mistake { message: message.value(), first: name.span(), last: message.span() });
        }
    }
    found
}

/// The source with its mistakes, as a compiler would show them.
fn shown(args: &str, source: &str) -> String {
    let mut text = String::new();
    let mut mistakes = mistakes(args, source);
    mistakes.sort_by_key(|m| (m.first.start().line, m.first.start().column));
    for (number, line) in source.lines().enumerate() {
        text += &format!("{line}\n");
        for mistake in mistakes.iter().filter(|m| m.first.start().line == number + 1) {
            let (start, end) = (mistake.first.start().column, mistake.last.end());
            let end = if end.line == number + 1 { end.column } else { line.len() };
            let carets = "^".repeat(end.saturating_sub(start).max(1));
            let indent = " ".repeat(start);
            let message = mistake.message.replace('\n', &format!("\n{indent}"));
            text += &format!("{indent}{carets} {}:{start}\n{indent}{message}\n", number + 1);
        }
    }
    text
}

macro_rules! rules {
    ($file:ident { $($rule:ident: $($source:literal),+;)* }) => {
        #[test]
        fn $file() {
            let mut text = String::new();
            let mut rules = vec![];
            $(
                rules.push(stringify!($rule));
                $(text += &format!("// {}\n{}\n", stringify!($rule), shown("", $source));)+
            )*
            insta::assert_snapshot!(stringify!($file), text);
            complete(stringify!($file), &rules);
        }
    };
}

/// Every rule of a file of `check/` has its kernels.
#[track_caller]
fn complete(file: &str, tested: &[&str]) {
    let path = format!("{}/src/kernel/check/{file}.rs", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).expect("the rules");
    let rules = text.lines().filter_map(|line| line.strip_prefix("pub(crate) fn "));
    let rules: Vec<&str> = rules.filter_map(|rest| rest.split(['(', '<']).next()).collect();
    // Those of `#[kernel(..)]` are in the test `options`.
    let options = |rule: &str| {
        let own = ["unknown_option", "option_twice", "cpu_without_raw", "unrounded_elements"];
        own.contains(&rule) || rule.starts_with("raw_") || rule.starts_with("vjp_")
    };
    let untested: Vec<&&str> = rules.iter().filter(|r| !tested.contains(r) && !options(r)).collect();
    assert!(untested.is_empty(), "no kernel breaks {untested:?}");
}

rules! { signature {
    wrong_item: "struct K;", "impl K {}";
    plain_function:
        "fn k<T: Copy>(x: f32) -> f32 where T: Copy { x }",
        "const async unsafe extern \"C\" fn k(x: f32) -> f32 { x }";
    receiver: "fn k(&self, x: f32) -> f32 { x }", "fn k(self, x: f32) -> f32 { self + x }";
    parameter_attribute: "fn k(#[cfg(a)] x: f32) -> f32 { x }";
    parameter_pattern: "fn k(mut x: f32, (a, b): f32, _: f32) -> f32 { x }";
    duplicate_parameter: "fn k(x: f32, x: i64) -> f32 { x }";
    reference_parameter: "fn k(x: &Tensor![N], s: &mut f32, t: &'a f32) -> Tensor![N] { |i| x[i] * s * t }";
    unknown_type: "fn k(x: f64, n: u32, t: Tensor, s: &str, v: Vec<f32>) -> f32 { x + n }";
    unknown_result: "fn k(x: f32) -> (f64, usize, Tensor, Key) { x }";
    tuple_of_one: "fn k(x: f32) -> (f32,) { (x,) }";
    no_result: "fn k(x: f32) { x }", "fn k(x: f32) -> () { x }";
    no_parameters: "fn k() -> f32 { 1.0 }";
    pointwise_parameter: "fn k(x: f32, n: usize, key: Key) -> f32 { x + n }";
    scalar_result: "fn k(x: Tensor![N]) -> f32 { |i| x[i] }";
    unused_parameter: "fn k(x: Tensor![N], y: Tensor![N], n: usize, key: Key, _z: f32) -> Tensor![N] { |i| x[i] }";
    parameter_named_like_a_dim: "fn k(x: Tensor![N], N: usize) -> Tensor![N] { |i| x[i] + N }";
}}

rules! { syntax {
    loops: "fn k(x: f32) -> f32 { for i in 0..3 { x; } while true {} loop {} }";
    early_exit: "fn k(x: f32) -> f32 { return x; x?; break; continue }";
    match_: "fn k(x: f32) -> f32 { match x { _ => 1.0 } }";
    unsafe_block: "fn k(x: f32) -> f32 { unsafe { x } }";
    async_block: "fn k(x: f32) -> f32 { async { x }; x.await }";
    if_let: "fn k(x: f32) -> f32 { if let y = x { y } else { x } }";
    if_without_else: "fn k(x: f32) -> f32 { if x > 0.0 { x } }",
        "fn k(w: &mut Tensor![N], c: bool) { |i| { if c { w[i] = 0.0; } } }";
    macro_call: "fn k(x: f32) -> f32 { println!(\"{x}\"); assert!(true) }";
    item: "fn k(x: f32) -> f32 { const A: f32 = 1.0; x }";
    unsupported: "fn k(x: f32) -> f32 { (*x, &x, [x, x], x.0, S { x }, <f32>::MAX) }";
    no_effect: "fn k(x: f32) -> f32 { x + 1.0; x }";
    attribute: "fn k(x: f32) -> f32 { #[cfg(a)] let x = x; #[cfg(a)] x }",
        "fn k(x: &mut Tensor![N]) { |i| { #[cfg(a)] x[i] = 1.0; #[cfg(b)] x[i] += 1.0; } }";
    let_without_value: "fn k(x: f32) -> f32 { let y; x }";
    let_else: "fn k(x: f32) -> f32 { let y = x else { x }; y }";
    let_mut: "fn k(x: f32) -> f32 { let mut y = x; y }";
    pattern: "fn k(x: f32) -> f32 { let [a, b] = x; let S { c } = x; x }";
    let_type: "fn k(x: f32) -> f32 { let y: f64 = x; let (z, _): (Vec<f32>, _) = (x, x); y + z }";
    plain_closure: "fn k(x: Tensor![N]) -> Tensor![N] { move |i| -> f32 { x[i] } }";
    index_pattern: "fn k(x: Tensor![N]) -> Tensor![N] { |i: usize| x[0] }";
    cast_to_bool: "fn k(x: f32) -> bool { x as bool }";
    cast_type: "fn k(x: f32) -> f32 { x as f64 + x as Vec<u8> }";
    callee: "fn k(x: f32) -> f32 { (x + x)(x) + <f32 as T>::f(x) }";
    no_turbofish: "fn k(x: f32) -> f32 { exp::<f32>(x) }";
    turbofish: "fn k(x: f32) -> f32 { x.exp::<f32>() }";
    indexed_expression: "fn k(x: Tensor![N]) -> Tensor![N] { |i| (x[i] + 1.0)[i] + a::b[i] }";
    slice: "fn k(x: Tensor![N, M]) -> Tensor![N] { |i| x[i][..] + x[..2][i] }";
    tuple_index: "fn k(x: Tensor![N, M]) -> Tensor![N, M] { |i, j| x[(i, j)] }";
    range_form: "fn k(x: Tensor![N]) -> Tensor![] { sum(0..=N, |i| x[i]) + sum(.., |i| x[i]) }";
    assignment_as_value: "fn k(x: f32) -> f32 { exp(x = 2.0) + (x += 1.0) }";
    too_deep: "fn k(x: f32) -> f32 {
    x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x
    +x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x
    +x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x
}";
    literal_range: "fn k(n: i64) -> i64 { n + 9223372036854775808 + 1e400 as i64 + 1e39f32 as i64 }";
    literal_suffix: "fn k(x: f32) -> f32 { x + 1u8 + 1.0f16 }";
    literal_kind: "fn k(x: f32) -> f32 { x + \"a\" + 'b' }";
    unknown_constant: "fn k(x: f32) -> f32 { x + crate::EPS + f32::PI + i64::BITS }";
    arithmetic_on_bool: "fn k(x: f32) -> f32 { x + -true }";
}}

rules! { dims {
    dim_in_lower_case: "fn k(x: Tensor![n]) -> Tensor![n] { |i| x[i] }";
    nameless_group: "fn k(x: Tensor![.., C]) -> Tensor![.., C] { |r, i| x[r][i] }";
    group_and_dim: "fn k(x: Tensor![R.., C], y: Tensor![R]) -> Tensor![C..] { |i| x[0][i] + y[0] }";
    dim_over_zero: "fn k(x: Tensor![N / 0]) -> Tensor![] { sum(|i| x[i]) }";
    negative_dim: "fn k(x: Tensor![2 - 3]) -> Tensor![] { sum(|i| x[i]) }";
    large_dim: "fn k(x: Tensor![9000000000 * 9000000000]) -> Tensor![] { sum(|i| x[i]) }";
    unbound_dim: "fn k(x: Tensor![A + B], y: Tensor![C / 2]) -> Tensor![A] { |i| x[i] + y[0] }",
        "fn k(x: Tensor![N * N]) -> Tensor![N * N] { |i| x[i] }";
    unbound_result_dim: "fn k(x: Tensor![Width]) -> Tensor![Widht, M] { |i, j| x[i] }";
}}

rules! { names {
    unknown_name: "fn k(scale: f32) -> f32 { sacle + zzz }", "fn k(x: Tensor![N]) -> Tensor![N] { |i| y[i] + x[j] }",
        "fn k(x: f32) -> f32 { x * EPS }", "fn k(x: f32) -> f32 { x * self }";
    tensor_without_indices: "fn k(x: Tensor![N, M]) -> Tensor![N] { |i| x.exp() + x }";
    key_as_value: "fn k(key: Key, x: Tensor![N]) -> Tensor![N] { |i| x[i] + key }";
}}

rules! { calls {
    unknown_method: "fn k(x: f32) -> f32 { x.sgimoid() + x.frobnicate() }",
        "fn k(x: Tensor![N]) -> Tensor![] { x.sum() }";
    unknown_reduction: "fn k(x: Tensor![N]) -> Tensor![] { smu(|i| x[i]) }";
    recursion: "fn k(x: f32) -> f32 { k(x) + self::k(x) }";
    letters_swapped: "fn k(x: f32) -> f32 { gleu(x) + tahn(x) + sqrt(epx(x)) }";
    number_of_arguments: "fn k(x: f32) -> f32 { softplus(x, 1.0, 2.0, 3.0) + elu() }", "fn k(x: f32) -> f32 { exp(x, x) + x.pow() + select(x, x) + powi(x) + exp() }",
        "fn k(key: Key, x: Tensor![N]) -> Tensor![N] { |i| uniform(key) + x[i] }";
    call_without_arguments: "fn k(x: f32) -> f32 { x + other() }";
    or_zero_of_value: "fn k(x: Tensor![N]) -> Tensor![N] { |i| or_zero(x[i] + 1.0) + or_zero() }";
    key_expected: "fn k(n: i64, x: Tensor![N]) -> Tensor![N] { |i| x[i] * uniform(n, i) + uniform(x[i], i) }";
    len_of_dim: "fn k(x: Tensor![Width]) -> Tensor![] { len(x) + len(Widht) + len(3) }";
    literal_power: "fn k(x: f32, n: i64) -> f32 { x.powi(n) + x.powi(99999999999) + x.powi(2.0) + 2.pow(n) }";
    negative_power: "fn k(n: i64) -> i64 { n.powi(-1) }";
}}

rules! { kinds {
    number_expected: "fn k(c: bool) -> f32 { c + 1.0 }", "fn k(c: bool) -> f32 { exp(c) - -(c) }",
        "fn k(c: bool) -> bool { c < true }", "fn k(c: Tensor![Bool; N]) -> Tensor![Int;] { sum(|i| c[i]) }";
    truth_expected: "fn k(x: f32, n: i64) -> f32 { if x { x } else if x > 1.0 && n { 2.0 } else { select(n, x, x) } }",
        "fn k(x: Tensor![N]) -> Tensor![Bool;] { any(|i| x[i]) }";
    bits_of_float: "fn k(x: f32, n: i64) -> i64 { bitwise_and(n, x) + (n & x) + !x + (n << 2.0) }";
    operands_differ: "fn k(c: bool, n: i64) -> bool { (c & n) == c || c.eq(n) }", "fn k(c: bool, x: f32) -> bool { c == x }";
    branches_differ: "fn k(c: bool, x: f32) -> f32 { if c { x } else { c } }",
        "fn k(c: bool, x: f32) -> bool { select(c, c, x) }";
    tuples_differ: "fn k(c: bool, x: f32) -> (f32, f32) { if c { (x, x) } else { x } }";
    declared_kind: "fn k(x: f32) -> i64 { x }", "fn k(x: f32) -> bool { x }", "fn k(c: bool) -> f32 { c }",
        "fn k(x: f32) -> i64 { let n: i64 = x * 2.0; n }", "fn k(n: i64) -> bool { n }",
        "fn k(n: &mut Tensor![Int; N]) { |i| { n[i] = 0.5; } }";
    declared_tuple: "fn k(x: f32) -> f32 { let (a, b): (f32, f32) = x; let c: f32 = (x, x); x }";
    tuple_as_value: "fn k(x: f32) -> f32 { (x, x) + 1.0 }",
        "fn k(x: Tensor![N]) -> (Tensor![N], Tensor![N]) { (|i| (x[i], x[i]), |i| x[i]) }",
        "fn k(x: f32) -> (f32, f32) { (x, (x, x)) }";
    large_tuple: "fn k(x: f32) -> f32 { let t = (x, x, x, x); let t = (t, t, t, t, t); let t = (t, t, t, t); x }";
    pattern_parts: "fn k(x: f32) -> f32 { let (a, b) = x; let (c, d) = (x, x, x); a + b + c + d }";
    missing_value: "fn k(x: f32) -> f32 { let y = x; }", "fn k(x: f32) -> f32 { if x > 0.0 { } else { x } }";
    number_of_results: "fn k(x: f32) -> (f32, f32) { x }", "fn k(x: Tensor![N]) -> Tensor![N] { |i| (x[i], x[i]) }",
        "fn k(x: f32) -> (f32, f32) { (x, x, x) }";
    float_for_kernel: "fn k(c: bool) -> f32 { other(c, 1.0) }";
}}

rules! { index {
    not_an_index: "fn k(x: Tensor![N], s: f32) -> Tensor![N] { |i| x[i * 0.5] + x[s] + x[i > 2] }",
        "fn k(key: Key, x: Tensor![N]) -> Tensor![N] { |i| uniform(key, x[i]) }";
    index_of_scalar: "fn k(x: Tensor![N], s: f32) -> Tensor![N] { let t = s; |i| x[i] + s[i] + t[i] + i[i] }";
    number_of_indices: "fn k(x: Tensor![R.., C], s: Tensor![]) -> Tensor![R.., C] { |r, i| x[r] + x[r][i][i] + s[i] }";
    out_of_bounds: "fn k(x: Tensor![R.., N]) -> Tensor![R.., N] { |r, i| x[r][i + 1] + x[r][i - 1] }",
        "fn k(x: Tensor![N], w: Tensor![K]) -> Tensor![N - K + 2] { |i| sum(|k| x[i + k] * w[k]) }",
        "fn k(x: Tensor![N], y: Tensor![M]) -> Tensor![N] { |i| y[i] + x[i * i] + x[i / M] + x[3] }",
        "fn k(x: Tensor![N], y: Tensor![M]) -> Tensor![N] { |i| sum(0..M, |j| x[j]) + y[i % 2] }",
        "fn k(x: Tensor![N], y: Tensor![3]) -> Tensor![N] { |i| y[N * 5 / N - 5] + y[-1 / N + 1] + x[i / (N - 1)] }";
    range_mismatch: "fn k(x: Tensor![R, C], w: Tensor![D]) -> Tensor![R] { |r| sum(|j| x[r][j] * w[j]) }";
    ambiguous_range: "fn k(x: Tensor![N]) -> Tensor![N] { |i| sum(|k| x[i] * k) + sum(|_| 1.0) }",
        "fn k(x: Tensor![N, 3]) -> Tensor![N] { |i| sum(|k| x[i][k + 0 * k]) }";
    reduction_over_nothing: "fn k(x: Tensor![N]) -> Tensor![] { sum(|| x[0]) }";
    reduction_without_closure: "fn k(x: Tensor![N]) -> Tensor![] { sum(x[0]) + mean() + max(0..N, 1) + prod(0..N) }";
    number_of_ranges: "fn k(x: Tensor![N]) -> Tensor![] { sum(0..2, 0..3, |i| x[i]) + sum(0..2, |i, j| x[i]) }";
    duplicate_index: "fn k(x: Tensor![N, N]) -> Tensor![N, N] { |i, i| x[i][i] }",
        "fn k(x: Tensor![N, N]) -> Tensor![] { sum(|i, i| x[i][i]) }";
    range_expected: "fn k(x: Tensor![N]) -> Tensor![] { sum(N, |i| x[i]) }";
    range_start: "fn k(x: Tensor![N]) -> Tensor![] { sum(1..N, |i| x[i]) }";
    range_end: "fn k(x: Tensor![N], n: usize) -> Tensor![N] { |i| sum(0..n, |j| x[i]) + sum(0..i, |j| 1.0) }",
        "fn k(x: Tensor![N]) -> Tensor![N] { |i| x[i] + sum(0..1.5, |j| 1.0) }";
    scan_arguments: "fn k(x: Tensor![N]) -> Tensor![N] { |i| cumsum(|j| x[j]) + cumprod(x[i], i) }",
        "fn k(x: Tensor![N]) -> Tensor![N] { |i| cummax(|j, k| x[j], i) }";
    scan_place: "fn k(x: Tensor![N]) -> Tensor![N] { |i| cumsum(|j| x[j], i + 0 * N) + cumsum(|j| x[j], N - 1 - i) }";
    hidden_in_scan: "fn k(x: Tensor![N]) -> Tensor![N] { |i| { let a = x[i]; cumsum(|j| x[i] + a * x[j], i) } }",
        "fn k(x: &mut Tensor![N]) { |i| { x[i] = cumsum(|j| x[j], i); } }";
    misplaced_closure: "fn k(x: f32) -> f32 { let f = |y| y; exp(|i| x) }",
        "fn k(x: Tensor![N]) -> Tensor![N] { |i| |j| x[i] }";
    misplaced_range: "fn k(x: f32) -> f32 { let r = 0..3; x }";
    misplaced_assignment: "fn k(x: &mut Tensor![N]) { x[0] = 1.0; |i| { x[i] = sum(|j| { x[j] = 1.0; 1.0 }); } }";
    assignment_target: "fn k(x: &mut Tensor![N]) { |i| { x[i] = 1.0; x[i] + 1.0 = 2.0; } }";
    assignment_to_variable: "fn k(x: &mut Tensor![N]) { |i| { let y = x[i]; y = 2.0; x[i] = y; } }";
    assignment_without_mut:
        "fn k(x: Tensor![N], s: f32, w: &mut Tensor![N]) { |i| { x[i] = 1.0; s += x[i]; w[i] = s; } }";
    assignment_elsewhere: "fn k(x: &mut Tensor![N, N]) { |i, j| { x[j][i] = 1.0; x[i][0] = 2.0; } }";
    changed_tensor_elsewhere: "fn k(x: &mut Tensor![N]) { |i| { x[i] = or_zero(x[i - 1]) + sum(|j| x[j]); } }";
    never_assigned: "fn k(x: &mut Tensor![N], y: Tensor![N]) -> Tensor![N] { |i| x[i] + y[i] }";
}}

rules! { outputs {
    missing_closure: "fn k(x: Tensor![N]) -> Tensor![N] { x }", "fn k(x: Tensor![N]) -> Tensor![N] { let y = 1.0; }",
        "fn k(x: &mut Tensor![N]) { 1.0 }", "fn k(x: Tensor![N]) -> (Tensor![N], Tensor![]) { (|i| x[i], 1.0) }";
    closure_arity: "fn k(x: Tensor![R.., C]) -> Tensor![R.., C] { |i| x[0][i] }",
        "fn k(x: Tensor![N]) -> (Tensor![N], Tensor![N]) { (|i, j| x[i], |i| x[i]) }";
    number_of_closures: "fn k(x: Tensor![N]) -> (Tensor![N], Tensor![N]) { (|i| x[i], |i| x[i], |i| x[i]) }";
    outputs_differ: "fn k(x: Tensor![N, M]) -> (Tensor![N], Tensor![M]) { |i| (x[i][0], x[0][i]) }",
        "fn k(x: &mut Tensor![N], y: &mut Tensor![M]) { |i| { x[i] = 0.0; y[i] = 0.0; } }";
    value_without_result: "fn k(x: &mut Tensor![N]) { |i| { x[i] = 1.0; x[i] } }",
        "fn k(x: &mut Tensor![N]) { |i| x[i] }";
}}

#[test]
fn options() {
    let source = "fn k(x: f32) -> f32 { x }";
    let check = |args: &str, expected: &[&str]| {
        let found = mistakes(args, source).into_iter().map(|m| m.message).collect::<Vec<_>>();
        assert_eq!(found, expected, "{args}");
    };
    check("row", &["unknown option `row` for `#[kernel]`; did you mean `raw`?"]);
    check(
        "fuse = 3, vpj = f",
        &["unknown option `fuse` for `#[kernel]`", "unknown option `vpj` for `#[kernel]`; did you mean `vjp`?"],
    );
    check("vjp = a, vjp = b", &["option `vjp` is given twice"]);
    check(
        "raw, raw, cpu = f",
        &[
            "option `raw` is given twice",
            "code for GPUs is not supported yet\nhelp: leave the body of a raw kernel empty, and say `cpu = f`",
            "a raw kernel takes or returns tensors",
        ],
    );
    check("cpu = a::b", &["`cpu` is for raw kernels; say `raw, cpu = ..`, or leave it out"]);
    check("vjp", &["expected `=`"]);
    check("vjp = f(1)", &["expected identifier"]);
    let check = |args: &str, source: &str, expected: &str| {
        let found = mistakes(args, source).into_iter().map(|m| m.message).collect::<Vec<_>>();
        assert_eq!(found, [expected], "{args}");
    };
    check(
        "raw",
        "fn k(x: Tensor![N]) -> Tensor![N] {}",
        "a raw kernel needs a function for the CPU; code for GPUs is not supported yet\nhelp: say `raw, cpu = f`, with a \
         function of slices, `fn f(x: &[f32], y: &mut [f32], dims: [usize; 1])`",
    );
    check(
        "raw, cpu = f",
        "fn k(x: &mut Tensor![N]) {}",
        "`&mut` in raw kernels is not supported yet; return the changed tensor",
    );
    check(
        "unrounded",
        "fn k(x: f32) -> f32 { x }",
        "`unrounded` is for kernels on tensors: the result of a pointwise kernel has its operands' dtype",
    );
    check(
        "unrounded, unrounded",
        "fn k(x: Tensor![N]) -> Tensor![N] { |i| x[i] }",
        "option `unrounded` is given twice",
    );
    let source = "fn k(width: Tensor![N], n: usize) -> Tensor![N] { |i| width[i] * n }";
    check(
        "vjp = f(widht, y, ct)",
        source,
        "`widht` is nothing that a derivative can take; did you mean `width`?\nhelp: it takes `width`, `n`, `y`, `ct_y`, \
         `ct`",
    );
    check(
        "vjp = f",
        "fn k(x: &mut Tensor![N]) { |i| { x[i] = 0.0; } }",
        "a kernel that changes a tensor in place cannot have a derivative",
    );
    check(
        "vjp = f",
        "fn k(x: Tensor![Int; N]) -> Tensor![Int; N] { |i| x[i] }",
        "this derivative is never taken: the kernel needs a float among what it takes and among what it gives",
    );
    let source = "fn k(x: f32) -> f32 { x }";
    let item: TokenStream = source.parse().expect("tokens");
    assert!(kernel_ir("vjp = a::b".parse().expect("tokens"), item).is_ok());
}

#[test]
fn all_mistakes_in_one_pass() {
    let source = "fn k(x: Tensor![R.., C], w: Tensor![D], c: bool) -> Tensor![R.., C] {
    let a = c + 1.0;
    |r, i| {
        let b = zzz;
        x[r][i + 1] * a + w[r] * b.exq() + mean(|j| x[r][j] * w[j])
    }
}";
    insta::assert_snapshot!(shown("", source));
}

#[test]
fn without_native_code() {
    let source = "fn k(x: Tensor![N..]) -> Tensor![N..] { |i| cumsum(|j| x[j], i) }";
    let found = in_tokens(&cotangent_macros_core::kernel(TokenStream::new(), source.parse().expect("tokens")));
    let said: Vec<&str> = found.iter().map(|mistake| mistake.message.as_str()).collect();
    assert_eq!(said, ["a scan along any number of axes is not supported yet in native code"]);
    assert_eq!(&source[found[0].first.start().column..found[0].last.end().column], "cumsum");
}

#[test]
fn what_is_no_function() {
    for source in ["", "fn", "fn k(", "let x = 1;"] {
        let Ok(item) = source.parse::<TokenStream>() else { continue };
        assert!(kernel_ir(TokenStream::new(), item).is_err(), "{source}");
    }
}
