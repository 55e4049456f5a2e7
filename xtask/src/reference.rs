//! `cargo xtask reference`: the page of all tensor operations, from the table that the macros read.

use crate::golden;
use crate::options::{Given, Opt, Program};
use crate::workspace;
use cotangent_ir::{Argument, Family, Kinds, Op, Output};
use std::collections::BTreeMap;
use std::path::PathBuf;

pub(crate) const PROGRAM: Program = Program {
    name: "cargo xtask reference",
    about: "writes the page of all tensor operations, runtime/OPERATIONS.md",
    arguments: &[],
    options: &[Opt { name: "--check", value: "", help: "say whether the page is what would be written" }],
};

pub(crate) fn run(given: &Given) -> Result<bool, String> {
    let (path, page) = (path(), page()?);
    if given.has("--check") {
        let current = is_current(&page);
        if !current {
            println!("`{}` is not what the table says; `cargo xtask reference` writes it", path.display());
        }
        return Ok(current);
    }
    std::fs::write(&path, page).map_err(|e| format!("`{}` cannot be written: {e}", path.display()))?;
    Ok(true)
}

fn path() -> PathBuf {
    workspace::root().join("runtime/OPERATIONS.md")
}

fn is_current(page: &str) -> bool {
    std::fs::read_to_string(path()).is_ok_and(|there| there == page)
}

fn page() -> Result<String, String> {
    let cases = golden::counts(&workspace::root().join("tests/golden"))?;
    let mut out = String::from(
        "# Tensor operations\n\n\
         Every operation that bodies of models know, with PyTorch's and Burn's names for it, where they have one. *Of* says \
         which tensors it is a method or function of: floats (F: `f64`, `f32`, `f16`, `bf16`), integers (I: `i64`, `i32`, \
         `u8`) and truth values (B: `bool`); an operation of a kind is one of each of its dtypes. *Gradient* says whether \
         floats have one. *Cases* is the number of reference cases of PyTorch's function in `tests/golden`, each with \
         values and gradients. `cargo xtask reference` writes this page from the table in `runtime/ir/src/ops`.\n",
    );
    for family in cotangent_ir::FAMILIES {
        section(family, &cases, &mut out);
    }
    Ok(out)
}

fn section(family: &Family, cases: &BTreeMap<String, usize>, out: &mut String) {
    out.push_str(&format!("\n## {}\n\n", family.name));
    out.push_str("| operation | of | PyTorch | Burn | gradient | cases |\n|---|---|---|---|---|---|\n");
    for op in family.ops {
        let (of, torch, burn) = (letters(op.kinds), code(op.torch), code(op.burn));
        let gradient = if op.output == Output::Active && op.kinds.floats { "yes" } else { "" };
        let cases = count(op, cases).map_or(String::new(), |n| n.to_string());
        out.push_str(&format!("| {} | {of} | {torch} | {burn} | {gradient} | {cases} |\n", call(op)));
    }
}

/// The operation with the number of its arguments: `x.sum(_)`, `cat(_, _)`.
fn call(op: &Op) -> String {
    let arguments: Vec<&str> = op.arguments.iter().map(|a| if *a == Argument::Context { "cx" } else { "_" }).collect();
    let receiver = if op.method { "x." } else { "" };
    format!("`{receiver}{}({})`", op.name, arguments.join(", "))
}

fn letters(kinds: Kinds) -> String {
    let all = [(kinds.floats, 'F'), (kinds.ints, 'I'), (kinds.truths, 'B')];
    all.into_iter().filter_map(|(has, letter)| has.then_some(letter)).collect()
}

fn code(name: &str) -> String {
    if name.is_empty() { String::new() } else { format!("`{name}`") }
}

/// How many cases there are of PyTorch's function; none where there are none.
fn count(op: &Op, cases: &BTreeMap<String, usize>) -> Option<usize> {
    let name = op.torch.split('(').next().filter(|name| !name.is_empty())?;
    let wanted = plain(name.rsplit('.').next().unwrap_or(name));
    let all = cases.iter().filter(|(case, _)| plain(case.strip_suffix("_scalar").unwrap_or(case)) == wanted);
    Some(all.map(|(_, n)| n).sum()).filter(|n| *n > 0)
}

/// A name as functions and modules share it: `CrossEntropyLoss` and `cross_entropy`.
fn plain(name: &str) -> String {
    let name = name.to_lowercase().replace('_', "");
    name.strip_suffix("loss").unwrap_or(&name).to_string()
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_page_is_current() {
        let page = super::page().expect("a folder of cases");
        assert!(super::is_current(&page), "`cargo xtask reference` writes it");
    }

    #[test]
    fn names_of_functions_and_modules_meet() {
        assert_eq!(super::plain("CrossEntropyLoss"), super::plain("cross_entropy"));
        assert_eq!(super::plain("LeakyReLU"), super::plain("leaky_relu"));
    }
}
