//! The attribute macros of Cotangent. All of their logic is `cotangent-macros-core`.

use proc_macro::TokenStream;

/// Makes a model of a struct or an enum, and derives the gradients of its methods.
#[proc_macro_attribute]
pub fn model(args: TokenStream, item: TokenStream) -> TokenStream {
    cotangent_macros_core::model(args.into(), item.into()).into()
}

/// Makes an operation of a function of scalars, or of one in index notation, and derives its gradient.
#[proc_macro_attribute]
pub fn kernel(args: TokenStream, item: TokenStream) -> TokenStream {
    cotangent_macros_core::kernel(args.into(), item.into()).into()
}

/// Methods of tensors for functions of the table in `cotangent-ir`. For the runtime alone.
#[doc(hidden)]
#[proc_macro]
pub fn functions(items: TokenStream) -> TokenStream {
    cotangent_macros_core::functions(items.into()).into()
}
