//! `#[checkpoint]`: a block that starts from copies of what it uses when it runs again.

use super::plain::idents_in;
use super::{Binding, Lower, Lowered};
use crate::model::body::ir::{Form, Kept, Place, Stmt, Value, Var};
use crate::model::body::{check, emit, live};
use proc_macro2::{Ident, Span};
use quote::ToTokens;
use std::collections::{BTreeMap, BTreeSet};
use syn::{Attribute, Expr, Meta};

/// The `#[checkpoint]` among some attributes.
pub(super) fn mark(attrs: &[Attribute]) -> Option<&Attribute> {
    attrs.iter().find(|a| check::is_checkpoint(a))
}

impl Lower<'_, '_> {
    /// A call that `attr` stands on.
    pub(super) fn checkpointed_call(&mut self, attr: &Attribute, call: &Expr) -> Lowered {
        let mut call = call.clone();
        if let Expr::MethodCall(syn::ExprMethodCall { attrs, .. }) | Expr::Call(syn::ExprCall { attrs, .. }) = &mut call
        {
            attrs.retain(|a| !check::is_checkpoint(a));
        }
        self.checkpoint(attr, &call).unwrap_or_else(|| self.nothing())
    }

    /// An expression that `attr` makes a checkpoint; its value, if it has one.
    pub(super) fn checkpoint(&mut self, attr: &Attribute, expr: &Expr) -> Option<Lowered> {
        if !matches!(attr.meta, Meta::Path(_)) {
            check::checkpoint_arguments(attr, self.diags);
        }
        let (mut read, places) = self.named(expr);
        let before: Vec<Option<Value>> = self.vars.iter().map(|v| v.value).collect();
        let lowered = self.block_of(Form::Checkpoint(Kept::default()), expr);
        let Self { vars, regions, .. } = self;
        let Some(Stmt::Branch(branch)) = regions.last_mut().and_then(|r| r.last_mut()) else { return lowered };
        let outer = |var: &Var| (var.0 as usize) < before.len();
        let inputs: BTreeSet<Var> = branch.arms.iter_mut().flat_map(|arm| live::inputs(&mut arm.region)).collect();
        let active: Vec<Var> = inputs.into_iter().filter(outer).collect();
        read.extend(active.iter().map(|v| entry(&vars[v.0 as usize].ident)));
        let assigned = vars.iter().zip(&before).filter(|(var, before)| var.value != **before);
        let mut assigned: BTreeMap<String, Ident> = assigned.map(|(var, _)| entry(&var.ident)).collect();
        assigned.retain(|name, _| !read.contains_key(name));
        let (read, assigned) = (read.into_values().collect(), assigned.into_values().collect());
        branch.form = Form::Checkpoint(Kept { read, active, assigned, places });
        lowered
    }

    /// The variables that an expression names, those with a derivative aside: for these, the statements that it becomes
    /// say more. Beside them, what those that are part of a model refer to.
    fn named(&mut self, expr: &Expr) -> (BTreeMap<String, Ident>, Vec<Place>) {
        let (mut names, mut tokens, mut read, mut places) = (BTreeSet::new(), BTreeMap::new(), BTreeMap::new(), vec![]);
        idents_in(expr.to_token_stream(), &mut names);
        emit::idents(expr.to_token_stream(), &mut tokens);
        for name in names {
            let ident = match self.find(&name) {
                Some(Binding::Place(place)) => match place.root().filter(|root| root != "self") {
                    Some(root) => {
                        places.push(place.clone());
                        root
                    }
                    None => continue,
                },
                Some(Binding::Tensor(..) | Binding::Context | Binding::Plain) => {
                    // A name without a token stands in the braces of a format string.
                    tokens.remove(&name).unwrap_or_else(|| Ident::new(&name, Span::call_site()))
                }
                Some(Binding::Active(_) | Binding::Dim) | None => continue,
            };
            if self.exclusive.contains(&name) && matches!(self.find(&name), Some(Binding::Plain)) {
                check::checkpoint_of_changes(&ident, self.diags);
            }
            read.extend([entry(&ident)]);
        }
        (read, places)
    }
}

fn entry(ident: &Ident) -> (String, Ident) {
    (ident.to_string(), ident.clone())
}
