//! Reading a safetensors header, which may say anything.
//!
//! `safetensors` keeps one of two equal names in silence, seldom says which tensor is at fault, and holds a header in many
//! times its length while it reads it. So it is read here: all faults are found, in memory of a few times its length.

use super::entries;
use super::names::Names;
use cotangent_hal::DType;
use safetensors::Dtype;
use std::borrow::Cow;
use std::ops::Range;

/// How many faults an error lists.
pub(super) const MOST: usize = 16;

/// How many bytes of a name or a message an error quotes.
const QUOTED: usize = 300;

/// What `safetensors` reads at most.
const MAX_HEADER: usize = 100_000_000;

/// Bytes of the number in front of the header.
const LENGTH: usize = 8;

/// A header without faults.
#[derive(Default)]
pub(super) struct Header {
    /// The tensors by name.
    pub(super) tensors: Names<Entry>,
    /// The text entries.
    pub(super) texts: Names<Box<str>>,
}

/// What the header says of a tensor.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The extents.
    pub shape: Vec<usize>,
    pub(super) kind: Dtype,
    /// Its bytes in the file.
    pub(super) range: Range<usize>,
}

impl Entry {
    /// The type of an element, as safetensors writes it: `F32`, `BF16`, ...
    pub fn dtype(&self) -> String {
        self.kind.to_string()
    }

    /// Whether the values can be read as `f32`.
    pub fn reads_as_f32(&self) -> bool {
        super::dtype::read(self.kind).is_some_and(DType::is_float)
    }
}

/// The header of a file, or all its faults.
pub(super) fn read(bytes: &[u8]) -> Result<Header, Vec<String>> {
    let mut faults = Faults::default();
    let header = split(bytes).and_then(|(text, data)| parse(text, data, &mut faults)).unwrap_or_else(|fault| {
        faults.add(|| fault);
        Header::default()
    });
    faults.none().map(|()| header)
}

/// The text of the header and where in the file the data lies.
fn split(bytes: &[u8]) -> Result<(&str, Range<usize>), String> {
    let given = bytes.len();
    let Some((length, rest)) = bytes.split_first_chunk::<LENGTH>() else {
        return Err(format!("the file has {given} bytes, expected at least {LENGTH}; it is no safetensors file"));
    };
    let length = u64::from_le_bytes(*length);
    match usize::try_from(length).ok().and_then(|length| rest.split_at_checked(length)) {
        None => Err(format!(
            "the header claims {length} bytes, but the file has {given}; it is truncated, or no safetensors file"
        )),
        Some((header, _)) if header.len() > MAX_HEADER => {
            Err(format!("the header has {length} bytes, but at most {MAX_HEADER} can be read; split the file"))
        }
        Some((header, data)) => {
            let text = std::str::from_utf8(header)
                .map_err(|e| format!("the header is no UTF-8 text: its byte {} is wrong", e.valid_up_to()))?;
            Ok((text, given - data.len()..given))
        }
    }
}

fn parse(text: &str, data: Range<usize>, faults: &mut Faults) -> Result<Header, String> {
    let header = entries::read(text, &data, faults)
        .map_err(|e| format!("the header cannot be read: {}", brief(&e.to_string())))?;
    if faults.list.is_empty() {
        gaps(&header.tensors, data, faults);
    }
    Ok(header)
}

/// What is wrong with a file: the first faults and the number of the others.
#[derive(Default)]
pub(super) struct Faults {
    list: Vec<String>,
    more: usize,
}

impl Faults {
    pub(super) fn add(&mut self, fault: impl FnOnce() -> String) {
        if self.list.len() < MOST {
            self.list.push(format!("{}; the file is damaged or was written wrongly, write it again", fault()));
        } else {
            self.more += 1;
        }
    }

    fn none(mut self) -> Result<(), Vec<String>> {
        if self.more > 0 {
            self.list.push(format!("and {} more faults of this kind", self.more));
        }
        if self.list.is_empty() { Ok(()) } else { Err(self.list) }
    }
}

/// The start and the end of a text that may have any length.
pub(super) fn brief(text: &str) -> Cow<'_, str> {
    if text.len() <= QUOTED {
        return text.into();
    }
    let (start, end) = (text.floor_char_boundary(QUOTED / 2), text.ceil_char_boundary(text.len() - QUOTED / 2));
    format!("{}..{}", &text[..start], &text[end..]).into()
}

/// Looks for bytes of the data that no tensor has, or more than one.
fn gaps(tensors: &Names<Entry>, data: Range<usize>, faults: &mut Faults) {
    let offsets = |entry: &Entry| entry.range.start - data.start..entry.range.end - data.start;
    let mut parts: Vec<(Range<usize>, &str)> = tensors.iter().map(|(name, entry)| (offsets(entry), name)).collect();
    parts.sort_unstable_by_key(|(range, name)| (range.start, range.end, *name));
    let (mut end, mut before) = (0, "");
    for (range, name) in parts {
        let (from, to) = (range.start, range.end);
        if from < end {
            let (name, before) = (brief(name), brief(before));
            faults.add(|| {
                format!(
                    "`{name}`: the offsets {range:?} overlap those of `{before}`, which end at {end}; expected {end}.."
                )
            });
        } else if from > end {
            let (name, hole) = (brief(name), end..from);
            faults.add(|| format!("`{name}`: the bytes {hole:?} before its offsets {range:?} belong to no tensor"));
        }
        if to >= end {
            (end, before) = (to, name);
        }
    }
    if end < data.len() {
        faults.add(|| format!("the bytes {:?} after the last tensor belong to none", end..data.len()));
    }
}
