//! `cargo xtask golden DIR`: what the framework computes, held against a folder of reference cases.
//!
//! A case is a `.safetensors` file whose metadata names an operation and its arguments, and which holds inputs, results,
//! cotangents of the results and gradients. Nothing here depends on file names: any folder of that form runs.

mod activations;
mod attention;
mod case;
mod compare;
mod elementwise;
mod further;
mod inputs;
mod kinds;
mod layers;
mod losses;
mod movement;
mod ops;
mod optim;
mod reductions;
mod registry;
mod vision;

use crate::options::{Given, Opt, Program};
use case::Case;
use inputs::{Inputs, Layout, Stop};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

pub(crate) const PROGRAM: Program = Program {
    name: "cargo xtask golden",
    about: "holds operations, layers, losses and optimisers against reference cases",
    arguments: &["DIR"],
    options: &[
        Opt { name: "--group", value: "GROUP", help: "run one group alone: a folder directly under DIR" },
        Opt { name: "--verbose", value: "", help: "name the cases that pass, too" },
    ],
};

/// How many cases went which way.
#[derive(Default)]
struct Tally {
    passed: usize,
    attempted: usize,
    /// What is not there, with the number of cases that need it.
    skipped: BTreeMap<String, usize>,
}

pub(crate) fn run(given: &Given) -> Result<bool, String> {
    let tally = run_all(Path::new(given.argument(0)), given.text("--group"), given.has("--verbose"))?;
    let skipped: Vec<String> = tally.skipped.iter().map(|(name, n)| format!("{name} {n}")).collect();
    println!("skipped: {} ({})", tally.skipped.values().sum::<usize>(), skipped.join(", "));
    println!("golden: {}/{}", tally.passed, tally.attempted);
    Ok(tally.passed == tally.attempted)
}

/// Runs the cases of a folder, or of one group of it.
fn run_all(dir: &Path, group: Option<&str>, verbose: bool) -> Result<Tally, String> {
    let mut files = Vec::new();
    collect(dir, &mut files)?;
    files.sort();
    let mut tally = Tally::default();
    for path in &files {
        let name = path.strip_prefix(dir).unwrap_or(path).with_extension("");
        if group.is_none_or(|g| name.starts_with(g)) {
            one(path, &name.display().to_string(), verbose, &mut tally);
        }
    }
    if tally.attempted == 0 && tally.skipped.is_empty() {
        let within = group.map_or(String::new(), |g| format!(" in group `{g}`"));
        return Err(format!("`{}` holds no `.safetensors` file{within}", dir.display()));
    }
    Ok(tally)
}

/// How many cases of a folder there are of each operation, by PyTorch's name.
pub(crate) fn counts(dir: &Path) -> Result<BTreeMap<String, usize>, String> {
    let (mut files, mut counts) = (vec![], BTreeMap::new());
    collect(dir, &mut files)?;
    for file in files {
        *counts.entry(Case::read(&file)?.op).or_default() += 1;
    }
    Ok(counts)
}

fn collect(dir: &Path, files: &mut Vec<PathBuf>) -> Result<(), String> {
    let fail = |e: std::io::Error| format!("`{}` cannot be read: {e}", dir.display());
    for entry in std::fs::read_dir(dir).map_err(fail)? {
        let path = entry.map_err(fail)?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else if path.extension().is_some_and(|e| e == "safetensors") {
            files.push(path);
        }
    }
    Ok(())
}

fn one(path: &Path, name: &str, verbose: bool, tally: &mut Tally) {
    let result = Case::read(path).and_then(|case| verdict(&case));
    match result {
        Ok(Some(missing)) => {
            if verbose {
                println!("skipped {name}: {missing}");
            }
            *tally.skipped.entry(missing).or_default() += 1;
            return;
        }
        Ok(None) => {
            tally.passed += 1;
            if verbose {
                println!("passed {name}");
            }
        }
        Err(fault) => println!("FAILED {name}: {fault}"),
    }
    tally.attempted += 1;
}

/// Runs a case once for each layout of its inputs. `Some` names what is missing to run it.
fn verdict(case: &Case) -> Result<Option<String>, String> {
    let Some(entry) = registry::entry(&case.op) else { return Ok(Some(case.op.clone())) };
    for layout in Layout::ALL {
        let inputs = Inputs::new(case, layout);
        let what = |fault: String| format!("`{}` {} ({layout}): {fault}", case.op, case.args);
        let results = match cotangent::attempt(|| entry(&inputs)) {
            Err(raised) => return Err(what(format!("raised: {raised}"))),
            Ok(Err(Stop::Fault(fault))) => return Err(what(fault)),
            Ok(Err(Stop::Missing(missing))) => return Ok(Some(missing)),
            Ok(Ok(results)) => results,
        };
        let unread = inputs.unread();
        if !unread.is_empty() {
            return Err(what(format!("`{}` is not used", unread.join("`, `"))));
        }
        compare::results(case, &results).map_err(what)?;
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    /// The cases that the repository holds: all of them run, and all pass.
    #[test]
    fn cases() {
        let dir = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/golden");
        let tally = super::run_all(&dir, None, false).expect("a folder of cases");
        assert!(tally.skipped.is_empty(), "not there: {:?}", tally.skipped);
        assert_eq!(tally.passed, tally.attempted);
        assert!(tally.passed >= 124, "{} cases", tally.passed);
    }
}
