//! Where a parameter lies in a model.

use std::fmt;

/// The place of a field in a model, made of segments that live on the stack: `blocks.3.attn.qkv.weight`.
///
/// Paths are PyTorch's names: a field adds its name, an element of a list its index, and an option or a box nothing.
#[derive(Clone, Copy)]
pub struct Path<'a> {
    parent: Option<&'a Path<'a>>,
    segment: Segment<'a>,
}

#[derive(Clone, Copy)]
enum Segment<'a> {
    Name(&'a str),
    Index(usize),
}

impl Path<'static> {
    /// The model itself.
    pub const ROOT: Path<'static> = Path { parent: None, segment: Segment::Name("") };
}

impl<'a> Path<'a> {
    /// The field `name` of the model at this path. The empty name stands for the path itself.
    pub fn child<'b>(&'b self, name: &'b str) -> Path<'b> {
        Path { parent: Some(self), segment: Segment::Name(name) }
    }

    /// The `i`-th element of the list at this path.
    pub fn index(&self, i: usize) -> Path<'_> {
        Path { parent: Some(self), segment: Segment::Index(i) }
    }

    /// The path that this one was made from, or `None` at the root.
    pub fn parent(&self) -> Option<&'a Path<'a>> {
        self.parent
    }

    fn is_empty(&self) -> bool {
        matches!(self.segment, Segment::Name("")) && self.parent.is_none_or(Path::is_empty)
    }
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(parent) = self.parent {
            parent.fmt(f)?;
            if !parent.is_empty() && !matches!(self.segment, Segment::Name("")) {
                f.write_str(".")?;
            }
        }
        match self.segment {
            Segment::Name(name) => f.write_str(name),
            Segment::Index(i) => write!(f, "{i}"),
        }
    }
}

impl fmt::Debug for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Path({self})")
    }
}

/// `prefix.name`, or `name` where the prefix is empty.
pub(crate) fn join(prefix: &str, name: &str) -> String {
    match (prefix, name) {
        ("", name) => name.to_owned(),
        (prefix, "") => prefix.to_owned(),
        (prefix, name) => format!("{prefix}.{name}"),
    }
}

/// Whether `pattern` names `path` or a layer that holds it; `*` stands for any run of characters.
pub(crate) fn matches(pattern: &str, path: &str) -> bool {
    let ends = path.match_indices('.').map(|(i, _)| i).chain([path.len()]);
    ends.into_iter().any(|end| glob(pattern.as_bytes(), &path.as_bytes()[..end]))
}

/// Whether `pattern` is `path`; `*` stands for any run of characters.
pub(crate) fn is_glob_of(pattern: &str, path: &str) -> bool {
    glob(pattern.as_bytes(), path.as_bytes())
}

fn glob(pattern: &[u8], text: &[u8]) -> bool {
    let (mut p, mut t) = (0, 0);
    let mut star = None;
    while t < text.len() {
        if pattern.get(p) == Some(&b'*') {
            star = Some((p + 1, t));
            p += 1;
        } else if pattern.get(p) == Some(&text[t]) {
            (p, t) = (p + 1, t + 1);
        } else if let Some((after, from)) = star {
            star = Some((after, from + 1));
            (p, t) = (after, from + 1);
        } else {
            return false;
        }
    }
    pattern[p..].iter().all(|&c| c == b'*')
}

#[cfg(test)]
mod tests {
    use super::{Path, matches};

    #[test]
    fn paths_read_like_pytorch_names() {
        let blocks = Path::ROOT.child("blocks");
        let third = blocks.index(3);
        let attn = third.child("attn");
        assert_eq!(attn.child("qkv.weight").to_string(), "blocks.3.attn.qkv.weight");
        assert_eq!(attn.child("").to_string(), "blocks.3.attn");
        assert_eq!(Path::ROOT.child("").child("w").to_string(), "w");
        assert_eq!(Path::ROOT.index(0).to_string(), "0");
    }

    #[test]
    fn patterns_match_whole_segments_of_a_prefix() {
        assert!(matches("encoder", "encoder.fc.weight"));
        assert!(!matches("enc", "encoder.fc.weight"));
        assert!(matches("*.bias", "blocks.0.fc.bias"));
        assert!(!matches("*.bias", "blocks.0.fc.weight"));
        assert!(matches("blocks.*.attn", "blocks.11.attn.qkv.weight"));
        assert!(matches("*", "w"));
        assert!(!matches("", "w"));
    }
}
