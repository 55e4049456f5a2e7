//! Operations along axes: sums, softmax, normalisation, losses.

use super::axis::{Axes, Place, axes_of, missing, place_of};
use super::elementwise::alike;
use super::{Plain, Shape, argument, input};
use crate::shape::dim::Dim;
use crate::shape::step::{Fail, Step, Verdict};

/// The shape without the named axes.
pub const fn reduce(inputs: &[Shape], plain: &[Plain], _out: usize) -> Step {
    let shape = input(inputs, 0);
    match axes_of(&argument(plain, 0), &shape) {
        Axes::All => Step::proof(Shape::SCALAR),
        Axes::Unknown => Step::UNKNOWN,
        Axes::Wrong(fail) => Step::mistake(fail),
        Axes::Listed(set) => {
            let (mut left, mut i) = (shape, shape.len());
            while i > 0 {
                i -= 1;
                if set & (1 << i) != 0 {
                    left = left.remove(i);
                }
            }
            Step::proof(left)
        }
    }
}

/// The shape with 1 in the place of the named axes.
pub const fn reduce_keepdim(inputs: &[Shape], plain: &[Plain], _out: usize) -> Step {
    let shape = input(inputs, 0);
    let (set, known) = match axes_of(&argument(plain, 0), &shape) {
        Axes::All if shape.full() => (u32::MAX, true),
        Axes::Listed(set) => (set, true),
        Axes::Unknown if shape.full() => (u32::MAX, false),
        Axes::All | Axes::Unknown => return Step::UNKNOWN,
        Axes::Wrong(fail) => return Step::mistake(fail),
    };
    let (mut kept, mut i) = (shape, 0);
    while i < shape.len() {
        if set & (1 << i) != 0 {
            kept = kept.with(i, if known { Dim::lit(1) } else { Dim::UNKNOWN });
        }
        i += 1;
    }
    if known { Step::proof(kept) } else { Step::guess(kept) }
}

/// As [`reduce`], of an operation whose axes stand second: `norm(p, axes)`.
pub const fn reduce_second(inputs: &[Shape], plain: &[Plain], out: usize) -> Step {
    reduce(inputs, &[argument(plain, 1)], out)
}

/// As [`reduce_keepdim`], of an operation whose axes stand second.
pub const fn reduce_second_keepdim(inputs: &[Shape], plain: &[Plain], out: usize) -> Step {
    reduce_keepdim(inputs, &[argument(plain, 1)], out)
}

/// The shape itself, which has the named axis.
pub const fn along(inputs: &[Shape], plain: &[Plain], _out: usize) -> Step {
    let shape = input(inputs, 0);
    match place_of(&argument(plain, 0), &shape, 0) {
        Place::At(_) => Step::proof(shape),
        Place::Unknown => Step::guess(shape),
        Place::Missing(axis) => missing(axis, &shape),
    }
}

/// `[x, weight, bias]`: the shape of `x`; both others have the shape of its last axis.
pub const fn layer_norm(inputs: &[Shape], _plain: &[Plain], _out: usize) -> Step {
    let x = input(inputs, 0);
    if x.full() && x.is_empty() {
        return Step::mistake(Fail::Rank { shape: x, least: 1, most: usize::MAX });
    }
    let mut step = if x.known() { Step::proof(x) } else { Step::UNKNOWN };
    let last = if x.is_empty() { Shape::of(&[Dim::UNKNOWN]) } else { x.tail(1) };
    let mut i = 1;
    while i < inputs.len() {
        let fail = Fail::Affine { input: x, given: inputs[i], bias: i > 1 };
        match alike(&last, &inputs[i], None).0 {
            Verdict::Proved => {}
            Verdict::Undecided => step = step.doubt(if x.known() && inputs[i].known() { fail } else { Fail::None }),
            Verdict::Failed => return Step::mistake(fail),
        }
        i += 1;
    }
    step
}

/// `[logits, targets]`: a number from `[.., C]` and `[..]`.
pub const fn cross_entropy(inputs: &[Shape], _plain: &[Plain], _out: usize) -> Step {
    let (logits, targets) = (input(inputs, 0), input(inputs, 1));
    if logits.full() && logits.is_empty() {
        return Step::mistake(Fail::Rank { shape: logits, least: 1, most: usize::MAX });
    }
    let step = Step::proof(Shape::SCALAR);
    if !logits.known() || !targets.known() || logits.is_empty() {
        return step.doubt(Fail::None);
    }
    match alike(&logits.head(1), &targets, None).0 {
        Verdict::Proved => step,
        Verdict::Undecided => step.doubt(Fail::Targets { logits, targets }),
        Verdict::Failed => Step::mistake(Fail::Targets { logits, targets }),
    }
}

/// `[log_probs, targets, input_lengths, target_lengths]`: `[N]` from `[T, N, C]`, labels `[N, S]` or `[L]`, and lengths `[N]`.
pub const fn ctc_loss(inputs: &[Shape], _plain: &[Plain], _out: usize) -> Step {
    let x = input(inputs, 0);
    if (x.full() && x.len() < 3) || x.len() > 3 {
        return Step::mistake(Fail::Rank { shape: x, least: 3, most: 3 });
    }
    let samples = if x.len() >= 2 { x.last(1) } else { Dim::UNKNOWN };
    let each = Shape::of(&[samples]);
    let mut step = if x.full() { Step::proof(each) } else { Step::guess(each) };
    let mut i = 1;
    while i < inputs.len() {
        // Labels of two axes begin with the samples, those of one axis have an extent of their own.
        let given = inputs[i];
        let (led, fits) = match i {
            1 => (given.full() && given.len() == 2, given.len() <= 2),
            _ => (given.full() && given.len() == 1, given.len() <= 1),
        };
        if given.full() && !fits {
            return Step::mistake(Fail::Rank { shape: given, least: 1, most: if i == 1 { 2 } else { 1 } });
        }
        if led && given.axis(0).differs(&samples) {
            let other = Shape::of(&[given.axis(0)]);
            return Step::mistake(Fail::Unlike { first: each, other, operand: i, axis: Some(0) });
        }
        if !given.known() || (led && !given.axis(0).same(&samples)) {
            step = step.doubt(Fail::None);
        }
        i += 1;
    }
    step
}
