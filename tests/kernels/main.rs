//! Kernels as users write them.

mod gradients;
mod index;
mod names;
mod pointwise;
