//! A kernel as the code of a `static`.

use super::Callees;
use cotangent_ir::{Axis, Fold, Id, Kernel, Kind, Link, Mode, Node, OutDef, Run};
use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::quote;

/// An expression of type `ir::Kernel`, with `ir` in scope, and the names of the callees; spans are left out.
pub(super) fn kernel(k: &Kernel, callees: &Callees<'_>) -> TokenStream {
    let name = &*k.name;
    let dims = list(k.dims.iter().map(|dim| text(dim)));
    let axes = list(k.axes.iter().map(|axis| {
        let (name, extent) = (text(&axis.name), id(axis.extent));
        quote!(ir::AxisDef { name: #name, extent: #extent })
    }));
    let args = list(k.args.iter().map(|arg| {
        let (name, kind, dims) = (text(&arg.name), kind(arg.kind), list(arg.dims.iter().map(|d| id(*d))));
        quote!(ir::ArgDef { name: #name, kind: #kind, dims: #dims })
    }));
    let outs = list(k.outs.iter().map(out));
    let nodes = list(k.nodes.iter().map(node));
    let links = list(k.links.iter().map(|Link { k, id: to }| {
        let (bits, to) = (Literal::u64_unsuffixed(k.0), id(*to));
        quote!(ir::Link { k: ir::Num(#bits), id: #to })
    }));
    let name = text(name);
    let (none, callees) = (list(std::iter::empty()), list(k.callees.iter().map(|callee| callees.data(callee))));
    quote! {
        ir::Kernel {
            name: #name, dims: #dims, axes: #axes, args: #args, outs: #outs, nodes: #nodes, links: #links,
            spans: #none, callees: #callees,
        }
    }
}

fn out(out: &OutDef) -> TokenStream {
    let (name, kind, dims) = (text(&out.name), kind(out.kind), list(out.dims.iter().map(|d| id(*d))));
    let mode = match out.mode {
        Mode::Set => quote!(ir::Mode::Set),
        Mode::SetSparse => quote!(ir::Mode::SetSparse),
        Mode::Add => quote!(ir::Mode::Add),
    };
    let stores = list(out.stores.iter().map(|store| {
        let over = list(store.over.iter().map(|a| axis(*a)));
        let (at, node) = (list(store.at.iter().map(|i| id(*i))), id(store.node));
        quote!(ir::Store { over: #over, at: #at, node: #node })
    }));
    quote!(ir::OutDef { name: #name, kind: #kind, dims: #dims, mode: #mode, stores: #stores })
}

fn node(node: &Node) -> TokenStream {
    match *node {
        Node::Const(of, value) => {
            let (of, bits) = (kind(of), Literal::u64_unsuffixed(value.0));
            quote!(ir::Node::Const(#of, ir::Num(#bits)))
        }
        Node::Size(dim) => {
            let dim = Literal::u32_unsuffixed(dim.0);
            quote!(ir::Node::Size(ir::Dim(#dim)))
        }
        Node::Index(a) => {
            let a = axis(a);
            quote!(ir::Node::Index(#a))
        }
        Node::Load { arg, at, guard } => {
            let (arg, at) = (Literal::u32_unsuffixed(arg.0), run(at));
            quote!(ir::Node::Load { arg: ir::Arg(#arg), at: #at, guard: #guard })
        }
        Node::Sum { kind: of, c, terms } => {
            let (of, bits, terms) = (kind(of), Literal::u64_unsuffixed(c.0), run(terms));
            quote!(ir::Node::Sum { kind: #of, c: ir::Num(#bits), terms: #terms })
        }
        Node::Prod { kind: of, factors } => {
            let (of, factors) = (kind(of), run(factors));
            quote!(ir::Node::Prod { kind: #of, factors: #factors })
        }
        Node::Unary(op, a) => {
            let (op, a) = (variant(&op), id(a));
            quote!(ir::Node::Unary(ir::Unary::#op, #a))
        }
        Node::Binary(op, a, b) => {
            let (op, a, b) = (variant(&op), id(a), id(b));
            quote!(ir::Node::Binary(ir::Binary::#op, #a, #b))
        }
        Node::Select(q, a, b) => {
            let (q, a, b) = (id(q), id(a), id(b));
            quote!(ir::Node::Select(#q, #a, #b))
        }
        Node::Cast(of, a) => {
            let (of, a) = (kind(of), id(a));
            quote!(ir::Node::Cast(#of, #a))
        }
        Node::Fold(of, axes, body) => {
            let (of, axes, body) = (fold(of), run(axes), id(body));
            quote!(ir::Node::Fold(#of, #axes, #body))
        }
        Node::Scan { fold: of, axis: along, reverse, exclusive, body } => {
            let (of, along, body) = (fold(of), axis(along), id(body));
            quote!(ir::Node::Scan { fold: #of, axis: #along, reverse: #reverse, exclusive: #exclusive, body: #body })
        }
        Node::Random { key, at } => {
            let (key, at) = (id(key), id(at));
            quote!(ir::Node::Random { key: #key, at: #at })
        }
        Node::Call { callee, out, args } => {
            let (callee, out, args) = (Literal::u32_unsuffixed(callee), Literal::u32_unsuffixed(out), run(args));
            quote!(ir::Node::Call { callee: #callee, out: #out, args: #args })
        }
    }
}

/// A borrowed list.
fn list(items: impl Iterator<Item = TokenStream>) -> TokenStream {
    quote!(ir::List::Borrowed(&[#(#items),*]))
}

fn text(name: &str) -> TokenStream {
    quote!(ir::Name::Borrowed(#name))
}

fn id(of: Id) -> TokenStream {
    let at = Literal::u32_unsuffixed(of.0);
    quote!(ir::Id(#at))
}

fn axis(of: Axis) -> TokenStream {
    let at = Literal::u32_unsuffixed(of.0);
    quote!(ir::Axis(#at))
}

fn run(of: Run) -> TokenStream {
    let (at, len) = (Literal::u32_unsuffixed(of.at), Literal::u32_unsuffixed(of.len));
    quote!(ir::Run { at: #at, len: #len })
}

pub(super) fn kind(of: Kind) -> TokenStream {
    let name = variant(&of);
    quote!(ir::Kind::#name)
}

fn fold(of: Fold) -> TokenStream {
    let name = variant(&of);
    quote!(ir::Fold::#name)
}

/// The name of a variant without fields.
fn variant(of: &impl std::fmt::Debug) -> Ident {
    Ident::new(&format!("{of:?}"), Span::call_site())
}
