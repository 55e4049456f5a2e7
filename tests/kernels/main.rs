//! Kernels as users write them.

mod index;
mod pointwise;
