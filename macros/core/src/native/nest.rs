//! Tile kernels by nested loops over whole tensors: products, stencils, gathers, scatters.

use super::code::{Kernels, Numbers, Scope, local, missing, scalar, steps};
use super::plan::plain_store;
use super::rows::{first_hit, operand_name, running};
use super::{Access, Domain, Launch, Operand, Scalar};
use cotangent_ir::{Axis, Fold, Id, Kind, Mode, Node, OutDef, Store};
use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;
use std::collections::{BTreeMap, BTreeSet};

/// The launch of one output.
///
/// An output whose elements are each written once, in order, is cut into rows that threads share. Of any other, threads
/// share ranges of the first axis; each takes what belongs to its range in the order of the loops, so that colliding sums
/// are the same in every run.
pub(super) fn launch(k: &Kernels<'_>, out: usize, numbers: &Numbers) -> Launch {
    let def = &k.k.outs[out];
    let in_order = plain_store(k, def).filter(|store| !store.over.is_empty());
    let mut nest = Nest { k, operands: vec![], at: BTreeMap::new(), scalars: BTreeMap::new() };
    let mut roots: Vec<Id> = def.dims.to_vec();
    for store in def.stores.iter() {
        roots.push(store.node);
        roots.extend(store.at.iter());
        roots.extend(store.over.iter().map(|axis| k.extent(*axis)));
    }
    nest.collect(&roots, numbers);
    let kind = def.kind;
    let (axes, body) = match in_order {
        Some(store) => {
            let view = (0..store.over.len()).map(|d| Some(d as u8)).collect();
            nest.operands.push(Operand {
                slot: k.slots.outs[out],
                written: true,
                access: Access::Each,
                kind,
                view: Some(view),
                from: None,
            });
            (store.over.to_vec(), nest.row(store))
        }
        None => {
            nest.operands.push(Operand {
                slot: k.slots.outs[out],
                written: true,
                access: if def.dims.is_empty() { Access::Whole } else { Access::Part },
                kind,
                view: None,
                from: None,
            });
            (vec![], nest.whole(def))
        }
    };
    let Nest { operands, scalars, .. } = nest;
    Launch { domain: Domain::Rows, axes, operands, scalars: scalars.into_iter().collect(), body }
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
    fn collect(&mut self, roots: &[Id], numbers: &Numbers) {
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
                            let slot = k.slots.args[arg.at()];
                            let access = Access::Whole;
                            self.operands.push(Operand { slot, written: false, access, kind, view: None, from: None });
                        }
                    }
                },
                Node::Fold(_, run, _) => open.extend(k.bound(run).into_iter().map(|axis| k.extent(axis))),
                _ => {}
            }
        }
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
        let (name, out) = (axis_name(last), operand_name(self.operands.len() - 1));
        let scan = match k.node(store.node) {
            Node::Scan { fold, reverse, exclusive, body, .. } => Some((fold, (reverse, exclusive), body)),
            _ => None,
        };
        let root = scan.map_or(store.node, |(_, _, body)| body);
        code.extend(self.block(&[root], &axes, &mut done));
        axes.insert(last);
        let inside = self.block(&[root], &axes, &mut done.clone());
        let (value, inside) = (k.operand(root), quote!(let #name = i as i64; #inside));
        code.extend(match scan {
            Some((fold, way, body)) => running(fold, k.kind(body), way, &inside, value, &quote!(#out[i])),
            None => quote!(for i in 0..n { #inside #out[i] = #value; }),
        });
        code
    }

    /// The body that writes a range of the first axis of an output, zero at first.
    fn whole(&self, def: &OutDef) -> TokenStream {
        let k = self.k;
        let mut code = TokenStream::new();
        for store in def.stores.iter() {
            let mut done = BTreeSet::new();
            let mut roots = extents(k, store);
            roots.extend(def.dims.iter().chain(store.at.iter()));
            roots.push(store.node);
            let lets = self.block(&roots, &BTreeSet::new(), &mut done);
            // The elements of one position of the first axis.
            let rest = def.dims.iter().skip(1).map(|dim| k.operand(*dim)).reduce(|a, b| quote!(#a * #b));
            let rest = rest.unwrap_or_else(|| quote!(1i64));
            let out = operand_name(self.operands.len() - 1);
            let nest = self.loops(def, store, 0, &BTreeSet::new(), &done);
            code.extend(quote!({
                #lets
                let from = tile.2 as i64;
                let to = from + #out.len() as i64 / i64::max(#rest, 1);
                let base = from * #rest;
                #nest
            }));
        }
        code
    }

    /// The loops of a store from the axis `level` on: each holds what varies along it and along no later one.
    fn loops(
        &self,
        def: &OutDef,
        store: &Store,
        level: usize,
        axes: &BTreeSet<Axis>,
        done: &BTreeSet<Id>,
    ) -> TokenStream {
        let (k, out) = (self.k, operand_name(self.operands.len() - 1));
        let Some(&axis) = store.over.get(level) else {
            let (place, value) = (self.place(&store.at, &def.dims), k.operand(store.node));
            let write = match (def.mode, def.kind) {
                (Mode::Add, Kind::Float) => quote!(*at += #value),
                (Mode::Add, _) => quote!(*at = i64::wrapping_add(*at, #value)),
                (Mode::Set | Mode::SetSparse, _) => quote!(*at = #value),
            };
            // The runtime has verified positions; what the macro proved lies inside. Others are another part's.
            return quote!(if let Some(at) = #out.get_mut((#place - base) as usize) { #write; });
        };
        let (mut axes, mut done) = (axes.clone(), done.clone());
        axes.insert(axis);
        // What belongs to another part is left out as soon as its position along the first axis is known.
        let first = store.at.first().copied();
        let known = |axes: &BTreeSet<Axis>| first.is_some_and(|at| k.free(at).iter().all(|axis| axes.contains(axis)));
        let own = first.is_some_and(|at| k.bare(at) == Some(axis));
        let earlier = store.over[..level].iter().copied().collect();
        let check = first.filter(|_| !own && known(&axes) && !known(&earlier)).map(|at| {
            let (lets, at) = (self.block(&[at], &axes, &mut done), k.operand(at));
            quote!(#lets if !(from..to).contains(&#at) { continue; })
        });
        let roots: Vec<Id> = store.at.iter().copied().chain([store.node]).collect();
        let inside = self.block(&roots, &axes, &mut done);
        let nest = self.loops(def, store, level + 1, &axes, &done);
        let (name, extent) = (axis_name(axis), k.operand(k.extent(axis)));
        let range = if own { quote!(from..i64::min(to, #extent)) } else { quote!(0..#extent) };
        quote!(for #name in #range { #check #inside #nest })
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
            if let Node::Fold(_, run, _) = k.node(id) {
                open.extend(k.bound(run).into_iter().map(|axis| k.extent(axis)));
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
                let (step, start) = (k.step(fold, &steps, body), steps.start);
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

fn extents(k: &Kernels<'_>, store: &Store) -> Vec<Id> {
    store.over.iter().map(|axis| k.extent(*axis)).collect()
}

fn axis_name(axis: Axis) -> Ident {
    Ident::new(&format!("x{}", axis.0), Span::call_site())
}
