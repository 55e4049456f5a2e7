//! `cargo xtask ci`: every check there is, cheap ones first.

use crate::options::{Given, Opt, Program};
use crate::tools::installed;
use crate::{budget, editor, miri, tidy, workspace};
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

pub(crate) const PROGRAM: Program = Program {
    name: "cargo xtask ci",
    about: "runs every check of the project, as CI does",
    arguments: &[],
    options: &[
        Opt { name: "--keep-going", value: "", help: "go on after a step that fails" },
        Opt { name: "--only", value: "STEP", help: "run one step alone" },
        Opt { name: "--list", value: "", help: "name the steps and run none" },
    ],
};

/// One check.
struct Step {
    name: &'static str,
    check: Check,
}

enum Check {
    /// A cargo command, with variables of its environment.
    Cargo(&'static [&'static str], &'static [(&'static str, &'static str)]),
    /// A command of ours.
    Own(fn(&Given) -> Result<bool, String>),
    /// Another one, left out where the first function says why it cannot run here.
    Where(fn() -> Option<String>, fn(&Given) -> Result<bool, String>),
    /// The unit and integration tests.
    Tests,
    /// What `cargo deny` checks, where it is installed.
    Deny,
    /// One epoch of the MNIST example, whose last line must give at least this accuracy.
    Mnist(f64),
}

/// A snapshot that differs is a fault, never a new snapshot.
const SNAPSHOTS: &[(&str, &str)] = &[("INSTA_UPDATE", "no")];

/// Tensors from and to other crates' arrays, each behind a feature.
const FEATURES: &[&str] =
    &["test", "-p", "cotangent-runtime", "--features", "ndarray,image", "--test", "interop", "--quiet"];

const STEPS: &[Step] = &[
    Step { name: "fmt", check: Check::Cargo(&["fmt", "--all", "--check"], &[]) },
    Step { name: "tidy", check: Check::Own(tidy::run) },
    Step {
        name: "clippy",
        check: Check::Cargo(&["clippy", "--workspace", "--all-targets", "--quiet", "--", "-D", "warnings"], &[]),
    },
    Step { name: "tests", check: Check::Tests },
    Step { name: "features", check: Check::Cargo(FEATURES, &[]) },
    Step { name: "doc-tests", check: Check::Cargo(&["test", "--workspace", "--doc", "--quiet"], SNAPSHOTS) },
    Step {
        name: "docs",
        check: Check::Cargo(&["doc", "--workspace", "--no-deps", "--quiet"], &[("RUSTDOCFLAGS", "-D warnings")]),
    },
    Step { name: "budget", check: Check::Own(budget::run) },
    Step { name: "mnist", check: Check::Mnist(0.8) },
    Step { name: "miri", check: Check::Where(miri::missing, miri::run) },
    Step { name: "editor", check: Check::Where(editor::missing, editor::run) },
    Step { name: "deny", check: Check::Deny },
];

/// What became of a step.
enum Verdict {
    Passed,
    Failed(String),
    /// It could not run here, with the reason.
    LeftOut(String),
}

pub(crate) fn run(given: &Given) -> Result<bool, String> {
    let names: Vec<&str> = STEPS.iter().map(|s| s.name).collect();
    if given.has("--list") {
        println!("{}", names.join("\n"));
        return Ok(true);
    }
    let only = given.text("--only");
    if let Some(name) = only.filter(|n| !names.contains(n)) {
        return Err(format!("unknown step `{name}`; the steps are `{}`", names.join("`, `")));
    }
    let mut done = Vec::new();
    for step in STEPS.iter().filter(|s| only.is_none_or(|n| n == s.name)) {
        println!("==> {}", step.name);
        let start = Instant::now();
        let verdict = verdict(step, given);
        let (time, failed) = (start.elapsed(), matches!(verdict, Verdict::Failed(_)));
        println!("<== {} {}\n", step.name, line(&verdict, time));
        done.push((step.name, verdict, time));
        if failed && !given.has("--keep-going") {
            break;
        }
    }
    for (name, verdict, time) in &done {
        println!("{name:10} {}", line(verdict, *time));
    }
    let failed = done.iter().filter(|(_, v, _)| matches!(v, Verdict::Failed(_))).count();
    let passed = done.iter().filter(|(_, v, _)| matches!(v, Verdict::Passed)).count();
    println!("{passed} passed, {failed} failed");
    Ok(failed == 0)
}

fn line(verdict: &Verdict, time: Duration) -> String {
    let time = format!("{:.1} s", time.as_secs_f64());
    match verdict {
        Verdict::Passed => format!("passed   {time:>8}"),
        Verdict::Failed(why) => format!("FAILED   {time:>8}  {why}"),
        Verdict::LeftOut(why) => format!("left out {time:>8}  {why}"),
    }
}

fn verdict(step: &Step, given: &Given) -> Verdict {
    match step.check {
        Check::Cargo(words, env) => cargo(words, env),
        Check::Own(command) => own(command(given)),
        Check::Where(missing, command) => match missing() {
            Some(why) => Verdict::LeftOut(why),
            None => own(command(given)),
        },
        Check::Tests if installed("cargo", &["nextest"]) => {
            cargo(&["nextest", "run", "--workspace", "--profile", "ci", "--no-tests", "pass"], SNAPSHOTS)
        }
        Check::Tests => cargo(&["test", "--workspace", "--lib", "--bins", "--tests", "--quiet"], SNAPSHOTS),
        Check::Deny if installed("cargo", &["deny"]) => cargo(&["deny", "check", "bans", "licenses", "sources"], &[]),
        Check::Deny => Verdict::LeftOut("`cargo-deny` is not installed".into()),
        Check::Mnist(least) => mnist(least).unwrap_or_else(Verdict::Failed),
    }
}

fn own(result: Result<bool, String>) -> Verdict {
    match result {
        Ok(true) => Verdict::Passed,
        Ok(false) => Verdict::Failed("see above".into()),
        Err(why) => Verdict::Failed(why),
    }
}

fn cargo(words: &[&str], env: &[(&str, &str)]) -> Verdict {
    let status = Command::new("cargo").args(words).envs(env.iter().copied()).current_dir(workspace::root()).status();
    match status {
        Ok(s) if s.success() => Verdict::Passed,
        Ok(s) => Verdict::Failed(format!("`cargo {}`: {s}", words.join(" "))),
        Err(e) => Verdict::Failed(format!("`cargo` cannot be run: {e}")),
    }
}

fn mnist(least: f64) -> Result<Verdict, String> {
    let mut child = Command::new("cargo")
        .args(["run", "--quiet", "--example", "mnist", "--", "--epochs", "1"])
        .current_dir(workspace::root())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|e| format!("`cargo` cannot be run: {e}"))?;
    let mut last = String::new();
    if let Some(output) = child.stdout.take() {
        for line in BufReader::new(output).lines() {
            last = line.map_err(|e| format!("the output of `mnist` cannot be read: {e}"))?;
            println!("{last}");
        }
    }
    let status = child.wait().map_err(|e| format!("`mnist` cannot be waited for: {e}"))?;
    if !status.success() {
        return Err(format!("`mnist`: {status}"));
    }
    let accuracy = last.strip_prefix("test accuracy ").and_then(|a| a.parse::<f64>().ok());
    match accuracy {
        Some(a) if a >= least => Ok(Verdict::Passed),
        Some(a) => Err(format!("test accuracy {a}, expected at least {least}")),
        None => Err(format!("the last line is `{last}`, expected `test accuracy ..`")),
    }
}
