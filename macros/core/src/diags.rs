//! Errors are collected, so that one pass reports all mistakes.

use proc_macro2::{Span, TokenStream};
use quote::ToTokens;
use std::fmt::Display;

/// The errors found so far.
///
/// Dropped without a [`gate`](Diags::gate) after the last error, it panics: a forgotten check fails the first test that
/// meets it, not a user.
#[derive(Default)]
pub(crate) struct Diags {
    errors: Vec<syn::Error>,
    gated: bool,
}

impl Diags {
    /// Reports a mistake in these tokens, from the first to the last.
    pub(crate) fn error(&mut self, at: &(impl ToTokens + ?Sized), message: impl Display) {
        self.push(syn::Error::new_spanned(at.to_token_stream(), message));
    }

    /// Reports a mistake at a span.
    pub(crate) fn error_at(&mut self, span: Span, message: impl Display) {
        self.push(syn::Error::new(span, message));
    }

    /// Takes over an error of the parser.
    pub(crate) fn push(&mut self, error: syn::Error) {
        self.gated = false;
        self.errors.push(error);
    }

    /// How many errors there are.
    pub(crate) fn len(&self) -> usize {
        self.errors.len()
    }

    /// The value of a result, or its error reported.
    pub(crate) fn take<T>(&mut self, result: syn::Result<T>) -> Option<T> {
        result.map_err(|error| self.push(error)).ok()
    }

    /// Ends a stage: all errors as `compile_error!` items, if there are any.
    pub(crate) fn gate(&mut self) -> Result<(), TokenStream> {
        self.gated = true;
        if self.errors.is_empty() {
            return Ok(());
        }
        Err(self.errors.iter().map(syn::Error::to_compile_error).collect())
    }
}

impl Drop for Diags {
    fn drop(&mut self) {
        if !self.gated && !std::thread::panicking() {
            #[allow(clippy::panic, reason = "a defect of the macro, found by its tests; it depends on no input")]
            {
                panic!("errors were collected and not gated");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use quote::quote;

    #[test]
    fn gate_reports_all() {
        let mut diags = Diags::default();
        assert!(diags.gate().is_ok());
        diags.error(&quote!(a b), "first");
        diags.error_at(Span::call_site(), "second");
        let text = diags.gate().map_err(|e| e.to_string());
        assert!(text.is_err_and(|t| t.contains("first") && t.contains("second")));
    }

    #[test]
    #[should_panic = "not gated"]
    fn forgotten_gate() {
        let mut diags = Diags::default();
        let _ = diags.gate();
        diags.error(&quote!(a), "late");
    }
}
