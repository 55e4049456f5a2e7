//! Tile kernels by nested loops over whole tensors: products, stencils, gathers, scatters.

use super::code::{Kernels, Numbers, Scope, local, scalar, steps};
use super::plan::plain_store;
use super::rows::{first_hit, operand_name};
use super::{Access, Domain, Launch, Operand, Scalar, Slot, Unsupported};
use cotangent_ir::{Axis, Fold, Id, Kind, Mode, Node, OutDef, Store};
use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;
use std::collections::{BTreeMap, BTreeSet};

/// The launch of one output.
///
/// An output whose elements are each written once, in order, is cut into rows that threads share. Any other is walked
/// by one thread, in the order of its loops, so that colliding sums are the same in every run.
pub(super) fn launch(k: &Kernels<'_>, out: usize, numbers: &Numbers) -> Result<Launch, Unsupported> {
    let def = &k.k.outs[out];
    let in_order = plain_store(k, def).filter(|store| !store.over.is_empty());
    let mut nest = Nest { k, operands: vec![], at: BTreeMap::new(), scalars: BTreeMap::new() };
    let mut roots: Vec<Id> = def.dims.to_vec();
    for store in def.stores.iter() {
        roots.push(store.node);
        roots.extend(store.at.iter());
        roots.extend(store.over.iter().map(|axis| k.extent(*axis)));
    }
    nest.collect(&roots, numbers)?;
    let kind = def.kind;
    let (axes, body) = match in_order {
        Some(store) => {
            let view = (0..store.over.len()).map(|d| Some(d as u8)).collect();
            nest.operands.push(Operand {
                slot: Slot::Out(out as u32),
                access: Access::Each,
                kind,
                view: Some(view),
                from: None,
            });
            (store.over.to_vec(), nest.row(store))
        }
        None => {
            nest.operands.push(Operand {
                slot: Slot::Out(out as u32),
                access: Access::Whole,
                kind,
                view: None,
                from: None,
            });
            (vec![], nest.whole(def))
        }
    };
    let Nest { operands, scalars, .. } = nest;
    Ok(Launch { domain: Domain::Rows, axes, operands, scalars: scalars.into_iter().collect(), body })
}

/// An extent as an expression of the launch's scalars.
pub(super) fn extent(k: &Kernels<'_>, id: Id) -> TokenStream {
    let place = Scope { loads: &|_| quote!(0), index: &|_| quote!(0) };
    if k.inline(id) {
        return k.operand(id);
    }
    // Extents are small expressions: their operands are written out where they stand.
    let lets = k.reach(&[id], |_| false).into_iter().filter(|id| !k.inline(*id)).map(|id| {
        let (name, value) = (local(id), k.expression(id, &place));
        quote!(let #name = #value;)
    });
    let name = local(id);
    quote!({ #(#lets)* #name })
}

struct Nest<'a> {
    k: &'a Kernels<'a>,
    operands: Vec<Operand>,
    /// The operand of an argument.
    at: BTreeMap<u32, usize>,
    scalars: BTreeMap<Scalar, Kind>,
}

impl Nest<'_> {
    fn collect(&mut self, roots: &[Id], numbers: &Numbers) -> Result<(), Unsupported> {
        let k = self.k;
        let mut open: Vec<Id> = roots.to_vec();
        let mut seen = BTreeSet::new();
        while let Some(id) = open.pop() {
            if !seen.insert(id) {
                continue;
            }
            open.extend(k.operands(id));
            match k.node(id) {
                Node::Size(dim) => {
                    self.scalars.insert(Scalar::Size(dim.0), Kind::Int);
                }
                Node::Load { arg, .. } => match numbers.get(&arg.0) {
                    Some(kind) => {
                        self.scalars.insert(Scalar::Arg(arg.0), *kind);
                    }
                    None => {
                        open.extend(k.k.args[arg.at()].dims.iter());
                        let at = self.operands.len();
                        if let std::collections::btree_map::Entry::Vacant(place) = self.at.entry(arg.0) {
                            place.insert(at);
                            let kind = k.kind(id);
                            let slot = Slot::In(arg.0);
                            self.operands.push(Operand { slot, access: Access::Whole, kind, view: None, from: None });
                        }
                    }
                },
                Node::Fold(_, run, _) => open.extend(k.bound(run).into_iter().map(|axis| k.extent(axis))),
                Node::Scan { axis, .. } => open.push(k.extent(axis)),
                _ => {}
            }
        }
        Ok(())
    }

    /// The body for one row of an output: all of its last axis.
    fn row(&self, store: &Store) -> TokenStream {
        let k = self.k;
        let (last, rows) = match store.over.split_last() {
            Some((last, rows)) => (*last, rows),
            None => return TokenStream::new(),
        };
        let mut done = BTreeSet::new();
        let mut code = self.block(&extents(k, store), &BTreeSet::new(), &mut done);
        if let [only] = rows {
            let name = axis_name(*only);
            code.extend(quote!(let #name = tile.0 as i64;));
        } else if let Some((first, inner)) = rows.split_first() {
            code.extend(quote!(let mut rest = tile.0 as i64;));
            for row in inner.iter().rev() {
                let (name, extent) = (axis_name(*row), k.operand(k.extent(*row)));
                code.extend(quote!(let #name = rest % i64::max(#extent, 1); rest /= i64::max(#extent, 1);));
            }
            let name = axis_name(*first);
            code.extend(quote!(let #name = rest;));
        }
        let mut axes: BTreeSet<Axis> = rows.iter().copied().collect();
        code.extend(self.block(&[store.node], &axes, &mut done));
        axes.insert(last);
        let inside = self.block(&[store.node], &axes, &mut done.clone());
        let (name, value) = (axis_name(last), k.operand(store.node));
        let out = operand_name(self.operands.len() - 1);
        code.extend(quote! {
            for i in 0..n {
                let #name = i as i64;
                #inside
                #out[i] = #value;
            }
        });
        code
    }

    /// The body that writes a whole output, zero at first.
    fn whole(&self, def: &OutDef) -> TokenStream {
        let k = self.k;
        let out = operand_name(self.operands.len() - 1);
        let mut code = TokenStream::new();
        for store in def.stores.iter() {
            let mut done = BTreeSet::new();
            let mut roots = extents(k, store);
            roots.extend(def.dims.iter());
            let lets = self.block(&roots, &BTreeSet::new(), &mut done);
            let all: BTreeSet<Axis> = store.over.iter().copied().collect();
            let roots: Vec<Id> = store.at.iter().copied().chain([store.node]).collect();
            let inside = self.block(&roots, &all, &mut done);
            let (place, value) = (self.place(&store.at, &def.dims), k.operand(store.node));
            let write = match (def.mode, def.kind) {
                (Mode::Add, Kind::Float) => quote!(*to += #value),
                (Mode::Add, _) => quote!(*to = i64::wrapping_add(*to, #value)),
                (Mode::Set | Mode::SetSparse, _) => quote!(*to = #value),
            };
            // The runtime has verified positions; what the macro proved lies inside.
            let mut nest = quote!(#inside if let Some(to) = #out.get_mut((#place) as usize) { #write; });
            for axis in store.over.iter().rev() {
                let (name, extent) = (axis_name(*axis), k.operand(k.extent(*axis)));
                nest = quote!(for #name in 0..#extent { #nest });
            }
            code.extend(quote!({ #lets #nest }));
        }
        code
    }

    /// Locals for all that `roots` need and that the axes in scope allow.
    fn block(&self, roots: &[Id], axes: &BTreeSet<Axis>, done: &mut BTreeSet<Id>) -> TokenStream {
        let k = self.k;
        let mut needed = BTreeSet::new();
        let mut open = roots.to_vec();
        while let Some(id) = open.pop() {
            if done.contains(&id) || k.inline(id) || !needed.insert(id) {
                continue;
            }
            open.extend(k.operands(id));
            if let Node::Load { arg, .. } = k.node(id) {
                open.extend(k.k.args[arg.at()].dims.iter());
            }
            match k.node(id) {
                Node::Fold(_, run, _) => open.extend(k.bound(run).into_iter().map(|axis| k.extent(axis))),
                Node::Scan { axis, .. } => open.push(k.extent(axis)),
                _ => {}
            }
        }
        let mut code = TokenStream::new();
        for id in needed {
            if !k.free(id).iter().all(|a| axes.contains(a)) {
                continue;
            }
            let name = local(id);
            let value = match k.node(id) {
                Node::Fold(fold, run, body) => self.fold(fold, &k.bound(run), body, axes, done),
                Node::Scan { fold, axis, reverse, exclusive, body } => {
                    self.scan(fold, axis, (reverse, exclusive), body, axes, done)
                }
                _ => k.expression(
                    id,
                    &Scope {
                        loads: &|id| self.load(id),
                        index: &|axis| {
                            let name = axis_name(axis);
                            quote!(#name)
                        },
                    },
                ),
            };
            code.extend(quote!(let #name = #value;));
            done.insert(id);
        }
        code
    }

    fn fold(&self, fold: Fold, bound: &[Axis], body: Id, axes: &BTreeSet<Axis>, done: &BTreeSet<Id>) -> TokenStream {
        let k = self.k;
        let kind = k.kind(body);
        let (mut axes, mut done) = (axes.clone(), done.clone());
        let mut levels = vec![];
        for axis in bound {
            let extent = k.operand(k.extent(*axis));
            axes.insert(*axis);
            // A position hides what an outer loop over the same axis made of it.
            done.retain(|id| !k.free(*id).contains(axis));
            levels.push((axis_name(*axis), extent));
        }
        let inside = self.block(&[body], &axes, &mut done);
        let value = k.operand(body);
        let (start, step, result) = match steps(fold, kind) {
            Some(steps) => {
                let (start, step) = (steps.start, (steps.step)(quote!(s), value));
                (quote!(let mut s = #start;), quote!(s = #step;), quote!(s))
            }
            None => {
                let better = first_hit(fold, kind);
                (
                    quote!(let mut best = None; let mut count = 0i64;),
                    quote!(if best.is_none_or(|(b, _)| #better(#value, b)) { best = Some((#value, count)); } count += 1;),
                    quote!(best.map_or(0i64, |(_, at)| at)),
                )
            }
        };
        let mut nest = quote!(#inside #step);
        for (name, extent) in levels.into_iter().rev() {
            nest = quote!(for #name in 0..#extent { #nest });
        }
        quote!({ #start #nest #result })
    }

    /// The reduction of all positions up to, or from, this one: each position folds anew.
    fn scan(
        &self,
        fold: Fold,
        axis: Axis,
        (reverse, exclusive): (bool, bool),
        body: Id,
        axes: &BTreeSet<Axis>,
        done: &BTreeSet<Id>,
    ) -> TokenStream {
        let k = self.k;
        let Some(steps) = steps(fold, k.kind(body)) else { return quote!(0) };
        let mut done: BTreeSet<Id> = done.iter().copied().filter(|id| !k.free(*id).contains(&axis)).collect();
        let inside = self.block(&[body], axes, &mut done);
        let (name, extent, value) = (axis_name(axis), k.operand(k.extent(axis)), k.operand(body));
        let range = match (reverse, exclusive) {
            (false, false) => quote!(0..#name + 1),
            (false, true) => quote!(0..#name),
            (true, false) => quote!(#name..#extent),
            (true, true) => quote!(#name + 1..#extent),
        };
        let (start, step) = (steps.start, (steps.step)(quote!(s), value));
        quote!({ let mut s = #start; for #name in #range { #inside s = #step; } s })
    }

    fn load(&self, id: Id) -> TokenStream {
        let Node::Load { arg, at, guard } = self.k.node(id) else { return quote!(0) };
        let Some(&operand) = self.at.get(&arg.0) else {
            let name = scalar(Scalar::Arg(arg.0));
            return quote!(#name);
        };
        let (k, name) = (self.k, operand_name(operand));
        let def = &k.k.args[arg.at()];
        let at = k.links(at);
        let place = self.place(&at, &def.dims);
        let missing = missing(k, id);
        if guard {
            let inside = at.iter().zip(def.dims.iter()).map(|(at, dim)| {
                let (at, dim) = (k.operand(*at), k.operand(*dim));
                quote!(0 <= #at && #at < #dim)
            });
            return quote!(if #(#inside)&&* { #name[(#place) as usize] } else { #missing });
        }
        // The runtime has verified positions; what the macro proved lies inside.
        quote!(#name.get((#place) as usize).copied().unwrap_or(#missing))
    }

    /// The row-major place of an element.
    fn place(&self, at: &[Id], dims: &[Id]) -> TokenStream {
        let mut place: Option<TokenStream> = None;
        for (at, dim) in at.iter().zip(dims) {
            let (at, dim) = (self.k.operand(*at), self.k.operand(*dim));
            place = Some(match place {
                None => at,
                Some(place) => quote!((#place) * #dim + #at),
            });
        }
        place.unwrap_or_else(|| quote!(0))
    }
}

/// The value of a load outside of its tensor.
pub(super) fn missing(k: &Kernels<'_>, load: Id) -> TokenStream {
    let guard = matches!(k.node(load), Node::Load { guard: true, .. });
    match k.kind(load) {
        Kind::Float if guard => quote!(0.0),
        Kind::Float => quote!(Real::NAN),
        Kind::Int => quote!(0i64),
        Kind::Bool => quote!(false),
    }
}

fn extents(k: &Kernels<'_>, store: &Store) -> Vec<Id> {
    store.over.iter().map(|axis| k.extent(*axis)).collect()
}

fn axis_name(axis: Axis) -> Ident {
    Ident::new(&format!("x{}", axis.0), Span::call_site())
}
