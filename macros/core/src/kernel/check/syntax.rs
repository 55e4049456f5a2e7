//! The rules that the syntax of a body alone decides.

use super::super::ast::At;
use crate::diags::Diags;
use proc_macro2::Span;
use quote::ToTokens;
use syn::{Attribute, Item, Lit, Pat, Path, PathArguments, Type};

/// A loop.
pub(crate) fn loops(at: Span, word: &str, diags: &mut Diags) {
    diags.error_at(at, format!("a kernel has no `{word}`; use a reduction such as `sum(0..N, |k| ..)`"));
}

/// A jump out of the body.
pub(crate) fn early_exit(at: Span, word: &str, diags: &mut Diags) {
    diags.error_at(at, format!("a kernel has no `{word}`; the value of a block is its last expression"));
}

/// A `match`.
pub(crate) fn match_(at: &impl ToTokens, diags: &mut Diags) {
    diags.error(at, "a kernel has no `match`; use `if`/`else`");
}

/// `unsafe { .. }`.
pub(crate) fn unsafe_block(at: &impl ToTokens, diags: &mut Diags) {
    diags.error(at, "a kernel has no `unsafe`");
}

/// `async { .. }`, or `.await`.
pub(crate) fn async_block(at: &impl ToTokens, diags: &mut Diags) {
    diags.error(at, "a kernel has no `async`");
}

/// `if let`.
pub(crate) fn if_let(at: &impl ToTokens, diags: &mut Diags) {
    diags.error(at, "a kernel has no `if let`; the condition of an `if` is a truth value");
}

/// An `if` that has no value in one case.
pub(crate) fn if_without_else(at: &impl ToTokens, diags: &mut Diags) {
    let help = "help: assign a chosen value, as in `w[i] = if c { a } else { w[i] }`";
    diags.error(at, format!("an `if` in a kernel is a value and needs an `else`\n{help}"));
}

/// A macro.
pub(crate) fn macro_call(mac: &syn::Macro, diags: &mut Diags) {
    diags.error(&mac.path, "a macro cannot be called in a kernel");
}

/// An item inside of the body.
pub(crate) fn item(item: &Item, diags: &mut Diags) {
    let keyword = item.to_token_stream().into_iter().next();
    diags.error(&keyword, "items cannot be declared in a kernel; move them out of it");
}

/// An expression of Rust that kernels do not have.
pub(crate) fn unsupported(at: &impl ToTokens, diags: &mut Diags) {
    diags.error(
        at,
        "this expression has no meaning in a kernel, whose values are numbers, truth values and tuples of them",
    );
}

/// A statement whose value is dropped.
pub(crate) fn no_effect(at: &impl ToTokens, diags: &mut Diags) {
    diags.error(at, "this statement does nothing: its value is dropped");
}

/// An attribute on a statement.
pub(crate) fn attribute(attr: &Attribute, diags: &mut Diags) {
    diags.error(attr, "attributes cannot stand in a kernel");
}

/// `let x;`.
pub(crate) fn let_without_value(at: &impl ToTokens, diags: &mut Diags) {
    diags.error(at, "give the variable its value where it is declared");
}

/// `let .. else`.
pub(crate) fn let_else(at: &impl ToTokens, diags: &mut Diags) {
    diags.error(at, "a kernel has no `let .. else`");
}

/// `let mut`.
pub(crate) fn let_mut(at: &impl ToTokens, diags: &mut Diags) {
    diags.error(at, "variables of a kernel do not change; bind the new value by another `let` of the same name");
}

/// A pattern other than names and tuples of them.
pub(crate) fn pattern(at: &impl ToTokens, diags: &mut Diags) {
    diags.error(at, "`let` binds a name, or a tuple of names");
}

/// The type of a variable.
pub(crate) fn let_type(ty: &Type, diags: &mut Diags) {
    diags.error(ty, "a variable of a kernel is `f32`, `i64`, `usize` or `bool`");
}

/// A closure with more than indices and a body.
pub(crate) fn plain_closure(at: &At, diags: &mut Diags) {
    diags.error(at, "a closure over indices is plain: `|i, j| ..`");
}

/// An index that is no name.
pub(crate) fn index_pattern(pat: &Pat, diags: &mut Diags) {
    diags.error(pat, "an index is a plain name, as in `|i, j| ..`");
}

/// A cast to `bool`.
pub(crate) fn cast_to_bool(ty: &Type, diags: &mut Diags) {
    diags.error(ty, "a number cannot be cast to `bool`; compare it, as in `x != 0`");
}

/// A cast to anything else.
pub(crate) fn cast_type(ty: &Type, diags: &mut Diags) {
    diags.error(ty, "a value of a kernel is cast to `f32`, `i64` or `usize`");
}

/// A call of something that is no path.
pub(crate) fn callee(at: &impl ToTokens, diags: &mut Diags) {
    diags.error(at, "a call in a kernel names a function or another kernel, as in `exp(x)` or `crate::ops::swish(x)`");
}

/// `f::<T>(x)`.
pub(crate) fn no_turbofish(path: &Path, diags: &mut Diags) {
    for segment in &path.segments {
        if let PathArguments::AngleBracketed(_) | PathArguments::Parenthesized(_) = segment.arguments {
            turbofish(&segment.arguments, diags);
        }
    }
}

/// `x.f::<T>()`.
pub(crate) fn turbofish(at: &impl ToTokens, diags: &mut Diags) {
    diags.error(at, "the functions of a kernel have no generics");
}

/// `f(x)[i]`.
pub(crate) fn indexed_expression(at: &impl ToTokens, diags: &mut Diags) {
    diags.error(at, "only a tensor parameter can be indexed, as in `x[i][j]`");
}

/// `x[..]`.
pub(crate) fn slice(at: &impl ToTokens, diags: &mut Diags) {
    diags.error(at, "an index is one position; a kernel has no slices");
}

/// `x[(i, j)]`.
pub(crate) fn tuple_index(at: &impl ToTokens, diags: &mut Diags) {
    diags.error(at, "an index is one position; write `x[i][j]`");
}

/// A range other than `a..b`.
pub(crate) fn range_form(at: &impl ToTokens, diags: &mut Diags) {
    diags.error(at, "the range of an index is `0..n`");
}

/// `a = b` where a value is needed.
pub(crate) fn assignment_as_value(at: &impl ToTokens, diags: &mut Diags) {
    diags.error(at, "an assignment has no value; it stands as a statement of the closure over the output's indices");
}

/// Nesting that is too deep.
pub(crate) fn too_deep(at: &At, depth: u32, diags: &mut Diags) {
    diags.error(at, format!("expressions cannot be nested deeper than {depth}; name parts of it by `let`"));
}

/// A number that no value of its type is.
pub(crate) fn literal_range(at: Span, kind: &str, diags: &mut Diags) {
    diags.error_at(at, format!("this literal is out of the range of {kind}"));
}

/// A suffix that is no type of kernels.
pub(crate) fn literal_suffix(at: Span, suffix: &str, diags: &mut Diags) {
    diags.error_at(at, format!("unknown suffix `{suffix}` of a literal; supported: `f32`, `f64`, `i64`, and `usize`"));
}

/// A literal that is neither a number nor a truth value.
pub(crate) fn literal_kind(lit: &Lit, diags: &mut Diags) {
    diags.error(lit, "values of a kernel are numbers and truth values");
}

/// A constant that the macro cannot know.
pub(crate) fn unknown_constant(path: &Path, diags: &mut Diags) {
    let help = "help: pass it as a parameter; `f32::NAN`, `std::f32::consts::PI` and the like are known";
    diags.error(path, format!("the macro cannot know the value of this path\n{help}"));
}

/// `-true`.
pub(crate) fn arithmetic_on_bool(at: &At, operator: &str, diags: &mut Diags) {
    diags.error(at, format!("`{operator}` takes numbers, but gets a truth value\nhelp: `as f32` makes it 0 or 1"));
}
