//! Programs that a machine may lack.

use std::process::{Command, Stdio};

/// Whether a program, called with these words, says its version.
pub(crate) fn installed(program: &str, words: &[&str]) -> bool {
    let mut probe = Command::new(program);
    probe.args(words).arg("--version").stdout(Stdio::null()).stderr(Stdio::null());
    probe.status().is_ok_and(|s| s.success())
}
