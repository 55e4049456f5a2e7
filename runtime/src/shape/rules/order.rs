//! The same elements with their axes in another order.

use super::axis::{Axes, Place, axes_of, missing, place, place_of};
use super::{Plain, Shape, argument, input};
use crate::shape::dim::Dim;
use crate::shape::shape::Rest;
use crate::shape::step::{Fail, Step};

/// Two axes swapped.
pub const fn transpose(inputs: &[Shape], plain: &[Plain], _out: usize) -> Step {
    let shape = input(inputs, 0);
    match (place_of(&argument(plain, 0), &shape, 0), place_of(&argument(plain, 1), &shape, 0)) {
        (Place::Missing(axis), _) | (_, Place::Missing(axis)) => missing(axis, &shape),
        (Place::At(a), Place::At(b)) => Step::proof(swapped(shape, a, b)),
        (Place::Unknown, Place::At(_) | Place::Unknown) | (Place::At(_), Place::Unknown) => Step::UNKNOWN,
    }
}

/// A matrix transposed; fewer axes stay as they are.
pub const fn t(inputs: &[Shape], _plain: &[Plain], _out: usize) -> Step {
    let shape = input(inputs, 0);
    if shape.len() > 2 {
        return Step::mistake(Fail::Rank { shape, least: 0, most: 2 });
    }
    if shape.len() == 2 {
        // A matrix takes no further axes, so that those that are not listed are none.
        let turned = swapped(shape, 0, 1).rested(Rest::None);
        return if shape.full() { Step::proof(turned) } else { Step::guess(turned) };
    }
    if shape.full() { Step::proof(shape) } else { Step::UNKNOWN }
}

/// Axis `i` of the result is axis `order[i]`.
pub const fn permute(inputs: &[Shape], plain: &[Plain], _out: usize) -> Step {
    let shape = input(inputs, 0);
    let Plain::List { len, dims } = argument(plain, 0) else { return Step::UNKNOWN };
    let len = len as usize;
    let order = Shape::of(dims.split_at(len).0);
    if shape.known() && (shape.len() > len || (shape.full() && shape.len() != len)) {
        return Step::mistake(Fail::Order { shape, order });
    }
    if !shape.full() {
        return Step::UNKNOWN;
    }
    if let Axes::Wrong(fail) = axes_of(&argument(plain, 0), &shape) {
        return Step::mistake(if matches!(fail, Fail::Axis { .. }) { fail } else { Fail::Order { shape, order } });
    }
    let (mut permuted, mut known, mut i) = (Shape::SCALAR, true, 0);
    while i < len {
        match place(&dims[i], &shape, 0) {
            Place::At(axis) => permuted = permuted.push(shape.axis(axis)),
            Place::Unknown | Place::Missing(_) => {
                permuted = permuted.push(Dim::UNKNOWN);
                known = false;
            }
        }
        i += 1;
    }
    if known { Step::proof(permuted) } else { Step::guess(permuted) }
}

const fn swapped(shape: Shape, a: usize, b: usize) -> Shape {
    let (first, second) = (shape.axis(a), shape.axis(b));
    shape.with(a, second).with(b, first)
}
