//! Which values need a cotangent, and which of them a region takes from outside.

use super::ir::{Body, Call, Callee, Fused, Operand, Region, Stmt, Value};
use std::collections::BTreeSet;

/// Values.
pub(super) type Values = BTreeSet<Value>;

/// The values that reach the result of the body: all others are computed without a companion.
pub(super) fn needed(body: &Body) -> Values {
    let mut needed = Values::new();
    if let Some(Operand::Active { value, .. }) = &body.region.result {
        needed.insert(*value);
    }
    region(&body.region, &mut needed);
    needed
}

fn region(region: &Region, needed: &mut Values) {
    for stmt in region.stmts.iter().rev() {
        statement(stmt, needed);
    }
}

fn want(operand: &Operand, needed: &mut Values) {
    if let Operand::Active { value, .. } = operand {
        needed.insert(*value);
    }
}

fn statement(stmt: &Stmt, needed: &mut Values) {
    match stmt {
        Stmt::Plain(_) | Stmt::Move { .. } => {}
        Stmt::Call(Call { value, args, .. }) => {
            if needed.contains(value) {
                args.iter().for_each(|a| want(a, needed));
            }
        }
        Stmt::Fused(Fused { operands, outs, .. }) => {
            if outs.iter().any(|out| needed.contains(&out.value)) {
                operands.iter().for_each(|o| want(o, needed));
            }
        }
        Stmt::Unpack { from, parts } => {
            if parts.iter().any(|(_, value)| value.is_some_and(|v| needed.contains(&v))) {
                want(from, needed);
            }
        }
        Stmt::Pack { value, parts, .. } => {
            if needed.contains(value) {
                parts.iter().for_each(|p| want(p, needed));
            }
        }
        Stmt::Push { before, after, item, .. } => {
            if needed.contains(after) {
                needed.insert(*before);
                want(item, needed);
            }
        }
        Stmt::Pop { before, after, value, .. } => {
            if needed.contains(after) || needed.contains(value) {
                needed.insert(*before);
            }
        }
        Stmt::Element { of, value, .. } | Stmt::Part { of, value, .. } => {
            if needed.contains(value) {
                needed.insert(*of);
            }
        }
        Stmt::For(f) => {
            if f.carried.iter().any(|c| needed.contains(&c.after)) {
                f.carried.iter().for_each(|c| needed.extend([c.after, c.end, c.start, c.before]));
                region(&f.body, needed);
            }
        }
        Stmt::Branch(branch) => {
            let wanted: Vec<_> = branch.phis.iter().filter(|p| needed.contains(&p.out)).collect();
            if wanted.is_empty() {
                return;
            }
            needed.extend(wanted.iter().flat_map(|p| p.arms.iter().flatten().copied()));
            branch.arms.iter().for_each(|arm| region(&arm.region, needed));
        }
    }
}

/// The values that a region uses and does not make.
pub(super) fn captured(region: &Region, needed: &Values) -> Values {
    let mut captured = Values::new();
    for stmt in region.stmts.iter().rev() {
        let (made, used) = flow(stmt, needed);
        made.iter().for_each(|v| {
            captured.remove(v);
        });
        captured.extend(used);
    }
    captured
}

/// What a statement makes and uses.
fn flow(stmt: &Stmt, needed: &Values) -> (Vec<Value>, Vec<Value>) {
    let values = |operands: &[Operand]| -> Vec<Value> {
        operands.iter().filter_map(active).filter(|v| needed.contains(v)).collect()
    };
    let is = |v: &Value| needed.contains(v);
    match stmt {
        Stmt::Plain(_) | Stmt::Move { .. } => (vec![], vec![]),
        Stmt::Call(call) if is(&call.value) => (vec![call.value], values(&call.args)),
        Stmt::Call(_) => (vec![], vec![]),
        Stmt::Fused(Fused { operands, outs, .. }) => {
            let made: Vec<Value> = outs.iter().map(|out| out.value).filter(is).collect();
            let used = if made.is_empty() { vec![] } else { values(operands) };
            (made, used)
        }
        Stmt::Unpack { from, parts } => {
            let made: Vec<Value> = parts.iter().filter_map(|(_, v)| *v).filter(is).collect();
            let used = if made.is_empty() { vec![] } else { values(std::slice::from_ref(from)) };
            (made, used)
        }
        Stmt::Pack { value, parts, .. } if is(value) => (vec![*value], values(parts)),
        Stmt::Pack { .. } => (vec![], vec![]),
        Stmt::Push { before, after, item, .. } if is(after) => {
            (vec![*after], [vec![*before], values(std::slice::from_ref(item))].concat())
        }
        Stmt::Push { .. } => (vec![], vec![]),
        Stmt::Pop { before, after, value, .. } if is(after) || is(value) => (vec![*after, *value], vec![*before]),
        Stmt::Pop { .. } => (vec![], vec![]),
        Stmt::Element { of, value, .. } | Stmt::Part { of, value, .. } if is(value) => (vec![*value], vec![*of]),
        Stmt::Element { .. } | Stmt::Part { .. } => (vec![], vec![]),
        Stmt::For(f) => {
            if !f.carried.iter().any(|c| is(&c.after)) {
                return (vec![], vec![]);
            }
            let (outer, _) = loop_inputs(f, needed);
            let used = f.carried.iter().map(|c| c.before).chain(outer);
            (f.carried.iter().map(|c| c.after).collect(), used.collect())
        }
        Stmt::Branch(branch) => {
            let made: Vec<Value> = branch.phis.iter().map(|p| p.out).filter(is).collect();
            let used = if made.is_empty() { vec![] } else { branch_inputs(branch, needed) };
            (made, used)
        }
    }
}

/// What the body of a loop takes from outside beside the carried values, and the carried values at its end.
pub(super) fn loop_inputs(f: &super::ir::For, needed: &Values) -> (Vec<Value>, Vec<Value>) {
    let mut outer = captured(&f.body, needed);
    let ends: Vec<Value> = f.carried.iter().map(|c| c.end).collect();
    let made = made(&f.body, needed);
    outer.extend(ends.iter().filter(|e| !made.contains(e)));
    f.carried.iter().for_each(|c| {
        outer.remove(&c.start);
    });
    (outer.into_iter().collect(), ends)
}

/// What the arms of a branch take from outside, all together.
pub(super) fn branch_inputs(branch: &super::ir::Branch, needed: &Values) -> Vec<Value> {
    let mut inputs = Values::new();
    for (at, arm) in branch.arms.iter().enumerate() {
        inputs.extend(captured(&arm.region, needed));
        let made = made(&arm.region, needed);
        let ends = branch.phis.iter().filter(|p| needed.contains(&p.out)).filter_map(|p| p.arms[at]);
        inputs.extend(ends.filter(|v| !made.contains(v)));
    }
    inputs.into_iter().collect()
}

fn made(region: &Region, needed: &Values) -> Values {
    region.stmts.iter().flat_map(|s| flow(s, needed).0).collect()
}

fn active(operand: &Operand) -> Option<Value> {
    match operand {
        Operand::Active { value, .. } => Some(*value),
        Operand::Plain(_) => None,
    }
}

/// Whether anything in a region has parameters.
pub(super) fn has_parameters(region: &Region) -> bool {
    region.stmts.iter().any(|stmt| match stmt {
        Stmt::Call(call) => matches!(call.callee, Callee::Layer { .. } | Callee::Read { .. }),
        Stmt::For(f) => has_parameters(&f.body),
        Stmt::Branch(branch) => branch.arms.iter().any(|arm| has_parameters(&arm.region)),
        Stmt::Plain(_)
        | Stmt::Fused(_)
        | Stmt::Move { .. }
        | Stmt::Unpack { .. }
        | Stmt::Pack { .. }
        | Stmt::Push { .. }
        | Stmt::Pop { .. }
        | Stmt::Element { .. }
        | Stmt::Part { .. } => false,
    })
}
