//! Derived kernels are as small as hand-written ones.

use crate::common::{NAMED, derive, floats, kernel};
use cotangent_ir::{Save, show};

#[test]
fn forms() {
    let mut text = String::new();
    for (name, source) in NAMED {
        let k = kernel(source);
        let d = derive(&k, &floats(&k), Save::Useful);
        text += &format!("== {name}\n{}", show(&d.forward));
        if let Some(stage) = &d.stage {
            text += &format!("-- stage\n{}", show(&stage.kernel));
        }
        text += &format!("-- backward\n{}\n", show(&d.backward.kernel));
    }
    println!("{text}");
}
