//! The rules of names.

use super::super::ast::text;
use super::did_you_mean;
use crate::diags::Diags;
use proc_macro2::Ident;

/// A name that stands for nothing.
pub(crate) fn unknown_name<'a>(name: &Ident, known: impl IntoIterator<Item = &'a str>, diags: &mut Diags) {
    let text = text(name);
    if text == "self" || text == "Self" {
        return diags.error(name, "a kernel is a free function and has no `self`");
    }
    let hint = did_you_mean(&text, known);
    let screams = text.starts_with(char::is_uppercase) && !text.chars().any(char::is_lowercase);
    if screams && hint.is_empty() {
        let help = "help: a constant is passed as a parameter, since the macro cannot know its value";
        return diags.error(name, format!("`{text}` is neither a dim nor a variable of this kernel\n{help}"));
    }
    diags.error(name, format!("unknown name `{text}`{hint}"));
}

/// A tensor where one element is needed.
pub(crate) fn tensor_without_indices(name: &Ident, rank: Option<usize>, diags: &mut Diags) {
    let indices: String = ["[i]", "[j]", "[k]", "[l]"].into_iter().cycle().take(rank.unwrap_or(1).min(4)).collect();
    diags.error(
        name,
        format!("`{name}` is a tensor, and a kernel computes with its elements, such as `{name}{indices}`"),
    );
}

/// A random stream where a number is needed.
pub(crate) fn key_as_value(name: &Ident, diags: &mut Diags) {
    diags.error(
        name,
        format!("`{name}` is a random stream; draw from it by `uniform({name}, i)` or `random_bits({name}, i)`"),
    );
}
