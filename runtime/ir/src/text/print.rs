//! From a kernel to text.

use crate::kernel::{Id, Kernel, Kind, Link, Mode, Node, Num, OutDef, Store};
use std::fmt::{self, Write};

/// The text of a kernel, its callees before it. [`super::parse()`] gives an equal value if the kernel has the layout of
/// [`crate::Builder::finish`].
pub fn print(kernel: &Kernel) -> String {
    let mut done = vec![];
    let mut text = String::new();
    callees(kernel, &mut done, crate::verify::DEPTH, &mut text);
    text + &one(kernel)
}

/// The outputs as equations, for reports: `dx[r][i] = y[r][i] * (ct[r][i] - s0[r])`.
pub fn show(kernel: &Kernel) -> String {
    let mut p = Printer::new(kernel, Style::Report);
    let mut text = String::new();
    for out in kernel.outs.iter() {
        for store in out.stores.iter() {
            let sign = if out.mode == Mode::Add { "+=" } else { "=" };
            let line = format!("{} {sign} {}\n", p.places(&out.name, &store.at), p.text(store.node));
            p.lets(&store.at, &mut text);
            p.lets(&[store.node], &mut text);
            text += &line;
        }
    }
    text
}

impl fmt::Display for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&print(self))
    }
}

fn callees(kernel: &Kernel, done: &mut Vec<&'static Kernel>, depth: u32, text: &mut String) {
    for &callee in kernel.callees.iter() {
        if depth > 0 && !done.iter().any(|k| std::ptr::eq(*k, callee)) {
            done.push(callee);
            callees(callee, done, depth - 1, text);
            *text += &one(callee);
            text.push('\n');
        }
    }
}

fn one(kernel: &Kernel) -> String {
    let mut p = Printer::new(kernel, Style::Exact);
    let mut text = format!("kernel {}\n", kernel.name);
    if !kernel.dims.is_empty() {
        text += &format!("dim {}\n", kernel.dims.join(", "));
    }
    let extents: Vec<Id> = kernel.axes.iter().map(|a| a.extent).collect();
    p.lets(&extents, &mut text);
    let axes: Vec<String> = kernel.axes.iter().map(|a| format!("{} < {}", a.name, p.text(a.extent))).collect();
    if !axes.is_empty() {
        text += &format!("axis {}\n", axes.join(", "));
    }
    for arg in kernel.args.iter() {
        p.lets(&arg.dims, &mut text);
        text += &format!("arg {}: {}\n", arg.name, p.typed(arg.kind, &arg.dims));
    }
    for out in kernel.outs.iter() {
        p.output(out, &mut text);
    }
    if !kernel.spans.is_empty() {
        let spans: Vec<String> = kernel.spans.iter().map(u32::to_string).collect();
        text += &format!("spans {}\n", spans.join(" "));
    }
    text
}

/// How often each node is used.
fn uses(kernel: &Kernel) -> Vec<u32> {
    let mut uses = vec![0u32; kernel.nodes.len()];
    let mut count = |id: Id| uses.get_mut(id.at()).into_iter().for_each(|n| *n += 1);
    kernel.nodes.iter().for_each(|node| node.operands(kernel.links_of(node), &mut count));
    let stores = kernel.outs.iter().flat_map(|o| o.stores.iter());
    stores.flat_map(|s| s.at.iter().chain([&s.node])).for_each(|&id| count(id));
    uses
}

/// Whether a text is written out however often it is used: leaves, loads, index arithmetic and casts of sizes.
fn is_short(node: &Node, text: &str) -> bool {
    match node {
        Node::Const(..) | Node::Size(_) | Node::Index(_) => true,
        Node::Load { .. } => text.len() < 40,
        Node::Sum { kind, .. } | Node::Prod { kind, .. } => *kind == Kind::Int && text.len() < 20,
        Node::Cast(..) => text.len() < 10,
        Node::Unary(..)
        | Node::Binary(..)
        | Node::Select(..)
        | Node::Fold(..)
        | Node::Scan { .. }
        | Node::Random { .. }
        | Node::Call { .. } => false,
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Style {
    /// Reads back to an equal value.
    Exact,
    /// Shorter, for people.
    Report,
}

/// How tightly a text holds together.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    Sum,
    Product,
    Constant,
    Atom,
}

struct Text {
    text: String,
    level: Level,
    depth: u32,
    /// The text in full where `text` is a name.
    named: Option<String>,
}

struct Printer<'a> {
    kernel: &'a Kernel,
    style: Style,
    texts: Vec<Text>,
    printed: Vec<bool>,
}

impl Printer<'_> {
    fn new(kernel: &Kernel, style: Style) -> Printer<'_> {
        let printed = vec![false; kernel.nodes.len()];
        let mut p = Printer { kernel, style, texts: vec![], printed };
        let mut names = 0;
        for (node, uses) in kernel.nodes.iter().zip(uses(kernel)) {
            let (text, level) = p.node(node);
            let mut depth = 0;
            node.operands(kernel.links_of(node), &mut |id| {
                depth = depth.max(p.texts.get(id.at()).map_or(0, |t| t.depth));
            });
            let short = is_short(node, &text);
            let shared = uses > 1 && !short && (style == Style::Exact || text.len() > 12);
            let big = depth >= super::DEPTH / 8 || text.len() > if style == Style::Exact { 100 } else { 1000 };
            let entry = if shared || big {
                let name = format!("%{names}");
                names += 1;
                Text { text: name, level: Level::Atom, depth: 0, named: Some(text) }
            } else {
                Text { text, level, depth: depth + 1, named: None }
            };
            p.texts.push(entry);
        }
        p
    }

    fn text(&self, id: Id) -> &str {
        self.texts.get(id.at()).map_or("%%", |t| &t.text)
    }

    /// The text, in parentheses unless it holds together at `level`.
    fn at_level(&self, id: Id, level: Level) -> String {
        match self.texts.get(id.at()) {
            Some(t) if t.level < level => format!("({})", t.text),
            Some(_) | None => self.text(id).to_string(),
        }
    }

    /// The definitions of names that `roots` need and that are not printed yet.
    fn lets(&mut self, roots: &[Id], text: &mut String) {
        let (mut todo, mut found) = (roots.to_vec(), vec![]);
        let mut seen = vec![false; self.texts.len()];
        while let Some(id) = todo.pop() {
            if id.at() >= self.texts.len() || seen[id.at()] || self.printed[id.at()] {
                continue;
            }
            seen[id.at()] = true;
            let node = &self.kernel.nodes[id.at()];
            node.operands(self.kernel.links_of(node), &mut |id| todo.push(id));
            found.push(id);
        }
        found.sort_unstable();
        for id in found {
            self.printed[id.at()] = true;
            if let Text { text: name, named: Some(full), .. } = &self.texts[id.at()] {
                *text += &format!("{name} = {full}\n");
            }
        }
    }

    fn list(&self, ids: impl IntoIterator<Item = Id>) -> String {
        let texts: Vec<&str> = ids.into_iter().map(|id| self.text(id)).collect();
        texts.join(", ")
    }

    fn places(&self, name: &str, at: &[Id]) -> String {
        match self.style {
            _ if at.is_empty() => name.to_string(),
            Style::Exact => format!("{name}[{}]", self.list(at.iter().copied())),
            Style::Report => at.iter().fold(name.to_string(), |text, &id| format!("{text}[{}]", self.text(id))),
        }
    }

    fn typed(&self, kind: Kind, dims: &[Id]) -> String {
        self.places(kind.name(), dims)
    }

    fn output(&mut self, out: &OutDef, text: &mut String) {
        for store in out.stores.iter() {
            self.lets(&store.at, text);
            self.lets(&[store.node], text);
        }
        self.lets(&out.dims, text);
        let mode = match out.mode {
            Mode::Set => "",
            Mode::SetSparse => " sparse",
            Mode::Add => " add",
        };
        *text += &format!("out {}: {}{mode}\n", out.name, self.typed(out.kind, &out.dims));
        for store in out.stores.iter() {
            let over = self.over(store);
            let places = self.list(store.at.iter().copied());
            let places = if places.is_empty() && over.is_empty() { String::new() } else { format!("[{places}]") };
            *text += &format!("  {}{places}{over} = {}\n", out.name, self.text(store.node));
        }
    }

    /// The axes of a store, unless they are those in its brackets.
    fn over(&self, store: &Store) -> String {
        let plain = store.at.iter().map(|id| self.kernel.nodes.get(id.at()).copied());
        if plain.eq(store.over.iter().map(|&axis| Some(Node::Index(axis)))) {
            return String::new();
        }
        let names: Vec<&str> = store.over.iter().map(|&a| self.axis(a)).collect();
        format!(" over {}", names.join(", "))
    }

    fn axis(&self, axis: crate::Axis) -> &str {
        self.kernel.axes.get(axis.at()).map_or("%%", |a| &a.name)
    }

    fn number(&self, kind: Kind, n: Num) -> String {
        match kind {
            Kind::Bool => n.as_bool().to_string(),
            Kind::Int => n.as_int().to_string(),
            Kind::Float if n == Num::float(f64::NAN) => "nan".to_string(),
            Kind::Float if n.as_float().is_nan() => format!("nan({:#x})", n.0),
            Kind::Float if self.style == Style::Report => n.as_float().to_string(),
            Kind::Float => format!("{:?}", n.as_float()),
        }
    }

    /// A number as a sign and the rest.
    fn signed(&self, kind: Kind, n: Num) -> (bool, String) {
        let text = self.number(kind, n);
        match text.strip_prefix('-') {
            Some(rest) => (true, rest.to_string()),
            None => (false, text),
        }
    }

    fn node(&self, node: &Node) -> (String, Level) {
        let k = self.kernel;
        let ids = |run| k.links(run).iter().map(|l| l.id);
        let text = match *node {
            Node::Const(kind, n) => return (self.number(kind, n), Level::Constant),
            Node::Size(dim) => k.dims.get(dim.at()).map_or("%%".to_string(), |d| d.to_string()),
            Node::Index(axis) => self.axis(axis).to_string(),
            Node::Load { arg, at, guard } => {
                let name = k.args.get(arg.at()).map_or("%%", |a| &a.name);
                let at: Vec<Id> = ids(at).collect();
                self.places(&format!("{name}{}", if guard { "?" } else { "" }), &at)
            }
            Node::Sum { kind, c, terms } => return (self.sum(kind, c, k.links(terms)), Level::Sum),
            Node::Prod { factors, .. } => return (self.product(k.links(factors)), Level::Product),
            Node::Unary(op, a) => format!("{}({})", op.name(), self.text(a)),
            Node::Binary(op @ (crate::Binary::Eq | crate::Binary::Lt | crate::Binary::Le), a, b) => {
                format!("({} {} {})", self.text(a), op.name(), self.text(b))
            }
            Node::Binary(op, a, b) => format!("{}({})", op.name(), self.list([a, b])),
            Node::Select(q, a, b) => format!("select({})", self.list([q, a, b])),
            Node::Cast(_, a) if self.style == Style::Report => return (self.at_level(a, Level::Atom), Level::Atom),
            Node::Cast(kind, a) => format!("{}({})", kind.name(), self.text(a)),
            Node::Fold(fold, axes, body) => format!("{}[{}]({})", fold.name(), self.list(ids(axes)), self.text(body)),
            Node::Scan { fold, axis, reverse, exclusive, body } => {
                let flags = match (reverse, exclusive) {
                    (false, false) => "",
                    (true, false) => "; reverse",
                    (false, true) => "; exclusive",
                    (true, true) => "; reverse, exclusive",
                };
                format!("{}[{}{flags}]({})", fold.scan_name(), self.axis(axis), self.text(body))
            }
            Node::Random { key, at } => format!("random({})", self.list([key, at])),
            Node::Call { callee, out, args } => {
                let callee = k.callees.get(callee as usize);
                let name = callee.map_or("%%", |c| &c.name);
                let out = callee.and_then(|c| c.outs.get(out as usize)).map_or("%%", |o| &o.name);
                format!("@{name}.{out}({})", self.list(ids(args)))
            }
        };
        (text, Level::Atom)
    }

    fn sum(&self, kind: Kind, c: Num, terms: &[Link]) -> String {
        let mut text = String::new();
        let (one, none) = match kind {
            Kind::Float => (Num::float(1.0), Num::NO_FLOAT),
            Kind::Int | Kind::Bool => (Num::int(1), Num::int(0)),
        };
        // `1 - x` rather than `-x + 1`.
        let first = terms.first().is_some_and(|l| c != none && self.signed(kind, l.k).0);
        if first {
            text = self.number(kind, c);
        }
        for link in terms {
            let (minus, k) = self.signed(kind, link.k);
            self.sign(&mut text, minus);
            let unit = self.signed(kind, one).1;
            let factor = if k == unit { String::new() } else { format!("{k} * ") };
            let level = if self.is_constant(link.id) { Level::Atom } else { Level::Product };
            text += &format!("{factor}{}", self.at_level(link.id, level));
        }
        if c != none && !first {
            let (minus, c) = self.signed(kind, c);
            self.sign(&mut text, minus);
            text += &c;
        } else if c == none
            && let [Link { k, .. }] = terms
            && *k == one
        {
            text.insert(0, '+');
        }
        text
    }

    fn sign(&self, text: &mut String, minus: bool) {
        *text += match (text.is_empty(), minus) {
            (true, false) => "",
            (true, true) => "-",
            (false, false) => " + ",
            (false, true) => " - ",
        };
    }

    fn is_constant(&self, id: Id) -> bool {
        self.texts.get(id.at()).is_some_and(|t| t.level == Level::Constant)
    }

    fn product(&self, factors: &[Link]) -> String {
        let mut text = String::new();
        for link in factors {
            let k = link.k.as_int();
            match (k < 0, text.is_empty()) {
                (true, true) => text += "1 / ",
                (true, false) => text += " / ",
                (false, true) => {}
                (false, false) => text += " * ",
            }
            let bare = self.is_constant(link.id)
                && k.unsigned_abs() == 1
                && !text.is_empty()
                && !self.text(link.id).starts_with('-');
            text += &self.at_level(link.id, if bare { Level::Constant } else { Level::Atom });
            if k.unsigned_abs() != 1 || (factors.len() == 1 && k == 1) {
                // Writing to a string cannot fail.
                let _ = write!(text, "^{}", k.unsigned_abs());
            }
        }
        text
    }
}
