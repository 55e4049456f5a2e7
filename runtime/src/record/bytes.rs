//! The bytes of a file, mapped where the target can.

use cotangent_hal::{Error, Result};
use std::path::Path;

/// The contents of a record.
pub(super) enum Bytes {
    /// Read or given as a whole.
    Owned(Vec<u8>),
    /// Mapped: pages are read when they are looked at.
    #[cfg(all(feature = "cpu", feature = "std"))]
    Mapped(cotangent_cpu::Mapped),
}

impl std::ops::Deref for Bytes {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        match self {
            Bytes::Owned(bytes) => bytes,
            #[cfg(all(feature = "cpu", feature = "std"))]
            Bytes::Mapped(bytes) => bytes,
        }
    }
}

/// Opens a file.
pub(super) fn open(path: &Path) -> Result<Bytes> {
    #[cfg(all(feature = "cpu", feature = "std"))]
    let bytes = cotangent_cpu::map_file(path).map(Bytes::Mapped);
    #[cfg(not(all(feature = "cpu", feature = "std")))]
    let bytes = std::fs::read(path).map(Bytes::Owned);
    bytes.map_err(|e| io(path, &e))
}

/// An error of the operating system.
pub(super) fn io(path: &Path, error: &std::io::Error) -> Error {
    Error::Io { path: path.display().to_string(), message: error.to_string() }
}
