//! Derived kernels are as small as hand-written ones.

use crate::common::{NAMED, derive, floats, kernel};
use cotangent_ir::{Cost, Kernel, Save, cost, show};

#[test]
fn forms() {
    let mut text = String::new();
    for (name, source) in NAMED {
        let k = kernel(source);
        let d = derive(&k, &floats(&k), Save::Useful);
        text += &format!("== {name}: {}\n{}", counted(&k), show(&d.forward));
        if let Some(stage) = &d.stage {
            text += &format!("-- stage: {}\n{}", counted(&stage.kernel), show(&stage.kernel));
        }
        text += &format!("-- backward: {}\n{}\n", counted(&d.backward.kernel), show(&d.backward.kernel));
    }
    insta::assert_snapshot!(text);
}

fn counted(kernel: &Kernel) -> String {
    let Cost { operations, loads, reductions, calls } = cost(kernel);
    format!("{operations} operations, {loads} loads, {reductions} reductions, {calls} calls")
}
