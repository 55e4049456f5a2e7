//! The statements of a pullback: those of the body in reverse, on cotangents.

use crate::hygiene;
use crate::model::body::grad::{self, Values};
use crate::model::body::ir::{Branch, Call, Callee, For, Fused, Operand, Region, Step, Stmt, Value};
use proc_macro2::{Ident, TokenStream};
use quote::quote;

/// The body of a pullback: binds `names` to the cotangents of `outs`, ends with those of `ins`.
pub(super) fn region(
    needed: &Values,
    region: &Region,
    outs: &[Option<Value>],
    names: &[Ident],
    ins: &[Value],
) -> TokenStream {
    let mut reverse = Reverse { needed, has: Values::new(), code: TokenStream::new() };
    for (out, name) in outs.iter().zip(names) {
        match out {
            Some(value) => reverse.give(*value, quote!(#name)),
            None => reverse.code.extend(quote!(let _ = #name;)),
        }
    }
    region.stmts.iter().rev().for_each(|s| reverse.stmt(s));
    let ins: Vec<TokenStream> = ins.iter().map(|v| reverse.take(*v)).collect();
    let code = reverse.code;
    quote!(#code (#(#ins,)*))
}

/// The body of a whole function's pullback; `params` says which parameters have a cotangent at all.
pub(super) fn function(
    needed: &Values,
    region: &Region,
    out: Option<Value>,
    name: &Ident,
    params: &[Option<Value>],
) -> TokenStream {
    let mut reverse = Reverse { needed, has: Values::new(), code: TokenStream::new() };
    if let Some(out) = out {
        reverse.give(out, quote!(#name));
    }
    region.stmts.iter().rev().for_each(|s| reverse.stmt(s));
    let ins: Vec<TokenStream> = params.iter().map(|v| v.map_or_else(|| quote!(()), |v| reverse.take(v))).collect();
    let code = reverse.code;
    quote!(#code (#(#ins,)*))
}

struct Reverse<'a> {
    needed: &'a Values,
    /// Values whose cotangent has a variable.
    has: Values,
    code: TokenStream,
}

fn ct(value: Value) -> Ident {
    hygiene::local("c", value.0)
}

impl Reverse<'_> {
    /// Adds to a cotangent.
    fn give(&mut self, value: Value, amount: TokenStream) {
        let name = ct(value);
        self.code.extend(match self.has.insert(value) {
            true => quote!(let mut #name = #amount;),
            false => quote!(::cotangent::__private::Cotangent::add(&mut #name, #amount);),
        });
    }

    /// A cotangent that nothing adds to any more.
    fn take(&mut self, value: Value) -> TokenStream {
        let name = ct(value);
        if self.has.contains(&value) { quote!(#name) } else { quote!(::core::default::Default::default()) }
    }

    /// A pattern for the cotangents of operands, and the additions that follow it.
    fn receive(&mut self, values: &[Option<Value>]) -> (TokenStream, TokenStream) {
        let (mut patterns, mut after) = (vec![], TokenStream::new());
        for (at, value) in values.iter().enumerate() {
            match value {
                Some(value) if self.has.insert(*value) => {
                    let name = ct(*value);
                    patterns.push(quote!(mut #name));
                }
                Some(value) => {
                    let (name, part) = (ct(*value), hygiene::local("d", at as u32));
                    patterns.push(quote!(#part));
                    after.extend(quote!(::cotangent::__private::Cotangent::add(&mut #name, #part);));
                }
                None => patterns.push(quote!(_)),
            }
        }
        (quote!((#(#patterns,)*)), after)
    }

    fn pull(&mut self, values: &[Option<Value>], residual: TokenStream, ct: TokenStream, grads: TokenStream) {
        let (pattern, after) = self.receive(values);
        let bind = if values.is_empty() { quote!() } else { quote!(let #pattern =) };
        self.code.extend(quote!(#bind ::cotangent::__private::Pullback::pull(#residual, #ct, #grads); #after));
    }

    fn active(&self, operand: &Operand) -> Option<Value> {
        match operand {
            Operand::Active { value, .. } if self.needed.contains(value) => Some(*value),
            Operand::Active { .. } | Operand::Plain(_) => None,
        }
    }

    fn stmt(&mut self, stmt: &Stmt) {
        let needed = self.needed;
        match stmt {
            Stmt::Plain(_) | Stmt::Move { .. } => {}
            Stmt::Call(call) if needed.contains(&call.value) => self.call(call),
            Stmt::Call(_) => {}
            Stmt::Fused(fused) => self.fused(fused),
            Stmt::Unpack { from, parts } => {
                let Some(whole) = self.active(from) else { return };
                if parts.iter().all(|(_, v)| v.is_none_or(|v| !needed.contains(&v))) {
                    return;
                }
                let parts: Vec<TokenStream> = parts
                    .iter()
                    .map(|(_, value)| {
                        value.map_or_else(|| quote!(::core::default::Default::default()), |v| self.take(v))
                    })
                    .collect();
                self.give(whole, quote!((#(#parts,)*)));
            }
            Stmt::Pack { value, parts, list, .. } if needed.contains(value) => {
                let whole = self.take(*value);
                let values: Vec<Option<Value>> = parts.iter().map(|p| self.active(p)).collect();
                if *list {
                    let local = hygiene::local("l", value.0);
                    self.code.extend(quote!(let mut #local = #whole;));
                    for (at, part) in values.iter().enumerate().rev() {
                        if let Some(part) = part {
                            self.give(*part, quote!(::cotangent::__private::list_take(&mut #local, #at)));
                        }
                    }
                } else {
                    let (pattern, after) = self.receive(&values);
                    self.code.extend(quote!(let #pattern = #whole; #after));
                }
            }
            Stmt::Pack { .. } => {}
            Stmt::Push { before, after, item, .. } if needed.contains(after) => {
                let (whole, local, at) =
                    (self.take(*after), hygiene::local("l", after.0), hygiene::local("r", after.0));
                self.code.extend(quote!(let mut #local = #whole;));
                match self.active(item) {
                    Some(item) => self.give(item, quote!(::cotangent::__private::list_take(&mut #local, #at))),
                    None => self.code.extend(quote!(let _ = ::cotangent::__private::list_take(&mut #local, #at);)),
                }
                self.give(*before, quote!(#local));
            }
            Stmt::Push { .. } => {}
            Stmt::Pop { before, after, value, .. } if needed.contains(after) || needed.contains(value) => {
                let (whole, item) = (self.take(*after), self.take(*value));
                let (local, at) = (hygiene::local("l", value.0), hygiene::local("r", value.0));
                self.code.extend(quote! {
                    let mut #local = #whole;
                    ::cotangent::__private::list_put(&mut #local, #at, #item);
                });
                self.give(*before, quote!(#local));
            }
            Stmt::Pop { .. } => {}
            Stmt::Element { of, value, .. } if needed.contains(value) => {
                let (item, name, at) = (self.take(*value), ct(*of), hygiene::local("r", value.0));
                if self.has.insert(*of) {
                    self.code.extend(quote!(let mut #name = ::std::vec::Vec::new();));
                }
                self.code.extend(quote!(::cotangent::__private::list_put(&mut #name, #at, #item);));
            }
            Stmt::Element { .. } => {}
            Stmt::Part { of, at, value, .. } if needed.contains(value) => {
                let (item, name, residual) = (self.take(*value), ct(*of), hygiene::local("r", value.0));
                if self.has.insert(*of) {
                    self.code.extend(quote!(let mut #name = #residual.zero();));
                }
                self.code.extend(quote!(::cotangent::__private::Cotangent::add(&mut #name.#at, #item);));
            }
            Stmt::Part { .. } => {}
            Stmt::For(f) => self.for_loop(f),
            Stmt::Branch(branch) => self.branch(branch),
        }
    }

    fn call(&mut self, call: &Call) {
        let (residual, whole) = (hygiene::local("r", call.value.0), self.take(call.value));
        let values: Vec<Option<Value>> = call.args.iter().map(|a| self.active(a)).collect();
        let grads = match &call.callee {
            Callee::Layer { place, .. } | Callee::Read { place } => gradients(&place.steps),
            Callee::Operation { .. }
            | Callee::Operator { .. }
            | Callee::Function { .. }
            | Callee::Associated { .. } => {
                quote!(&mut ())
            }
        };
        match super::forward::observer(call) {
            Some(layer) => {
                self.code.extend(quote!(::cotangent::__private::back(#layer);));
                self.pull(&values, quote!(#residual), whole, grads);
                self.code.extend(quote!(::cotangent::__private::done(#layer);));
            }
            None => self.pull(&values, quote!(#residual), whole, grads),
        }
    }

    fn fused(&mut self, fused: &Fused) {
        if fused.outs.iter().all(|out| !self.needed.contains(&out.value)) {
            return;
        }
        let residual = hygiene::local("r", fused.outs[0].value.0);
        let cts: Vec<TokenStream> = fused.outs.iter().map(|out| self.take(out.value)).collect();
        let values: Vec<Option<Value>> = fused.operands.iter().map(|o| self.active(o)).collect();
        let (pattern, after) = self.receive(&values);
        self.code.extend(quote!(let #pattern = #residual.pull([#(#cts),*]); #after));
    }

    fn for_loop(&mut self, f: &For) {
        if !f.carried.iter().any(|c| self.needed.contains(&c.after)) {
            return;
        }
        let (outer, _) = grad::loop_inputs(f, self.needed);
        let residuals = hygiene::local("r", f.carried[0].after.0);
        let carried: Vec<Ident> = f.carried.iter().map(|c| hygiene::local("a", c.after.0)).collect();
        for (c, name) in f.carried.iter().zip(&carried) {
            let start = self.take(c.after);
            self.code.extend(quote!(let mut #name = #start;));
        }
        for value in &outer {
            if self.has.insert(*value) {
                let name = ct(*value);
                self.code.extend(quote!(let mut #name = ::core::default::Default::default();));
            }
        }
        let outer_names: Vec<Ident> = outer.iter().map(|v| ct(*v)).collect();
        let parts: Vec<Ident> = (0..outer.len() as u32).map(|i| hygiene::local("d", i)).collect();
        self.code.extend(quote! {
            for f in #residuals.into_iter().rev() {
                #(let #parts;)*
                (#(#carried,)* #(#parts,)*) = ::cotangent::__private::Pullback::pull(f, (#(#carried,)*), &mut *g);
                #(::cotangent::__private::Cotangent::add(&mut #outer_names, #parts);)*
            }
        });
        for (c, name) in f.carried.iter().zip(carried) {
            self.give(c.before, quote!(#name));
        }
    }

    fn branch(&mut self, branch: &Branch) {
        let wanted: Vec<Value> = branch.phis.iter().map(|p| p.out).filter(|v| self.needed.contains(v)).collect();
        let Some(first) = wanted.first() else { return };
        let residual = hygiene::local("r", first.0);
        let cts: Vec<TokenStream> = wanted.iter().map(|v| self.take(*v)).collect();
        let inputs: Vec<Option<Value>> = grad::branch_inputs(branch, self.needed).into_iter().map(Some).collect();
        self.pull(&inputs, quote!(#residual), quote!((#(#cts,)*)), quote!(&mut *g));
    }
}

/// The gradient of the part of a model at a place.
fn gradients(steps: &[Step]) -> TokenStream {
    let mut code = quote!(g);
    for step in steps {
        code = match step {
            Step::Field(name) | Step::Variant(_, name) => quote!(#code.#name),
            Step::Index(local) => quote!((*::cotangent::__private::grads_at(&mut #code, #local))),
            Step::Some => code,
        };
    }
    if steps.is_empty() { quote!(&mut *g) } else { quote!(&mut #code) }
}
