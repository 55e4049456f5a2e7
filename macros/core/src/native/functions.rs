//! The built-in functions of one tensor as methods: their kernels, and those of their gradients, from the table.
//!
//! `functions! { /// Doc. name; other(number); name_with = name(number); }` gives each method the numbers that are
//! written; those left out have their defaults. `mod name = function(3.0);` makes the kernels without a method. A number
//! may stand for the second operand of a function. What takes integers too is a method of both kinds; what gives truth
//! values has no companion.

use super::Callees;
use super::code::Numbers;
use super::emit::pointwise_of;
use crate::diags::Diags;
use cotangent_ir::functions::Takes;
use cotangent_ir::{Arg, Builder, Function, Kernel, Kind, Mode, Save, Source, function, vjp};
use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::{Attribute, LitFloat, Token, parenthesized};

/// One method.
struct Entry {
    attrs: Vec<Attribute>,
    name: Ident,
    /// The function's own name where it differs.
    of: Option<Ident>,
    numbers: Vec<Number>,
    /// Whether there is a method.
    method: bool,
}

/// A number behind the operand.
enum Number {
    /// One that calls pass.
    Passed(Ident),
    /// One that is the same in all calls.
    Fixed(f64),
}

impl Parse for Number {
    fn parse(input: ParseStream<'_>) -> syn::Result<Number> {
        if input.peek(Ident::peek_any) {
            return Ok(Number::Passed(input.parse()?));
        }
        let sign = if input.parse::<Option<Token![-]>>()?.is_some() { -1.0 } else { 1.0 };
        Ok(Number::Fixed(sign * input.parse::<LitFloat>()?.base10_parse::<f64>()?))
    }
}

impl Entry {
    /// The numbers that calls pass.
    fn passed(&self) -> Vec<&Ident> {
        self.numbers
            .iter()
            .filter_map(|number| match number {
                Number::Passed(name) => Some(name),
                Number::Fixed(_) => None,
            })
            .collect()
    }
}

impl Parse for Entry {
    fn parse(input: ParseStream<'_>) -> syn::Result<Entry> {
        let attrs = input.call(Attribute::parse_outer)?;
        let method = input.parse::<Option<Token![mod]>>()?.is_none();
        let name = input.parse()?;
        let of = match input.parse::<Option<Token![=]>>()? {
            Some(_) => Some(input.parse()?),
            None => None,
        };
        let mut numbers = vec![];
        if input.peek(syn::token::Paren) {
            let list;
            parenthesized!(list in input);
            numbers = Punctuated::<Number, Token![,]>::parse_terminated(&list)?.into_iter().collect();
        }
        Ok(Entry { attrs, name, of, numbers, method })
    }
}

/// Expands `functions! { .. }`: methods of `Tensor` and their companions, over kernels in modules of their names.
pub fn functions(items: TokenStream) -> TokenStream {
    each(items, expand)
}

/// The expansions of entries that `;` ends.
pub(super) fn each<E: Parse>(
    items: TokenStream,
    expand: impl Fn(&E, &mut Diags) -> Option<TokenStream>,
) -> TokenStream {
    let entries = match Punctuated::<E, Token![;]>::parse_terminated.parse2(items) {
        Ok(entries) => entries,
        Err(error) => return error.to_compile_error(),
    };
    let mut diags = Diags::default();
    let code: Vec<TokenStream> = entries.iter().filter_map(|entry| expand(entry, &mut diags)).collect();
    match diags.gate() {
        Ok(()) => quote!(#(#code)*),
        Err(errors) => errors,
    }
}

fn expand(entry: &Entry, diags: &mut Diags) -> Option<TokenStream> {
    let of = entry.of.as_ref().unwrap_or(&entry.name);
    let (passed, operands) = (entry.passed(), entry.numbers.len());
    let fits = |f: &&Function| f.arity == 1 || f.arity == 1 + operands && f.numbers.is_empty();
    let Some(f) = function(&of.to_string()).filter(fits) else {
        diags.error(of, format!("`{of}` is no function of one tensor"));
        return None;
    };
    let written = passed.iter().map(|name| name.to_string());
    if f.arity == 1 && operands > 0 && !written.eq(f.numbers.iter().map(|n| n.name)) {
        let known: Vec<&str> = f.numbers.iter().map(|n| n.name).collect();
        diags.error(of, format!("the numbers of `{of}` are `{}`", known.join(", ")));
        return None;
    }
    if matches!(f.takes, Takes::Truths | Takes::Bits) {
        return bits(f, entry);
    }
    let kernel = kernel_of(f, Kind::Float, &entry.numbers)?;
    let forward = forward(&kernel, Kind::Float, &passed, "FORWARD");
    let truths = kernel.outs.iter().any(|out| out.kind == Kind::Bool);
    let (backward, slope) = match vjp(&kernel, &[Arg(0)], Save::Useful) {
        _ if truths => (quote!(), quote!(None)),
        Ok(derivative) => gradient(f, &derivative.backward, passed.len()),
        Err(errors) => {
            errors.into_iter().for_each(|error| diags.error(of, error));
            return None;
        }
    };
    let ints = match f.takes {
        Takes::Numbers if entry.numbers.is_empty() => {
            let forward = self::forward(&kernel_of(f, Kind::Int, &[])?, Kind::Int, &[], "FORWARD_INTS");
            Some(quote! {
                #forward
                pub(crate) static INTS: super::Function = super::Function { forward: &FORWARD_INTS, slope: None };
            })
        }
        _ => None,
    };
    let name = &entry.name;
    let methods = match (entry.method, truths) {
        (false, _) => quote!(),
        (true, false) => methods(entry, ints.is_some()),
        (true, true) => truth_methods(entry, ints.is_some()),
    };
    Some(quote! {
        #[allow(non_snake_case, unused, clippy::all)]
        pub(crate) mod #name {
            use ::cotangent::__private::native::scalar;
            #forward
            #backward
            pub(crate) static FUNCTION: super::Function = super::Function { forward: &FORWARD, slope: #slope };
            #ints
        }
        #methods
    })
}

/// The kernels of a function of truth values, and of integers where it takes them; without methods.
fn bits(f: &Function, entry: &Entry) -> Option<TokenStream> {
    let name = &entry.name;
    let kinds: &[(Kind, &str)] = match f.takes {
        Takes::Truths => &[(Kind::Bool, "BOOLS")],
        _ => &[(Kind::Int, "INTS"), (Kind::Bool, "BOOLS")],
    };
    let mut code = vec![];
    for &(kind, kinds) in kinds {
        let kernel = Ident::new(&format!("FORWARD_{kinds}"), Span::call_site());
        let forward = forward(&kernel_of(f, kind, &[])?, kind, &[], &kernel.to_string());
        let kinds = Ident::new(kinds, Span::call_site());
        code.push(quote! {
            #forward
            pub(crate) static #kinds: super::Function = super::Function { forward: &#kernel, slope: None };
        });
    }
    Some(quote! {
        #[allow(non_snake_case, unused, clippy::all)]
        pub(crate) mod #name {
            use ::cotangent::__private::native::scalar;
            #(#code)*
        }
    })
}

fn forward(kernel: &Kernel, kind: Kind, passed: &[&Ident], name: &str) -> TokenStream {
    let numbers = (1..).zip(passed).map(|(at, _)| (at, kind)).collect();
    pointwise_of(kernel, name, &[0], &numbers, Callees::NONE)
}

/// A function of one element and of numbers.
fn kernel_of(f: &Function, kind: Kind, numbers: &[Number]) -> Option<Kernel> {
    let mut b = Builder::new(f.name);
    let x = b.arg("x", kind, &[]);
    let mut operands = vec![b.load(x, &[])];
    for number in numbers {
        operands.push(match number {
            Number::Fixed(value) => b.float(*value),
            Number::Passed(name) => {
                let arg = b.arg(&name.to_string(), Kind::Float, &[]);
                b.load(arg, &[])
            }
        });
    }
    let y = f.make(&mut b, &operands)?;
    let store = b.plain_store(&[], y);
    b.output("y", &[], Mode::Set, vec![store]);
    Some(b.finish())
}

/// The kernel of a gradient, of the cotangent and what is kept, and the expression that describes it; none where the
/// slope is 0 everywhere.
fn gradient(f: &Function, backward: &cotangent_ir::Stage, count: usize) -> (TokenStream, TokenStream) {
    let place = |source| backward.sources.iter().position(|s| *s == source).map(|at| at as u32);
    let Some(ct) = place(Source::Cotangent(0)) else { return (quote!(), quote!(None)) };
    let (input, output) = (place(Source::Arg(Arg(0))), place(Source::Out(0)));
    let order: Vec<u32> = [Some(ct), input, output].into_iter().flatten().collect();
    // The kernel takes the numbers that it needs; which these are is told by their places.
    let used: Vec<usize> = (0..count).filter(|n| place(Source::Arg(Arg(*n as u32 + 1))).is_some()).collect();
    let numbers: Numbers =
        used.iter().filter_map(|n| Some((place(Source::Arg(Arg(*n as u32 + 1)))?, Kind::Float))).collect();
    let code = pointwise_of(&backward.kernel, "BACKWARD", &order, &numbers, Callees::NONE);
    let used: Vec<TokenStream> =
        (0..count).map(|n| if used.contains(&n) { quote!(true) } else { quote!(false) }).collect();
    // Where the slope may be read from the result, the result stands in for the operand.
    let (input, output) = match (f.by_result, input, output) {
        (true, Some(_), None) => (false, true),
        (_, input, output) => (input.is_some(), output.is_some()),
    };
    let slope = quote! {
        Some(super::Slope { kernel: Some(&BACKWARD), input: #input, output: #output, numbers: &[#(#used),*] })
    };
    (code, slope)
}

/// The methods of a function that gives truth values.
fn truth_methods(entry: &Entry, ints: bool) -> TokenStream {
    let (Entry { attrs, name, .. }, numbers) = (entry, entry.passed());
    let of_ints = ints.then(|| {
        quote! {
            impl Tensor<Int> {
                #(#attrs)*
                #[track_caller]
                pub fn #name(self) -> Tensor<Bool> {
                    #name::INTS.truth(self, &[])
                }
            }
        }
    });
    quote! {
        impl Tensor {
            #(#attrs)*
            #[track_caller]
            pub fn #name(self #(, #numbers: impl Number)*) -> Tensor<Bool> {
                #name::FUNCTION.truth(self, &[#(#numbers.number()),*])
            }
        }
        #of_ints
    }
}

fn methods(entry: &Entry, ints: bool) -> TokenStream {
    let (Entry { attrs, name, .. }, numbers) = (entry, entry.passed());
    let companion = Ident::new(&format!("{name}__vjp"), name.span());
    let types: Vec<Ident> = (0..numbers.len()).map(|n| Ident::new(&format!("N{n}"), Span::call_site())).collect();
    let units = numbers.iter().map(|_| quote!(()));
    let units: Vec<TokenStream> = units.collect();
    let pull = match numbers.is_empty() {
        true => quote!((y, chain)),
        false => quote!((y, crate::diff::pull(move |ct, (): &mut ()| (chain.pull(ct, &mut ()).0, #(#units),*)))),
    };
    let of_ints = ints.then(|| {
        quote! {
            impl Tensor<Int> {
                #(#attrs)*
                #[track_caller]
                pub fn #name(self) -> Tensor<Int> {
                    #name::INTS.of(self, &[])
                }
            }
        }
    });
    quote! {
        #of_ints
        impl Tensor {
            #(#attrs)*
            #[track_caller]
            pub fn #name(self #(, #numbers: impl Number)*) -> Tensor {
                #name::FUNCTION.of(self, &[#(#numbers.number()),*])
            }
            #[doc(hidden)]
            #[allow(non_snake_case, reason = "companions bear the method's name")]
            #[track_caller]
            pub fn #companion<#(#types: Number),*>(
                self,
                #(#numbers: #types,)*
                want: Want,
            ) -> (Tensor, impl Pullback<(), Ct = Option<Tensor>, In = (Option<Tensor>, #(#units),*)> + use<#(#types),*>) {
                let (y, chain) = #name::FUNCTION.vjp(self, &[#(#numbers.number()),*], want);
                #pull
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expanded(items: &str) -> String {
        items.parse().map(functions).unwrap_or_default().to_string()
    }

    #[test]
    fn a_method_and_its_companion_take_the_numbers() {
        let code = expanded("elu(alpha);");
        assert!(code.contains("pub fn elu (self , alpha : impl Number)"), "{code}");
        assert!(code.contains("pub fn elu__vjp < N0 : Number >"), "{code}");
        assert!(expanded("elu;").contains("pub fn elu (self)"));
        assert!(expanded("sharp = elu(alpha);").contains("pub fn sharp (self"));
    }

    #[test]
    fn the_cotangent_comes_first_and_steps_have_none() {
        assert!(expanded("relu;").contains("input : false , output : true"));
        assert!(expanded("gelu;").contains("input : true , output : false"));
        assert!(expanded("floor;").contains("slope : None"));
        assert!(expanded("isnan;").contains("pub fn isnan (self) -> Tensor < Bool >"));
    }

    #[test]
    fn what_takes_integers_is_a_method_of_them_too() {
        assert!(expanded("abs;").contains("impl Tensor < Int >") && expanded("signbit;").contains("INTS . truth"));
        assert!(!expanded("exp;").contains("Int"));
    }

    #[test]
    fn numbers_stand_for_operands_or_are_fixed() {
        assert!(expanded("powf(exponent);").contains("pub fn powf (self , exponent : impl Number)"));
        let cube = expanded("mod cube = powf(3.0);");
        assert!(!cube.contains("pub fn") && cube.contains("numbers : & []") && cube.contains("v0 * v0 * v0"), "{cube}");
        assert!(expanded("mod square_root = powf(-0.5);").contains("rsqrt"));
    }

    #[test]
    fn what_the_table_does_not_hold_is_an_error() {
        assert!(expanded("gleu;").contains("is no function of one tensor"));
        assert!(expanded("maximum;").contains("is no function of one tensor"));
        assert!(expanded("elu(slope);").contains("the numbers of `elu` are `alpha`"));
    }
}
