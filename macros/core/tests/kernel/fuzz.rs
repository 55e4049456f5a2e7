//! Broken tokens give a kernel or errors, never a panic.

use cotangent_ir::{parse, verify};
use cotangent_macros_core::kernel_ir;
use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use quote::quote;

const SAMPLES: &[&str] = &[
    "pub fn f(x: f32, n: i64, c: bool) -> (f32, i64, bool) {
        let (a, _): (f32, _) = (0.5 * x + n / 2, -1e-3);
        let y = if c && !(x > 1.0) { a.powi(3) % 2.0 } else { f32::consts::PI };
        (crate::swish(y).max(exp(x)) as f32, (n << 2 ^ 3) as i64, n >= 1 || x != 0.0)
    }",
    "fn g(x: Tensor![R.., 2*C], ids: Tensor![Int; T], m: Tensor![Bool; R..], w: Tensor![K], p: f32, key: Key)
        -> (Tensor![R.., C], Tensor![T], Tensor![])
    {
        let s = 1.0 / (1.0 - p);
        (
            |r, i| select(m[r], or_zero(x[r][2 * i + 1]) * s, uniform(key, r * C + i)) + logsumexp(|j| x[r][j]),
            |t| { let k = ids[t]; cumsum(|j| ids[j], t) - sum(0..K, |j| w[j] * k) - w[k] + x[0][(t % 2)] },
            || mean(|r, j| x[r][j]) + len(K) / argmax(0..2, |j| w[0] * j),
        )
    }",
    "fn h(w: &mut Tensor![N - K + 1], v: &mut Tensor![N - K + 1], g: Tensor![N], q: Tensor![K], lr: f32) {
        |i| { let d = sum(|k| g[i + k] * q[k]); v[i] = lerp(v[i], d, 0.9); w[i] -= lr * v[i]; }
    }",
];

/// Every stream that comes of leaving out, doubling or swapping one token, or of one of these in its place, at any
/// depth.
fn mutilated(tokens: &TokenStream, others: &[TokenTree]) -> Vec<TokenStream> {
    let list: Vec<TokenTree> = tokens.clone().into_iter().collect();
    let mut all = vec![];
    for at in 0..list.len() {
        let (before, after) = (&list[..at], &list[at + 1..]);
        let with = |middle: &[TokenTree]| before.iter().chain(middle).chain(after).cloned().collect::<TokenStream>();
        all.push(with(&[]));
        all.push(with(&[list[at].clone(), list[at].clone()]));
        all.push(with(&[grouped(list[at].clone().into())]));
        all.extend(others.iter().map(|other| with(std::slice::from_ref(other))));
        if let Some(next) = after.first() {
            let swapped = [next.clone(), list[at].clone()];
            all.push(before.iter().chain(&swapped).chain(&after[1..]).cloned().collect());
        }
        if let TokenTree::Group(group) = &list[at] {
            for inner in mutilated(&group.stream(), others) {
                all.push(with(&[TokenTree::Group(Group::new(group.delimiter(), inner))]));
            }
        }
    }
    all
}

/// What a `macro_rules!` makes of an argument.
fn grouped(tokens: TokenStream) -> TokenTree {
    TokenTree::Group(Group::new(Delimiter::None, tokens))
}

#[track_caller]
fn sound(item: TokenStream) -> bool {
    match kernel_ir(TokenStream::new(), item.clone()) {
        Ok(text) => {
            let kernel = parse(&text).unwrap_or_else(|e| panic!("{e}\n{item}\n{text}"));
            assert_eq!(verify(&kernel), [], "{item}\n{text}");
            true
        }
        Err(errors) => {
            assert!(errors.to_string().contains("compile_error"), "no reason is given for {item}");
            false
        }
    }
}

#[test]
fn samples_are_sound() {
    for sample in SAMPLES {
        let item: TokenStream = sample.parse().expect("tokens");
        let result = kernel_ir(TokenStream::new(), item);
        assert!(result.is_ok(), "{sample}\n{result:?}");
    }
}

#[test]
fn never_panics() {
    let others: TokenStream = "x i R 0 -9223372036854775808 1e39 (x, i) |i| {x} [i] & + .. as".parse().expect("tokens");
    let others: Vec<TokenTree> = others.into_iter().collect();
    let (mut count, mut good) = (0, 0);
    for sample in SAMPLES {
        let tokens: TokenStream = sample.parse().expect("tokens");
        for broken in mutilated(&tokens, &others) {
            good += usize::from(sound(broken));
            count += 1;
        }
    }
    assert!(count > 8000 && good > 300, "{good} of {count} streams");
}

#[test]
fn arguments_of_macros() {
    let [x, j, one, index, ty] = [quote!(x), quote!(j), quote!(1.0), quote!(x[j]), quote!(f32)].map(grouped);
    let sum = grouped(quote!(sum(|j| #x[#j] * -#one)));
    assert!(sound(quote! {
        fn k(x: Tensor![N], s: #ty) -> Tensor![N] {
            let t: #ty = #sum as #ty;
            |j| t * s + or_zero(#index)
        }
    }));
}

#[test]
fn deep_and_long_code() {
    let deep = |open: &str, inner: &str, close: &str, n: usize| open.repeat(n) + inner + &close.repeat(n);
    let body = |body: String| sound(format!("fn k(x: f32) -> f32 {{ {body} }}").parse().expect("tokens"));
    assert!(body(deep("exp(", "x", ")", 100)));
    assert!(!body(deep("exp(", "x", ")", 300)));
    assert!(!body(deep("-", "x", "", 300)));
    assert!(!body(deep("{", "x", "}", 300)));
    assert!(!body(deep("if x > 0.0 { 1.0 } else ", "{ x }", "", 300)));
    assert!(!body(deep("x + ", "x", "", 1000)));
    assert!(body(deep("let x = x * x + 1.0;", "x", "", 5000)));
    let indices = deep("let i = i * i + 1;", "x[i]", "", 3000);
    assert!(!sound(format!("fn k(x: Tensor![N]) -> Tensor![N] {{ |i| {{ {indices} }} }}").parse().expect("tokens")));
    let parts = deep("let i = i / 2 + i / 3 + i % 5;", "x[i]", "", 100);
    assert!(!sound(format!("fn k(x: Tensor![N]) -> Tensor![N] {{ |i| {{ {parts} }} }}").parse().expect("tokens")));
    assert!(!body(deep("let x = (x, x);", "1.0", "", 100)));
    let sums = deep("sum(|i| x[i] + ", "1.0", ")", 70);
    assert!(!sound(format!("fn k(x: Tensor![N]) -> Tensor![] {{ {sums} }}").parse().expect("tokens")));
    let dims = deep("(A + B) * ", "C", "", 40);
    assert!(!sound(format!("fn k(x: Tensor![{dims}]) -> Tensor![] {{ sum(|i| x[i]) }}").parse().expect("tokens")));
}
