//! Derivatives that the user wrote: a function of tensors for a companion, a pointwise kernel for another one.

use super::function::plain_type;
use super::item::{Item, args, ct_parts, ct_types, module, source};
use crate::hygiene;
use crate::kernel::ByHand;
use cotangent_ir::{Kind, Source};
use proc_macro2::{Ident, Literal, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::spanned::Spanned;

/// The body of the companion: it keeps what the derivative takes, where a cotangent is wanted at all.
pub(super) fn body(item: &Item<'_>, by_hand: &ByHand, want: &Ident) -> TokenStream {
    let (module, said, args) = (module(item.name), item.name.to_string(), args(item));
    let [function, kept] = ["f", "kept"].map(|prefix| hygiene::local(prefix, 0));
    let ys = places("y", item.outs.len());
    let (mut names, mut given, mut before, mut after) = (vec![], vec![], vec![], vec![]);
    for (name, source) in places("k", by_hand.takes.len()).into_iter().zip(&by_hand.takes) {
        match *source {
            Source::Arg(arg) => {
                let value = item.params.get(arg.at()).map(|p| &p.name);
                before.push(quote!(let #name = #kept.keep(&#value);));
            }
            Source::Out(out) => {
                let value = ys.get(out as usize);
                after.push(quote!(let #name = #kept.keep(&#value);));
            }
            Source::Cotangent(out) | Source::Staged(out) => {
                let (value, out) = (ys.get(out as usize), Literal::usize_unsuffixed(out as usize));
                after.push(quote!(#kept.like(#out, &#value);));
                given.push(quote!(#kept.cotangent(#out)));
                continue;
            }
        }
        given.push(name.to_token_stream());
        names.push(name);
    }
    let checked = {
        let (ty, path) = (function_type(item, by_hand), &by_hand.path);
        quote_spanned!(path.span()=> const #function: #ty = #path;)
    };
    let wrt = by_hand.wrt.iter().filter_map(|arg| {
        let (name, at) = (&item.params.get(arg.at())?.name, Literal::u32_unsuffixed(arg.0));
        let said = name.to_string();
        Some(quote!((#at, #said, &#name)))
    });
    let results = places("r", by_hand.wrt.len());
    let pattern = if let [only] = &results[..] { quote!(#only) } else { quote!((#(#results),*)) };
    let outs = item.outs.iter().zip(&ys).map(|(out, y)| {
        let ty = &out.ty;
        quote!(let #y: #ty = outs.next();)
    });
    let out = if item.tuple { quote!((#(#ys),*)) } else { quote!(#(#ys)*) };
    let (ct_types, cts) = (ct_types(item), ct_parts(item));
    let count = Literal::usize_unsuffixed(item.params.len());
    let nexts = item.params.iter().map(|_| quote!(cts.next()));
    quote! {
        #checked
        let mut #kept = ::cotangent::__private::kernel::ByHand::new(#said, #want, &[#(#wrt),*]);
        #(#before)*
        let mut outs = ::cotangent::__private::kernel::call(&#module::DEF, &[#(#args),*]);
        #(#outs)*
        #(#after)*
        let pull = ::cotangent::__private::pull(move |ct: #ct_types, (): &mut ()| {
            let mut cts = match (#kept.begin([#(#cts),*]), #(#names),*) {
                (Some(#kept), #(Some(#names)),*) => {
                    let #pattern = #function(#(#given),*);
                    #kept.finish([#(#results),*], #count)
                }
                _ => ::cotangent::__private::kernel::ByHand::nothing(#count),
            };
            (#(#nexts,)*)
        });
        (#out, pull)
    }
}

/// The gradient of a kernel of scalars that is another one: the code in the module with the expression that describes
/// it, and what stands beside the module. The types of that kernel are checked at the path, unless it stands among the
/// callees, where they are.
pub(super) fn of_scalars(item: &Item<'_>) -> Option<((TokenStream, TokenStream), TokenStream)> {
    let by_hand = item.by_hand?;
    let (cfgs, module, path) = (&item.cfgs, module(item.name), &by_hand.path);
    let takes = by_hand.takes.iter().map(|source| match *source {
        Source::Arg(arg) => item.kernel.args.get(arg.at()).map_or(Kind::Float, |arg| arg.kind),
        Source::Out(out) => item.kernel.outs.get(out as usize).map_or(Kind::Float, |out| out.kind),
        Source::Cotangent(_) | Source::Staged(_) => Kind::Float,
    });
    let takes = takes.map(plain_type);
    let gives = by_hand.wrt.iter().map(|_| quote!(f32));
    let gives = if by_hand.wrt.len() == 1 { quote!(f32) } else { quote!((#(#gives),*)) };
    let sources = by_hand.takes.iter().map(source);
    let wrt = by_hand.wrt.iter().map(|arg| Literal::u32_unsuffixed(arg.0));
    let code = quote! {
        pub(super) trait ByHand {
            const KERNEL: &'static ::cotangent::__private::kernel::Elementwise;
        }
        pub(super) enum Hand {}
    };
    let described = quote! {
        Some(&::cotangent::__private::kernel::Backward {
            kernel: <Hand as ByHand>::KERNEL.forward,
            sources: &[#(#sources),*],
            wrt: &[#(#wrt),*],
        })
    };
    let plain = match by_hand.callee {
        Some(_) => quote!(_),
        None => quote!(fn(#(#takes),*) -> #gives),
    };
    let kernel = quote_spanned! {path.span()=>
        ::cotangent::__private::kernel::gradient_of_scalars::<#path, #plain>()
    };
    let beside = quote! {
        #cfgs
        impl #module::ByHand for #module::Hand {
            const KERNEL: &'static ::cotangent::__private::kernel::Elementwise = #kernel;
        }
    };
    Some(((code, described), beside))
}

fn places(prefix: &str, count: usize) -> Vec<Ident> {
    (0..count as u32).map(|at| hygiene::local(prefix, at)).collect()
}

/// The type that the derivative must have.
fn function_type(item: &Item<'_>, by_hand: &ByHand) -> TokenStream {
    let tensor = quote!(::cotangent::__private::Tensor);
    let takes = by_hand.takes.iter().map(|source| match *source {
        Source::Arg(arg) => item.params.get(arg.at()).map(|p| p.ty.clone()),
        Source::Out(out) => item.outs.get(out as usize).map(|out| out.ty.clone()),
        Source::Cotangent(_) | Source::Staged(_) => Some(tensor.clone()),
    });
    let gives = by_hand.wrt.iter().map(|_| &tensor);
    let gives = if by_hand.wrt.len() == 1 { tensor.clone() } else { quote!((#(#gives),*)) };
    quote!(fn(#(#takes),*) -> #gives)
}
