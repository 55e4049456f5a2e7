//! Kernels of scalars as functions, and the calls of them.
//!
//! A callee is known by its path, which means something beside the caller and nothing inside of the caller's module. So
//! the module declares a type for each callee, and beside the module an impl says which kernel that type stands for.

use super::code::{Kernels, Scope, scalar};
use super::item::{Item, module};
use super::{Scalar, data};
use cotangent_ir::{Arg, Id, Kernel, Kind, Node, Partials, VjpError, slopes_by_hand};
use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::quote;

/// The kernels that a kernel calls, for it and what is derived of it.
#[derive(Clone, Copy)]
pub(crate) struct Callees<'a> {
    /// Its own callees.
    pub(super) list: &'a [&'static Kernel],
    /// What a derivative calls in their place.
    pub(super) partials: Partials,
}

impl Callees<'_> {
    /// Those of a kernel that calls nothing.
    pub(super) const NONE: Callees<'static> = Callees { list: &[], partials: |_, _, _| None };

    /// The callee that a kernel stands for, and the result and the argument of a partial derivative.
    fn find(&self, kernel: &'static Kernel) -> (usize, Option<(usize, usize)>) {
        let found = self.list.iter().enumerate().find_map(|(at, &callee)| {
            if std::ptr::eq(callee, kernel) {
                return Some((at, None));
            }
            let is = |(of, by)| (self.partials)(callee, of, by).is_some_and(|k| std::ptr::eq(k, kernel));
            let mut all = (0..callee.outs.len()).flat_map(|of| (0..callee.args.len()).map(move |by| (of, by)));
            all.find(|slope| is(*slope)).map(|slope| (at, Some(slope)))
        });
        // A derivative calls nothing else.
        found.unwrap_or((0, None))
    }

    /// A call, for result `out` of the kernel.
    pub(super) fn call(&self, kernel: &'static Kernel, out: u32, args: &[TokenStream]) -> TokenStream {
        let (at, slope) = self.find(kernel);
        let (name, callable) = (alias(at), self.callable(at));
        let count = Literal::usize_unsuffixed(args.len());
        let function = match slope {
            None => {
                let out = Literal::u32_unsuffixed(out);
                quote!(value::<#out, FMA>)
            }
            Some((of, by)) => {
                let (of, by) = (Literal::usize_unsuffixed(of), Literal::usize_unsuffixed(by));
                quote!(slope::<#of, #by, FMA>)
            }
        };
        quote!(<<#name as #callable>::Body as call::Function<Real, #count>>::#function([#(#args),*]))
    }

    /// The trait of a callee.
    fn callable(&self, at: usize) -> TokenStream {
        let arity = self.list.get(at).map(|kernel| arity(kernel));
        quote!(call::Callable<#arity>)
    }

    /// The callee as data: a reference to its static.
    pub(super) fn data(&self, kernel: &'static Kernel) -> TokenStream {
        let (at, slope) = self.find(kernel);
        let (name, callable) = (alias(at), self.callable(at));
        match slope {
            None => quote!(<#name as #callable>::IR),
            Some((of, by)) => {
                let (of, by) = (Literal::usize_unsuffixed(of), Literal::usize_unsuffixed(by));
                quote!(<#name as #callable>::SLOPES[#of][#by])
            }
        }
    }

    /// The types that stand for the callees in the kernel's module.
    pub(super) fn declarations(&self) -> TokenStream {
        let types = self.list.iter().enumerate().map(|(at, callee)| {
            let (stand, alias, arity) = (stand(at), alias(at), arity(callee));
            quote! {
                pub(super) enum #stand {}
                type #alias = <#stand as ::cotangent::__private::native::call::Callee<#arity>>::Kernel;
            }
        });
        quote!(#(#types)*)
    }

    /// Their names in a module inside of that.
    pub(super) fn imports(&self) -> TokenStream {
        let names = (0..self.list.len()).map(alias);
        quote!(#(use super::#names;)*)
    }
}

/// How many floats a kernel takes and gives, as arguments of the traits.
fn arity(kernel: &Kernel) -> TokenStream {
    let (takes, gives) = (Literal::usize_unsuffixed(kernel.args.len()), Literal::usize_unsuffixed(kernel.outs.len()));
    quote!(#takes, #gives)
}

fn stand(at: usize) -> Ident {
    Ident::new(&format!("C{at}"), Span::call_site())
}

fn alias(at: usize) -> Ident {
    Ident::new(&format!("F{at}"), Span::call_site())
}

/// Which kernels the types of [`Callees::declarations`] stand for, beside the module.
///
/// Where a path is like a function of the language, that name is in scope: if there is no such kernel, rustc offers it.
pub(super) fn paths(item: &Item<'_>) -> TokenStream {
    let (cfgs, module) = (&item.cfgs, module(item.name));
    let impls = item.list.iter().zip(item.paths).enumerate().map(|(at, (callee, path))| {
        let (stand, arity) = (stand(at), arity(callee));
        let stands = quote! {
            #cfgs
            #[allow(unused_qualifications)]
            impl ::cotangent::__private::native::call::Callee<#arity> for #module::#stand {
                type Kernel = #path;
            }
        };
        match (item.meant)(path) {
            None => stands,
            Some(function) => quote! {
                #cfgs
                const _: () = {
                    #[allow(non_camel_case_types, unused)]
                    struct #function;
                    #stands
                };
            },
        }
    });
    quote!(#(#impls)*)
}

/// What lets other kernels call a kernel of scalars: the code in its module, and the impl beside it. Nothing for a
/// kernel of anything but floats to floats.
///
/// # Errors
/// Everything in it that has no derivative.
pub(super) fn callable(item: &Item<'_>) -> Result<Option<(TokenStream, TokenStream)>, Vec<VjpError>> {
    let kernel = item.kernel;
    let floats = kernel.args.iter().map(|a| a.kind).chain(kernel.outs.iter().map(|o| o.kind));
    if kernel.args.is_empty() || floats.into_iter().any(|kind| kind != Kind::Float) {
        return Ok(None);
    }
    let by_hand = match item.by_hand.map(|by_hand| Some((by_hand, by_hand.callee?))) {
        Some(None) => return Ok(None),
        by_hand => by_hand.flatten(),
    };
    let callees = item.callees();
    let wrt: Vec<Arg> = (0..kernel.args.len() as u32).map(Arg).collect();
    let (mut results, mut slopes, mut places) = (vec![], vec![], vec![]);
    for of in 0..kernel.outs.len() {
        let derived = match by_hand {
            Some((by_hand, callee)) => slopes_by_hand(kernel, of, &wrt, callee, &by_hand.takes)?,
            None => cotangent_ir::slopes(kernel, of, &wrt, item.partials)?,
        };
        let bodies = derived.iter().enumerate().map(|(by, slope)| {
            let (by, body) = (Literal::usize_unsuffixed(by), value(&Kernels::new(slope, callees), None));
            quote!(#by { #body })
        });
        let (body, number) = (value(&Kernels::new(kernel, callees), Some(of)), Literal::usize_unsuffixed(of));
        results.push(quote!(#number { #body } [#(#bodies)*]));
        let row = (0..derived.len()).map(|by| Literal::usize_unsuffixed(slopes.len() + by));
        places.push(row.collect::<Vec<_>>());
        slopes.extend(derived.iter().map(|slope| data::kernel(slope, &callees)));
    }
    let (args, arity, count) = ((0..wrt.len()).map(argument), arity(kernel), Literal::usize_unsuffixed(slopes.len()));
    let (takes, gives) = (Literal::usize_unsuffixed(wrt.len()), Literal::usize_unsuffixed(places.len()));
    let Item { cfgs, name, .. } = item;
    let module = module(name);
    let code = quote! {
        ::cotangent::__private::function! { Body [#(#args)*] #(#results)* }
        pub(super) static SLOPES: [ir::Kernel; #count] = [#(#slopes),*];
    };
    let callable = quote! {
        #cfgs
        impl ::cotangent::__private::native::call::Callable<#arity> for #name {
            type Body = #module::Body;
            const IR: &'static ::cotangent::__private::kernel::ir::Kernel = &#module::KERNEL;
            const SLOPES: [[&'static ::cotangent::__private::kernel::ir::Kernel; #takes]; #gives] =
                [#([#(&#module::SLOPES[#places]),*]),*];
        }
    };
    Ok(Some((code, callable)))
}

/// A kernel of scalars as a plain function: the code in its module, and what makes its name callable.
pub(super) fn plain(item: &Item<'_>) -> (TokenStream, TokenStream) {
    let (kernel, Item { cfgs, name, .. }) = (item.kernel, item);
    let (args, module) = ((0..kernel.args.len()).map(argument), module(name));
    let types: Vec<TokenStream> = kernel.args.iter().map(|arg| plain_type(arg.kind)).collect();
    let outs: Vec<TokenStream> = kernel.outs.iter().map(|out| plain_type(out.kind)).collect();
    let result = if let [only] = &outs[..] { quote!(#only) } else { quote!((#(#outs),*)) };
    let body = value(&Kernels::new(kernel, item.callees()), None);
    let code = quote! {
        #[inline]
        fn plain(#(#args: #types),*) -> #result {
            type Real = f32;
            const FMA: bool = false;
            #body
        }
        pub(super) const PLAIN: fn(#(#types),*) -> #result = plain;
    };
    let deref = quote! {
        #cfgs
        impl ::core::ops::Deref for #name {
            type Target = fn(#(#types),*) -> #result;
            #[inline]
            fn deref(&self) -> &Self::Target {
                &#module::PLAIN
            }
        }
    };
    (code, deref)
}

pub(super) fn plain_type(kind: Kind) -> TokenStream {
    match kind {
        Kind::Float => quote!(f32),
        Kind::Int => quote!(i64),
        Kind::Bool => quote!(bool),
    }
}

/// The local that holds an argument.
fn argument(at: usize) -> Ident {
    scalar(Scalar::Arg(at as u32))
}

/// One output of a kernel of scalars, or all of them, from its arguments.
fn value(k: &Kernels<'_>, only: Option<usize>) -> TokenStream {
    let outs = k.k.outs.iter().enumerate().filter(|(at, _)| only.is_none_or(|only| only == *at));
    let roots: Vec<Id> = outs.filter_map(|(_, out)| out.stores.first().map(|store| store.node)).collect();
    let load = |id| match k.node(id) {
        Node::Load { arg, .. } => {
            let name = argument(arg.at());
            quote!(#name)
        }
        _ => quote!(0.0),
    };
    let scope = Scope { loads: &load, index: &|_| quote!(0) };
    let lets = k.reach(&roots, |_| false).into_iter().filter(|id| !k.inline(*id)).map(|id| {
        let (name, value) = (super::code::local(id), k.expression(id, &scope));
        quote!(let #name = #value;)
    });
    let results: Vec<TokenStream> = roots.iter().map(|id| k.operand(*id)).collect();
    let result = if let [only] = &results[..] { quote!(#only) } else { quote!((#(#results),*)) };
    quote!(#(#lets)* #result)
}
