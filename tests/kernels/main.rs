//! Kernels as users write them.

mod by_hand;
mod calls;
mod index;
mod pointwise;
mod raw;
