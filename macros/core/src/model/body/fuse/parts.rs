//! Which statements of a group one kernel computes.

use super::kernel::{Member, Plan, feeding, operands};
use super::operation::Operation;
use super::uses::Uses;
use super::{OUTS, Source};
use crate::model::body::ir::{Declare, Operand, Value, Var};
use proc_macro2::Ident;
use std::collections::{BTreeMap, BTreeSet};

/// A group in its region.
pub(super) struct Group<'r> {
    pub(super) members: Vec<Member<'r>>,
    /// What each statement of the region uses, then its result.
    pub(super) uses: &'r [Uses],
    /// Names of all variables.
    pub(super) names: &'r [Ident],
}

/// Statements that one kernel computes, or one that stays.
pub(super) struct Part {
    pub(super) members: BTreeSet<usize>,
    /// Those whose values are used elsewhere.
    pub(super) outs: Vec<usize>,
    /// The kernel, unless there is one statement.
    pub(super) plan: Option<Plan>,
}

impl Group<'_> {
    /// The parts in an order in which they can follow one another, at least one of them with a kernel.
    pub(super) fn parts(&self) -> Option<Vec<Part>> {
        let mut parts = vec![];
        self.split(self.members.iter().map(|m| m.at).collect(), &mut parts);
        for part in &mut parts {
            let members = self.among(&part.members);
            if members.len() > 1 {
                let outs: Vec<Value> =
                    members.iter().filter(|m| part.outs.contains(&m.at)).map(|m| m.call.value).collect();
                part.plan = Some(Plan::of(&members, &outs)?);
            }
        }
        (parts.iter().any(|part| part.plan.is_some()) && self.is_orderly(&parts)).then_some(parts)
    }

    fn among<'s>(&'s self, places: &BTreeSet<usize>) -> Vec<Member<'s>> {
        self.members.iter().filter(|m| places.contains(&m.at)).copied().collect()
    }

    fn name(&self, var: Var) -> String {
        self.names[var.0 as usize].to_string()
    }

    /// Cuts statements into parts whose values that are used elsewhere come from all operands each, so that their shapes
    /// are those of the part. A part with a reduction has one such value.
    fn split(&self, part: BTreeSet<usize>, into: &mut Vec<Part>) {
        let members = self.among(&part);
        let outs: Vec<&Member<'_>> = members.iter().filter(|m| self.leaves(&part, m)).collect();
        let sources = operands(&members);
        let masks = feeding(&members, &sources);
        let whole = |m: &&&Member<'_>| {
            masks.get(&Source::Value(m.call.value)).is_some_and(|mask| mask.count_ones() as usize == sources.len())
        };
        let reduces = members.iter().any(|m| matches!(m.operation, Operation::Rows(_)));
        let most = if reduces { 1 } else { OUTS };
        let narrow = outs.iter().find(|m| !whole(m)).or(if outs.len() > most { outs.first() } else { None });
        let Some(out) = narrow.filter(|_| outs.len() > 1) else {
            let outs = outs.iter().map(|m| m.at).collect();
            into.push(Part { members: part, outs, plan: None });
            return;
        };
        let mut first: BTreeSet<usize> = [out.at].into();
        let mut read: BTreeSet<Source> = out.sources().collect();
        for m in members.iter().rev().filter(|m| m.at < out.at) {
            if read.contains(&Source::Value(m.call.value)) {
                first.insert(m.at);
                read.extend(m.sources());
            }
        }
        let rest: BTreeSet<usize> = part.difference(&first).copied().collect();
        self.split(first, into);
        if !rest.is_empty() {
            self.split(rest, into);
        }
    }

    /// Whether a value of a part is used outside of it.
    fn leaves(&self, part: &BTreeSet<usize>, m: &Member<'_>) -> bool {
        let (value, var, name) = (m.call.value, m.call.var, self.name(m.call.var));
        // Of a variable that the group assigns several times, the rest of the body sees the last value.
        let later = self.members.iter().any(|other| other.at > m.at && other.call.var == var);
        // What nothing uses is computed as well: its operands may have shapes of their own, or none that fit.
        let dead = self.uses.iter().all(|uses| !uses.values.contains(&value));
        if dead || m.call.declare == Declare::Assign && !later {
            return true;
        }
        let own: BTreeSet<usize> = self.members.iter().map(|m| m.at).collect();
        self.uses.iter().enumerate().filter(|(at, _)| !part.contains(at)).any(|(at, uses)| {
            uses.values.contains(&value) || !own.contains(&at) && !later && at > m.at && uses.has(var, &name)
        })
    }

    /// Whether no part gives a name another meaning that a later one reads.
    fn is_orderly(&self, parts: &[Part]) -> bool {
        let mut given: BTreeMap<String, Value> = BTreeMap::new();
        for part in parts {
            let members = self.among(&part.members);
            let makes: BTreeSet<Value> = members.iter().map(|m| m.call.value).collect();
            for operand in members.iter().flat_map(|m| &m.call.args) {
                if let Operand::Active { value, var, .. } = operand
                    && !makes.contains(value)
                    && given.get(&self.name(*var)).is_some_and(|other| other != value)
                {
                    return false;
                }
            }
            for m in members.iter().filter(|m| part.outs.contains(&m.at)) {
                if given.insert(self.name(m.call.var), m.call.value).is_some() {
                    return false;
                }
            }
        }
        true
    }
}
