//! Expands kernels in text form, so that the tests can run them.

use std::fmt::Write;
use std::path::Path;

#[path = "src/kernels.rs"]
mod kernels;

fn main() {
    println!("cargo:rerun-if-changed=src/kernels.rs");
    let mut code = String::new();
    for text in kernels::NAMED {
        let kernel = cotangent_ir::parse(text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        let item = cotangent_macros_core::kernel_item(&kernel).unwrap_or_else(|e| panic!("{e}\n{text}"));
        writeln!(code, "{item}").expect("a string takes text");
    }
    let out = std::env::var_os("OUT_DIR").expect("cargo sets it");
    std::fs::write(Path::new(&out).join("kernels.rs"), code).expect("the folder is ours");
}
