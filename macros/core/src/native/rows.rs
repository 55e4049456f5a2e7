//! Tile kernels over runs of elements, and over rows.

use super::code::{Kernels, Numbers, Scope, local, scalar, steps};
use super::plan::{Tiles, values};
use super::{Access, Domain, Launch, Operand, Scalar, Slot, in_lanes};
use cotangent_ir::{Axis, Fold, Id, Kind, Node};
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
        access: Access::Each,
        kind: k.k.args.get(*at as usize).map_or(Kind::Float, |arg| arg.kind),
        view: Some(vec![None]),
    };
    let mut launch = with_operands(k, tiles, numbers, order.iter().map(operand).collect());
    launch.scalars = numbers.iter().map(|(at, kind)| (Scalar::Arg(*at), *kind)).collect();
    launch
}

fn with_operands(k: &Kernels<'_>, tiles: &Tiles, numbers: &Numbers, operands: Vec<Operand>) -> Launch {
    let roots: Vec<Id> = tiles.outs.iter().map(|w| w.node).collect();
    let needed = values(k, &roots);
    let mut rows = Rows { k, tiles, needed, operands, at: BTreeMap::new(), scalars: BTreeMap::new() };
    rows.collect(numbers);
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
                    let axes: Vec<Axis> = k.links(at).iter().filter_map(|id| k.bare(*id)).collect();
                    let place = |axis: Axis| axes.iter().position(|a| *a == axis).map(|d| d as u8);
                    let mut view: Vec<Option<u8>> = tiles.rows.iter().map(|row| place(*row)).collect();
                    let column = axes.iter().position(|a| tiles.is_column(k, *a)).map(|d| d as u8);
                    let access = match column {
                        None if tiles.domain == Domain::Rows => Access::PerRow,
                        Some(_) | None => Access::Each,
                    };
                    if access == Access::Each {
                        view.push(column);
                    }
                    let kind = k.kind(id);
                    let operand = Operand { slot: Slot::In(arg.0), access, kind, view: Some(view) };
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
            let last = Some((store.over.len().max(1) - 1) as u8);
            let view = match written.access {
                Access::Each => rows.chain([last]).collect(),
                Access::PerColumn => vec![Some(0)],
                Access::PerRow | Access::Whole => rows.take(count).collect(),
            };
            let kind = k.k.outs[written.out].kind;
            let slot = Slot::Out(written.out as u32);
            self.operands.push(Operand { slot, access: written.access, kind, view: Some(view) });
        }
    }

    fn body(&self) -> TokenStream {
        let mut done = BTreeSet::new();
        let mut code = TokenStream::new();
        code.extend(self.row_indices());
        // What is the same for a whole row, reductions included, in the order of the arena.
        let (tiles, k) = (self.tiles, self.k);
        for &id in &self.needed {
            if k.inline(id) || self.varies(id) {
                continue;
            }
            let name = local(id);
            let value = match k.node(id) {
                Node::Fold(fold, _, body) => self.fold(fold, body, &done),
                _ => k.expression(id, &Scope { loads: &|id| self.load(id, None), index: &|a| self.row_index(a) }),
            };
            code.extend(quote!(let #name = #value;));
            done.insert(id);
        }
        let first_out = self.operands.len() - tiles.outs.len();
        let elements: Vec<usize> = (0..tiles.outs.len()).filter(|o| tiles.outs[*o].access != Access::PerRow).collect();
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
                    Access::Each | Access::PerRow | Access::Whole => quote!(#name[i] = #value;),
                }
            });
            code.extend(quote!(for i in 0..n { #lets #(#stores)* }));
        }
        for (o, written) in tiles.outs.iter().enumerate().filter(|(_, w)| w.access == Access::PerRow) {
            let (name, value) = (operand_name(first_out + o), k.operand(written.node));
            code.extend(quote!(#name[0] = #value;));
        }
        code
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
            if !matches!(k.node(id), Node::Load { .. }) {
                open.extend(k.operands(id));
            }
        }
        for id in needed {
            let (name, value) = (local(id), k.expression(id, scope));
            code.extend(quote!(let #name = #value;));
        }
        code
    }

    fn load(&self, id: Id, element: Option<&TokenStream>) -> TokenStream {
        match self.at.get(&id).copied().flatten() {
            None => {
                let Node::Load { arg, .. } = self.k.node(id) else { return quote!(0.0) };
                let name = scalar(Scalar::Arg(arg.0));
                quote!(#name)
            }
            Some(at) => {
                let name = operand_name(at);
                match (self.operands[at].access, element) {
                    (Access::PerRow, _) | (_, None) => quote!(#name[0]),
                    (_, Some(i)) => quote!(#name[#i]),
                }
            }
        }
    }

    /// A reduction of a row.
    fn fold(&self, fold: Fold, body: Id, done: &BTreeSet<Id>) -> TokenStream {
        let k = self.k;
        let kind = k.kind(body);
        let inside = values(k, &[body]);
        let positions = inside.iter().any(|id| !done.contains(id) && matches!(k.node(*id), Node::Index(_)));
        let value = k.operand(body);
        if in_lanes(fold, kind)
            && !positions
            && let Some(steps) = steps(fold, kind)
        {
            let mut used: Vec<usize> = inside
                .iter()
                .filter(|id| !done.contains(id))
                .filter_map(|id| self.at.get(id).copied().flatten())
                .filter(|at| self.operands[*at].access == Access::Each)
                .collect();
            used.sort_unstable();
            used.dedup();
            if used.iter().all(|at| self.operands[*at].kind == Kind::Float) && !used.is_empty() {
                let lane = |id: Id| match self.at.get(&id).copied().flatten() {
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
                let start = steps.start;
                let (step, join) = ((steps.step)(quote!(s), value), (steps.step)(quote!(a), quote!(b)));
                return quote! {
                    row::fold([#(#names),*], #start, |s, [#(#lanes),*]| { #lets #step }, |a, b| #join)
                };
            }
        }
        let index = |axis| self.element_index(axis, &quote!(j));
        let lets = self.elements(&[body], done, &Scope { loads: &|id| self.load(id, Some(&quote!(j))), index: &index });
        match steps(fold, kind) {
            Some(steps) => {
                let (start, step) = (steps.start, (steps.step)(quote!(s), value));
                quote!({ let mut s = #start; for j in 0..n { #lets s = #step; } s })
            }
            None => {
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

fn row_name(axis: Axis) -> Ident {
    Ident::new(&format!("r{}", axis.0), Span::call_site())
}
