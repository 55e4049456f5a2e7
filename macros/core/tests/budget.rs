//! How much code the reference models become, in tokens: a budget that no clock decides.
#![allow(clippy::wildcard_enum_match_arm, reason = "most items are no models")]

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use std::path::Path;

/// The reference models, and the tokens that they become.
const BUDGET: &[(&str, usize)] = &[("mlp", 5998), ("transformer", 13911), ("deep", 137203)];

/// How far an expansion may move from its figure, in percent, before the figure is looked at again.
const MARGIN: usize = 10;

fn count(tokens: TokenStream) -> usize {
    tokens
        .into_iter()
        .map(|token| match token {
            TokenTree::Group(group) => 2 + count(group.stream()),
            TokenTree::Ident(_) | TokenTree::Punct(_) | TokenTree::Literal(_) => 1,
        })
        .sum()
}

/// Expands every `#[model]` item of a file.
fn expanded(path: &Path) -> usize {
    let text = std::fs::read_to_string(path).expect("a reference model");
    let file = syn::parse_file(&text).expect("Rust");
    let mut total = 0;
    for mut item in file.items {
        let attrs = match &mut item {
            syn::Item::Struct(it) => &mut it.attrs,
            syn::Item::Enum(it) => &mut it.attrs,
            syn::Item::Impl(it) => &mut it.attrs,
            syn::Item::Fn(it) => &mut it.attrs,
            _ => continue,
        };
        let Some(at) = attrs.iter().position(|a| a.path().is_ident("model")) else { continue };
        let args = match attrs.remove(at).meta {
            syn::Meta::List(list) => list.tokens,
            _ => TokenStream::new(),
        };
        let tokens = cotangent_macros_core::model(args, item.to_token_stream());
        assert!(!tokens.to_string().contains("compile_error"), "{} has mistakes", path.display());
        total += count(tokens);
    }
    total
}

#[test]
fn reference_models_keep_their_budget() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../benches/models");
    let mut off = vec![];
    for (name, budget) in BUDGET {
        let tokens = expanded(&folder.join(name).with_extension("rs"));
        if tokens.abs_diff(*budget) * 100 > budget * MARGIN {
            off.push(format!("`{name}` becomes {tokens} tokens, its budget is {budget} (within {MARGIN} %)"));
        }
    }
    assert!(off.is_empty(), "{}; a change that is worth it sets the figures anew", off.join("; "));
}
