//! Kernels of scalars as functions, and the calls of them.
//!
//! A callee is known by its path, which means something beside the caller and nothing inside of the caller's module. So
//! the module declares a type for each callee, and beside the module an impl says which kernel that type stands for.

use super::code::{Kernels, Scope, scalar};
use super::item::{Item, module};
use super::{Scalar, data};
use cotangent_ir::{Arg, Id, Kernel, Kind, Node, Partials, VjpError, slopes};
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
    pub(super) const NONE: Callees<'static> = Callees { list: &[], partials: |_, _| None };

    /// The callee that a kernel stands for, and the argument by which it is differentiated.
    fn find(&self, kernel: &'static Kernel) -> (usize, Option<usize>) {
        let found = self.list.iter().enumerate().find_map(|(at, &callee)| {
            if std::ptr::eq(callee, kernel) {
                return Some((at, None));
            }
            let is = |by: &usize| (self.partials)(callee, *by).is_some_and(|k| std::ptr::eq(k, kernel));
            (0..callee.args.len()).find(is).map(|by| (at, Some(by)))
        });
        // A derivative calls nothing else.
        found.unwrap_or((0, None))
    }

    /// A call.
    pub(super) fn call(&self, kernel: &'static Kernel, args: &[TokenStream]) -> TokenStream {
        let (at, by) = self.find(kernel);
        let (name, count) = (alias(at), Literal::usize_unsuffixed(args.len()));
        let function = match by {
            None => quote!(value::<FMA>),
            Some(by) => {
                let by = Literal::usize_unsuffixed(by);
                quote!(slope::<#by, FMA>)
            }
        };
        quote!(<<#name as call::Callable<#count>>::Body as call::Function<Real, #count>>::#function([#(#args),*]))
    }

    /// The callee as data: a reference to its static.
    pub(super) fn data(&self, kernel: &'static Kernel) -> TokenStream {
        let (at, by) = self.find(kernel);
        let (name, count) = (alias(at), Literal::usize_unsuffixed(kernel.args.len()));
        match by {
            None => quote!(<#name as call::Callable<#count>>::IR),
            Some(by) => {
                let by = Literal::usize_unsuffixed(by);
                quote!(<#name as call::Callable<#count>>::SLOPES[#by])
            }
        }
    }

    /// The types that stand for the callees in the kernel's module.
    pub(super) fn declarations(&self) -> TokenStream {
        let types = self.list.iter().enumerate().map(|(at, callee)| {
            let (stand, alias, count) = (stand(at), alias(at), Literal::usize_unsuffixed(callee.args.len()));
            quote! {
                pub(super) enum #stand {}
                type #alias = <#stand as ::cotangent::__private::native::call::Callee<#count>>::Kernel;
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

fn stand(at: usize) -> Ident {
    Ident::new(&format!("C{at}"), Span::call_site())
}

fn alias(at: usize) -> Ident {
    Ident::new(&format!("F{at}"), Span::call_site())
}

/// Which kernels the types of [`Callees::declarations`] stand for, beside the module.
pub(super) fn paths(item: &Item<'_>) -> TokenStream {
    let (cfgs, module) = (&item.cfgs, module(item.name));
    let impls = item.kernel.callees.iter().zip(item.callees).enumerate().map(|(at, (callee, path))| {
        let (stand, count) = (stand(at), Literal::usize_unsuffixed(callee.args.len()));
        quote! {
            #cfgs
            impl ::cotangent::__private::native::call::Callee<#count> for #module::#stand {
                type Kernel = #path;
            }
        }
    });
    quote!(#(#impls)*)
}

/// What lets other kernels call a kernel of scalars: the code in its module, and the impl beside it. Nothing for a
/// kernel of anything but floats to one.
///
/// # Errors
/// Everything in it that has no derivative.
pub(super) fn callable(item: &Item<'_>) -> Result<Option<(TokenStream, TokenStream)>, Vec<VjpError>> {
    let kernel = item.kernel;
    let floats = kernel.args.iter().all(|a| a.kind == Kind::Float) && !kernel.args.is_empty();
    if !floats || !matches!(&kernel.outs[..], [out] if out.kind == Kind::Float) {
        return Ok(None);
    }
    let callees = item.callees();
    let wrt: Vec<Arg> = (0..kernel.args.len() as u32).map(Arg).collect();
    let slopes = slopes(kernel, &wrt, item.partials)?;
    let args = (0..kernel.args.len()).map(argument);
    let value = value(&Kernels::new(kernel, callees));
    let bodies = slopes.iter().enumerate().map(|(by, slope)| {
        let (by, body) = (Literal::usize_unsuffixed(by), self::value(&Kernels::new(slope, callees)));
        quote!(#by { #body })
    });
    let count = Literal::usize_unsuffixed(wrt.len());
    let datas = slopes.iter().map(|slope| data::kernel(slope, &callees));
    let places = (0..slopes.len()).map(Literal::usize_unsuffixed);
    let Item { cfgs, name, .. } = item;
    let module = module(name);
    let code = quote! {
        ::cotangent::__private::function! { Body [#(#args)*] { #value } #(#bodies)* }
        pub(super) static SLOPES: [ir::Kernel; #count] = [#(#datas),*];
    };
    let callable = quote! {
        #cfgs
        impl ::cotangent::__private::native::call::Callable<#count> for #name {
            type Body = #module::Body;
            const IR: &'static ::cotangent::__private::kernel::ir::Kernel = &#module::KERNEL;
            const SLOPES: [&'static ::cotangent::__private::kernel::ir::Kernel; #count] =
                [#(&#module::SLOPES[#places]),*];
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
    let body = value(&Kernels::new(kernel, item.callees()));
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

fn plain_type(kind: Kind) -> TokenStream {
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

/// The outputs of a kernel of scalars, from its arguments.
fn value(k: &Kernels<'_>) -> TokenStream {
    let roots: Vec<Id> = k.k.outs.iter().filter_map(|out| out.stores.first().map(|store| store.node)).collect();
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
