//! One UI test for each rule of the language, and no UI test for nothing.
//!
//! A rule is a function at the top level of a `check.rs` (or of a file under `check/`) that takes `diags`; its name is
//! its id. The function that applies them all starts its doc with "Reports" and is no rule. A test of something else,
//! such as a shape error that rustc evaluates, starts with the line `//! Scenario:` and what it shows.

use super::Fault;
use crate::workspace;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The first words of a test that covers no rule.
const SCENARIO: &str = "//! Scenario:";

/// The macros that have rules of their own: each has its folder of sources and its folder of tests.
const LANGUAGES: &[&str] = &["model", "kernel"];

/// Adds what is missing or left over to `faults`; returns the number of rules.
pub(super) fn check(files: &[PathBuf], faults: &mut Vec<Fault>) -> Result<usize, String> {
    let mut count = 0;
    for language in LANGUAGES {
        let sources = Path::new("macros/core/src").join(language);
        let tests = Path::new("ui-tests/fail").join(language);
        let mut rules = BTreeMap::new();
        for path in files.iter().filter(|p| p.starts_with(&sources) && holds_rules(p)) {
            for (line, name) in rules_of(&workspace::read(path)?) {
                rules.insert(name, (path.as_path(), line));
            }
        }
        let cases: Vec<&PathBuf> = files.iter().filter(|p| p.starts_with(&tests) && is_rust(p)).collect();
        for case in &cases {
            let stderr = case.with_extension("stderr");
            if !files.contains(&stderr) {
                faults.push(Fault::new(case, 1, format!("there is no `{}` beside it", stderr.display())));
            }
            if !rules.contains_key(stem(case)) && !workspace::read(case)?.starts_with(SCENARIO) {
                let message =
                    format!("no rule is named `{}`; a test of something else starts `{SCENARIO}`", stem(case));
                faults.push(Fault::new(case, 1, message));
            }
        }
        for (rule, (path, line)) in &rules {
            if !cases.iter().any(|c| stem(c) == rule) {
                let test = tests.join(rule).with_extension("rs");
                faults.push(Fault::new(path, *line, format!("rule `{rule}` has no test `{}`", test.display())));
            }
        }
        count += rules.len();
    }
    Ok(count)
}

fn is_rust(path: &Path) -> bool {
    path.extension().is_some_and(|e| e == "rs")
}

fn stem(path: &Path) -> &str {
    path.file_stem().and_then(|s| s.to_str()).unwrap_or("")
}

fn holds_rules(path: &Path) -> bool {
    path.ends_with("check.rs") || (is_rust(path) && path.components().any(|c| c.as_os_str() == "check"))
}

/// The first words of the doc of a function that applies rules.
const DRIVER: &str = "/// Reports";

/// The rules of one file, each with its line: rustfmt puts a top-level item at the start of a line.
fn rules_of(source: &str) -> Vec<(usize, String)> {
    let mut rules = Vec::new();
    let (mut offset, mut driver) = (0, false);
    for (i, line) in source.split_inclusive('\n').enumerate() {
        let signature =
            ["fn ", "pub fn ", "pub(super) fn ", "pub(crate) fn "].iter().find_map(|p| line.strip_prefix(p));
        if let Some(signature) = signature {
            let name = signature.split(['(', '<']).next().unwrap_or("").trim();
            // The parameter list ends where the body opens.
            let head = source[offset..].split('{').next().unwrap_or("");
            if !driver && head.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == "diags") {
                rules.push((i + 1, name.to_string()));
            }
        }
        // Further lines of the doc and attributes stand between its first line and the function.
        driver = line.starts_with(DRIVER) || (driver && (line.starts_with("///") || line.starts_with("#[")));
        offset += line.len();
    }
    rules
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_functions_that_take_diags() {
        let source = "/// Reports what is wrong.\n/// All of it.\npub(super) fn model(ir: &Ir, diags: &mut Diags) {}\n\
                      fn axis_mismatch(ir: &Ir, diags: &mut Diags) {}\n\
                      fn name_of(ir: &Ir) -> &str { diags() }\n\
                      pub(super) fn long_one<'a>(\n    ir: &'a Ir,\n    diags: &mut Diags,\n) {\n}\n\
                      mod tests {\n    fn inner(diags: u8) {}\n}\n";
        assert_eq!(rules_of(source), [(4, "axis_mismatch".to_string()), (6, "long_one".to_string())]);
    }
}
