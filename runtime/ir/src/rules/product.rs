//! Float products.

use super::Simplifier;
use crate::kernel::{Id, Kind, Link, Node, Num, Unary};

type Factor = (Id, i64);

impl Simplifier {
    /// The product of the factors with these powers, simplified.
    pub(crate) fn product(&mut self, factors: &[Factor]) -> Id {
        let (mut k, mut factors) = self.open_products(factors);
        k *= self.constants(&mut factors);
        if k == 0.0 {
            return self.zero();
        }
        if self.late
            && let Some(id) = self.select_outermost(k, &factors)
        {
            return id;
        }
        self.use_primal_products(&mut factors);
        if self.late {
            while self.exp_of_difference(&mut factors) {}
        }
        factors.sort_unstable_by_key(|&(id, power)| (power < 0, id));
        let core = match factors[..] {
            [] => return self.b.float(k),
            [(id, 1)] => id,
            _ => {
                let links: Vec<Link> = factors.iter().map(|&(id, k)| Link { k: Num::int(k), id }).collect();
                let factors = self.b.run(&links);
                self.b.intern(Node::Prod { kind: Kind::Float, factors })
            }
        };
        match self.coefficient(core) {
            (inner, Some(id)) if k * inner == 1.0 => id,
            (inner, Some(id)) => self.intern_sum(0.0, vec![(k * inner, id)]),
            (inner, None) => self.b.float(k * inner),
        }
    }

    /// Rule (a): products inside are opened; those of the primal and long ones only if a factor cancels. Gives the
    /// coefficients of the factors beside.
    fn open_products(&self, factors: &[Factor]) -> (f64, Vec<Factor>) {
        let (mut k, mut done, mut todo) = (1.0, Vec::<Factor>::new(), Vec::<Factor>::new());
        let push = |k: &mut f64, todo: &mut Vec<Factor>, (id, power): Factor| match self.b.scaled(id) {
            _ if power == 0 => {}
            Some((inner, id)) => {
                *k *= inner.powi(power as i32);
                todo.push((id, power));
            }
            None => todo.push((id, power)),
        };
        factors.iter().rev().for_each(|&f| push(&mut k, &mut todo, f));
        let cancels = |inner: &[Factor], power: i64, others: &[&[Factor]]| {
            let against = |f: &Factor| {
                let core = self.b.scaled(f.0).map_or(f.0, |s| s.1);
                others.iter().flat_map(|o| o.iter()).any(|o| o.0 == core && (o.1 > 0) != (f.1 * power > 0))
            };
            inner.iter().any(against)
        };
        let inside = |(id, power): Factor| {
            let is_product = matches!(self.b.node(id), Node::Prod { kind: Kind::Float, .. });
            let inner = if is_product { self.factors(id) } else { vec![] };
            let fits = inner.iter().all(|f| f.1.checked_mul(power).is_some_and(|p| p.abs() <= POWER));
            (is_product && fits).then_some(inner)
        };
        let closed = |id: Id, inner: &[Factor]| self.is_primal(id) || inner.len() > LONG;
        while let Some((id, power)) = todo.pop() {
            if let Some(inner) = inside((id, power))
                && (!closed(id, &inner) || cancels(&inner, power, &[&done, &todo]))
            {
                inner.iter().rev().for_each(|&(f, p)| push(&mut k, &mut todo, (f, p * power)));
                continue;
            }
            merge(&mut done, id, power);
            // A product that was kept may cancel with a factor that came later.
            let late = done.iter().position(|&(id, power)| {
                inside((id, power)).is_some_and(|inner| closed(id, &inner) && cancels(&inner, power, &[&done]))
            });
            if let Some(late) = late {
                todo.push(done.remove(late));
            }
        }
        (k, done)
    }

    /// Removes constant factors and gives their product. A constant divisor stays where its reciprocal is not exact, so
    /// that it can still cancel.
    fn constants(&self, factors: &mut Vec<Factor>) -> f64 {
        let mut k = 1.0;
        factors.retain(|&(id, power)| match self.b.as_float(id) {
            Some(value) if power > 0 || is_power_of_two(value) => {
                k *= value.powi(power as i32);
                false
            }
            Some(_) | None => true,
        });
        k
    }

    /// Rule (c): factors that make up a product of the primal are that product, which is there already (or saved):
    /// `exp(..) / sum` is `y`.
    fn use_primal_products(&self, factors: &mut Vec<Factor>) {
        // A product can only match if its last factor is there.
        let listed = factors.iter().filter_map(|f| self.products.get(&f.0)).flatten();
        let mut candidates: Vec<Id> = listed.copied().collect();
        candidates.sort_unstable_by(|a, b| b.cmp(a));
        for product in candidates {
            let inner = self.factors(product);
            let holds =
                |f: &Factor| factors.iter().any(|o| o.0 == f.0 && (o.1 > 0) == (f.1 > 0) && o.1.abs() >= f.1.abs());
            if inner.iter().all(holds) {
                inner.iter().for_each(|&(id, power)| merge(factors, id, -power));
                merge(factors, product, 1);
            }
        }
    }

    /// Rule (f), late: `exp(a) / s` is `exp(a - log s)` if the primal has `log s` in a sum that makes `a - log s` short,
    /// such as the output of log-softmax. Done early it would hide that the quotients sum to 1.
    fn exp_of_difference(&mut self, factors: &mut Vec<Factor>) -> bool {
        for x in 0..factors.len() {
            let (exp, 1) = factors[x] else { continue };
            let Node::Unary(Unary::Exp, a) = self.b.node(exp) else { continue };
            for y in 0..factors.len() {
                let (s, -1) = factors[y] else { continue };
                let Some(log) = self.b.find(&Node::Unary(Unary::Log, s)).filter(|&l| l < self.frozen) else {
                    continue;
                };
                if let Some(difference) = self.use_primal_sums(&[(1.0, a), (-1.0, log)]) {
                    factors[x].0 = self.b.unary(Unary::Exp, difference);
                    factors.remove(y);
                    return true;
                }
            }
        }
        false
    }

    /// The sum of the terms by way of sums of the primal that hold a logarithm; none if there is none that fits.
    fn use_primal_sums(&mut self, terms: &[(f64, Id)]) -> Option<Id> {
        let mut flat = vec![];
        terms.iter().for_each(|&(k, id)| self.flatten(k, id, &mut flat));
        let mut used = false;
        for at in (0..self.frozen.0).rev().map(Id) {
            if self.terms(at).is_none_or(|(_, terms)| terms.len() < 2) {
                continue;
            }
            let mut inner = vec![];
            self.flatten(1.0, at, &mut inner);
            if !inner.iter().any(|t| matches!(self.b.node(t.1), Node::Unary(Unary::Log, _))) {
                continue;
            }
            for sign in [1.0, -1.0] {
                if inner.iter().all(|&(k, id)| flat.contains(&(k * sign, id))) {
                    flat.retain(|t| !inner.iter().any(|i| i.1 == t.1));
                    flat.push((sign, at));
                    used = true;
                    break;
                }
            }
        }
        match flat[..] {
            _ if !used => None,
            [(1.0, id)] => Some(id),
            _ => Some(self.intern_sum(0.0, flat)),
        }
    }

    /// The terms of a sum, of the sums in it, and so on, as far as they add no constant.
    fn flatten(&self, k: f64, id: Id, out: &mut Vec<(f64, Id)>) {
        let mut todo = vec![(k, id)];
        while let Some((k, id)) = todo.pop() {
            match self.terms(id) {
                Some((0.0, terms)) => todo.extend(terms.iter().map(|&(inner, id)| (k * inner, id))),
                Some(_) | None => {
                    match out.iter_mut().find(|t| t.1 == id) {
                        Some(term) => term.0 += k,
                        None => out.push((k, id)),
                    }
                    out.retain(|t| t.0 != 0.0);
                }
            }
        }
    }

    /// Rule (k), late: a product with a factor `select(q, a, 0)` is `select(q, product with a, 0)`, and likewise with the
    /// sides exchanged. What is not selected may be infinite, and 0 times infinity would be a NaN.
    fn select_outermost(&mut self, k: f64, factors: &[Factor]) -> Option<Id> {
        if self.selects >= SELECTS {
            return None;
        }
        let bare = factors.len() == 1 && k == 1.0;
        for (at, &(id, power)) in factors.iter().enumerate() {
            let Node::Select(q, a, b) = self.b.node(id) else { continue };
            let side = if self.is_zero(b) { a } else { b };
            if power != 1 || bare || !(self.is_zero(a) || self.is_zero(b)) {
                continue;
            }
            let mut rest = factors.to_vec();
            rest[at].0 = side;
            self.selects += 1;
            let product = self.product(&rest);
            let product = self.scale(k, product);
            self.selects -= 1;
            let zero = self.zero();
            return Some(if side == a { self.b.select(q, product, zero) } else { self.b.select(q, zero, product) });
        }
        None
    }
}

/// How many selections one inside of the other are brought outside: the way there is recursive.
const SELECTS: u32 = 64;

/// The most factors that a product has which is opened for nothing. Chains of steps, each with a slope, would grow to
/// products as long as the chain, and the time to derive them with its cube.
const LONG: usize = 8;

/// The largest power that opening a product may lead to; larger ones stay nested.
const POWER: i64 = 1 << 20;

fn is_power_of_two(x: f64) -> bool {
    x.is_normal() && x.to_bits() << 12 == 0
}

fn merge(factors: &mut Vec<Factor>, id: Id, power: i64) {
    match factors.iter_mut().find(|f| f.0 == id) {
        Some(factor) => factor.1 += power,
        None => factors.push((id, power)),
    }
    factors.retain(|f| f.1 != 0);
}
