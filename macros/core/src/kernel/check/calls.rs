//! The rules of calls.

use super::super::ast::{At, text};
use super::{counted, did_you_mean};
use crate::diags::Diags;
use cotangent_ir::functions::Number;
use proc_macro2::Ident;

/// A method that is no function of single values.
pub(crate) fn unknown_method<'a>(name: &Ident, known: impl IntoIterator<Item = &'a str>, diags: &mut Diags) {
    let hint = did_you_mean(&text(name), known);
    diags.error(name, format!("unknown function `{name}`{hint}"));
}

/// A call with a closure or a range that is no reduction.
pub(crate) fn unknown_reduction<'a>(name: &Ident, known: impl IntoIterator<Item = &'a str>, diags: &mut Diags) {
    let hint = did_you_mean(&text(name), known);
    diags.error(name, format!("unknown reduction `{name}`{hint}"));
}

/// A kernel that calls itself.
pub(crate) fn recursion(name: &Ident, diags: &mut Diags) {
    diags.error(name, format!("`{name}` calls itself, which a kernel cannot"));
}

/// A function that there is but for two letters that changed places, which is hardly the name of a kernel.
pub(crate) fn letters_swapped(name: &Ident, meant: &str, diags: &mut Diags) {
    let word = text(name);
    let help = format!("help: a kernel of that name is called by its path, `self::{word}(..)`");
    diags.error(name, format!("unknown function `{word}`; did you mean `{meant}`?\n{help}"));
}

/// The wrong number of arguments, for a function that takes some operands, and numbers that may be left out.
pub(crate) fn number_of_arguments(name: &Ident, takes: usize, numbers: &[Number], given: usize, diags: &mut Diags) {
    let mut said = counted(takes, "argument", "arguments");
    if !numbers.is_empty() {
        let names: Vec<String> = numbers.iter().map(|n| format!("`{}`", n.name)).collect();
        said = format!("{said} and may take {}", names.join(" and "));
    }
    diags.error(name, format!("`{name}` takes {said}, but gets {given}"));
}

/// A call of another kernel without arguments.
pub(crate) fn call_without_arguments(at: &At, diags: &mut Diags) {
    diags.error(at, "a kernel that is called takes at least one float");
}

/// `or_zero` of anything but a load.
pub(crate) fn or_zero_of_value(name: &Ident, diags: &mut Diags) {
    diags.error(name, "`or_zero` takes one element of a tensor, as in `or_zero(x[i - 1])`");
}

/// A random number from something that is no stream.
pub(crate) fn key_expected(at: &At, diags: &mut Diags) {
    diags.error(at, "a random number is drawn from a parameter of type `Key`");
}

/// `len` of anything but a dim.
pub(crate) fn len_of_dim(at: &At, diags: &mut Diags) {
    diags.error(at, "`len` takes the name of a dim, as in `len(C)`");
}

/// A power that is no literal.
pub(crate) fn literal_power(at: &At, integers: bool, diags: &mut Diags) {
    let (of, help) = if integers {
        ("an integer", "convert one of the two by `as f32`")
    } else {
        ("`powi`", "`powf` takes any power")
    };
    diags.error(at, format!("the power of {of} is a whole number that is written out\nhelp: {help}"));
}

/// A negative power of an integer.
pub(crate) fn negative_power(at: &At, diags: &mut Diags) {
    diags.error(at, "an integer has no negative power; convert it by `as f32`");
}
