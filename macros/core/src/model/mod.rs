//! `#[model]` on a struct, an enum, an inherent impl or a function.

mod body;
mod data;

use crate::fallback;
use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::Item;

/// Expands `#[model(args)] item`.
///
/// On a struct or an enum it makes a model of it; on an inherent `impl` it derives the companions of its methods; on a
/// function that of the function. Mistakes become `compile_error!`s beside the item in plain Rust.
pub fn model(args: TokenStream, item: TokenStream) -> TokenStream {
    match syn::parse2::<Item>(item.clone()) {
        Ok(Item::Struct(it)) => data::expand_struct(args, it),
        Ok(Item::Enum(it)) => data::expand_enum(args, it),
        Ok(Item::Impl(it)) => body::expand_impl(args, it),
        Ok(Item::Fn(it)) => body::expand_fn(args, it),
        Ok(other) => fallback::with_errors(&item, wrong_item(&other).to_compile_error()),
        Err(error) => fallback::with_errors(&item, error.to_compile_error()),
    }
}

fn wrong_item(item: &Item) -> syn::Error {
    let keyword = item.to_token_stream().into_iter().next();
    syn::Error::new_spanned(keyword, "`#[model]` goes on a struct, an enum, an inherent `impl` or a `fn`")
}
