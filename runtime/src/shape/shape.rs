//! A tensor's shape in symbols, and the scope that gives the symbols names.

use super::dim::{Dim, SYMBOLS};

/// How many axes a shape may name.
pub const AXES: usize = 8;

/// The names that a method's shapes may use: its model's dims first, then its own. A name's place is its symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scope {
    /// The names of the model's dims.
    pub model: &'static [&'static str],
    /// The names that the method binds.
    pub local: &'static [&'static str],
}

/// The leading axes that a shape does not list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rest {
    /// There are none.
    None,
    /// `R..`: the axes bound to that name of the scope.
    Named(u8),
    /// `..`: the method's unnamed leading axes.
    Dots,
    /// Some axes, of which nothing is known.
    Any,
}

/// A shape: optional leading axes and up to [`AXES`] listed ones, or unknown altogether.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    known: bool,
    rest: Rest,
    len: u8,
    axes: [Dim; AXES],
}

impl Scope {
    /// No names.
    pub const EMPTY: Scope = Scope { model: &[], local: &[] };

    /// The symbol of a name; unknown where the scope does not hold it.
    pub const fn dim(&self, name: &str) -> Dim {
        match self.number(name) {
            Some(k) => Dim::sym(k),
            None => Dim::UNKNOWN,
        }
    }

    /// How many names there are.
    pub const fn len(&self) -> usize {
        self.model.len() + self.local.len()
    }

    /// Whether there are no names.
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The name of symbol `number`; `?` for one out of range.
    pub const fn name(&self, number: usize) -> &'static str {
        if number < self.model.len() {
            self.model[number]
        } else if number < self.len() {
            self.local[number - self.model.len()]
        } else {
            "?"
        }
    }

    /// The symbol's number of a name.
    pub(crate) const fn number(&self, name: &str) -> Option<usize> {
        let number = match position(self.model, name) {
            Some(k) => k,
            None => match position(self.local, name) {
                Some(k) => self.model.len() + k,
                None => return None,
            },
        };
        if number < SYMBOLS { Some(number) } else { None }
    }
}

impl Shape {
    /// A shape of which nothing is known, not even the rank.
    pub const UNKNOWN: Shape = Shape { known: false, rest: Rest::Any, len: 0, axes: [Dim::UNKNOWN; AXES] };
    /// The shape `[]` of a number.
    pub const SCALAR: Shape = Shape { known: true, rest: Rest::None, len: 0, axes: [Dim::UNKNOWN; AXES] };

    /// The shape with just these axes; unknown past [`AXES`].
    pub const fn of(dims: &[Dim]) -> Shape {
        Shape::behind(Rest::None, dims)
    }

    /// The shape `Tensor![R.., dims]`, or `Tensor![.., dims]` where `name` is empty.
    pub const fn with_rest(name: &str, scope: &Scope, dims: &[Dim]) -> Shape {
        let rest = match scope.number(name) {
            _ if name.is_empty() => Rest::Dots,
            Some(k) => Rest::Named(k as u8),
            None => Rest::Any,
        };
        Shape::behind(rest, dims)
    }

    /// Whether anything is known of it.
    pub const fn known(&self) -> bool {
        self.known
    }

    /// The leading axes that are not listed.
    pub const fn rest(&self) -> Rest {
        self.rest
    }

    /// How many axes are listed.
    pub const fn len(&self) -> usize {
        self.len as usize
    }

    /// Whether no axis is listed.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The rank, where it is known.
    pub const fn rank(&self) -> Option<usize> {
        if self.full() { Some(self.len()) } else { None }
    }

    /// Listed axis `i`, from the left; unknown out of range.
    pub const fn axis(&self, i: usize) -> Dim {
        if i < self.len as usize { self.axes[i] } else { Dim::UNKNOWN }
    }

    /// The axis `back` places before the last; unknown out of range.
    pub const fn last(&self, back: usize) -> Dim {
        let len = self.len as usize;
        if back < len { self.axes[len - 1 - back] } else { Dim::UNKNOWN }
    }

    /// The product of all axes.
    pub const fn numel(&self) -> Dim {
        if !self.full() {
            return Dim::UNKNOWN;
        }
        self.product(0)
    }

    /// The product of the listed axes from `start` on.
    pub(crate) const fn product(&self, start: usize) -> Dim {
        let (mut product, mut i) = (Dim::lit(1), start);
        while i < self.len() {
            product = product.mul(self.axes[i]);
            i += 1;
        }
        product
    }

    /// Whether every axis is listed.
    pub(crate) const fn full(&self) -> bool {
        self.known && matches!(self.rest, Rest::None)
    }

    pub(crate) const fn behind(rest: Rest, dims: &[Dim]) -> Shape {
        if dims.len() > AXES {
            return Shape::UNKNOWN;
        }
        let (mut axes, mut i) = ([Dim::UNKNOWN; AXES], 0);
        while i < dims.len() {
            axes[i] = dims[i];
            i += 1;
        }
        Shape { known: true, rest, len: dims.len() as u8, axes }
    }

    /// This shape with other leading axes in the place of its own.
    pub(crate) const fn rested(mut self, rest: Rest) -> Shape {
        self.rest = rest;
        self
    }

    /// This shape without its last `n` axes.
    pub(crate) const fn head(mut self, n: usize) -> Shape {
        let mut i = 0;
        while i < n && self.len > 0 {
            self.len -= 1;
            self.axes[self.len()] = Dim::UNKNOWN;
            i += 1;
        }
        self
    }

    /// The last `n` axes alone.
    pub(crate) const fn tail(&self, n: usize) -> Shape {
        let (mut tail, mut back) = (Shape::SCALAR, if n < self.len() { n } else { self.len() });
        while back > 0 {
            back -= 1;
            tail = tail.push(self.last(back));
        }
        tail
    }

    /// This shape and one more axis behind it.
    pub(crate) const fn push(self, dim: Dim) -> Shape {
        self.insert(self.len(), dim)
    }

    /// This shape with a further axis at place `at`.
    pub(crate) const fn insert(mut self, at: usize, dim: Dim) -> Shape {
        if self.len() == AXES || at > self.len() {
            return Shape::UNKNOWN;
        }
        let mut i = self.len();
        while i > at {
            self.axes[i] = self.axes[i - 1];
            i -= 1;
        }
        self.axes[at] = dim;
        self.len += 1;
        self
    }

    /// This shape without axis `at`.
    pub(crate) const fn remove(mut self, at: usize) -> Shape {
        let mut i = at;
        while i + 1 < self.len() {
            self.axes[i] = self.axes[i + 1];
            i += 1;
        }
        self.head(1)
    }

    /// This shape with `dim` at place `at`.
    pub(crate) const fn with(mut self, at: usize, dim: Dim) -> Shape {
        self.axes[at] = dim;
        self
    }

    /// Puts `dim` at place `at`.
    pub(crate) const fn set(&mut self, at: usize, dim: Dim) {
        self.axes[at] = dim;
    }

    /// Both, one behind the other: `self` gives the leading axes.
    pub(crate) const fn then(self, behind: &Shape) -> Shape {
        let (mut both, mut i) = (self, 0);
        while i < behind.len() {
            both = both.push(behind.axes[i]);
            i += 1;
        }
        both
    }

    /// Whether both have the same form. Leading axes of which nothing is known equal nothing.
    pub(crate) const fn same(&self, other: &Shape) -> bool {
        if !self.known || !other.known || self.len != other.len || !self.rest.same(&other.rest) {
            return false;
        }
        let mut i = 0;
        while i < self.len() {
            if !self.axes[i].same(&other.axes[i]) {
                return false;
            }
            i += 1;
        }
        true
    }

    /// Whether both are different under every binding.
    pub(crate) const fn differs(&self, other: &Shape) -> bool {
        if self.full() && other.full() && self.len != other.len {
            return true;
        }
        let mut back = 0;
        while self.known && other.known && back < self.len() && back < other.len() {
            if self.last(back).differs(&other.last(back)) {
                return true;
            }
            back += 1;
        }
        false
    }
}

impl Rest {
    /// Whether both stand for the same axes.
    pub(crate) const fn same(&self, other: &Rest) -> bool {
        match (self, other) {
            (Rest::None, Rest::None) | (Rest::Dots, Rest::Dots) => true,
            (Rest::Named(a), Rest::Named(b)) => *a == *b,
            (Rest::None | Rest::Named(_) | Rest::Dots | Rest::Any, _) => false,
        }
    }
}

/// What is known of a value that has either shape: axes that differ are unknown.
pub const fn join(a: &Shape, b: &Shape) -> Shape {
    if !a.known || !b.known || (a.full() && b.full() && a.len != b.len) {
        return Shape::UNKNOWN;
    }
    let aligned = a.len == b.len && a.rest.same(&b.rest);
    let mut joined = if a.len <= b.len { *a } else { *b };
    if !aligned {
        joined.rest = Rest::Any;
    }
    let mut back = 0;
    while back < joined.len() {
        if !a.last(back).same(&b.last(back)) {
            joined.axes[joined.len() - 1 - back] = Dim::UNKNOWN;
        }
        back += 1;
    }
    joined
}

/// The place of a name among others.
pub(crate) const fn position(names: &[&str], name: &str) -> Option<usize> {
    let mut i = 0;
    while i < names.len() {
        if same_text(names[i], name) {
            return Some(i);
        }
        i += 1;
    }
    None
}

/// Whether two texts are equal. Patterns cost the compiler's interpreter no calls.
pub(crate) const fn same_text(a: &str, b: &str) -> bool {
    let (mut a, mut b) = (a.as_bytes(), b.as_bytes());
    loop {
        match (a, b) {
            ([x, more_a @ ..], [y, more_b @ ..]) if *x == *y => (a, b) = (more_a, more_b),
            ([], []) => return true,
            ([] | [_, ..], _) => return false,
        }
    }
}
