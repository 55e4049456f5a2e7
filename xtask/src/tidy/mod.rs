//! `cargo xtask tidy`: the rules of the house that neither rustc nor clippy knows.

mod arrows;
mod rules;
mod text;

use crate::options::{Given, Program};
use crate::workspace;
use std::fmt;
use std::path::{Path, PathBuf};

pub(crate) const PROGRAM: Program = Program {
    name: "cargo xtask tidy",
    about: "checks the arrows between crates, one UI test per rule, file lengths, stubs and leftovers",
    arguments: &[],
    options: &[],
};

/// One thing to mend.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Fault {
    path: PathBuf,
    line: usize,
    message: String,
}

impl Fault {
    fn new(path: &Path, line: usize, message: impl Into<String>) -> Fault {
        Fault { path: path.to_path_buf(), line, message: message.into() }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.path.display(), self.line, self.message)
    }
}

pub(crate) fn run(_: &Given) -> Result<bool, String> {
    let (members, files) = (workspace::members()?, workspace::files()?);
    let mut faults = arrows::check(&members);
    let rules = rules::check(&files, &mut faults)?;
    for path in &files {
        // Archives and other binary files are no text to read.
        if let Ok(text) = workspace::read(path) {
            text::check(path, &text, &mut faults);
        }
    }
    text::stale(&files, &mut faults);
    faults.sort();
    for fault in &faults {
        println!("{fault}");
    }
    println!("tidy: {} files, {} crates, {rules} rules, {} faults", files.len(), members.len(), faults.len());
    Ok(faults.is_empty())
}
