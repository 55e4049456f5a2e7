//! A small crate that uses the framework, in a folder of its own.

use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// A crate of one file in a temporary folder, which is removed when this is dropped.
pub struct Project {
    folder: PathBuf,
    workspace: PathBuf,
    target: PathBuf,
}

impl Project {
    /// A crate with `text` as its `lib.rs`, which depends on the facade in `workspace` and builds into `target`.
    ///
    /// # Errors
    /// Where a file cannot be written.
    pub fn new(text: &str, workspace: &Path, target: &Path) -> std::io::Result<Project> {
        let folder = std::env::temp_dir().join(format!("cotangent-editor-{}", std::process::id()));
        let project = Project { folder, workspace: workspace.into(), target: target.into() };
        std::fs::create_dir_all(project.folder.join("src"))?;
        std::fs::write(project.folder.join("Cargo.toml"), project.manifest())?;
        // The versions that are here, since nothing can be fetched.
        std::fs::copy(workspace.join("Cargo.lock"), project.folder.join("Cargo.lock"))?;
        std::fs::copy(workspace.join("rust-toolchain.toml"), project.folder.join("rust-toolchain.toml"))?;
        std::fs::write(project.file(), text)?;
        Ok(project)
    }

    fn manifest(&self) -> String {
        let facade = self.workspace.display();
        format!(
            "[package]\nname = \"user\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n\
             [dependencies]\ncotangent = {{ path = \"{facade}\" }}\n\n[workspace]\n"
        )
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// The file with the text.
    pub fn file(&self) -> PathBuf {
        self.folder.join("src/lib.rs")
    }

    /// How rust-analyzer is to work on it: offline, and building no more than the macros.
    pub(crate) fn settings(&self) -> Value {
        let build = ["cargo", "build", "--offline", "--quiet", "-p", "cotangent-macros", "--message-format=json"];
        json!({
            "cargo": {
                "extraArgs": ["--offline"],
                "extraEnv": { "CARGO_TARGET_DIR": self.target },
                "buildScripts": { "enable": true, "overrideCommand": build },
            },
            "procMacro": { "enable": true, "attributes": { "enable": true } },
            "checkOnSave": false,
            "cachePriming": { "enable": false },
        })
    }
}

impl Drop for Project {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}
