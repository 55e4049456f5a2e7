use crate::{Buffer, Kernel, LibraryCall, Result, Scalar, View};

/// A device's runtime: memory, kernel launches and library calls. Object-safe, so that user code names no backend.
///
/// Work of one backend is ordered as it was issued; `read` and `sync` wait for it.
pub trait Backend: Send + Sync {
    /// What the device is and can do.
    fn caps(&self) -> &Caps;

    /// Memory of at least `bytes`, aligned to 64, its contents unspecified; freed when the buffer is dropped.
    ///
    /// # Errors
    /// `Error::Memory` with the bytes asked for and held.
    fn alloc(&self, bytes: usize) -> Result<Buffer>;

    /// Bytes of buffers that are alive, which a report asks for.
    fn used(&self) -> usize;

    /// Copies `src` to the start of `dst`.
    ///
    /// # Errors
    /// `Error::Backend` where `dst` belongs to another backend, is too small, or has further owners.
    fn write(&self, dst: &Buffer, src: &[u8]) -> Result<()>;

    /// Copies the start of `src` to `dst`, once all work issued before is done.
    ///
    /// # Errors
    /// `Error::Backend` where `src` belongs to another backend or is too small.
    fn read(&self, src: &Buffer, dst: &mut [u8]) -> Result<()>;

    /// Runs `kernel` over `shape` (see [`Kernel`]) with its operands in order: inputs, then outputs, then scalars.
    ///
    /// # Errors
    /// `Error::Shape` or `Error::Dtype` where an argument is not what the kernel declares, `Error::Backend` where an
    /// output overlaps an input other than element by element.
    fn launch(&self, kernel: &'static Kernel, shape: &[usize], args: &[Arg<'_>]) -> Result<()>;

    /// Runs one of the operations that a library does best.
    ///
    /// # Errors
    /// `Error::Shape` or `Error::Dtype` where an operand does not fit the call.
    fn library(&self, call: &LibraryCall<'_>) -> Result<()>;

    /// Waits until all work issued so far is done.
    ///
    /// # Errors
    /// `Error::Backend` where that work failed.
    fn sync(&self) -> Result<()>;
}

/// What a device is.
#[derive(Clone, Debug)]
pub struct Caps {
    /// The device's name, such as `cpu` or `cuda:0`.
    pub name: String,
    /// A line for people: the processor, the number of threads, the instruction set in use.
    pub description: String,
    /// Host threads that a launch may use.
    pub threads: usize,
}

/// An argument of a launch.
#[derive(Clone, Copy, Debug)]
pub enum Arg<'a> {
    /// A tensor that is read.
    In(View<'a>),
    /// A tensor that is written; its buffer may be that of an input with the same layout.
    Out(View<'a>),
    /// A float tensor that the values of an output are added up in: its view repeats elements along leading axes, and
    /// each element becomes the sum of what is written for it. The order of the sum depends on the shape alone.
    Sum(View<'a>),
    /// A number.
    Scalar(Scalar),
}
