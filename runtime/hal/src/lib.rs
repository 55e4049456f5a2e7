//! What a backend is: memory, launches and the few heavy operations that a library does best.
//!
//! A [`Backend`] is an object behind a device; user code never names its type. Tensor operations are not
//! methods of it: each is a [`Kernel`], data that names its operands and holds its native form, and a backend
//! runs any kernel through [`Backend::launch`]. What vendor or expert libraries do best is a [`LibraryCall`].
//!
//! **Invariant:** `launch` and `library` verify every shape, dtype and bound they are given. The proofs of the
//! compile-time shape engine serve messages, never memory safety.

mod backend;
mod buffer;
mod dtype;
mod error;
mod kernel;
mod library;
pub mod native;
mod view;

pub use backend::{Arg, Backend, Caps, MemoryUse};
pub use buffer::{Buffer, Memory};
pub use dtype::DType;
pub use error::{Error, Result};
pub use kernel::{Access, Domain, Kernel, Operand, Role, Scalar};
pub use library::{Activation, Attention, AttentionGradients, ConvolutionPart, Epilogue, LibraryCall, Window};
pub use view::View;
