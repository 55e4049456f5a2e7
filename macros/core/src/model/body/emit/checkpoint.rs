//! Checkpoints: the statements without residuals, and a pullback that runs them again, with residuals, on what was kept.

use super::forward::Forward;
use crate::hygiene;
use crate::model::body::grad::Values;
use crate::model::body::ir::{Arm, Callee, Kept, Region, Stmt, Value};
use proc_macro2::{Delimiter, Group, Ident, Literal, TokenStream, TokenTree};
use quote::{quote, quote_spanned};
use std::collections::{BTreeMap, BTreeSet};

impl Forward<'_> {
    /// The statements of a checkpoint and its pullback, from the cotangents of `outs` to those of `ins`. `number` is that
    /// of the flag which says whether any of these is wanted.
    pub(super) fn checkpoint(
        &mut self,
        arm: &Arm,
        kept: &Kept,
        outs: &[Option<Value>],
        ins: &[Value],
        number: u32,
    ) -> (TokenStream, TokenStream) {
        let nothing = Values::new();
        let mut once = Forward { body: self.body, needed: &nothing, grads: quote!(()), flags: BTreeMap::new() };
        let once = once.region(&arm.region);
        let (stmts, pullback) = (self.region(&arm.region), self.closure(&arm.region, outs, ins));
        let (again, copies) = with_copies(quote!(#stmts #pullback));
        let (locals, sources): (Vec<Ident>, Vec<TokenStream>) = copies
            .into_iter()
            .chain(kept.read.iter().map(|name| (name.clone(), quote_spanned!(name.span()=> &#name))))
            .unzip();
        let (flag, kept_in, assigned) = (hygiene::local("w", number), hygiene::local("k", number), &kept.assigned);
        let names: Vec<Ident> = (0..outs.len() as u32).map(|i| hygiene::local("o", i)).collect();
        let at = (0..locals.len()).map(Literal::usize_unsuffixed);
        let zeros = ins.iter().map(|_| quote!(::core::default::Default::default()));
        let grads = &self.grads;
        let stmts = quote! {
            let #kept_in = #flag.then(|| ::cotangent::__private::keep!(#(#sources),*));
            #once
        };
        let pullback = quote! {
            ::cotangent::__private::pull(move |(#(#names,)*), g: &mut #grads| {
                let asked = #(!::cotangent::__private::Cotangent::is_zero(&#names))|*;
                let again = ::cotangent::__private::again(#kept_in.filter(|_| asked), move |#kept_in| {
                    let (#(mut #locals,)*) = (#(#kept_in.#at.lend(),)*);
                    #(let mut #assigned;)*
                    #again
                });
                match again {
                    ::core::option::Option::Some(f) => {
                        ::cotangent::__private::Pullback::pull(f, (#(#names,)*), &mut *g)
                    }
                    ::core::option::Option::None => (#(#zeros,)*),
                }
            })
        };
        (stmts, pullback)
    }
}

/// Code that says whether any parameter of a checkpoint is wanted, since it is better not to run again for nothing.
pub(super) fn parameters(arms: &[Arm], kept: &Kept) -> Option<TokenStream> {
    let mut callees = vec![];
    arms.iter().for_each(|arm| callees_of(&arm.region, &mut callees));
    let known: Option<BTreeMap<String, TokenStream>> = callees.iter().map(|callee| trained(callee, kept)).collect();
    match known {
        Some(known) if known.is_empty() => None,
        Some(known) => {
            let known = known.into_values();
            Some(quote!((__want.has(0) && (#(#known)||*))))
        }
        None => Some(quote!(__want.has(0))),
    }
}

/// The calls in a region that have parameters.
fn callees_of<'r>(region: &'r Region, into: &mut Vec<&'r Callee>) {
    for stmt in &region.stmts {
        match stmt {
            Stmt::Call(call) if matches!(call.callee, Callee::Layer { .. } | Callee::Read { .. }) => {
                into.push(&call.callee);
            }
            Stmt::For(f) => callees_of(&f.body, into),
            Stmt::Branch(branch) => branch.arms.iter().for_each(|arm| callees_of(&arm.region, into)),
            Stmt::Call(_)
            | Stmt::Plain(_)
            | Stmt::Fused(_)
            | Stmt::Move { .. }
            | Stmt::Unpack { .. }
            | Stmt::Pack { .. }
            | Stmt::Push { .. }
            | Stmt::Pop { .. }
            | Stmt::Element { .. }
            | Stmt::Part { .. } => {}
        }
    }
}

/// Code that asks the place of a callee, as far as it is known outside of the checkpoint, whether it is trained; its text
/// comes first. `None` where it begins inside.
fn trained(callee: &Callee, kept: &Kept) -> Option<(String, TokenStream)> {
    let (place, read) = match callee {
        Callee::Layer { place, .. } => (place, false),
        Callee::Read { place } => (place, true),
        Callee::Operation { .. } | Callee::Operator { .. } | Callee::Function { .. } | Callee::Associated { .. } => {
            return None;
        }
    };
    let whole: Vec<TokenTree> = place.code.clone().into_iter().collect();
    // An index is a local of the checkpoint; the list around the element answers for it.
    let outside: Vec<TokenTree> = whole.iter().take_while(|t| !matches!(t, TokenTree::Group(_))).cloned().collect();
    if place.root().is_none_or(|root| root != "self") && !kept.places.iter().any(|p| p.holds(place)) {
        return None;
    }
    let (all, code): (_, TokenStream) = (outside.len() == whole.len(), outside.into_iter().collect());
    let code = if place.reference && all { code } else { quote!(&#code) };
    let asked = match (read, all) {
        (false, _) => quote!(::cotangent::__private::Model::trainable(#code)),
        (true, true) => quote!(::cotangent::__private::Read::wants(#code)),
        (true, false) => return None,
    };
    Some((asked.to_string(), asked))
}

/// Code that speaks of a copy of `self`, or of copies of the fields that it names where these are all it takes: the
/// variables for them, and what they are copies of.
fn with_copies(code: TokenStream) -> (TokenStream, Vec<(Ident, TokenStream)>) {
    let mut fields = BTreeSet::new();
    if own_fields(code.clone(), &mut fields) {
        let copy = |field: Ident| (hygiene::own(Some(&field)), quote!(&self.#field));
        return (replaced(code, true), fields.into_iter().map(copy).collect());
    }
    (replaced(code, false), vec![(hygiene::own(None), quote!(&self))])
}

/// Whether every `self` in some code begins `self.field`. Collects these fields.
fn own_fields(code: TokenStream, into: &mut BTreeSet<Ident>) -> bool {
    let tokens: Vec<TokenTree> = code.into_iter().collect();
    (0..tokens.len()).all(|at| match &tokens[at] {
        TokenTree::Group(group) => own_fields(group.stream(), into),
        TokenTree::Ident(ident) if ident == "self" => match field(&tokens[at + 1..]) {
            Some(field) => {
                into.insert(field.clone());
                true
            }
            None => false,
        },
        TokenTree::Ident(_) | TokenTree::Punct(_) | TokenTree::Literal(_) => true,
    })
}

/// The field that tokens behind `self` name: `.field`, unless it is a method.
fn field(behind: &[TokenTree]) -> Option<&Ident> {
    let called = match behind.get(2) {
        Some(TokenTree::Group(group)) => group.delimiter() == Delimiter::Parenthesis,
        Some(TokenTree::Punct(punct)) => punct.as_char() == ':',
        Some(TokenTree::Ident(_) | TokenTree::Literal(_)) | None => false,
    };
    match behind {
        [TokenTree::Punct(dot), TokenTree::Ident(field), ..] if dot.as_char() == '.' && !called => Some(field),
        _ => None,
    }
}

/// The code with `self`, or with `self.field` where `by_field`, replaced by the variable of its copy.
fn replaced(code: TokenStream, by_field: bool) -> TokenStream {
    let tokens: Vec<TokenTree> = code.into_iter().collect();
    let (mut made, mut at) = (TokenStream::new(), 0);
    while let Some(token) = tokens.get(at) {
        at += 1;
        made.extend([match token {
            TokenTree::Group(group) => {
                let mut inner = Group::new(group.delimiter(), replaced(group.stream(), by_field));
                inner.set_span(group.span());
                TokenTree::Group(inner)
            }
            TokenTree::Ident(ident) if ident == "self" => {
                let field = field(&tokens[at..]).filter(|_| by_field);
                at += if field.is_some() { 2 } else { 0 };
                TokenTree::Ident(hygiene::own(field))
            }
            other => other.clone(),
        }]);
    }
    made
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The code on copies, and what these are copies of.
    fn check(code: TokenStream, expected: TokenStream, sources: &[TokenStream]) {
        let (code, copies) = with_copies(code);
        assert_eq!(code.to_string(), expected.to_string());
        let texts = |tokens: &[TokenStream]| tokens.iter().map(TokenStream::to_string).collect::<Vec<_>>();
        let made: Vec<TokenStream> = copies.into_iter().map(|(_, source)| source).collect();
        assert_eq!(texts(&made), texts(sources));
    }

    #[test]
    fn fields_are_copied_alone_where_they_are_all_it_takes() {
        check(
            quote!(self.a.f(&self.b[i], self.a)),
            quote!(__self_a.f(&__self_b[i], __self_a)),
            &[quote!(&self.a), quote!(&self.b)],
        );
        check(quote!(x.relu()), quote!(x.relu()), &[]);
    }

    #[test]
    fn a_method_or_a_dim_takes_all_of_the_model() {
        check(quote!(self.a.f(self.g(x))), quote!(__self.a.f(__self.g(x))), &[quote!(&self)]);
        check(quote!(self.a + Net!(@dim C self)), quote!(__self.a + Net!(@dim C __self)), &[quote!(&self)]);
        check(quote!(self.g::<f32>()), quote!(__self.g::<f32>()), &[quote!(&self)]);
    }
}
