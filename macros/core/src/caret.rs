//! Where rustc points when a constant that we emit fails.

use proc_macro2::{Delimiter, Group, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote};

/// A call of `callee` whose span runs from the first to the last token of `at`. No identifier bears that span, so that
/// an editor's hover and go-to-definition stay with the user's own token.
pub(crate) fn call_at(at: &impl ToTokens, callee: TokenStream, argument: TokenStream) -> TokenStream {
    let (first, last) = ends(at);
    let group = |tokens: TokenStream, span: Span| {
        let mut group = Group::new(Delimiter::Parenthesis, tokens);
        group.set_span(span);
        group
    };
    let (callee, argument) = (group(callee, first), group(argument, last));
    quote!(#callee #argument)
}

/// `path<ty>` with the span of `ty`, by punctuation alone.
pub(crate) fn type_at(path: TokenStream, ty: &impl ToTokens) -> TokenStream {
    let (first, last) = ends(ty);
    let mut tokens: Vec<TokenTree> = quote!(#path<#ty>).into_iter().collect();
    for token in tokens.iter_mut().take_while(|t| matches!(t, TokenTree::Punct(_))) {
        token.set_span(first);
    }
    if let Some(end) = tokens.last_mut() {
        end.set_span(last);
    }
    tokens.into_iter().collect()
}

fn ends(at: &impl ToTokens) -> (Span, Span) {
    let tokens: Vec<TokenTree> = at.to_token_stream().into_iter().collect();
    let span = |token: Option<&TokenTree>| token.map_or_else(Span::call_site, TokenTree::span);
    (span(tokens.first()), span(tokens.last()))
}
