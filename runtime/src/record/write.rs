//! Writing a safetensors file: beside its place first, then under its name.

use super::bytes::io;
use super::dtype;
use crate::model::{Erased, Leaf, Path as Place, Ties};
use crate::tensor::Tensor;
use cotangent_hal::{Error, Result};
use safetensors::tensor::TensorView;
use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// What goes into a file.
#[derive(Default)]
pub(crate) struct Writer {
    pub(crate) tensors: BTreeMap<String, Tensor>,
    pub(crate) metadata: BTreeMap<String, String>,
}

/// The tensors of a model by path; a tied one once, under its owner's path.
pub(crate) fn model_tensors(model: &dyn Erased) -> Vec<(String, Tensor)> {
    let ties = Ties::of(model);
    let mut tensors = Vec::new();
    model.visit_leaves(&Place::ROOT, &mut |path, leaf| {
        let tensor = match leaf {
            Leaf::Param(param) => param.tensor(),
            Leaf::State(state) => state.get(),
            Leaf::Tie { .. } => return,
        };
        let path = path.to_string();
        if !ties.is_alias(&path) {
            tensors.push((path, tensor));
        }
    });
    tensors
}

impl Writer {
    /// Writes the file. One that had the name stays as it is until the new one is complete.
    pub(crate) fn save(&self, path: &Path) -> Result<()> {
        let bytes = self.bytes(path)?;
        let beside = beside(path);
        let written = write(&beside, &bytes).and_then(|()| std::fs::rename(&beside, path));
        written.map_err(|e| {
            // The error that counts is the first one; what is left of the attempt is of no use.
            let _ = std::fs::remove_file(&beside);
            io(path, &e)
        })?;
        keep_name(path).map_err(|e| io(path, &e))
    }

    fn bytes(&self, path: &Path) -> Result<Vec<u8>> {
        let fault = |e: safetensors::SafeTensorError| Error::Record {
            record: path.display().to_string(),
            misfits: vec![format!("it cannot be written: {e}")],
        };
        let stored: Vec<(&String, &Tensor, Vec<u8>)> = self
            .tensors
            .iter()
            .map(|(name, tensor)| {
                let mut bytes = vec![0; tensor.numel() * tensor.dtype().size()];
                tensor.raw.read_into(&mut bytes);
                dtype::in_file_order(tensor.dtype(), &mut bytes);
                (name, tensor, bytes)
            })
            .collect();
        let mut views = Vec::with_capacity(stored.len());
        for (name, tensor, bytes) in &stored {
            let view = TensorView::new(dtype::written(tensor.dtype()), tensor.shape().to_vec(), bytes);
            views.push((name.as_str(), view.map_err(fault)?));
        }
        // Which map it takes depends on the features that the program gives `safetensors`.
        safetensors::serialize(views, Some(self.metadata.clone().into_iter().collect())).map_err(fault)
    }
}

fn write(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let mut file = std::fs::File::create(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

/// Where a file is written before it takes its name: in the same folder, and unlike that of any other writer.
fn beside(path: &Path) -> PathBuf {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let name = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    let (process, count) = (std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
    path.with_file_name(format!(".{name}.{process}-{count}.tmp"))
}

/// Writes the folder's entry for `path` to disk, so that a renamed file keeps its name when the machine stops.
#[cfg(unix)]
fn keep_name(path: &Path) -> std::io::Result<()> {
    use std::io::ErrorKind;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // A folder may permit writing without reading, and some file systems have no such call.
    let Ok(folder) = std::fs::File::open(folder) else { return Ok(()) };
    let absent = |e: &std::io::Error| matches!(e.kind(), ErrorKind::InvalidInput | ErrorKind::Unsupported);
    folder.sync_all().or_else(|e| if absent(&e) { Ok(()) } else { Err(e) })
}

/// Folders cannot be written to disk by themselves here.
#[cfg(not(unix))]
fn keep_name(_: &Path) -> std::io::Result<()> {
    Ok(())
}
