use crate::memory::{Block, Pool};
use crate::{attention, conv, launch, matmul, order};
use cotangent_hal::native::Level;
use cotangent_hal::{Arg, Backend, Buffer, Caps, Error, Kernel, LibraryCall, MemoryUse, Result};
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
        CpuBackend::with(Level::detect(), usize::MAX)
    }

    /// A backend whose kernels and products use no more than these instructions, or those that the processor has.
    pub fn with_level(level: Level) -> Self {
        CpuBackend::with(level.min(Level::detect()), usize::MAX)
    }

    /// A backend whose tensors take at most `bytes` of memory, what is kept for later included.
    pub fn with_limit(bytes: usize) -> Self {
        CpuBackend::with(Level::detect(), bytes)
    }

    fn with(level: Level, limit: usize) -> Self {
        let threads = threads();
        let plural = if threads == 1 { "" } else { "s" };
        let description = format!("{} with {level}, {threads} thread{plural}", std::env::consts::ARCH);
        CpuBackend { caps: Caps { name: "cpu".into(), description, threads }, pool: Pool::new(limit), level }
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

    fn memory(&self) -> MemoryUse {
        self.pool.memory()
    }

    fn reset_peak(&self) {
        self.pool.reset_peak();
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
            LibraryCall::MatMul { a, b, out, epilogue } => {
                matmul::matmul(&self.pool, self.level, [a, b, out], epilogue)
            }
            LibraryCall::Sort { x, values, at, descending } => order::sort(&self.pool, x, values, at, *descending),
            LibraryCall::Convolution { part, x, w, y, epilogue, window } => {
                conv::convolution(&self.pool, self.level, *part, [x, w, y], epilogue, window)
            }
            LibraryCall::Attention { of, out, lse } => attention::forward(&self.pool, self.level, of, out, lse),
            LibraryCall::AttentionBackward { of, out, lse, d_out, wanted } => {
                attention::backward(&self.pool, self.level, of, [out, lse, d_out], wanted)
            }
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
