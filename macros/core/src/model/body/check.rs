//! The rules of a differentiated body. Each function reports one rule, and its name is the rule's id.

use crate::diags::Diags;
use cotangent_ir::{Output, op};
use quote::ToTokens;
use syn::visit::{self, Visit};
use syn::{Attribute, Expr, Stmt};

/// Reports what the syntax of a body alone shows to be wrong.
pub(super) fn syntax(block: &syn::Block, diags: &mut Diags) {
    Syntax { diags, closures_allowed: 0 }.visit_block(block);
}

struct Syntax<'d> {
    diags: &'d mut Diags,
    closures_allowed: u32,
}

impl<'ast> Visit<'ast> for Syntax<'_> {
    fn visit_stmt(&mut self, stmt: &'ast Stmt) {
        let attrs = match stmt {
            Stmt::Local(local) => &local.attrs[..],
            Stmt::Macro(mac) => &mac.attrs[..],
            Stmt::Item(_) => return,
            Stmt::Expr(..) => &[],
        };
        cfg_statement(attrs, self.diags);
        visit::visit_stmt(self, stmt);
    }

    fn visit_expr(&mut self, expr: &'ast Expr) {
        match expr {
            Expr::While(e) => trip_count(&e.while_token, "while", self.diags),
            Expr::Loop(e) => trip_count(&e.loop_token, "loop", self.diags),
            Expr::Break(e) => trip_count(&e.break_token, "break", self.diags),
            Expr::Continue(e) => trip_count(&e.continue_token, "continue", self.diags),
            Expr::Return(e) => early_exit(&e.return_token, "return", self.diags),
            Expr::Try(e) => early_exit(&e.question_token, "?", self.diags),
            Expr::Unsafe(e) => unsafe_block(&e.unsafe_token, self.diags),
            Expr::Async(e) => async_block(&e.async_token, self.diags),
            Expr::Await(e) => async_block(&e.await_token, self.diags),
            Expr::Closure(e) if self.closures_allowed == 0 => closure(&e.inputs_begin, self.diags),
            Expr::MethodCall(e) if op(&e.method.to_string(), true).is_some_and(|o| o.output != Output::Active) => {
                e.attrs.iter().filter(|a| a.path().is_ident("boxed")).for_each(|a| boxed_without_call(a, self.diags));
            }
            Expr::Call(e) if is_no_grad(&e.func) => {
                self.closures_allowed += 1;
                visit::visit_expr(self, expr);
                self.closures_allowed -= 1;
                return;
            }
            _ => {}
        }
        visit::visit_expr(self, expr);
    }
}

/// Whether the callee is `no_grad`, inside which anything may stand.
pub(super) fn is_no_grad(callee: &Expr) -> bool {
    matches!(callee, Expr::Path(p) if p.path.is_ident("no_grad"))
}

fn trip_count(at: &dyn ToTokensRef, word: &str, diags: &mut Diags) {
    diags.error(
        &at.tokens(),
        format!(
            "`{word}` cannot be differentiated: the trip count must be known on entry; use `for`, or `#[no_grad] fn`"
        ),
    );
}

fn early_exit(at: &dyn ToTokensRef, word: &str, diags: &mut Diags) {
    diags.error(
        &at.tokens(),
        format!("`{word}` cannot leave a differentiated body; make it the tail of an `if`/`else`"),
    );
}

fn unsafe_block(at: &dyn ToTokensRef, diags: &mut Diags) {
    diags.error(&at.tokens(), "`unsafe` cannot be differentiated; move it to a `#[no_grad] fn`");
}

fn async_block(at: &dyn ToTokensRef, diags: &mut Diags) {
    diags.error(&at.tokens(), "`async` code cannot be differentiated; move it to a `#[no_grad] fn`");
}

fn closure(at: &dyn ToTokensRef, diags: &mut Diags) {
    diags
        .error(&at.tokens(), "a closure cannot be differentiated; use a `for` loop, or wrap the call in `no_grad(..)`");
}

fn cfg_statement(attrs: &[Attribute], diags: &mut Diags) {
    if let Some(attr) = attrs.iter().find(|a| a.path().is_ident("cfg")) {
        diags.error(
            attr,
            "`#[cfg]` on a statement cannot be differentiated; put it on the method, or use `if cfg!(..)`",
        );
    }
}

/// `x[i] = v`, or an assignment to anything but a variable.
pub(super) fn index_assignment(at: &Expr, diags: &mut Diags) {
    diags.error(
        at,
        "tensors are values and cannot be assigned in parts; build a new one, such as `x = cat(vec![a, b], 0)`",
    );
}

/// `x += y` on a tensor.
pub(super) fn compound_assignment(at: &impl ToTokens, name: &str, operator: &str, diags: &mut Diags) {
    diags.error(at, format!("tensors are values; write `{name} = {name} {operator} ..`"));
}

/// A condition, an index or a range that depends on a tensor.
pub(super) fn active_condition(at: &Expr, diags: &mut Diags) {
    diags.error(
        at,
        "a tensor cannot decide the control flow of a differentiated body; use `select(c, a, b)`, or `no_grad(..)`",
    );
}

/// A method that no operation bears.
pub(super) fn unknown_operation(name: &proc_macro2::Ident, known: &[&str], diags: &mut Diags) {
    let text = name.to_string();
    let near = known.iter().map(|k| (strsim::jaro_winkler(k, &text), *k)).filter(|(score, _)| *score > 0.8);
    let hint = match near.max_by(|a, b| a.0.total_cmp(&b.0)) {
        Some((_, k)) => format!("did you mean `{k}`? Otherwise "),
        None => String::new(),
    };
    diags.error(name, format!("`{text}` has no derivative rule; {hint}wrap the call in `no_grad(..)`"));
}

/// A function that calls itself.
pub(super) fn recursion(name: &proc_macro2::Ident, diags: &mut Diags) {
    let message = "calls itself, so that the type of its pullback would hold itself; mark the call `#[boxed]`";
    diags.error(name, format!("`{name}` {message}"));
}

/// `#[boxed]` on anything but a call with a pullback.
pub(super) fn boxed_without_call(at: &Attribute, diags: &mut Diags) {
    diags.error(at, "`#[boxed]` goes on a call with a derivative, such as `#[boxed] self.forward(x)`");
}

/// A method of the same impl that is marked `#[no_grad]`, called on a value with a derivative.
pub(super) fn cut_by_no_grad(name: &proc_macro2::Ident, diags: &mut Diags) {
    diags.error(
        name,
        format!("`{name}` is `#[no_grad]` and would cut the derivative; say so with `no_grad(self.{name}(..))`"),
    );
}

/// Syntax that has no meaning for the derivative.
pub(super) fn unsupported(at: &impl ToTokens, diags: &mut Diags) {
    diags.error(at, "this has no derivative rule here; bind its parts with `let`, or wrap it in `no_grad(..)`");
}

/// An active value inside a macro whose result is used.
pub(super) fn macro_value(at: &impl ToTokens, diags: &mut Diags) {
    diags.error(
        at,
        "the derivative of a macro's result is not known; use the macro as a statement, or wrap it in `no_grad(..)`",
    );
}

/// A pattern that takes an active value apart in a way that has no rule.
pub(super) fn pattern(at: &impl ToTokens, diags: &mut Diags) {
    diags.error(at, "a value with a derivative can be bound to a name, or taken apart as a tuple of names");
}

/// `let x;` without a value, or `let .. else`.
pub(super) fn binding_without_value(at: &impl ToTokens, diags: &mut Diags) {
    diags.error(at, "give the variable its value where it is declared; `let .. else` cannot be differentiated");
}

/// A branch one arm of which has no value.
pub(super) fn missing_value(at: &impl ToTokens, diags: &mut Diags) {
    diags.error(at, "every arm of this branch needs a value, since one of them has a derivative");
}

/// A body without a tail expression.
pub(super) fn missing_tail(at: &impl ToTokens, diags: &mut Diags) {
    diags.error(at, "a differentiated body ends with the value that it returns");
}

/// A name that is no variable of the body.
pub(super) fn moved_receiver(at: &impl ToTokens, diags: &mut Diags) {
    diags.error(at, "a differentiated method takes `&self`; mark one that changes the model `#[no_grad]`");
}

/// `&Tensor![..]` as the type of a parameter.
pub(super) fn tensor_reference(at: &impl ToTokens, diags: &mut Diags) {
    diags.error(at, "tensors are values (a clone is a reference count); take `Tensor![..]` without `&`");
}

/// A method that is named like an operation of tensors.
pub(super) fn reserved_name(at: &proc_macro2::Ident, diags: &mut Diags) {
    diags.error(at, format!("`{at}` is an operation of tensors, so a model's method cannot bear the name; rename it"));
}

/// `#[model] impl Trait for X`.
pub(super) fn trait_impl(at: &impl ToTokens, diags: &mut Diags) {
    diags.error(at, "`#[model]` goes on an inherent `impl`; a trait's methods can call those of the model");
}

/// A parameter that is a pattern.
pub(super) fn parameter_pattern(at: &impl ToTokens, diags: &mut Diags) {
    diags.error(at, "a parameter of a differentiated function is a plain name");
}

/// An annotated function that returns nothing with a derivative, though it is asked for one.
pub(super) fn no_result(at: &impl ToTokens, diags: &mut Diags) {
    diags.error(at, "a free `#[model] fn` returns a float tensor; for anything else leave out `#[model]`");
}

/// `#[model(..)]` with arguments, on anything but a struct or enum.
pub(super) fn arguments(args: &proc_macro2::TokenStream, diags: &mut Diags) {
    if !args.is_empty() {
        diags.error(args, "`#[model]` on an `impl` or a `fn` takes no arguments; dims and checks go on the struct");
    }
}

/// A token of any type, so that one rule serves several.
pub(super) trait ToTokensRef {
    fn tokens(&self) -> proc_macro2::TokenStream;
}

impl<T: ToTokens> ToTokensRef for T {
    fn tokens(&self) -> proc_macro2::TokenStream {
        self.to_token_stream()
    }
}
