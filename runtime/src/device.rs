//! Devices: where tensors live and kernels run.

use crate::raise::raised;
use crate::watch;
use cotangent_hal::{Arg, Backend, Buffer, Caps, Kernel, LibraryCall, MemoryUse};
use std::fmt;
use std::sync::Arc;
#[cfg(feature = "cpu")]
use std::sync::OnceLock;

/// A device: a reference to its backend, equal to the copies of itself.
///
/// Devices live as long as the process. So tensors need not count references to them, which would cost a small
/// operation a tenth of its time.
#[derive(Clone, Copy)]
pub struct Device {
    backend: &'static dyn Backend,
}

impl Device {
    /// The processor that the program runs on, with its threads. One device for the process.
    #[cfg(feature = "cpu")]
    pub fn cpu() -> Device {
        static CPU: OnceLock<Device> = OnceLock::new();
        *CPU.get_or_init(|| Device::from_backend(cotangent_cpu::CpuBackend::shared()))
    }

    /// The processor once more, with tensors of its own that take at most `bytes` of memory together.
    #[cfg(feature = "cpu")]
    pub fn cpu_with_limit(bytes: usize) -> Device {
        Device::from_backend(Arc::new(cotangent_cpu::CpuBackend::with_limit(bytes)))
    }

    /// The device that runs on `backend`, which it keeps until the process ends. Clones of one `Arc` give equal devices.
    pub fn from_backend(backend: Arc<dyn Backend>) -> Device {
        let kept: &'static Arc<dyn Backend> = Box::leak(Box::new(backend));
        Device { backend: &**kept }
    }

    /// The name, such as `cpu`.
    pub fn name(&self) -> &str {
        &self.backend.caps().name
    }

    /// What the device is and can do.
    pub fn caps(&self) -> &Caps {
        self.backend.caps()
    }

    /// How much memory the device's tensors take, and the most that they took at once.
    pub fn memory(&self) -> MemoryUse {
        self.backend.memory()
    }

    /// Makes the peak of [`memory`](Device::memory) what is used now, so that a later one is of what ran in between.
    pub fn reset_peak_memory(&self) {
        self.backend.reset_peak();
    }

    /// Waits until all work issued so far is done; raises where that work failed.
    #[track_caller]
    pub fn sync(&self) {
        raised(self.backend.sync())
    }

    /// Memory of at least `bytes`; raises where the device has none left.
    #[track_caller]
    pub(crate) fn alloc(&self, bytes: usize) -> Buffer {
        raised(self.backend.alloc(bytes))
    }

    /// Runs `kernel` over the index space `shape`; raises what the backend refuses.
    #[track_caller]
    pub(crate) fn launch(&self, kernel: &'static Kernel, shape: &[usize], args: &[Arg<'_>]) {
        let run = || self.backend.launch(kernel, shape, args);
        raised(if watch::is_on() { watch::launch(self, kernel, args, run) } else { run() })
    }

    /// Runs an operation of an expert library; raises what the backend refuses.
    #[track_caller]
    pub(crate) fn library(&self, call: &LibraryCall<'_>) {
        let run = || self.backend.library(call);
        raised(if watch::is_on() { watch::library(self, call, run) } else { run() })
    }

    /// Copies bytes to the start of a buffer.
    #[track_caller]
    pub(crate) fn write(&self, to: &Buffer, bytes: &[u8]) {
        raised(self.backend.write(to, bytes))
    }

    /// Copies bytes from the start of a buffer.
    #[track_caller]
    pub(crate) fn read(&self, from: &Buffer, bytes: &mut [u8]) {
        raised(self.backend.read(from, bytes))
    }
}

/// The processor.
#[cfg(feature = "cpu")]
impl Default for Device {
    fn default() -> Self {
        Device::cpu()
    }
}

impl PartialEq for Device {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::addr_eq(self.backend, other.backend)
    }
}

impl Eq for Device {}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Device({})", self.name())
    }
}
