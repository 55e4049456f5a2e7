//! Checks of a safetensors header before anything uses it.
//!
//! `safetensors` has the last word on what a file holds. It keeps one of two equal names in silence, though, and seldom
//! says which tensor is at fault; so all faults are looked for here first, in time and memory of the header's length.

use safetensors::tensor::Metadata;
use safetensors::{Dtype, SafeTensors};
use serde::Deserialize;
use serde::de::value::{Error as Unknown, StrDeserializer};
use serde::de::{Deserializer, Error as _, MapAccess, Visitor};
use std::collections::BTreeSet;
use std::fmt;
use std::ops::Range;

/// How many faults an error lists.
const MOST: usize = 16;

/// What `safetensors` reads at most.
const MAX_HEADER: usize = 100_000_000;

/// Bytes of the number in front of the header.
const LENGTH: usize = 8;

/// The entry of the header that is no tensor.
const TEXTS: &str = "__metadata__";

/// The checked header and the position of the first byte of data, or all faults.
pub(super) fn read(bytes: &[u8]) -> Result<(Metadata, usize), Vec<String>> {
    let (header, data) = split(bytes).map_err(|fault| vec![fault])?;
    let mut faults = match parse(header) {
        Ok(header) => header.faults(data.len() as u64),
        Err(fault) => vec![fault],
    };
    if faults.is_empty() {
        let whole = SafeTensors::read_metadata(bytes);
        return match whole {
            Ok((length, metadata)) => Ok((metadata, LENGTH + length)),
            Err(e) => Err(vec![advised(format!("it is no whole safetensors file: {e}"))]),
        };
    }
    let more = faults.len().saturating_sub(MOST);
    faults.truncate(MOST);
    let mut faults: Vec<String> = faults.into_iter().map(advised).collect();
    if more > 0 {
        faults.push(format!("and {more} more faults of this kind"));
    }
    Err(faults)
}

fn advised(fault: String) -> String {
    format!("{fault}; the file is damaged or was written wrongly, write it again")
}

/// The header and the data.
fn split(bytes: &[u8]) -> Result<(&[u8], &[u8]), String> {
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
        Some(parts) => Ok(parts),
    }
}

fn parse(header: &[u8]) -> Result<Header, String> {
    let text = std::str::from_utf8(header)
        .map_err(|e| format!("the header is no UTF-8 text: its byte {} is wrong", e.valid_up_to()))?;
    serde_json::from_str(text).map_err(|e| format!("the header cannot be read: {e}"))
}

/// The entries in the order of the file.
#[derive(Default)]
struct Header {
    tensors: Vec<(String, Info)>,
    /// Names that came before.
    twice: Vec<String>,
}

/// What a header says of one tensor, unchecked.
#[derive(Deserialize)]
struct Info {
    dtype: String,
    shape: Vec<u64>,
    data_offsets: (u64, u64),
}

impl Header {
    /// Everything that is wrong with a header before `length` bytes of data.
    fn faults(&self, length: u64) -> Vec<String> {
        let twice = self.twice.iter().map(|name| format!("`{name}`: the header has two entries of this name"));
        let mut faults: Vec<String> = twice.collect();
        faults.extend(self.tensors.iter().filter_map(|(name, info)| {
            let fault = info.fault(length)?;
            Some(format!("`{name}`: {fault}"))
        }));
        if faults.is_empty() {
            faults = self.gaps(length);
        }
        faults
    }

    /// Bytes of the data that no tensor has, or more than one.
    fn gaps(&self, length: u64) -> Vec<String> {
        let mut parts: Vec<(Range<u64>, &str)> =
            self.tensors.iter().map(|(name, info)| (info.range(), name.as_str())).collect();
        parts.sort_by_key(|(range, name)| (range.start, range.end, *name));
        let (mut faults, mut end, mut before) = (Vec::new(), 0, "");
        for (range, name) in parts {
            if range.start < end {
                faults.push(format!(
                    "`{name}`: the offsets {range:?} overlap those of `{before}`, which end at {end}; expected {end}.."
                ));
            } else if range.start > end {
                let hole = end..range.start;
                faults.push(format!("`{name}`: the bytes {hole:?} before its offsets {range:?} belong to no tensor"));
            }
            if range.end >= end {
                (end, before) = (range.end, name);
            }
        }
        if end < length {
            faults.push(format!("the bytes {:?} after the last tensor belong to none", end..length));
        }
        faults
    }
}

impl Info {
    fn range(&self) -> Range<u64> {
        self.data_offsets.0..self.data_offsets.1
    }

    /// What is wrong with a tensor on its own.
    fn fault(&self, length: u64) -> Option<String> {
        let Info { dtype, shape, .. } = self;
        let Ok(kind) = Dtype::deserialize(StrDeserializer::<Unknown>::new(dtype)) else {
            return Some(format!("unknown dtype `{dtype}`, expected one of safetensors', such as `F32` or `BF16`"));
        };
        let shape: &dyn fmt::Debug = if shape.len() > MOST { &"[..]" } else { shape };
        let bits = self.shape.iter().try_fold(1, |n: usize, &extent| n.checked_mul(usize::try_from(extent).ok()?));
        let Some(bits) = bits.and_then(|n| n.checked_mul(kind.bitsize())) else {
            return Some(format!("shape {shape:?} of `{dtype}` has more elements than any memory holds"));
        };
        if bits % 8 != 0 {
            return Some(format!("shape {shape:?} of `{dtype}` takes {bits} bits, expected whole bytes"));
        }
        let (range, bytes) = (self.range(), (bits / 8) as u64);
        if range.start > range.end {
            return Some(format!("the offsets {range:?} run backwards"));
        }
        if range.end > length {
            return Some(format!("the offsets {range:?} reach beyond the data, which has {length} bytes"));
        }
        let given = range.end - range.start;
        (given != bytes).then(|| {
            format!("shape {shape:?} of `{dtype}` takes {bytes} bytes, but the offsets {range:?} hold {given}")
        })
    }
}

impl<'de> Deserialize<'de> for Header {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Entries)
    }
}

struct Entries;

impl<'de> Visitor<'de> for Entries {
    type Value = Header;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object of tensors by name")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Header, A::Error> {
        let (mut header, mut seen) = (Header::default(), BTreeSet::new());
        while let Some(name) = map.next_key::<String>()? {
            // The position of the fault stays at the end of the text.
            let named = |e| A::Error::custom(format_args!("`{name}`: {e}"));
            if name == TEXTS {
                let texts = map.next_value::<Option<Texts>>().map_err(named)?;
                header.twice.extend(texts.into_iter().flat_map(|texts| texts.twice));
            } else {
                let info = map.next_value().map_err(named)?;
                header.tensors.push((name.clone(), info));
            }
            if let Some(name) = seen.replace(name) {
                header.twice.push(name);
            }
        }
        Ok(header)
    }
}

/// The text entries, of which the doubled names alone are of interest.
#[derive(Default)]
struct Texts {
    twice: Vec<String>,
}

impl<'de> Deserialize<'de> for Texts {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Texts::default())
    }
}

impl<'de> Visitor<'de> for Texts {
    type Value = Self;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object of texts")
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<Self, A::Error> {
        let mut seen = BTreeSet::new();
        while let Some(name) = map.next_key::<String>()? {
            let named = |e| A::Error::custom(format_args!("`{name}`: {e}"));
            map.next_value::<String>().map_err(named)?;
            if let Some(name) = seen.replace(name) {
                self.twice.push(format!("{TEXTS}.{name}"));
            }
        }
        Ok(self)
    }
}
