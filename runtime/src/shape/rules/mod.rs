//! One function for each shape rule that the table of operations names.
//!
//! `inputs` are the receiver and the operands in order, then tensors that carry no derivative (`[logits, targets]`,
//! `[weight, ids]`, `[x, mask]`, `[c, a, b]`), for `cat` and `stack` the elements of the list; a number has the shape
//! [`Shape::SCALAR`]. `plain` are the axes, sizes and shapes in the order of the arguments. `out` is the part of the
//! result that is asked for. An argument that is left out counts as unknown. Where leading axes are not listed, a rule
//! says what the listed axes decide.

mod attention;
mod axis;
mod einsum;
mod elementwise;
mod index;
mod linear;
mod matmul;
mod movement;
mod order;
mod part;
mod reduce;
mod reshape;
mod search;
mod slice;
mod window;

pub use attention::attention;
pub use einsum::einsum;
pub use elementwise::{broadcast, broadcast_first, prelu, same, scalar_of_same, select};
pub use index::{
    gather, index_fill, index_put, index_select, masked_scatter, masked_select, one_hot, scatter, take, take_along_dim,
};
pub use linear::{addmm, baddbmm, bmm, cdist, cosine_similarity, cov, cross, dot, kron, linear, mm, mv, outer, square};
pub use matmul::{embedding, matmul};
pub use movement::{
    chunk, diag, diag_embed, diagonal, expand_as, flip, hstack, matrices, meshgrid, movedim, repeat, repeat_interleave,
    reshape_as, roll, rot90, some_of, tile, trace, unbind, unflatten, vstack,
};
pub use order::{permute, t, transpose};
pub use part::{arange, cat, causal_mask, glu, multinomial, narrow, split, stack};
pub use reduce::{
    along, cross_entropy, ctc_loss, layer_norm, reduce, reduce_keepdim, reduce_second, reduce_second_keepdim,
};
pub use reshape::{expand, flatten, reshape, squeeze, unsqueeze};
pub use search::{histc, nonzero, searchsorted, some, topk, unique_with};
pub use slice::{one_entry, pad, slice, slice_put, unfold};
pub use window::{
    adaptive_pool1d, adaptive_pool2d, avg_pool1d, avg_pool2d, batch_norm, conv_transpose1d, conv_transpose2d, conv1d,
    conv2d, max_pool1d, max_pool2d, normalized_by,
};

use super::dim::Dim;
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

/// The number that a plain argument is, unknown where it is none.
const fn number(plain: &Plain) -> Dim {
    match plain {
        Plain::Dim(dim) => *dim,
        Plain::List { .. } | Plain::All | Plain::Entry(_) | Plain::Text(_) | Plain::Unknown => Dim::UNKNOWN,
    }
}

/// Whether `long` is no less than `short` under every binding. `false` says nothing.
const fn covers(long: &Dim, short: &Dim) -> bool {
    long.add(Dim::lit(1)).exceeds(short)
}
