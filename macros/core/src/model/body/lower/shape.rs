//! What the shape engine is asked to prove: one constant a step, and one proof beside it.
//!
//! The constants are emitted after the body, outside the impl. A step never fails by itself; the proof beside it does,
//! with the caret on the user's token, so that one mistake gives one error.

use super::expr::written;
use super::{Binding, Lower, Lowered};
use crate::caret;
use crate::dims::{DimExpr, TensorType};
use crate::hygiene;
use crate::model::body::ast::Function;
use crate::model::body::emit;
use crate::model::body::ir::{Operand, Place, Plain, Step, Stmt, Value, Var};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote};
use std::collections::BTreeMap;
use syn::{Expr, Lit};

/// What is known of a value's shape.
#[derive(Clone)]
pub(super) enum Known {
    /// The name of a constant.
    Constant(Ident),
    /// A tuple that was written out.
    Parts(Vec<TokenStream>),
}

/// A call of the shape engine without its last argument, the number of the output.
#[derive(Clone)]
pub(super) struct Asked {
    callee: TokenStream,
    args: TokenStream,
}

impl Asked {
    pub(super) fn output(&self, number: usize) -> TokenStream {
        let (Asked { callee, args }, number) = (self, proc_macro2::Literal::usize_unsuffixed(number));
        quote!(#callee(#args #number))
    }
}

impl Lower<'_, '_> {
    /// Takes the names of all annotations of a function, and makes those that are bare axes of a parameter locals.
    pub(super) fn declared_names(&mut self, function: &Function) {
        let mut mentioned = BTreeMap::new();
        emit::idents(function.block.to_token_stream(), &mut mentioned);
        let annotated = function.params.iter().filter_map(|p| Some((p, p.shape.as_ref()?)));
        let mut sources: BTreeMap<String, (Ident, Ident, i64)> = BTreeMap::new();
        for (param, shape) in annotated {
            let rank = shape.dims.len() as i64;
            for (axis, dim) in shape.dims.iter().enumerate() {
                if let DimExpr::Name(name) = dim {
                    let axis = if shape.rest.is_some() { axis as i64 - rank } else { axis as i64 };
                    sources.entry(name.to_string()).or_insert((name.clone(), param.ident.clone(), axis));
                }
            }
        }
        for (text, (name, param, axis)) in sources {
            self.bind(&name, Binding::Dim);
            if mentioned.contains_key(&text) {
                self.dims.push((name, param, axis));
            }
        }
        for part in &function.output.parts {
            if let Some(shape) = &part.shape {
                self.take_names(shape);
            }
        }
    }

    fn take_names(&mut self, shape: &TensorType) {
        for name in shape.names() {
            if !self.proofs.names.contains(name) {
                self.proofs.names.push(name.clone());
            }
        }
    }

    pub(super) fn constant(&mut self, prefix: &str) -> Ident {
        self.constants += 1;
        format_ident!("{prefix}{}", self.constants, span = Span::call_site())
    }

    pub(super) fn prove(&mut self, tokens: TokenStream) {
        self.proofs.items.push(tokens);
    }

    /// A constant with the shape that an annotation declares.
    pub(super) fn annotation(&mut self, shape: &TensorType) -> Ident {
        self.take_names(shape);
        let env = self.bindings();
        let (name, declared) = (self.constant("S"), shape.to_const(&quote!(#env)));
        self.prove(quote!(const #name: __Shape = #declared;));
        name
    }

    /// The constant with the names bound so far.
    fn bindings(&self) -> Ident {
        self.last_env.clone().unwrap_or_else(|| Ident::new("ENV", Span::call_site()))
    }

    pub(super) fn declare_shape(&mut self, value: Value, shape: &TensorType) {
        let name = self.annotation(shape);
        self.shapes.insert(value, Known::Constant(name));
    }

    /// An expression as an operand, with the code for its shape.
    pub(super) fn shaped(&mut self, expr: &Expr) -> (Operand, TokenStream) {
        let lowered = self.expr(expr);
        let shape = match &lowered {
            Lowered::Plain(_, false, _) if is_number(expr) => Some(quote!(__Shape::SCALAR)),
            Lowered::Plain(_, _, Some(shape)) => Some(shape.to_token_stream()),
            _ => None,
        };
        let operand = written(expr, self.operand(lowered));
        let shape = shape.unwrap_or_else(|| self.operand_shape(&operand));
        (operand, shape)
    }

    pub(super) fn operand_shape(&self, operand: &Operand) -> TokenStream {
        match operand {
            Operand::Active { value, .. } => self.value_shape(*value),
            Operand::Plain(_) => quote!(__Shape::UNKNOWN),
        }
    }

    fn value_shape(&self, value: Value) -> TokenStream {
        match self.shapes.get(&value) {
            Some(Known::Constant(name)) => quote!(#name),
            Some(Known::Parts(_)) | None => quote!(__Shape::UNKNOWN),
        }
    }

    /// A step, its proof with the caret at `at`, and its shape.
    fn step(&mut self, value: Value, asked: Asked, at: &impl ToTokens, said: &str) {
        let shape = self.proved(&asked, at, said);
        self.shapes.insert(value, Known::Constant(shape));
        self.outputs.insert(value, asked);
    }

    /// The proof of a step with the caret at `at`, and the constant of its shape.
    pub(super) fn proved(&mut self, asked: &Asked, at: &impl ToTokens, said: &str) -> Ident {
        let call = asked.output(0);
        let (step, shape) = (self.constant("P"), self.constant("S"));
        let failure = caret::call_at(at, quote!(__fail), quote!(__explain(#said, &#step, &SCOPE).as_str()));
        self.prove(quote! {
            const #step: __Step = #call;
            const _: () = if #step.failed() { #failure };
            const #shape: __Shape = #step.shape;
        });
        shape
    }

    /// The step of an operation by its rule.
    pub(super) fn rule_shape(
        &mut self,
        value: Value,
        rule: &str,
        at: &impl ToTokens,
        said: &str,
        shapes: Vec<TokenStream>,
        plain: &[&Expr],
    ) {
        if rule.is_empty() || shapes.is_empty() {
            return;
        }
        let asked = self.rule(rule, &shapes, plain);
        self.step(value, asked, at, said);
    }

    /// The call of a rule.
    pub(super) fn rule(&mut self, rule: &str, shapes: &[TokenStream], plain: &[&Expr]) -> Asked {
        let rule = format_ident!("{rule}", span = Span::call_site());
        let plain: Vec<TokenStream> = plain.iter().flat_map(|e| self.plain_arguments(e)).collect();
        Asked { callee: quote!(__rules::#rule), args: quote!(&[#(#shapes),*], &[#(#plain),*],) }
    }

    /// The step of a layer's method.
    pub(super) fn layer_shape(
        &mut self,
        value: Value,
        place: &Place,
        method: &Ident,
        first: Option<&Expr>,
        said: &str,
        shapes: Vec<TokenStream>,
    ) {
        if self.context.generic {
            return;
        }
        let Some(model) = self.context.self_ty else { return };
        let reach = reach(model, &place.steps);
        let sig = hygiene::sig(method);
        if !self.proofs.methods.contains(&sig) {
            self.proofs.methods.push(sig.clone());
        }
        let dims = self.place_dims(model, &place.steps);
        let args = quote!(&__sig_of(|m: &#model| #reach.#sig()), &#dims, &[#(#shapes),*],);
        let asked = Asked { callee: quote!(__call), args };
        match first {
            Some(first) => self.step(value, asked, first, said),
            None => self.step(value, asked, method, said),
        }
    }

    /// The step of a free function.
    pub(super) fn function_shape(
        &mut self,
        value: Value,
        path: &syn::Path,
        first: Option<&Expr>,
        shapes: Vec<TokenStream>,
    ) {
        let said = emit::said(&quote!(#path));
        let asked = Asked { callee: quote!(__call), args: quote!(&#path::SIG, &__Dims::NONE, &[#(#shapes),*],) };
        match first {
            Some(first) => self.step(value, asked, first, &said),
            None => self.step(value, asked, path, &said),
        }
    }

    /// The declared shape of a parameter or state.
    pub(super) fn read_shape(&mut self, value: Value, place: &Place) {
        let (Some(model), false) = (self.context.self_ty, self.context.generic) else { return };
        let Some((Step::Field(field), before)) = place.steps.split_last() else { return };
        let (owner, dims) = (reach_reference(model, before), self.place_dims(model, before));
        let (name, text) = (self.constant("S"), field.to_string());
        self.prove(quote! {
            const #name: __Shape = __param_shape(&__info_of(|m: &#model| #owner), #text, &#dims);
        });
        self.shapes.insert(value, Known::Constant(name));
    }

    /// A constant with the dims of the model at a place, in terms of this model's dims.
    fn place_dims(&mut self, model: &syn::Type, steps: &[Step]) -> TokenStream {
        let mut dims = quote!(__identity(<#model as ::cotangent::__private::Model>::DEFAULTS));
        for (at, step) in steps.iter().enumerate() {
            let field = match step {
                Step::Field(field) => field.to_string(),
                Step::Variant(_, name) => name.to_string(),
                Step::Index(_) | Step::Some => continue,
            };
            let inside = steps[at + 1..].iter().take_while(|s| matches!(s, Step::Index(_) | Step::Some)).count();
            let (owner, inner) = (reach_reference(model, &steps[..at]), reach_reference(model, &steps[..=at + inside]));
            dims =
                quote!(__inner_dims(&__info_of(|m: &#model| #owner), #field, &__info_of(|m: &#model| #inner), &#dims));
        }
        dims
    }

    pub(super) fn part_shape(&mut self, whole: Value, at: usize, value: Value) {
        let part = match (self.outputs.get(&whole), self.shapes.get(&whole)) {
            (Some(asked), _) => {
                let call = asked.output(at);
                quote!(#call.shape)
            }
            (None, Some(Known::Parts(parts))) => parts.get(at).cloned().unwrap_or_else(|| quote!(__Shape::UNKNOWN)),
            (None, Some(Known::Constant(_)) | None) => return,
        };
        let shape = self.constant("S");
        self.prove(quote!(const #shape: __Shape = #part;));
        self.shapes.insert(value, Known::Constant(shape));
    }

    pub(super) fn tuple_shape(&mut self, value: Value, parts: Vec<TokenStream>) {
        self.shapes.insert(value, Known::Parts(parts));
    }

    pub(super) fn same_shape(&mut self, from: Value, to: Value) {
        if let Some(known) = self.shapes.get(&from).cloned() {
            self.shapes.insert(to, known);
        }
    }

    /// After a branch or loop: what all its ends agree on.
    pub(super) fn joined_shape(&mut self, ends: &[Value], out: Value) {
        if let [only] = ends {
            let asked = self.outputs.get(only).cloned();
            self.outputs.extend(asked.map(|asked| (out, asked)));
            return self.same_shape(*only, out);
        }
        let names: Option<Vec<Ident>> = ends
            .iter()
            .map(|v| match self.shapes.get(v) {
                Some(Known::Constant(name)) => Some(name.clone()),
                _ => None,
            })
            .collect();
        let Some((first, rest)) = names.as_deref().and_then(<[Ident]>::split_first) else { return };
        if rest.iter().all(|r| r == first) {
            self.shapes.insert(out, Known::Constant(first.clone()));
            return;
        }
        let joined = rest.iter().fold(quote!(#first), |a, b| quote!(__join(&#a, &#b)));
        let name = self.constant("S");
        self.prove(quote!(const #name: __Shape = #joined;));
        self.shapes.insert(out, Known::Constant(name));
    }

    /// An axis, a shape or a list as the shape rules see it; `None` for tensors.
    fn plain_argument(&mut self, expr: &Expr) -> Option<TokenStream> {
        if self.active(expr) || self.gives_tensor(expr) {
            return None;
        }
        Some(match expr {
            Expr::Lit(syn::ExprLit { lit: Lit::Str(text), .. }) => quote!(__Plain::text(#text)),
            Expr::Range(r) if r.start.is_none() && r.end.is_none() => quote!(__Plain::ALL),
            Expr::Reference(r) => return self.plain_argument(&r.expr),
            Expr::Paren(p) => return self.plain_argument(&p.expr),
            Expr::Array(a) => {
                let dims: Vec<TokenStream> = a.elems.iter().map(|e| self.dim_argument(e)).collect();
                quote!(__Plain::list(&[#(#dims),*]))
            }
            Expr::Macro(m) => {
                let dims: Vec<TokenStream> =
                    super::plain::list_elements(&m.mac)?.iter().map(|e| self.dim_argument(e)).collect();
                quote!(__Plain::list(&[#(#dims),*]))
            }
            other => {
                let dim = self.dim_argument(other);
                quote!(__Plain::dim(#dim))
            }
        })
    }

    /// An argument as the shape rules see it: a slice is one for each of its entries.
    fn plain_arguments(&mut self, expr: &Expr) -> Vec<TokenStream> {
        let Expr::Macro(m) = expr else { return self.plain_argument(expr).into_iter().collect() };
        let Some(entries) = super::plain::slice_entries(&m.mac) else {
            return self.plain_argument(expr).into_iter().collect();
        };
        entries.iter().map(|entry| self.slice_entry(entry)).collect()
    }

    /// An entry of `s![..]`.
    fn slice_entry(&self, entry: &super::plain::SliceEntry) -> TokenStream {
        let step = entry.step.as_ref().map_or(quote!(__Dim::lit(1)), |step| self.dim_argument(step));
        match &entry.what {
            Expr::Range(r) => {
                let bound = |bound: Option<TokenStream>| match bound {
                    Some(dim) => quote!(::core::option::Option::Some(#dim)),
                    None => quote!(::core::option::Option::None),
                };
                let start = bound(r.start.as_ref().map(|e| self.dim_argument(e)));
                let end = r.end.as_ref().map(|e| self.dim_argument(e));
                let end = bound(match r.limits {
                    syn::RangeLimits::HalfOpen(_) => end,
                    // Whether the last entry counts from the end decides whether one is added.
                    syn::RangeLimits::Closed(_) => end.map(|_| quote!(__Dim::UNKNOWN)),
                });
                quote!(__Plain::range(#start, #end, #step))
            }
            Expr::Path(p) if p.path.is_ident("ELLIPSIS") => quote!(__Plain::ELLIPSIS),
            Expr::Path(p) if p.path.is_ident("NEW") => quote!(__Plain::NEW),
            at => {
                let at = self.dim_argument(at);
                quote!(__Plain::at(#at))
            }
        }
    }

    /// An integer expression as a dim, `true` as 1; unknown where it is more than arithmetic on dims.
    fn dim_argument(&self, expr: &Expr) -> TokenStream {
        match expr {
            Expr::Lit(l) => match &l.lit {
                Lit::Int(i) => quote!(__Dim::lit(#i)),
                Lit::Bool(b) => {
                    let one = i64::from(b.value);
                    quote!(__Dim::lit(#one))
                }
                _ => quote!(__Dim::UNKNOWN),
            },
            Expr::Unary(u) if matches!(u.op, syn::UnOp::Neg(_)) => {
                let inner = self.dim_argument(&u.expr);
                quote!(__Dim::lit(0).sub(#inner))
            }
            Expr::Paren(p) => self.dim_argument(&p.expr),
            Expr::Path(p) => match p.path.get_ident() {
                Some(name) => {
                    let text = name.to_string();
                    match self.find(&text) {
                        None | Some(Binding::Dim) => {
                            let env = self.bindings();
                            quote!(#env.dim(#text))
                        }
                        Some(_) => quote!(__Dim::UNKNOWN),
                    }
                }
                None => quote!(__Dim::UNKNOWN),
            },
            Expr::Binary(b) => {
                let (l, r) = (self.dim_argument(&b.left), self.dim_argument(&b.right));
                match b.op {
                    syn::BinOp::Add(_) => quote!(#l.add(#r)),
                    syn::BinOp::Sub(_) => quote!(#l.sub(#r)),
                    syn::BinOp::Mul(_) => quote!(#l.mul(#r)),
                    syn::BinOp::Div(_) => quote!(#l.div(#r)),
                    _ => quote!(__Dim::UNKNOWN),
                }
            }
            _ => quote!(__Dim::UNKNOWN),
        }
    }

    /// `let x: Tensor![B, N] = e;`: proved where possible, checked at run time, and a binding of new names.
    pub(super) fn typed_binding(&mut self, var: Var, ident: &Ident, ty: &syn::Type) {
        let syn::Type::Macro(mac) = ty else { return };
        if !mac.mac.path.is_ident("Tensor") {
            return;
        }
        let declared = match syn::parse2::<TensorType>(mac.mac.tokens.clone()) {
            Ok(declared) => declared,
            Err(error) => return self.diags.error_at(error.span(), error.to_string()),
        };
        let actual = match self.current(var) {
            Some(value) => self.value_shape(value),
            None => match self.find(&ident.to_string()) {
                Some(Binding::Tensor(_, Some(shape))) => quote!(#shape),
                _ => quote!(__Shape::UNKNOWN),
            },
        };
        let known: Vec<Ident> = declared.names().into_iter().filter(|n| self.is_dim(n)).cloned().collect();
        let constant = self.bound(&declared, &actual, ident, &ident.to_string());
        match self.current(var) {
            Some(value) => {
                self.shapes.insert(value, Known::Constant(constant));
            }
            None => self.bind(ident, Binding::Tensor(var, Some(constant))),
        }
        let scope = declared.to_const(&quote!(SCOPE));
        let names = self.scope_tokens();
        let said = ident.to_string();
        let texts: Vec<String> = known.iter().map(Ident::to_string).collect();
        let tokens = quote! {
            ::cotangent::__private::shape::expect({
                use ::cotangent::__private::proofs::*;
                const SCOPE: __Scope = #names;
                const DECLARED: __Shape = #scope;
                (&DECLARED, &SCOPE)
            }, &[#((#texts, #known)),*], #ident.shape(), #said);
        };
        self.emit(Stmt::Plain(Plain { tokens, uses: vec![var] }));
        for (axis, dim) in declared.dims.iter().enumerate() {
            if let DimExpr::Name(name) = dim
                && self.find(&name.to_string()).is_none()
            {
                let axis = if declared.rest.is_some() { axis as i64 - declared.dims.len() as i64 } else { axis as i64 };
                let axis = proc_macro2::Literal::i64_unsuffixed(axis);
                let tokens = quote!(#[allow(unused_variables, non_snake_case)] let #name = #ident.size(#axis););
                self.emit(Stmt::Plain(Plain { tokens, uses: vec![var] }));
                self.bind(name, Binding::Dim);
            }
        }
    }

    /// Whether a name is a local with the extent of an axis: an annotation in a body mentions it, so that it is one.
    fn is_dim(&self, name: &Ident) -> bool {
        matches!(self.find(&name.to_string()), Some(Binding::Dim))
    }

    /// Proves that a value has its declared shape, and binds the names that are new.
    fn bound(&mut self, declared: &TensorType, actual: &TokenStream, at: &impl ToTokens, said: &str) -> Ident {
        self.take_names(declared);
        let declared = declared.to_const(&quote!(SCOPE));
        let (bound, shape, env) = (self.constant("B"), self.constant("S"), self.constant("E"));
        let failure = caret::call_at(at, quote!(__fail), quote!(__explain(#said, &#bound.step, &SCOPE).as_str()));
        let before = self.bindings();
        self.prove(quote! {
            const #bound: __Bound = __bind(&#declared, &#actual, &#before);
            const _: () = if #bound.step.failed() { #failure };
            const #shape: __Shape = if #bound.step.failed() { __Shape::UNKNOWN } else { #bound.step.shape };
            const #env: __Env = #bound.env;
        });
        self.last_env = Some(env);
        shape
    }

    /// The scope constant: the model's dims, then the names of all annotations.
    fn scope_tokens(&self) -> TokenStream {
        emit::scope(self.context, &self.proofs.names)
    }

    /// The value that a function returns, proved to have the declared shape.
    pub(super) fn returned(&mut self, lowered: Lowered, function: &Function) -> Option<Operand> {
        let operand = self.operand(lowered);
        let Operand::Active { value, .. } = &operand else { return Some(operand) };
        let at =
            function.block.stmts.last().map_or_else(|| function.sig.ident.to_token_stream(), ToTokens::to_token_stream);
        let output = &function.output;
        if !output.tuple {
            if let Some(declared) = output.parts.first().and_then(|p| p.shape.as_ref()) {
                let actual = self.value_shape(*value);
                self.bound(declared, &actual, &at, "the returned value");
            }
            return Some(operand);
        }
        let whole = *value;
        for (index, part) in output.parts.iter().enumerate() {
            if let Some(declared) = &part.shape {
                let value = self.value();
                self.part_shape(whole, index, value);
                let actual = self.value_shape(value);
                self.bound(declared, &actual, &at, &format!("part {index} of the returned value"));
            }
        }
        Some(operand)
    }
}

/// A number written out, which broadcasts with everything.
pub(super) fn is_number(expr: &Expr) -> bool {
    match expr {
        Expr::Lit(_) | Expr::Cast(_) => true,
        Expr::Unary(u) => is_number(&u.expr),
        Expr::Paren(p) => is_number(&p.expr),
        Expr::Binary(b) => is_number(&b.left) && is_number(&b.right),
        _ => false,
    }
}

/// As [`reach`], as a reference.
fn reach_reference(model: &syn::Type, steps: &[Step]) -> TokenStream {
    let code = reach(model, steps);
    match steps.last() {
        Some(Step::Field(_)) => quote!(&#code),
        Some(Step::Index(_) | Step::Some | Step::Variant(..)) | None => code,
    }
}

/// Code that reaches a place from the parameter `m` of a closure that never runs.
fn reach(model: &syn::Type, steps: &[Step]) -> TokenStream {
    let mut code = quote!(m);
    for step in steps {
        code = match step {
            Step::Field(field) => quote!(#code.#field),
            Step::Index(_) | Step::Some => quote!(__item(&#code)),
            Step::Variant(path, variant) => {
                let path = match path.segments.first() {
                    Some(first) if first.ident == "Self" => quote!(#model::#variant),
                    _ => quote!(#path),
                };
                quote!((match #code { #path(v) => v, _ => loop {} }))
            }
        };
    }
    code
}
