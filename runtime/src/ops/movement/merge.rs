//! The pullback of operations that put one tensor into another: linear in both.

use super::undo::Undo;
use crate::tensor::Kind;
use cotangent_hal::DType;

/// What takes the cotangent of the result back to those of the receiver and of what was put into it, where they are
/// wanted.
pub(crate) struct Merge {
    pub(crate) into: Option<Undo>,
    /// With the dtype of what was put there.
    pub(crate) src: Option<(Undo, DType)>,
}

impl Merge {
    /// Nothing is wanted.
    pub(crate) const NONE: Merge = Merge { into: None, src: None };

    /// The same between a movement of the cotangent and one of each result.
    pub(crate) fn between(self, before: Undo, [into, src]: [Undo; 2]) -> Merge {
        Merge {
            into: self.into.map(|undo| before.clone().then(undo).then(into)),
            src: self.src.map(|(undo, dtype)| (before.then(undo).then(src), dtype)),
        }
    }

    /// The cotangents of both.
    #[track_caller]
    pub(crate) fn pull<K: Kind>(self, ct: K::Ct) -> (K::Ct, K::Ct) {
        let Some(ct) = K::ct_tensor(ct) else { return Default::default() };
        let src = self.src.map(|(undo, dtype)| undo.apply(ct.clone()).to(dtype));
        let into = self.into.map(|undo| undo.apply(ct));
        (K::ct(into), K::ct(src))
    }
}
