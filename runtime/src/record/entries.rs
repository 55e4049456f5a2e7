//! The entries of a safetensors header, read in memory of their own size.

use super::header::{Entry, Faults, Header, MOST, brief};
use super::names::Names;
use safetensors::Dtype;
use serde::Deserialize;
use serde::de::value::{Error as Unknown, StrDeserializer};
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

/// How many axes a shape may have, as in NumPy; tensors have fewer.
const MOST_AXES: usize = 64;

/// The entry of the header that is no tensor.
const TEXTS: &str = "__metadata__";

/// The header of that text, in front of data that lies at `data` in the file, and what is wrong with each entry. The
/// text is read twice: the entries are counted first, so that they take no more room than they need.
pub(super) fn read(text: &str, data: &Range<usize>, faults: &mut Faults) -> serde_json::Result<Header> {
    let counts: Counts = serde_json::from_str(text)?;
    Entries { counts, data, faults }.deserialize(&mut serde_json::Deserializer::from_str(text))
}

/// An error within the entry of a name. The position of the fault stays at the end of the text.
fn within<E: Error>(name: &str, error: E) -> E {
    E::custom(format_args!("`{}`: {}", brief(name), brief(&error.to_string())))
}

/// What a header says of one tensor, unchecked.
#[derive(Deserialize)]
struct Info<'t> {
    #[serde(borrow)]
    dtype: Cow<'t, str>,
    shape: Shape,
    data_offsets: (u64, u64),
}

impl Info<'_> {
    /// The entry of a tensor in data that lies there, or what is wrong with it on its own.
    fn check(&self, data: &Range<usize>) -> Result<Entry, String> {
        let dtype = brief(&self.dtype);
        let Ok(kind) = Dtype::deserialize(StrDeserializer::<Unknown>::new(&self.dtype)) else {
            return Err(format!("unknown dtype `{dtype}`, expected one of safetensors', such as `F32` or `BF16`"));
        };
        let shape = &self.shape;
        let Some(extents) = shape.axes.get(..shape.rank) else {
            return Err(format!("shape [..] has {} axes, but at most {MOST_AXES} can be read", shape.rank));
        };
        let axes: Option<Vec<usize>> = extents.iter().map(|&n| usize::try_from(n).ok()).collect();
        let bits = axes.as_ref().and_then(|axes| axes.iter().try_fold(kind.bitsize(), |n, &axis| n.checked_mul(axis)));
        let (Some(axes), Some(bits)) = (axes, bits) else {
            return Err(format!("shape {shape:?} of `{dtype}` has more elements than any memory holds"));
        };
        if bits % 8 != 0 {
            return Err(format!("shape {shape:?} of `{dtype}` takes {bits} bits, expected whole bytes"));
        }
        let range = self.data_offsets.0..self.data_offsets.1;
        if range.start > range.end {
            return Err(format!("the offsets {range:?} run backwards"));
        }
        let length = data.len() as u64;
        if range.end > length {
            return Err(format!("the offsets {range:?} reach beyond the data, which has {length} bytes"));
        }
        let (bytes, given) = ((bits / 8) as u64, range.end - range.start);
        if given != bytes {
            return Err(format!(
                "shape {shape:?} of `{dtype}` takes {bytes} bytes, but the offsets {range:?} hold {given}"
            ));
        }
        let range = data.start + range.start as usize..data.start + range.end as usize;
        Ok(Entry { shape: axes, kind, range })
    }
}

/// The extents of a tensor; beyond [`MOST_AXES`] they are only counted.
struct Shape {
    axes: [u64; MOST_AXES],
    rank: usize,
}

impl fmt::Debug for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.axes.get(..self.rank.min(MOST)) {
            Some(axes) if self.rank <= MOST => axes.fmt(f),
            _ => f.write_str("[..]"),
        }
    }
}

impl<'de> Deserialize<'de> for Shape {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(Shape { axes: [0; MOST_AXES], rank: 0 })
    }
}

impl<'de> Visitor<'de> for Shape {
    type Value = Shape;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a sequence of extents")
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut list: A) -> Result<Shape, A::Error> {
        while let Some(extent) = list.next_element()? {
            if let Some(place) = self.axes.get_mut(self.rank) {
                *place = extent;
            }
            self.rank += 1;
        }
        Ok(self)
    }
}

/// How many entries a header has.
#[derive(Default)]
struct Counts {
    all: usize,
    texts: usize,
}

impl<'de> Deserialize<'de> for Counts {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Counts::default())
    }
}

impl<'de> Visitor<'de> for Counts {
    type Value = Counts;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object of tensors by name")
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<Counts, A::Error> {
        while let Some(name) = map.next_key::<Cow<'de, str>>()? {
            if name == TEXTS {
                let texts = map.next_value::<Option<Counts>>().map_err(|e| within(&name, e))?;
                self.texts = self.texts.max(texts.map_or(0, |texts| texts.all));
            } else {
                map.next_value::<IgnoredAny>().map_err(|e| within(&name, e))?;
            }
            self.all += 1;
        }
        Ok(self)
    }
}

/// Reads the entries of a header, and notes what is wrong with them.
struct Entries<'f> {
    counts: Counts,
    data: &'f Range<usize>,
    faults: &'f mut Faults,
}

impl<'de> DeserializeSeed<'de> for Entries<'_> {
    type Value = Header;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Header, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Entries<'_> {
    type Value = Header;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object of tensors by name")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Header, A::Error> {
        let mut tensors = Vec::with_capacity(self.counts.all);
        let mut texts = None;
        while let Some(name) = map.next_key::<Box<str>>()? {
            if &*name == TEXTS {
                let read = map.next_value_seed(Texts(self.counts.texts)).map_err(|e| within(&name, e))?;
                if texts.replace(read).is_some() {
                    self.faults.add(|| twice(TEXTS));
                }
                continue;
            }
            let info: Info<'_> = map.next_value().map_err(|e| within(&name, e))?;
            match info.check(self.data) {
                Ok(entry) => tensors.push((name, entry)),
                Err(fault) => self.faults.add(|| format!("`{}`: {fault}", brief(&name))),
            }
        }
        let (tensors, texts) = (Names::new(tensors), Names::new(texts.unwrap_or_default()));
        tensors.twice().for_each(|name| self.faults.add(|| twice(name)));
        texts.twice().for_each(|name| self.faults.add(|| twice(&format!("{TEXTS}.{}", brief(name)))));
        Ok(Header { tensors, texts })
    }
}

fn twice(name: &str) -> String {
    format!("`{}`: the header has two entries of this name", brief(name))
}

/// Reads so many text entries; `null` stands for none.
struct Texts(usize);

impl<'de> DeserializeSeed<'de> for Texts {
    type Value = Vec<(Box<str>, Box<str>)>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_option(self)
    }
}

impl<'de> Visitor<'de> for Texts {
    type Value = Vec<(Box<str>, Box<str>)>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object of texts")
    }

    fn visit_none<E: Error>(self) -> Result<Self::Value, E> {
        Ok(Vec::new())
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_map(self)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut texts = Vec::with_capacity(self.0);
        while let Some(name) = map.next_key::<Box<str>>()? {
            let text = map.next_value().map_err(|e| within(&name, e))?;
            texts.push((name, text));
        }
        Ok(texts)
    }
}
