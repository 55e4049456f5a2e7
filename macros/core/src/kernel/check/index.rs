//! The rules of indices, of reductions and of assignments.

use super::super::ast::At;
use super::counted;
use crate::diags::Diags;
use cotangent_ir::Kind;
use proc_macro2::Ident;

/// An index that is no integer.
pub(crate) fn not_an_index(at: &At, found: Kind, diags: &mut Diags) {
    diags.error(at, format!("an index is an integer, but this is {}", found.phrase()));
}

/// Indices of something that has none.
pub(crate) fn index_of_scalar(name: &Ident, diags: &mut Diags) {
    diags.error(name, format!("`{name}` is no tensor and cannot be indexed"));
}

/// More or fewer indices than axes.
pub(crate) fn number_of_indices(at: &At, name: &str, rank: usize, indices: usize, diags: &mut Diags) {
    let (rank, indices) = (counted(rank, "axis", "axes"), counted(indices, "index", "indices"));
    diags.error(at, format!("`{name}` has {rank}, but gets {indices}"));
}

/// An index that is not proved inside.
pub(crate) fn out_of_bounds(
    at: &At,
    name: &str,
    axis: usize,
    extent: &str,
    range: Option<String>,
    guardable: bool,
    diags: &mut Diags,
) {
    let what = match range {
        Some(range) => format!("this index {range}, but axis {axis} of `{name}` is `{extent}`"),
        None => format!("this index cannot be proved inside of axis {axis} of `{name}`, which is `{extent}`"),
    };
    let help = if guardable { format!("\nhelp: `or_zero({name}[..])` reads 0 outside") } else { String::new() };
    diags.error(at, format!("{what}{help}"));
}

/// An index that indexes two different extents.
pub(crate) fn range_mismatch(
    at: &At,
    index: &str,
    (first, first_axis, first_extent): (&str, usize, &str),
    (second, second_axis, second_extent): (&str, usize, &str),
    diags: &mut Diags,
) {
    let first = format!("axis {first_axis} of `{first}`, which is `{first_extent}`");
    let second = format!("axis {second_axis} of `{second}`, which is `{second_extent}`");
    let help = format!("help: give its range in front of the closure, as in `0..{first_extent}`");
    diags.error(at, format!("`{index}` indexes {first}, and {second}\n{help}"));
}

/// An index whose range nothing gives.
pub(crate) fn ambiguous_range(at: &(impl quote::ToTokens + ?Sized), reduction: &Ident, index: &str, diags: &mut Diags) {
    let help = format!("help: write it, as in `{reduction}(0..N, |{index}| ..)`");
    diags.error(at, format!("nothing gives the range of `{index}`: it is no index by itself\n{help}"));
}

/// A reduction without indices.
pub(crate) fn reduction_over_nothing(at: &At, name: &Ident, diags: &mut Diags) {
    diags.error(at, format!("`{name}` reduces over indices, as in `{name}(|j| ..)`, but this closure has none"));
}

/// A reduction without a closure.
pub(crate) fn reduction_without_closure(name: &Ident, diags: &mut Diags) {
    diags.error(name, format!("`{name}` takes a closure over what it reduces, as in `{name}(|j| x[j])`"));
}

/// More or fewer ranges than indices.
pub(crate) fn number_of_ranges(at: &At, indices: usize, ranges: usize, diags: &mut Diags) {
    let (indices, ranges) = (counted(indices, "index", "indices"), counted(ranges, "range", "ranges"));
    diags.error(at, format!("this closure has {indices}, but gets {ranges}; give one for each, or none"));
}

/// An index that is declared twice.
pub(crate) fn duplicate_index(name: &Ident, diags: &mut Diags) {
    diags.error(name, format!("index `{name}` is declared twice"));
}

/// Anything else where a range is needed.
pub(crate) fn range_expected(at: &At, diags: &mut Diags) {
    diags.error(at, "a range stands here, as in `0..K`");
}

/// A range that starts elsewhere.
pub(crate) fn range_start(at: &At, diags: &mut Diags) {
    diags.error(at, "the range of an index starts at 0; add to the index instead");
}

/// A range that ends at more than dims and numbers.
pub(crate) fn range_end(at: &At, diags: &mut Diags) {
    diags.error(at, "the range of an index ends at an integer made of dims and numbers alone");
}

/// A running reduction without its closure or its place.
pub(crate) fn scan_arguments(name: &Ident, diags: &mut Diags) {
    let what = "takes a closure over one index, and the index at which it is read";
    diags.error(name, format!("`{name}` {what}, as in `{name}(|j| x[j], i)`"));
}

/// A running reduction that is read elsewhere than at an index.
pub(crate) fn scan_place(at: &At, diags: &mut Diags) {
    diags.error(at, "a running reduction is read at the index of an outer closure, by itself");
}

/// What varies along a running reduction, inside of it.
pub(crate) fn hidden_in_scan(name: &Ident, diags: &mut Diags) {
    let what = "depends on the index at which this running reduction is read, and has no one value in it";
    diags.error(name, format!("`{name}` {what}\nhelp: use the index of the closure instead"));
}

/// A closure that nothing takes.
pub(crate) fn misplaced_closure(at: &At, diags: &mut Diags) {
    diags.error(at, "a closure stands at the end of a kernel, over the output's indices, or in a reduction");
}

/// A range that nothing takes.
pub(crate) fn misplaced_range(at: &At, diags: &mut Diags) {
    diags.error(at, "a range stands in front of the closure of a reduction");
}

/// An assignment anywhere but in the closure over the output's indices.
pub(crate) fn misplaced_assignment(at: &At, diags: &mut Diags) {
    diags.error(
        at,
        "elements are assigned in the one closure over the output's indices, outside of `if` and of reductions",
    );
}

/// An assignment to something that is no element.
pub(crate) fn assignment_target(at: &At, diags: &mut Diags) {
    diags.error(at, "only elements of a parameter `&mut Tensor![..]` can be assigned");
}

/// An assignment to a variable.
pub(crate) fn assignment_to_variable(at: &At, name: &str, diags: &mut Diags) {
    diags.error(at, format!("`{name}` does not change; bind the new value by `let {name} = ..`"));
}

/// An assignment to a parameter that is not `&mut`.
pub(crate) fn assignment_without_mut(at: &At, name: &str, tensor: bool, diags: &mut Diags) {
    let help = if tensor { format!("\nhelp: declare `{name}: &mut Tensor![..]`") } else { String::new() };
    diags.error(at, format!("`{name}` is not `&mut` and cannot be assigned{help}"));
}

/// An assignment at other indices than the closure's own.
pub(crate) fn assignment_elsewhere(at: &At, name: &str, diags: &mut Diags) {
    diags.error(at, format!("an element of `{name}` is assigned at the closure's own indices, in their order"));
}

/// A tensor that is changed and read at other indices than the closure's own.
pub(crate) fn changed_tensor_elsewhere(at: &At, name: &str, diags: &mut Diags) {
    let what = "changes while the kernel runs, and is read only at the closure's own indices, in their order";
    diags.error(at, format!("`{name}` {what}\nhelp: return a new tensor instead"));
}

/// A tensor that is `&mut` in vain.
pub(crate) fn never_assigned(name: &Ident, diags: &mut Diags) {
    diags.error(name, format!("`{name}` is `&mut`, but none of its elements is assigned"));
}
