//! Code without a derivative: what is recognised as such, and how it is emitted.

use super::{Binding, Lower};
use crate::model::body::check;
use crate::model::body::ir::{Plain, Var};
use cotangent_ir::{Op, Output, op, ops};
use proc_macro2::{Group, Ident, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use std::collections::BTreeSet;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::visit_mut::{self, VisitMut};
use syn::{BinOp, Expr, Member, Pat, Stmt};

/// Methods of `Vec` and `Option` that say something about a field or list without reading a tensor of it.
const INSPECT: &[&str] = &["len", "is_empty", "is_some", "is_none", "capacity", "get"];

impl Lower<'_, '_> {
    /// Whether the value of an expression carries a derivative, as far as syntax tells.
    pub(super) fn active(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Path(p) => match p.path.get_ident().map(|i| i.to_string()) {
                Some(name) if name == "self" => false,
                Some(name) => matches!(self.find(&name), Some(Binding::Active(_) | Binding::Place(_))),
                None => false,
            },
            Expr::Field(f) => self.is_place(expr) || self.active(&f.base),
            Expr::Index(i) => self.is_place(expr) || self.active(&i.expr),
            Expr::MethodCall(m) => self.active_method(m),
            Expr::Call(c) => {
                let function = match &*c.func {
                    Expr::Path(p) => p.path.get_ident().map(|i| i.to_string()),
                    _ => None,
                };
                let known = function.as_deref().and_then(|f| op(f, false));
                !check::is_no_grad(&c.func)
                    && known.is_none_or(|o| o.output == Output::Active)
                    && c.args.iter().any(|a| self.active(a))
            }
            Expr::Binary(b) => arithmetic(&b.op).is_some() && (self.active(&b.left) || self.active(&b.right)),
            Expr::Unary(u) => !matches!(u.op, syn::UnOp::Not(_)) && self.active(&u.expr),
            Expr::Paren(p) => self.active(&p.expr),
            Expr::Group(g) => self.active(&g.expr),
            Expr::Reference(r) => self.active(&r.expr),
            Expr::Tuple(t) => t.elems.iter().any(|e| self.active(e)),
            Expr::Array(a) => a.elems.iter().any(|e| self.active(e)),
            Expr::Repeat(r) => self.active(&r.expr),
            Expr::Macro(m) => match list_elements(&m.mac) {
                Some(elements) => elements.iter().any(|e| self.active(e)),
                None => !self.mentioned(&m.mac.tokens).is_empty(),
            },
            Expr::If(_) | Expr::Match(_) | Expr::Block(_) => self.mentions_active(expr),
            _ => false,
        }
    }

    fn active_method(&self, m: &syn::ExprMethodCall) -> bool {
        let name = m.method.to_string();
        let operation = op(&name, true);
        if self.is_place(&m.receiver) {
            if is_self(&m.receiver) && self.context.plain_methods.contains(&name) {
                return m.args.iter().any(|a| self.active(a));
            }
            return !INSPECT.contains(&name.as_str()) && operation.is_none_or(|o| o.output == Output::Active);
        }
        if self.active(&m.receiver) {
            return !INSPECT.contains(&name.as_str()) && operation.is_none_or(|o| o.output == Output::Active);
        }
        operation.is_none_or(|o| o.output == Output::Active) && m.args.iter().any(|a| self.active(a))
    }

    /// Whether an expression without a derivative gives an integer or truth-value tensor, cloned at each use.
    pub(super) fn gives_tensor(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Path(p) => {
                p.path.get_ident().is_some_and(|i| matches!(self.find(&i.to_string()), Some(Binding::Tensor(..))))
            }
            Expr::MethodCall(m) => {
                let known = op(&m.method.to_string(), true);
                let receiver = self.active(&m.receiver) || self.gives_tensor(&m.receiver);
                receiver && known.is_some_and(|o| o.output != Output::Value)
            }
            Expr::Call(c) if check::is_no_grad(&c.func) => {
                c.args.iter().any(|a| self.active(a) || self.gives_tensor(a))
            }
            Expr::Call(c) => match &*c.func {
                Expr::Path(p) => {
                    let known = function(&p.path);
                    let constructor = p.path.segments.len() == 2 && p.path.segments[0].ident == "Tensor";
                    known.is_some() || constructor
                }
                _ => false,
            },
            Expr::Paren(p) => self.gives_tensor(&p.expr),
            Expr::Reference(r) => self.gives_tensor(&r.expr),
            Expr::Binary(b) => {
                let of_tensors = arithmetic(&b.op).is_some() || bitwise(&b.op);
                of_tensors && (self.gives_tensor(&b.left) || self.gives_tensor(&b.right))
            }
            Expr::Unary(u) => !matches!(u.op, syn::UnOp::Deref(_)) && self.gives_tensor(&u.expr),
            _ => false,
        }
    }

    /// `Vec::new()`, `vec![]` or `Vec::with_capacity(n)`.
    pub(super) fn is_new_list(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Macro(m) => m.mac.path.is_ident("vec") && m.mac.tokens.is_empty(),
            Expr::Call(c) => match &*c.func {
                Expr::Path(p) => {
                    let names: Vec<String> = p.path.segments.iter().map(|s| s.ident.to_string()).collect();
                    names.len() == 2 && names[0] == "Vec" && (names[1] == "new" || names[1] == "with_capacity")
                }
                _ => false,
            },
            _ => false,
        }
    }

    /// The active variables that some tokens name, format captures such as `"{x}"` included.
    pub(super) fn mentioned(&self, tokens: &TokenStream) -> Vec<Var> {
        let mut names = BTreeSet::new();
        idents_in(tokens.clone(), &mut names);
        let mut vars = vec![];
        for name in names {
            if let Some(Binding::Active(var) | Binding::Tensor(var, _)) = self.find(&name) {
                vars.push(*var);
            }
        }
        vars
    }

    fn mentions_active(&self, expr: &Expr) -> bool {
        let mut names = BTreeSet::new();
        idents_in(expr.to_token_stream(), &mut names);
        names.iter().any(|n| n == "self" || matches!(self.find(n), Some(Binding::Active(_) | Binding::Place(_))))
    }
}

/// Emits an expression as it is, with clones where a tensor is used by value.
pub(super) fn code(lower: &mut Lower<'_, '_>, expr: &Expr) -> Plain {
    let mut expr = expr.clone();
    check::without_value(|marks| marks.visit_expr_mut(&mut expr), lower.diags);
    let mut rewrite = Rewrite { lower, uses: vec![], hidden: vec![] };
    rewrite.visit_expr_mut(&mut expr);
    let uses = rewrite.uses;
    Plain { tokens: expr.to_token_stream(), uses }
}

struct Rewrite<'r, 'a, 'd> {
    lower: &'r mut Lower<'a, 'd>,
    uses: Vec<Var>,
    /// Parameters of closures, which hide outer names.
    hidden: Vec<String>,
}

impl Rewrite<'_, '_, '_> {
    fn local(&self, expr: &Expr) -> Option<Binding> {
        let Expr::Path(p) = expr else { return None };
        let name = p.path.get_ident()?.to_string();
        if self.hidden.contains(&name) { None } else { self.lower.find(&name).cloned() }
    }

    /// Leaves a variable in a place where it is borrowed.
    fn borrowed(&mut self, expr: &mut Expr) {
        match self.local(expr) {
            Some(Binding::Active(var) | Binding::Tensor(var, _)) => self.uses.push(var),
            _ => self.visit_expr_mut(expr),
        }
    }
}

impl VisitMut for Rewrite<'_, '_, '_> {
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        match expr {
            Expr::Path(p) => match self.local(&Expr::Path(p.clone())) {
                Some(Binding::Active(var) | Binding::Tensor(var, _)) => {
                    self.uses.push(var);
                    *expr = syn::parse_quote_spanned!(p.span()=> ::core::clone::Clone::clone(&#p));
                }
                Some(Binding::Place(place)) => {
                    let code = &place.code;
                    *expr = Expr::Verbatim(quote!(#code));
                }
                Some(Binding::Context | Binding::Dim | Binding::Plain) => {}
                None => {
                    if let Some(ident) = p.path.get_ident()
                        && !self.hidden.contains(&ident.to_string())
                        && let Some(dim) = self.lower.dim_value(ident)
                    {
                        *expr = Expr::Verbatim(dim);
                    }
                }
            },
            Expr::Reference(r) if r.mutability.is_none() => self.borrowed(&mut r.expr),
            Expr::Field(f) => self.borrowed(&mut f.base),
            Expr::Index(i) => {
                self.borrowed(&mut i.expr);
                self.visit_expr_mut(&mut i.index);
            }
            Expr::MethodCall(m) => {
                let output = op(&m.method.to_string(), true).map(|o| o.output);
                match output {
                    Some(Output::Active | Output::Tensor) => self.visit_expr_mut(&mut m.receiver),
                    _ => self.borrowed(&mut m.receiver),
                }
                m.args.iter_mut().for_each(|a| self.visit_expr_mut(a));
            }
            Expr::Call(c) if check::is_no_grad(&c.func) && c.args.len() == 1 => {
                let mut inner = c.args[0].clone();
                self.visit_expr_mut(&mut inner);
                *expr = syn::parse_quote!((#inner));
            }
            Expr::Call(c) => c.args.iter_mut().for_each(|a| self.visit_expr_mut(a)),
            Expr::Macro(m) => {
                if let Some(mut elements) = list_elements(&m.mac) {
                    elements.iter_mut().for_each(|e| self.visit_expr_mut(e));
                    m.mac.tokens = quote!(#(#elements),*);
                } else if let Some(mut entries) = slice_entries(&m.mac) {
                    for entry in &mut entries {
                        self.visit_expr_mut(&mut entry.what);
                        entry.step.iter_mut().for_each(|step| self.visit_expr_mut(step));
                    }
                    m.mac.tokens = quote!(#(#entries),*);
                } else {
                    let uses = self.lower.mentioned(&m.mac.tokens);
                    self.uses.extend(uses);
                    m.mac.tokens = self.lower.dims_in_tokens(m.mac.tokens.clone());
                }
            }
            Expr::Closure(c) => {
                let before = self.hidden.len();
                self.hidden.extend(c.inputs.iter().flat_map(names_in).map(|i| i.to_string()));
                self.visit_expr_mut(&mut c.body);
                self.hidden.truncate(before);
            }
            other => visit_mut::visit_expr_mut(self, other),
        }
    }

    fn visit_pat_mut(&mut self, _: &mut Pat) {}
}

/// Wraps dims in tokens that cannot be parsed: the arguments of macros.
pub(super) fn dims_in_tokens(lower: &Lower<'_, '_>, tokens: TokenStream) -> TokenStream {
    let mut after_dot = false;
    tokens
        .into_iter()
        .map(|token| {
            let plain = !std::mem::replace(
                &mut after_dot,
                matches!(&token, TokenTree::Punct(p) if ".:'".contains(p.as_char())),
            );
            match token {
                TokenTree::Ident(ident) if plain => match lower.dim_value(&ident) {
                    Some(dim) if lower.find(&ident.to_string()).is_none() => {
                        TokenTree::Group(Group::new(proc_macro2::Delimiter::Parenthesis, dim))
                    }
                    _ => TokenTree::Ident(ident),
                },
                TokenTree::Group(group) => {
                    let mut inner = Group::new(group.delimiter(), dims_in_tokens(lower, group.stream()));
                    inner.set_span(group.span());
                    TokenTree::Group(inner)
                }
                other => other,
            }
        })
        .collect()
}

/// The elements of `vec![a, b]`, or `None` for any other macro or form.
pub(super) fn list_elements(mac: &syn::Macro) -> Option<Vec<Expr>> {
    let parser = syn::punctuated::Punctuated::<Expr, syn::Token![,]>::parse_terminated;
    mac.path.is_ident("vec").then(|| mac.parse_body_with(parser).ok()).flatten().map(|p| p.into_iter().collect())
}

/// An entry of `s![..]`.
pub(super) struct SliceEntry {
    pub(super) what: Expr,
    pub(super) step: Option<Expr>,
}

impl syn::parse::Parse for SliceEntry {
    fn parse(input: syn::parse::ParseStream<'_>) -> syn::Result<SliceEntry> {
        let what = input.parse()?;
        let step = match input.parse::<Option<syn::Token![;]>>()? {
            Some(_) => Some(input.parse()?),
            None => None,
        };
        Ok(SliceEntry { what, step })
    }
}

impl ToTokens for SliceEntry {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        self.what.to_tokens(tokens);
        if let Some(step) = &self.step {
            tokens.extend(quote!(; #step));
        }
    }
}

/// The entries of `s![a, b]`, or `None` for any other macro or form.
pub(super) fn slice_entries(mac: &syn::Macro) -> Option<Vec<SliceEntry>> {
    let parser = syn::punctuated::Punctuated::<SliceEntry, syn::Token![,]>::parse_terminated;
    mac.path.is_ident("s").then(|| mac.parse_body_with(parser).ok()).flatten().map(|p| p.into_iter().collect())
}

/// `self`, possibly in parentheses or behind `&`.
pub(super) fn is_self(expr: &Expr) -> bool {
    match expr {
        Expr::Path(p) => p.path.is_ident("self"),
        Expr::Paren(p) => is_self(&p.expr),
        Expr::Reference(r) => is_self(&r.expr),
        _ => false,
    }
}

/// The trait and method of an arithmetic operator.
pub(super) fn arithmetic(op: &BinOp) -> Option<(&'static str, &'static str)> {
    match op {
        BinOp::Add(_) => Some(("AddVjp", "add")),
        BinOp::Sub(_) => Some(("SubVjp", "sub")),
        BinOp::Mul(_) => Some(("MulVjp", "mul")),
        BinOp::Div(_) => Some(("DivVjp", "div")),
        BinOp::Rem(_) => Some(("RemVjp", "rem")),
        _ => None,
    }
}

/// Whether it is an operator on bits or truth values.
fn bitwise(op: &BinOp) -> bool {
    matches!(op, BinOp::BitAnd(_) | BinOp::BitOr(_) | BinOp::BitXor(_) | BinOp::Shl(_) | BinOp::Shr(_))
}

/// The operator inside a compound assignment.
pub(super) fn compound(op: &BinOp) -> Option<&'static str> {
    match op {
        BinOp::AddAssign(_) => Some("+"),
        BinOp::SubAssign(_) => Some("-"),
        BinOp::MulAssign(_) => Some("*"),
        BinOp::DivAssign(_) => Some("/"),
        BinOp::RemAssign(_) => Some("%"),
        BinOp::BitAndAssign(_) => Some("&"),
        BinOp::BitOrAssign(_) => Some("|"),
        BinOp::BitXorAssign(_) => Some("^"),
        BinOp::ShlAssign(_) => Some("<<"),
        BinOp::ShrAssign(_) => Some(">>"),
        _ => None,
    }
}

/// All names that a pattern binds.
pub(super) fn names_in(pat: &Pat) -> Vec<Ident> {
    struct Names(Vec<Ident>);
    impl<'ast> Visit<'ast> for Names {
        fn visit_pat_ident(&mut self, p: &'ast syn::PatIdent) {
            self.0.push(p.ident.clone());
            visit::visit_pat_ident(self, p);
        }
    }
    let mut names = Names(vec![]);
    names.visit_pat(pat);
    names.0
}

/// Whether `name` is assigned or pushed to in the statements.
pub(super) fn stored_later(name: &Ident, stmts: &[Stmt]) -> bool {
    let mut stored = BTreeSet::new();
    stmts.iter().for_each(|s| stores(s, &mut stored));
    stored.contains(&name.to_string())
}

/// The names that a statement assigns, pushes to or pops from.
pub(super) fn stores(stmt: &Stmt, into: &mut BTreeSet<String>) {
    Stores(into).visit_stmt(stmt);
}

struct Stores<'s>(&'s mut BTreeSet<String>);

impl<'ast> Visit<'ast> for Stores<'_> {
    fn visit_expr(&mut self, expr: &'ast Expr) {
        let target = match expr {
            Expr::Assign(a) => Some(&a.left),
            Expr::MethodCall(m) if m.method == "push" || m.method == "pop" => Some(&m.receiver),
            _ => None,
        };
        if let Some(Expr::Path(p)) = target.map(|t| &**t)
            && let Some(ident) = p.path.get_ident()
        {
            self.0.insert(ident.to_string());
        }
        visit::visit_expr(self, expr);
    }
}

/// All identifiers in some tokens, those in the braces of format strings included.
pub(super) fn idents_in(tokens: TokenStream, into: &mut BTreeSet<String>) {
    for token in tokens {
        match token {
            TokenTree::Ident(ident) => {
                into.insert(ident.to_string());
            }
            TokenTree::Group(group) => idents_in(group.stream(), into),
            TokenTree::Literal(literal) => captures(&literal.to_string(), into),
            TokenTree::Punct(_) => {}
        }
    }
}

/// Names in the braces of a format string.
fn captures(literal: &str, into: &mut BTreeSet<String>) {
    for part in literal.split('{').skip(1) {
        let name: String = part.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
        if !name.is_empty() {
            into.insert(name);
        }
    }
}

/// The names of all operations, for suggestions.
/// The operation that a path of a function names: by itself, or in full as in `cotangent::ops::cat`.
pub(super) fn function(path: &syn::Path) -> Option<&'static Op> {
    let (last, first) = (path.segments.last()?, path.segments.first()?);
    let ours = match path.segments.len() {
        1 => true,
        2 => first.ident == "ops" || first.ident == "cotangent",
        _ => first.ident == "cotangent",
    };
    if ours { op(&last.ident.to_string(), false) } else { None }
}

pub(super) fn operation_names() -> Vec<&'static str> {
    ops().filter(|o| o.method).map(|o| o.name).collect()
}

/// The member's name, where it has one.
pub(super) fn named(member: &Member) -> Option<&Ident> {
    match member {
        Member::Named(ident) => Some(ident),
        Member::Unnamed(_) => None,
    }
}
