//! Expands kernels in text form, so that the tests can run them.

use std::fmt::Write;
use std::path::Path;

#[path = "../../runtime/ir/tests/suite/common/mod.rs"]
mod common;

fn main() {
    println!("cargo:rerun-if-changed=../../runtime/ir/tests/suite/common");
    let (mut code, mut list) = (String::new(), String::new());
    for (name, text) in common::NAMED.iter().chain(common::products::PRODUCTS) {
        let kernel = common::kernel(text);
        let item = cotangent_macros_core::kernel_item(&kernel).unwrap_or_else(|e| panic!("{e}\n{text}"));
        writeln!(code, "{item}").expect("a string takes text");
        writeln!(list, "({name:?}, &__kernel_{name}::DEF),").expect("a string takes text");
    }
    let ty = "&[(&str, &::cotangent::__private::kernel::Def)]";
    writeln!(code, "pub static ALL: {ty} = &[{list}];").expect("a string takes text");
    let out = std::env::var_os("OUT_DIR").expect("cargo sets it");
    std::fs::write(Path::new(&out).join("kernels.rs"), code).expect("the folder is ours");
}
