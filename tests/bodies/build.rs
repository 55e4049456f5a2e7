//! Writes random bodies of models, so that the tests can run them.
//!
//! `COTANGENT_BODIES=500` asks for so many instead of [`COUNT`]; the first ones are the same. `COTANGENT_BODIES=17..18`
//! gives a range of them, for a look at one that fails.

mod generate;

use std::fmt::Write;
use std::ops::Range;
use std::path::Path;

/// How many there are unless the environment says otherwise.
const COUNT: u64 = 40;
/// How many share a module, and so a unit of code generation.
const SHARED: usize = 5;
/// How many crates they are dealt to, `tests/part_*.rs`: one of 500 bodies would take rustc more than 10 GB.
const PARTS: u64 = 8;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=generate");
    println!("cargo:rerun-if-env-changed=COTANGENT_BODIES");
    let seeds = match std::env::var("COTANGENT_BODIES") {
        Ok(text) => range(&text).unwrap_or_else(|| panic!("`COTANGENT_BODIES={text}`: expected `500` or `17..18`")),
        Err(_) => 0..COUNT,
    };
    let out = std::env::var_os("OUT_DIR").expect("cargo sets it");
    for part in 0..PARTS {
        let own: Vec<u64> = seeds.clone().filter(|seed| seed % PARTS == part).collect();
        let code = file(&own).expect("a string takes text");
        std::fs::write(Path::new(&out).join(format!("part_{part}.rs")), code).expect("the folder is ours");
    }
}

fn range(text: &str) -> Option<Range<u64>> {
    let Some((start, end)) = text.split_once("..") else { return Some(0..text.parse().ok()?) };
    Some(start.parse().ok()?..end.parse().ok()?)
}

fn file(seeds: &[u64]) -> Result<String, std::fmt::Error> {
    let (mut code, mut list) = (String::new(), String::new());
    for shared in seeds.chunks(SHARED) {
        let first = shared[0];
        writeln!(
            code,
            "mod from_{first} {{\nuse cotangent::prelude::*;\nuse cotangent::Tensor;\n#[model]\nimpl super::Net {{"
        )?;
        for &seed in shared {
            let body = generate::body(seed);
            let text = &body.text;
            let signature = "(&self, x: Tensor, y: Tensor, cx: &mut Cx) -> Tensor![]";
            writeln!(code, "pub(super) fn fused_{seed}{signature} {{\n{text}}}")?;
            writeln!(code, "#[no_fuse]\npub(super) fn plain_{seed}{signature} {{\n{text}}}")?;
            let form =
                |name: &str| format!("Form {{ value: Net::{name}_{seed}, gradients: Net::{name}_{seed}_grad_inputs }}");
            let (fused, plain, smooth) = (form("fused"), form("plain"), body.smooth);
            writeln!(
                list,
                "Body {{ seed: {seed}, text: {text:?}, smooth: {smooth}, fused: {fused}, plain: {plain} }},"
            )?;
        }
        writeln!(code, "}}\n}}")?;
    }
    writeln!(code, "/// The bodies, by seed.\npub(super) static ALL: &[Body] = &[\n{list}];")?;
    Ok(code)
}
