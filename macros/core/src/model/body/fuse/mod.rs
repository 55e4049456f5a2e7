//! Groups of operations that one kernel computes.
//!
//! Operations of single elements join those that they read or that read them, with the reductions along rows among them.
//! A group stands where its last operation stood: it is closed by a statement that uses one of its values, or that gives a
//! name which it reads another meaning. So it may be moved down to there without a change of what anything means.
//!
//! Nothing is known of shapes here. Operands broadcast to one shape when the kernel is launched, a value that leaves the
//! group must have that whole shape, and what a reduction reads must have whole rows of it. Where the operands that a value
//! comes from are not all of the group's, that is asked at run time, and the operations stand by for the other case.

pub(super) mod ending;
mod kernel;
mod operation;
mod parts;
mod rebuild;
mod uses;

use super::ast::Function;
use super::ir::{Body, Call, For, Operand, Region, Stmt, Value, Var};
use operation::{Operation, Sure};
use proc_macro2::Ident;
use std::collections::BTreeSet;
use uses::Uses;

/// The most operands of a group. A launch takes a limited number of tensors, and a backward one has cotangents, kept values
/// and results beside the operands.
const OPERANDS: usize = 6;
/// The most values that leave a group, for the same reason.
const OUTS: usize = 2;

/// Groups the operations of a function's body.
pub(super) fn body(function: &Function, body: &mut Body) {
    let mut region = std::mem::take(&mut body.region);
    let sure = Sure::of(function, &body.params, &region);
    Fuse { body, sure, function: &function.sig.ident, method: function.method }.region(&mut region);
    body.region = region;
}

struct Fuse<'b> {
    body: &'b mut Body,
    sure: Sure,
    function: &'b Ident,
    method: bool,
}

/// A group that may still grow.
#[derive(Default)]
struct Open {
    /// Places of its statements in the region, in order.
    members: BTreeSet<usize>,
    makes: BTreeSet<Value>,
    /// The variables that its statements make, and their names.
    vars: BTreeSet<Var>,
    names: BTreeSet<String>,
    /// The names that its operands are read by.
    reads: BTreeSet<String>,
    operands: BTreeSet<Source>,
}

/// What tells two operands of a group apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Source {
    Value(Value),
    /// Code, by statement and argument: each place is an operand of its own.
    Code(usize, usize),
}

impl Open {
    fn absorb(&mut self, other: Open) {
        self.members.extend(other.members);
        self.makes.extend(other.makes);
        self.vars.extend(other.vars);
        self.names.extend(other.names);
        self.reads.extend(other.reads);
        self.operands.extend(other.operands);
    }
}

impl Fuse<'_> {
    fn region(&mut self, region: &mut Region) {
        for stmt in &mut region.stmts {
            match stmt {
                Stmt::For(For { body, .. }) => self.region(body),
                Stmt::Branch(branch) => branch.arms.iter_mut().for_each(|arm| self.region(&mut arm.region)),
                _ => {}
            }
        }
        let mut uses: Vec<Uses> = region.stmts.iter().map(|stmt| Uses::of(stmt, &self.body.vars)).collect();
        let groups = self.groups(region, &uses);
        uses.extend(region.result.as_ref().map(|result| Uses::of_operand(result, &self.body.vars)));
        let mut cells: Vec<Vec<Stmt>> = std::mem::take(&mut region.stmts).into_iter().map(|stmt| vec![stmt]).collect();
        for members in &groups {
            self.rebuild(&mut cells, &uses, members);
        }
        region.stmts = cells.into_iter().flatten().collect();
    }

    /// The groups of a region: the places of their statements.
    fn groups(&self, region: &Region, uses: &[Uses]) -> Vec<BTreeSet<usize>> {
        let (mut open, mut closed): (Vec<Open>, Vec<BTreeSet<usize>>) = (vec![], vec![]);
        let mut close = |open: &mut Vec<Open>, is: &dyn Fn(&Open) -> bool| {
            let (done, left) = std::mem::take(open).into_iter().partition(|o| is(o));
            *open = left;
            closed.extend(done.into_iter().map(|o| o.members));
        };
        for (at, stmt) in region.stmts.iter().enumerate() {
            let call = Operation::of(stmt, &self.sure).and_then(|_| stmt.call());
            let Some(call) = call else {
                close(&mut open, &|o| uses[at].touches(o));
                continue;
            };
            // Code among the operands is evaluated where it stands.
            let code = Uses::of_code(call, &self.body.vars);
            close(&mut open, &|o| code.touches(o));
            let mut own = self.alone(at, call);
            let feeds = |o: &Open| own.operands.iter().any(|s| matches!(s, Source::Value(v) if o.makes.contains(v)));
            let (mut joined, others): (Vec<Open>, Vec<Open>) = std::mem::take(&mut open).into_iter().partition(feeds);
            open = others;
            close(&mut open, &|o| own.names.iter().any(|name| o.reads.contains(name) || o.names.contains(name)));
            let mut whole = Open::default();
            joined.iter().for_each(|o| {
                whole.operands.extend(o.operands.iter().copied());
                whole.makes.extend(o.makes.iter().copied());
            });
            whole.operands.extend(own.operands.iter().copied());
            let count = whole.operands.iter().filter(|s| !matches!(s, Source::Value(v) if whole.makes.contains(v)));
            if count.count() > OPERANDS {
                open.append(&mut joined);
                close(&mut open, &feeds);
            }
            joined.into_iter().for_each(|o| own.absorb(o));
            open.push(own);
        }
        close(&mut open, &|_| true);
        closed.retain(|members| members.len() > 1);
        closed
    }

    /// A group of one statement.
    fn alone(&self, at: usize, call: &Call) -> Open {
        let mut own = Open {
            members: [at].into(),
            makes: [call.value].into(),
            vars: [call.var].into(),
            names: [self.name(call.var)].into(),
            ..Open::default()
        };
        for (place, arg) in call.args.iter().enumerate() {
            match arg {
                Operand::Active { value, var, .. } => {
                    own.operands.insert(Source::Value(*value));
                    own.reads.insert(self.name(*var));
                }
                code if operation::as_literal(code).is_none() => {
                    own.operands.insert(Source::Code(at, place));
                }
                Operand::Plain(_) => {}
            }
        }
        own
    }

    fn name(&self, var: Var) -> String {
        self.body.vars[var.0 as usize].to_string()
    }
}
