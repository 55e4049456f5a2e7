//! Which crate may use which.

use super::Fault;
use crate::workspace::Member;
use toml::{Table, Value};

/// What one of our crates may use of the others.
struct Row {
    name: &'static str,
    may_use: &'static [&'static str],
    /// Usable only behind a feature.
    optional: &'static [&'static str],
}

const fn row(name: &'static str, may_use: &'static [&'static str], optional: &'static [&'static str]) -> Row {
    Row { name, may_use, optional }
}

/// Every arrow there is, from the lowest crate up. A new one is a discussion first.
const TABLE: &[Row] = &[
    row("cotangent-ir", &[], &[]),
    row("cotangent-hal", &["cotangent-ir"], &[]),
    row("cotangent-gpu-lower", &["cotangent-ir"], &[]),
    row("cotangent-macros-core", &["cotangent-ir"], &["cotangent-gpu-lower"]),
    row("cotangent-macros", &["cotangent-macros-core"], &[]),
    row("cotangent-cpu", &["cotangent-hal", "cotangent-ir"], &[]),
    row("cotangent-gpu", &["cotangent-hal", "cotangent-ir", "cotangent-gpu-lower"], &[]),
    row("cotangent-cuda", &["cotangent-hal", "cotangent-ir", "cotangent-gpu-lower"], &[]),
    row(
        "cotangent-runtime",
        &["cotangent-hal", "cotangent-ir", "cotangent-macros"],
        &["cotangent-cpu", "cotangent-gpu", "cotangent-cuda"],
    ),
    row("cotangent-train", &["cotangent-runtime"], &[]),
    row("cotangent-layers", &["cotangent-runtime", "cotangent-macros"], &[]),
    row("cotangent-suite", &["cotangent-runtime"], &[]),
];

/// The facade may use every crate of [`TABLE`] but the test library.
const FACADE: &str = "cotangent";

/// Programs and tests: they may use any crate, and no crate may use them.
const LEAVES: &[&str] = &[
    "cotangent-benches",
    "cotangent-body-tests",
    "cotangent-editor-tests",
    "cotangent-native-tests",
    "cotangent-ui-tests",
    "xtask",
];

/// What the tests of any crate may use.
const FOR_TESTS: &[&str] = &[FACADE, "cotangent-suite"];

pub(super) fn check(members: &[Member]) -> Vec<Fault> {
    let mut faults = Vec::new();
    for member in members {
        let mut fault = |line, message: String| faults.push(Fault::new(&member.manifest, line, message));
        if !known(&member.name) {
            let name = &member.name;
            fault(1, format!("crate `{name}` has no row in the table of arrows; add it to `xtask/src/tidy/arrows.rs`"));
            continue;
        }
        let inherits = member.table.get("lints").and_then(|l| l.get("workspace")).and_then(Value::as_bool);
        if inherits != Some(true) {
            fault(1, format!("crate `{}` does not inherit the lints; add `[lints] workspace = true`", member.name));
        }
        for arrow in arrows(&member.table) {
            if let Some(message) = refused(&member.name, &arrow) {
                fault(line_of(&member.text, &arrow.key), message);
            }
        }
        if member.name == FACADE
            && let Some(message) = unpinned(&member.table)
        {
            fault(line_of(&member.text, "cotangent-macros"), message);
        }
    }
    faults
}

/// One dependency on a crate of ours.
struct Arrow {
    /// The name under which the manifest lists it.
    key: String,
    to: String,
    optional: bool,
    tests_only: bool,
}

fn arrows(manifest: &Table) -> Vec<Arrow> {
    let targets = manifest.get("target").and_then(Value::as_table);
    let tables =
        std::iter::once(manifest).chain(targets.into_iter().flat_map(Table::values).filter_map(Value::as_table));
    let mut found = Vec::new();
    for table in tables {
        for section in ["dependencies", "build-dependencies", "dev-dependencies"] {
            let Some(dependencies) = table.get(section).and_then(Value::as_table) else { continue };
            found.extend(dependencies.iter().filter_map(|(key, value)| {
                let to = value.get("package").and_then(Value::as_str).unwrap_or(key).to_string();
                let optional = value.get("optional").and_then(Value::as_bool) == Some(true);
                known(&to).then(|| Arrow { key: key.clone(), to, optional, tests_only: section == "dev-dependencies" })
            }));
        }
    }
    found
}

fn refused(from: &str, arrow: &Arrow) -> Option<String> {
    let to = arrow.to.as_str();
    if LEAVES.contains(&to) {
        return Some(format!("`{from}` uses `{to}`, which is a leaf: no crate may use it"));
    }
    if LEAVES.contains(&from) || (arrow.tests_only && FOR_TESTS.contains(&to)) {
        return None;
    }
    if from == FACADE {
        let test_library = to == "cotangent-suite";
        return test_library.then(|| format!("`{from}` uses `{to}`, which only tests may use"));
    }
    let row = TABLE.iter().find(|r| r.name == from)?;
    if row.may_use.contains(&to) {
        return None;
    }
    if row.optional.contains(&to) {
        return (!arrow.optional && !arrow.tests_only)
            .then(|| format!("`{from}` may use `{to}` behind a feature only; add `optional = true`"));
    }
    let all: Vec<String> = row.may_use.iter().chain(row.optional).map(|n| format!("`{n}`")).collect();
    let all = if all.is_empty() { "none of ours".into() } else { all.join(", ") };
    Some(format!("`{from}` may not use `{to}`; it may use {all}"))
}

/// What the macros emit fits one version of the facade alone.
fn unpinned(root: &Table) -> Option<String> {
    let macros = root.get("workspace")?.get("dependencies")?.get("cotangent-macros")?;
    let version = macros.get("version").and_then(Value::as_str).unwrap_or("");
    (!version.starts_with('='))
        .then(|| format!("`cotangent-macros` has version `{version}`, expected an exact one: `=..`"))
}

fn known(name: &str) -> bool {
    name == FACADE || LEAVES.contains(&name) || TABLE.iter().any(|r| r.name == name)
}

/// The line that names a dependency under a heading of dependencies.
fn line_of(manifest: &str, key: &str) -> usize {
    let mut inside = false;
    for (i, line) in manifest.lines().enumerate() {
        let line = line.trim();
        if let Some(heading) = line.strip_prefix('[') {
            inside = heading.contains("dependencies");
            if inside && heading.trim_end_matches(']').ends_with(&format!(".{key}")) {
                return i + 1;
            }
        } else if inside && line.strip_prefix(key).is_some_and(|rest| rest.starts_with(['.', ' ', '='])) {
            return i + 1;
        }
    }
    1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_manifest(name: &str, dependencies: &str, expected: &[&str]) {
        let text = format!("[package]\nname = \"{name}\"\n{dependencies}\n[lints]\nworkspace = true\n");
        let table = text.parse().expect("the test's manifest is TOML");
        let member = Member { name: name.into(), manifest: "Cargo.toml".into(), text, table };
        let faults: Vec<String> = check(&[member]).iter().map(Fault::to_string).collect();
        assert_eq!(faults, expected);
    }

    #[test]
    fn listed_arrows_pass() {
        check_manifest("cotangent-hal", "[dependencies]\ncotangent-ir.workspace = true", &[]);
        check_manifest("cotangent-hal", "[dev-dependencies]\ncotangent.workspace = true", &[]);
        check_manifest("xtask", "[dependencies]\ncotangent-cpu.workspace = true", &[]);
        let cpu = "[dependencies]\ncotangent-cpu = { workspace = true, optional = true }";
        check_manifest("cotangent-runtime", cpu, &[]);
    }

    #[test]
    fn other_arrows_are_refused_with_their_line() {
        check_manifest(
            "cotangent-hal",
            "[dependencies]\ncotangent-runtime.workspace = true",
            &["Cargo.toml:4: `cotangent-hal` may not use `cotangent-runtime`; it may use `cotangent-ir`"],
        );
        check_manifest(
            "cotangent-ir",
            "[target.'cfg(unix)'.dependencies]\nh = { path = \"..\", package = \"cotangent-hal\" }",
            &["Cargo.toml:4: `cotangent-ir` may not use `cotangent-hal`; it may use none of ours"],
        );
        check_manifest(
            "cotangent-runtime",
            "[dependencies.cotangent-cpu]\nworkspace = true",
            &["Cargo.toml:3: `cotangent-runtime` may use `cotangent-cpu` behind a feature only; add `optional = true`"],
        );
        check_manifest(
            "cotangent-layers",
            "[dependencies]\nxtask.workspace = true",
            &["Cargo.toml:4: `cotangent-layers` uses `xtask`, which is a leaf: no crate may use it"],
        );
    }

    #[test]
    fn a_crate_without_a_row_is_refused() {
        let message = "Cargo.toml:1: crate `cotangent-new` has no row in the table of arrows; \
                       add it to `xtask/src/tidy/arrows.rs`";
        check_manifest("cotangent-new", "", &[message]);
    }
}
