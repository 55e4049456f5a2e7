//! Attention.

use super::elementwise::{broadcast_first, meet};
use super::{Plain, Shape, input};
use crate::shape::dim::Dim;
use crate::shape::step::{Fail, Step, Verdict};

/// `[q, k, v]` or `[q, k, v, mask]`: `[.., H, T, D], [.., G, S, D], [.., G, S, E] -> [.., H, T, E]`, where leading axes
/// broadcast, `H` is a multiple of `G`, and the mask broadcasts to `[.., H, T, S]`.
pub const fn attention(inputs: &[Shape], _plain: &[Plain], _out: usize) -> Step {
    let (q, k, v) = (input(inputs, 0), input(inputs, 1), input(inputs, 2));
    let mut i = 0;
    while i < 3 && i < inputs.len() {
        if inputs[i].full() && inputs[i].len() < 2 {
            return Step::mistake(Fail::Rank { shape: inputs[i], least: 2, most: usize::MAX });
        }
        i += 1;
    }
    let (depths, lengths) = (unlike(&q, &k, 1, 0), unlike(&k, &v, 2, 1));
    if q.last(0).differs(&k.last(0)) {
        return Step::mistake(depths);
    }
    if k.last(1).differs(&v.last(1)) {
        return Step::mistake(lengths);
    }
    if q.len() < 2 || k.len() < 2 || v.len() < 2 {
        return Step::UNKNOWN;
    }
    let (keys, values) = (shared(&q, &k), shared(&q, &v));
    let first = meet(&q.head(2), &keys);
    if matches!(first.verdict, Verdict::Failed) {
        return Step::mistake(unlike(&q, &k, 1, first.back + 2));
    }
    let second = meet(&first.shape, &values);
    if matches!(second.verdict, Verdict::Failed) {
        return Step::mistake(unlike(&q, &v, 2, second.back + 2));
    }
    let proved = matches!((first.verdict, second.verdict), (Verdict::Proved, Verdict::Proved));
    let mut lead = second.shape;
    if !proved && !lead.is_empty() && q.last(2).literal().is_none() {
        // The heads may be those of the queries, of which several share keys, or those of the keys.
        lead = lead.with(lead.len() - 1, Dim::UNKNOWN);
    }
    let mut step = Step::proof(lead.push(q.last(1)).push(v.last(0)));
    if !proved {
        step = step.doubt(Fail::None);
    }
    if !q.last(0).same(&k.last(0)) {
        step = step.doubt(depths);
    }
    if !k.last(1).same(&v.last(1)) {
        step = step.doubt(lengths);
    }
    if inputs.len() > 3 {
        let scores = lead.push(q.last(1)).push(k.last(1));
        let masked = broadcast_first(&[scores, inputs[3]], &[], 0);
        if masked.failed() {
            return masked;
        }
        if !masked.proved() {
            step = step.doubt(masked.fail);
        }
    }
    step
}

/// The leading axes of keys or values, with the heads of the queries where several of these share one.
const fn shared(q: &Shape, k: &Shape) -> Shape {
    let lead = k.head(2);
    if q.len() < 3 || k.len() < 3 {
        return lead;
    }
    match (q.last(2).literal(), k.last(2).literal()) {
        (Some(heads), Some(groups)) if groups > 0 && heads % groups == 0 => lead.with(lead.len() - 1, q.last(2)),
        _ => lead,
    }
}

/// The mistake of an axis, counted from the last, in which an operand differs from another.
const fn unlike(first: &Shape, other: &Shape, operand: usize, back: usize) -> Fail {
    if first.len() <= back {
        return Fail::None;
    }
    Fail::Unlike { first: *first, other: *other, operand, axis: Some(first.len() - 1 - back) }
}
