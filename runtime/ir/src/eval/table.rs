//! The tables of the nodes.

use super::dims::Sizes;
use super::{EvalError, Value, ops};
use crate::facts::Known;
use crate::kernel::{Axis, Fold, Id, Kernel, Kind, Link, Mode, Node, Num, OutDef};
use crate::philox;
use crate::rewrite::identity;

/// The largest table.
const LIMIT: usize = 1 << 26;

pub(super) struct Tables<'a> {
    kernel: &'a Kernel,
    args: &'a [Value],
    sizes: &'a Sizes,
    extents: Vec<usize>,
    kinds: Vec<Kind>,
    free: Vec<Vec<Axis>>,
    tables: Vec<Vec<Num>>,
}

/// A position along every axis; only some matter at a time.
type Place = Vec<usize>;

impl<'a> Tables<'a> {
    pub(super) fn new(kernel: &'a Kernel, args: &'a [Value], sizes: &'a Sizes) -> Result<Tables<'a>, EvalError> {
        let mut extents = vec![];
        for axis in kernel.axes.iter() {
            extents.push(extent(sizes, axis.extent, &axis.name)?);
        }
        Ok(Tables { kernel, args, sizes, extents, kinds: vec![], free: vec![], tables: vec![] })
    }

    pub(super) fn run(mut self) -> Result<Vec<Value>, EvalError> {
        for (at, node) in self.kernel.nodes.iter().enumerate() {
            let known = Known {
                nodes: &self.kernel.nodes,
                args: &self.kernel.args,
                callees: &[],
                kinds: &self.kinds,
                free: &self.free,
            };
            let links = self.kernel.links_of(node);
            let (kind, free) = (known.kind(node), known.free(node, links));
            let mut table = vec![];
            let mut error = None;
            self.each(&free, |place| match self.value(Id(at as u32), node, place) {
                Ok(value) => table.push(value),
                Err(e) => error = error.take().or(Some(e)),
            })?;
            if let Some(error) = error {
                return Err(error);
            }
            self.kinds.push(kind);
            self.free.push(free);
            self.tables.push(table);
        }
        self.kernel.outs.iter().map(|out| self.output(out)).collect()
    }

    /// Calls `f` with every position along `axes`, the last one fastest.
    fn each(&self, axes: &[Axis], f: impl FnMut(&mut Place)) -> Result<(), EvalError> {
        let mut place = vec![0; self.extents.len()];
        self.each_from(axes, &mut place, f)
    }

    fn each_from(&self, axes: &[Axis], place: &mut Place, mut f: impl FnMut(&mut Place)) -> Result<(), EvalError> {
        let count = axes.iter().try_fold(1usize, |n, a| n.checked_mul(self.extents[a.at()]));
        let count = count.filter(|&n| n <= LIMIT).ok_or(EvalError::Large)?;
        axes.iter().for_each(|a| place[a.at()] = 0);
        for _ in 0..count {
            f(place);
            for a in axes.iter().rev() {
                place[a.at()] += 1;
                if place[a.at()] < self.extents[a.at()] {
                    break;
                }
                place[a.at()] = 0;
            }
        }
        Ok(())
    }

    fn get(&self, id: Id, place: &Place) -> Num {
        let at = self.free[id.at()].iter().fold(0, |at, a| at * self.extents[a.at()] + place[a.at()]);
        self.tables[id.at()][at]
    }

    fn value(&self, id: Id, node: &Node, place: &mut Place) -> Result<Num, EvalError> {
        let kind = |id: Id| self.kinds[id.at()];
        Ok(match *node {
            Node::Const(_, n) => n,
            Node::Size(_) => Num::int(self.sizes[id.at()].unwrap_or(0)),
            Node::Index(axis) => Num::int(place[axis.at()] as i64),
            Node::Load { arg, at, guard } => return self.load(id, arg.at(), self.kernel.links(at), guard, place),
            Node::Sum { kind, c, terms } => {
                self.kernel.links(terms).iter().fold(c, |sum, l| self.add_term(kind, sum, *l, place))
            }
            Node::Prod { kind, factors } => self.product(kind, self.kernel.links(factors), place),
            Node::Unary(op, a) => ops::unary(op, kind(a), self.get(a, place)),
            Node::Binary(op, a, b) => ops::binary(op, kind(a), self.get(a, place), self.get(b, place)),
            Node::Select(q, a, b) => self.get(if self.get(q, place).as_bool() { a } else { b }, place),
            Node::Cast(to, a) => ops::cast(kind(a), to, self.get(a, place)),
            Node::Fold(fold, axes, body) => {
                let axes: Vec<Axis> = self.kernel.links(axes).iter().filter_map(|l| self.axis(l.id)).collect();
                self.fold(fold, &axes, body, place)?
            }
            Node::Scan { fold, axis, reverse, exclusive, body } => {
                let (here, n) = (place[axis.at()], self.extents[axis.at()]);
                let skip = usize::from(exclusive);
                let range = if reverse { (here + skip).min(n)..n } else { 0..here + 1 - skip };
                // From the end where the scan begins, so that it adds in the order of a running sum.
                let order: Vec<usize> = if reverse { range.rev().collect() } else { range.collect() };
                let mut so_far = identity(fold, kind(body));
                for at in order {
                    place[axis.at()] = at;
                    so_far = ops::accumulate(fold, kind(body), so_far, self.get(body, place));
                }
                place[axis.at()] = here;
                so_far
            }
            Node::Random { key, at } => Num(u64::from(philox::word(self.get(key, place).0, self.get(at, place).0))),
            // Linked kernels have no calls.
            Node::Call { .. } => Num(0),
        })
    }

    fn axis(&self, id: Id) -> Option<Axis> {
        if let Node::Index(axis) = self.kernel.nodes[id.at()] { Some(axis) } else { None }
    }

    fn add_term(&self, kind: Kind, sum: Num, link: Link, place: &Place) -> Num {
        let term = self.get(link.id, place);
        match kind {
            Kind::Float => Num::float(sum.as_float() + link.k.as_float() * term.as_float()),
            Kind::Int | Kind::Bool => Num::int(sum.as_int().wrapping_add(link.k.as_int().wrapping_mul(term.as_int()))),
        }
    }

    fn product(&self, kind: Kind, factors: &[Link], place: &Place) -> Num {
        let part = |positive: bool| {
            let factors = factors.iter().filter(|l| (l.k.as_int() > 0) == positive);
            factors
                .map(|l| ops::power(kind, self.get(l.id, place), l.k.as_int().unsigned_abs()))
                .reduce(|a, b| ops::accumulate(Fold::Prod, kind, a, b))
        };
        match (part(true), part(false)) {
            (Some(n), None) => n,
            (Some(n), Some(d)) => Num::float(n.as_float() / d.as_float()),
            (None, Some(d)) => Num::float(1.0 / d.as_float()),
            (None, None) => Num::float(1.0),
        }
    }

    fn load(&self, id: Id, arg: usize, at: &[Link], guard: bool, place: &Place) -> Result<Num, EvalError> {
        let (value, at) = (&self.args[arg], at.iter().map(|l| self.get(l.id, place).as_int()));
        match offset(&value.shape, at.clone()) {
            Some(offset) => Ok(value.bits(offset)),
            None if guard => Ok(Num(0)),
            None => Err(EvalError::Outside {
                node: id,
                name: self.kernel.args[arg].name.to_string(),
                at: at.collect(),
                shape: value.shape.clone(),
            }),
        }
    }

    fn fold(&self, fold: Fold, axes: &[Axis], body: Id, place: &mut Place) -> Result<Num, EvalError> {
        let kind = self.kinds[body.at()];
        let (mut best, mut at, mut count) = (None::<Num>, 0i64, 0i64);
        let mut so_far = identity(fold, kind);
        self.each_from(axes, place, |place| {
            let n = self.get(body, place);
            if matches!(fold, Fold::ArgMax | Fold::ArgMin) {
                if best.is_none_or(|best| ops::wins(fold, kind, n, best)) {
                    (best, at) = (Some(n), count);
                }
                count += 1;
            } else {
                so_far = ops::accumulate(fold, kind, so_far, n);
            }
        })?;
        Ok(if matches!(fold, Fold::ArgMax | Fold::ArgMin) { Num::int(at) } else { so_far })
    }

    fn output(&self, out: &OutDef) -> Result<Value, EvalError> {
        let mut shape = vec![];
        for &dim in out.dims.iter() {
            shape.push(extent(self.sizes, dim, &out.name)?);
        }
        let count = shape.iter().try_fold(1usize, |n, &d| n.checked_mul(d)).filter(|&n| n <= LIMIT);
        let mut elements = vec![Num(0); count.ok_or(EvalError::Large)?];
        let mut written = vec![false; elements.len()];
        for store in out.stores.iter() {
            let mut error = None;
            self.each(&store.over, |place| {
                let at = store.at.iter().map(|&id| self.get(id, place).as_int());
                let (name, all) = (|| out.name.to_string(), || at.clone().collect());
                let Some(to) = offset(&shape, at.clone()) else {
                    error = Some(EvalError::StoreOutside { name: name(), at: all(), shape: shape.clone() });
                    return;
                };
                let n = self.get(store.node, place);
                if out.mode == Mode::Add {
                    elements[to] = ops::accumulate(Fold::Sum, out.kind, elements[to], n);
                } else if std::mem::replace(&mut written[to], true) {
                    error = Some(EvalError::Twice { name: name(), at: all() });
                } else {
                    elements[to] = n;
                }
            })?;
            if let Some(error) = error {
                return Err(error);
            }
        }
        if out.mode == Mode::Set && !written.iter().all(|&w| w) {
            return Err(EvalError::Gaps { name: out.name.to_string() });
        }
        Ok(Value::of_bits(shape, out.kind, &elements))
    }
}

fn extent(sizes: &Sizes, id: Id, name: &str) -> Result<usize, EvalError> {
    let extent = sizes[id.at()].unwrap_or(0);
    usize::try_from(extent).map_err(|_| EvalError::Negative { name: name.to_string(), extent })
}

/// The place of an element, if it is inside.
fn offset(shape: &[usize], at: impl Iterator<Item = i64>) -> Option<usize> {
    let mut offset = 0;
    for (&extent, at) in shape.iter().zip(at) {
        let at = usize::try_from(at).ok().filter(|&at| at < extent)?;
        offset = offset * extent + at;
    }
    Some(offset)
}
