//! The CPU backend: pooled memory, the driver that runs kernels tile by tile, matrix products, convolutions, attention,
//! and sorting.
//!
//! Kernels see contiguous tiles of the dtypes that they compute in; strides, broadcasting, aliasing, conversion between
//! dtypes and threads are this crate's. Results do not depend on the number of threads. All of the workspace's unsafe
//! code is here, in small modules that say why it is sound.
//!
//! **Invariant:** no argument of `launch` or `library` reaches unsafe code before its dtype, shape, bounds and overlap
//! with the other arguments are verified.

mod attention;
mod backend;
mod conv;
mod convert;
mod gemm;
mod launch;
mod map;
mod matmul;
mod memory;
mod order;
mod strided;

pub use backend::CpuBackend;
pub use map::{Mapped, map_file};
