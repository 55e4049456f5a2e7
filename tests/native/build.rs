//! Expands kernels in text form and random ones, so that the tests can run them.

use cotangent_ir::Kernel;
use std::fmt::Write;
use std::path::Path;

#[path = "../../runtime/ir/tests/suite/common/mod.rs"]
mod common;

/// How many random kernels there are where `COTANGENT_RANDOM_KERNELS` does not say.
const RANDOM: u64 = 100;

fn main() {
    println!("cargo:rerun-if-changed=../../runtime/ir/tests/suite/common");
    println!("cargo:rerun-if-env-changed=COTANGENT_RANDOM_KERNELS");
    let named = common::NAMED
        .iter()
        .chain(common::products::PRODUCTS)
        .map(|(name, text)| (format!("{name:?}"), common::kernel(text)));
    let count = std::env::var("COTANGENT_RANDOM_KERNELS").ok();
    let count = count.map_or(RANDOM, |n| n.parse().expect("a number of kernels"));
    let random = (0..count).map(|seed| (seed.to_string(), common::random::kernel(seed)));
    let code = [expanded("ALL", "&str", named), expanded("RANDOM", "u64", random)].concat();
    let out = std::env::var_os("OUT_DIR").expect("cargo sets it");
    std::fs::write(Path::new(&out).join("kernels.rs"), code).expect("the folder is ours");
}

/// The code of kernels, and a list of them by their keys.
fn expanded(list: &str, key: &str, kernels: impl Iterator<Item = (String, Kernel)>) -> String {
    let (mut code, mut entries) = (String::new(), String::new());
    for (key, kernel) in kernels {
        let item = cotangent_macros_core::kernel_item(&kernel).unwrap_or_else(|e| panic!("{e}\n{kernel}"));
        writeln!(code, "{item}").expect("a string takes text");
        writeln!(entries, "({key}, &__kernel_{}::DEF),", kernel.name).expect("a string takes text");
    }
    let ty = format!("&[({key}, &::cotangent::__private::kernel::Def)]");
    writeln!(code, "pub static {list}: {ty} = &[{entries}];").expect("a string takes text");
    code
}
