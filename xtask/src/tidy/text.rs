//! What stands in files that should not: stubs, leftovers, paths of one machine, too many lines.

use super::Fault;
use std::path::{Path, PathBuf};

/// No source file is longer.
const MAX_LINES: usize = 600;

/// Files that may be, each with its reason.
const LONG: &[(&str, &str)] = &[];

/// What must not stand in a source file or a document, in two parts so that this list does not match itself, with why.
const STUBS: &[(&str, &str, &str)] = &[
    ("to", "do!(", "a stub: finish it, or return an error that says what is not supported yet"),
    ("unimple", "mented!(", "a stub: finish it, or return an error that says what is not supported yet"),
    ("d", "bg!(", "a leftover of debugging"),
    ("#[ig", "nore", "an ignored test: assert what happens now"),
    ("```ig", "nore", "an unchecked example: make it compile, or call it `text`"),
    ("```rust,ig", "nore", "an unchecked example: make it compile, or call it `text`"),
];

/// Folders that exist on one machine only.
const PLACES: &[&str] = &["work", "tmp", "root", "home"];

pub(super) fn check(path: &Path, text: &str, faults: &mut Vec<Fault>) {
    let extension = path.extension().and_then(|e| e.to_str()).unwrap_or("");
    let (rust, prose) = (extension == "rs", extension == "md");
    // What UI tests hold is input: it may be as odd as a user's code.
    let ui_test = path.starts_with("ui-tests");
    let lines = text.lines().count();
    if rust && !ui_test && lines > MAX_LINES && !LONG.iter().any(|(long, _)| Path::new(long) == path) {
        let message = format!("{lines} lines, expected at most {MAX_LINES}: split it by the question it answers");
        faults.push(Fault::new(path, MAX_LINES + 1, message));
    }
    if extension == "lock" {
        return;
    }
    for (i, line) in text.lines().enumerate() {
        if (rust || prose) && !ui_test {
            let stubs = STUBS.iter().filter(|(a, b, _)| holds_word(line, &format!("{a}{b}")));
            faults.extend(stubs.map(|(a, b, why)| Fault::new(path, i + 1, format!("`{a}{b}` is {why}"))));
        }
        let places = PLACES.iter().map(|p| format!("/{p}/")).filter(|p| holds_word(line, p));
        faults.extend(places.map(|p| Fault::new(path, i + 1, format!("`{p}` is a path of one machine"))));
    }
}

/// Exceptions that are none.
pub(super) fn stale(files: &[PathBuf], faults: &mut Vec<Fault>) {
    let lines = |path: &Path| crate::workspace::read(path).map_or(0, |text| text.lines().count());
    for (path, reason) in LONG {
        let path = Path::new(path);
        if !files.iter().any(|f| f == path) || lines(path) <= MAX_LINES {
            faults.push(Fault::new(path, 1, format!("is excused from the limit of lines ({reason}) and need not be")));
        }
    }
}

/// Whether `line` holds `what` where no word or path runs into it from the left.
fn holds_word(line: &str, what: &str) -> bool {
    line.match_indices(what).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        !before.is_some_and(|c| c.is_alphanumeric() || matches!(c, '_' | '.' | '-' | ')' | '}'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_text(path: &str, text: &str, expected: &[&str]) {
        let mut faults = Vec::new();
        check(Path::new(path), text, &mut faults);
        let faults: Vec<String> = faults.iter().map(Fault::to_string).collect();
        assert_eq!(faults, expected);
    }

    #[test]
    fn stubs_are_named_with_their_line() {
        let (a, b, why) = STUBS[2];
        let leftover = format!("fn f() {{\n    {a}{b}x);\n}}\n");
        check_text("src/a.rs", &leftover, &[&format!("src/a.rs:2: `{a}{b}` is {why}")]);
        check_text("ui-tests/pass/a.rs", &leftover, &[]);
        check_text("notes.txt", &leftover, &[]);
    }

    #[test]
    fn paths_of_one_machine_are_named_anywhere() {
        let home = format!("/{}/", PLACES[3]);
        let text = format!("see {home}alice/notes and https://x.org{home}a");
        check_text("README.md", &text, &[&format!("README.md:1: `{home}` is a path of one machine")]);
    }

    #[test]
    fn long_files_are_split() {
        let long = "//\n".repeat(601);
        check_text(
            "src/a.rs",
            &long,
            &["src/a.rs:601: 601 lines, expected at most 600: split it by the question it answers"],
        );
        check_text("ui-tests/fail/a.rs", &long, &[]);
    }
}
