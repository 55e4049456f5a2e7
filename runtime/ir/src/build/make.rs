//! The constructors. They fold constants and share what is equal, and never change a float result by one bit.

use super::Builder;
use crate::kernel::{Arg, Axis, Binary, Dim, Fold, Id, Kind, Link, Node, Num, Unary};
use crate::rewrite::subst;

impl Builder {
    /// A float constant, every bit kept.
    pub fn float(&mut self, value: f64) -> Id {
        self.intern(Node::Const(Kind::Float, Num::float(value)))
    }

    /// An integer constant.
    pub fn int(&mut self, value: i64) -> Id {
        self.intern(Node::Const(Kind::Int, Num::int(value)))
    }

    /// A truth value.
    pub fn truth(&mut self, value: bool) -> Id {
        self.intern(Node::Const(Kind::Bool, Num::bool(value)))
    }

    /// The constant of that kind and these bits.
    pub fn constant(&mut self, kind: Kind, value: Num) -> Id {
        self.intern(Node::Const(kind, value))
    }

    /// An extent as an integer.
    pub fn size(&mut self, dim: Dim) -> Id {
        self.intern(Node::Size(dim))
    }

    /// The position along an axis.
    pub fn index(&mut self, axis: Axis) -> Id {
        self.intern(Node::Index(axis))
    }

    /// `arg[at..]`, where no place is outside.
    pub fn load(&mut self, arg: Arg, at: &[Id]) -> Id {
        let at = self.run_of(at);
        self.intern(Node::Load { arg, at, guard: false })
    }

    /// `arg[at..]`, or 0 where the place is outside.
    pub fn load_or_zero(&mut self, arg: Arg, at: &[Id]) -> Id {
        let at = self.run_of(at);
        self.intern(Node::Load { arg, at, guard: true })
    }

    /// `arg[axes..]`.
    pub fn load_over(&mut self, arg: Arg, axes: &[Axis]) -> Id {
        let at: Vec<Id> = axes.iter().map(|&a| self.index(a)).collect();
        self.load(arg, &at)
    }

    /// The value of a constant float.
    pub fn as_float(&self, id: Id) -> Option<f64> {
        if let Node::Const(Kind::Float, n) = self.node(id) { Some(n.as_float()) } else { None }
    }

    /// The value of a constant integer.
    pub fn as_int(&self, id: Id) -> Option<i64> {
        if let Node::Const(Kind::Int, n) = self.node(id) { Some(n.as_int()) } else { None }
    }

    /// The axis of a position.
    pub fn as_index(&self, id: Id) -> Option<Axis> {
        if let Node::Index(axis) = self.node(id) { Some(axis) } else { None }
    }

    fn as_truth(&self, id: Id) -> Option<bool> {
        if let Node::Const(Kind::Bool, n) = self.node(id) { Some(n.as_bool()) } else { None }
    }

    /// `a + b`.
    pub fn add(&mut self, a: Id, b: Id) -> Id {
        self.combine(a, b, 1)
    }

    /// `a - b`.
    pub fn sub(&mut self, a: Id, b: Id) -> Id {
        self.combine(a, b, -1)
    }

    /// `-a`.
    pub fn neg(&mut self, a: Id) -> Id {
        if self.kind(a) == Kind::Int { self.affine(0, &[(-1, a)]) } else { self.linear(-0.0, &[(-1.0, a)]) }
    }

    fn combine(&mut self, a: Id, b: Id, sign: i64) -> Id {
        if self.kind(a) == Kind::Int {
            return self.affine(0, &[(1, a), (sign, b)]);
        }
        match (self.as_float(a), self.as_float(b)) {
            (None, Some(c)) => self.linear(sign as f64 * c, &[(1.0, a)]),
            (Some(c), None) => self.linear(c, &[(sign as f64, b)]),
            (Some(x), Some(y)) => self.float(x + sign as f64 * y),
            (None, None) => self.linear(-0.0, &[(1.0, a), (sign as f64, b)]),
        }
    }

    /// `k * a`, of a float.
    pub fn scale(&mut self, k: f64, a: Id) -> Id {
        match self.as_float(a) {
            Some(c) => self.float(k * c),
            None => self.linear(-0.0, &[(k, a)]),
        }
    }

    /// `a + c`, of a float.
    pub fn offset(&mut self, a: Id, c: f64) -> Id {
        match self.as_float(a) {
            Some(x) => self.float(x + c),
            None => self.linear(c, &[(1.0, a)]),
        }
    }

    /// The float sum `c + k1 * t1 + ..` in that order; `c` is -0.0 where nothing is added.
    pub fn linear(&mut self, c: f64, terms: &[(f64, Id)]) -> Id {
        // A term `1 * (k * x)` is `k * x`, and `-1 * (k * x)` is `-k * x`, to the bit.
        let mut terms: Vec<Link> = terms
            .iter()
            .map(|&(k, id)| match self.scaled(id) {
                Some((inner, id)) if k.abs() == 1.0 => Link { k: Num::float(k * inner), id },
                Some(_) | None => Link { k: Num::float(k), id },
            })
            .collect();
        let none = Num::float(c) == Num::NO_FLOAT;
        match terms.as_mut_slice() {
            [] => return self.float(c),
            [only] if none && only.k == Num::float(1.0) => return only.id,
            [a, b] if none && a == b && a.k == Num::float(1.0) => {
                a.k = Num::float(2.0);
                terms.truncate(1);
            }
            // Addition of two is commutative, to the bit.
            [a, b] if none && b.id < a.id => std::mem::swap(a, b),
            [..] => {}
        }
        let terms = self.run(&terms);
        self.intern(Node::Sum { kind: Kind::Float, c: Num::float(c), terms })
    }

    /// The parts of a float node `k * x`.
    pub(crate) fn scaled(&self, id: Id) -> Option<(f64, Id)> {
        if let Node::Sum { kind: Kind::Float, c: Num::NO_FLOAT, terms } = self.node(id)
            && let [link] = self.links(terms)
        {
            return Some((link.k.as_float(), link.id));
        }
        None
    }

    /// The integer sum `c + k1 * t1 + ..`. Sums inside are opened, since integer arithmetic is exact (rule (i)), so
    /// that equal index expressions are one node.
    pub fn affine(&mut self, c: i64, terms: &[(i64, Id)]) -> Id {
        let (mut c, mut flat) = (c, Vec::<(Id, i64)>::new());
        for &(k, id) in terms {
            let (inner_c, inner) = self.affine_parts(id);
            c = c.wrapping_add(k.wrapping_mul(inner_c));
            for (inner_k, id) in inner {
                let k = k.wrapping_mul(inner_k);
                match flat.iter_mut().find(|t| t.0 == id) {
                    Some(term) => term.1 = term.1.wrapping_add(k),
                    None => flat.push((id, k)),
                }
            }
        }
        flat.retain(|t| t.1 != 0);
        flat.sort_unstable();
        match flat[..] {
            [] => self.int(c),
            [(id, 1)] if c == 0 => id,
            _ => {
                let links: Vec<Link> = flat.iter().map(|&(id, k)| Link { k: Num::int(k), id }).collect();
                let terms = self.run(&links);
                self.intern(Node::Sum { kind: Kind::Int, c: Num::int(c), terms })
            }
        }
    }

    /// An integer node as a constant and terms with coefficients.
    pub fn affine_parts(&self, id: Id) -> (i64, Vec<(i64, Id)>) {
        if let Some(c) = self.as_int(id) {
            return (c, vec![]);
        }
        if let Node::Sum { kind: Kind::Int, c, terms } = self.node(id) {
            return (c.as_int(), self.links(terms).iter().map(|l| (l.k.as_int(), l.id)).collect());
        }
        (0, vec![(1, id)])
    }

    /// `a * b`.
    pub fn mul(&mut self, a: Id, b: Id) -> Id {
        match (self.as_float(a), self.as_float(b)) {
            (Some(x), Some(y)) => self.float(x * y),
            (Some(k), None) => self.scale(k, b),
            (None, Some(k)) => self.scale(k, a),
            (None, None) => self.product(self.kind(a), &[(1, a), (1, b)]),
        }
    }

    /// `a / b` of floats.
    pub fn div(&mut self, a: Id, b: Id) -> Id {
        match (self.as_float(a), self.as_float(b)) {
            (Some(x), Some(y)) => self.float(x / y),
            (_, Some(1.0)) => a,
            (Some(1.0), _) => self.product(Kind::Float, &[(-1, b)]),
            (_, _) => self.product(Kind::Float, &[(1, a), (-1, b)]),
        }
    }

    /// `a^n`, a product of that many `a`, or one divided by it; 1 for `n = 0`.
    pub fn power(&mut self, a: Id, n: i64) -> Id {
        self.product(self.kind(a), &[(n, a)])
    }

    /// The product of the factors with these powers, as it stands: no product inside is opened.
    pub fn product(&mut self, kind: Kind, factors: &[(i64, Id)]) -> Id {
        let mut flat = Vec::<(Id, i64)>::new();
        let mut k = 1i64;
        for &(power, id) in factors {
            let (id, power) = match (kind, self.affine_parts(id)) {
                (Kind::Int, (c, terms)) if terms.is_empty() => {
                    k = k.wrapping_mul(c.wrapping_pow(power.try_into().unwrap_or(0)));
                    continue;
                }
                (Kind::Int, (0, terms)) if terms.len() == 1 && power > 0 => {
                    k = k.wrapping_mul(terms[0].0.wrapping_pow(power.try_into().unwrap_or(0)));
                    (terms[0].1, power)
                }
                (Kind::Int | Kind::Float | Kind::Bool, _) => (id, power),
            };
            match flat.iter_mut().find(|f| f.0 == id && (f.1 > 0) == (power > 0)) {
                Some(factor) => factor.1 = factor.1.saturating_add(power),
                None => flat.push((id, power)),
            }
        }
        flat.retain(|f| f.1 != 0);
        flat.sort_unstable_by_key(|&(id, power)| (power < 0, id));
        let core = match flat[..] {
            [] => self.one(kind),
            [(id, 1)] => id,
            _ => {
                let links: Vec<Link> = flat.iter().map(|&(id, k)| Link { k: Num::int(k), id }).collect();
                let factors = self.run(&links);
                self.intern(Node::Prod { kind, factors })
            }
        };
        if k == 1 { core } else { self.affine(0, &[(k, core)]) }
    }

    fn one(&mut self, kind: Kind) -> Id {
        if kind == Kind::Int { self.int(1) } else { self.float(1.0) }
    }

    /// A function of one operand.
    pub fn unary(&mut self, op: Unary, a: Id) -> Id {
        match (op, self.as_truth(a), self.node(a)) {
            (Unary::Not, Some(value), _) => self.truth(!value),
            (Unary::Not, None, Node::Unary(Unary::Not, inner)) => inner,
            (_, _, _) => self.intern(Node::Unary(op, a)),
        }
    }

    /// A function of two operands.
    pub fn binary(&mut self, op: Binary, a: Id, b: Id) -> Id {
        if let (Some(x), Some(y)) = (self.as_int(a), self.as_int(b))
            && let Some(value) = fold_ints(op, x, y)
        {
            return self.constant(if compares(op) { Kind::Bool } else { Kind::Int }, value);
        }
        if a == b && self.kind(a) != Kind::Float && compares(op) {
            return self.truth(op != Binary::Lt);
        }
        match (op, self.as_truth(a), self.as_truth(b)) {
            (Binary::And, Some(true), _) | (Binary::Or, Some(false), _) => b,
            (Binary::And, _, Some(true)) | (Binary::Or, _, Some(false)) => a,
            (Binary::And, Some(false), _) | (Binary::Or, Some(true), _) => a,
            (Binary::And, _, Some(false)) | (Binary::Or, _, Some(true)) => b,
            (_, _, _) if a == b && matches!(op, Binary::And | Binary::Or) => a,
            (_, _, _) => self.intern(Node::Binary(op, a, b)),
        }
    }

    /// `a == b`.
    pub fn eq(&mut self, a: Id, b: Id) -> Id {
        self.binary(Binary::Eq, a, b)
    }

    /// `a < b`.
    pub fn lt(&mut self, a: Id, b: Id) -> Id {
        self.binary(Binary::Lt, a, b)
    }

    /// `a <= b`.
    pub fn le(&mut self, a: Id, b: Id) -> Id {
        self.binary(Binary::Le, a, b)
    }

    /// `a` and `b`.
    pub fn and(&mut self, a: Id, b: Id) -> Id {
        self.binary(Binary::And, a, b)
    }

    /// `a` or `b`.
    pub fn or(&mut self, a: Id, b: Id) -> Id {
        self.binary(Binary::Or, a, b)
    }

    /// Not `a`.
    pub fn not(&mut self, a: Id) -> Id {
        self.unary(Unary::Not, a)
    }

    /// `a` where `q` holds, else `b`.
    pub fn select(&mut self, q: Id, a: Id, b: Id) -> Id {
        match self.as_truth(q) {
            Some(true) => a,
            Some(false) => b,
            None if a == b => a,
            None => self.intern(Node::Select(q, a, b)),
        }
    }

    /// `a` in another kind.
    pub fn cast(&mut self, kind: Kind, a: Id) -> Id {
        if self.kind(a) == kind {
            return a;
        }
        match (self.as_int(a), kind) {
            (Some(value), Kind::Float) => self.float(value as f64),
            (_, Kind::Float | Kind::Int | Kind::Bool) => self.intern(Node::Cast(kind, a)),
        }
    }

    /// A reduction of `body` over `axes`; for `ArgMax` and `ArgMin` the first is the slowest.
    ///
    /// The bound axes are renamed to the first axes of their extents that are not free in the result, so that equal
    /// reductions are one node, and `x[r][j]` under a sum over `j` is the node `x[r][i]` outside.
    pub fn fold(&mut self, fold: Fold, axes: &[Axis], body: Id) -> Id {
        let ordered = matches!(fold, Fold::ArgMax | Fold::ArgMin);
        let mut axes = axes.to_vec();
        if !ordered {
            axes.sort_unstable();
            axes.dedup();
        }
        if axes.is_empty() && !ordered {
            return body;
        }
        let outer: Vec<Axis> = self.free(body).iter().copied().filter(|a| !axes.contains(a)).collect();
        let (mut names, mut map) = (Vec::<Axis>::new(), vec![]);
        for &axis in &axes {
            let name = self.sibling(axis, |a| outer.contains(&a) || names.contains(&a));
            names.push(name);
            if name != axis {
                map.push((axis, self.index(name)));
            }
        }
        let body = subst(self, body, &map);
        if !ordered {
            names.sort_unstable();
        }
        let names: Vec<Id> = names.into_iter().map(|a| self.index(a)).collect();
        let run = self.run_of(&names);
        self.intern(Node::Fold(fold, run, body))
    }

    /// The sum of `body` over `axes`.
    pub fn sum(&mut self, axes: &[Axis], body: Id) -> Id {
        self.fold(Fold::Sum, axes, body)
    }

    /// The mean of `body` over `axes`.
    pub fn mean(&mut self, axes: &[Axis], body: Id) -> Id {
        let sum = self.sum(axes, body);
        let count = self.count(axes);
        let count = self.cast(Kind::Float, count);
        self.div(sum, count)
    }

    /// How many positions the axes have together.
    pub fn count(&mut self, axes: &[Axis]) -> Id {
        let sizes: Vec<(i64, Id)> = axes.iter().map(|&a| (1, self.extent(a))).collect();
        self.product(Kind::Int, &sizes)
    }

    /// The position in row-major order over `axes`.
    pub fn position(&mut self, axes: &[Axis]) -> Id {
        let mut at = self.int(0);
        for &axis in axes {
            let (extent, index) = (self.extent(axis), self.index(axis));
            let row = self.product(Kind::Int, &[(1, at), (1, extent)]);
            at = self.affine(0, &[(1, row), (1, index)]);
        }
        at
    }

    /// A running reduction along `axis`.
    pub fn scan(&mut self, fold: Fold, axis: Axis, reverse: bool, exclusive: bool, body: Id) -> Id {
        self.intern(Node::Scan { fold, axis, reverse, exclusive, body })
    }

    /// Word `at` of the random stream `key`.
    pub fn random(&mut self, key: Id, at: Id) -> Id {
        self.intern(Node::Random { key, at })
    }

    /// Output `out` of a callee.
    pub fn call(&mut self, callee: u32, out: u32, args: &[Id]) -> Id {
        let args = self.run_of(args);
        self.intern(Node::Call { callee, out, args })
    }
}

fn compares(op: Binary) -> bool {
    matches!(op, Binary::Eq | Binary::Lt | Binary::Le)
}

fn fold_ints(op: Binary, a: i64, b: i64) -> Option<Num> {
    Some(match op {
        Binary::Max => Num::int(a.max(b)),
        Binary::Min => Num::int(a.min(b)),
        Binary::Quot => Num::int(quot(a, b)),
        Binary::Rem => Num::int(rem(a, b)),
        Binary::Eq => Num::bool(a == b),
        Binary::Lt => Num::bool(a < b),
        Binary::Le => Num::bool(a <= b),
        Binary::And => Num::int(a & b),
        Binary::Or => Num::int(a | b),
        Binary::Xor => Num::int(a ^ b),
        Binary::Shl => Num::int(shl(a, b)),
        Binary::Shr => Num::int(shr(a, b)),
        Binary::Pow | Binary::Atan2 => return None,
    })
}

/// The quotient rounded down; by 0 it is 0.
pub(crate) fn quot(a: i64, b: i64) -> i64 {
    if b == 0 {
        return 0;
    }
    let (q, r) = (a.wrapping_div(b), a.wrapping_rem(b));
    if r != 0 && (r < 0) != (b < 0) { q.wrapping_sub(1) } else { q }
}

/// The remainder with the divisor's sign; by 0 it is 0.
pub(crate) fn rem(a: i64, b: i64) -> i64 {
    if b == 0 {
        return 0;
    }
    let r = a.wrapping_rem(b);
    if r != 0 && (r < 0) != (b < 0) { r.wrapping_add(b) } else { r }
}

pub(crate) fn shl(a: i64, b: i64) -> i64 {
    if (0..64).contains(&b) { a << b } else { 0 }
}

pub(crate) fn shr(a: i64, b: i64) -> i64 {
    a >> if (0..64).contains(&b) { b } else { 63 }
}
