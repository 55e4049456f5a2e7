//! From a user's body to [`ir`](super::ir): names become variables, nested calls become temporaries, sugar disappears.

mod checkpoint;
mod control;
mod expr;
mod place;
mod plain;
mod plain_shape;
mod shape;

use super::ast::{Function, Kind};
use super::check;
use super::ir::{Body, Declare, Operand, Place, Plain, Proofs, Region, Stmt, Value, Var};
use crate::diags::Diags;
use crate::hygiene;
use proc_macro2::{Ident, TokenStream};
use std::collections::{BTreeMap, BTreeSet};
use syn::{Expr, Pat};

/// What the functions of one impl share.
pub(super) struct Context<'a> {
    /// The model's type; `None` for a free function.
    pub(super) self_ty: Option<&'a syn::Type>,
    /// Whether the impl has type parameters, of which a constant outside it cannot speak.
    pub(super) generic: bool,
    /// The impl's own generics.
    pub(super) generics: Option<&'a syn::Generics>,
    /// Methods of this impl that have no companion.
    pub(super) plain_methods: &'a BTreeSet<String>,
}

/// Lowers one differentiable function.
pub(super) fn function(function: &Function, context: &Context<'_>, diags: &mut Diags) -> Body {
    let mut lower = Lower::new(context, diags);
    lower.name = Some(&function.sig.ident);
    lower.open();
    let mut params = vec![];
    for param in &function.params {
        params.push(lower.param(param));
    }
    lower.declared_names(function);
    let result = lower.block(&function.block);
    let result = match result {
        Some(result) => lower.returned(result, function),
        None => {
            check::missing_tail(&function.sig.ident, lower.diags);
            None
        }
    };
    let region = Region { stmts: lower.regions.pop().unwrap_or_default(), result };
    let Lower { vars, values, proofs, dims, .. } = lower;
    let vars = vars.into_iter().map(|v| v.ident).collect();
    Body { sound: true, region, params, vars, values, groups: vec![], unfused: None, proofs, dims }
}

/// The body of a function without companions: as it is, apart from shape types and dims as values.
pub(super) fn written(function: &Function, context: &Context<'_>) -> TokenStream {
    let block = &function.block;
    if context.self_ty.is_none() || !function.method {
        return quote::quote!(#block);
    }
    let mut diags = Diags::default();
    let mut lower = Lower::new(context, &mut diags);
    lower.open();
    for param in &function.params {
        lower.bind(&param.ident, Binding::Plain);
    }
    lower.declared_names(function);
    let lets = lower.dims.iter().map(|(name, param, axis)| {
        let axis = proc_macro2::Literal::i64_unsuffixed(*axis);
        quote::quote!(#[allow(unused_variables, non_snake_case)] let #name = #param.size(#axis);)
    });
    let lets: TokenStream = lets.collect();
    let stmts: TokenStream =
        block.stmts.iter().map(|s| lower.dims_in_tokens(quote::ToTokens::to_token_stream(s))).collect();
    drop(lower);
    let _ = diags.gate();
    quote::quote!({ #lets #stmts })
}

/// What a name means.
#[derive(Clone)]
pub(super) enum Binding {
    /// A variable that holds an active value.
    Active(Var),
    /// An integer or truth-value tensor, cloned at each use, and its shape constant.
    Tensor(Var, Option<Ident>),
    /// Part of a model.
    Place(Place),
    /// The `&mut Cx`.
    Context,
    /// A dim of an annotation, which is also a `usize` of that name.
    Dim,
    /// Anything else.
    Plain,
}

/// A variable.
pub(super) struct VarInfo {
    pub(super) ident: Ident,
    /// The value that it holds at this point of the body.
    pub(super) value: Option<Value>,
    /// Active only if something active is stored in it later.
    pub(super) tentative: bool,
}

/// What an expression became.
pub(super) enum Lowered {
    Active(Value, Var),
    /// Code without a derivative; whether it gives a tensor, and that tensor's shape constant.
    Plain(Plain, bool, Option<Ident>),
    Place(Place),
}

pub(super) struct Lower<'a, 'd> {
    context: &'a Context<'a>,
    /// The function's name, where it is differentiated.
    name: Option<&'a Ident>,
    diags: &'d mut Diags,
    scopes: Vec<BTreeMap<String, Binding>>,
    vars: Vec<VarInfo>,
    values: u32,
    temps: u32,
    regions: Vec<Vec<Stmt>>,
    proofs: Proofs,
    shapes: BTreeMap<Value, shape::Known>,
    /// Dims that are also locals: name, parameter, axis.
    dims: Vec<(Ident, Ident, i64)>,
    /// Parameters that are `&mut`, the `Cx` aside.
    exclusive: BTreeSet<String>,
    /// Calls that several outputs are asked of.
    outputs: BTreeMap<Value, shape::Asked>,
    /// The constant that holds the bindings of names so far.
    last_env: Option<Ident>,
    constants: u32,
}

impl<'a, 'd> Lower<'a, 'd> {
    fn new(context: &'a Context<'a>, diags: &'d mut Diags) -> Self {
        Lower {
            context,
            name: None,
            diags,
            scopes: vec![],
            vars: vec![],
            values: 0,
            temps: 0,
            regions: vec![vec![]],
            proofs: Proofs::default(),
            shapes: BTreeMap::new(),
            dims: vec![],
            exclusive: BTreeSet::new(),
            outputs: BTreeMap::new(),
            last_env: None,
            constants: 0,
        }
    }

    fn open(&mut self) {
        self.scopes.push(BTreeMap::new());
    }

    fn close(&mut self) {
        self.scopes.pop();
    }

    fn find(&self, name: &str) -> Option<&Binding> {
        self.scopes.iter().rev().find_map(|scope| scope.get(name))
    }

    fn bind(&mut self, name: &Ident, binding: Binding) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.insert(name.to_string(), binding);
        }
    }

    fn emit(&mut self, stmt: Stmt) {
        if let Some(region) = self.regions.last_mut() {
            region.push(stmt);
        }
    }

    fn value(&mut self) -> Value {
        self.values += 1;
        Value(self.values - 1)
    }

    fn var(&mut self, ident: Ident, value: Option<Value>) -> Var {
        self.vars.push(VarInfo { ident, value, tentative: false });
        Var(self.vars.len() as u32 - 1)
    }

    /// A variable that no user code names.
    fn temp(&mut self, value: Option<Value>) -> Var {
        self.temps += 1;
        let mut ident = hygiene::local("t", self.temps);
        // With the user's hygiene an operator on it stands in the user's code, as far as errors at run time go.
        if let Some(name) = self.name {
            ident.set_span(name.span());
        }
        self.var(ident, value)
    }

    fn info(&mut self, var: Var) -> &mut VarInfo {
        &mut self.vars[var.0 as usize]
    }

    fn ident(&self, var: Var) -> &Ident {
        &self.vars[var.0 as usize].ident
    }

    fn current(&self, var: Var) -> Option<Value> {
        self.vars[var.0 as usize].value
    }

    fn param(&mut self, param: &super::ast::Param) -> Option<Value> {
        match param.kind {
            Kind::Active => {
                let value = self.value();
                let var = self.var(param.ident.clone(), Some(value));
                self.bind(&param.ident, Binding::Active(var));
                if let Some(shape) = &param.shape {
                    self.declare_shape(value, shape);
                }
                Some(value)
            }
            Kind::Tensor => {
                let var = self.var(param.ident.clone(), None);
                let shape = param.shape.as_ref().map(|s| self.annotation(s));
                self.bind(&param.ident, Binding::Tensor(var, shape));
                None
            }
            Kind::Context => {
                self.bind(&param.ident, Binding::Context);
                None
            }
            Kind::Plain => {
                if matches!(&param.ty, syn::Type::Reference(r) if r.mutability.is_some()) {
                    self.exclusive.insert(param.ident.to_string());
                }
                self.bind(&param.ident, Binding::Plain);
                None
            }
        }
    }

    /// Statements in order; the value of the tail.
    fn block(&mut self, block: &syn::Block) -> Option<Lowered> {
        let count = block.stmts.len();
        let mut tail = None;
        for (at, stmt) in block.stmts.iter().enumerate() {
            let rest = &block.stmts[at + 1..];
            match stmt {
                syn::Stmt::Local(local) => self.local(local, rest),
                syn::Stmt::Item(item) => self.emit(Stmt::Plain(Plain { tokens: quote::quote!(#item), uses: vec![] })),
                syn::Stmt::Macro(mac) => self.macro_stmt(mac),
                syn::Stmt::Expr(expr, None) if at + 1 == count => tail = self.tail(expr),
                syn::Stmt::Expr(expr, _) => self.stmt(expr),
            }
        }
        tail
    }

    fn tail(&mut self, expr: &Expr) -> Option<Lowered> {
        match expr {
            Expr::ForLoop(_) | Expr::Assign(_) => {
                self.stmt(expr);
                None
            }
            Expr::If(_) | Expr::Match(_) | Expr::Block(_) => self.branch(expr, true),
            other => Some(self.expr(other)),
        }
    }

    /// An operand where a value is needed; a bare field is read.
    fn operand(&mut self, lowered: Lowered) -> Operand {
        match lowered {
            Lowered::Active(value, var) => Operand::Active { value, var, last: false, at: None },
            Lowered::Plain(plain, ..) => Operand::Plain(plain),
            Lowered::Place(place) => match self.read(place) {
                Lowered::Active(value, var) => Operand::Active { value, var, last: false, at: None },
                Lowered::Plain(plain, ..) => Operand::Plain(plain),
                Lowered::Place(place) => Operand::Plain(Plain { tokens: place.code, uses: place.uses }),
            },
        }
    }

    fn local(&mut self, local: &syn::Local, rest: &[syn::Stmt]) {
        let Some(init) = local.init.as_ref().filter(|i| i.diverge.is_none()) else {
            check::binding_without_value(local, self.diags);
            match &local.pat {
                Pat::Ident(p) => {
                    let value = self.value();
                    let var = self.var(p.ident.clone(), Some(value));
                    self.bind(&p.ident, Binding::Active(var));
                }
                other => self.bind_pattern_plain(other),
            }
            return;
        };
        let (pat, declared) = match &local.pat {
            Pat::Type(typed) => (&*typed.pat, Some(&*typed.ty)),
            other => (other, None),
        };
        let mark = checkpoint::mark(&local.attrs);
        if let Some(attr) = mark
            && (!self.active(&init.expr) || self.is_place(&init.expr))
        {
            check::checkpoint_without_value(attr, self.diags);
        }
        let may_become_active = self.is_new_list(&init.expr) || self.gives_tensor(&init.expr);
        if let Pat::Ident(p) = pat
            && p.mutability.is_some()
            && may_become_active
            && !self.active(&init.expr)
            && plain::stored_later(&p.ident, rest)
        {
            return self.tentative(local, &p.ident, &init.expr);
        }
        if !self.active(&init.expr) {
            return self.plain_local(local, pat, declared, &init.expr);
        }
        let lowered = match (&*init.expr, mark) {
            (whole, Some(attr)) => self.checkpoint(attr, whole),
            (Expr::If(_) | Expr::Match(_) | Expr::Block(_), None) => self.branch(&init.expr, true),
            (other, None) => Some(self.expr(other)),
        };
        match lowered {
            Some(lowered) => self.bind_lowered(pat, declared, lowered),
            None => self.bind_pattern_plain(pat),
        }
    }

    /// Binds what an active expression became.
    fn bind_lowered(&mut self, pat: &Pat, declared: Option<&syn::Type>, lowered: Lowered) {
        match (pat, lowered) {
            (Pat::Ident(p), Lowered::Place(place)) if declared.is_none() => {
                self.bind(&p.ident, Binding::Place(place));
            }
            (Pat::Ident(p), lowered) => {
                let operand = self.operand(lowered);
                self.bind_operand(p, operand, declared);
            }
            (Pat::Tuple(tuple), lowered) => {
                let operand = self.operand(lowered);
                self.unpack(tuple, operand);
            }
            (Pat::Paren(p), lowered) => self.bind_lowered(&p.pat, declared, lowered),
            (Pat::Wild(_), lowered) => {
                self.operand(lowered);
            }
            (other, _) => {
                check::pattern(other, self.diags);
                self.bind_pattern_plain(other);
            }
        }
    }

    fn bind_operand(&mut self, p: &syn::PatIdent, operand: Operand, declared: Option<&syn::Type>) {
        let declare = if p.mutability.is_some() { Declare::LetMut } else { Declare::Let };
        match operand {
            Operand::Active { value, var, .. } => {
                let to = self.rename_last(var, &p.ident, declare).unwrap_or_else(|| {
                    let to = self.var(p.ident.clone(), Some(value));
                    self.emit(Stmt::Move {
                        var: to,
                        declare,
                        from: Operand::Active { value, var, last: false, at: None },
                    });
                    to
                });
                self.bind(&p.ident, Binding::Active(to));
                if let Some(ty) = declared {
                    self.typed_binding(to, &p.ident, ty);
                }
            }
            Operand::Plain(plain) => {
                let to = self.var(p.ident.clone(), None);
                self.emit(Stmt::Move { var: to, declare, from: Operand::Plain(plain) });
                self.bind(&p.ident, Binding::Plain);
            }
        }
    }

    /// If the last statement made the temporary `var`, lets it make the user's variable instead.
    fn rename_last(&mut self, var: Var, ident: &Ident, declare: Declare) -> Option<Var> {
        let last = self.regions.last_mut()?.last_mut()?;
        let (made, how) = match last {
            Stmt::Call(call) => (call.var, &mut call.declare),
            Stmt::Branch(branch) => branch.result.as_mut().map(|(v, d)| (*v, d))?,
            _ => return None,
        };
        if made != var || !hygiene::is_local(&self.vars[var.0 as usize].ident) {
            return None;
        }
        *how = declare;
        self.vars[var.0 as usize].ident = ident.clone();
        Some(var)
    }

    fn unpack(&mut self, tuple: &syn::PatTuple, from: Operand) {
        let Operand::Active { value: whole, .. } = from else {
            check::pattern(tuple, self.diags);
            return;
        };
        let (mut parts, mut mutable) = (vec![], vec![]);
        for (at, pat) in tuple.elems.iter().enumerate() {
            match pat {
                Pat::Ident(p) if p.subpat.is_none() => {
                    let value = self.value();
                    let var = self.var(p.ident.clone(), Some(value));
                    self.bind(&p.ident, Binding::Active(var));
                    self.part_shape(whole, at, value);
                    if p.mutability.is_some() {
                        mutable.push((p, Operand::Active { value, var, last: false, at: None }));
                    }
                    parts.push((Some(var), Some(value)));
                }
                Pat::Wild(_) => parts.push((None, None)),
                other => {
                    check::pattern(other, self.diags);
                    self.bind_pattern_plain(other);
                    parts.push((None, None));
                }
            }
        }
        self.emit(Stmt::Unpack { from, parts });
        for (p, part) in mutable {
            self.bind_operand(p, part, None);
        }
    }

    /// `let mut v = Vec::new();` and the like, when something active is stored in `v` later.
    fn tentative(&mut self, local: &syn::Local, ident: &Ident, init: &Expr) {
        let code = self.plain(init);
        let pat = &local.pat;
        let tokens = &code.tokens;
        let value = self.value();
        let var = self.var(ident.clone(), Some(value));
        self.info(var).tentative = true;
        self.emit(Stmt::Plain(Plain { tokens: quote::quote!(let #pat = #tokens;), uses: code.uses }));
        self.bind(ident, Binding::Active(var));
    }

    /// `let` of something without a derivative.
    fn plain_local(&mut self, local: &syn::Local, pat: &Pat, declared: Option<&syn::Type>, init: &Expr) {
        let code = self.plain(init);
        let tensor = self.gives_tensor(init);
        let tokens = &code.tokens;
        let mut written = local.pat.clone();
        if let Pat::Type(typed) = &mut written {
            crate::dims::strip_types(&mut typed.ty);
        }
        self.emit(Stmt::Plain(Plain { tokens: quote::quote!(let #written = #tokens;), uses: code.uses }));
        match pat {
            Pat::Ident(p) if tensor => {
                let var = self.var(p.ident.clone(), None);
                let shape = self.plain_shape(init);
                self.bind(&p.ident, Binding::Tensor(var, shape));
                if let Some(ty) = declared {
                    self.typed_binding(var, &p.ident, ty);
                }
            }
            Pat::Tuple(t) if tensor => {
                let parts = self.plain_parts(init, t.elems.len());
                for (part, shape) in t.elems.iter().zip(parts) {
                    match part {
                        Pat::Ident(p) => {
                            let var = self.var(p.ident.clone(), None);
                            self.bind(&p.ident, Binding::Tensor(var, shape));
                        }
                        other => self.bind_pattern_plain(other),
                    }
                }
            }
            other => self.bind_pattern_plain(other),
        }
    }

    fn bind_pattern_plain(&mut self, pat: &Pat) {
        for ident in plain::names_in(pat) {
            self.bind(&ident, Binding::Plain);
        }
    }

    fn macro_stmt(&mut self, mac: &syn::StmtMacro) {
        let uses = self.mentioned(&mac.mac.tokens);
        let borrowed: Vec<Ident> = uses.iter().map(|v| self.ident(*v).clone()).collect();
        let tokens = match borrowed.is_empty() {
            true => quote::quote!(#mac),
            false => quote::quote!({ #(let #borrowed = &#borrowed;)* #mac }),
        };
        let tokens = self.dims_in_tokens(tokens);
        self.emit(Stmt::Plain(Plain { tokens, uses }));
    }

    fn stmt(&mut self, expr: &Expr) {
        match expr {
            Expr::Assign(assign) => self.assign(assign),
            Expr::Binary(binary) if plain::compound(&binary.op).is_some() => self.compound(binary),
            Expr::ForLoop(f) => self.for_loop(f),
            Expr::If(_) | Expr::Match(_) | Expr::Block(_) => {
                self.branch(expr, false);
            }
            Expr::MethodCall(call) if call.method == "push" && self.list_var(&call.receiver).is_some() => {
                if let Some(attr) = checkpoint::mark(&call.attrs) {
                    check::misplaced_checkpoint(attr, self.diags);
                }
                self.push(call)
            }
            other if self.active(other) => {
                let lowered = self.expr(other);
                self.operand(lowered);
            }
            other => {
                let code = self.plain(other);
                let tokens = code.tokens;
                self.emit(Stmt::Plain(Plain { tokens: quote::quote!(#tokens;), uses: code.uses }));
            }
        }
    }

    fn assign(&mut self, assign: &syn::ExprAssign) {
        let name = match &*assign.left {
            Expr::Path(p) => p.path.get_ident().cloned(),
            _ => None,
        };
        let binding = name.as_ref().and_then(|n| self.find(&n.to_string()).cloned());
        match (name, binding) {
            (Some(_), Some(Binding::Active(var))) => {
                let lowered = match &*assign.right {
                    Expr::If(_) | Expr::Match(_) | Expr::Block(_) => self.branch(&assign.right, true),
                    other => Some(self.expr(other)),
                };
                let Some(lowered) = lowered else { return };
                let from = self.operand(lowered);
                let value = match &from {
                    Operand::Active { value, .. } => *value,
                    Operand::Plain(_) => self.value(),
                };
                let info = self.info(var);
                info.value = Some(value);
                info.tentative = false;
                self.emit(Stmt::Move { var, declare: Declare::Assign, from });
            }
            (Some(_), _) if !self.active(&assign.right) => {
                let (left, code) = (&assign.left, self.plain(&assign.right));
                let tokens = code.tokens;
                self.emit(Stmt::Plain(Plain { tokens: quote::quote!(#left = #tokens;), uses: code.uses }));
            }
            _ => check::index_assignment(&assign.left, self.diags),
        }
    }

    fn compound(&mut self, binary: &syn::ExprBinary) {
        let active = self.active(&binary.left) || self.active(&binary.right);
        match (active, plain::compound(&binary.op)) {
            (true, Some(operator)) => {
                let name = quote::ToTokens::to_token_stream(&binary.left).to_string();
                check::compound_assignment(&binary.op, &name, operator, self.diags);
            }
            _ => {
                let (left, op, code) = (&binary.left, &binary.op, self.plain(&binary.right));
                let tokens = code.tokens;
                self.emit(Stmt::Plain(Plain { tokens: quote::quote!(#left #op #tokens;), uses: code.uses }));
            }
        }
    }

    /// Code for an expression without a derivative.
    fn plain(&mut self, expr: &Expr) -> Plain {
        plain::code(self, expr)
    }

    /// Wraps every name in SCREAMING case that is bound nowhere, since it may be one of the model's dims.
    fn dims_in_tokens(&self, tokens: TokenStream) -> TokenStream {
        plain::dims_in_tokens(self, tokens)
    }
}
