//! Axes given by number, from the left or, where negative, from the right.

use crate::shape::dim::Dim;
use crate::shape::shape::Shape;
use crate::shape::step::{Fail, Plain, Step};

/// Where a numbered axis is.
#[derive(Clone, Copy)]
pub(super) enum Place {
    /// Among the listed axes, from the left.
    At(usize),
    /// Only the run can tell.
    Unknown,
    /// Nowhere: there is no such axis.
    Missing(i64),
}

/// The place of axis `axis` in `shape`, or in a shape of `extra` more axes.
pub(super) const fn place(axis: &Dim, shape: &Shape, extra: usize) -> Place {
    let Some(axis) = axis.literal() else { return Place::Unknown };
    if !shape.known() {
        return Place::Unknown;
    }
    let len = (shape.len() + extra) as i64;
    let at = if axis < 0 { axis.saturating_add(len) } else { axis };
    if shape.full() {
        return if 0 <= at && at < len { Place::At(at as usize) } else { Place::Missing(axis) };
    }
    if axis < 0 && at >= 0 { Place::At(at as usize) } else { Place::Unknown }
}

/// As [`place`], for a plain argument.
pub(super) const fn place_of(plain: &Plain, shape: &Shape, extra: usize) -> Place {
    match plain {
        Plain::Dim(axis) => place(axis, shape, extra),
        Plain::List { .. } | Plain::All | Plain::Entry(_) | Plain::Text(_) | Plain::Unknown => Place::Unknown,
    }
}

/// The mistake of naming an axis that is not there.
pub(super) const fn missing(axis: i64, shape: &Shape) -> Step {
    Step::mistake(Fail::Axis { axis, shape: *shape })
}

/// A set of listed axes.
#[derive(Clone, Copy)]
#[allow(clippy::large_enum_variant, reason = "const values cannot be boxed")]
pub(super) enum Axes {
    /// One bit a listed axis.
    Listed(u32),
    /// Every axis, listed or not.
    All,
    /// Only the run can tell.
    Unknown,
    /// The mistake in the list.
    Wrong(Fail),
}

/// The axes that a plain argument names.
pub(super) const fn axes_of(plain: &Plain, shape: &Shape) -> Axes {
    let (dims, len) = match plain {
        Plain::All => return Axes::All,
        Plain::Entry(_) | Plain::Text(_) | Plain::Unknown => return Axes::Unknown,
        Plain::Dim(axis) => ([*axis; 8], 1),
        Plain::List { len, dims } => (*dims, *len as usize),
    };
    let (mut set, mut unknown, mut i) = (0, len == 0, 0);
    while i < len {
        match place(&dims[i], shape, 0) {
            Place::At(axis) if set & (1 << axis) != 0 => return Axes::Wrong(Fail::Twice { axis, shape: *shape }),
            Place::At(axis) => set |= 1 << axis,
            Place::Unknown => unknown = true,
            Place::Missing(axis) => return Axes::Wrong(Fail::Axis { axis, shape: *shape }),
        }
        i += 1;
    }
    if unknown { Axes::Unknown } else { Axes::Listed(set) }
}
