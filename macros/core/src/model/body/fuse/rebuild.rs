//! From the statements of a group to those that take their place.

use super::kernel::{Layout, Member, Plan};
use super::operation::{Operation, literal};
use super::parts::Group;
use super::uses::Uses;
use super::{Fuse, Source};
use crate::hygiene;
use crate::model::body::ir::{
    Arm, Branch, Call, Callee, Declare, Form, Fused, Made, Operand, Phi, Plain, Region, Stmt, Value, Var,
};
use crate::native;
use proc_macro2::{Span, TokenStream};
use quote::quote;
use std::collections::{BTreeMap, BTreeSet};
use syn::spanned::Spanned;

impl Fuse<'_> {
    /// Puts a group in the place of its last statement. `cells` hold what stands at each place of the region, `uses` what
    /// each statement used.
    pub(super) fn rebuild(&mut self, cells: &mut [Vec<Stmt>], uses: &[Uses], group: &BTreeSet<usize>) {
        let member = |at: &usize| {
            let stmt = cells[*at].last()?;
            Some(Member { at: *at, operation: Operation::of(stmt, &self.sure)?, call: stmt.call()? })
        };
        let members = group.iter().filter_map(member).collect();
        let Some(parts) = (Group { members, uses, names: &self.body.vars }).parts() else { return };
        // A kernel that cannot be emitted leaves the group as it is.
        let mut codes = vec![];
        for plan in parts.iter().map(|part| part.plan.as_ref()) {
            match plan.map(|plan| native::embedded(&plan.kernel, &plan.wrt, plan.rows.as_ref().map(|l| l.group))) {
                Some(Some(code)) => codes.push(code),
                Some(None) => return,
                None => codes.push(TokenStream::new()),
            }
        }
        let mut calls: BTreeMap<usize, Call> = BTreeMap::new();
        for &at in group {
            if let Some(Stmt::Call(mut call)) = cells[at].pop() {
                self.name_code(&mut call, &mut cells[at]);
                calls.insert(at, call);
            }
        }
        // Where the statement that declares a variable is gone, a later one that assigned it declares it.
        let declares: BTreeMap<Var, Declare> =
            calls.values().filter(|c| c.declare != Declare::Assign).map(|c| (c.var, c.declare)).collect();
        let last = group.last().copied().unwrap_or(0);
        for (part, code) in parts.into_iter().zip(codes) {
            let mut own: BTreeMap<usize, Call> =
                part.members.iter().filter_map(|at| Some((*at, calls.remove(at)?))).collect();
            for call in own.values_mut() {
                call.declare = declares.get(&call.var).copied().unwrap_or(call.declare);
            }
            match part.plan {
                Some(plan) => cells[last].push(self.fused(&plan, code, &part.outs, own)),
                None => cells[last].extend(own.into_values().map(Stmt::Call)),
            }
        }
    }

    /// Gives code among the operands of a call a name of its own, so that it is evaluated where it stands.
    fn name_code(&mut self, call: &mut Call, before: &mut Vec<Stmt>) {
        for arg in &mut call.args {
            if matches!(arg, Operand::Plain(code) if literal(&code.tokens).is_none()) {
                let var = self.var("f");
                let ident = &self.body.vars[var.0 as usize];
                let named = Operand::Plain(Plain { tokens: quote!(#ident), uses: vec![] });
                let from = std::mem::replace(arg, named);
                before.push(Stmt::Move { var, declare: Declare::Let, from });
            }
        }
    }

    fn var(&mut self, prefix: &str) -> Var {
        let var = Var(self.body.vars.len() as u32);
        self.body.vars.push(hygiene::local(prefix, var.0));
        var
    }

    fn value(&mut self) -> Value {
        self.body.values += 1;
        Value(self.body.values - 1)
    }

    /// The statement of a part that one kernel computes, with its operations beside it where shapes decide.
    fn fused(&mut self, plan: &Plan, code: TokenStream, outs: &[usize], mut calls: BTreeMap<usize, Call>) -> Stmt {
        let operand = |source: &Source| match *source {
            Source::Code(at, place) => calls.get(&at).map(|c| c.args[place].clone()),
            Source::Value(value) => {
                let is = |o: &&Operand| matches!(o, Operand::Active { value: v, .. } if *v == value);
                calls.values().flat_map(|c| &c.args).find(is).cloned()
            }
        };
        let operands: Vec<Operand> = plan.operands.iter().filter_map(operand).collect();
        let kernel = self.constant(plan, &code);
        let span = calls.values().last().map_or_else(Span::call_site, place);
        let made = |call: &Call| Made { var: call.var, declare: call.declare, value: call.value };
        let outs: Vec<Made> = outs.iter().filter_map(|at| calls.get(at)).map(made).collect();
        let conditional = plan.rows.as_ref().is_some_and(Layout::is_conditional);
        let (true, [out]) = (conditional, &outs[..]) else {
            return Stmt::Fused(Fused { kernel, operands, outs, span });
        };
        // Both arms give their result a name of their own; the branch gives it that of the user.
        let (fast, slow) = ((self.var("f"), self.value()), (self.var("f"), self.value()));
        if let Some(call) = calls.values_mut().find(|c| c.value == out.value) {
            (call.var, call.declare, call.value) = (slow.0, Declare::Let, slow.1);
        }
        let arm = |head, stmts, (var, value): (Var, Value)| {
            let result = Some(Operand::Active { value, var, last: false, at: None });
            Arm { head, region: Region { stmts, result } }
        };
        let head = self.fits(&kernel, &operands);
        let made = Made { var: fast.0, declare: Declare::Let, value: fast.1 };
        let fused = vec![Stmt::Fused(Fused { kernel, operands, outs: vec![made], span })];
        let plain = calls.into_values().map(Stmt::Call).collect();
        Stmt::Branch(Branch {
            form: Form::If,
            arms: vec![arm(head, fused, fast), arm(Plain::default(), plain, slow)],
            phis: vec![Phi { out: out.value, arms: vec![Some(fast.1), Some(slow.1)] }],
            result: Some((out.var, out.declare)),
        })
    }

    /// The condition under which a group with reductions is what its operations are.
    fn fits(&self, kernel: &TokenStream, operands: &[Operand]) -> Plain {
        let (mut codes, mut uses) = (vec![], vec![]);
        for operand in operands {
            match operand {
                Operand::Active { var, .. } => {
                    let ident = &self.body.vars[var.0 as usize];
                    codes.push(quote!(#ident));
                    uses.push(*var);
                }
                Operand::Plain(code) => codes.push(code.tokens.clone()),
            }
        }
        let extents = quote!(#(::cotangent::__private::Operand::extents(&#codes)),*);
        Plain { tokens: quote!(::cotangent::__private::kernel::fits(#kernel, &[#extents])), uses }
    }

    /// Declares the constant of a kernel, and gives its path.
    fn constant(&mut self, plan: &Plan, code: &TokenStream) -> TokenStream {
        let name = hygiene::fused(self.function, self.body.groups.len());
        let text = &*plan.kernel.name;
        let form = match &plan.rows {
            None => quote!(Form::Elements(&fused::DEF)),
            Some(Layout { operands, vectors, out, whole, .. }) => quote! {
                Form::Rows {
                    kernel: &fused::DEF,
                    operands: #operands,
                    vectors: #vectors,
                    out: #out,
                    whole: &[#(#whole),*],
                }
            },
        };
        self.body.groups.push(quote! {
            #[doc(hidden)]
            const #name: &'static ::cotangent::__private::kernel::Fusion = {
                #code
                use ::cotangent::__private::kernel::{Form, Fusion};
                &Fusion { name: #text, form: #form }
            };
        });
        match self.method {
            true => quote!(Self::#name),
            false => {
                let function = self.function;
                quote!(#function::#name)
            }
        }
    }
}

/// Where an operation stands.
fn place(call: &Call) -> Span {
    match &call.callee {
        Callee::Operator { token, .. } => token.span(),
        Callee::Operation { name } | Callee::Layer { name, .. } => name.span(),
        Callee::Function { path } | Callee::Associated { path } => path.span(),
        Callee::Read { place } => place.code.span(),
    }
}
