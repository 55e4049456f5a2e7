//! Kernels as users write them.

mod by_hand;
mod calls;
mod gradients;
mod index;
mod names;
mod pointwise;
mod products;
mod raw;
mod steps;
