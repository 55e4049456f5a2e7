//! The rules of declared dims.

use super::super::ast::At;
use super::did_you_mean;
use crate::diags::Diags;
use proc_macro2::Ident;

/// A dim that starts with a lower-case letter.
pub(crate) fn dim_in_lower_case(name: &Ident, diags: &mut Diags) {
    diags.error(name, format!("dim `{name}` starts with a lower-case letter; dims start with an upper-case one"));
}

/// Leading axes without a name.
pub(crate) fn nameless_group(at: &At, diags: &mut Diags) {
    diags.error(at, "a kernel names leading axes, as in `Tensor![R.., C]`, so that their extents can be compared");
}

/// A name that stands for leading axes in one shape and for one axis in another.
pub(crate) fn group_and_dim(name: &Ident, diags: &mut Diags) {
    diags
        .error(name, format!("`{name}` stands for leading axes, `{name}..`, in one shape and for one axis in another"));
}

/// A dim that divides by 0.
pub(crate) fn dim_over_zero(at: &At, diags: &mut Diags) {
    diags.error(at, "this dim divides by 0");
}

/// A dim that is a negative number.
pub(crate) fn negative_dim(at: &At, value: i64, diags: &mut Diags) {
    diags.error(at, format!("this dim is {value}, but an extent is at least 0"));
}

/// A dim whose numbers or terms get too large.
pub(crate) fn large_dim(at: &At, diags: &mut Diags) {
    diags.error(at, "this dim is too large to be worked out");
}

/// A dim that no shape determines.
pub(crate) fn unbound_dim(name: &Ident, diags: &mut Diags) {
    let help = format!("help: it must be the one unknown of some dim, as in `Tensor![{name}]` or `Tensor![2*{name}]`");
    diags.error(name, format!("the shapes of the parameters do not determine `{name}`\n{help}"));
}

/// A dim of the result that no parameter has.
pub(crate) fn unbound_result_dim(name: &Ident, known: &[&str], diags: &mut Diags) {
    let hint = did_you_mean(&name.to_string(), known.iter().copied());
    diags.error(name, format!("dim `{name}` of the result is that of no parameter{hint}"));
}
