//! From [`ast`](super::ast) to the kernel language: names, extents and kinds are resolved, sugar disappears.
//!
//! Whatever has a mistake is reported once and has no value from then on, so that all independent mistakes are found in
//! one pass and none is reported twice.

mod access;
mod by_hand;
mod calls;
mod dims;
mod expr;
mod functions;
mod operators;
mod outputs;
mod placeholder;
mod ranges;
mod raw;
mod reduce;
mod scan;

use super::ast::{At, Kernel, Node, Param, ParamKind, text};
use super::bounds::Bounds;
use super::check;
use super::{Form, Lowered};
use crate::diags::Diags;
use access::Access;
use cotangent_ir::{Arg, Axis, Builder, Dim, Id, Kind, verify};
use dims::{Dims, Extent};
use proc_macro2::Span;

pub(super) use calls::SPECIAL;
pub(super) use functions::nearest;
pub(super) use placeholder::partial;
pub(super) use reduce::NAMES as REDUCTIONS;
pub(super) use scan::NAMES as SCANS;

/// Lowers a kernel; nothing if it has a mistake.
pub(super) fn kernel(ast: Kernel, diags: &mut Diags) -> Option<Lowered> {
    let form = form(&ast);
    let mut lower = Lower::new(&ast, diags);
    lower.signature(&ast, form);
    match (form, ast.options.raw) {
        (_, Some(span)) => lower.raw(&ast, form, span),
        (Form::Pointwise, None) => lower.pointwise(&ast),
        (Form::Tensor, None) => lower.tensors(&ast),
    }
    lower.unused_parameters(&ast);
    let nonempty = lower.bounds();
    if lower.diags.len() > 0 {
        return None;
    }
    let Lower { b, spans, callees: mut called, dims, .. } = lower;
    let kernel = b.finish();
    // What a raw kernel stores is not known here, which is its one fault.
    for fault in if ast.options.raw.is_some() { vec![] } else { verify(&kernel) } {
        let span = fault.node.and_then(|id| kernel.span(id)).and_then(|at| spans.get(at as usize));
        diags.error_at(span.copied().unwrap_or_else(|| ast.name.span()), fault);
    }
    let callees = kernel.callees.iter().filter_map(|callee| placeholder::path(callee, &called)).collect();
    let declared: Vec<(String, Kind)> =
        kernel.outs.iter().zip(&ast.outs).map(|(out, _)| (out.name.to_string(), out.kind)).collect();
    let by_hand = by_hand::by_hand(&ast, form, &declared, &mut called, diags);
    let Kernel { name, attrs, vis, params, outs, options, .. } = ast;
    if let (Form::Pointwise, Some(at)) = (form, options.unrounded) {
        check::signature::unrounded_elements(at, diags);
    }
    let (raw, unrounded) = (options.cpu, options.unrounded.is_some());
    Some(Lowered {
        form,
        kernel,
        name,
        attrs,
        vis,
        by_hand,
        raw,
        unrounded,
        params,
        outs,
        callees,
        nonempty,
        constants: dims.constants(),
        spans,
    })
}

/// A kernel is pointwise if nothing in its signature is a tensor.
fn form(ast: &Kernel) -> Form {
    let tensor = ast.params.iter().any(|p| matches!(p.kind, ParamKind::Tensor(_)));
    if tensor || ast.outs.iter().any(|out| out.shape.is_some()) { Form::Tensor } else { Form::Pointwise }
}

/// A kernel that is being lowered.
struct Lower<'a> {
    diags: &'a mut Diags,
    b: Builder,
    /// The kernel's own name.
    name: String,
    dims: Dims,
    params: Vec<Parameter<'a>>,
    /// What names stand for, the innermost last.
    scope: Vec<(String, Binding)>,
    /// The loads that must be proved inside.
    accesses: Vec<Access>,
    /// The axes of the closures under way.
    live: Vec<Axis>,
    /// The positions of the output, inside of the closure over it.
    places: Option<Vec<Id>>,
    callees: Vec<placeholder::Callee>,
    /// Whether a type was reported, so that dims may be missing.
    partial: bool,
    /// What the numbers in [`cotangent_ir::Kernel::spans`] stand for.
    spans: Vec<Span>,
}

/// A parameter as the body sees it.
struct Parameter<'a> {
    ast: &'a Param,
    arg: Arg,
    /// Its extents; none where they were reported.
    extents: Option<Vec<Extent>>,
    used: bool,
    /// The value at the output's position, once it was assigned.
    stored: Option<Id>,
    /// Whether it was assigned at all, if only wrongly.
    assigned: bool,
}

/// What a name stands for.
#[derive(Clone)]
enum Binding {
    /// A parameter, by its place.
    Param(usize),
    /// A value; none where it was reported.
    Value(Option<Value>),
    /// A value that varies along the axis of the running reduction under way.
    Hidden,
}

/// What an expression gives.
#[derive(Clone, Debug)]
enum Value {
    Node(Id),
    Tuple(Vec<Value>),
}

impl<'a> Lower<'a> {
    fn new(ast: &Kernel, diags: &'a mut Diags) -> Lower<'a> {
        Lower {
            diags,
            b: Builder::new(&text(&ast.name)),
            name: text(&ast.name),
            dims: Dims::default(),
            params: vec![],
            scope: vec![],
            accesses: vec![],
            live: vec![],
            places: None,
            callees: vec![],
            partial: ast.params.iter().any(|p| matches!(p.kind, ParamKind::Unknown)),
            spans: vec![Span::call_site()],
        }
    }

    /// Declares dims and parameters.
    fn signature(&mut self, ast: &'a Kernel, form: Form) {
        for (param, shape) in ast.params.iter().filter_map(|p| Some((p, p.shape()?))) {
            self.declare_dims(shape, &At::of(&param.ty));
        }
        let taken: Vec<String> = ast.params.iter().map(|p| text(&p.ident)).collect();
        let results = ast.outs.iter().filter_map(|out| out.shape.as_ref());
        let shapes = ast.params.iter().filter_map(|p| p.shape()).chain(results);
        shapes.for_each(|shape| self.declare_constants(shape, &taken));
        for (place, param) in ast.params.iter().enumerate() {
            let (kind, extents) = match &param.kind {
                ParamKind::Scalar(kind) => (*kind, Some(vec![])),
                ParamKind::Wide => {
                    if form == Form::Pointwise {
                        check::signature::unknown_type(&param.ty, self.diags);
                    }
                    (Kind::Float, Some(vec![]))
                }
                ParamKind::Size | ParamKind::Key => {
                    if form == Form::Pointwise {
                        check::signature::pointwise_parameter(&param.ty, self.diags);
                    }
                    (Kind::Int, Some(vec![]))
                }
                ParamKind::Tensor(shape) => {
                    (super::parse::element(shape.kind), self.extents(shape, &At::of(&param.ty)))
                }
                ParamKind::Unknown => (Kind::Float, None),
            };
            let dims: Vec<Id> = extents.iter().flatten().map(|e| e.node).collect();
            let arg = self.b.arg(&text(&param.ident), kind, &dims);
            self.params.push(Parameter { ast: param, arg, extents, used: false, stored: None, assigned: false });
            self.scope.push((text(&param.ident), Binding::Param(place)));
            if self.dims.get(&text(&param.ident)).is_some() {
                check::signature::parameter_named_like_a_dim(&param.ident, self.diags);
            }
        }
        if !self.partial {
            self.unbound_dims(ast);
        }
        let changes = ast.params.iter().any(|p| p.by_mut);
        let unread = ast.params.is_empty() && form == Form::Pointwise;
        if unread && !ast.outs.is_empty() {
            check::signature::no_parameters(&ast.name, self.diags);
        }
        if ast.outs.is_empty() && !changes {
            check::signature::no_result(&ast.name, self.diags);
        }
    }

    /// Notes the token of the nodes that are made next.
    fn note(&mut self, at: &At) {
        self.b.set_span(self.spans.len() as u32);
        self.spans.push(at.first);
    }

    /// An axis of that extent for an index of that name: one of an earlier closure, if it is not in use.
    fn axis(&mut self, name: &str, extent: Id) -> Axis {
        let axes = self.b.axes().iter().zip(0..);
        let free = axes.filter(|(def, at)| def.extent == extent && !self.live.contains(&Axis(*at)));
        let known = free.map(|(_, at)| Axis(at)).next();
        let axis = known.unwrap_or_else(|| self.b.axis(name, extent));
        self.live.push(axis);
        axis
    }

    /// Every name that a body can say, for hints.
    fn known_names(&self) -> Vec<&str> {
        let scope = self.scope.iter().map(|(name, _)| name.as_str());
        scope.chain(self.dims.names()).collect()
    }

    /// Reports parameters that nothing needs: no element is read, and no dim would be unknown without it.
    fn unused_parameters(&mut self, ast: &Kernel) {
        // What was reported may have been the use.
        if self.diags.len() > 0 {
            return;
        }
        let unused = |p: &Parameter<'_>| !p.used && !p.assigned && !text(&p.ast.ident).starts_with('_');
        let names: Vec<_> = self.params.iter().filter(|p| unused(p)).map(|p| &p.ast.ident).collect();
        for name in names {
            let others = ast.params.iter().filter(|p| p.ident != *name);
            if self.unbound(others).is_empty() {
                check::signature::unused_parameter(name, self.diags);
            }
        }
    }

    /// Proves the loads inside; gives the dims that the launch must find not to be 0.
    fn bounds(&mut self) -> Vec<Dim> {
        let mut bounds = Bounds::new(&self.b, &self.dims.quotients);
        for access in &self.accesses {
            for (axis, (index, extent)) in access.indices.iter().zip(&access.extents).enumerate() {
                if bounds.is_data(index.node) || bounds.inside(index.node, extent.node) {
                    continue;
                }
                let range = bounds.range_of(index.node).map(|r| self.dims.written_range(&r));
                let (name, extent) = (&access.name, &extent.written);
                check::index::out_of_bounds(&index.at, name, axis, extent, range, access.free, self.diags);
            }
        }
        bounds.nonempty.into_iter().collect()
    }
}

/// Whether an expression is a closure.
fn is_closure(node: &Node) -> bool {
    matches!(node, Node::Closure(_))
}
