//! `cargo xtask expand`: what a macro makes of one item.

use crate::options::{Given, Opt, Program};
use crate::workspace;
use std::process::{Command, Stdio};

pub(crate) const PROGRAM: Program = Program {
    name: "cargo xtask expand",
    about: "prints the formatted expansion of one `#[model]` or `#[kernel]` item",
    arguments: &["NAME"],
    options: &[
        Opt { name: "-p", value: "PACKAGE", help: "the package that holds the item [cotangent-layers]" },
        Opt { name: "--example", value: "EXAMPLE", help: "the example of the facade that holds the item" },
        Opt { name: "--test", value: "TEST", help: "the integration test of the package that holds the item" },
    ],
};

/// The variable through which the macros learn what to print.
const DUMP: &str = "COTANGENT_DUMP";

pub(crate) fn run(given: &Given) -> Result<bool, String> {
    let name = given.argument(0);
    let example = given.text("--example");
    let package = given.text("-p").unwrap_or(if example.is_some() { "cotangent" } else { "cotangent-layers" });
    let mut cargo = Command::new("cargo");
    // The compiler's own messages go to the standard output as JSON, which leaves the expansion alone on the other.
    cargo
        .args(["check", "--quiet", "--message-format=json", "-p", package])
        .env(DUMP, name)
        .current_dir(workspace::root());
    if let Some(example) = example {
        cargo.args(["--example", example]);
    }
    if let Some(test) = given.text("--test") {
        cargo.args(["--test", test]);
    }
    let output = cargo.stderr(Stdio::piped()).output().map_err(|e| format!("`cargo check` cannot be run: {e}"))?;
    let expansion = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        eprint!("{}", rendered(&output.stdout));
    }
    if expansion.trim().is_empty() {
        let place = example.map_or(format!("package `{package}`"), |e| format!("example `{e}`"));
        return Err(format!("no macro expanded an item `{name}` in {place}; `-p`, `--example` and `--test` say where"));
    }
    print!("{expansion}");
    Ok(output.status.success())
}

/// The compiler's messages as it would have printed them.
fn rendered(json: &[u8]) -> String {
    let lines = String::from_utf8_lossy(json);
    let messages = lines.lines().filter_map(|l| serde_json::from_str::<serde_json::Value>(l).ok());
    messages.filter_map(|m| Some(m.get("message")?.get("rendered")?.as_str()?.to_string())).collect()
}
