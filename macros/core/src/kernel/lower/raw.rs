//! Raw kernels: the shapes are declared, and the body is code for the device.

use super::super::Form;
use super::super::ast::Kernel;
use super::super::check::signature as check;
use super::Lower;
use cotangent_ir::{Id, Mode};
use proc_macro2::Span;

impl Lower<'_> {
    /// Declares the outputs of a raw kernel, without stores.
    pub(super) fn raw(&mut self, ast: &Kernel, form: Form, at: Span) {
        if ast.options.cpu.is_none() {
            check::raw_without_cpu(at, self.diags);
        }
        if form == Form::Pointwise {
            check::raw_of_elements(at, self.diags);
        }
        if let Some(changed) = ast.params.iter().find(|p| p.by_mut) {
            check::raw_of_changes(&changed.ty, self.diags);
        }
        for (place, out) in ast.outs.iter().enumerate() {
            let Some(extents) = self.out_extents(out) else { continue };
            let name = super::outputs::name(place, ast.outs.len());
            let dims: Vec<Id> = extents.iter().map(|e| e.node).collect();
            self.b.output_of(&name, out.kind, &dims, Mode::Set, vec![]);
        }
        self.params.iter_mut().for_each(|p| p.used = true);
    }
}
