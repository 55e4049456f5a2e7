//! What a statement uses and binds, with everything inside of it.

use super::Open;
use crate::model::body::emit;
use crate::model::body::ir::{Call, Callee, Declare, For, Form, Operand, Plain, Region, Stmt, Value, Var};
use proc_macro2::{Ident, TokenStream};
use std::collections::{BTreeMap, BTreeSet};

/// What is read, assigned and bound.
#[derive(Default)]
pub(super) struct Uses {
    /// Values that are read.
    pub(super) values: BTreeSet<Value>,
    /// Variables that are read or assigned.
    vars: BTreeSet<Var>,
    /// Names in code that is emitted as it stands, and may bind what it names.
    code: BTreeSet<String>,
    /// Names in code that stands as an argument.
    reads: BTreeSet<String>,
    /// Names that mean something else afterwards.
    binds: BTreeSet<String>,
}

impl Uses {
    /// Those of a statement.
    pub(super) fn of(stmt: &Stmt, idents: &[Ident]) -> Uses {
        let mut walk = Walk { idents, uses: Uses::default() };
        walk.stmt(stmt);
        walk.uses
    }

    /// Those of the code among the operands of a call.
    pub(super) fn of_code(call: &Call, idents: &[Ident]) -> Uses {
        let mut walk = Walk { idents, uses: Uses::default() };
        call.args.iter().filter(|a| matches!(a, Operand::Plain(_))).for_each(|a| walk.operand(a));
        walk.uses
    }

    /// Those of an operand.
    pub(super) fn of_operand(operand: &Operand, idents: &[Ident]) -> Uses {
        let mut walk = Walk { idents, uses: Uses::default() };
        walk.operand(operand);
        walk.uses
    }

    /// Whether a group must be computed before that.
    pub(super) fn touches(&self, group: &Open) -> bool {
        !self.vars.is_disjoint(&group.vars)
            || [&self.code, &self.reads, &self.binds].iter().any(|names| !names.is_disjoint(&group.names))
            || [&self.code, &self.binds].iter().any(|names| !names.is_disjoint(&group.reads))
    }

    /// Whether a variable of that name is read or assigned.
    pub(super) fn has(&self, var: Var, name: &str) -> bool {
        self.vars.contains(&var) || self.code.contains(name) || self.reads.contains(name)
    }
}

struct Walk<'a> {
    /// The names of all variables.
    idents: &'a [Ident],
    uses: Uses,
}

fn names(tokens: &TokenStream) -> impl Iterator<Item = String> {
    let mut names = BTreeMap::new();
    emit::idents(tokens.clone(), &mut names);
    names.into_keys()
}

impl Walk<'_> {
    fn tokens(&mut self, tokens: &TokenStream) {
        self.uses.code.extend(names(tokens));
    }

    fn plain(&mut self, plain: &Plain) {
        self.uses.vars.extend(plain.uses.iter().copied());
        self.tokens(&plain.tokens);
    }

    fn operand(&mut self, operand: &Operand) {
        match operand {
            Operand::Active { value, var, .. } => {
                self.uses.values.insert(*value);
                self.uses.vars.insert(*var);
            }
            Operand::Plain(plain) => {
                self.uses.vars.extend(plain.uses.iter().copied());
                self.uses.reads.extend(names(&plain.tokens));
            }
        }
    }

    fn binds(&mut self, var: Var, declare: Declare) {
        self.uses.binds.insert(self.idents[var.0 as usize].to_string());
        if declare == Declare::Assign {
            self.uses.vars.insert(var);
        }
    }

    fn region(&mut self, region: &Region) {
        region.stmts.iter().for_each(|s| self.stmt(s));
        region.result.iter().for_each(|r| self.operand(r));
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::Plain(plain) => self.plain(plain),
            Stmt::Call(Call { callee, args, var, declare, .. }) => {
                args.iter().for_each(|a| self.operand(a));
                if let Callee::Layer { place, .. } | Callee::Read { place } = callee {
                    self.uses.vars.extend(place.uses.iter().copied());
                }
                self.binds(*var, *declare);
            }
            Stmt::Fused(fused) => {
                fused.operands.iter().for_each(|o| self.operand(o));
                fused.outs.iter().for_each(|out| self.binds(out.var, out.declare));
            }
            Stmt::Move { var, declare, from } => {
                self.operand(from);
                self.binds(*var, *declare);
            }
            Stmt::Unpack { from, parts } => {
                self.operand(from);
                parts.iter().filter_map(|(var, _)| *var).for_each(|var| self.binds(var, Declare::Let));
            }
            Stmt::Pack { var, parts, .. } => {
                parts.iter().for_each(|p| self.operand(p));
                self.binds(*var, Declare::Let);
            }
            Stmt::Push { list, before, item, .. } => {
                self.uses.values.insert(*before);
                self.uses.vars.insert(*list);
                self.operand(item);
            }
            Stmt::Pop { list, before, var, rest, .. } => {
                self.uses.values.insert(*before);
                self.uses.vars.insert(*list);
                self.tokens(rest);
                self.binds(*var, Declare::Let);
            }
            Stmt::Element { list, of, index, var, .. } => {
                self.uses.values.insert(*of);
                self.uses.vars.insert(*list);
                self.plain(index);
                self.binds(*var, Declare::Let);
            }
            Stmt::Part { tuple, of, var, .. } => {
                self.uses.values.insert(*of);
                self.uses.vars.insert(*tuple);
                self.binds(*var, Declare::Let);
            }
            Stmt::For(For { pat, iter, body, carried }) => {
                self.tokens(pat);
                self.plain(iter);
                self.uses.values.extend(carried.iter().map(|c| c.before));
                carried.iter().for_each(|c| self.binds(c.var, Declare::Assign));
                self.region(body);
            }
            Stmt::Branch(branch) => {
                if let Form::Match(scrutinee) = &branch.form {
                    self.plain(scrutinee);
                }
                for arm in &branch.arms {
                    self.plain(&arm.head);
                    self.region(&arm.region);
                }
                self.uses.values.extend(branch.phis.iter().flat_map(|p| p.arms.iter().flatten().copied()));
                if let Some((var, declare)) = branch.result {
                    self.binds(var, declare);
                }
            }
        }
    }
}
