//! Randomness as a pure function of a key and a counter.

/// A key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key(u64);
/// A source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rng {
    key: u64,
    counter: u64,
}
