//! Random statements with lists of tensors.

use super::expr::Expr;
use super::stmt::NAMES;
use super::{Body, Extent, Kind};

impl Body {
    /// A list that grows, or whose last element is taken.
    pub(super) fn list(&mut self) {
        let (a, b, name) = (self.some().with_axes(), self.some().with_axes(), *self.rng.pick(NAMES));
        let extent = if a.extent == b.extent { a.extent } else { Extent::Any };
        let size = a.size.max(b.size);
        // What is pushed may come from an older list.
        let list = format!("list{}", self.text.len());
        self.line(&format!("let mut {list} = Vec::new();"));
        self.line(&format!("{list}.push({});", a.text));
        self.line(&format!("{list}.push({});", b.text));
        if self.rng.one_in(2) {
            self.line(&format!("let {name} = {list}.pop().unwrap();"));
            self.scope.push((list, Kind::List { len: 1, extent: a.extent, size: a.size }));
            self.give(name, &b, false);
        } else {
            self.scope.push((list, Kind::List { len: 2, extent, size }));
        }
    }

    /// A list of tensors of one shape, grown in a loop and put together.
    pub(super) fn gather(&mut self) {
        let (e, name) = (self.some().with_axes().within(3.0), *self.rng.pick(NAMES));
        let list = format!("list{}", self.text.len());
        self.line(&format!("let p = {};", e.text));
        let start = *self.rng.pick(&["vec![p]", "vec![p, p.cos()]", "vec![p * 0.5, p]"]);
        self.line(&format!("let mut {list} = {start};"));
        let mark = self.mark();
        let next = *self.rng.pick(&[
            "(LIST[i] * 0.5 + p).tanh()",
            "p * LIST[i].sigmoid()",
            "LIST[i].sin() * (0.3 * i as f64 + 1.0)",
            "LIST[0] * 0.7 - LIST[i].tanh()",
        ]);
        self.line(&format!("{mark}for i in 0..self.n {{"));
        if self.rng.one_in(3) {
            self.line(&format!("    if i == 1 {{ {list}.push(p.tanh()); }}"));
        }
        self.line(&format!("    {list}.push({});", next.replace("LIST", &list)));
        if self.rng.one_in(3) {
            self.line(&format!("    let last = {list}.pop().unwrap();"));
            self.line(&format!("    {list}.push(last * 0.8);"));
        }
        self.line("}");
        if self.rng.one_in(3) {
            self.line(&format!("let last = {list}.pop().unwrap();"));
            self.line(&format!("{list}.push(last + p);"));
        }
        let (extent, size) = (e.extent, e.size.max(1.0) * 3.0);
        let used = self.rng.below(4);
        let (text, extent) = match used {
            0 => (format!("stack({list}, 0).mean(0)"), extent),
            1 => (format!("cat({list}, -1).mean_keepdim(-1)"), Extent::Any),
            2 => (format!("cat({list}, -1).softmax(-1).narrow(-1, 1, p.size(-1))"), extent),
            _ => (format!("stack({list}, -1).square().sum(-1).add(1.0).sqrt()"), extent),
        };
        let mark = self.mark();
        self.line(&format!("{mark}let {name} = {text};"));
        self.give(name, &Expr::new("", extent, size), false);
        if self.rng.one_in(3) {
            // The list is used again, so that it was not moved.
            self.scope.push((list, Kind::List { len: 2, extent: e.extent, size }));
        }
    }

    /// Both halves of a tensor that was put together.
    pub(super) fn cut(&mut self) {
        let (e, at) = (self.some().with_axes().within(3.0), self.rng.below(NAMES.len()));
        let (first, second) = (NAMES[at], NAMES[(at + 1) % NAMES.len()]);
        self.line(&format!("let p = {};", e.text));
        self.line("let columns = p.size(-1);");
        let mark = self.mark();
        let joined = *self.rng.pick(&["[p, p.sin()]", "[p.tanh(), p]", "[p * self.k, p.square()]"]);
        let through = *self.rng.pick(&["", ".tanh()", ".softmax(-1)"]);
        self.line(&format!(
            "{mark}let ({first}, {second}) = cat({joined}, -1){through}.split(-1, [columns, columns]);"
        ));
        let part = Expr { size: e.size * 3.0, ..e };
        self.give(first, &part, false);
        self.give(second, &part, false);
    }

    /// A loop over the elements of a list.
    pub(super) fn fold(&mut self) {
        let lists = self.visible(|kind| matches!(kind, Kind::List { len: 1.., .. }));
        let found = self.visible(|kind| matches!(kind, Kind::Tensor { mutable: true, .. }));
        if lists.is_empty() || found.is_empty() {
            return self.list();
        }
        let (list, name) = (self.rng.pick(&lists).0.clone(), self.rng.pick(&found).0.clone());
        let mark = self.mark();
        let (head, by) = *self.rng.pick(&[
            ("e in LIST.iter()", "self.k"),
            ("e in LIST.iter().rev()", "self.k"),
            ("e in &LIST", "0.6"),
            ("(i, e) in LIST.iter().enumerate()", "(0.3 * i as f64)"),
            ("(i, e) in LIST.iter().enumerate().rev()", "(0.3 * i as f64)"),
            ("(e, f) in LIST.iter().zip(LIST.iter().rev())", "f.tanh()"),
            ("(i, (e, f)) in LIST.iter().zip(LIST.iter().rev()).enumerate()", "(f.tanh() * (i + 1))"),
        ]);
        self.line(&format!("{mark}for {} {{", head.replace("LIST", &list)));
        self.line(&format!("    {name} = ({name} * 0.5 + e * {by}).tanh();"));
        self.line("}");
    }
}
