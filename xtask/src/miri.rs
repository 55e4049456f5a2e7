//! `cargo xtask miri`: the tests of memory, views and launches under Miri, which finds undefined behaviour.

use crate::options::{Given, Opt, Program};
use crate::tools::installed;
use crate::workspace;
use std::process::Command;

pub(crate) const PROGRAM: Program = Program {
    name: "cargo xtask miri",
    about: "runs tests under Miri, where a nightly toolchain has it",
    arguments: &[],
    options: &[Opt {
        name: "--all",
        value: "",
        help: "all tests of the backend and its interface, and more of the runtime, which takes hours",
    }],
};

/// What one call of `cargo miri test` is given.
type Tests = &'static [&'static str];

/// Pooled memory, which threads share, and conversions. Of the runtime, which has nothing unsafe itself, tests by name that
/// reach launches of all kinds: constants, updates in place, copies and views; and headers of records.
const FEW: &[Tests] = &[
    &["-p", "cotangent-hal", "--lib"],
    &["-p", "cotangent-cpu", "--test", "memory"],
    &["-p", "cotangent-cpu", "--lib", "--", "convert", "memory"],
    &[
        "-p",
        "cotangent-runtime",
        "--test",
        "create",
        "--test",
        "movement",
        "--test",
        "records",
        "--",
        "constants",
        "operators_that_assign",
        "a_reshape_that_strides_allow",
        "header::entries",
        "header::each_tensor",
        "header::names",
    ],
];

/// All code that lifts `unsafe_code`, what it is called through, and what calls it.
const ALL: &[Tests] = &[
    &["-p", "cotangent-hal", "-p", "cotangent-cpu"],
    &["-p", "cotangent-runtime", "--test", "create", "--test", "movement", "--test", "tensor"],
];

/// Why Miri cannot be run here, if so.
pub(crate) fn missing() -> Option<String> {
    let help = "`rustup toolchain install nightly --component miri,rust-src` brings it";
    (!installed("cargo", &["+nightly", "miri"])).then(|| format!("Miri is not installed; {help}"))
}

pub(crate) fn run(given: &Given) -> Result<bool, String> {
    if let Some(why) = missing() {
        return Err(why);
    }
    let mut passed = true;
    for tests in if given.has("--all") { ALL } else { FEW } {
        passed &= test(tests)?;
    }
    Ok(passed)
}

fn test(tests: Tests) -> Result<bool, String> {
    let mut cargo = Command::new("cargo");
    // Miri builds for itself: in a folder of its own it leaves the other builds as they are.
    let target = workspace::root().join("target/miri");
    cargo.args(["+nightly", "miri", "test", "--target-dir"]).arg(target).args(tests);
    // A device lives until the process ends, so that what it holds is never freed.
    cargo.env("MIRIFLAGS", "-Zmiri-ignore-leaks");
    // Miri has no use for what the compiler does to the macros that are built for it.
    cargo.envs([("CARGO_PROFILE_DEV_OPT_LEVEL", "0"), ("CARGO_PROFILE_TEST_OPT_LEVEL", "0")]);
    let status = cargo.current_dir(workspace::root()).status().map_err(|e| format!("`cargo miri`: {e}"))?;
    Ok(status.success())
}
