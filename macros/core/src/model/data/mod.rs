//! `#[model]` on a struct or an enum.

mod ast;
mod check;
mod emit;
mod marks;
mod parse;

use crate::diags::Diags;
use crate::dump;
use ast::Model;
use proc_macro2::TokenStream;
use quote::quote;
use syn::{ItemEnum, ItemStruct};

/// Expands `#[model(args)] struct ..`.
pub(crate) fn expand_struct(args: TokenStream, item: ItemStruct) -> TokenStream {
    let mut diags = Diags::default();
    let model = parse::struct_(args, item, &mut diags);
    finish(&model, diags)
}

/// Expands `#[model(args)] enum ..`.
pub(crate) fn expand_enum(args: TokenStream, item: ItemEnum) -> TokenStream {
    let mut diags = Diags::default();
    let model = parse::enum_(args, item, &mut diags);
    finish(&model, diags)
}

/// A partial tree is checked and emitted as well, so that all mistakes are found at once and whatever else names the
/// model finds it.
fn finish(model: &Model, mut diags: Diags) -> TokenStream {
    check::model(model, &mut diags);
    match diags.gate() {
        Ok(()) => {
            let tokens = emit::model(model);
            let watch = dump::dump(&ast::text(&model.name), &tokens);
            quote!(#tokens #watch)
        }
        Err(errors) => {
            let stub = emit::stub(model);
            quote!(#stub #errors)
        }
    }
}
