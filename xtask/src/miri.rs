//! `cargo xtask miri`: the tests of memory, views and launches under Miri, which finds undefined behaviour.

use crate::options::{Given, Opt, Program};
use crate::workspace;
use std::process::{Command, Stdio};

pub(crate) const PROGRAM: Program = Program {
    name: "cargo xtask miri",
    about: "runs tests under Miri, where a nightly toolchain has it",
    arguments: &[],
    options: &[Opt {
        name: "--all",
        value: "",
        help: "all tests of the backend and its interface, which takes an hour",
    }],
};

/// The tests of pooled memory, which share blocks between threads.
const FEW: &[&str] = &["-p", "cotangent-cpu", "--test", "memory"];

/// All code that lifts `unsafe_code`, and what it is called through.
const ALL: &[&str] = &["-p", "cotangent-cpu", "-p", "cotangent-hal"];

/// Why Miri cannot be run here, if so.
fn missing() -> Option<String> {
    let probe = Command::new("cargo")
        .args(["+nightly", "miri", "--version"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    let help = "`rustup toolchain install nightly --component miri,rust-src` brings it";
    (!probe.is_ok_and(|s| s.success())).then(|| format!("Miri is not installed; {help}"))
}

pub(crate) fn run(given: &Given) -> Result<bool, String> {
    if let Some(why) = missing() {
        return Err(why);
    }
    let tests = if given.has("--all") { ALL } else { FEW };
    let mut cargo = Command::new("cargo");
    // Miri builds for itself: in a folder of its own it leaves the other builds as they are.
    let target = workspace::root().join("target/miri");
    cargo.args(["+nightly", "miri", "test", "--target-dir"]).arg(target).args(tests);
    let status = cargo.current_dir(workspace::root()).status().map_err(|e| format!("`cargo miri`: {e}"))?;
    Ok(status.success())
}
