//! A program: the kernel as data, and a tile kernel for each of its launches.

use super::code::{Kernels, Numbers, scalar};
use super::cut::schedule;
use super::rows::operand_name;
use super::{
    Access, Callees, Domain, Factor, Launch, Operand, Product, Scalar, Slot, Step, Temp, Unsupported, data, rows,
};
use cotangent_ir::{Axis, Dim, Kernel, Kind, Node};
use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::quote;
use std::collections::BTreeMap;

/// What a program is made of beside its kernel.
pub(crate) struct Parts<'a> {
    /// Arguments that are numbers and not tensors.
    pub(crate) numbers: &'a Numbers,
    /// Dims that stand for any number of axes.
    pub(crate) groups: &'a [Dim],
    /// Dims that must not be 0.
    pub(crate) nonempty: &'a [Dim],
    /// The kernels that it calls.
    pub(crate) callees: Callees<'a>,
}

/// `mod name { static PROGRAM: Program = ..; }`.
///
/// # Errors
/// The first construct that has no native form.
pub(crate) fn program(k: &Kernel, name: &str, parts: &Parts<'_>) -> Result<TokenStream, Unsupported> {
    let kernels = Kernels::new(k, parts.callees);
    let schedule = schedule(k, parts)?;
    let (mut tiles, mut steps) = (vec![], vec![]);
    for (at, step) in schedule.steps.iter().enumerate() {
        steps.push(match step {
            Step::Launch(launch) => {
                let tile = Ident::new(&format!("TILE{at}"), Span::call_site());
                tiles.push(tile_kernel(&tile, &k.name, launch));
                let launch = described(&tile, launch);
                quote!(Step::Launch(#launch))
            }
            Step::Product(of) => product(of),
        });
    }
    let temps = schedule.temps.iter().map(|Temp { kind, axes }| {
        let (kind, axes) = (data::kind(*kind), axes.iter().map(axis));
        quote!(Temp { kind: #kind, axes: &[#(#axes),*] })
    });
    let (data, module) = (data::kernel(k, &parts.callees), Ident::new(name, Span::call_site()));
    let groups = parts.groups.iter().map(|dim| Literal::u32_unsuffixed(dim.0));
    let nonempty = parts.nonempty.iter().map(|dim| Literal::u32_unsuffixed(dim.0));
    let (positions, imports) = (positions(&kernels), parts.callees.imports());
    Ok(quote! {
        mod #module {
            use ::cotangent::__private::kernel::ir;
            #[allow(unused_imports)]
            use ::cotangent::__private::kernel::{
                Factor, Launch, Operand, Positions, Product, Program, Slot, Step, Temp, Value,
            };
            #[allow(unused_imports)]
            use ::cotangent::__private::native::{call, math, row, scalar};
            #imports
            #(#tiles)*
            static KERNEL: ir::Kernel = #data;
            pub(super) static PROGRAM: Program = Program {
                ir: &KERNEL,
                groups: &[#(#groups),*],
                nonempty: &[#(#nonempty),*],
                positions: &[#(#positions),*],
                temps: &[#(#temps),*],
                steps: &[#(#steps),*],
            };
        }
    })
}

/// The tile kernel of a kernel of scalars: a `static` of that name, with one input an argument.
pub(crate) fn pointwise(k: &Kernel, name: &str, callees: Callees<'_>) -> TokenStream {
    let order: Vec<u32> = (0..k.args.len() as u32).collect();
    pointwise_of(k, name, &order, &Numbers::new(), callees)
}

/// As [`pointwise`], with the arguments in another order, and some of them taken by value.
pub(crate) fn pointwise_of(
    k: &Kernel,
    name: &str,
    order: &[u32],
    numbers: &Numbers,
    callees: Callees<'_>,
) -> TokenStream {
    let kernels = Kernels::new(k, callees);
    let launch = rows::scalars(&kernels, &super::plan::scalars(&kernels), order, numbers);
    let tile = Ident::new(name, Span::call_site());
    tile_kernel(&tile, &k.name, &launch)
}

fn tile_kernel(tile: &Ident, name: &str, launch: &Launch) -> TokenStream {
    let domain = match launch.domain {
        Domain::Pointwise => quote!(Pointwise),
        Domain::Rows => quote!(Rows),
    };
    let operand = |(at, operand): (usize, &Operand)| {
        let name = operand_name(at);
        let access = match operand.access {
            Access::Each => quote!(Each),
            Access::PerRow => quote!(PerRow),
            Access::PerColumn => quote!(PerColumn),
            Access::Total => quote!(Total),
            Access::Whole => quote!(Whole),
            Access::Part => quote!(Part),
        };
        let dtype = match operand.kind {
            Kind::Float => quote!(F32),
            Kind::Int => quote!(I64),
            Kind::Bool => quote!(Bool),
        };
        let changed = operand.from.is_some().then(|| quote!(@mut));
        (!operand.written, quote!(#changed #name: #access #dtype))
    };
    let all: Vec<(bool, TokenStream)> = launch.operands.iter().enumerate().map(operand).collect();
    let ins = all.iter().filter(|(input, _)| *input).map(|(_, code)| code);
    let outs = all.iter().filter(|(input, _)| !input).map(|(_, code)| code);
    let names = launch.scalars.iter().map(|(of, _)| scalar(*of));
    let given = (!launch.scalars.is_empty()).then(|| quote!(; #(#names),*));
    let read = launch.scalars.iter().map(|(of, kind)| {
        let name = scalar(*of);
        match kind {
            Kind::Float => quote!(let #name = Real::from(#name);),
            Kind::Int => quote!(let #name = #name.i64();),
            Kind::Bool => quote!(let #name = #name.i64() != 0;),
        }
    });
    let body = &launch.body;
    quote! {
        ::cotangent::__private::kernel! {
            static #tile = #domain #name (#(#ins),* #given) -> (#(#outs),*) |tile| {
                #[allow(unused_variables)]
                let n = tile.1;
                #(#read)*
                #body
            }
        }
    }
}

pub(super) fn described(tile: &Ident, launch: &Launch) -> TokenStream {
    let axes = launch.axes.iter().map(axis);
    let operands = launch.operands.iter().map(|operand| {
        let slot = slot(operand.slot);
        let view = match &operand.view {
            None => quote!(None),
            Some(view) => {
                let axes = view.iter().map(|axis| match axis {
                    None => quote!(None),
                    Some(axis) => {
                        let axis = Literal::u8_unsuffixed(*axis);
                        quote!(Some(#axis))
                    }
                });
                quote!(Some(&[#(#axes),*]))
            }
        };
        let from = match operand.from {
            None => quote!(None),
            Some(arg) => {
                let arg = Literal::u32_unsuffixed(arg);
                quote!(Some(#arg))
            }
        };
        quote!(Operand { slot: #slot, view: #view, from: #from })
    });
    let scalars = launch.scalars.iter().map(|(of, _)| match of {
        Scalar::Arg(at) => {
            let at = Literal::u32_unsuffixed(*at);
            quote!(Value::Arg(#at))
        }
        Scalar::Size(dim) => {
            let dim = Literal::u32_unsuffixed(*dim);
            quote!(Value::Size(#dim))
        }
    });
    quote!(Launch { kernel: &#tile, axes: &[#(#axes),*], operands: &[#(#operands),*], scalars: &[#(#scalars),*] })
}

fn product(Product { factors: [a, b], out }: &Product) -> TokenStream {
    let factor = |Factor { slot: of, axes }: &Factor| {
        let (slot, axes) = (slot(*of), axes.iter().map(axis));
        quote!(Factor { slot: #slot, axes: &[#(#axes),*] })
    };
    let (a, b, out) = (factor(a), factor(b), factor(out));
    quote!(Step::Product(Product { factors: [#a, #b], out: #out }))
}

fn slot(slot: Slot) -> TokenStream {
    let (variant, at) = match slot {
        Slot::In(at) => (quote!(In), at),
        Slot::Out(at) => (quote!(Out), at),
        Slot::Temp(at) => (quote!(Temp), at),
    };
    let at = Literal::u32_unsuffixed(at);
    quote!(Slot::#variant(#at))
}

fn axis(axis: &Axis) -> TokenStream {
    let at = Literal::u32_unsuffixed(axis.0);
    quote!(ir::Axis(#at))
}

/// The integer arguments whose elements are places in another argument or in an output.
fn positions(k: &Kernels<'_>) -> Vec<TokenStream> {
    let mut found: BTreeMap<(u32, u32), String> = BTreeMap::new();
    let mut note = |at: &[cotangent_ir::Id], dims: &[cotangent_ir::Id], of: &str| {
        for (q, (at, dim)) in at.iter().zip(dims).enumerate() {
            if let Node::Load { arg, .. } = k.node(*at) {
                found.entry((arg.0, dim.0)).or_insert_with(|| format!("axis {q} of `{of}`"));
            }
        }
    };
    for node in k.k.nodes.iter() {
        if let Node::Load { arg, at, guard: false } = *node {
            let def = &k.k.args[arg.at()];
            note(&k.links(at), &def.dims, &def.name);
        }
    }
    for out in k.k.outs.iter() {
        out.stores.iter().for_each(|store| note(&store.at, &out.dims, &out.name));
    }
    let entry = |((arg, extent), of): ((u32, u32), String)| {
        let (arg, extent) = (Literal::u32_unsuffixed(arg), Literal::u32_unsuffixed(extent));
        quote!(Positions { arg: #arg, extent: ir::Id(#extent), of: #of })
    };
    found.into_iter().map(entry).collect()
}
