//! A small command-line reader: options with values, flags, positional arguments, and errors that help.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::str::FromStr;

/// What a program takes.
pub(crate) struct Program {
    /// What is typed to start it, such as `mnist`.
    pub(crate) name: &'static str,
    /// One sentence about what it does.
    pub(crate) about: &'static str,
    /// Positional arguments, all of them required.
    pub(crate) arguments: &'static [&'static str],
    /// Everything that starts with `--`, or `-` for a single letter.
    pub(crate) options: &'static [Opt],
}

/// One option.
pub(crate) struct Opt {
    /// Its name with its dashes.
    pub(crate) name: &'static str,
    /// What stands for its value in the help; empty for a flag.
    pub(crate) value: &'static str,
    /// What it does.
    pub(crate) help: &'static str,
}

/// What the user typed.
#[derive(Debug, Default)]
pub(crate) struct Given {
    options: BTreeMap<&'static str, String>,
    arguments: Vec<String>,
}

impl Program {
    /// Reads `words`, which exclude the program's own name. `None` asks for [`Program::help`].
    pub(crate) fn read(&self, words: impl IntoIterator<Item = String>) -> Result<Option<Given>, String> {
        let (mut given, mut words) = (Given::default(), words.into_iter());
        while let Some(word) = words.next() {
            if word == "--help" || word == "-h" {
                return Ok(None);
            }
            if !word.starts_with('-') || word == "-" {
                given.arguments.push(word);
                continue;
            }
            let (name, inline) = match word.split_once('=') {
                Some((name, value)) => (name, Some(value.to_string())),
                None => (word.as_str(), None),
            };
            let Some(opt) = self.options.iter().find(|o| o.name == name) else {
                return Err(self.unknown(name));
            };
            let value = match (opt.value, inline) {
                ("", None) => String::new(),
                ("", Some(_)) => return Err(format!("`{name}` of `{}` takes no value", self.name)),
                (_, Some(value)) => value,
                (what, None) => words.next().ok_or_else(|| format!("`{name}` needs a value: `{name} {what}`"))?,
            };
            if given.options.insert(opt.name, value).is_some() {
                return Err(format!("`{name}` is given twice"));
            }
        }
        if given.arguments.len() != self.arguments.len() {
            return Err(self.miscounted(&given.arguments));
        }
        Ok(Some(given))
    }

    /// The text of `--help`.
    pub(crate) fn help(&self) -> String {
        let mut text = format!("{}\n\nUsage: {}", self.about, self.name);
        for argument in self.arguments {
            let _ = write!(text, " {argument}");
        }
        text.push_str(if self.options.is_empty() { "\n" } else { " [OPTIONS]\n\nOptions:\n" });
        let width = self.options.iter().map(|o| o.name.len() + o.value.len() + 1).max().unwrap_or(0);
        for o in self.options {
            let head = format!("{} {}", o.name, o.value);
            let _ = writeln!(text, "  {head:width$}  {}", o.help);
        }
        text
    }

    fn unknown(&self, name: &str) -> String {
        let names = self.options.iter().map(|o| o.name).chain(["--help"]);
        let hint = match closest(name, names) {
            Some(near) => format!("; did you mean `{near}`?"),
            None => format!("; `{} --help` lists what there is", self.name),
        };
        format!("unknown option `{name}` for `{}`{hint}", self.name)
    }

    fn miscounted(&self, given: &[String]) -> String {
        match given.get(self.arguments.len()) {
            Some(extra) => format!("`{}` does not take the argument `{extra}`", self.name),
            None => format!(
                "`{}` needs {}; `{} --help` lists what there is",
                self.name,
                self.arguments[given.len()..].iter().map(|a| format!("`{a}`")).collect::<Vec<_>>().join(" and "),
                self.name
            ),
        }
    }
}

#[allow(dead_code, reason = "no program uses every form")]
impl Given {
    /// Whether a flag is there.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.options.contains_key(name)
    }

    /// The value of an option.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.options.get(name).map(String::as_str)
    }

    /// The value of an option as a number, or `default` where it is not there.
    pub(crate) fn number<T: FromStr>(&self, name: &str, default: T) -> Result<T, String> {
        let Some(text) = self.text(name) else { return Ok(default) };
        let kind = if std::any::type_name::<T>().starts_with('f') { "a number" } else { "a whole number" };
        text.parse().map_err(|_| format!("`{name}` is `{text}`, expected {kind} from 0 up"))
    }

    /// The positional argument at `place`; there are as many as the program takes.
    pub(crate) fn argument(&self, place: usize) -> &str {
        self.arguments.get(place).map_or("", String::as_str)
    }
}

/// The name that a misspelt `word` most likely means.
pub(crate) fn closest<'a>(word: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let scored = names.into_iter().map(|name| (strsim::damerau_levenshtein(word, name), name));
    scored.min_by_key(|(distance, _)| *distance).filter(|(d, name)| *d <= 2.max(name.len() / 3)).map(|(_, name)| name)
}
