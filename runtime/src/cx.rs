//! What a call depends on beyond its arguments: mode and randomness.

/// Mode and randomness.
#[derive(Clone, Debug)]
pub struct Cx {}
