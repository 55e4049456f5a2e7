//! The rules of a differentiated body. Each function reports one rule, and its name is the rule's id.

use crate::diags::Diags;
use cotangent_ir::{Output, op};
use quote::ToTokens;
use syn::visit::{self, Visit};
use syn::visit_mut::VisitMut;
use syn::{Attribute, Expr, ExprCall, ExprForLoop, ExprMethodCall, Stmt};

/// Reports what the syntax of a body alone shows to be wrong.
pub(super) fn syntax(block: &syn::Block, diags: &mut Diags) {
    Syntax { diags, closures_allowed: 0, hosts: vec![] }.visit_block(block);
}

/// Reports every `#[checkpoint]` that `visit` meets, in code without a derivative, and takes it away.
pub(super) fn without_value(visit: impl FnOnce(&mut Checkpoints<'_>), diags: &mut Diags) {
    visit(&mut Checkpoints { diags, rule: checkpoint_without_value });
}

/// Reports `#[checkpoint]` among the attributes of an item, and takes it away.
pub(super) fn without_body(attrs: &mut Vec<Attribute>, diags: &mut Diags) {
    Checkpoints { diags, rule: misplaced_checkpoint }.visit_attributes_mut(attrs);
}

/// A visitor that takes every `#[checkpoint]` for a mistake.
pub(super) struct Checkpoints<'d> {
    diags: &'d mut Diags,
    rule: fn(&Attribute, &mut Diags),
}

impl VisitMut for Checkpoints<'_> {
    fn visit_attributes_mut(&mut self, attrs: &mut Vec<Attribute>) {
        attrs.iter().filter(|a| is_checkpoint(a)).for_each(|a| (self.rule)(a, self.diags));
        attrs.retain(|a| !is_checkpoint(a));
    }
}

struct Syntax<'ast, 'd> {
    diags: &'d mut Diags,
    closures_allowed: u32,
    /// The attributes of what may be a checkpoint.
    hosts: Vec<&'ast Attribute>,
}

impl<'ast> Visit<'ast> for Syntax<'ast, '_> {
    fn visit_stmt(&mut self, stmt: &'ast Stmt) {
        let attrs = match stmt {
            Stmt::Local(local) => {
                self.hosts.extend(&local.attrs);
                &local.attrs[..]
            }
            Stmt::Macro(mac) => &mac.attrs[..],
            Stmt::Item(item) => {
                return Checkpoints { diags: self.diags, rule: misplaced_checkpoint }.visit_item_mut(&mut item.clone());
            }
            Stmt::Expr(..) => &[],
        };
        cfg_statement(attrs, self.diags);
        visit::visit_stmt(self, stmt);
    }

    fn visit_attribute(&mut self, attr: &'ast Attribute) {
        match (is_checkpoint(attr), self.hosts.iter().any(|host| std::ptr::eq(*host, attr))) {
            (true, true) => {}
            (true, false) => misplaced_checkpoint(attr, self.diags),
            (false, _) => unknown_attribute(attr, self.diags),
        }
    }

    fn visit_expr(&mut self, expr: &'ast Expr) {
        if let Expr::MethodCall(ExprMethodCall { attrs, .. })
        | Expr::Call(ExprCall { attrs, .. })
        | Expr::ForLoop(ExprForLoop { attrs, .. }) = expr
        {
            self.hosts.extend(attrs);
        }
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

/// An extent of -1, which other frameworks infer or keep.
pub(super) fn negative_extent(shape: &Expr, operation: &str, diags: &mut Diags) {
    let Expr::Array(extents) = shape else { return };
    for extent in &extents.elems {
        if let Expr::Unary(unary) = extent
            && matches!(unary.op, syn::UnOp::Neg(_))
            && matches!(&*unary.expr, Expr::Lit(_))
        {
            let help = match operation {
                "reshape" => "write it out, as in `4 * T`, or merge axes with `flatten(1)`",
                _ => "write it out, as in `B`",
            };
            let given = extent.to_token_stream().to_string().replace(' ', "");
            diags.error(extent, format!("an extent of `{operation}` cannot be `{given}`; {help}"));
        }
    }
}

/// A call of an operation with another number of arguments than it takes.
pub(super) fn arity(at: &impl ToTokens, operation: &cotangent_ir::Op, given: usize, diags: &mut Diags) {
    let (name, takes) = (operation.name, operation.arguments.len());
    if given == takes {
        return;
    }
    let (plural, are) = (if takes == 1 { "" } else { "s" }, if given == 1 { "is" } else { "are" });
    let all = match (operation.rule.starts_with("reduce"), given) {
        (true, 0) if takes == 1 => format!("; `{name}(..)` goes over all axes"),
        _ => String::new(),
    };
    diags.error(at, format!("`{name}` takes {takes} argument{plural}, {given} {are} given{all}"));
}

/// A method that no operation bears.
pub(super) fn unknown_operation(name: &proc_macro2::Ident, known: &[&str], diags: &mut Diags) {
    let text = name.to_string();
    let elsewhere = cotangent_ir::ops().find(|o| o.method && (o.torch == text || o.burn == text)).map(|o| o.name);
    let elsewhere = elsewhere.or((text == "view").then_some("reshape"));
    let near = known.iter().map(|k| (strsim::jaro_winkler(k, &text), *k)).filter(|(score, _)| *score > 0.8);
    let hint = match elsewhere.or_else(|| near.max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, k)| k)) {
        Some(k) => format!("did you mean `{k}`? Otherwise "),
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

/// Whether an attribute is `#[checkpoint]`.
pub(super) fn is_checkpoint(attr: &Attribute) -> bool {
    attr.path().is_ident("checkpoint")
}

/// `#[checkpoint]` on anything but a `let`, a `for` or a call.
pub(super) fn misplaced_checkpoint(at: &Attribute, diags: &mut Diags) {
    diags.error(
        at,
        "`#[checkpoint]` goes on a `let`, a `for` or a call in the body of a method with a derivative, as in `x = #[checkpoint] self.block.forward(x)`",
    );
}

/// `#[checkpoint(..)]`.
pub(super) fn checkpoint_arguments(at: &Attribute, diags: &mut Diags) {
    diags.error(at, "`#[checkpoint]` takes no arguments");
}

/// `#[checkpoint]` on something that has no cotangent.
pub(super) fn checkpoint_without_value(at: &Attribute, diags: &mut Diags) {
    diags.error(at, "nothing here has a pullback, so that there is nothing to run again; leave out `#[checkpoint]`");
}

/// A parameter that is `&mut`, named in a checkpoint.
pub(super) fn checkpoint_of_changes(at: &proc_macro2::Ident, diags: &mut Diags) {
    diags.error(at, format!("`{at}` is `&mut`, and what a checkpoint changes would change twice; use it outside"));
}

/// Attributes of Rust's own that may stand in a body, and `#[boxed]`.
const ATTRIBUTES: &[&str] = &["allow", "boxed", "cfg", "cfg_attr", "deny", "doc", "expect", "forbid", "warn"];

/// An attribute in a body that nothing reads.
fn unknown_attribute(at: &Attribute, diags: &mut Diags) {
    let Some(name) = at.path().get_ident().map(ToString::to_string) else { return };
    if ATTRIBUTES.contains(&name.as_str()) {
        return;
    }
    let near = ["boxed", "checkpoint"].into_iter().find(|k| strsim::jaro_winkler(k, &name) > 0.8);
    let hint = near.map_or_else(|| "leave it out".to_owned(), |near| format!("did you mean `{near}`?"));
    diags.error(at, format!("`#[{name}]` has no meaning in the body of a method with a derivative; {hint}"));
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

/// A constructor around an active value, as `Some(x)`.
pub(super) fn constructor(name: &proc_macro2::Ident, diags: &mut Diags) {
    diags.error(
        name,
        format!("`{name}(..)` of a value with a derivative has no rule; an operand that may be left out takes the value or `None`"),
    );
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
