//! Tile kernels over runs of elements, and over rows.

mod words;

use super::code::{Kernels, Numbers, Scope, local, scalar, steps};
use super::plan::{Tiles, Written, values};
use super::{Access, Domain, Launch, Operand, Scalar, Slot, in_lanes};
use cotangent_ir::{Axis, Binary, Fold, Id, Kind, Link, Node};
use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;
use std::collections::{BTreeMap, BTreeSet};

/// The launch of a group of outputs.
pub(super) fn launch(k: &Kernels<'_>, tiles: &Tiles, numbers: &Numbers) -> Launch {
    with_operands(k, tiles, numbers, vec![])
}

/// The launch of a kernel of scalars: the arguments `order` are its operands and `numbers` its scalars, used or not.
pub(super) fn scalars(k: &Kernels<'_>, tiles: &Tiles, order: &[u32], numbers: &Numbers) -> Launch {
    let operand = |at: &u32| Operand {
        slot: Slot::In(*at),
        written: false,
        access: Access::Each,
        kind: k.k.args.get(*at as usize).map_or(Kind::Float, |arg| arg.kind),
        view: Some(vec![None]),
        from: None,
    };
    let mut launch = with_operands(k, tiles, numbers, order.iter().map(operand).collect());
    launch.scalars = numbers.iter().map(|(at, kind)| (Scalar::Arg(*at), *kind)).collect();
    launch
}

fn with_operands(k: &Kernels<'_>, tiles: &Tiles, numbers: &Numbers, operands: Vec<Operand>) -> Launch {
    let roots: Vec<Id> = tiles.outs.iter().map(|w| w.node).collect();
    let needed = values(k, &roots);
    let (at, scalars, kept) = (BTreeMap::new(), BTreeMap::new(), None);
    let mut rows = Rows { k, tiles, needed, operands, at, scalars, kept, streams: vec![] };
    rows.collect(numbers);
    rows.find_streams();
    let body = rows.body();
    let Rows { operands, scalars, .. } = rows;
    let mut axes = tiles.rows.clone();
    axes.push(tiles.column.axis);
    Launch { domain: tiles.domain, axes, operands, scalars: scalars.into_iter().collect(), body }
}

struct Rows<'a> {
    k: &'a Kernels<'a>,
    tiles: &'a Tiles,
    needed: BTreeSet<Id>,
    operands: Vec<Operand>,
    /// The operand that a load reads, or none for a number.
    at: BTreeMap<Id, Option<usize>>,
    scalars: BTreeMap<Scalar, Kind>,
    /// A node whose values are kept in the memory of an output until that is written, and the output's operand.
    kept: Option<(Id, usize)>,
    /// Random words that are computed in groups.
    streams: Vec<Id>,
}

impl Rows<'_> {
    fn collect(&mut self, numbers: &Numbers) {
        let (k, tiles) = (self.k, self.tiles);
        for &id in &self.needed {
            match k.node(id) {
                Node::Size(dim) => {
                    self.scalars.insert(Scalar::Size(dim.0), Kind::Int);
                }
                Node::Load { arg, at, .. } => {
                    if let Some(kind) = numbers.get(&arg.0) {
                        self.scalars.insert(Scalar::Arg(arg.0), *kind);
                        self.at.insert(id, None);
                        continue;
                    }
                    let axes: Vec<Option<Axis>> = k.links(at).iter().map(|id| k.bare(*id)).collect();
                    let place = |axis: Axis| axes.iter().position(|a| *a == Some(axis)).map(|d| d as u8);
                    let mut view: Vec<Option<u8>> = tiles.rows.iter().map(|row| place(*row)).collect();
                    // Where an element of the row is picked, the row is at hand.
                    let column = axes.iter().position(|a| a.is_none_or(|a| tiles.is_column(k, a))).map(|d| d as u8);
                    let access = match column {
                        None if tiles.domain == Domain::Rows => Access::PerRow,
                        Some(_) | None => Access::Each,
                    };
                    if access == Access::Each {
                        view.push(column);
                    }
                    let kind = k.kind(id);
                    let slot = k.slots.args[arg.at()];
                    let operand = Operand { slot, written: false, access, kind, view: Some(view), from: None };
                    let known = self.operands.iter().position(|o| *o == operand);
                    let at = known.unwrap_or(self.operands.len());
                    if known.is_none() {
                        self.operands.push(operand);
                    }
                    self.at.insert(id, Some(at));
                }
                Node::Index(axis) if !tiles.is_column(k, axis) && tiles.rows.len() > 1 => {
                    for row in &tiles.rows {
                        let sizes = k.reach(&[k.extent(*row)], |_| false);
                        for id in sizes {
                            if let Node::Size(dim) = k.node(id) {
                                self.scalars.insert(Scalar::Size(dim.0), Kind::Int);
                            }
                        }
                    }
                }
                _ => {}
            }
        }
        for written in &tiles.outs {
            let count = tiles.rows.len();
            let store = &k.k.outs[written.out].stores[0];
            let place = |axis: Axis| store.over.iter().position(|a| *a == axis).map(|d| d as u8);
            let rows = tiles.rows.iter().map(|row| place(*row));
            let view = match written.access {
                Access::Each => rows.chain([Some(written.dim as u8)]).collect(),
                Access::PerColumn => vec![Some(0)],
                Access::Total => vec![],
                Access::PerRow | Access::Whole | Access::Part => rows.take(count).collect(),
            };
            let kind = k.k.outs[written.out].kind;
            let slot = k.slots.outs[written.out];
            if let Some(operand) = self.in_place(written, &view) {
                self.operands.push(operand);
                continue;
            }
            let (access, view) = (written.access, Some(view));
            self.operands.push(Operand { slot, written: true, access, kind, view, from: None });
        }
    }

    /// An output that takes the place of the argument of its name: each element is read before it is written. The loads
    /// of that argument then read the output, and the argument is no operand.
    fn in_place(&mut self, written: &Written, view: &[Option<u8>]) -> Option<Operand> {
        let k = self.k;
        let out = &k.k.outs[written.out];
        let from = k.k.args.iter().position(|arg| arg.name == out.name && arg.kind == out.kind)? as u32;
        let own = |o: &Operand| o.slot == Slot::In(from);
        let at = self.operands.iter().position(own)?;
        let only = self.operands.iter().filter(|o| own(o)).count() == 1;
        let operand = Operand {
            slot: k.slots.outs[written.out],
            written: true,
            access: Access::Each,
            kind: out.kind,
            view: Some(view.to_vec()),
            from: Some(from),
        };
        let same = written.access == Access::Each && self.operands[at].view.as_deref() == Some(view);
        if !only || !same {
            return None;
        }
        self.operands.remove(at);
        let place = self.operands.len();
        for read in self.at.values_mut().flatten() {
            if *read == at {
                *read = place;
            } else if *read > at {
                *read -= 1;
            }
        }
        Some(operand)
    }

    fn body(&mut self) -> TokenStream {
        let keep = self.keeper();
        let mut done = BTreeSet::new();
        let mut code = TokenStream::new();
        code.extend(self.row_indices());
        // What is the same for a whole row, reductions included, in the order of the arena.
        let (tiles, k) = (self.tiles, self.k);
        for &id in &self.needed {
            if k.inline(id) || self.varies(id) {
                code.extend(self.quotient(id).map(|(_, row)| {
                    let (name, value) = (quotient_name(id), k.product(Kind::Float, row));
                    quote!(let #name = #value;)
                }));
                continue;
            }
            let name = local(id);
            if let (Node::Fold(_, _, body), Some((kept, out)), None) = (k.node(id), keep, self.kept)
                && values(k, &[body]).contains(&kept)
            {
                let index = |axis| self.element_index(axis, &quote!(i));
                let scope = Scope { loads: &|id| self.load(id, Some(&quote!(i))), index: &index };
                let (lets, value, out) = (self.elements(&[kept], &done, &scope), k.operand(kept), operand_name(out));
                code.extend(quote!(for i in 0..n { #lets #out[i] = #value; }));
                self.kept = keep;
            }
            let value = match k.node(id) {
                Node::Fold(fold, _, body) => self.fold(fold, body, &done),
                _ => k.expression(id, &Scope { loads: &|id| self.load(id, None), index: &|a| self.row_index(a) }),
            };
            code.extend(quote!(let #name = #value;));
            done.insert(id);
        }
        let first_out = self.operands.len() - tiles.outs.len();
        // Totals come before the last loop writes what it reads.
        for (o, written) in tiles.outs.iter().enumerate().filter(|(_, w)| w.access == Access::Total) {
            let name = operand_name(first_out + o);
            let value = if written.along { self.fold(Fold::Sum, written.node, &done) } else { k.operand(written.node) };
            code.extend(match (k.kind(written.node), written.factor) {
                (Kind::Float, 1.0) => quote!(#name[0] += #value;),
                (Kind::Float, factor) => {
                    let factor = super::code::constant(Kind::Float, cotangent_ir::Num::float(factor));
                    quote!(#name[0] += #factor * #value;)
                }
                _ => quote!(#name[0] = i64::wrapping_add(#name[0], #value);),
            });
        }
        for (o, written) in tiles.outs.iter().enumerate() {
            if let Node::Scan { fold, reverse, exclusive, body, .. } = k.node(written.node) {
                code.extend(self.scan(fold, (reverse, exclusive), body, &operand_name(first_out + o), &done));
            }
        }
        let element = |o: &usize| {
            let Written { access, node, .. } = tiles.outs[*o];
            matches!(access, Access::Each | Access::PerColumn) && !matches!(k.node(node), Node::Scan { .. })
        };
        let elements: Vec<usize> = (0..tiles.outs.len()).filter(element).collect();
        if !elements.is_empty() {
            let roots: Vec<Id> = elements.iter().map(|o| tiles.outs[*o].node).collect();
            let index = |axis| self.element_index(axis, &quote!(i));
            let lets =
                self.elements(&roots, &done, &Scope { loads: &|id| self.load(id, Some(&quote!(i))), index: &index });
            let stores = elements.iter().map(|&o| {
                let (written, name) = (&tiles.outs[o], operand_name(first_out + o));
                let value = k.operand(written.node);
                match written.access {
                    Access::PerColumn if written.factor == 1.0 => quote!(#name[i] += #value;),
                    Access::PerColumn => {
                        let factor = super::code::constant(Kind::Float, cotangent_ir::Num::float(written.factor));
                        quote!(#name[i] = math::fma::<FMA>(#factor, #value, #name[i]);)
                    }
                    _ => quote!(#name[i] = #value;),
                }
            });
            code.extend(self.each(quote!(#lets #(#stores)*)));
        }
        for (o, written) in tiles.outs.iter().enumerate().filter(|(_, w)| w.access == Access::PerRow) {
            let (name, value) = (operand_name(first_out + o), k.operand(written.node));
            code.extend(quote!(#name[0] = #value;));
        }
        code
    }

    /// A costly value of each element that a reduction and the last loop both need, and an output that can hold it in
    /// between: computing it once is worth a pass over the output's memory, which is written anyway.
    fn keeper(&self) -> Option<(Id, usize)> {
        let (k, tiles) = (self.k, self.tiles);
        let first_out = self.operands.len() - tiles.outs.len();
        let free = |at: usize| {
            let operand = &self.operands[first_out + at];
            operand.access == Access::Each && operand.kind == Kind::Float && operand.from.is_none()
        };
        let out = (0..tiles.outs.len()).find(|at| free(*at))?;
        let scans = tiles.outs.iter().any(|w| matches!(k.node(w.node), Node::Scan { .. }));
        let element = |w: &&Written| matches!(w.access, Access::Each | Access::PerColumn) && !scans;
        let last: Vec<Id> = tiles.outs.iter().filter(element).map(|w| w.node).collect();
        let outside = k.reach(&last, |id| !self.varies(id));
        let costly = |id: &Id| {
            let slow = match k.node(*id) {
                Node::Unary(op, _) => op.is_transcendental(),
                Node::Binary(op, ..) => matches!(op, Binary::Pow | Binary::Atan2),
                _ => false,
            };
            slow && self.varies(*id) && outside.contains(id)
        };
        let folded = self.needed.iter().filter_map(|id| match k.node(*id) {
            Node::Fold(_, _, body) => Some(body),
            _ => None,
        });
        let inside: BTreeSet<Id> = folded.flat_map(|body| values(k, &[body])).collect();
        inside.into_iter().rfind(costly).map(|id| (id, first_out + out))
    }

    /// Whether a node differs between the elements of a row.
    fn varies(&self, id: Id) -> bool {
        self.tiles.domain == Domain::Pointwise && self.reads_elements(id)
            || self.k.free(id).iter().any(|a| self.tiles.is_column(self.k, *a))
    }

    /// In a run of elements, whatever is read may differ.
    fn reads_elements(&self, id: Id) -> bool {
        values(self.k, &[id]).iter().any(|id| match self.k.node(*id) {
            Node::Load { .. } => self.at.get(id).is_some_and(Option::is_some),
            Node::Index(_) => true,
            _ => false,
        })
    }

    /// Locals for what `roots` need and differs between elements.
    fn elements(&self, roots: &[Id], done: &BTreeSet<Id>, scope: &Scope<'_>) -> TokenStream {
        let k = self.k;
        let mut code = TokenStream::new();
        let mut needed = BTreeSet::new();
        let mut open = roots.to_vec();
        while let Some(id) = open.pop() {
            if done.contains(&id) || k.inline(id) || !needed.insert(id) {
                continue;
            }
            if !matches!(k.node(id), Node::Load { .. }) && self.kept_at(id).is_none() {
                open.extend(k.operands(id));
            }
        }
        for id in needed {
            let name = local(id);
            let value = match self.quotient(id) {
                _ if self.kept_at(id).is_some() => (scope.loads)(id),
                Some((elements, _)) => {
                    let (row, elements) = (quotient_name(id), k.product(Kind::Float, elements));
                    quote!((#row * #elements))
                }
                None if self.streams.contains(&id) => self.word(id),
                None => k.expression(id, scope),
            };
            code.extend(quote!(let #name = #value;));
        }
        code
    }

    /// The factors of a product that differ between elements, and the others, if these hold a quotient: it is the same for
    /// the whole row.
    fn quotient(&self, id: Id) -> Option<(Vec<&Link>, Vec<&Link>)> {
        let Node::Prod { kind: Kind::Float, factors } = self.k.node(id) else { return None };
        let (elements, row): (Vec<&Link>, Vec<&Link>) =
            self.k.k.links(factors).iter().partition(|link| self.varies(link.id));
        let is_quotient = row.iter().any(|l| l.k.as_int() < 0) && row.iter().any(|l| l.k.as_int() > 0);
        (is_quotient && !elements.is_empty()).then_some((elements, row))
    }

    /// The operand that holds a node's values at this point.
    fn kept_at(&self, id: Id) -> Option<usize> {
        self.kept.filter(|(kept, _)| *kept == id).map(|(_, at)| at)
    }

    /// The operand that a node is read from: an argument's, or the output that keeps it.
    fn read_from(&self, id: Id) -> Option<usize> {
        self.kept_at(id).or_else(|| self.at.get(&id).copied().flatten())
    }

    /// What the elements of a value are read from: loads, and a value that is kept.
    fn leaves(&self, body: Id, done: &BTreeSet<Id>) -> BTreeSet<Id> {
        let k = self.k;
        let (mut seen, mut open) = (BTreeSet::new(), vec![body]);
        while let Some(id) = open.pop() {
            if done.contains(&id) || !seen.insert(id) || matches!(k.node(id), Node::Load { .. }) {
                continue;
            }
            if self.kept_at(id).is_none() {
                open.extend(k.operands(id));
            }
        }
        seen
    }

    fn load(&self, id: Id, element: Option<&TokenStream>) -> TokenStream {
        match self.read_from(id) {
            None => {
                let Node::Load { arg, .. } = self.k.node(id) else { return quote!(0.0) };
                let name = scalar(Scalar::Arg(arg.0));
                quote!(#name)
            }
            Some(at) => {
                let name = operand_name(at);
                if let Some((_, _, place)) = self.k.pick(id)
                    && self.kept_at(id).is_none()
                {
                    // The runtime has verified positions; a guarded load may lie outside.
                    let (place, missing) = (self.k.operand(place), super::code::missing(self.k, id));
                    return quote!(#name.get(#place as usize).copied().unwrap_or(#missing));
                }
                match (self.operands[at].access, element) {
                    (Access::PerRow, _) | (_, None) => quote!(#name[0]),
                    (_, Some(i)) => quote!(#name[#i]),
                }
            }
        }
    }

    /// The running reduction of a row, written to an output.
    fn scan(
        &self,
        fold: Fold,
        (reverse, exclusive): (bool, bool),
        body: Id,
        out: &Ident,
        done: &BTreeSet<Id>,
    ) -> TokenStream {
        let k = self.k;
        let index = |axis| self.element_index(axis, &quote!(i));
        let lets = self.elements(&[body], done, &Scope { loads: &|id| self.load(id, Some(&quote!(i))), index: &index });
        running(fold, k.kind(body), (reverse, exclusive), &lets, k.operand(body), &quote!(#out[i]))
    }

    /// A reduction of a row.
    fn fold(&self, fold: Fold, body: Id, done: &BTreeSet<Id>) -> TokenStream {
        let k = self.k;
        let kind = k.kind(body);
        let inside = values(k, &[body]);
        let positions = inside.iter().any(|id| !done.contains(id) && matches!(k.node(*id), Node::Index(_)));
        if in_lanes(fold, kind)
            && !positions
            && let Some(steps) = steps(fold, kind)
        {
            let mut used: Vec<usize> = self
                .leaves(body, done)
                .into_iter()
                .filter_map(|id| self.read_from(id))
                .filter(|at| self.operands[*at].access == Access::Each)
                .collect();
            used.sort_unstable();
            used.dedup();
            if used.iter().all(|at| self.operands[*at].kind == Kind::Float) && !used.is_empty() {
                let lane = |id: Id| match self.read_from(id) {
                    Some(at) if self.operands[at].access == Access::Each => {
                        let name = lane_name(at);
                        quote!(#name)
                    }
                    Some(_) | None => self.load(id, None),
                };
                let scope = Scope { loads: &lane, index: &|a| self.row_index(a) };
                let lets = self.elements(&[body], done, &scope);
                let (names, lanes): (Vec<Ident>, Vec<Ident>) =
                    used.iter().map(|at| (operand_name(*at), lane_name(*at))).unzip();
                let (step, join) = (k.step(fold, &steps, body), (steps.step)(quote!(a), quote!(b)));
                let start = steps.start;
                return quote! {
                    row::fold([#(&#names[..]),*], #start, |s, [#(#lanes),*]| { #lets #step }, |a, b| #join)
                };
            }
        }
        let index = |axis| self.element_index(axis, &quote!(j));
        let lets = self.elements(&[body], done, &Scope { loads: &|id| self.load(id, Some(&quote!(j))), index: &index });
        match steps(fold, kind) {
            Some(steps) => {
                let (step, start) = (k.step(fold, &steps, body), steps.start);
                quote!({ let mut s = #start; for j in 0..n { #lets s = #step; } s })
            }
            None => {
                let value = k.operand(body);
                let better = first_hit(fold, kind);
                quote!({
                    let mut best = None;
                    for j in 0..n {
                        #lets
                        if best.is_none_or(|(b, _)| #better(#value, b)) { best = Some((#value, j as i64)); }
                    }
                    best.map_or(0i64, |(_, at)| at)
                })
            }
        }
    }

    fn element_index(&self, axis: Axis, element: &TokenStream) -> TokenStream {
        if self.tiles.is_column(self.k, axis) {
            // A run of elements begins anywhere; a row at its first element.
            return match self.tiles.domain {
                Domain::Pointwise => quote!(((tile.0 + #element) as i64)),
                Domain::Rows => quote!((#element as i64)),
            };
        }
        self.row_index(axis)
    }

    fn row_index(&self, axis: Axis) -> TokenStream {
        let name = row_name(axis);
        quote!(#name)
    }

    /// Locals for the positions along the axes of rows, if any is used as a value.
    fn row_indices(&self) -> TokenStream {
        let (k, rows) = (self.k, &self.tiles.rows);
        let used = self.needed.iter().any(|id| matches!(k.node(*id), Node::Index(a) if !self.tiles.is_column(k, a)));
        if !used {
            return TokenStream::new();
        }
        if let [only] = rows[..] {
            let name = row_name(only);
            return quote!(let #name = tile.0 as i64;);
        }
        let mut code = quote!(let mut rest = tile.0 as i64;);
        for row in rows.iter().skip(1).rev() {
            let (name, extent) = (row_name(*row), super::nest::extent(k, k.extent(*row)));
            code.extend(quote!(let #name = rest % i64::max(#extent, 1); rest /= i64::max(#extent, 1);));
        }
        if let Some(first) = rows.first() {
            let name = row_name(*first);
            code.extend(quote!(let #name = rest;));
        }
        code
    }
}

/// The loop of a running reduction over the elements `i` of a row: `lets` and `value` are what an element adds.
pub(super) fn running(
    fold: Fold,
    kind: Kind,
    (reverse, exclusive): (bool, bool),
    lets: &TokenStream,
    value: TokenStream,
    to: &TokenStream,
) -> TokenStream {
    let Some(steps) = steps(fold, kind) else { return TokenStream::new() };
    let (start, step) = (steps.start, (steps.step)(quote!(s), value));
    let range = if reverse { quote!((0..n).rev()) } else { quote!(0..n) };
    let store = quote!(#to = s;);
    let step = if exclusive { quote!(#store #lets s = #step;) } else { quote!(#lets s = #step; #store) };
    quote!({ let mut s = #start; for i in #range { #step } })
}

/// The function that says whether one value goes before another, for positions of a reduction.
pub(super) fn first_hit(fold: Fold, kind: Kind) -> TokenStream {
    match (fold, kind) {
        (Fold::ArgMax, Kind::Float) => quote!(scalar::above),
        (Fold::ArgMax, _) => quote!(scalar::greater),
        (_, Kind::Float) => quote!(scalar::below),
        (_, _) => quote!(scalar::less),
    }
}

pub(super) fn operand_name(at: usize) -> Ident {
    Ident::new(&format!("t{at}"), Span::call_site())
}

fn lane_name(at: usize) -> Ident {
    Ident::new(&format!("l{at}"), Span::call_site())
}

/// The part of a product that is the same for a row.
fn quotient_name(product: Id) -> Ident {
    Ident::new(&format!("q{}", product.0), Span::call_site())
}

fn row_name(axis: Axis) -> Ident {
    Ident::new(&format!("r{}", axis.0), Span::call_site())
}
