//! `COTANGENT_DUMP=name` prints one expansion, formatted; `COTANGENT_DUMP=*` prints all.

use proc_macro2::TokenStream;
use quote::quote;

/// Prints an expansion if it was asked for, and returns what makes cargo expand again when the wish changes.
pub(crate) fn dump(name: &str, expansion: &TokenStream) -> TokenStream {
    if let Ok(wish) = std::env::var("COTANGENT_DUMP")
        && wish.split(',').any(|w| w == name || w == "*")
    {
        #[allow(clippy::print_stderr, reason = "the user asked for it")]
        {
            eprintln!("// expansion of `{name}`\n{}", format(expansion));
        }
    }
    quote!(
        const _: ::core::option::Option<&::core::primitive::str> = ::core::option_env!("COTANGENT_DUMP");
    )
}

/// Tokens as a formatted file, or as they are where they are no items.
pub(crate) fn format(tokens: &TokenStream) -> String {
    match syn::parse2(tokens.clone()) {
        Ok(file) => prettyplease::unparse(&file),
        Err(_) => tokens.to_string(),
    }
}
