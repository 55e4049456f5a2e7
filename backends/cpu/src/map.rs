//! Files mapped into memory.
#![allow(unsafe_code, reason = "maps a file")]

use std::path::Path;

/// A file's contents, whose pages are read when they are looked at.
pub struct Mapped(Option<memmap2::Mmap>);

impl std::ops::Deref for Mapped {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        self.0.as_deref().unwrap_or_default()
    }
}

/// Maps a file for reading.
///
/// The file must not be changed while it is mapped; records are replaced by renaming, which leaves the mapped file as it
/// is.
///
/// # Errors
/// Those of opening and mapping the file.
pub fn map_file(path: &Path) -> std::io::Result<Mapped> {
    let file = std::fs::File::open(path)?;
    let metadata = file.metadata()?;
    if metadata.is_dir() {
        return Err(std::io::Error::new(std::io::ErrorKind::IsADirectory, "it is a folder, expected a file"));
    }
    if metadata.len() == 0 {
        return Ok(Mapped(None));
    }
    // SAFETY: the map is read only, and what this crate's users write replaces files instead of changing them; a program
    // that changes a file while it is open as a record breaks the contract stated above.
    let map = unsafe { memmap2::Mmap::map(&file)? };
    Ok(Mapped(Some(map)))
}
