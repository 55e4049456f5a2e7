//! Completion, hover and definitions in bodies of models and kernels, whole and broken. The test takes a minute, so that
//! it asks only where `cargo xtask editor` runs it.

#![allow(clippy::print_stderr, reason = "a test that is left out says so")]

use cotangent_editor_tests::{Project, Session};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

const TEXT: &str = r#"
use cotangent::prelude::*;

#[model]
pub struct Mlp {
    fc1: Linear![784 => 256],
    drop: Dropout![p = 0.1],
    fc2: Linear![256 => 10],
}

#[model]
impl Mlp {
    pub fn forward(&self, x: Tensor![B, 784], cx: &mut Cx) -> Tensor![B, 10] {
        let h = self.fc1.forward(x).relu();
        let kept = self.drop.forward(h, cx);
        self.fc2.forward(kept)
    }

    pub fn loss(&self, x: Tensor![B, 784], y: Tensor![Int; B], cx: &mut Cx) -> Tensor![] {
        self.forward(x, cx).cross_entropy(y)
    }
}

/// Root mean square norm.
#[kernel]
pub fn rms_norm(x: Tensor![R.., C], w: Tensor![C], eps: f32) -> Tensor![R.., C] {
    |r, i| {
        let ms = mean(|j| x[r][j] * x[r][j]);
        x[r][i] * rsqrt(ms + eps) * w[i]
    }
}

pub fn serve(model: &Mlp, x: Tensor) -> Tensor {
    let grads: MlpGrads = Default::default();
    let scores = model.forward(x, &mut Cx::eval());
    rms_norm(scores, Tensor::ones([10], &Device::cpu()), 1e-6)
}
"#;

/// Why the editor is not asked, if so.
fn missing() -> Option<String> {
    if std::env::var_os("COTANGENT_EDITOR").is_none() {
        return Some("`cargo xtask editor` runs this test".into());
    }
    match Command::new("rust-analyzer").arg("--version").output() {
        Ok(out) if out.status.success() => None,
        _ => Some("rust-analyzer is not installed".into()),
    }
}

/// The folder that the workspace builds into: that of this test's own binary.
fn target() -> PathBuf {
    let binary = std::env::current_exe().expect("a binary");
    binary.ancestors().nth(3).expect("target/debug/deps").into()
}

/// What is asked, and how the answer must begin or what it must contain.
enum Asked {
    Completion(&'static [&'static str]),
    Hover(&'static [&'static str]),
    /// The end of the file's name, and a part of the line.
    Definition(&'static str, &'static str),
}
use Asked::{Completion, Definition, Hover};

const LAYER: &str = "self.fc1.forward(x)";
const KEPT: &str = "self.fc2.forward(kept)";
const DROP: &str = "let kept = self.drop.forward(h, cx);";

/// Its name, a text of the file, what stands there instead with the cursor, and what is asked.
type Case = (&'static str, &'static str, &'static str, Asked);

const CASES: &[Case] = &[
    ("methods of a layer", LAYER, "self.fc1.fo$0(x)", Completion(&["forward"])),
    ("operations", KEPT, "self.fc2.forward(kept.re$0)", Completion(&["relu", "reshape"])),
    ("a layer's method shown", LAYER, "self.fc1.for$0ward(x)", Hover(&["fn forward", "Linear"])),
    ("a field's declaration", LAYER, "self.fc$01.forward(x)", Definition("src/lib.rs", "fc1: Linear![784 => 256]")),
    ("a method's declaration", LAYER, "self.fc1.for$0ward(x)", Definition("std-layers/src/linear.rs", "fn forward")),
    (
        "half a method",
        DROP,
        "let kept = self.drop.forward(h, cx);\n        let z = x.re$0",
        Completion(&["relu", "reshape"]),
    ),
    ("half a method in front", DROP, "x.re$0\n        let kept = self.drop.forward(h, cx);", Completion(&["relu"])),
    ("a value shown where it is used", KEPT, "self.fc2.forward(ke$0pt)", Hover(&["Tensor"])),
    ("a field in front of its method", LAYER, "self.fc$0.forward(x)", Completion(&["fc1", "fc2"])),
    ("half a field", DROP, "let kept = self.dr$0", Completion(&["drop"])),
    ("beside an undeclared field", DROP, "let kept = self.fc.forward(h.re$0);", Completion(&["relu"])),
    ("with a wrong shape", "fc2: Linear![256 => 10]", "fc2: Lin$0ear![99 => 10]", Hover(&["Linear"])),
    (
        "beside a statement without derivative",
        DROP,
        "while true {}\n        let kept = self.drop.$0;",
        Completion(&["forward"]),
    ),
    ("gradients of a model", "let grads: MlpGrads", "let grads: Mlp$0Grads", Hover(&["MlpGrads"])),
    ("a parameter in a kernel", "* w[i]", "* w$0[i]", Hover(&["Tensor"])),
    ("a reduction shown", "mean(|j|", "me$0an(|j|", Hover(&["mean", "over all indices"])),
    ("a parameter's declaration", "* w[i]", "* w$0[i]", Definition("src/lib.rs", "pub fn rms_norm")),
    ("names in a kernel", "rsqrt(ms + eps)", "rsqrt(ms + ep$0)", Completion(&["eps"])),
    ("half a function in a kernel", "rsqrt(ms + eps)", "rsq$0", Completion(&["rsqrt"])),
    ("reductions in a whole kernel", "mean(|j|", "me$0an(|j|", Completion(&["mean"])),
    ("beside a mistake in a kernel", "x[r][i] * rsqrt", "x[r].foo * x$0[r][i] * rsqrt", Hover(&["Tensor"])),
    ("a function in a broken kernel", "x[r][i] * rsqrt", "x.foo * rs$0qrt", Hover(&["as in PyTorch"])),
    ("a kernel's call", "rms_norm(scores,", "rms_no$0rm(scores,", Hover(&["fn rms_norm", "Root mean square norm"])),
    ("a kernel's declaration", "rms_norm(scores,", "rms_no$0rm(scores,", Definition("src/lib.rs", "pub fn rms_norm")),
];

#[test]
fn editors_understand_bodies() {
    if let Some(why) = missing() {
        eprintln!("skipped: {why}");
        return;
    }
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the workspace");
    let project = Project::new(TEXT, &workspace, &target()).expect("a crate");
    let mut session = Session::start(&project).expect("a session");
    let failed: Vec<String> = CASES.iter().filter_map(|case| patiently(&mut session, case).err()).collect();
    assert!(failed.is_empty(), "{} of {} cases fail\n{}", failed.len(), CASES.len(), failed.join("\n"));
}

/// The server calls itself ready while it still expands the first macros, so that a case is asked up to three times.
fn patiently(session: &mut Session, case: &Case) -> Result<(), String> {
    let mut result = check(session, case);
    for _ in 0..2 {
        if result.is_err() {
            std::thread::sleep(Duration::from_secs(5));
            result = check(session, case);
        }
    }
    result
}

fn check(session: &mut Session, (name, old, new, asked): &Case) -> Result<(), String> {
    let error = |e: String| format!("{name}: {e}");
    let (found, fits) = match asked {
        Completion(labels) => {
            let found = session.completion(old, new).map_err(error)?;
            let fits = labels.iter().all(|label| found.iter().any(|f| f.starts_with(label)));
            (found.join(" "), fits)
        }
        Hover(parts) => {
            let found = session.hover(old, new).map_err(error)?;
            let fits = parts.iter().all(|part| found.contains(part));
            (found, fits)
        }
        Definition(file, line) => {
            let found = session.definition(old, new).map_err(error)?;
            let fits = found.iter().any(|(path, text)| path.ends_with(file) && text.contains(line));
            (format!("{found:?}"), fits)
        }
    };
    if std::env::var("COTANGENT_EDITOR").is_ok_and(|v| v == "show") {
        eprintln!("{name}: {}", found.chars().take(300).collect::<String>());
    }
    match fits {
        true => Ok(()),
        false => Err(format!("{name}: {}", found.chars().take(600).collect::<String>())),
    }
}
