//! The outputs: the values of a pointwise body, or of closures over the outputs' indices.

use super::super::ast::{At, Block, Closure, Expr, Kernel, Node, Out, text};
use super::super::check::{dims, index, kinds, outputs as check, signature};
use super::dims::Extent;
use super::expr::{block_at, value_at};
use super::{Binding, Lower, Value, is_closure};
use cotangent_ir::{Axis, Id, Kind, Mode};

/// An output whose value is found.
struct Found {
    axes: Vec<Axis>,
    value: Id,
}

impl<'a> Lower<'a> {
    /// A pointwise kernel: the value of its body.
    pub(super) fn pointwise(&mut self, ast: &'a Kernel) {
        // The missing result is reported, and what the body would be for is not known.
        if ast.outs.is_empty() {
            return;
        }
        let value = self.block(&ast.body);
        let at = block_at(&ast.body);
        let Some(values) = value.and_then(|value| self.parts(value, ast.outs.len(), &at)) else { return };
        for (place, (value, out)) in values.into_iter().zip(&ast.outs).enumerate() {
            if let Some(value) = self.coerce(value, out.kind, &at) {
                self.output(place, ast.outs.len(), &[], Found { axes: vec![], value });
            }
        }
    }

    /// A kernel on tensors: one closure for all outputs, or one for each.
    pub(super) fn tensors(&mut self, ast: &'a Kernel) {
        let scalars = ast.outs.iter().filter(|out| out.shape.is_none());
        scalars.for_each(|out| signature::scalar_result(&out.at, self.diags));
        let outs: Vec<Option<Vec<Extent>>> = ast.outs.iter().map(|out| self.out_extents(out)).collect();
        self.statements(&ast.body, false);
        let Some(tail) = &ast.body.tail else {
            check::missing_closure(&At::from(ast.body.end), self.diags);
            return;
        };
        match &tail.node {
            Node::Broken => {}
            Node::Closure(closure) => self.shared(ast, closure, &outs),
            Node::Tuple(parts) if outs.len() > 1 && parts.iter().any(|e| is_closure(&e.node)) => {
                self.separate(ast, parts, &outs, &tail.at);
            }
            _ => self.without_axes(ast, tail, &outs),
        }
    }

    pub(super) fn out_extents(&mut self, out: &Out) -> Option<Vec<Extent>> {
        let shape = out.shape.as_ref()?;
        if let Some(None) = shape.rest {
            dims::nameless_group(&out.at, self.diags);
        }
        self.extents(shape, &out.at)
    }

    /// One closure, which gives all outputs and assigns all tensors that are changed.
    fn shared(&mut self, ast: &'a Kernel, closure: &'a Closure, outs: &[Option<Vec<Extent>>]) {
        let twice = self.duplicate_index(closure);
        // No other closure can assign, so that what this one leaves out stays as it is.
        let changed: Vec<usize> = (0..self.params.len()).filter(|&p| self.params[p].ast.by_mut).collect();
        let mut shapes: Vec<Option<Vec<Extent>>> = outs.to_vec();
        shapes.extend(changed.iter().map(|&p| self.params[p].extents.clone()));
        let shapes: Option<Vec<Vec<Extent>>> = shapes.into_iter().collect();
        let axes = shapes.filter(|_| !twice).and_then(|shapes| {
            let first = shapes.first()?.clone();
            let nodes = |shape: &[Extent]| shape.iter().map(|e| e.node).collect::<Vec<Id>>();
            if let Some(other) = shapes.iter().find(|shape| nodes(shape) != nodes(&first)) {
                check::outputs_differ(
                    &closure.head,
                    &written(&first),
                    &written(other),
                    !changed.is_empty(),
                    self.diags,
                );
                return None;
            }
            self.output_axes(closure, &first)
        });
        let value = self.closure(closure, axes.as_deref(), outs.len(), true);
        self.never_assigned();
        let Some(axes) = axes else { return };
        let at = value_at(&closure.body);
        if let Some(values) = value.and_then(|value| self.parts(value, outs.len(), &at)) {
            for (place, (value, out)) in values.into_iter().zip(&ast.outs).enumerate() {
                if let Some(value) = self.coerce(value, out.kind, &at) {
                    let shape = outs[place].as_deref().unwrap_or_default();
                    self.output(place, outs.len(), shape, Found { axes: axes.clone(), value });
                }
            }
        }
        for param in changed {
            let parameter = &self.params[param];
            let Some(value) = parameter.stored else { continue };
            let dims: Vec<Id> = parameter.extents.iter().flatten().map(|e| e.node).collect();
            let (name, kind) = (text(&parameter.ast.ident), self.b.kind(value));
            let store = self.b.plain_store(&axes, value);
            self.b.output_of(&name, kind, &dims, Mode::Set, vec![store]);
        }
    }

    /// One closure for each output.
    fn separate(&mut self, ast: &'a Kernel, parts: &'a [Expr], outs: &[Option<Vec<Extent>>], at: &At) {
        if parts.len() != outs.len() {
            check::number_of_closures(at, outs.len(), parts.len(), self.diags);
            return;
        }
        for (place, (part, out)) in parts.iter().zip(&ast.outs).enumerate() {
            let Node::Closure(closure) = &part.node else {
                if !matches!(part.node, Node::Broken) {
                    check::missing_closure(&part.at, self.diags);
                }
                continue;
            };
            let twice = self.duplicate_index(closure);
            let shape = outs[place].as_deref().filter(|_| !twice);
            let axes = shape.and_then(|shape| self.output_axes(closure, shape));
            let (value, at) = (self.closure(closure, axes.as_deref(), 1, false), value_at(&closure.body));
            let value = value.and_then(|value| self.one(value, &at)).and_then(|id| self.coerce(id, out.kind, &at));
            let (Some(shape), Some(axes), Some(value)) = (shape, axes, value) else { continue };
            self.output(place, outs.len(), shape, Found { axes, value });
        }
        self.never_assigned();
    }

    /// A value without a closure, for outputs without axes.
    fn without_axes(&mut self, ast: &'a Kernel, tail: &'a Expr, outs: &[Option<Vec<Extent>>]) {
        let scalars = outs.iter().all(|shape| shape.as_ref().is_some_and(Vec::is_empty));
        let changes = self.params.iter().any(|p| p.ast.by_mut);
        if changes || outs.is_empty() || !scalars {
            if outs.iter().all(Option::is_some) {
                check::missing_closure(&tail.at, self.diags);
            }
            return;
        }
        let value = self.expr(tail);
        let Some(values) = value.and_then(|value| self.parts(value, outs.len(), &tail.at)) else { return };
        for (place, (value, out)) in values.into_iter().zip(&ast.outs).enumerate() {
            if let Some(value) = self.coerce(value, out.kind, &tail.at) {
                self.output(place, outs.len(), &[], Found { axes: vec![], value });
            }
        }
    }

    /// The axes of a closure over these extents.
    fn output_axes(&mut self, closure: &Closure, shape: &[Extent]) -> Option<Vec<Axis>> {
        if closure.params.len() != shape.len() {
            check::closure_arity(&closure.head, &written(shape), shape.len(), closure.params.len(), self.diags);
            return None;
        }
        let mut axes = vec![];
        for (param, extent) in closure.params.iter().zip(shape) {
            let name = param.as_ref().map_or_else(|| "i".to_owned(), text);
            axes.push(self.axis(&name, extent.node));
        }
        Some(axes)
    }

    /// The value of a closure over the output's indices; nothing where there is to be none.
    fn closure(&mut self, closure: &'a Closure, axes: Option<&[Axis]>, outs: usize, assigns: bool) -> Option<Value> {
        let outer = self.scope.len();
        let places: Option<Vec<Id>> = axes.map(|axes| axes.iter().map(|&axis| self.b.index(axis)).collect());
        for (place, param) in closure.params.iter().enumerate() {
            let Some(param) = param else { continue };
            let index = places.as_ref().and_then(|places| places.get(place)).map(|&id| Value::Node(id));
            self.scope.push((text(param), Binding::Value(index)));
        }
        self.places = places;
        let value = match &closure.body.node {
            Node::Block(block) => {
                self.statements(block, assigns);
                match &block.tail {
                    None if outs == 0 => None,
                    _ => self.closure_tail(block, outs),
                }
            }
            _ if outs == 0 => {
                if self.expr(&closure.body).is_some() {
                    check::value_without_result(&closure.body.at, self.diags);
                }
                None
            }
            _ => self.expr(&closure.body),
        };
        self.places = None;
        self.live.clear();
        self.scope.truncate(outer);
        value
    }

    fn closure_tail(&mut self, block: &Block, outs: usize) -> Option<Value> {
        if let (Some(tail), 0) = (&block.tail, outs) {
            if self.expr(tail).is_some() {
                check::value_without_result(&tail.at, self.diags);
            }
            return None;
        }
        self.tail(block)
    }

    /// A value as that many.
    fn parts(&mut self, value: Value, outs: usize, at: &At) -> Option<Vec<Id>> {
        let values = match value {
            Value::Tuple(values) if outs != 1 => values,
            one => vec![one],
        };
        if values.len() != outs {
            kinds::number_of_results(at, outs, values.len(), self.diags);
            return None;
        }
        values.into_iter().map(|value| self.one(value, at)).collect()
    }

    /// Makes an output. One alone is `y`, of several the first is `y0`.
    fn output(&mut self, place: usize, outs: usize, shape: &[Extent], found: Found) {
        let name = name(place, outs);
        let dims: Vec<Id> = shape.iter().map(|e| e.node).collect();
        let kind: Kind = self.b.kind(found.value);
        let store = self.b.plain_store(&found.axes, found.value);
        self.b.output_of(&name, kind, &dims, Mode::Set, vec![store]);
    }

    /// Reports tensors that are `&mut` in vain.
    fn never_assigned(&mut self) {
        // What was reported may have been the assignment.
        if self.diags.len() > 0 {
            return;
        }
        let idle = self.params.iter().filter(|p| p.ast.by_mut && !p.assigned);
        let names: Vec<_> = idle.map(|p| &p.ast.ident).collect();
        names.into_iter().for_each(|name| index::never_assigned(name, self.diags));
    }
}

/// A shape as the user wrote it.
fn written(shape: &[Extent]) -> String {
    let dims: Vec<&str> = shape.iter().map(|e| e.written.as_str()).collect();
    format!("[{}]", dims.join(", "))
}

/// The name of an output.
pub(super) fn name(place: usize, outs: usize) -> String {
    if outs == 1 { "y".to_owned() } else { format!("y{place}") }
}
