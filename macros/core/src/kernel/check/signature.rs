//! The rules of a kernel's signature and of the attribute.

use super::super::ast::{At, text};
use super::did_you_mean;
use crate::diags::Diags;
use proc_macro2::{Ident, Span};
use quote::ToTokens;
use syn::{Attribute, Block, Item, Pat, Path, Receiver, Signature, Type, TypeReference};

/// `#[kernel]` on anything but a function.
pub(crate) fn wrong_item(item: &Item, diags: &mut Diags) {
    let keyword = item.to_token_stream().into_iter().next();
    diags.error(&keyword, "`#[kernel]` goes on a free `fn`");
}

/// Generics, and words before `fn`.
pub(crate) fn plain_function(sig: &Signature, diags: &mut Diags) {
    if !sig.generics.params.is_empty() {
        let why = "`f32` stands for every float precision, and dims such as `N` need no declaration";
        diags.error(&sig.generics, format!("a kernel has no generics: {why}"));
    }
    if let Some(clause) = &sig.generics.where_clause {
        diags.error(clause, "a kernel has no generics, and so no `where`");
    }
    let words = [
        sig.constness.as_ref().map(At::of),
        sig.asyncness.as_ref().map(At::of),
        if let syn::Safety::Default = sig.safety { None } else { Some(At::of(&sig.safety)) },
        sig.abi.as_ref().map(At::of),
        sig.variadic.as_ref().map(At::of),
    ];
    for at in words.into_iter().flatten() {
        diags.error(&at, "a kernel is a plain `fn`");
    }
}

/// An option that does not exist.
pub(crate) fn unknown_option(name: &Ident, diags: &mut Diags) {
    let hint = did_you_mean(&text(name), ["raw", "cpu", "vjp", "unrounded"]);
    diags.error(name, format!("unknown option `{name}` for `#[kernel]`{hint}"));
}

/// An option that is given twice.
pub(crate) fn option_twice(name: &Ident, diags: &mut Diags) {
    diags.error(name, format!("option `{name}` is given twice"));
}

/// A raw kernel with code for a GPU.
pub(crate) fn raw_body(body: &Block, diags: &mut Diags) {
    diags.error(
        body,
        "code for GPUs is not supported yet\nhelp: leave the body of a raw kernel empty, and say `cpu = f`",
    );
}

/// A raw kernel that says nothing of the CPU.
pub(crate) fn raw_without_cpu(at: Span, diags: &mut Diags) {
    let help = "say `raw, cpu = f`, with a function of slices, `fn f(x: &[f32], y: &mut [f32], dims: [usize; 1])`";
    diags.error_at(
        at,
        format!("a raw kernel needs a function for the CPU; code for GPUs is not supported yet\nhelp: {help}"),
    );
}

/// A raw kernel over elements.
pub(crate) fn raw_of_elements(at: Span, diags: &mut Diags) {
    diags.error_at(at, "a raw kernel takes or returns tensors");
}

/// A raw kernel that changes a tensor.
pub(crate) fn raw_of_changes(ty: &Type, diags: &mut Diags) {
    diags.error(ty, "`&mut` in raw kernels is not supported yet; return the changed tensor");
}

/// `cpu = f` without `raw`.
pub(crate) fn cpu_without_raw(path: &Path, diags: &mut Diags) {
    diags.error(path, "`cpu` is for raw kernels; say `raw, cpu = ..`, or leave it out");
}

/// A name in `vjp = f(..)` that is nothing of the kernel.
pub(crate) fn vjp_argument<'a>(name: &Ident, known: impl Iterator<Item = &'a str> + Clone, diags: &mut Diags) {
    let hint = did_you_mean(&text(name), known.clone());
    let all: Vec<String> = known.map(|k| format!("`{k}`")).collect();
    diags.error(
        name,
        format!("`{name}` is nothing that a derivative can take{hint}\nhelp: it takes {}", all.join(", ")),
    );
}

/// A derivative by hand of a kernel that changes its arguments.
pub(crate) fn vjp_of_changes(path: &Path, diags: &mut Diags) {
    diags.error(path, "a kernel that changes a tensor in place cannot have a derivative");
}

/// A derivative by hand of a kernel that has none.
pub(crate) fn vjp_of_nothing(path: &Path, diags: &mut Diags) {
    diags.error(
        path,
        "this derivative is never taken: the kernel needs a float among what it takes and among what it gives",
    );
}

/// A pointwise kernel whose results are not to be rounded.
pub(crate) fn unrounded_elements(at: Span, diags: &mut Diags) {
    diags.error_at(
        at,
        "`unrounded` is for kernels on tensors: the result of a pointwise kernel has its operands' dtype",
    );
}

/// `self` as a parameter.
pub(crate) fn receiver(receiver: &Receiver, diags: &mut Diags) {
    diags.error(receiver, "a kernel is a free function and has no `self`; pass the tensors that it reads");
}

/// An attribute on a parameter.
pub(crate) fn parameter_attribute(attr: &Attribute, diags: &mut Diags) {
    diags.error(attr, "attributes cannot stand on a parameter of a kernel");
}

/// A parameter that is a pattern.
pub(crate) fn parameter_pattern(pat: &Pat, diags: &mut Diags) {
    diags.error(pat, "a parameter of a kernel is a plain name");
}

/// Two parameters of one name.
pub(crate) fn duplicate_parameter(name: &Ident, diags: &mut Diags) {
    diags.error(name, format!("parameter `{name}` is declared twice"));
}

/// A parameter of a reference type other than `&mut Tensor![..]`.
pub(crate) fn reference_parameter(ty: &TypeReference, diags: &mut Diags) {
    diags.error(
        ty,
        "a kernel takes values, without `&`\nhelp: only a tensor that it changes in place is `&mut Tensor![..]`",
    );
}

/// A parameter of a type that kernels do not have.
pub(crate) fn unknown_type(ty: &Type, diags: &mut Diags) {
    diags.error(ty, format!("a kernel takes `Tensor![..]`, `f32`, `i64`, `usize`, `bool` and `Key`{}", instead_of(ty)));
}

/// A result of a type that kernels do not have.
pub(crate) fn unknown_result(ty: &Type, diags: &mut Diags) {
    diags.error(
        ty,
        format!("a kernel returns `Tensor![..]`, `f32`, `i64`, `bool`, or a tuple of these{}", instead_of(ty)),
    );
}

/// A tuple of one result.
pub(crate) fn tuple_of_one(at: &impl ToTokens, diags: &mut Diags) {
    diags.error(at, "one result is no tuple; write its type without the parentheses");
}

/// What to write instead of a type.
fn instead_of(ty: &Type) -> &'static str {
    let Type::Path(path) = ty else { return "" };
    let Some(last) = path.path.segments.last() else { return "" };
    match last.ident.to_string().as_str() {
        "f64" | "f16" | "bf16" => "\nhelp: `f32` stands for every float precision",
        "i8" | "i16" | "i32" | "i128" | "u8" | "u16" | "u32" | "u64" | "u128" | "isize" | "usize" => {
            "\nhelp: use `i64`"
        }
        "Tensor" => "\nhelp: say its dims, as in `Tensor![B, C]` or `Tensor![Int; B]`",
        _ => "",
    }
}

/// A kernel that computes nothing.
pub(crate) fn no_result(name: &Ident, diags: &mut Diags) {
    diags.error(
        name,
        format!(
            "`{name}` returns nothing and changes nothing\nhelp: declare a result, or a parameter `&mut Tensor![..]`"
        ),
    );
}

/// A pointwise kernel without anything to be pointwise over.
pub(crate) fn no_parameters(name: &Ident, diags: &mut Diags) {
    diags.error(name, format!("`{name}` takes no parameters, so that its result has no shape"));
}

/// A parameter of a pointwise kernel that is no element.
pub(crate) fn pointwise_parameter(ty: &Type, diags: &mut Diags) {
    diags.error(ty, "a kernel without tensors is pointwise, and takes elements: `f32`, `i64` and `bool`");
}

/// A scalar as the result of a kernel on tensors.
pub(crate) fn scalar_result(at: &At, diags: &mut Diags) {
    diags.error(at, "a kernel on tensors returns tensors; a single element is `Tensor![]`");
}

/// A parameter that nothing reads.
pub(crate) fn unused_parameter(name: &Ident, diags: &mut Diags) {
    let text = text(name);
    diags.error(name, format!("parameter `{text}` is never used\nhelp: leave it out, or name it `_{text}`"));
}

/// A parameter that bears the name of a dim.
pub(crate) fn parameter_named_like_a_dim(name: &Ident, diags: &mut Diags) {
    diags.error(name, format!("`{name}` is a dim as well as a parameter; rename one of them"));
}
