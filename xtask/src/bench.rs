//! `cargo xtask bench`: the figures that are quoted, measured on this machine.

use crate::options::{Given, Opt, Program};
use crate::workspace;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Instant;

pub(crate) const PROGRAM: Program = Program {
    name: "cargo xtask bench",
    about: "measures operations, start-up, size and training in release mode",
    arguments: &[],
    options: &[
        Opt { name: "--json", value: "FILE", help: "write the figures to a file too" },
        Opt { name: "--mnist", value: "", help: "train the MNIST example for three epochs too" },
    ],
};

/// How often a process is started.
const STARTS: usize = 20;

/// One figure.
struct Figure {
    name: String,
    value: f64,
    unit: String,
}

pub(crate) fn run(given: &Given) -> Result<bool, String> {
    let start = build(&["-p", "cotangent-benches", "--bin", "start"])?;
    let measure = build(&["-p", "cotangent-benches", "--bin", "measure"])?;
    let mut figures = measured(&measure)?;
    figures.push(Figure { name: "process to first result".into(), value: start_up(&start)?, unit: "ms".into() });
    let size = std::fs::metadata(&start).map_err(|e| format!("`{}` cannot be read: {e}", start.display()))?.len();
    figures.push(Figure { name: "stripped program".into(), value: size as f64 / 1e6, unit: "MB".into() });
    if given.has("--mnist") {
        figures.push(mnist_epoch()?);
    }
    let width = figures.iter().map(|f| f.name.len()).max().unwrap_or(0);
    for f in &figures {
        println!("{:width$}  {:>10.3} {}", f.name, f.value, f.unit);
    }
    let list: Vec<Value> =
        figures.iter().map(|f| json!({ "name": f.name, "value": f.value, "unit": f.unit })).collect();
    write(given, &list)?;
    Ok(true)
}

/// Writes figures to the file that `--json` names, if it was given.
pub(crate) fn write(given: &Given, figures: &[Value]) -> Result<(), String> {
    let Some(path) = given.text("--json") else { return Ok(()) };
    let text = format!("{:#}\n", json!({ "figures": figures }));
    std::fs::write(path, text).map_err(|e| format!("`{path}` cannot be written: {e}"))
}

/// Builds a program in release mode and says where it is. Symbols are stripped as the root manifest says.
pub(crate) fn build(words: &[&str]) -> Result<PathBuf, String> {
    let output = Command::new("cargo")
        .args(["build", "--release", "--quiet", "--message-format=json"])
        .args(words)
        .current_dir(workspace::root())
        .stderr(Stdio::inherit())
        .output()
        .map_err(|e| format!("`cargo` cannot be run: {e}"))?;
    let lines = String::from_utf8_lossy(&output.stdout);
    let messages = lines.lines().filter_map(|l| serde_json::from_str::<Value>(l).ok());
    let mut programs = messages.filter_map(|m| m.get("executable")?.as_str().map(PathBuf::from));
    programs
        .next_back()
        .filter(|_| output.status.success())
        .ok_or_else(|| format!("`cargo build {}` failed", words.join(" ")))
}

pub(crate) fn output_of(command: &mut Command) -> Result<String, String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command.stderr(Stdio::inherit()).output().map_err(|e| format!("`{name}` cannot be run: {e}"))?;
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    } else {
        Err(format!("`{name}`: {}", output.status))
    }
}

fn measured(program: &PathBuf) -> Result<Vec<Figure>, String> {
    let output = output_of(&mut Command::new(program))?;
    let figure = |line: &str| {
        let value: Value = serde_json::from_str(line).ok()?;
        let text = |key| value.get(key).and_then(Value::as_str).map(str::to_string);
        Some(Figure { name: text("name")?, value: value.get("value")?.as_f64()?, unit: text("unit")? })
    };
    output.lines().map(|l| figure(l).ok_or_else(|| format!("`measure` printed `{l}`, expected a figure"))).collect()
}

/// The median time in milliseconds of a process that computes one result.
fn start_up(program: &PathBuf) -> Result<f64, String> {
    let mut samples = Vec::with_capacity(STARTS);
    // The first start reads the program from disk.
    for start in 0..=STARTS {
        let begin = Instant::now();
        output_of(&mut Command::new(program))?;
        if start > 0 {
            samples.push(begin.elapsed().as_secs_f64() * 1e3);
        }
    }
    Ok(median(samples))
}

/// Seconds of an epoch of training, as the example reports them at the end of each line.
fn mnist_epoch() -> Result<Figure, String> {
    let program = build(&["--example", "mnist"])?;
    let output = output_of(Command::new(program).args(["--epochs", "3"]))?;
    let seconds = |line: &str| line.strip_prefix("epoch ")?.rsplit(' ').nth(1)?.parse().ok();
    let samples: Vec<f64> = output.lines().filter_map(seconds).collect();
    if samples.is_empty() {
        return Err("`mnist` printed no line `epoch ..` that ends in seconds".into());
    }
    Ok(Figure { name: "MNIST epoch".into(), value: median(samples), unit: "s".into() })
}

pub(crate) fn median(mut samples: Vec<f64>) -> f64 {
    samples.sort_by(f64::total_cmp);
    samples[samples.len() / 2]
}
