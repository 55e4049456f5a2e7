//! The dims of a layer field: `fc1: Linear![784 => 256]`.

use super::dim::{Dim, SYMBOLS};
use super::message::Message;
use super::shape::{Scope, position, same_text};

/// What a layer field's dims are, in terms of the dims of the model that declares it.
#[derive(Clone, Copy, Debug)]
pub struct FieldDims {
    /// The field's name.
    pub name: &'static str,
    /// The dims as given: `("", dim)` by place, `("K", dim)` by name.
    pub args: &'static [(&'static str, Dim)],
}

/// What a dim is where it is not given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DimDefault {
    /// A number.
    Number(i64),
    /// The dim of that number, an earlier one. As a value, 0 stands for it.
    Like(usize),
}

/// The values of a model's dims.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dims {
    len: u8,
    dims: [Dim; SYMBOLS],
    given: &'static [(&'static str, Dim)],
}

/// Why the dims given to a field are not those that its type takes.
#[derive(Clone, Copy)]
enum Misfit {
    None,
    TooMany { given: usize },
    Unknown { name: &'static str },
    Twice { dim: usize },
    Missing,
}

impl Dims {
    /// No dims.
    pub const NONE: Dims = Dims { len: 0, dims: [Dim::UNKNOWN; SYMBOLS], given: &[] };

    /// These dims.
    pub const fn of(dims: &[Dim]) -> Dims {
        let (mut all, mut k) = (Dims::NONE, 0);
        while k < dims.len() && k < SYMBOLS {
            all.dims[k] = dims[k];
            k += 1;
        }
        all.len = k as u8;
        all
    }

    /// The dims in order.
    pub const fn as_slice(&self) -> &[Dim] {
        self.dims.split_at(self.len as usize).0
    }

    /// The dims as they were written, `[128 => 10]` or `[1 => 32, K = 3]`, with `changed` in the place of one dim.
    /// Nothing where none were written.
    pub(crate) const fn written(
        &self,
        mut text: Message,
        names: &[&str],
        scope: &Scope,
        changed: Option<(usize, Dim)>,
    ) -> Message {
        if self.given.is_empty() {
            return text;
        }
        text = text.text("[");
        let (mut i, mut place) = (0, 0);
        while i < self.given.len() {
            let name = self.given[i].0;
            if is_option(name, names) {
                i += 1;
                continue;
            }
            let number = if name.is_empty() { Some(place) } else { position(names, name) };
            if i > 0 {
                let arrow = i == 1 && name.is_empty() && from_to(names);
                text = text.text(if arrow { " => " } else { ", " });
            }
            if name.is_empty() {
                place += 1;
            } else {
                text = text.text(name).text(" = ");
            }
            text = match (number, changed) {
                (Some(k), Some((c, dim))) if k == c => text.dim(&dim, scope),
                (Some(k), _) if k < self.len as usize => text.dim(&self.dims[k], scope),
                (Some(_) | None, _) => text.text("?"),
            };
            i += 1;
        }
        text.text("]")
    }

    /// These dims, of which `set` are given, and the others that are like an earlier one.
    const fn completed(mut self, defaults: &[Option<DimDefault>], set: u32) -> Dims {
        let mut k = 0;
        while k < self.len as usize && k < defaults.len() {
            if let Some(DimDefault::Like(other)) = defaults[k]
                && (set & (1 << k) == 0 || self.dims[k].is(0))
                && other < k
            {
                self.dims[k] = self.dims[other];
            }
            k += 1;
        }
        self
    }

    /// Whether dim `number` was written out.
    pub(crate) const fn wrote(&self, number: usize, names: &[&str]) -> bool {
        let (mut i, mut place) = (0, 0);
        while i < self.given.len() {
            let at = if self.given[i].0.is_empty() { Some(place) } else { position(names, self.given[i].0) };
            if matches!(at, Some(k) if k == number) {
                return true;
            }
            place += self.given[i].0.is_empty() as usize;
            i += 1;
        }
        false
    }
}

/// A model's own dims, seen from its own methods: one symbol for each of their defaults. What is zero by default, such as
/// a padding, may be zero, all others are positive.
pub const fn identity(defaults: &[Option<DimDefault>]) -> Dims {
    let (mut own, mut k) = (Dims { len: 0, dims: Dim::SYMS, given: &[] }, 0);
    while k < defaults.len() && k < SYMBOLS {
        if let Some(DimDefault::Number(0)) = defaults[k] {
            own.dims[k] = own.dims[k].maybe_zero();
        }
        k += 1;
    }
    own.len = k as u8;
    own
}

/// The dims of field `name`, one for each name of `callee`: as given, else the default, else unknown. `outer` are the
/// dims of the model that declares the field, in the caller's terms.
pub const fn field_dims(
    fields: &'static [FieldDims],
    name: &str,
    callee: &[&str],
    defaults: &[Option<DimDefault>],
    outer: &Dims,
) -> Dims {
    let mut all = Dims::NONE;
    let mut k = 0;
    while k < callee.len() && k < SYMBOLS {
        if k < defaults.len()
            && let Some(DimDefault::Number(value)) = defaults[k]
        {
            all.dims[k] = Dim::lit(value);
        }
        k += 1;
    }
    all.len = k as u8;
    let Some(field) = find(fields, name) else { return all.completed(defaults, 0) };
    all.given = field.args;
    let (mut i, mut place, mut set) = (0, 0, 0u32);
    while i < field.args.len() {
        let (name, dim) = (field.args[i].0, field.args[i].1);
        let at = if name.is_empty() { Some(place) } else { position(callee, name) };
        place += name.is_empty() as usize;
        if let Some(k) = at
            && k < all.len as usize
        {
            all.dims[k] = dim.subst(outer.as_slice());
            set |= 1 << k;
        }
        i += 1;
    }
    all.completed(defaults, set)
}

/// What is wrong about the dims and options given to field `name`, whose type is the model `model` with the dims
/// `callee`; the empty text where nothing is. `required` are the options that `model` has no default for, `options`
/// those that the field gives.
pub const fn check_dims(
    fields: &'static [FieldDims],
    name: &str,
    model: &str,
    callee: &[&str],
    defaults: &[Option<DimDefault>],
    required: &[&str],
    options: &[&str],
) -> Message {
    let Some(field) = find(fields, name) else { return Message::EMPTY };
    let start = Message::EMPTY.text("`").text(model).text("`");
    match misfit(field.args, callee, defaults) {
        Misfit::None => {}
        Misfit::TooMany { given } => return takes(start, callee, given),
        Misfit::Missing => return takes_missing(start, model, field.args, callee, defaults),
        Misfit::Twice { dim } => return start.text(": dim `").text(callee[dim]).text("` is given twice"),
        Misfit::Unknown { name } => {
            let text = start.text(" has no dim `").text(name).text("`");
            return match nearest(name, callee, required) {
                Some(near) => text.text("; did you mean `").text(near).text("`?"),
                None => list(text.text("; it takes "), callee),
            };
        }
    }
    let mut k = 0;
    while k < required.len() {
        if position(options, required[k]).is_none() && position(callee, required[k]).is_none() {
            let text = start.text(" needs `").text(required[k]).text("`");
            // An attribute of the field says all by itself.
            if matches!(required[k].as_bytes(), [b'#', ..]) {
                return text;
            }
            return text.text("\nhelp: write `").text(model).text("![.., ").text(required[k]).text(" = ..]`");
        }
        k += 1;
    }
    Message::EMPTY
}

const fn misfit(args: &'static [(&'static str, Dim)], callee: &[&str], defaults: &[Option<DimDefault>]) -> Misfit {
    let (mut set, mut places, mut i) = (0u32, 0, 0);
    while i < args.len() {
        places += args[i].0.is_empty() as usize;
        i += 1;
    }
    if places > callee.len() {
        return Misfit::TooMany { given: places };
    }
    (places, i) = (0, 0);
    while i < args.len() {
        let name = args[i].0;
        let at = if name.is_empty() { Some(places) } else { position(callee, name) };
        places += name.is_empty() as usize;
        let Some(k) = at else {
            if is_option(name, callee) {
                i += 1;
                continue;
            }
            return Misfit::Unknown { name };
        };
        if k < SYMBOLS && set & (1 << k) != 0 {
            return Misfit::Twice { dim: k };
        }
        if k < SYMBOLS {
            set |= 1 << k;
        }
        i += 1;
    }
    let mut k = 0;
    while k < callee.len() && k < SYMBOLS {
        if set & (1 << k) == 0 && !has_default(defaults, k) {
            return Misfit::Missing;
        }
        k += 1;
    }
    Misfit::None
}

/// "`Linear` takes 2 dims (I, O), got 1".
const fn takes(start: Message, callee: &[&str], given: usize) -> Message {
    if callee.is_empty() {
        return start.text(" takes no dims, got ").number(given as i64);
    }
    let text = start.text(" takes ").number(callee.len() as i64);
    let text = list(text.text(if callee.len() == 1 { " dim (" } else { " dims (" }), callee);
    text.text("), got ").number(given as i64)
}

const fn takes_missing(
    start: Message,
    model: &str,
    args: &'static [(&'static str, Dim)],
    callee: &[&str],
    defaults: &[Option<DimDefault>],
) -> Message {
    let (mut given, mut i) = (0, 0);
    while i < args.len() {
        given += !is_option(args[i].0, callee) as usize;
        i += 1;
    }
    let mut text = takes(start, callee, given).text("\nhelp: write `").text(model).text("![");
    let (mut k, mut written) = (0, 0);
    while k < callee.len() {
        if !has_default(defaults, k) {
            if written > 0 {
                text = text.text(if k == 1 && from_to(callee) { " => " } else { ", " });
            }
            text = text.text(callee[k]);
            written += 1;
        }
        k += 1;
    }
    text.text("]`")
}

const fn list(mut text: Message, names: &[&str]) -> Message {
    if names.is_empty() {
        return text.text("none");
    }
    let mut k = 0;
    while k < names.len() {
        text = if k > 0 { text.text(", ") } else { text }.text(names[k]);
        k += 1;
    }
    text
}

/// Whether a name is that of a config entry: it starts with a lower-case letter, and no dim has it.
const fn is_option(name: &str, dims: &[&str]) -> bool {
    matches!(name.as_bytes(), [b'a'..=b'z' | b'_', ..]) && position(dims, name).is_none()
}

const fn has_default(defaults: &[Option<DimDefault>], k: usize) -> bool {
    k < defaults.len() && defaults[k].is_some()
}

/// Whether the first two dims are those of a map from one extent to another, which users write `I => O`.
const fn from_to(names: &[&str]) -> bool {
    names.len() >= 2 && same_text(names[0], "I") && same_text(names[1], "O")
}

const fn find(fields: &'static [FieldDims], name: &str) -> Option<&'static FieldDims> {
    let mut i = 0;
    while i < fields.len() {
        if same_text(fields[i].name, name) {
            return Some(&fields[i]);
        }
        i += 1;
    }
    None
}

/// The name closest to a misspelt one, if any is close.
const fn nearest<'a>(name: &str, names: &[&'a str], more: &[&'a str]) -> Option<&'a str> {
    let (mut best, mut found, mut i) = (if name.len() < 3 { 2 } else { 3 }, None, 0);
    while i < names.len() + more.len() {
        let candidate = if i < names.len() { names[i] } else { more[i - names.len()] };
        let apart = distance(name, candidate);
        if apart < best && apart < candidate.len() {
            best = apart;
            found = Some(candidate);
        }
        i += 1;
    }
    // Names of one letter are close only where they differ in case.
    match found {
        None if name.len() == 1 => same_letter(name, names),
        found => found,
    }
}

const fn same_letter<'a>(name: &str, names: &[&'a str]) -> Option<&'a str> {
    let mut i = 0;
    while i < names.len() {
        if name.eq_ignore_ascii_case(names[i]) {
            return Some(names[i]);
        }
        i += 1;
    }
    None
}

/// The edit distance of the first 24 bytes.
const fn distance(a: &str, b: &str) -> usize {
    const MOST: usize = 24;
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let (n, m) = (if a.len() < MOST { a.len() } else { MOST }, if b.len() < MOST { b.len() } else { MOST });
    let (mut row, mut j) = ([0; MOST + 1], 0);
    while j <= m {
        row[j] = j;
        j += 1;
    }
    let mut i = 0;
    while i < n {
        let mut diagonal = row[0];
        row[0] = i + 1;
        j = 0;
        while j < m {
            let replaced = diagonal + !a[i].eq_ignore_ascii_case(&b[j]) as usize;
            let shorter = if row[j] < row[j + 1] { row[j] } else { row[j + 1] } + 1;
            diagonal = row[j + 1];
            row[j + 1] = if replaced < shorter { replaced } else { shorter };
            j += 1;
        }
        i += 1;
    }
    row[m]
}
