//! One function for each shape rule that the table of operations names.
//!
//! `inputs` are the receiver and the operands in order, then tensors that carry no derivative (`[logits, targets]`,
//! `[weight, ids]`, `[x, mask]`, `[c, a, b]`), for `cat` and `stack` the elements of the list; a number has the shape
//! [`Shape::SCALAR`]. `plain` are the axes, sizes and shapes in the order of the arguments. `out` is the part of the
//! result that is asked for. An argument that is left out counts as unknown. Where leading axes are not listed, a rule
//! says what the listed axes decide.

mod axis;
mod einsum;
mod elementwise;
mod linear;
mod matmul;
mod order;
mod part;
mod reduce;
mod reshape;

pub use einsum::einsum;
pub use elementwise::{broadcast, broadcast_first, prelu, same, scalar_of_same, select};
pub use linear::{addmm, baddbmm, bmm, cdist, cosine_similarity, cov, cross, dot, kron, mm, mv, outer, square};
pub use matmul::{embedding, matmul};
pub use order::{permute, t, transpose};
pub use part::{arange, cat, causal_mask, glu, multinomial, narrow, split, stack};
pub use reduce::{along, cross_entropy, layer_norm, reduce, reduce_keepdim};
pub use reshape::{expand, flatten, reshape, squeeze, unsqueeze};

use super::shape::Shape;
use super::step::Plain;

/// Input `i`, unknown where it is left out.
const fn input(inputs: &[Shape], i: usize) -> Shape {
    if i < inputs.len() { inputs[i] } else { Shape::UNKNOWN }
}

/// Plain argument `i`, unknown where it is left out.
const fn argument(plain: &[Plain], i: usize) -> Plain {
    if i < plain.len() { plain[i] } else { Plain::Unknown }
}
