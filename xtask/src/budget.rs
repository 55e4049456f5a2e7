//! `cargo xtask budget`: how much code the reference models become, in lines of LLVM IR before any optimisation.

use crate::options::{Given, Program};
use crate::workspace;
use std::process::Command;

pub(crate) const PROGRAM: Program = Program {
    name: "cargo xtask budget",
    about: "counts the LLVM IR of the reference models and holds it against their budget",
    arguments: &[],
    options: &[],
};

/// The reference models of `benches/models`, and the lines that they become.
const BUDGET: &[(&str, usize)] = &[("mlp", 21823), ("transformer", 42204), ("deep", 89077)];

/// How far a model may move from its figure, in percent, before the figure is looked at again.
const MARGIN: usize = 10;

pub(crate) fn run(_: &Given) -> Result<bool, String> {
    let mut kept = true;
    for &(name, budget) in BUDGET {
        let lines = lines(name)?;
        let off = lines.abs_diff(budget) * 100 > budget * MARGIN;
        println!("{name:12} {lines:>7} lines of LLVM IR, budget {budget} within {MARGIN} %");
        if off {
            println!("`{name}` is off its budget; a change that is worth it sets the figure anew");
        }
        kept &= !off;
    }
    Ok(kept)
}

/// One codegen unit and no passes: what rustc hands to LLVM, whatever the profile.
fn lines(model: &str) -> Result<usize, String> {
    let folder = std::env::temp_dir().join(format!("cotangent-budget-{}", std::process::id()));
    std::fs::create_dir_all(&folder).map_err(|e| format!("`{}` cannot be made: {e}", folder.display()))?;
    let file = folder.join(model).with_extension("ll");
    let status = Command::new("cargo")
        .args(["rustc", "--quiet", "-p", "cotangent", "--example", &format!("budget_{model}"), "--"])
        .arg(format!("--emit=llvm-ir={}", file.display()))
        .args(["-C", "codegen-units=1", "-C", "no-prepopulate-passes"])
        .current_dir(workspace::root())
        .status()
        .map_err(|e| format!("`cargo` cannot be run: {e}"))?;
    let text = std::fs::read(&file);
    // The file is a scratch: that it stays behind when this fails does no harm.
    let _ = std::fs::remove_dir_all(&folder);
    match text {
        Ok(text) if status.success() => Ok(text.iter().filter(|&&b| b == b'\n').count()),
        Ok(_) => Err(format!("the model `{model}` does not compile")),
        Err(e) => Err(format!("`{}` cannot be read: {e}", file.display())),
    }
}
