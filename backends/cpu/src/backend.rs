use crate::memory::{Block, Pool};
use crate::{launch, matmul, order};
use cotangent_hal::native::Level;
use cotangent_hal::{Arg, Backend, Buffer, Caps, Error, Kernel, LibraryCall, Result};
use std::sync::{Arc, OnceLock};

/// The processor and its memory.
///
/// Work is done when a call returns. Large launches use the threads of rayon's current pool, whose size
/// `RAYON_NUM_THREADS` sets; results are the same for any number.
pub struct CpuBackend {
    caps: Caps,
    pool: Arc<Pool>,
    level: Level,
}

impl CpuBackend {
    /// A backend with a memory pool of its own.
    pub fn new() -> Self {
        Self::with_limit(usize::MAX)
    }

    /// A backend whose tensors take at most `bytes` of memory, what is kept for later included.
    pub fn with_limit(bytes: usize) -> Self {
        let level = Level::detect();
        let threads = threads();
        let plural = if threads == 1 { "" } else { "s" };
        let description = format!("{} with {level}, {threads} thread{plural}", std::env::consts::ARCH);
        CpuBackend { caps: Caps { name: "cpu".into(), description, threads }, pool: Pool::new(bytes), level }
    }

    /// The backend that the whole process shares.
    pub fn shared() -> Arc<CpuBackend> {
        static SHARED: OnceLock<Arc<CpuBackend>> = OnceLock::new();
        SHARED.get_or_init(|| Arc::new(CpuBackend::new())).clone()
    }

    /// How often the system was asked for tensor memory: it stands still once all sizes have been seen.
    pub fn allocations(&self) -> usize {
        self.pool.allocations()
    }

    /// Bytes that the system gave, in use or kept for later.
    pub fn held_bytes(&self) -> usize {
        self.pool.held()
    }

    /// Bytes of buffers that are alive, each rounded up to its size class.
    pub fn used_bytes(&self) -> usize {
        self.pool.used()
    }
}

impl Default for CpuBackend {
    fn default() -> Self {
        Self::new()
    }
}

impl Backend for CpuBackend {
    fn caps(&self) -> &Caps {
        &self.caps
    }

    fn alloc(&self, bytes: usize) -> Result<Buffer> {
        Ok(Buffer::new(self.pool.take(bytes)?))
    }

    fn used(&self) -> usize {
        self.pool.used()
    }

    fn write(&self, dst: &Buffer, src: &[u8]) -> Result<()> {
        let block = block_of(dst)?;
        if !dst.is_unique() {
            return Err(refused("a buffer with further owners cannot be written; copy it first".into()));
        }
        let mut borrow = block.borrow(true).ok_or_else(in_use)?;
        let Some(bytes) = borrow.bytes_mut(src.len()) else {
            return Err(refused(format!("{} bytes do not fit a buffer of {}", src.len(), dst.bytes())));
        };
        bytes.copy_from_slice(src);
        Ok(())
    }

    fn read(&self, src: &Buffer, dst: &mut [u8]) -> Result<()> {
        let borrow = block_of(src)?.borrow(false).ok_or_else(in_use)?;
        let Some(bytes) = borrow.bytes(dst.len()) else {
            return Err(refused(format!("{} bytes cannot be read from a buffer of {}", dst.len(), src.bytes())));
        };
        dst.copy_from_slice(bytes);
        Ok(())
    }

    fn launch(&self, kernel: &'static Kernel, shape: &[usize], args: &[Arg<'_>]) -> Result<()> {
        launch::launch(&self.pool, self.level, kernel, shape, args)
    }

    fn library(&self, call: &LibraryCall<'_>) -> Result<()> {
        match call {
            LibraryCall::MatMul { a, b, out } => matmul::matmul(&self.pool, self.level, a, b, out),
            LibraryCall::Sort { x, values, at, descending } => order::sort(&self.pool, x, values, at, *descending),
        }
    }

    fn sync(&self) -> Result<()> {
        Ok(())
    }
}

/// Threads of rayon's current pool; one under Miri, which need not run rayon for small tensors.
pub(crate) fn threads() -> usize {
    if cfg!(miri) { 1 } else { rayon::current_num_threads() }
}

/// This backend's memory behind a buffer.
pub(crate) fn block_of(buffer: &Buffer) -> Result<&Block> {
    buffer.downcast().ok_or_else(|| refused("the buffer belongs to another backend; copy it to `cpu` first".into()))
}

#[cold]
pub(crate) fn refused(message: String) -> Error {
    Error::Backend { device: "cpu".into(), message }
}

#[cold]
pub(crate) fn in_use() -> Error {
    refused("a buffer is written while another thread uses it".into())
}
