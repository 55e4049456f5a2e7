//! Where a reduction's index stands alone as an index: that is what gives its range.

use super::super::ast::{At, Block, Expr, Node, Pattern, Stmt, text};
use proc_macro2::Ident;

/// An index that is a bare name.
pub(super) struct Use<'a> {
    pub(super) tensor: &'a Ident,
    /// Which index of the tensor.
    pub(super) place: usize,
    /// How many indices there are.
    pub(super) indices: usize,
    /// Whether it stands in `or_zero(..)`, where it may be outside.
    pub(super) guarded: bool,
    pub(super) at: At,
}

/// The bare uses of `name` in an expression, in order.
pub(super) fn uses<'a>(e: &'a Expr, name: &str) -> Vec<Use<'a>> {
    let mut search = Search { name, shadowed: false, guarded: false, found: vec![] };
    search.expr(e);
    search.found
}

struct Search<'n, 'a> {
    name: &'n str,
    /// Whether another variable hides the index.
    shadowed: bool,
    guarded: bool,
    found: Vec<Use<'a>>,
}

impl<'a> Search<'_, 'a> {
    fn expr(&mut self, e: &'a Expr) {
        match &e.node {
            Node::Float(_) | Node::Int(_) | Node::Truth(_) | Node::Name(_) | Node::Broken => {}
            Node::Neg(a) | Node::Not(a) | Node::Cast(a, _) => self.expr(a),
            Node::Binary(_, _, a, b) | Node::Range(a, b) => {
                self.expr(a);
                self.expr(b);
            }
            Node::If(condition, then, other) => {
                self.expr(condition);
                self.block(then);
                self.expr(other);
            }
            Node::Call(path, args) => {
                self.guarded = path.is_ident("or_zero");
                args.iter().for_each(|arg| self.expr(arg));
                self.guarded = false;
            }
            Node::Method(_, args) | Node::Tuple(args) => args.iter().for_each(|arg| self.expr(arg)),
            Node::Index(tensor, indices) => self.index(tensor, indices),
            Node::Block(block) => self.block(block),
            Node::Closure(closure) => {
                let outer = self.shadowed;
                self.shadowed |= closure.params.iter().flatten().any(|p| text(p) == self.name);
                self.expr(&closure.body);
                self.shadowed = outer;
            }
        }
    }

    fn index(&mut self, tensor: &'a Ident, indices: &'a [Expr]) {
        let guarded = std::mem::take(&mut self.guarded);
        for (place, index) in indices.iter().enumerate() {
            match &index.node {
                Node::Name(name) if !self.shadowed && text(name) == self.name => {
                    self.found.push(Use { tensor, place, indices: indices.len(), guarded, at: index.at });
                }
                _ => self.expr(index),
            }
        }
    }

    fn block(&mut self, block: &'a Block) {
        let outer = self.shadowed;
        for stmt in &block.stmts {
            match stmt {
                Stmt::Let { pattern, value, .. } => {
                    self.expr(value);
                    self.shadowed |= binds(pattern, self.name);
                }
                Stmt::Assign { target, value, .. } => {
                    self.expr(target);
                    self.expr(value);
                }
            }
        }
        block.tail.iter().for_each(|tail| self.expr(tail));
        self.shadowed = outer;
    }
}

fn binds(pattern: &Pattern, name: &str) -> bool {
    match pattern {
        Pattern::Name(ident) => text(ident) == name,
        Pattern::Tuple(patterns, _) => patterns.iter().any(|p| binds(p, name)),
        Pattern::Ignored => false,
    }
}
