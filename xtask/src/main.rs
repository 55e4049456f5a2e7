//! The development commands of Cotangent: `cargo xtask --help`.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "commands talk to the terminal")]

mod bench;
mod budget;
mod ci;
mod editor;
mod expand;
mod golden;
mod miri;
#[path = "../../examples/support/options.rs"]
mod options;
mod peers;
mod rebuild;
mod reference;
mod tidy;
mod tools;
mod workspace;

use options::{Given, Program};
use std::process::ExitCode;

/// One command: how it reads its words and what it does with them.
struct Command {
    program: Program,
    run: fn(&Given) -> Result<bool, String>,
}

const COMMANDS: &[Command] = &[
    Command { program: ci::PROGRAM, run: ci::run },
    Command { program: tidy::PROGRAM, run: tidy::run },
    Command { program: expand::PROGRAM, run: expand::run },
    Command { program: golden::PROGRAM, run: golden::run },
    Command { program: bench::PROGRAM, run: bench::run },
    Command { program: peers::KERNELS, run: peers::kernels },
    Command { program: peers::OPS, run: peers::ops },
    Command { program: peers::CPU, run: peers::cpu },
    Command { program: rebuild::PROGRAM, run: rebuild::run },
    Command { program: reference::PROGRAM, run: reference::run },
    Command { program: budget::PROGRAM, run: budget::run },
    Command { program: editor::PROGRAM, run: editor::run },
    Command { program: miri::PROGRAM, run: miri::run },
];

fn main() -> ExitCode {
    match dispatch(std::env::args().skip(1).collect()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::from(2)
        }
    }
}

/// Runs the command that `words` name. `Ok(false)`: it ran and found faults, which it has printed.
fn dispatch(mut words: Vec<String>) -> Result<bool, String> {
    let mut name = if words.is_empty() { "--help".to_string() } else { words.remove(0) };
    // Some commands are two words.
    let both = words.first().map(|second| format!("{name} {second}"));
    if let Some(both) = both.filter(|both| COMMANDS.iter().any(|c| short(&c.program) == both)) {
        name = both;
        words.remove(0);
    }
    if matches!(name.as_str(), "--help" | "-h" | "help") {
        print!("{}", overview());
        return Ok(true);
    }
    let Some(command) = COMMANDS.iter().find(|c| short(&c.program) == name) else {
        let near = options::closest(&name, COMMANDS.iter().map(|c| short(&c.program)));
        let hint = near.map_or("`cargo xtask --help` lists them".into(), |n| format!("did you mean `{n}`?"));
        return Err(format!("unknown command `{name}`; {hint}"));
    };
    match command.program.read(words)? {
        Some(given) => (command.run)(&given),
        None => {
            print!("{}", command.program.help());
            Ok(true)
        }
    }
}

fn overview() -> String {
    let lines = COMMANDS.iter().map(|c| format!("  {:15}{}\n", short(&c.program), c.program.about));
    let lines: String = lines.collect();
    format!("The development commands of Cotangent\n\nUsage: cargo xtask COMMAND [OPTIONS]\n\nCommands:\n{lines}")
}

/// What is typed after `cargo xtask`.
fn short(program: &Program) -> &'static str {
    program.name.strip_prefix("cargo xtask ").unwrap_or(program.name)
}
