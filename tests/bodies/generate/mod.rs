//! A random body: statements that keep every value small, so that comparisons are well conditioned.

mod expr;
mod layers;
mod lists;
mod rng;
mod stmt;

use rng::Rng;
use std::collections::BTreeMap;

/// A body in the making.
pub(super) struct Body {
    /// Its statements.
    pub(super) text: String,
    /// Whether its operations must have slopes everywhere.
    pub(super) smooth: bool,
    rng: Rng,
    /// What names mean, the outermost first; a later entry hides an earlier one of its name.
    scope: Vec<(String, Kind)>,
    /// How many statements it may still have.
    left: usize,
    /// How deep the present one stands.
    depth: usize,
}

/// The last axis of a tensor.
#[derive(Clone, Copy, PartialEq)]
enum Extent {
    /// The model's `C`.
    Full,
    /// `C` or 1.
    Any,
    /// A tensor without axes.
    Single,
}

/// What a name means.
#[derive(Clone)]
enum Kind {
    Tensor {
        extent: Extent,
        size: f64,
        mutable: bool,
    },
    Number {
        mutable: bool,
    },
    /// The position in a loop.
    Index,
    Pair([(Extent, f64); 2]),
    List {
        len: usize,
        extent: Extent,
        size: f64,
    },
}

/// The body of a seed.
pub(super) fn body(seed: u64) -> Body {
    let mut rng = Rng::new(seed);
    let (left, smooth) = (4 + rng.below(11), !rng.one_in(4));
    let input = |name: &str, extent| (name.to_string(), Kind::Tensor { extent, size: 3.0, mutable: false });
    let scope = vec![input("x", Extent::Full), input("y", Extent::Any)];
    let mut body = Body { text: String::new(), smooth, rng, scope, left, depth: 1 };
    while body.left > 0 {
        body.stmt();
    }
    body.result();
    body
}

impl Body {
    /// The names in scope that mean something of a kind.
    fn visible(&self, is: impl Fn(&Kind) -> bool) -> Vec<(String, Kind)> {
        let all: BTreeMap<&String, &Kind> = self.scope.iter().map(|(name, kind)| (name, kind)).collect();
        all.into_iter().filter(|(_, kind)| is(kind)).map(|(name, kind)| (name.clone(), kind.clone())).collect()
    }
}
