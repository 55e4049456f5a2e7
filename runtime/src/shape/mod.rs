//! The shape engine: symbolic shapes, worked out by rustc in `const` items.
//!
//! A [`Dim`] is a polynomial over numbered symbols, a [`Shape`] a list of them behind optional leading axes, a
//! [`Sig`] what a method declares. [`rules`] has one function for each operation, [`call`] applies a method's
//! signature, [`bind`] proves a typed binding; each gives a [`Step`], whose mistake [`explain`] puts into words.
//! Everything is a `const fn` over `Copy` data without allocation, so that the `#[model]` macro can place
//! `const _: () = if STEP.failed() { fail(..) };` at the user's tokens. [`Sig::check`] and [`verify`] hold the same
//! declarations against real shapes at run time.
//!
//! **Invariant:** three answers, never two. What is equal in normal form is proved, what is different under every
//! binding of the symbols to positive numbers has failed, all else is undecided and says nothing. No input makes the
//! engine panic: sums that grow too long, exponents and coefficients that leave their range become [`Dim::UNKNOWN`].

mod check;
mod dim;
mod env;
pub(crate) mod equation;
mod explain;
mod fields;
mod message;
mod reach;
pub mod rules;
#[allow(clippy::module_inception, reason = "the file is named after its type")]
mod shape;
mod sig;
mod step;

#[cfg(test)]
mod tests;

pub use check::{Guard, enter, verify};
pub use dim::{Dim, SYMBOLS};
pub use env::{Bound, Env, bind};
pub use equation::{Equation, Malformed, Term};
pub use explain::explain;
pub use fields::{DimDefault, Dims, FieldDims, check_dims, field_dims, identity};
pub use message::{Message, fail};
pub use reach::{Info, Items, Opaque, expect, info_of, inner_dims, item, param_shape};
pub use shape::{AXES, Rest, Scope, Shape, join};
pub use sig::{Sig, Signature, call, sig_of};
pub use step::{Fail, Mismatch, Plain, Step, Verdict};
