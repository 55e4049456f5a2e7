//! The rules of closures over the outputs' indices.

use super::super::ast::At;
use super::counted;
use crate::diags::Diags;

/// A kernel on tensors that does not end with a closure.
pub(crate) fn missing_closure(at: &At, diags: &mut Diags) {
    diags.error(at, "a kernel on tensors ends with a closure over the output's indices, as in `|i, j| x[i][j]`");
}

/// A closure with more or fewer indices than the output has axes.
pub(crate) fn closure_arity(at: &At, shape: &str, rank: usize, given: usize, diags: &mut Diags) {
    let (rank, given) = (counted(rank, "axis", "axes"), counted(given, "index", "indices"));
    diags.error(at, format!("the output `{shape}` has {rank}, but this closure has {given}"));
}

/// More or fewer closures than outputs.
pub(crate) fn number_of_closures(at: &At, outs: usize, given: usize, diags: &mut Diags) {
    let (outs, given) = (counted(outs, "result", "results"), counted(given, "closure", "closures"));
    diags.error(at, format!("the signature declares {outs}, but there are {given}"));
}

/// One closure for outputs of different dims.
pub(crate) fn outputs_differ(at: &At, first: &str, other: &str, changes: bool, diags: &mut Diags) {
    let help = if changes {
        "help: what one closure gives and assigns has the same dims; make two kernels of it"
    } else {
        "help: write a tuple of closures, one for each result"
    };
    diags.error(at, format!("one closure cannot run over `{first}` and `{other}`\n{help}"));
}

/// A value at the end of a closure that only assigns.
pub(crate) fn value_without_result(at: &At, diags: &mut Diags) {
    diags.error(at, "the signature declares no result, so this value is dropped");
}
