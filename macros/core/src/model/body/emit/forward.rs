//! The statements of a body, in order: with residuals where a cotangent is needed, as plain calls elsewhere.

use super::{checkpoint, reverse};
use crate::hygiene;
use crate::model::body::grad::{self, Values};
use crate::model::body::ir::{
    Body, Branch, Call, Callee, Declare, For, Form, Fused, Operand, Place, Region, Step, Stmt, Value, Var,
};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};
use std::collections::BTreeMap;

/// Prints a body. Without needed values this is the plain method.
pub(super) struct Forward<'a> {
    pub(super) body: &'a Body,
    pub(super) needed: &'a Values,
    /// The gradient struct that pullbacks add to.
    pub(super) grads: TokenStream,
    /// Code that says whether a value's cotangent is wanted.
    pub(super) flags: BTreeMap<Value, TokenStream>,
}

impl Forward<'_> {
    pub(super) fn region(&mut self, region: &Region) -> TokenStream {
        region.stmts.iter().map(|s| self.stmt(s)).collect()
    }

    fn is_needed(&self, value: Value) -> bool {
        self.needed.contains(&value)
    }

    pub(super) fn ident(&self, var: Var) -> &Ident {
        &self.body.vars[var.0 as usize]
    }

    pub(super) fn operand(&self, operand: &Operand) -> TokenStream {
        self.operand_at(operand, None)
    }

    /// An operand whose tokens, where the user did not write them, have the place of one that they wrote.
    fn operand_at(&self, operand: &Operand, span: Option<Span>) -> TokenStream {
        match operand {
            Operand::Active { var, last, at, .. } => {
                let mut ident = self.ident(*var).clone();
                if let Some(at) = at.or(span) {
                    ident.set_span(ident.span().located_at(at));
                }
                let span = span.unwrap_or_else(Span::call_site);
                if *last { quote!(#ident) } else { quote_spanned!(span=> ::core::clone::Clone::clone(&#ident)) }
            }
            Operand::Plain(code) => code.tokens.clone(),
        }
    }

    fn flag(&self, value: Value) -> TokenStream {
        self.flags.get(&value).cloned().unwrap_or_else(|| quote!(false))
    }

    fn operand_flag(&self, operand: &Operand) -> TokenStream {
        match operand {
            Operand::Active { value, .. } => self.flag(*value),
            Operand::Plain(_) => quote!(false),
        }
    }

    fn any(&self, flags: impl Iterator<Item = TokenStream>) -> TokenStream {
        let mut texts: Vec<String> = vec![];
        let mut kept = vec![];
        for flag in flags {
            let text = flag.to_string();
            if text != "false" && !texts.contains(&text) {
                texts.push(text);
                kept.push(flag);
            }
        }
        match kept.len() {
            0 => quote!(false),
            1 => kept.remove(0),
            _ => quote!((#(#kept)|*)),
        }
    }

    fn declare(&self, var: Var, how: Declare, value: TokenStream) -> TokenStream {
        let ident = self.ident(var);
        match how {
            Declare::Let => quote!(let #ident = #value;),
            Declare::LetMut => quote!(let mut #ident = #value;),
            Declare::Assign => quote!(#ident = #value;),
        }
    }

    /// Binds a result and its residual.
    fn declare_pair(&self, var: Var, how: Declare, residual: &Ident, value: TokenStream) -> TokenStream {
        let ident = self.ident(var);
        match how {
            Declare::Let => quote!(let (#ident, #residual) = #value;),
            Declare::LetMut => quote!(let (mut #ident, #residual) = #value;),
            Declare::Assign => quote!(let #residual; (#ident, #residual) = #value;),
        }
    }

    fn stmt(&mut self, stmt: &Stmt) -> TokenStream {
        match stmt {
            Stmt::Plain(code) => code.tokens.clone(),
            Stmt::Call(call) if self.is_needed(call.value) => self.companion(call),
            Stmt::Call(call) => observed(self.body, call, self.declare(call.var, call.declare, self.plain_call(call))),
            Stmt::Fused(fused) => self.fused(fused),
            Stmt::Move { var, declare, from } => self.declare(*var, *declare, self.operand(from)),
            Stmt::Unpack { from, parts } => {
                let flag = self.operand_flag(from);
                let names = parts.iter().map(|(var, value)| {
                    if let Some(value) = value {
                        self.flags.insert(*value, flag.clone());
                    }
                    var.map_or_else(
                        || quote!(_),
                        |v| {
                            let ident = &self.body.vars[v.0 as usize];
                            quote!(#ident)
                        },
                    )
                });
                let names: Vec<TokenStream> = names.collect();
                let from = self.operand(from);
                quote!(let (#(#names,)*) = #from;)
            }
            Stmt::Pack { var, value, parts, list } => {
                let flag = self.any(parts.iter().map(|p| self.operand_flag(p)));
                self.flags.insert(*value, flag);
                let parts: Vec<TokenStream> = parts.iter().map(|p| self.operand(p)).collect();
                let whole = if *list { quote!(::std::vec![#(#parts),*]) } else { quote!((#(#parts,)*)) };
                self.declare(*var, Declare::Let, whole)
            }
            Stmt::Push { list, before, after, item } => {
                let flag = self.any([self.flag(*before), self.operand_flag(item)].into_iter());
                self.flags.insert(*after, flag);
                let (list, item) = (self.ident(*list), self.operand(item));
                let position = self.is_needed(*after).then(|| {
                    let local = hygiene::local("r", after.0);
                    quote!(let #local = #list.len();)
                });
                quote!(#position #list.push(#item);)
            }
            Stmt::Pop { list, before, after, var, value, rest } => {
                let flag = self.flag(*before);
                self.flags.insert(*after, flag.clone());
                self.flags.insert(*value, flag);
                let list = self.ident(*list).clone();
                let made = self.declare(*var, Declare::Let, quote!(#list.pop()#rest));
                let position = (self.is_needed(*after) || self.is_needed(*value)).then(|| {
                    let local = hygiene::local("r", value.0);
                    quote!(let #local = #list.len();)
                });
                quote!(#made #position)
            }
            Stmt::Element { list, of, index, var, value } => {
                self.flags.insert(*value, self.flag(*of));
                let (list, local, index) = (self.ident(*list).clone(), hygiene::local("r", value.0), &index.tokens);
                let made = self.declare(*var, Declare::Let, quote!(::core::clone::Clone::clone(&#list[#local])));
                quote!(let #local: usize = #index; #made)
            }
            Stmt::Part { tuple, of, at, var, value } => {
                self.flags.insert(*value, self.flag(*of));
                let tuple = self.ident(*tuple).clone();
                let residual = self.is_needed(*value).then(|| {
                    let local = hygiene::local("r", value.0);
                    quote!(let #local = ::cotangent::__private::Zero::of(&#tuple);)
                });
                let made = self.declare(*var, Declare::Let, quote!(::core::clone::Clone::clone(&#tuple.#at)));
                quote!(#residual #made)
            }
            Stmt::For(f) => self.for_loop(f),
            Stmt::Branch(branch) => self.branch(branch),
        }
    }

    /// A call as the user wrote it.
    fn plain_call(&self, call: &Call) -> TokenStream {
        let args: Vec<TokenStream> = call.args.iter().map(|a| self.operand(a)).collect();
        match &call.callee {
            // Errors at run time name the line of the call, which rustc takes from its first and last token.
            Callee::Operation { name } => {
                let (receiver, rest) = (&args[0], &args[1..]);
                quote_spanned!(name.span()=> #receiver.#name(#(#rest),*))
            }
            Callee::Operator { token, .. } => {
                let span = token.clone().into_iter().next().map(|t| t.span());
                let [left, right] = [0, 1].map(|at| self.operand_at(&call.args[at], span));
                quote!(#left #token #right)
            }
            Callee::Layer { place, name } => {
                let code = &place.code;
                quote!(#code.#name(#(#args),*))
            }
            Callee::Function { path } | Callee::Associated { path } => quote!(#path(#(#args),*)),
            Callee::Read { place } => {
                let place = borrowed(place);
                quote!(::cotangent::__private::Read::read(#place))
            }
        }
    }

    /// A call of the companion, with what is wanted of it.
    fn companion(&mut self, call: &Call) -> TokenStream {
        let args: Vec<TokenStream> = call.args.iter().map(|a| self.operand(a)).collect();
        let flags: Vec<TokenStream> = call.args.iter().map(|a| self.operand_flag(a)).collect();
        let (want, residual) = (hygiene::local("w", call.value.0), hygiene::local("r", call.value.0));
        let (bits, invoked) = match &call.callee {
            Callee::Operation { name } => {
                let (vjp, receiver, rest) = (hygiene::vjp(name), &args[0], &args[1..]);
                let call = quote_spanned!(name.span()=> #receiver.#vjp(#(#rest,)* #want));
                (quote!(#(#flags),*), call)
            }
            Callee::Operator { name, trait_, .. } => {
                let (left, right) = (&args[0], &args[1]);
                let (trait_, vjp) = (ident(trait_), ident(&format!("{name}__vjp")));
                (quote!(#(#flags),*), quote!(::cotangent::__private::#trait_::#vjp(#left, #right, #want)))
            }
            Callee::Layer { place, name } => {
                let (code, vjp) = (&place.code, hygiene::vjp(name));
                let trainable = match place.steps.is_empty() {
                    true => quote!(__want.has(0)),
                    false => {
                        let place = borrowed(place);
                        quote!(__want.has(0) && ::cotangent::__private::Model::trainable(#place))
                    }
                };
                (quote!(#trainable #(, #flags)*), quote!(#code.#vjp(#(#args,)* #want)))
            }
            Callee::Function { path } => (quote!(false #(, #flags)*), quote!(#path::vjp(#(#args,)* #want))),
            Callee::Associated { path } => {
                let mut path = path.clone();
                if let Some(last) = path.segments.last_mut() {
                    last.ident = hygiene::vjp(&last.ident);
                }
                (quote!(false #(, #flags)*), quote!(#path(#(#args,)* #want)))
            }
            Callee::Read { place } => {
                let place = borrowed(place);
                (
                    quote!(__want.has(0) && ::cotangent::__private::Read::wants(#place)),
                    quote!(::cotangent::__private::read_vjp(#place)),
                )
            }
        };
        self.flags.insert(call.value, quote!(#want.any()));
        let invoked = if call.boxed { quote!(::cotangent::__private::boxed(#invoked)) } else { invoked };
        let made = observed(self.body, call, self.declare_pair(call.var, call.declare, &residual, invoked));
        quote!(let #want = ::cotangent::__private::Want::of(&[#bits]); #made)
    }

    /// The launch of a kernel that computes several statements.
    fn fused(&mut self, fused: &Fused) -> TokenStream {
        let Fused { kernel, operands, outs, span } = fused;
        let list: Vec<TokenStream> = operands.iter().map(|o| self.operand(o)).collect();
        let operands_of = quote!((#(#list,)*));
        let first = outs.first().map_or(0, |out| out.value.0);
        let made = hygiene::local("m", first);
        let (mut code, needed) = (TokenStream::new(), outs.iter().any(|out| self.is_needed(out.value)));
        if needed {
            let flags: Vec<TokenStream> = operands.iter().map(|o| self.operand_flag(o)).collect();
            let (want, residual) = (hygiene::local("w", first), hygiene::local("r", first));
            let call = quote_spanned! {*span=>
                ::cotangent::__private::kernel::fused_vjp(#kernel, #operands_of, #want)
            };
            code.extend(quote! {
                let #want = ::cotangent::__private::Want::of(&[false #(, #flags)*]);
                let (mut #made, #residual) = #call;
            });
            outs.iter().for_each(|out| {
                self.flags.insert(out.value, quote!(#want.any()));
            });
        } else {
            let call = quote_spanned!(*span=> ::cotangent::__private::kernel::fused(#kernel, #operands_of));
            code.extend(quote!(let mut #made = #call;));
        }
        for out in outs {
            code.extend(self.declare(out.var, out.declare, quote!(#made.next::<::cotangent::__private::Float>())));
        }
        code
    }

    /// One flag for all that leaves a loop or branch: whether anything that enters it is wanted.
    fn region_flag(
        &mut self,
        name: Value,
        inputs: &[Value],
        parameters: Option<TokenStream>,
        outs: &[Value],
    ) -> TokenStream {
        let local = hygiene::local("w", name.0);
        let flag = self.any(inputs.iter().map(|v| self.flag(*v)).chain(parameters));
        outs.iter().for_each(|out| {
            self.flags.insert(*out, quote!(#local));
        });
        quote!(let #local: bool = #flag;)
    }

    fn for_loop(&mut self, f: &For) -> TokenStream {
        let (pat, iter) = (&f.pat, &f.iter.tokens);
        if !f.carried.iter().any(|c| self.is_needed(c.after)) {
            let body = self.region(&f.body);
            return quote!(#pat in #iter { #body });
        }
        let (outer, ends) = grad::loop_inputs(f, self.needed);
        let first = f.carried[0].after;
        let befores: Vec<Value> = f.carried.iter().map(|c| c.before).chain(outer.iter().copied()).collect();
        let outs: Vec<Value> = f.carried.iter().flat_map(|c| [c.start, c.after]).collect();
        let parameters = grad::has_parameters(&f.body).then(|| quote!(__want.has(0)));
        let flag = self.region_flag(first, &befores, parameters, &outs);
        let residuals = hygiene::local("r", first.0);
        let body = self.region(&f.body);
        let ins: Vec<Value> = f.carried.iter().map(|c| c.start).chain(outer).collect();
        let pullback = self.closure(&f.body, &ends.into_iter().map(Some).collect::<Vec<_>>(), &ins);
        quote! {
            #flag
            let mut #residuals = ::std::vec::Vec::new();
            #pat in #iter { #body #residuals.push(#pullback); }
        }
    }

    fn branch(&mut self, branch: &Branch) -> TokenStream {
        let wanted: Vec<usize> = (0..branch.phis.len()).filter(|i| self.is_needed(branch.phis[*i].out)).collect();
        let inputs = grad::branch_inputs(branch, self.needed);
        let residual = wanted.first().map(|i| hygiene::local("r", branch.phis[*i].out.0));
        let outs: Vec<Value> = branch.phis.iter().map(|p| p.out).collect();
        let flag = wanted.first().map(|i| {
            let parameters = match &branch.form {
                Form::Checkpoint(kept) => checkpoint::parameters(&branch.arms, kept),
                Form::If | Form::Match(_) | Form::Block => {
                    let any = branch.arms.iter().any(|a| grad::has_parameters(&a.region));
                    any.then(|| quote!(__want.has(0)))
                }
            };
            self.region_flag(branch.phis[*i].out, &inputs, parameters, &outs)
        });
        let count = branch.arms.len();
        let mut arms = vec![];
        for (at, arm) in branch.arms.iter().enumerate() {
            let outs: Vec<Option<Value>> = wanted.iter().map(|i| branch.phis[*i].arms[at]).collect();
            let (stmts, pullback) = match (&branch.form, wanted.first()) {
                (Form::Checkpoint(kept), Some(i)) => {
                    let (stmts, pullback) = self.checkpoint(arm, kept, &outs, &inputs, branch.phis[*i].out.0);
                    (stmts, Some(pullback))
                }
                (_, Some(_)) => {
                    let stmts = self.region(&arm.region);
                    (stmts, Some(either(self.closure(&arm.region, &outs, &inputs), at, count)))
                }
                (_, None) => (self.region(&arm.region), None),
            };
            let result = branch.result.is_some().then(|| arm.region.result.as_ref().map(|r| self.operand(r))).flatten();
            let tail = match (result, pullback) {
                (Some(result), Some(pullback)) => quote!((#result, #pullback)),
                (Some(one), None) | (None, Some(one)) => one,
                (None, None) => quote!(),
            };
            arms.push((&arm.head.tokens, quote!({ #stmts #tail })));
        }
        let code = match &branch.form {
            Form::Block | Form::Checkpoint(_) => arms.iter().map(|(_, body)| body.clone()).collect(),
            Form::Match(scrutinee) => {
                let (scrutinee, heads) = (&scrutinee.tokens, arms.iter().map(|(head, body)| quote!(#head => #body)));
                quote!(match #scrutinee { #(#heads)* })
            }
            Form::If => {
                let chain = arms.iter().enumerate().map(|(at, (head, body))| match (at, head.is_empty()) {
                    (0, _) => quote!(if #head #body),
                    (_, false) => quote!(else if #head #body),
                    (_, true) if body.to_string() == "{ }" => quote!(),
                    (_, true) => quote!(else #body),
                });
                chain.collect()
            }
        };
        let code = match (branch.result, residual) {
            (Some((var, how)), Some(residual)) => self.declare_pair(var, how, &residual, code),
            (Some((var, how)), None) => self.declare(var, how, code),
            (None, Some(residual)) => quote!(let #residual = #code;),
            (None, None) => code,
        };
        quote!(#flag #code)
    }

    /// The pullback of a region: from the cotangents of `outs` to those of `ins`.
    pub(super) fn closure(&mut self, region: &Region, outs: &[Option<Value>], ins: &[Value]) -> TokenStream {
        let grads = &self.grads;
        let names: Vec<Ident> = (0..outs.len() as u32).map(|i| hygiene::local("o", i)).collect();
        let code = reverse::region(self.needed, region, outs, &names, ins);
        quote!(::cotangent::__private::pull(move |(#(#names,)*), g: &mut #grads| { #code }))
    }
}

/// A place behind `&`.
pub(super) fn borrowed(place: &Place) -> TokenStream {
    let code = &place.code;
    if place.reference { code.clone() } else { quote!(&#code) }
}

/// The local that names a call of a layer to observers of the run; nothing for the model's own methods.
pub(super) fn observer(call: &Call) -> Option<Ident> {
    match &call.callee {
        Callee::Layer { place, .. } if !place.steps.is_empty() => Some(hygiene::local("n", call.value.0)),
        Callee::Layer { .. }
        | Callee::Operation { .. }
        | Callee::Operator { .. }
        | Callee::Function { .. }
        | Callee::Associated { .. }
        | Callee::Read { .. } => None,
    }
}

/// A call of a layer, which says to observers where it lies in the model, and its result.
fn observed(body: &Body, call: &Call, code: TokenStream) -> TokenStream {
    let (Some(local), Callee::Layer { place, .. }) = (observer(call), &call.callee) else { return code };
    let (mut names, mut indices) = (vec![], vec![]);
    for step in &place.steps {
        match step {
            Step::Field(name) | Step::Variant(_, name) => names.push(name.to_string()),
            Step::Index(local) => {
                names.push("*".to_owned());
                indices.push(local);
            }
            Step::Some => {}
        }
    }
    let (path, result) = (names.join("."), &body.vars[call.var.0 as usize]);
    let name = hygiene::local("N", call.value.0);
    let entered = match indices[..] {
        [] => quote!(at(#name)),
        _ => quote!(at_in(#name, &[#(#indices),*])),
    };
    // An editor completes by adding letters to a name, and finds its place in the expansion by what stands in front: no
    // text that is made of the field may.
    quote! {
        let #local = ::cotangent::__private::#entered;
        #code
        const #name: &str = #path;
        ::cotangent::__private::left(#local, &#result);
    }
}

/// The pullback of arm `at` as a value of the one type that all arms share.
fn either(pullback: TokenStream, at: usize, count: usize) -> TokenStream {
    let mut code = match (at + 1 == count, count) {
        (_, 1) => return pullback,
        (true, _) => pullback,
        (false, _) => quote!(::cotangent::__private::Either::A(#pullback)),
    };
    for _ in 0..at {
        code = quote!(::cotangent::__private::Either::B(#code));
    }
    code
}

fn ident(text: &str) -> Ident {
    Ident::new(text, Span::call_site())
}
