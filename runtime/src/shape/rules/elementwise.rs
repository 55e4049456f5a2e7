//! Element by element: equal shapes and broadcasting.

use super::{Plain, Shape, input};
use crate::shape::dim::Dim;
use crate::shape::shape::Rest;
use crate::shape::step::{Fail, Step, Verdict};

/// The shape of the only operand.
pub const fn same(inputs: &[Shape], _plain: &[Plain], _out: usize) -> Step {
    let shape = input(inputs, 0);
    if shape.known() { Step::proof(shape) } else { Step::UNKNOWN }
}

/// All operands broadcast to one shape, aligned at the last axis; an axis broadcasts where it is the number 1.
pub const fn broadcast(inputs: &[Shape], _plain: &[Plain], _out: usize) -> Step {
    let mut step = same(inputs, &[], 0);
    let mut i = 1;
    while i < inputs.len() {
        let met = meet(&step.shape, &inputs[i]);
        let fail = Fail::Broadcast { left: step.shape, right: inputs[i], back: met.back };
        match met.verdict {
            Verdict::Proved => {}
            Verdict::Undecided => step = step.doubt(if met.told { fail } else { Fail::None }),
            Verdict::Failed => return Step::mistake(fail),
        }
        step.shape = met.shape;
        i += 1;
    }
    step
}

/// The first operand's shape, into which the others must broadcast.
pub const fn broadcast_first(inputs: &[Shape], _plain: &[Plain], _out: usize) -> Step {
    let into = input(inputs, 0);
    let mut step = same(inputs, &[], 0);
    let mut i = 1;
    while i < inputs.len() {
        let from = inputs[i];
        let met = meet(&into, &from);
        if matches!(met.verdict, Verdict::Failed) {
            return Step::mistake(Fail::Broadcast { left: into, right: from, back: met.back });
        }
        if grows(&into, &from) {
            return Step::mistake(Fail::Grows { into, from });
        }
        if matches!(met.verdict, Verdict::Undecided) || !met.shape.same(&into) {
            step = step.doubt(if met.told { Fail::Grows { into, from } } else { Fail::None });
        }
        i += 1;
    }
    step
}

/// `select(c, a, b)`: all three broadcast to one shape.
pub const fn select(inputs: &[Shape], plain: &[Plain], out: usize) -> Step {
    broadcast(inputs, plain, out)
}

/// `[x, weight]`: the shape of `x`; the weight is one number, or one for each entry of axis 1.
pub const fn prelu(inputs: &[Shape], _plain: &[Plain], _out: usize) -> Step {
    let (x, weight) = (input(inputs, 0), input(inputs, 1));
    let step = same(inputs, &[], 0);
    if weight.full() && (weight.is_empty() || (weight.len() == 1 && weight.axis(0).is(1))) {
        return step;
    }
    let fail = Fail::Channels { input: x, weight };
    if weight.len() > 1 || (x.full() && x.len() < 2) || (x.full() && x.axis(1).differs(&weight.last(0))) {
        return Step::mistake(fail);
    }
    if x.full() && weight.full() && x.axis(1).same(&weight.axis(0)) {
        return step;
    }
    step.doubt(if x.known() && weight.known() { fail } else { Fail::None })
}

/// A number from operands of equal shapes.
pub const fn scalar_of_same(inputs: &[Shape], _plain: &[Plain], _out: usize) -> Step {
    let mut step = Step::proof(Shape::SCALAR);
    let mut i = 1;
    while i < inputs.len() {
        let (verdict, axis) = alike(&inputs[0], &inputs[i], None);
        let fail = Fail::Unlike { first: inputs[0], other: inputs[i], operand: i, axis };
        match verdict {
            Verdict::Proved => {}
            Verdict::Undecided => {
                step = step.doubt(if inputs[0].known() && inputs[i].known() { fail } else { Fail::None })
            }
            Verdict::Failed => return Step::mistake(fail),
        }
        i += 1;
    }
    step
}

/// What two shapes broadcast to.
#[derive(Clone, Copy)]
pub(super) struct Meet {
    pub(super) shape: Shape,
    pub(super) verdict: Verdict,
    /// The axis that gave the verdict, counted from the last.
    pub(super) back: usize,
    /// Whether the doubt is about two known axes.
    pub(super) told: bool,
}

/// Broadcasts two shapes.
pub(super) const fn meet(left: &Shape, right: &Shape) -> Meet {
    let mut met = Meet { shape: Shape::UNKNOWN, verdict: Verdict::Proved, back: 0, told: false };
    if !left.known() || !right.known() {
        met.verdict = Verdict::Undecided;
        return met;
    }
    // Of two that list as many axes, one without further leading axes counts as the shorter.
    let left_longer = left.len() > right.len() || (left.len() == right.len() && right.full());
    let (long, short) = if left_longer { (left, right) } else { (right, left) };
    let same_rest = left.len() == right.len() && left.rest().same(&right.rest());
    // How many axes are certain to line up with a listed axis, or with nothing, of the other shape.
    let count = if short.full() { long.len() } else { short.len() };
    met.shape = long.tail(count).rested(if same_rest || short.full() { long.rest() } else { Rest::Any });
    if matches!(met.shape.rest(), Rest::Any) {
        met.verdict = Verdict::Undecided;
    }
    let mut back = 0;
    while back < short.len() {
        let (l, r) = (left.last(back), right.last(back));
        let (dim, verdict) = meet_dims(&l, &r);
        met.shape = met.shape.with(met.shape.len() - 1 - back, dim);
        if !matches!(verdict, Verdict::Proved) && (matches!(verdict, Verdict::Failed) || !met.told) {
            met.verdict = verdict;
            met.back = back;
            met.told = l.known() && r.known();
        }
        if matches!(verdict, Verdict::Failed) {
            return met;
        }
        back += 1;
    }
    met
}

const fn meet_dims(l: &Dim, r: &Dim) -> (Dim, Verdict) {
    if l.same(r) || r.is(1) {
        (*l, Verdict::Proved)
    } else if l.is(1) {
        (*r, Verdict::Proved)
    } else if l.differs(r) {
        (Dim::UNKNOWN, Verdict::Failed)
    } else if l.literal().is_some() || !r.known() {
        // The other is 1 or the same.
        (*l, Verdict::Undecided)
    } else if r.literal().is_some() || !l.known() {
        (*r, Verdict::Undecided)
    } else {
        (Dim::UNKNOWN, Verdict::Undecided)
    }
}

/// Whether `from` certainly has more axes than `into`, or a longer one where `into` has 1.
const fn grows(into: &Shape, from: &Shape) -> bool {
    if into.full() && from.len() > into.len() {
        return true;
    }
    let mut back = 0;
    while back < into.len() && back < from.len() {
        if into.last(back).is(1) && from.last(back).differs(&Dim::lit(1)) {
            return true;
        }
        back += 1;
    }
    false
}

/// Whether two shapes are equal, apart from axis `except` of the first; and the axis of the first that tells.
pub(super) const fn alike(a: &Shape, b: &Shape, except: Option<usize>) -> (Verdict, Option<usize>) {
    if !a.known() || !b.known() {
        return (Verdict::Undecided, None);
    }
    let longer = a.full() && b.len() > a.len();
    if longer || (b.full() && a.len() > b.len()) {
        return (Verdict::Failed, None);
    }
    let (mut verdict, mut axis) = (Verdict::Proved, None);
    if a.len() != b.len() || !a.rest().same(&b.rest()) {
        verdict = Verdict::Undecided;
    }
    let mut back = if a.len() < b.len() { a.len() } else { b.len() };
    while back > 0 {
        back -= 1;
        let place = a.len() - 1 - back;
        let skipped = matches!(except, Some(e) if e == place);
        if !skipped && a.last(back).differs(&b.last(back)) {
            return (Verdict::Failed, Some(place));
        }
        if !skipped && !a.last(back).same(&b.last(back)) && axis.is_none() {
            verdict = Verdict::Undecided;
            axis = Some(place);
        }
    }
    (verdict, axis)
}
