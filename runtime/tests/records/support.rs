//! Files for tests, and records written by hand.

use cotangent::prelude::*;
use cotangent::record::Record;
use serde_json::{Value, json};
use std::path::PathBuf;

pub(crate) fn device() -> Device {
    Device::cpu()
}

/// A folder of one test, removed at its end.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new(test: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("cotangent-records-{}-{test}", std::process::id()));
        std::fs::create_dir_all(&path).expect("a folder");
        Folder(path)
    }

    pub(crate) fn join(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// A file that holds a record written by hand.
    pub(crate) fn file(&self, tensors: &[Stored<'_>], texts: Value) -> PathBuf {
        let path = self.join("by-hand.safetensors");
        std::fs::write(&path, by_hand(tensors, texts)).expect("written");
        path
    }

    pub(crate) fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(&self.0).expect("a folder");
        let mut names: Vec<String> =
            entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Name, dtype, shape and bytes of a tensor.
pub(crate) type Stored<'a> = (&'a str, &'a str, &'a [usize], Vec<u8>);

/// An `F32` tensor.
pub(crate) fn f32s<'a>(name: &'a str, shape: &'a [usize], values: &[f32]) -> Stored<'a> {
    (name, "F32", shape, values.iter().flat_map(|v| v.to_le_bytes()).collect())
}

/// The bytes of a record, tensor after tensor.
pub(crate) fn by_hand(tensors: &[Stored<'_>], texts: Value) -> Vec<u8> {
    let (mut header, mut data) = (json!({ "__metadata__": texts }), Vec::new());
    for (name, dtype, shape, bytes) in tensors {
        let start = data.len();
        data.extend_from_slice(bytes);
        header[*name] = json!({ "dtype": dtype, "shape": shape, "data_offsets": [start, data.len()] });
    }
    with_header(header.to_string().as_bytes(), &data)
}

/// A header, whatever it holds, and data.
pub(crate) fn with_header(header: &[u8], data: &[u8]) -> Vec<u8> {
    [&(header.len() as u64).to_le_bytes()[..], header, data].concat()
}

/// Checks that a result is an error that names all of `parts`.
#[track_caller]
pub(crate) fn check_refused<T>(result: Result<T, Error>, parts: &[&str]) {
    let Err(error) = result else { panic!("an error was expected that names {parts:?}") };
    let text = error.to_string();
    for part in parts {
        assert!(text.contains(part), "`{part}` is missing in: {text}");
    }
}

/// Checks that bytes are no record, for reasons that name all of `parts`.
#[track_caller]
pub(crate) fn check_no_record(bytes: Vec<u8>, parts: &[&str]) {
    let result = Record::from_bytes("given.safetensors", bytes);
    assert!(matches!(result, Ok(_) | Err(Error::Record { .. })), "an error of another kind");
    check_refused(result, &[&["`given.safetensors`"], parts].concat());
}
