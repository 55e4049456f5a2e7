//! Raw kernels on the CPU: one launch of a plain function over the elements of whole tensors.

use super::code::scalar;
use super::emit::{Parts, described};
use super::item::{Item, module};
use super::rows::operand_name;
use super::{Access, Domain, Launch, Operand, Scalar, Slot, data};
use cotangent_ir::Kind;
use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::Path;
use syn::spanned::Spanned;

/// The module of the program, and what goes beside the kernel's module: the user's function, whose type is checked there.
pub(super) fn program(item: &Item<'_>, path: &Path, parts: &Parts<'_>) -> (TokenStream, TokenStream) {
    let (kernel, Item { cfgs, name, .. }) = (item.kernel, item);
    let (mut operands, mut scalars) = (vec![], vec![]);
    let (mut types, mut given, mut ins, mut outs) = (vec![], vec![], vec![], vec![]);
    let whole = |slot, kind| Operand {
        slot,
        written: matches!(slot, Slot::Out(_)),
        access: Access::Whole,
        kind,
        view: None,
        from: None,
    };
    for (at, arg) in (0u32..).zip(kernel.args.iter()) {
        if parts.numbers.contains_key(&at) {
            let (scalar, param) = (scalar(Scalar::Arg(at)), item.params.get(at as usize));
            scalars.push((Scalar::Arg(at), arg.kind));
            let (ty, value) = match arg.kind {
                Kind::Float if param.is_some_and(|p| p.ty.to_string() == "f64") => (quote!(f64), quote!(#scalar.f64())),
                Kind::Float => (quote!(f32), quote!(#scalar.f32())),
                Kind::Bool => (quote!(bool), quote!(#scalar.i64() != 0)),
                Kind::Int if param.is_some_and(|p| p.ty.to_string() == "usize") => {
                    (quote!(usize), quote!(#scalar.i64() as usize))
                }
                Kind::Int => (quote!(i64), quote!(#scalar.i64())),
            };
            types.push(ty);
            given.push(value);
            continue;
        }
        let (name, ty, dtype) = (operand_name(operands.len()), element(arg.kind), dtype(arg.kind));
        operands.push(whole(Slot::In(at), arg.kind));
        types.push(quote!(&[#ty]));
        given.push(quote!(&#name[..]));
        let said = &*arg.name;
        ins.push(quote!(#name #said: #dtype));
    }
    for (at, out) in (0u32..).zip(kernel.outs.iter()) {
        let (name, ty, dtype) = (operand_name(operands.len()), element(out.kind), dtype(out.kind));
        operands.push(whole(Slot::Out(at), out.kind));
        types.push(quote!(&mut [#ty]));
        given.push(quote!(&mut #name[..]));
        let said = &*out.name;
        outs.push(quote!(#name #said: #dtype));
    }
    let dims: Vec<Scalar> = (0..(kernel.dims.len() - item.constants.len()) as u32).map(Scalar::Size).collect();
    let extents = dims.iter().map(|dim| {
        let name = scalar(*dim);
        quote!(#name.i64() as usize)
    });
    given.push(quote!([#(#extents),*]));
    scalars.extend(dims.iter().map(|dim| (*dim, Kind::Int)));
    let names = scalars.iter().map(|(of, _)| scalar(*of));
    let tile = Ident::new("TILE0", Span::call_site());
    let launch = Launch { domain: Domain::Rows, axes: vec![], operands, scalars: scalars.clone(), body: quote!() };
    let (described, data, said) = (described(&tile, &launch), data::kernel(kernel, &parts.callees), &*kernel.name);
    let groups = parts.groups.iter().map(|dim| Literal::u32_unsuffixed(dim.0));
    let count = Literal::usize_unsuffixed(dims.len());
    let ty = quote!(fn(#(#types,)* [usize; #count]));
    let program = quote! {
        pub(super) trait Cpu {
            const RUN: #ty;
        }
        pub(super) enum Raw {}
        mod forward {
            use ::cotangent::__private::kernel::ir;
            use ::cotangent::__private::kernel::{Launch, Operand, Program, Slot, Step, Value};
            ::cotangent::__private::raw_kernel! {
                static #tile = #said (#(#ins),*; #(#names),*) -> (#(#outs),*) {
                    <super::Raw as super::Cpu>::RUN(#(#given),*)
                }
            }
            static KERNEL: ir::Kernel = #data;
            pub(super) static PROGRAM: Program = Program {
                ir: &KERNEL,
                groups: &[#(#groups),*],
                nonempty: &[],
                positions: &[],
                temps: &[],
                steps: &[Step::Launch(#described)],
            };
        }
    };
    let module = module(name);
    let function = quote_spanned!(path.span()=> const RUN: #ty = #path;);
    (program, quote!(#cfgs impl #module::Cpu for #module::Raw { #function }))
}

fn element(kind: Kind) -> TokenStream {
    match kind {
        Kind::Float => quote!(f32),
        Kind::Int => quote!(i64),
        Kind::Bool => quote!(bool),
    }
}

fn dtype(kind: Kind) -> TokenStream {
    match kind {
        Kind::Float => quote!(F32),
        Kind::Int => quote!(I64),
        Kind::Bool => quote!(Bool),
    }
}
