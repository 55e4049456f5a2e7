//! Loops, branches and blocks.

use super::checkpoint;
use super::plain::{is_self, names_in, stores};
use super::{Binding, Lower, Lowered};
use crate::model::body::check;
use crate::model::body::ir::{
    Arm, Branch, Carried, Declare, For, Form, Operand, Phi, Place, Plain, Region, Step, Stmt, Value, Var,
};
use proc_macro2::{Ident, TokenStream};
use quote::quote;
use std::collections::BTreeSet;
use syn::{Expr, ExprBlock, ExprForLoop, Pat};

/// What the pattern of a loop is matched against.
enum Items {
    Plain,
    /// References into a list of layers.
    Layers(Place),
    /// Positions in a list of active values.
    List(Var),
    Pair(Box<Items>, Box<Items>),
}

impl Lower<'_, '_> {
    pub(super) fn for_loop(&mut self, f: &ExprForLoop) {
        let (iter, items) = self.iterator(&f.expr);
        let mut stored = BTreeSet::new();
        f.body.stmts.iter().for_each(|s| stores(s, &mut stored));
        let mut carried: Vec<Carried> = vec![];
        for name in &stored {
            if let Some(Binding::Active(var)) = self.find(name).cloned()
                && let Some(before) = self.current(var)
            {
                let start = self.value();
                self.info(var).value = Some(start);
                self.same_shape(before, start);
                carried.push(Carried { var, before, start, end: start, after: start });
            }
        }
        self.regions.push(vec![]);
        self.open();
        let pat = self.loop_pattern(&f.pat, items);
        let result = match checkpoint::mark(&f.attrs) {
            Some(attr) => {
                if carried.is_empty() {
                    check::checkpoint_without_value(attr, self.diags);
                }
                self.checkpoint(attr, &Expr::Block(ExprBlock { attrs: vec![], label: None, block: f.body.clone() }))
            }
            None => self.block(&f.body),
        };
        if let Some(lowered) = result
            && !matches!(lowered, Lowered::Plain(..))
        {
            check::unsupported(&f.body, self.diags);
        }
        self.close();
        let body = Region { stmts: self.regions.pop().unwrap_or_default(), result: None };
        for c in &mut carried {
            c.end = self.current(c.var).unwrap_or(c.start);
            c.after = self.value();
            self.info(c.var).value = Some(c.after);
            self.joined_shape(&[c.before, c.end], c.after);
        }
        let label = &f.label;
        self.emit(Stmt::For(For { pat: quote!(#label for #pat), iter, body, carried }));
    }

    /// The iterator as emitted, and what it gives.
    fn iterator(&mut self, expr: &Expr) -> (Plain, Items) {
        match expr {
            Expr::Paren(p) => self.iterator(&p.expr),
            Expr::MethodCall(m) => match (m.method.to_string().as_str(), m.args.len()) {
                ("enumerate", 0) => {
                    let (mut inner, items) = self.iterator(&m.receiver);
                    let tokens = &inner.tokens;
                    inner.tokens = quote!(#tokens.enumerate());
                    (inner, Items::Pair(Box::new(Items::Plain), Box::new(items)))
                }
                ("rev" | "skip" | "take" | "step_by", _) => {
                    let (mut inner, items) = self.iterator(&m.receiver);
                    let (tokens, method, args) = (&inner.tokens, &m.method, &m.args);
                    inner.tokens = quote!(#tokens.#method(#args));
                    (inner, items)
                }
                ("zip", 1) => {
                    let (mut left, items) = self.iterator(&m.receiver);
                    let (right, others) = self.iterator(&m.args[0]);
                    let (a, b) = (&left.tokens, &right.tokens);
                    left.tokens = quote!(#a.zip(#b));
                    left.uses.extend(right.uses);
                    (left, Items::Pair(Box::new(items), Box::new(others)))
                }
                ("iter" | "into_iter", 0) if self.is_place(&m.receiver) || self.list_var(&m.receiver).is_some() => {
                    self.collection(&m.receiver)
                }
                _ => self.plain_iterator(expr),
            },
            Expr::Reference(_) | Expr::Path(_) if self.is_place(expr) || self.referenced_list(expr).is_some() => {
                self.collection(expr)
            }
            _ => self.plain_iterator(expr),
        }
    }

    fn referenced_list(&self, expr: &Expr) -> Option<Var> {
        match expr {
            Expr::Reference(r) => self.list_var(&r.expr),
            other => self.list_var(other),
        }
    }

    fn collection(&mut self, expr: &Expr) -> (Plain, Items) {
        if let Some(list) = self.referenced_list(expr) {
            let ident = self.ident(list).clone();
            return (Plain { tokens: quote!((0..#ident.len())), uses: vec![list] }, Items::List(list));
        }
        match self.place(expr) {
            Some(place) => {
                let code = &place.code;
                (Plain { tokens: quote!(#code.iter()), uses: place.uses.clone() }, Items::Layers(place))
            }
            None => self.plain_iterator(expr),
        }
    }

    fn plain_iterator(&mut self, expr: &Expr) -> (Plain, Items) {
        if self.active(expr) {
            check::active_condition(expr, self.diags);
        }
        let mut code = self.plain(expr);
        if matches!(expr, Expr::Range(_)) {
            let tokens = &code.tokens;
            code.tokens = quote!((#tokens));
        }
        (code, Items::Plain)
    }

    /// Binds the names of a loop's pattern, with a prologue for what they stand for.
    fn loop_pattern(&mut self, pat: &Pat, items: Items) -> TokenStream {
        match (pat, items) {
            (Pat::Tuple(t), Items::Pair(a, b)) if t.elems.len() == 2 => {
                let (left, right) = (self.loop_pattern(&t.elems[0], *a), self.loop_pattern(&t.elems[1], *b));
                quote!((#left, #right))
            }
            (Pat::Ident(p), Items::Layers(list)) => {
                let local = self.index_local();
                let (ident, code) = (&p.ident, &list.code);
                let tokens = quote!(let #local = ::cotangent::__private::index_of(&#code, #ident););
                self.emit(Stmt::Plain(Plain { tokens, uses: vec![] }));
                let mut steps = list.steps;
                steps.push(Step::Index(local));
                self.bind(ident, Binding::Place(Place { code: quote!(#ident), reference: true, steps, uses: vec![] }));
                quote!(#ident)
            }
            (Pat::Ident(p), Items::List(list)) => {
                let local = self.index_local();
                let lowered = self.element_at(list, Plain { tokens: quote!(#local), uses: vec![] });
                if let Lowered::Active(value, var) = lowered {
                    let to = self.var(p.ident.clone(), Some(value));
                    let from = Operand::Active { value, var, last: false, at: None };
                    self.emit(Stmt::Move { var: to, declare: Declare::Let, from });
                    self.bind(&p.ident, Binding::Active(to));
                }
                quote!(#local)
            }
            (other, Items::Plain) => {
                for ident in names_in(other) {
                    self.bind(&ident, Binding::Plain);
                }
                quote!(#other)
            }
            (Pat::Wild(w), _) => quote!(#w),
            (other, _) => {
                check::pattern(other, self.diags);
                quote!(#other)
            }
        }
    }

    /// `if`, `match` or a block; its value where one is asked for.
    pub(super) fn branch(&mut self, expr: &Expr, wanted: bool) -> Option<Lowered> {
        let (form, heads) = self.heads(expr);
        self.arms(form, heads, wanted, expr)
    }

    /// An expression as the only arm of a branch; its value, if it has one.
    pub(super) fn block_of(&mut self, form: Form, expr: &Expr) -> Option<Lowered> {
        self.arms(form, vec![Head::last(Body::Expr(expr))], true, expr)
    }

    fn arms(&mut self, form: Form, heads: Vec<Head<'_>>, wanted: bool, expr: &Expr) -> Option<Lowered> {
        let before: Vec<Option<Value>> = self.vars.iter().map(|v| v.value).collect();
        let outer = before.len();
        let mut arms = vec![];
        let mut ends: Vec<Vec<Option<Value>>> = vec![];
        let mut results = vec![];
        for head in heads {
            for (var, value) in self.vars.iter_mut().zip(&before) {
                var.value = *value;
            }
            self.open();
            let plain = self.head(&head, &form);
            self.regions.push(vec![]);
            let tail = match &head.body {
                Body::Block(block) => self.block(block),
                Body::Expr(e) => self.tail(e),
                Body::Empty => None,
            };
            let result = match (wanted, tail) {
                (true, Some(tail)) => Some(self.operand(tail)),
                (false, Some(tail)) => {
                    let operand = self.operand(tail);
                    if let Operand::Plain(p) = operand {
                        let tokens = p.tokens;
                        self.emit(Stmt::Plain(Plain { tokens: quote!(#tokens;), uses: p.uses }));
                    }
                    None
                }
                (_, None) => None,
            };
            self.close();
            let stmts = self.regions.pop().unwrap_or_default();
            ends.push(self.vars.iter().take(outer).map(|v| v.value).collect());
            results.push(result.as_ref().and_then(active_value));
            arms.push(Arm { head: plain, region: Region { stmts, result } });
        }
        let mut phis = vec![];
        for at in 0..outer {
            let values: Vec<Option<Value>> = ends.iter().map(|e| e[at]).collect();
            if values.iter().any(|v| *v != before[at]) {
                let out = self.value();
                self.vars[at].value = Some(out);
                let known: Vec<Value> = values.iter().flatten().copied().collect();
                self.joined_shape(&known, out);
                phis.push(Phi { out, arms: values });
            } else {
                self.vars[at].value = before[at];
            }
        }
        if !wanted {
            self.emit(Stmt::Branch(Branch { form, arms, phis, result: None }));
            return None;
        }
        if arms.iter().any(|a| a.region.result.is_none()) {
            if arms.iter().any(|a| a.region.result.is_some()) || results.iter().any(Option::is_some) {
                check::missing_value(expr, self.diags);
            }
            self.emit(Stmt::Branch(Branch { form, arms, phis, result: None }));
            return None;
        }
        if results.iter().all(Option::is_none) {
            let var = self.temp(None);
            let ident = self.ident(var).clone();
            self.emit(Stmt::Branch(Branch { form, arms, phis, result: Some((var, Declare::Let)) }));
            return Some(Lowered::Plain(Plain { tokens: quote!(#ident), uses: vec![] }, false, None));
        }
        let out = self.value();
        let known: Vec<Value> = results.iter().flatten().copied().collect();
        self.joined_shape(&known, out);
        phis.push(Phi { out, arms: results });
        let var = self.temp(Some(out));
        self.emit(Stmt::Branch(Branch { form, arms, phis, result: Some((var, Declare::Let)) }));
        Some(Lowered::Active(out, var))
    }

    fn heads<'e>(&mut self, expr: &'e Expr) -> (Form, Vec<Head<'e>>) {
        match expr {
            Expr::If(first) => {
                let mut heads = vec![];
                let mut next = Some(first);
                while let Some(branch) = next.take() {
                    heads.push(Head {
                        cond: Some(&branch.cond),
                        pat: None,
                        scrutinee: None,
                        body: Body::Block(&branch.then_branch),
                    });
                    match &branch.else_branch {
                        Some((_, other)) => match &**other {
                            Expr::If(i) => next = Some(i),
                            other => heads.push(Head::last(Body::Expr(other))),
                        },
                        None => heads.push(Head::last(Body::Empty)),
                    }
                }
                (Form::If, heads)
            }
            Expr::Match(m) => {
                let scrutinee = self.scrutinee(&m.expr);
                let heads = m.arms.iter().map(|arm| Head {
                    cond: None,
                    pat: Some(&arm.pat),
                    scrutinee: Some(&m.expr),
                    body: Body::Expr(&arm.body),
                });
                (Form::Match(scrutinee), heads.collect())
            }
            Expr::Block(b) => (Form::Block, vec![Head::last(Body::Block(&b.block))]),
            other => (Form::Block, vec![Head::last(Body::Expr(other))]),
        }
    }

    /// What `match` and `if let` look at: a place is borrowed, anything else is plain code.
    fn scrutinee(&mut self, expr: &Expr) -> Plain {
        if self.is_place(expr)
            && let Some(place) = self.place(expr)
        {
            let code = place.code;
            let tokens = if place.reference { code } else { quote!(&#code) };
            return Plain { tokens, uses: place.uses };
        }
        if self.active(expr) {
            check::active_condition(expr, self.diags);
        }
        self.plain(expr)
    }

    /// The condition or pattern of an arm, and the names that it binds.
    fn head(&mut self, head: &Head<'_>, form: &Form) -> Plain {
        match (head.cond, head.pat, form) {
            (Some(cond), ..) => self.condition(cond),
            (None, Some(pat), Form::Match(_)) => {
                self.arm_pattern(pat, head.scrutinee);
                Plain { tokens: quote!(#pat), uses: vec![] }
            }
            _ => Plain::default(),
        }
    }

    fn condition(&mut self, cond: &Expr) -> Plain {
        match cond {
            Expr::Let(l) => {
                let scrutinee = self.scrutinee(&l.expr);
                self.arm_pattern(&l.pat, Some(&l.expr));
                let (pat, tokens) = (&l.pat, &scrutinee.tokens);
                Plain { tokens: quote!(let #pat = #tokens), uses: scrutinee.uses }
            }
            Expr::Binary(b) if matches!(b.op, syn::BinOp::And(_)) => {
                let (left, right) = (self.condition(&b.left), self.condition(&b.right));
                let (a, op, c) = (&left.tokens, &b.op, &right.tokens);
                Plain { tokens: quote!(#a #op #c), uses: [left.uses, right.uses].concat() }
            }
            other => {
                if self.active(other) && !self.is_place(other) {
                    check::active_condition(other, self.diags);
                }
                self.plain(other)
            }
        }
    }

    /// Binds the names of a pattern: to parts of a model where the scrutinee is one.
    fn arm_pattern(&mut self, pat: &Pat, scrutinee: Option<&Expr>) {
        let place = scrutinee.filter(|s| self.is_place(s)).cloned().and_then(|s| self.quiet_place(&s));
        if let (Some(place), Pat::TupleStruct(t)) = (&place, pat)
            && t.elems.len() == 1
            && let Some(Pat::Ident(p)) = t.elems.first()
            && let Some(last) = t.path.segments.last()
        {
            let whole = scrutinee.is_some_and(is_self);
            let step = match (last.ident == "Some", whole) {
                (true, _) => Some(Step::Some),
                (false, true) => Some(Step::Variant(t.path.clone(), last.ident.clone())),
                (false, false) => None,
            };
            if let Some(step) = step {
                let mut steps = place.steps.clone();
                steps.push(step);
                let ident: &Ident = &p.ident;
                let code = quote!(#ident);
                self.bind(ident, Binding::Place(Place { code, reference: true, steps, uses: vec![] }));
                return;
            }
        }
        for ident in names_in(pat) {
            self.bind(&ident, Binding::Plain);
        }
    }

    /// A place whose statements, if any, are there already.
    fn quiet_place(&mut self, expr: &Expr) -> Option<Place> {
        self.regions.push(vec![]);
        let place = self.place(expr);
        self.regions.pop();
        place
    }
}

fn active_value(operand: &Operand) -> Option<Value> {
    match operand {
        Operand::Active { value, .. } => Some(*value),
        Operand::Plain(_) => None,
    }
}

struct Head<'e> {
    cond: Option<&'e Expr>,
    pat: Option<&'e Pat>,
    scrutinee: Option<&'e Expr>,
    body: Body<'e>,
}

enum Body<'e> {
    Block(&'e syn::Block),
    Expr(&'e Expr),
    Empty,
}

impl<'e> Head<'e> {
    fn last(body: Body<'e>) -> Self {
        let body = match body {
            Body::Expr(Expr::Block(b)) if b.label.is_none() => Body::Block(&b.block),
            other => other,
        };
        Head { cond: None, pat: None, scrutinee: None, body }
    }
}
