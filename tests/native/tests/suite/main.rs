//! Native code of kernels, forward and backward, against the evaluator in `f64`.

mod calls;
#[path = "../../../../runtime/ir/tests/suite/common/mod.rs"]
mod common;
mod compare;
mod named;
mod random;
