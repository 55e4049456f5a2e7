//! Places: paths into a model that start at `self`, or at a name bound to such a path.

use super::plain::named;
use super::{Binding, Lower, Lowered};
use crate::hygiene;
use crate::model::body::ir::{Call, Callee, Declare, Place, Plain, Step, Stmt};
use proc_macro2::Ident;
use quote::quote;
use syn::Expr;

impl Lower<'_, '_> {
    /// Whether an expression is a place.
    pub(super) fn is_place(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Path(p) => match p.path.get_ident().map(|i| i.to_string()) {
                Some(name) if name == "self" => self.context.self_ty.is_some(),
                Some(name) => matches!(self.find(&name), Some(Binding::Place(_))),
                None => false,
            },
            Expr::Field(f) => named(&f.member).is_some() && self.is_place(&f.base),
            Expr::Index(i) => self.is_place(&i.expr) && !self.active(&i.index),
            Expr::Reference(r) => self.is_place(&r.expr),
            Expr::Paren(p) => self.is_place(&p.expr),
            Expr::MethodCall(m) if m.method == "as_ref" && m.args.is_empty() => self.is_place(&m.receiver),
            _ => false,
        }
    }

    /// The place that an expression is; an index is kept in a local of its own.
    pub(super) fn place(&mut self, expr: &Expr) -> Option<Place> {
        match expr {
            Expr::Path(p) => {
                let ident = p.path.get_ident()?;
                if ident == "self" {
                    self.context.self_ty?;
                    return Some(Place { code: quote!(#ident), reference: true, steps: vec![], uses: vec![] });
                }
                match self.find(&ident.to_string()) {
                    Some(Binding::Place(place)) => Some(place.clone()),
                    _ => None,
                }
            }
            Expr::Field(f) => {
                let ident = named(&f.member)?.clone();
                let mut place = self.place(&f.base)?;
                let (base, dot) = (&place.code, &f.dot_token);
                place.code = quote!(#base #dot #ident);
                place.reference = false;
                place.steps.push(Step::Field(ident));
                Some(place)
            }
            Expr::Index(i) => {
                let mut place = self.place(&i.expr)?;
                let index = self.plain(&i.index);
                let local = self.index_local();
                let tokens = &index.tokens;
                self.emit(Stmt::Plain(Plain { tokens: quote!(let #local: usize = #tokens;), uses: index.uses }));
                let base = &place.code;
                place.code = quote!(#base[#local]);
                place.reference = false;
                place.steps.push(Step::Index(local));
                Some(place)
            }
            Expr::Reference(r) => self.place(&r.expr),
            Expr::Paren(p) => self.place(&p.expr),
            Expr::MethodCall(m) if m.method == "as_ref" && m.args.is_empty() => self.place(&m.receiver),
            _ => None,
        }
    }

    /// A local of ours that holds a position.
    pub(super) fn index_local(&mut self) -> Ident {
        self.temps += 1;
        hygiene::local("i", self.temps)
    }

    /// A bare field as a value.
    pub(super) fn read(&mut self, place: Place) -> Lowered {
        let value = self.value();
        let var = self.temp(Some(value));
        self.read_shape(value, &place);
        let callee = Callee::Read { place };
        self.emit(Stmt::Call(Call { callee, args: vec![], var, declare: Declare::Let, value, boxed: false }));
        Lowered::Active(value, var)
    }
}
