//! The rules of kinds: floats, integers and truth values.

use super::super::ast::At;
use super::counted;
use crate::diags::Diags;
use cotangent_ir::Kind;
use proc_macro2::Span;

/// A truth value where a number is needed.
pub(crate) fn number_expected(at: &At, of: &str, diags: &mut Diags) {
    diags.error(at, format!("`{of}` takes numbers, but gets a truth value\nhelp: `as f32` makes it 0 or 1"));
}

/// A number where a truth value is needed.
pub(crate) fn truth_expected(at: &At, found: Kind, diags: &mut Diags) {
    diags.error(
        at,
        format!("a truth value is needed here, but this is {}\nhelp: compare it, as in `x != 0`", found.phrase()),
    );
}

/// A bitwise operation on floats.
pub(crate) fn bits_of_float(at: &At, operator: &str, diags: &mut Diags) {
    diags.error(at, format!("`{operator}` takes integers or truth values, but gets a float"));
}

/// Operands of which one is a truth value, or of a bitwise operator one an integer.
pub(crate) fn operands_differ(at: &At, operator: &str, left: Kind, right: Kind, diags: &mut Diags) {
    diags.error(
        at,
        format!("`{operator}` cannot have {} on the left and {} on the right", left.phrase(), right.phrase()),
    );
}

/// Branches of which one is a truth value.
pub(crate) fn branches_differ(at: &At, first: Kind, second: Kind, diags: &mut Diags) {
    diags.error(at, format!("the first choice is {}, but this is {}", first.phrase(), second.phrase()));
}

/// Branches that are tuples of different forms.
pub(crate) fn tuples_differ(at: &At, diags: &mut Diags) {
    diags.error(at, "this is not a tuple of as many parts as the first choice");
}

/// A value of another kind than is declared.
pub(crate) fn declared_kind(at: &At, found: Kind, declared: Kind, diags: &mut Diags) {
    let help = match (found, declared) {
        (Kind::Float | Kind::Bool, Kind::Int) => "`as i64` makes it an integer",
        (Kind::Bool | Kind::Int, Kind::Float) => "`as f32` makes it a float",
        (_, _) => "compare it, as in `x != 0`",
    };
    diags.error(at, format!("this is {}, but {} is declared\nhelp: {help}", found.phrase(), declared.phrase()));
}

/// A value that is a tuple where none is declared, or the other way round.
pub(crate) fn declared_tuple(at: &At, diags: &mut Diags) {
    diags.error(at, "this is not a tuple of as many parts as is declared");
}

/// A tuple where one value is needed.
pub(crate) fn tuple_as_value(at: &At, diags: &mut Diags) {
    diags.error(at, "this is a tuple, but one value is needed here");
}

/// A tuple with too many parts.
pub(crate) fn large_tuple(at: &At, limit: usize, diags: &mut Diags) {
    diags.error(at, format!("a tuple cannot have more than {limit} parts, those of its parts included"));
}

/// A tuple of names that does not fit its value.
pub(crate) fn pattern_parts(at: &At, names: usize, parts: Option<usize>, diags: &mut Diags) {
    let value = parts.map_or_else(|| "is one value".to_owned(), |n| format!("has {}", counted(n, "part", "parts")));
    diags.error(at, format!("this takes {}, but the value {value}", counted(names, "part", "parts")));
}

/// A block that ends without a value.
pub(crate) fn missing_value(at: Span, diags: &mut Diags) {
    diags.error_at(at, "this block needs a value: an expression without `;` at its end");
}

/// More or fewer values than results.
pub(crate) fn number_of_results(at: &At, declared: usize, found: usize, diags: &mut Diags) {
    let (declared, found) = (counted(declared, "result", "results"), counted(found, "value", "values"));
    diags.error(at, format!("the signature declares {declared}, but this is {found}"));
}

/// A truth value as an argument of another kernel.
pub(crate) fn float_for_kernel(at: &At, diags: &mut Diags) {
    let what = "a kernel that is called takes floats and gives one float, but this is a truth value";
    diags.error(at, format!("{what}\nhelp: `as f32` makes it 0 or 1"));
}
