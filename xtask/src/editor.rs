//! `cargo xtask editor`: what an editor offers inside of models and kernels, asked of rust-analyzer.

use crate::options::{Given, Opt, Program};
use crate::tools::installed;
use crate::workspace;
use std::process::Command;

pub(crate) const PROGRAM: Program = Program {
    name: "cargo xtask editor",
    about: "asks rust-analyzer, where it is installed, what it knows in bodies of models and kernels",
    arguments: &[],
    options: &[Opt { name: "--show", value: "", help: "print every answer" }],
};

/// Why rust-analyzer cannot be asked here, if so.
pub(crate) fn missing() -> Option<String> {
    let help = "`rustup component add rust-analyzer rust-src` brings it";
    (!installed("rust-analyzer", &[])).then(|| format!("rust-analyzer is not installed; {help}"))
}

pub(crate) fn run(given: &Given) -> Result<bool, String> {
    if let Some(why) = missing() {
        return Err(why);
    }
    let mut cargo = Command::new("cargo");
    cargo.args(["test", "-p", "cotangent-editor-tests", "--quiet", "--", "--nocapture"]);
    cargo.env("COTANGENT_EDITOR", if given.has("--show") { "show" } else { "1" });
    let status = cargo.current_dir(workspace::root()).status().map_err(|e| format!("`cargo test`: {e}"))?;
    Ok(status.success())
}
