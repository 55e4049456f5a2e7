//! Functions that end a product or a convolution: one call computes both, before an element of the result is stored.

use crate::model::body::ir::{Body, Call, Callee, Declare, For, Operand, Plain, Region, Stmt};
use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};

/// Lets products and convolutions end in the function that stands behind them, where it alone reads them, and says
/// whether there were any. Last uses are marked.
pub(in crate::model::body) fn body(body: &mut Body) -> bool {
    region(&mut body.region)
}

fn region(inside: &mut Region) -> bool {
    let mut found = false;
    for stmt in &mut inside.stmts {
        found |= match stmt {
            Stmt::For(For { body, .. }) => region(body),
            Stmt::Branch(branch) => branch.arms.iter_mut().fold(false, |any, arm| region(&mut arm.region) | any),
            _ => false,
        };
    }
    let mut at = 1;
    while at < inside.stmts.len() {
        let [first, second] = &mut inside.stmts[at - 1..=at] else { return found };
        let (Some(product), Some(function)) = (first.call_mut(), second.call()) else {
            at += 1;
            continue;
        };
        let Some((name, then)) = ending(product, function) else {
            at += 1;
            continue;
        };
        product.callee = Callee::Operation { name };
        product.args.push(Operand::Plain(Plain { tokens: then, uses: vec![] }));
        (product.var, product.declare, product.value) = (function.var, function.declare, function.value);
        inside.stmts.remove(at);
        found = true;
    }
    found
}

/// The operation that ends in a function, and the function.
fn ending(product: &Call, function: &Call) -> Option<(Ident, TokenStream)> {
    let (Callee::Operation { name }, Callee::Operation { name: of }) = (&product.callee, &function.callee) else {
        return None;
    };
    let args = match name.to_string().as_str() {
        "matmul" => 2,
        "linear" => 3,
        "conv1d" | "conv2d" => 7,
        _ => return None,
    };
    let then = match of.to_string().as_str() {
        "relu" => quote!(Relu),
        "gelu" => quote!(Gelu),
        "gelu_tanh" => quote!(GeluTanh),
        "silu" => quote!(Silu),
        _ => return None,
    };
    let [Operand::Active { value, last: true, .. }] = &function.args[..] else { return None };
    // A variable that may be given another value later stays.
    let is_gone = *value == product.value && product.declare == Declare::Let;
    let fits = is_gone && product.args.len() == args && !product.boxed && !function.boxed;
    fits.then(|| (format_ident!("{name}__then"), quote!(::cotangent::__private::Activation::#then)))
}
