//! Where a variable is used for the last time: there it is moved, so that its buffer can be reused in place.

use super::ir::{Body, Callee, Declare, Form, Operand, Plain, Region, Stmt, Var};
use std::collections::BTreeSet;

type Live = BTreeSet<Var>;

/// Marks the last use of every variable of a body.
pub(super) fn mark(body: &mut Body) {
    region(&mut body.region, &mut Live::new());
}

/// The variables that a region uses before it gives them a value, some of its own among them. Marks in it are preliminary.
pub(super) fn inputs(inside: &mut Region) -> BTreeSet<Var> {
    let mut live = Live::new();
    region(inside, &mut live);
    live
}

fn region(region: &mut Region, live: &mut Live) {
    if let Some(result) = &mut region.result {
        operand(result, live);
    }
    for stmt in region.stmts.iter_mut().rev() {
        statement(stmt, live);
    }
}

fn operand(operand: &mut Operand, live: &mut Live) {
    match operand {
        Operand::Active { var, last, .. } => *last = live.insert(*var),
        Operand::Plain(code) => plain(code, live),
    }
}

fn plain(code: &Plain, live: &mut Live) {
    live.extend(code.uses.iter().copied());
}

fn statement(stmt: &mut Stmt, live: &mut Live) {
    match stmt {
        Stmt::Plain(code) => plain(code, live),
        Stmt::Call(call) => {
            live.remove(&call.var);
            call.args.iter_mut().rev().for_each(|a| operand(a, live));
            if let Callee::Layer { place, .. } | Callee::Read { place } = &call.callee {
                live.extend(place.uses.iter().copied());
            }
        }
        Stmt::Fused(fused) => {
            fused.outs.iter().for_each(|out| {
                live.remove(&out.var);
            });
            fused.operands.iter_mut().rev().for_each(|o| operand(o, live));
        }
        Stmt::Move { var, from, declare } => {
            if *declare == Declare::Assign || !matches!(from, Operand::Plain(_)) {
                live.remove(var);
            }
            operand(from, live);
        }
        Stmt::Unpack { from, parts } => {
            parts.iter().filter_map(|(var, _)| *var).for_each(|var| {
                live.remove(&var);
            });
            operand(from, live);
        }
        Stmt::Pack { var, parts, .. } => {
            live.remove(var);
            parts.iter_mut().rev().for_each(|p| operand(p, live));
        }
        Stmt::Push { list, item, .. } => {
            live.insert(*list);
            operand(item, live);
        }
        Stmt::Pop { list, var, .. } => {
            live.remove(var);
            live.insert(*list);
        }
        Stmt::Element { list, index, var, .. } => {
            live.remove(var);
            live.insert(*list);
            plain(index, live);
        }
        Stmt::Part { tuple, var, .. } => {
            live.remove(var);
            live.insert(*tuple);
        }
        Stmt::For(f) => {
            // The first pass finds what an iteration needs from the one before it, the second marks with that known.
            let mut start = live.clone();
            region(&mut f.body, &mut start);
            start.extend(live.iter().copied());
            region(&mut f.body, &mut start);
            live.extend(start);
            plain(&f.iter, live);
        }
        Stmt::Branch(branch) => {
            if let Some((var, _)) = branch.result {
                live.remove(&var);
            }
            let mut before = Live::new();
            for arm in &mut branch.arms {
                let mut inside = live.clone();
                region(&mut arm.region, &mut inside);
                before.extend(inside);
            }
            *live = before;
            branch.arms.iter().for_each(|arm| plain(&arm.head, live));
            match &branch.form {
                Form::Match(scrutinee) => plain(scrutinee, live),
                Form::Checkpoint(kept) => live.extend(&kept.active),
                Form::If | Form::Block => {}
            }
        }
    }
}
