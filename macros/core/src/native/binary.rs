//! The built-in functions of two tensors as kernels, and those of their gradients, from the table.
//!
//! `binary! { name; name of both; }` makes a module for each function, of kernels for each kind of operands: of two
//! tensors, of a tensor and a number, and with `of both` of a number and a tensor too. `FLOATS_FORMS` and `INTS_FORMS` are
//! the first two together.

use super::Callees;
use super::code::Numbers;
use super::emit::pointwise_of;
use super::functions;
use crate::diags::Diags;
use cotangent_ir::functions::Takes;
use cotangent_ir::{Arg, Builder, Function, Kernel, Kind, Mode, Node, Save, Source, function, vjp};
use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;
use std::collections::BTreeMap;
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream};

/// One function.
struct Entry {
    name: Ident,
    /// Whether a number may stand on the left too.
    both: bool,
}

impl Parse for Entry {
    fn parse(input: ParseStream<'_>) -> syn::Result<Entry> {
        let name = input.parse()?;
        let both = input.peek(Ident::peek_any);
        if both {
            for word in ["of", "both"] {
                let found: Ident = input.parse()?;
                if found != word {
                    return Err(syn::Error::new(found.span(), format!("expected `{word}`")));
                }
            }
        }
        Ok(Entry { name, both })
    }
}

/// Which operand is a number and not a tensor.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Number {
    None,
    Right,
    Left,
}

/// Expands `binary! { .. }`.
pub fn binary(items: TokenStream) -> TokenStream {
    functions::each(items, expand)
}

fn expand(entry: &Entry, diags: &mut Diags) -> Option<TokenStream> {
    let name = &entry.name;
    let Some(f) = function(&name.to_string()).filter(|f| f.arity == 2 && f.numbers.is_empty()) else {
        diags.error(name, format!("`{name}` is no function of two tensors"));
        return None;
    };
    let kinds: &[Kind] = match f.takes {
        Takes::Floats => &[Kind::Float],
        Takes::Numbers => &[Kind::Float, Kind::Int],
        Takes::Any => &[Kind::Float, Kind::Int, Kind::Bool],
        Takes::Truths => &[Kind::Bool],
        Takes::Bits => &[Kind::Int, Kind::Bool],
        Takes::Integers => &[Kind::Int],
        Takes::Choice => &[],
    };
    let mut statics = Statics::default();
    let mut forms = vec![];
    for &kind in kinds {
        let numbers: &[Number] = match (kind, entry.both) {
            (Kind::Bool, _) => &[Number::None],
            (_, false) => &[Number::None, Number::Right],
            (_, true) => &[Number::None, Number::Right, Number::Left],
        };
        for &number in numbers {
            forms.push(form(f, kind, number, &mut statics, diags)?);
        }
    }
    let kernels = statics.code;
    Some(quote! {
        #[allow(unused, clippy::all)]
        pub(crate) mod #name {
            use ::cotangent::__private::native::scalar;
            #kernels
            #(#forms)*
        }
    })
}

/// Kernels by their code, each declared once: both gradients of a product are one kernel.
#[derive(Default)]
struct Statics {
    code: TokenStream,
    known: BTreeMap<String, Ident>,
}

impl Statics {
    fn declare(&mut self, kernel: &Kernel, order: &[u32], numbers: &Numbers) -> Ident {
        let code = |name: &str| pointwise_of(kernel, name, order, numbers, Callees::NONE);
        let count = self.known.len();
        let fresh = || Ident::new(&format!("KERNEL{count}"), Span::call_site());
        let name = self.known.entry(code("KERNEL").to_string()).or_insert_with(fresh).clone();
        if self.known.len() > count {
            self.code.extend(code(&name.to_string()));
        }
        name
    }
}

/// The function over one kind of operands: its kernel and its gradients.
fn form(f: &Function, kind: Kind, number: Number, statics: &mut Statics, diags: &mut Diags) -> Option<TokenStream> {
    let kernel = kernel(f, kind)?;
    let numbers: Numbers = match number {
        Number::None => Numbers::new(),
        Number::Right => [(1, kind)].into(),
        Number::Left => [(0, kind)].into(),
    };
    let tensors: Vec<u32> = (0..2).filter(|at| !numbers.contains_key(at)).collect();
    let forward = statics.declare(&kernel, &tensors, &numbers);
    let active = kernel.outs.iter().all(|out| out.kind == Kind::Float);
    let mut slopes = vec![];
    for &arg in &tensors {
        if !active {
            slopes.push(quote!(None));
            continue;
        }
        match vjp(&kernel, &[Arg(arg)], Save::Nothing) {
            Ok(derivative) => slopes.push(slope(f, &derivative.backward, &numbers, statics)),
            Err(errors) => {
                errors.into_iter().for_each(|error| diags.error(&Ident::new(f.name, Span::call_site()), error))
            }
        }
    }
    let kinds = match kind {
        Kind::Float => "FLOATS",
        Kind::Int => "INTS",
        Kind::Bool => "BOOLS",
    };
    let name = |suffix: &str| Ident::new(&format!("{kinds}{suffix}"), Span::call_site());
    Some(match number {
        Number::None => {
            let (name, forms) = (name(""), name("_FORMS"));
            let right = Ident::new(&format!("{kinds}_RIGHT"), Span::call_site());
            let forms = (kind != Kind::Bool).then(|| {
                quote! {
                    pub(crate) static #forms: super::Forms = super::Forms { pair: &#name, right: &#right };
                }
            });
            quote! {
                pub(crate) static #name: super::Pair = super::Pair { forward: &#forward, slopes: [#(#slopes),*] };
                #forms
            }
        }
        Number::Right | Number::Left => {
            let name = name(if number == Number::Right { "_RIGHT" } else { "_LEFT" });
            quote! {
                pub(crate) static #name: super::Function =
                    super::Function { forward: &#forward, slope: #(#slopes)* };
            }
        }
    })
}

/// The function of two elements.
fn kernel(f: &Function, kind: Kind) -> Option<Kernel> {
    let mut b = Builder::new(f.name);
    let args = [b.arg("a", kind, &[]), b.arg("b", kind, &[])];
    let operands = args.map(|arg| b.load(arg, &[]));
    let out = f.make(&mut b, &operands)?;
    let store = b.plain_store(&[], out);
    b.output("out", &[], Mode::Set, vec![store]);
    Some(b.finish())
}

/// The gradient by one operand: the kernel of the cotangent and of the operands that it reads; no kernel where the
/// cotangent passes as it is, nothing where the slope is 0.
fn slope(f: &Function, backward: &cotangent_ir::Stage, numbers: &Numbers, statics: &mut Statics) -> TokenStream {
    let place = |source| backward.sources.iter().position(|s| *s == source).map(|at| at as u32);
    let Some(ct) = place(Source::Cotangent(0)) else { return quote!(None) };
    let is_ct = |node: Node| matches!(node, Node::Load { arg, .. } if arg.0 == ct);
    let stores = backward.kernel.outs.iter().flat_map(|out| out.stores.iter());
    let passes = stores.map(|store| backward.kernel.nodes[store.node.at()]).all(is_ct);
    let operands: Vec<Option<u32>> = (0..2).map(|at| place(Source::Arg(Arg(at)))).collect();
    let is_number = |at: usize| numbers.contains_key(&(at as u32));
    let kernel = match passes {
        true => quote!(None),
        false => {
            let tensors = (0..2).filter(|at| !is_number(*at)).filter_map(|at| operands[at]);
            let order: Vec<u32> = [ct].into_iter().chain(tensors).collect();
            let given =
                (0..2).filter(|at| is_number(*at)).filter_map(|at| Some((operands[at]?, Kind::Float))).collect();
            let kernel = Kernel { name: f.name.into(), ..backward.kernel.clone() };
            let name = statics.declare(&kernel, &order, &given);
            quote!(Some(&#name))
        }
    };
    let reads: Vec<TokenStream> =
        operands.iter().map(|at| if at.is_some() { quote!(true) } else { quote!(false) }).collect();
    if numbers.is_empty() {
        return quote!(Some(super::PairSlope { kernel: #kernel, reads: [#(#reads),*] }));
    }
    let part = |number: bool| (0..2).filter(|at| is_number(*at) == number).map(|at| &reads[at]).collect::<Vec<_>>();
    let (input, number) = (part(false), part(true));
    quote!(Some(super::Slope { kernel: #kernel, input: #(#input)*, output: false, numbers: &[#(#number),*] }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expanded(items: &str) -> String {
        items.parse().map(binary).unwrap_or_default().to_string()
    }

    #[test]
    fn kinds_and_sides() {
        let code = expanded("add of both; div; lt; logical_and;");
        for name in ["FLOATS_LEFT", "INTS_LEFT", "BOOLS"] {
            assert!(code.contains(name), "{name}: {code}");
        }
        assert!(!expanded("div;").contains("INTS") && !expanded("lt;").contains("LEFT"));
    }

    #[test]
    fn gradients_pass_or_share_a_kernel() {
        let count = |items: &str| expanded(items).matches("static KERNEL").count();
        // Floats and integers, of two tensors and with a number.
        assert_eq!(count("add;"), 4);
        assert_eq!(count("bitwise_and;"), 3);
        assert_eq!(count("mul;"), 4 + 2);
        assert!(expanded("add;").contains("kernel : None , reads : [false , false]"));
        assert!(expanded("lt;").contains("slopes : [None , None]"));
    }

    #[test]
    fn what_is_no_function_of_two_tensors_is_an_error() {
        for items in ["exp;", "addd;", "add of one;", "where;"] {
            assert!(expanded(items).contains("compile_error"), "{items}");
        }
    }
}
