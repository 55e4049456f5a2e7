//! placeholder
use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::{ItemEnum, ItemStruct};

pub(crate) fn expand_struct(_args: TokenStream, item: ItemStruct) -> TokenStream {
    crate::fallback::with_errors(&item.to_token_stream(), TokenStream::new())
}

pub(crate) fn expand_enum(_args: TokenStream, item: ItemEnum) -> TokenStream {
    crate::fallback::with_errors(&item.to_token_stream(), TokenStream::new())
}
