//! A kernel under construction: nodes are shared when equal, and their constructors keep the user's order of operations.
//!
//! Methods take the ids of this builder, in any order and combination, and never fail: a fault of kinds or ranks is
//! kept as it stands, for `verify` to report. An id of another builder may panic.

mod finish;
mod make;

pub(crate) use make::{quot, rem, shl, shr};

use crate::facts::Known;
use crate::kernel::{
    Arg, ArgDef, Axis, AxisDef, Dim, Id, Kernel, Kind, Link, Mode, Name, Node, Num, OutDef, Run, Store,
};
use crate::names::RESERVED;
use std::collections::HashMap;

/// A kernel under construction.
#[derive(Clone, Debug, Default)]
pub struct Builder {
    name: String,
    dims: Vec<Name>,
    axes: Vec<AxisDef>,
    args: Vec<ArgDef>,
    outs: Vec<OutDef>,
    nodes: Vec<Node>,
    links: Vec<Link>,
    spans: Vec<u32>,
    callees: Vec<&'static Kernel>,
    kinds: Vec<Kind>,
    free: Vec<Vec<Axis>>,
    ids: HashMap<Node, Id>,
    runs: HashMap<Vec<Link>, Run>,
    span: u32,
}

impl Builder {
    /// An empty kernel.
    pub fn new(name: &str) -> Builder {
        Builder { name: identifier(name), ..Builder::default() }
    }

    /// Notes `span` for the nodes made from now on.
    pub fn set_span(&mut self, span: u32) {
        self.span = span;
    }

    /// Declares a symbolic extent. The name gets a number where it is taken.
    pub fn dim(&mut self, name: &str) -> Dim {
        let name = self.unique(name);
        self.dims.push(name);
        Dim((self.dims.len() - 1) as u32)
    }

    /// Declares an axis; `extent` is an integer node of constants, sizes and arithmetic.
    pub fn axis(&mut self, name: &str, extent: Id) -> Axis {
        let name = self.unique(name);
        self.axes.push(AxisDef { name, extent });
        Axis((self.axes.len() - 1) as u32)
    }

    /// Declares an argument with these extents.
    pub fn arg(&mut self, name: &str, kind: Kind, dims: &[Id]) -> Arg {
        let name = self.unique(name);
        self.args.push(ArgDef { name, kind, dims: dims.to_vec().into() });
        Arg((self.args.len() - 1) as u32)
    }

    /// Makes an output that is written by `stores`; gives its place in the list.
    pub fn output(&mut self, name: &str, dims: &[Id], mode: Mode, stores: Vec<Store>) -> u32 {
        let kind = stores.first().map_or(Kind::Float, |s| self.kind(s.node));
        self.output_of(name, kind, dims, mode, stores)
    }

    /// As [`Builder::output`], of a given kind.
    pub fn output_of(&mut self, name: &str, kind: Kind, dims: &[Id], mode: Mode, stores: Vec<Store>) -> u32 {
        let name = fresh(name, |n| self.outs.iter().any(|o| o.name == n));
        self.outs.push(OutDef { name, kind, dims: dims.to_vec().into(), mode, stores: stores.into() });
        (self.outs.len() - 1) as u32
    }

    /// Makes an output over `axes`, its elements at the positions of these axes: `out[axes] = node`.
    pub fn output_over(&mut self, name: &str, axes: &[Axis], node: Id) -> u32 {
        let dims: Vec<Id> = axes.iter().map(|&a| self.extent(a)).collect();
        let store = self.plain_store(axes, node);
        self.output(name, &dims, Mode::Set, vec![store])
    }

    /// The store `[axes] = node`.
    pub fn plain_store(&mut self, axes: &[Axis], node: Id) -> Store {
        let at: Vec<Id> = axes.iter().map(|&a| self.index(a)).collect();
        Store { over: axes.to_vec().into(), at: at.into(), node }
    }

    /// The number by which [`Node::Call`] names a kernel.
    pub fn callee(&mut self, kernel: &'static Kernel) -> u32 {
        let known = self.callees.iter().position(|&k| std::ptr::eq(k, kernel));
        known.unwrap_or_else(|| {
            self.callees.push(kernel);
            self.callees.len() - 1
        }) as u32
    }

    /// The kernel of that number.
    pub(crate) fn called(&self, callee: u32) -> &'static Kernel {
        self.callees[callee as usize]
    }

    /// A node.
    pub fn node(&self, id: Id) -> Node {
        self.nodes[id.at()]
    }

    /// How many nodes there are: ids below it are valid.
    pub fn len(&self) -> u32 {
        self.nodes.len() as u32
    }

    /// Whether there is no node.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// The links of a run.
    pub fn links(&self, run: Run) -> &[Link] {
        &self.links[run.at as usize..(run.at + run.len) as usize]
    }

    /// The links of a node's run; none if it has no run.
    pub fn links_of(&self, node: &Node) -> &[Link] {
        node.run().map_or(&[], |run| self.links(run))
    }

    /// The kind of a node.
    pub fn kind(&self, id: Id) -> Kind {
        self.kinds[id.at()]
    }

    /// The free axes of a node, in ascending order.
    pub fn free(&self, id: Id) -> &[Axis] {
        &self.free[id.at()]
    }

    /// The axes that a fold's run binds, in order.
    pub fn bound(&self, run: Run) -> Vec<Axis> {
        self.known().bound(self.links(run))
    }

    /// The operands of a node, in order, the axes of a fold excepted.
    pub fn operands(&self, id: Id) -> Vec<Id> {
        let mut ids = vec![];
        let node = self.node(id);
        node.operands(self.links_of(&node), &mut |id| ids.push(id));
        ids
    }

    /// The extent of an axis.
    pub fn extent(&self, axis: Axis) -> Id {
        self.axes[axis.at()].extent
    }

    /// The names of the dims declared so far.
    pub fn dims(&self) -> &[Name] {
        &self.dims
    }

    /// The axes declared so far.
    pub fn axes(&self) -> &[AxisDef] {
        &self.axes
    }

    /// The arguments declared so far.
    pub fn args(&self) -> &[ArgDef] {
        &self.args
    }

    /// The outputs made so far.
    pub fn outs(&self) -> &[OutDef] {
        &self.outs
    }

    /// What was noted for a node.
    pub fn span(&self, id: Id) -> u32 {
        self.spans[id.at()]
    }

    /// Another axis of the same extent as `axis` that `taken` refuses none of: an old one, or else a new one.
    pub(crate) fn sibling(&mut self, axis: Axis, taken: impl Fn(Axis) -> bool) -> Axis {
        let extent = self.extent(axis);
        let old = (0..self.axes.len() as u32).map(Axis).find(|&a| self.extent(a) == extent && !taken(a));
        old.unwrap_or_else(|| self.axis(&self.axes[axis.at()].name.clone(), extent))
    }

    /// A node as given: shared if there is one like it, but neither folded nor reordered.
    pub fn intern(&mut self, node: Node) -> Id {
        if let Some(&id) = self.ids.get(&node) {
            return id;
        }
        let known = self.known();
        let links = self.links_of(&node);
        let (kind, free) = (known.kind(&node), known.free(&node, links));
        let id = Id(self.nodes.len() as u32);
        self.nodes.push(node);
        self.kinds.push(kind);
        self.free.push(free);
        self.spans.push(self.span);
        self.ids.insert(node, id);
        id
    }

    /// A run of these links.
    pub fn run(&mut self, links: &[Link]) -> Run {
        if links.is_empty() {
            return Run { at: 0, len: 0 };
        }
        if let Some(&run) = self.runs.get(links) {
            return run;
        }
        let run = Run { at: self.links.len() as u32, len: links.len() as u32 };
        self.links.extend_from_slice(links);
        self.runs.insert(links.to_vec(), run);
        run
    }

    /// A run of operands without numbers.
    pub fn run_of(&mut self, ids: &[Id]) -> Run {
        let links: Vec<Link> = ids.iter().map(|&id| Link { k: Num(0), id }).collect();
        self.run(&links)
    }

    /// Takes the outputs away, to be changed.
    pub(crate) fn take_outs(&mut self) -> Vec<OutDef> {
        std::mem::take(&mut self.outs)
    }

    /// Takes over the axes that a copy of this builder has got since.
    pub(crate) fn copy_axes(&mut self, copy: &Builder) {
        let new = copy.axes.get(self.axes.len()..).unwrap_or_default();
        self.axes.extend_from_slice(new);
    }

    /// Puts outputs in place.
    pub(crate) fn put_outs(&mut self, outs: Vec<OutDef>) {
        self.outs = outs;
    }

    /// The node of that shape, if it was made before.
    pub(crate) fn find(&self, node: &Node) -> Option<Id> {
        self.ids.get(node).copied()
    }

    fn known(&self) -> Known<'_> {
        Known { nodes: &self.nodes, args: &self.args, callees: &self.callees, kinds: &self.kinds, free: &self.free }
    }

    fn unique(&self, name: &str) -> Name {
        fresh(name, |n| {
            self.dims.iter().any(|d| d == n)
                || self.axes.iter().any(|a| a.name == n)
                || self.args.iter().any(|a| a.name == n)
        })
    }
}

/// `name` as an identifier, with a number where it is taken or a word of the text form.
fn fresh(name: &str, taken: impl Fn(&str) -> bool) -> Name {
    let name = identifier(name);
    if !taken(&name) && !RESERVED.contains(&name.as_str()) {
        return name.into();
    }
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit()).trim_end_matches('_');
    let numbered = (1u64..).map(|n| format!("{stem}_{n}")).find(|n| !taken(n));
    numbered.unwrap_or(name).into()
}

/// `name` with whatever an identifier cannot hold replaced by `_`.
fn identifier(name: &str) -> String {
    let mut out: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    if !out.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
        out.insert(0, '_');
    }
    out
}
