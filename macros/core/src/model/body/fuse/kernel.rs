//! The kernel of a group.

use super::Source;
use super::operation::{Operation, Rows, as_literal};
use crate::model::body::ir::{Call, Operand, Value};
use cotangent_ir::{Arg, Axis, Builder, Dim, Fold, Id, Kernel, Kind, Mode, Unary};
use std::collections::{BTreeMap, BTreeSet};

/// A statement of a group.
#[derive(Clone, Copy)]
pub(super) struct Member<'c> {
    /// Its place in the region.
    pub(super) at: usize,
    pub(super) operation: Operation,
    pub(super) call: &'c Call,
}

impl Member<'_> {
    /// The operand at a place of the call, unless it is a number that is written out.
    pub(super) fn source(&self, place: usize) -> Option<Source> {
        match &self.call.args[place] {
            Operand::Active { value, .. } => Some(Source::Value(*value)),
            operand => as_literal(operand).is_none().then_some(Source::Code(self.at, place)),
        }
    }

    /// All such operands.
    pub(super) fn sources(&self) -> impl Iterator<Item = Source> + '_ {
        (0..self.call.args.len()).filter_map(|place| self.source(place))
    }
}

/// How a group is computed.
pub(super) struct Plan {
    pub(super) kernel: Kernel,
    /// One an argument of the kernel.
    pub(super) operands: Vec<Source>,
    /// The arguments that may have a cotangent.
    pub(super) wrt: Vec<Arg>,
    /// The layout of a group with reductions; the others have one index.
    pub(super) rows: Option<Layout>,
}

/// The layout of a group with reductions: `[R.., C]`.
pub(super) struct Layout {
    /// The dim that stands for any number of axes.
    pub(super) group: Dim,
    /// Bit `i` for an operand of one element a row.
    pub(super) operands: u32,
    /// Bit `i` for an operand of one element a column, of which nothing broadcasts.
    pub(super) vectors: u32,
    /// Whether the result has one element a row.
    pub(super) out: bool,
    /// What each reduction reads, and the result unless it has one element a row: the operands, as bits, whose columns it
    /// has, which must be whole rows together. None where all operands take part.
    pub(super) whole: Vec<u32>,
}

impl Layout {
    /// Whether the shapes decide if the kernel computes what the operations do.
    pub(super) fn is_conditional(&self) -> bool {
        self.operands != 0 || self.vectors != 0 || !self.whole.is_empty()
    }
}

impl Plan {
    /// The plan of a group whose `outs` are used elsewhere; none where a reduction would read what another one left.
    pub(super) fn of(members: &[Member<'_>], outs: &[Value]) -> Option<Plan> {
        let makes: BTreeMap<Value, Member<'_>> = members.iter().map(|m| (m.call.value, *m)).collect();
        let operands = operands(members);
        let active = |(_, source): &(u32, &Source)| matches!(source, Source::Value(_));
        let wrt = (0..).zip(&operands).filter(active).map(|(at, _)| Arg(at)).collect();
        let name = name(members);
        let mut build = Build { b: Builder::new(&name), makes, args: BTreeMap::new(), done: BTreeMap::new() };
        if members.iter().all(|m| matches!(m.operation, Operation::Elements(_))) {
            for (at, source) in operands.iter().enumerate() {
                let arg = build.b.arg(&format!("x{at}"), Kind::Float, &[]);
                build.args.insert(*source, (arg, vec![]));
            }
            for (at, out) in outs.iter().enumerate() {
                let node = build.value(Source::Value(*out), None)?;
                let store = build.b.plain_store(&[], node);
                build.b.output(&format!("y{at}"), &[], Mode::Set, vec![store]);
            }
            return Some(Plan { kernel: build.b.finish(), operands, wrt, rows: None });
        }
        let forms = Forms::of(members, &build.makes)?;
        let (group, columns) = (build.b.dim("R"), build.b.dim("C"));
        let (height, width) = (build.b.size(group), build.b.size(columns));
        let (row, column) = (build.b.axis("r", height), build.b.axis("i", width));
        let (mut narrow, mut vectors) = (0, 0);
        for (at, source) in operands.iter().enumerate() {
            let name = format!("x{at}");
            vectors |= u32::from(forms.vectors.contains(source)) << at;
            if forms.full.contains(source) {
                let arg = build.b.arg(&name, Kind::Float, &[height, width]);
                build.args.insert(*source, (arg, vec![row, column]));
            } else {
                narrow |= 1 << at;
                let arg = build.b.arg(&name, Kind::Float, &[height]);
                build.args.insert(*source, (arg, vec![row]));
            }
        }
        let [out] = outs else { return None };
        let node = build.value(Source::Value(*out), Some(column))?;
        let is_row = forms.rows.contains(out);
        let axes = [row, column];
        build.b.output_over("y", if is_row { &axes[..1] } else { &axes }, node);
        let masks = columns_of(members, &operands);
        let all: u32 = (0..operands.len()).filter(|at| narrow >> at & 1 == 0).map(|at| 1 << at).sum();
        let mut whole: Vec<u32> = vec![];
        let read = members.iter().filter(|m| matches!(m.operation, Operation::Rows(_))).filter_map(|m| m.source(0));
        for source in read.chain((!is_row).then_some(Source::Value(*out))) {
            let mask = masks.get(&source).map_or(0, |mask| mask & all);
            if mask != all && !whole.contains(&mask) {
                whole.push(mask);
            }
        }
        let rows = Some(Layout { group, operands: narrow, vectors, out: is_row, whole });
        Some(Plan { kernel: build.b.finish(), operands, wrt, rows })
    }
}

/// What a group reads, in order of use.
pub(super) fn operands(members: &[Member<'_>]) -> Vec<Source> {
    let makes: BTreeSet<Value> = members.iter().map(|m| m.call.value).collect();
    let mut operands: Vec<Source> = vec![];
    for source in members.iter().flat_map(Member::sources) {
        let made = matches!(source, Source::Value(v) if makes.contains(&v));
        if !made && !operands.contains(&source) {
            operands.push(source);
        }
    }
    operands
}

/// The names of the operations.
fn name(members: &[Member<'_>]) -> String {
    let name = |m: &Member<'_>| match m.operation {
        Operation::Elements(f) => f.name,
        Operation::Rows(Rows::Sum) => "sum",
        Operation::Rows(Rows::Mean) => "mean",
        Operation::Rows(Rows::Softmax) => "softmax",
        Operation::Rows(Rows::LogSoftmax) => "log_softmax",
        Operation::Rows(Rows::LayerNorm) => "layer_norm",
    };
    members.iter().map(name).collect::<Vec<_>>().join("_")
}

/// Which values have one element a row.
struct Forms {
    rows: BTreeSet<Value>,
    /// The operands that are read element by element.
    full: BTreeSet<Source>,
    /// The weights and biases of norms among them.
    vectors: BTreeSet<Source>,
}

impl Forms {
    /// An operand that only values of rows meet is taken to be one as well. None where a reduction reads one.
    fn of(members: &[Member<'_>], makes: &BTreeMap<Value, Member<'_>>) -> Option<Forms> {
        let mut forms = Forms { rows: BTreeSet::new(), full: BTreeSet::new(), vectors: BTreeSet::new() };
        loop {
            let known = forms.full.len();
            forms.rows.clear();
            for m in members {
                let made = |s: &Source| matches!(s, Source::Value(v) if makes.contains_key(v));
                let is_row = |s: &Source| matches!(s, Source::Value(v) if forms.rows.contains(v));
                match m.operation {
                    Operation::Elements(_) => {
                        let sources: Vec<Source> = m.sources().collect();
                        let narrow = sources.iter().any(is_row)
                            && sources.iter().all(|s| is_row(s) || !made(s) && !forms.full.contains(s));
                        if narrow {
                            forms.rows.insert(m.call.value);
                        } else {
                            forms.full.extend(sources.into_iter().filter(|s| !made(s)));
                        }
                    }
                    Operation::Rows(of) => {
                        let read = m.source(0)?;
                        if is_row(&read) {
                            return None;
                        }
                        let wide = match of {
                            Rows::LayerNorm => 3,
                            Rows::Sum | Rows::Mean | Rows::Softmax | Rows::LogSoftmax => 1,
                        };
                        let vectors: Vec<Source> = (1..wide).filter_map(|place| m.source(place)).collect();
                        if vectors.iter().any(made) {
                            return None;
                        }
                        forms.vectors.extend(vectors);
                        forms.full.extend((0..wide).filter_map(|place| m.source(place)).filter(|s| !made(s)));
                        if matches!(of, Rows::Sum | Rows::Mean) {
                            forms.rows.insert(m.call.value);
                        }
                    }
                }
            }
            if forms.full.len() == known {
                return Some(forms);
            }
        }
    }
}

struct Build<'m> {
    b: Builder,
    makes: BTreeMap<Value, Member<'m>>,
    /// The argument that an operand is, and its axes.
    args: BTreeMap<Source, (Arg, Vec<Axis>)>,
    done: BTreeMap<(Source, Option<Axis>), Id>,
}

impl Build<'_> {
    /// A value at a column; a group without reductions has none.
    fn value(&mut self, source: Source, at: Option<Axis>) -> Option<Id> {
        if let Some(id) = self.done.get(&(source, at)) {
            return Some(*id);
        }
        let member = match source {
            Source::Value(value) => self.makes.get(&value).copied(),
            Source::Code(..) => None,
        };
        let id = match member {
            Some(member) => self.member(member, at)?,
            None => {
                let (arg, mut axes) = self.args.get(&source)?.clone();
                if let (Some(last), Some(at), 2) = (axes.last_mut(), at, self.args[&source].1.len()) {
                    *last = at;
                }
                self.b.load_over(arg, &axes)
            }
        };
        self.done.insert((source, at), id);
        Some(id)
    }

    fn operand(&mut self, member: &Member<'_>, place: usize, at: Option<Axis>) -> Option<Id> {
        match (member.source(place), as_literal(&member.call.args[place])) {
            (Some(source), _) => self.value(source, at),
            (None, Some(number)) => Some(self.b.float(number)),
            (None, None) => None,
        }
    }

    fn member(&mut self, member: Member<'_>, at: Option<Axis>) -> Option<Id> {
        match member.operation {
            Operation::Elements(f) => {
                let operands: Option<Vec<Id>> =
                    (0..member.call.args.len()).map(|place| self.operand(&member, place, at)).collect();
                f.make(&mut self.b, &operands?)
            }
            Operation::Rows(of) => self.rows(of, &member, at),
        }
    }

    fn rows(&mut self, of: Rows, member: &Member<'_>, at: Option<Axis>) -> Option<Id> {
        let extent = self.b.extent(at?);
        let j = self.b.axis("j", extent);
        let inner = self.operand(member, 0, Some(j))?;
        Some(match of {
            Rows::Sum => self.b.sum(&[j], inner),
            Rows::Mean => self.b.mean(&[j], inner),
            Rows::Softmax | Rows::LogSoftmax => {
                let x = self.operand(member, 0, at)?;
                let max = self.b.fold(Fold::Max, &[j], inner);
                let (near, far) = (self.b.sub(x, max), self.b.sub(inner, max));
                let exp = self.b.unary(Unary::Exp, far);
                let sum = self.b.sum(&[j], exp);
                if of == Rows::Softmax {
                    let own = self.b.unary(Unary::Exp, near);
                    self.b.div(own, sum)
                } else {
                    let log = self.b.unary(Unary::Log, sum);
                    self.b.sub(near, log)
                }
            }
            Rows::LayerNorm => {
                let x = self.operand(member, 0, at)?;
                let mean = self.b.mean(&[j], inner);
                let (near, far) = (self.b.sub(x, mean), self.b.sub(inner, mean));
                let square = self.b.mul(far, far);
                let variance = self.b.mean(&[j], square);
                let eps = self.operand(member, 3, at)?;
                let sum = self.b.add(variance, eps);
                let scale = self.b.unary(Unary::Rsqrt, sum);
                let (weight, bias) = (self.operand(member, 1, at)?, self.operand(member, 2, at)?);
                let unit = self.b.mul(near, scale);
                let scaled = self.b.mul(unit, weight);
                self.b.add(scaled, bias)
            }
        })
    }
}

/// The operands that each value of a group comes from, as bits.
pub(super) fn feeding(members: &[Member<'_>], operands: &[Source]) -> BTreeMap<Source, u32> {
    masks(members, operands, |_| true)
}

/// The operands whose columns each value of a group has, as bits: what is summed along rows has none.
fn columns_of(members: &[Member<'_>], operands: &[Source]) -> BTreeMap<Source, u32> {
    masks(members, operands, |m| !matches!(m.operation, Operation::Rows(Rows::Sum | Rows::Mean)))
}

/// The operands that reach each value through statements that pass them on, as bits.
fn masks(members: &[Member<'_>], operands: &[Source], passes: impl Fn(&Member<'_>) -> bool) -> BTreeMap<Source, u32> {
    let mut masks: BTreeMap<Source, u32> = operands.iter().enumerate().map(|(at, o)| (*o, 1 << at)).collect();
    for m in members {
        let mask = m.sources().filter_map(|s| masks.get(&s)).fold(0, |all, mask| all | mask);
        masks.insert(Source::Value(m.call.value), if passes(m) { mask } else { 0 });
    }
    masks
}
