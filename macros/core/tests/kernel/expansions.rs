//! What a few kernels become: the kernel language, the derivative as formulas, and Rust.

use super::kernel;
use cotangent_ir::{Arg, Kind, Save, show, vjp};
use proc_macro2::TokenStream;

/// Pins a kernel of that name under the snapshot of the same name.
#[track_caller]
fn pin(name: &str, source: &str) {
    let k = kernel(source);
    let floats = k.args.iter().enumerate().filter(|(_, arg)| arg.kind == Kind::Float);
    let wrt: Vec<Arg> = floats.map(|(at, _)| Arg(at as u32)).collect();
    let d = vjp(&k, &wrt, Save::Useful).unwrap_or_else(|e| panic!("{e:?}\n{k}"));
    let item: TokenStream = source.parse().expect("tokens");
    let file = syn::parse2(cotangent_macros_core::kernel(TokenStream::new(), item)).expect("an expansion is items");
    let text = format!(
        "{k}\n// derivative\n{}\n{}\n// expansion\n{}",
        show(&d.forward),
        show(&d.backward.kernel),
        prettyplease::unparse(&file)
    );
    insta::assert_snapshot!(name, text);
}

#[test]
fn pointwise() {
    pin("expansion_pointwise", "fn swish(x: f32, beta: f32) -> f32 { x * sigmoid(beta * x) }");
}

#[test]
fn rows() {
    pin(
        "expansion_rows",
        "pub fn softmax(x: Tensor![R.., C]) -> Tensor![R.., C] {
            |r, i| {
                let m = max(|j| x[r][j]);
                exp(x[r][i] - m) / sum(|j| exp(x[r][j] - m))
            }
        }",
    );
}

#[test]
fn gather() {
    pin(
        "expansion_gather",
        "fn embedding(w: Tensor![V, C], ids: Tensor![Int; T]) -> Tensor![T, C] { |t, c| w[ids[t]][c] }",
    );
}
