//! `cargo xtask rebuild`: how long a crate with 20 kernels takes to build again after one of them was edited.

use crate::bench::{self, median};
use crate::options::{Given, Opt, Program};
use crate::workspace;
use serde_json::json;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

pub(crate) const PROGRAM: Program = Program {
    name: "cargo xtask rebuild",
    about: "times the build of a crate with 20 kernels after an edit of one, by the profiles of the README",
    arguments: &[],
    options: &[Opt { name: "--json", value: "FILE", help: "write the figures to a file too" }],
};

/// How often a kernel is edited in each profile.
const EDITS: usize = 5;

/// How many kernels there are.
const KERNELS: usize = 20;

/// Kernels of tensors with gradients, `SCALE` being a number that differs from kernel to kernel and from edit to edit.
const FORMS: &[&str] = &[
    "|r, i| gelu(x[r][i] * w[i] + SCALE)",
    "|r, i| {
        let m = max(|j| x[r][j]);
        SCALE * exp(x[r][i] - m) / sum(|j| exp(x[r][j] - m)) * w[i]
    }",
    "|r, i| x[r][i] * rsqrt(mean(|j| x[r][j] * x[r][j]) + SCALE) * w[i]",
    "|r, i| {
        let m = mean(|j| x[r][j]);
        (x[r][i] - m) * rsqrt(mean(|j| square(x[r][j] - m)) + SCALE) * w[i]
    }",
    "|r, i| x[r][i] * sigmoid(SCALE * x[r][i]) + tanh(w[i] * x[r][i])",
];

pub(crate) fn run(given: &Given) -> Result<bool, String> {
    let folder = folder()?;
    let mut figures = vec![];
    for (profile, words) in [("dev", &["build"][..]), ("release", &["build", "--release"])] {
        write(&folder, 0)?;
        build(&folder, words)?;
        let (idle, _) = build(&folder, words)?;
        let (mut samples, mut work) = (vec![], vec![]);
        for edit in 1..=EDITS {
            write(&folder, edit)?;
            let (seconds, of_processors) = build(&folder, words)?;
            samples.push(seconds);
            work.push(of_processors);
        }
        let (edited, work) = (median(samples), median(work));
        println!(
            "{profile:8} {edited:.2} s after an edit of one kernel of {KERNELS} ({work:.2} s of processors), {idle:.2} s \
             with nothing to do"
        );
        for (name, value) in [("rebuild", edited), ("rebuild, processors", work), ("nothing to do", idle)] {
            figures.push(json!({ "name": format!("{name}, {profile}"), "value": value, "unit": "s" }));
        }
    }
    bench::write(given, &figures)?;
    Ok(true)
}

/// The crate, outside of the workspace, with what it depends on built between runs.
fn folder() -> Result<PathBuf, String> {
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| workspace::root().join("target"), PathBuf::from);
    let folder = target.join("rebuild");
    let manifest = format!(
        "[package]\nname = \"kernels\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[workspace]\n\n\
         [dependencies]\ncotangent = {{ path = {:?} }}\n\n\
         [profile.dev]\nopt-level = 2\ndebug = \"line-tables-only\"\nlto = \"off\"\n\n[profile.release]\nincremental = true\n",
        workspace::root().display().to_string()
    );
    put(&folder.join("Cargo.toml"), &manifest)?;
    // The same dependencies as in the workspace, so that nothing is looked up.
    put(&folder.join("Cargo.lock"), &workspace::read(Path::new("Cargo.lock"))?)?;
    Ok(folder)
}

/// Writes the crate after so many edits, each of another kernel.
fn write(folder: &Path, edits: usize) -> Result<(), String> {
    let mut main = String::from("use cotangent::prelude::*;\n\n");
    let mut calls = String::new();
    for at in 0..KERNELS {
        let scale = format!("{}.5", at + 1 + if (1..=edits).any(|edit| 3 * edit % KERNELS == at) { 100 } else { 0 });
        let body = FORMS[at % FORMS.len()].replace("SCALE", &scale);
        let kernel = format!(
            "use cotangent::prelude::*;\n\n#[kernel]\n\
             pub fn k{at}(x: Tensor![R.., C], w: Tensor![C]) -> Tensor![R.., C] {{\n    {body}\n}}\n"
        );
        put(&folder.join(format!("src/k{at}.rs")), &kernel)?;
        let _ = writeln!(main, "mod k{at};");
        let _ = writeln!(calls, "    let (x, _) = k{at}::k{at}::vjp(x, w.clone(), Want::ALL);");
    }
    let _ = write!(
        main,
        "\nfn main() {{\n    use cotangent::diff::Want;\n    let x = Tensor::ones([4, 8], &Device::cpu());\n    \
         let w = Tensor::ones([8], &Device::cpu());\n{calls}    println!(\"{{x}}\");\n}}\n"
    );
    put(&folder.join("src/main.rs"), &main)
}

/// Writes a file, unless it has that text already.
fn put(path: &Path, text: &str) -> Result<(), String> {
    if std::fs::read_to_string(path).is_ok_and(|old| old == text) {
        return Ok(());
    }
    let parent = path.parent().unwrap_or(Path::new("."));
    let written = std::fs::create_dir_all(parent).and_then(|()| std::fs::write(path, text));
    written.map_err(|e| format!("`{}` cannot be written: {e}", path.display()))
}

/// The seconds of a build, and those that processors spent on it, which other programs' load does not change much.
fn build(folder: &Path, words: &[&str]) -> Result<(f64, f64), String> {
    let (start, before) = (Instant::now(), of_processors());
    let mut command = Command::new("cargo");
    command.args(words).arg("--quiet").current_dir(folder).env("CARGO_TARGET_DIR", folder.join("target"));
    let status = command.status().map_err(|e| format!("`cargo` cannot be run: {e}"))?;
    if !status.success() {
        return Err("the crate does not build".into());
    }
    Ok((start.elapsed().as_secs_f64(), of_processors() - before))
}

/// The seconds that processors spent on the processes that this one has waited for, where Linux says so; else 0.
fn of_processors() -> f64 {
    const TICKS: f64 = 100.0;
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // Behind the program's name, which may hold anything: `cutime` and `cstime`.
    let fields = stat.rsplit(')').next().unwrap_or("").split_whitespace();
    fields.skip(13).take(2).filter_map(|field| field.parse::<f64>().ok()).sum::<f64>() / TICKS
}
