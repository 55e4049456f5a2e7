//! A kernel's function, its companion, and the programs behind them.

use super::by_hand;
use super::code::Numbers;
use super::emit::{Parts, pointwise, program};
use super::function::{self, Callees};
use super::raw;
use super::{Unsupported, data};
use crate::hygiene;
use crate::kernel::ByHand;
use cotangent_ir::{
    Arg, Derivative, Dim, Kernel, Kind, Node, OutDef, Partials, Save, Source, Stage, VjpError, vjp_of_calls,
};
use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{ToTokens, quote};
use syn::Path;
use syn::ext::IdentExt;

/// A kernel as the emitter needs it.
pub(crate) struct Item<'a> {
    /// The user's attributes without ours.
    pub(crate) attrs: TokenStream,
    /// The `#[cfg]`s among them.
    pub(crate) cfgs: TokenStream,
    pub(crate) vis: &'a syn::Visibility,
    pub(crate) name: &'a Ident,
    /// One an argument of the kernel.
    pub(crate) params: Vec<Param>,
    /// One an output of the kernel.
    pub(crate) outs: Vec<Out>,
    /// Whether the function returns a tuple.
    pub(crate) tuple: bool,
    pub(crate) kernel: &'a Kernel,
    /// Dims that stand for any number of axes.
    pub(crate) groups: Vec<Dim>,
    /// Dims that must not be 0.
    pub(crate) nonempty: Vec<Dim>,
    /// Dims whose values rustc evaluates.
    pub(crate) constants: &'a [(Dim, TokenStream)],
    /// Stand-ins for the kernels that it or its derivative calls.
    pub(crate) list: &'a [&'static Kernel],
    /// Where these are found, in order.
    pub(crate) paths: &'a [Path],
    /// The function of the language that such a path may be meant for.
    pub(crate) meant: fn(&Path) -> Option<Ident>,
    /// Stand-ins for the callees' partial derivatives.
    pub(crate) partials: Partials,
    /// A derivative that takes the place of the derived one.
    pub(crate) by_hand: Option<&'a ByHand>,
    /// What a raw kernel is on the CPU.
    pub(crate) raw: Option<&'a Path>,
    /// Whether its results keep the precision that is computed in.
    pub(crate) unrounded: bool,
}

impl Item<'_> {
    pub(super) fn callees(&self) -> Callees<'_> {
        Callees { list: self.list, partials: self.partials }
    }

    /// Whether it has a companion: one that changes its arguments has none, nor has a raw one without a derivative.
    pub(crate) fn differentiable(&self) -> bool {
        self.params.iter().all(|p| !p.by_mut) && (self.raw.is_none() || self.by_hand.is_some())
    }
}

/// A parameter.
pub(crate) struct Param {
    pub(crate) name: Ident,
    /// The type with `Tensor![..]` replaced.
    pub(crate) ty: TokenStream,
    pub(crate) kind: Kind,
    /// Whether it is a number and not a tensor.
    pub(crate) number: bool,
    /// Whether it is a `&mut` tensor, which an output of its name replaces.
    pub(crate) by_mut: bool,
}

/// An output.
pub(crate) struct Out {
    pub(crate) ty: TokenStream,
}

/// Why a kernel cannot be emitted.
pub(crate) enum Problem {
    NoDerivative(VjpError),
    NotNative(Unsupported),
}

impl From<Unsupported> for Problem {
    fn from(problem: Unsupported) -> Problem {
        Problem::NotNative(problem)
    }
}

/// The code of a kernel over tensors.
///
/// # Errors
/// Everything in it that has no derivative, or no native form.
pub(crate) fn tensors(item: &Item<'_>) -> Result<TokenStream, Vec<Problem>> {
    let numbers: Numbers = (0..).zip(&item.params).filter(|(_, p)| p.number).map(|(at, p)| (at, p.kind)).collect();
    let mut wrt: Vec<Arg> = wrt(item).collect();
    let parts = Parts { numbers: &numbers, groups: &item.groups, nonempty: &item.nonempty, callees: item.callees() };
    let (forward, beside) = match item.raw {
        Some(path) => raw::program(item, path, &parts),
        None => (program(item.kernel, "forward", &parts).map_err(one)?, quote!()),
    };
    if item.by_hand.is_some() {
        wrt.clear();
    }
    let (programs, gradient) = match derivative(item, &mut wrt)? {
        None => (quote!(), quote!(None)),
        Some(derivative) => gradient(item.kernel, &wrt, &derivative, &parts).map_err(one)?,
    };
    let (declared, constants, evaluated) = constants(item);
    let Item { attrs, cfgs, vis, name, .. } = item;
    let module = module(name);
    let (params, args, ty, outs) = (params(item), args(item), result_type(item), outs(item));
    let (ins, ct_types) = (cotangent_types(item), ct_types(item));
    let (cts, count) = (ct_parts(item), Literal::usize_unsuffixed(item.params.len()));
    // A parameter may bear any name, and those that are assigned are used behind these.
    let (left, result) = (results(), hygiene::local("result", 0));
    let (callees, paths) = (item.callees().declarations(), function::paths(item));
    let unrounded = item.unrounded;
    let changed = item.params.iter().filter(|p| p.by_mut).map(|Param { name, .. }| quote!(*#name = #left.next();));
    let companion = item.differentiable().then(|| {
        let nexts = item.params.iter().map(|_| quote!(cts.next()));
        let want = hygiene::local("want", 0);
        let body = match item.by_hand {
            Some(of) => by_hand::body(item, of, &want),
            None => quote! {
                let (mut #left, saved) =
                    ::cotangent::__private::kernel::vjp(&#module::DEF, ::std::vec![#(#args),*], #want);
                let pull = ::cotangent::__private::pull(move |ct: #ct_types, (): &mut ()| {
                    let mut cts = saved.pull([#(#cts),*], #count);
                    (#(#nexts,)*)
                });
                (#outs, pull)
            },
        };
        quote! {
        #cfgs
        #[doc(hidden)]
        #[allow(non_camel_case_types)]
        #vis enum #name {}
        #cfgs
        #[allow(non_snake_case, unused, clippy::all)]
        impl #name {
            #[doc(hidden)]
            #[track_caller]
            pub fn vjp(#(#params,)* #want: ::cotangent::__private::Want)
                -> (#ty, impl ::cotangent::__private::Pullback<(), Ct = #ct_types, In = (#(#ins,)*)> + use<>)
            {
                #body
            }
        }
        }
    });
    Ok(quote! {
        #attrs
        #[track_caller]
        #[allow(non_snake_case, clippy::let_and_return, clippy::too_many_arguments)]
        #vis fn #name(#(#params),*) -> #ty {
            let mut #left = ::cotangent::__private::kernel::call(&#module::DEF, &[#(#args),*]);
            let #result = #outs;
            #(#changed)*
            #result
        }
        #companion
        #beside
        #evaluated
        #paths
        #cfgs
        #[doc(hidden)]
        #[allow(non_snake_case, unused, clippy::all)]
        mod #module {
            #callees
            #forward
            #programs
            #declared
            pub(super) static DEF: ::cotangent::__private::kernel::Def = ::cotangent::__private::kernel::Def {
                forward: &forward::PROGRAM,
                gradient: #gradient,
                constants: #constants,
                unrounded: #unrounded,
            };
        }
    })
}

/// The dims that are constants: what declares them in the module, the expression for them there, and what stands beside
/// the module, where the user's expressions mean what they say.
fn constants(item: &Item<'_>) -> (TokenStream, TokenStream, TokenStream) {
    if item.constants.is_empty() {
        return (quote!(), quote!(&[]), quote!());
    }
    let (cfgs, module) = (&item.cfgs, module(item.name));
    let ty = quote!(&'static [(u32, ::core::primitive::usize)]);
    let entries = item.constants.iter().map(|(dim, tokens)| {
        let dim = Literal::u32_unsuffixed(dim.0);
        quote! {
            (#dim, {
                const __N: ::core::primitive::usize = { #tokens };
                __N
            })
        }
    });
    let declared = quote! {
        pub(super) trait Constants {
            const LIST: #ty;
        }
        pub(super) enum Constant {}
    };
    let beside = quote! {
        #cfgs
        #[allow(unused_braces)]
        impl #module::Constants for #module::Constant {
            const LIST: #ty = &[#(#entries),*];
        }
    };
    (declared, quote!(<Constant as Constants>::LIST), beside)
}

/// The code of a kernel over scalars.
///
/// # Errors
/// Everything in it that has no derivative.
pub(crate) fn scalars(item: &Item<'_>) -> Result<TokenStream, Vec<Problem>> {
    let wrt: Vec<Arg> = wrt(item).collect();
    let forward = pointwise(item.kernel, "FORWARD", item.callees());
    let floats_out = item.kernel.outs.iter().any(|o| o.kind == Kind::Float);
    let (by_hand, beside) = by_hand::of_scalars(item).unzip();
    let (backward, chain) = match by_hand {
        Some(by_hand) => by_hand,
        None if wrt.is_empty() || !floats_out => (quote!(), quote!(None)),
        None => {
            let derivative = vjp_of_calls(item.kernel, &wrt, Save::Useful, item.partials).map_err(derivatives)?;
            chain(&derivative, &wrt, item.callees())
        }
    };
    let Item { attrs, cfgs, vis, name, .. } = item;
    let module = module(name);
    let float = |at: usize| item.params.get(at).is_some_and(|p| p.kind == Kind::Float);
    let single = item.kernel.outs.len() == 1 && floats_out;
    let marker = match item.params.len() {
        1 if single && float(0) => quote!(#cfgs impl ::cotangent::__private::kernel::Map for #name {}),
        2 if single && float(0) && float(1) => quote!(#cfgs impl ::cotangent::__private::kernel::ZipMap for #name {}),
        _ => quote!(),
    };
    let (callees, paths) = (item.callees().declarations(), function::paths(item));
    let data = data::kernel(item.kernel, &item.callees());
    let (body, callable) = function::callable(item).map_err(derivatives)?.unwrap_or_default();
    let (plain, deref) = function::plain(item);
    Ok(quote! {
        #attrs
        #[allow(non_camel_case_types)]
        #[derive(Clone, Copy, Debug)]
        #vis struct #name;
        #cfgs
        impl ::cotangent::__private::kernel::Pointwise for #name {
            const KERNEL: &'static ::cotangent::__private::kernel::Elementwise = &#module::DEF;
            type Plain = <#name as ::core::ops::Deref>::Target;
        }
        #marker
        #callable
        #deref
        #beside
        #paths
        #cfgs
        #[doc(hidden)]
        #[allow(non_snake_case, unused, clippy::all)]
        mod #module {
            use ::cotangent::__private::kernel::ir;
            use ::cotangent::__private::native::{call, math, row, scalar};
            #callees
            #forward
            #backward
            #body
            #plain
            pub(super) static KERNEL: ir::Kernel = #data;
            pub(super) static DEF: ::cotangent::__private::kernel::Elementwise =
                ::cotangent::__private::kernel::Elementwise { forward: &FORWARD, backward: #chain };
        }
    })
}

/// The kernel of the gradient of a kernel over scalars, and the expression that describes it.
pub(super) fn chain(derivative: &Derivative, wrt: &[Arg], callees: Callees<'_>) -> (TokenStream, TokenStream) {
    let backward = pointwise(&derivative.backward.kernel, "BACKWARD", callees);
    let sources = derivative.backward.sources.iter().map(source);
    let wrt = wrt.iter().map(|a| Literal::u32_unsuffixed(a.0));
    let chain = quote! {
        Some(&::cotangent::__private::kernel::Backward {
            kernel: &BACKWARD,
            sources: &[#(#sources),*],
            wrt: &[#(#wrt),*],
        })
    };
    (backward, chain)
}

fn one(problem: Unsupported) -> Vec<Problem> {
    vec![problem.into()]
}

fn derivatives(errors: Vec<VjpError>) -> Vec<Problem> {
    errors.into_iter().map(Problem::NoDerivative).collect()
}

/// The arguments that have a cotangent, where an output has one.
fn wrt<'a>(item: &'a Item<'_>) -> impl Iterator<Item = Arg> + 'a {
    let float = item.differentiable() && item.kernel.outs.iter().any(|o| o.kind == Kind::Float);
    (0..).zip(&item.params).filter(move |(_, p)| float && p.kind == Kind::Float && !p.number).map(|(at, _)| Arg(at))
}

/// The derivative by those arguments whose cotangent is not 0 everywhere, which are left in `wrt`; none without any.
fn derivative(item: &Item<'_>, wrt: &mut Vec<Arg>) -> Result<Option<Derivative>, Vec<Problem>> {
    while !wrt.is_empty() {
        let derivative = vjp_of_calls(item.kernel, wrt, Save::Useful, item.partials).map_err(derivatives)?;
        let idle = idle(&derivative.backward.kernel);
        if idle.is_empty() {
            return Ok(Some(derivative));
        }
        let mut places = 0..;
        wrt.retain(|_| places.next().is_none_or(|at| !idle.contains(&at)));
    }
    Ok(None)
}

/// The outputs of a gradient that are 0 everywhere, by number.
fn idle(backward: &Kernel) -> Vec<usize> {
    let zero = |node: Node| matches!(node, Node::Const(_, value) if value.as_float() == 0.0);
    let is_idle = |out: &OutDef| out.stores.iter().all(|store| zero(backward.nodes[store.node.at()]));
    (0..).zip(backward.outs.iter()).filter(|(_, out)| is_idle(out)).map(|(at, _)| at).collect()
}

/// The programs of a gradient, and the expression that describes it.
pub(super) fn gradient(
    kernel: &Kernel,
    wrt: &[Arg],
    derivative: &Derivative,
    parts: &Parts<'_>,
) -> Result<(TokenStream, TokenStream), Unsupported> {
    let Derivative { forward, stage, backward } = derivative;
    let (saving, saved) = match forward.outs.len() == kernel.outs.len() {
        true => (quote!(), quote!(forward)),
        false => (program(forward, "saving", parts)?, quote!(saving)),
    };
    let derived = |of: &Stage, name: &str| -> Result<(TokenStream, TokenStream), Unsupported> {
        // The numbers of the derived kernel are those of the arguments that it takes.
        let numbers = (0..)
            .zip(&of.sources)
            .filter_map(|(at, source)| match source {
                Source::Arg(arg) => parts.numbers.get(&arg.0).map(|kind| (at, *kind)),
                Source::Out(_) | Source::Cotangent(_) | Source::Staged(_) => None,
            })
            .collect();
        let groups = renamed(kernel, &of.kernel, parts.groups);
        let code = program(
            &of.kernel,
            name,
            &Parts { numbers: &numbers, groups: &groups, nonempty: &[], callees: parts.callees },
        )?;
        let (module, sources) = (Ident::new(name, Span::call_site()), of.sources.iter().map(source));
        let described = quote! {
            &::cotangent::__private::kernel::Derived { program: &#module::PROGRAM, sources: &[#(#sources),*] }
        };
        Ok((code, described))
    };
    let (stage_code, stage) = match stage {
        None => (quote!(), quote!(None)),
        Some(stage) => {
            let (code, described) = derived(stage, "stage")?;
            (code, quote!(Some(#described)))
        }
    };
    let (backward_code, backward) = derived(backward, "backward")?;
    let wrt = wrt.iter().map(|a| Literal::u32_unsuffixed(a.0));
    let gradient = quote! {
        Some(&::cotangent::__private::kernel::Gradient {
            saving: &#saved::PROGRAM,
            stage: #stage,
            backward: #backward,
            wrt: &[#(#wrt),*],
        })
    };
    Ok((quote!(#saving #stage_code #backward_code), gradient))
}

/// The dims of a derived kernel that bear the names of `groups`.
pub(super) fn renamed(kernel: &Kernel, derived: &Kernel, groups: &[Dim]) -> Vec<Dim> {
    let name = |dim: &Dim| kernel.dims.get(dim.at());
    let place = |dim: &Dim| derived.dims.iter().position(|d| Some(d) == name(dim)).map(|at| Dim(at as u32));
    groups.iter().filter_map(place).collect()
}

pub(super) fn source(source: &Source) -> TokenStream {
    let (variant, at) = match *source {
        Source::Arg(arg) => ("Arg", arg.0),
        Source::Out(at) => ("Out", at),
        Source::Cotangent(at) => ("Cotangent", at),
        Source::Staged(at) => ("Staged", at),
    };
    let (variant, at) = (Ident::new(variant, Span::call_site()), Literal::u32_unsuffixed(at));
    quote!(::cotangent::__private::kernel::Source::#variant(#at))
}

pub(super) fn module(name: &Ident) -> Ident {
    Ident::new(&format!("__kernel_{}", name.unraw()), Span::call_site())
}

/// The variable that the results of a call are taken from.
fn results() -> Ident {
    hygiene::local("outs", 0)
}

fn params(item: &Item<'_>) -> Vec<TokenStream> {
    let param = |Param { name, ty, .. }: &Param| quote!(#name: #ty);
    item.params.iter().map(param).collect()
}

pub(super) fn args(item: &Item<'_>) -> Vec<TokenStream> {
    let arg = |Param { name, by_mut, .. }: &Param| {
        let name = if *by_mut { quote!(&mut *#name) } else { quote!(#name) };
        quote!(::cotangent::__private::kernel::IntoGiven::given(#name))
    };
    item.params.iter().map(arg).collect()
}

fn result_type(item: &Item<'_>) -> TokenStream {
    let types = item.outs.iter().map(|out| &out.ty);
    if item.tuple || item.outs.is_empty() { quote!((#(#types,)*)) } else { quote!(#(#types)*) }
}

fn outs(item: &Item<'_>) -> TokenStream {
    let left = results();
    let nexts = item.outs.iter().map(|_| quote!(#left.next()));
    if item.tuple || item.outs.is_empty() { quote!((#(#nexts,)*)) } else { quote!(#(#nexts)*) }
}

pub(super) fn ct_types(item: &Item<'_>) -> TokenStream {
    let types = item.outs.iter().map(|out| diff(&out.ty));
    if item.tuple { quote!((#(#types,)*)) } else { quote!(#(#types)*) }
}

pub(super) fn ct_parts(item: &Item<'_>) -> Vec<TokenStream> {
    let part = |at: usize| {
        let at = Literal::usize_unsuffixed(at);
        let of = if item.tuple { quote!(ct.#at) } else { quote!(ct) };
        quote!(::cotangent::__private::kernel::OfOutput::tensor(#of))
    };
    (0..item.outs.len()).map(part).collect()
}

fn cotangent_types(item: &Item<'_>) -> Vec<TokenStream> {
    item.params.iter().map(|p| diff(&p.ty)).collect()
}

fn diff(ty: &impl ToTokens) -> TokenStream {
    quote!(<#ty as ::cotangent::__private::Diff>::Ct)
}
