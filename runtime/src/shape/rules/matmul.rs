//! Products of matrices, and the lookup that is one.

use super::elementwise::meet;
use super::{Plain, Shape, input};
use crate::shape::dim::Dim;
use crate::shape::shape::Rest;
use crate::shape::step::{Fail, Step, Verdict};

/// `[.., M, K] x [.., K, N] -> [.., M, N]`; leading axes broadcast. An operand of one axis is a row on the left, a
/// column on the right, and its axis is not in the result.
pub const fn matmul(inputs: &[Shape], _plain: &[Plain], _out: usize) -> Step {
    let (left, right) = (input(inputs, 0), input(inputs, 1));
    if left.full() && left.is_empty() {
        return Step::mistake(Fail::Rank { shape: left, least: 1, most: usize::MAX });
    }
    if right.full() && right.is_empty() {
        return Step::mistake(Fail::Rank { shape: right, least: 1, most: usize::MAX });
    }
    let column = right.full() && right.len() == 1;
    let row = left.full() && left.len() == 1;
    let inner = if column { right.last(0) } else { right.last(1) };
    if left.last(0).differs(&inner) {
        return Step::mistake(Fail::Inner { left, right });
    }
    let step = result(&left, &right, row, column);
    if step.failed() || left.last(0).same(&inner) {
        return step;
    }
    let told = left.last(0).known() && inner.known();
    step.doubt(if told { Fail::Inner { left, right } } else { Fail::None })
}

const fn result(left: &Shape, right: &Shape, row: bool, column: bool) -> Step {
    if column {
        return if left.known() { Step::proof(left.head(1)) } else { Step::UNKNOWN };
    }
    if right.full() && right.len() == 2 {
        // One matrix on the right: whatever leads on the left is kept, a row included.
        let lead = if left.known() && !left.is_empty() { left.head(1) } else { Shape::SCALAR.rested(Rest::Any) };
        let shape = lead.push(right.last(0));
        return if left.known() { Step::proof(shape) } else { Step::guess(shape) };
    }
    if row && right.known() && right.len() >= 2 {
        return Step::proof(right.head(2).push(right.last(0)));
    }
    if !left.known() || !right.known() || left.len() < 2 || right.len() < 2 {
        return Step::UNKNOWN;
    }
    let batch = meet(&left.head(2), &right.head(2));
    let shape = batch.shape.push(left.last(1)).push(right.last(0));
    let fail = Fail::Batch { left: *left, right: *right };
    match batch.verdict {
        Verdict::Proved => Step::proof(shape),
        Verdict::Undecided => Step::guess(shape).doubt(if batch.told { fail } else { Fail::None }),
        Verdict::Failed => Step::mistake(fail),
    }
}

/// `[weight, ids]`: `[V, C]` looked up by `[..]` is `[.., C]`.
pub const fn embedding(inputs: &[Shape], _plain: &[Plain], _out: usize) -> Step {
    let (weight, ids) = (input(inputs, 0), input(inputs, 1));
    let small = weight.full() && weight.len() < 2;
    if small || weight.len() > 2 {
        return Step::mistake(Fail::Rank { shape: weight, least: 2, most: 2 });
    }
    let width: Dim = weight.last(0);
    let lead = if ids.known() { ids } else { Shape::SCALAR.rested(Rest::Any) };
    let shape = lead.push(width);
    if ids.known() && weight.full() { Step::proof(shape) } else { Step::guess(shape) }
}
