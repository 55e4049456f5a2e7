//! `cargo xtask bench kernels`, `cargo xtask bench ops` and `cargo xtask bench cpu`: kernels, operations and models
//! beside a copy of as many bytes, and beside PyTorch where it is installed.

use crate::bench::{build, median, output_of, write};
use crate::options::{Given, Opt, Program};
use crate::workspace;
use serde_json::json;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};

pub(crate) const KERNELS: Program = Program {
    name: "cargo xtask bench kernels",
    about: "times kernels over 16 Mi elements in release mode, beside a copy and beside PyTorch",
    arguments: &[],
    options: OPTIONS,
};

pub(crate) const OPS: Program = Program {
    name: "cargo xtask bench ops",
    about: "times operations on large tensors in release mode, beside PyTorch",
    arguments: &[],
    options: OPTIONS,
};

pub(crate) const CPU: Program = Program {
    name: "cargo xtask bench cpu",
    about: "times models and what they are made of in release mode, beside PyTorch",
    arguments: &[],
    options: &[
        JSON,
        PEER,
        Opt { name: "--profile", value: "", help: "show where the time of a training step goes too" },
    ],
};

const JSON: Opt = Opt { name: "--json", value: "FILE", help: "write the figures to a file too" };
const PEER: Opt =
    Opt { name: "--peer", value: "PYTHON", help: "a Python that has PyTorch; `python3` unless said otherwise" };
const OPTIONS: &[Opt] = &[JSON, PEER];

/// How often each kernel is timed, after one round that warms memory and threads.
const ROUNDS: usize = 9;

/// Milliseconds after which a case has been timed enough, whatever the number of rounds.
const ENOUGH: f64 = 1e4;

/// A program that runs one case for each line that it reads.
struct Runner {
    process: Child,
    output: BufReader<ChildStdout>,
    cases: Vec<String>,
}

impl Runner {
    fn start(command: &mut Command) -> Result<Runner, String> {
        let name = command.get_program().to_string_lossy().into_owned();
        let spawned = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let mut process = spawned.map_err(|e| format!("`{name}` cannot be run: {e}"))?;
        let output = process.stdout.take().ok_or("a process without output")?;
        let mut runner = Runner { process, output: BufReader::new(output), cases: vec![] };
        let line = runner.line()?;
        runner.cases = serde_json::from_str(&line).map_err(|_| format!("`{name}` printed `{line}`, expected names"))?;
        Ok(runner)
    }

    fn line(&mut self) -> Result<String, String> {
        let mut line = String::new();
        match self.output.read_line(&mut line) {
            Ok(0) => Err("the program ended early".into()),
            Ok(_) => Ok(line.trim().to_string()),
            Err(e) => Err(format!("the program cannot be read: {e}")),
        }
    }

    /// The milliseconds of one run; none for a case that the program does not have.
    fn run(&mut self, case: &str) -> Result<Option<f64>, String> {
        if !self.cases.iter().any(|c| c == case) {
            return Ok(None);
        }
        let input = self.process.stdin.as_mut().ok_or("a process without input")?;
        writeln!(input, "{case}").map_err(|e| format!("the program does not listen: {e}"))?;
        let line = self.line()?;
        line.parse().map(Some).map_err(|_| format!("the program printed `{line}`, expected milliseconds"))
    }
}

impl Drop for Runner {
    fn drop(&mut self) {
        // At the end of its input it ends by itself.
        drop(self.process.stdin.take());
        let _ = self.process.wait();
    }
}

pub(crate) fn kernels(given: &Given) -> Result<bool, String> {
    beside(given, "kernels", &program("kernels")?)
}

pub(crate) fn ops(given: &Given) -> Result<bool, String> {
    beside(given, "ops", &program("ops")?)
}

/// The times, then the memory of each training step in a process of its own, then its profile.
pub(crate) fn cpu(given: &Given) -> Result<bool, String> {
    let program = program("cpu")?;
    beside(given, "cpu", &program)?;
    println!();
    for case in TRAINING {
        let ours = output_of(Command::new(&program).args(["memory", case]))?;
        let theirs = output_of(peer(given, "cpu").args(["memory", case])).unwrap_or_default();
        let megabytes =
            |text: &str| text.trim().parse::<f64>().map_or_else(|_| "-".into(), |b| format!("{:.0} MB", b / 1e6));
        println!("{case}: peak memory of the process {}, PyTorch {}", megabytes(&ours), megabytes(&theirs));
    }
    if given.has("--profile") {
        for case in TRAINING {
            println!("\n{case}:\n{}", output_of(Command::new(&program).args(["profile", case]))?);
        }
    }
    Ok(true)
}

/// Steps whose memory and profile are of interest.
const TRAINING: [&str; 2] = ["cnn training", "gpt training"];

/// What one run of a case does, and the unit of that in a second.
fn work(case: &str) -> Option<(f64, &'static str)> {
    let words: Vec<&str> = case.split(' ').collect();
    match words[..] {
        ["cnn", "forward" | "training"] => Some((64.0, "images/s")),
        ["gpt", "forward" | "training"] => Some((1024.0, "tokens/s")),
        ["matmul", _, extent] => extent.parse().ok().map(|n: f64| (2e-9 * n.powi(3), "GFLOP/s")),
        _ => None,
    }
}

/// Builds a program of `benches`.
fn program(name: &str) -> Result<PathBuf, String> {
    build(&["-p", "cotangent-benches", "--bin", name])
}

fn python(given: &Given) -> &str {
    given.text("--peer").unwrap_or("python3")
}

/// The peer's script of that name.
fn peer(given: &Given, name: &str) -> Command {
    let mut peer = Command::new(python(given));
    // Threads that wait by spinning would slow the other side.
    peer.arg(workspace::root().join("benches/peers").join(format!("{name}.py")))
        .env("OMP_WAIT_POLICY", "passive")
        .stderr(Stdio::null());
    peer
}

/// Runs the cases of a program of `benches`, in turn with those of the peer of its name.
fn beside(given: &Given, name: &str, program: &Path) -> Result<bool, String> {
    let mut ours = Runner::start(&mut Command::new(program))?;
    let mut peer = Runner::start(&mut peer(given, name)).ok();
    if peer.is_none() {
        let python = python(given);
        println!("no column for PyTorch: `{python}` does not have it; `--peer PYTHON` names one that does");
    }
    let cases = ours.cases.clone();
    let mut samples: BTreeMap<&str, [Vec<f64>; 2]> = BTreeMap::new();
    for round in 0..=ROUNDS {
        for case in &cases {
            if samples.get(case.as_str()).is_some_and(|s| s.iter().flatten().sum::<f64>() > ENOUGH) {
                continue;
            }
            let here = ours.run(case)?;
            let there = peer.as_mut().map_or(Ok(None), |peer| peer.run(case))?;
            if round > 0 {
                let [own, other] = samples.entry(case).or_default();
                own.extend(here);
                other.extend(there);
            }
        }
    }
    let mut figures = vec![];
    let width = cases.iter().map(String::len).max().unwrap_or(0);
    println!("{:width$}  {:>8}  {:>16}  {:>10}  {:>8}", "", "ms", "", "PyTorch ms", "x faster");
    let mut copy = None;
    for case in &cases {
        let [own, other] = samples.remove(case.as_str()).unwrap_or_default();
        let ms = median(own);
        if case.starts_with("memcpy") {
            copy = Some(ms);
        }
        let theirs = (!other.is_empty()).then(|| median(other));
        let rate = work(case).map(|(amount, unit)| (amount / ms * 1e3, unit));
        let beside = match (rate, copy) {
            (Some((rate, unit)), _) => format!("{rate:.0} {unit}"),
            (None, Some(copy)) => format!("{:.2} x memcpy", ms / copy),
            (None, None) => String::new(),
        };
        let [there, faster] = match theirs {
            Some(theirs) => [format!("{theirs:.2}"), format!("{:.2}", theirs / ms)],
            None => [String::new(), String::new()],
        };
        println!("{case:width$}  {ms:>8.2}  {beside:>16}  {there:>10}  {faster:>8}");
        let (rate, unit) = rate.unzip();
        let copies = copy.map(|copy| ms / copy);
        figures.push(json!({ "name": case, "value": ms, "unit": "ms", "copies": copies, "rate": rate, "of": unit, "pytorch": theirs }));
    }
    write(given, &figures)?;
    Ok(true)
}
