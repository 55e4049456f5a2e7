//! Float sums.

use super::Simplifier;
use crate::kernel::{Id, Kind, Link, Node, Num};

type Term = (f64, Id);

impl Simplifier {
    /// `c + k1 * t1 + ..`, simplified.
    pub(crate) fn sum(&mut self, c: f64, terms: &[Term]) -> Id {
        let (c, terms) = self.open_sums(c, terms);
        match terms[..] {
            [] => return self.b.float(c + 0.0),
            [(1.0, id)] if c == 0.0 => return id,
            _ => {}
        }
        if c == 0.0
            && terms.len() > 1
            && let Some(id) = self.factor_common(&terms)
        {
            return id;
        }
        if self.late
            && terms.len() + usize::from(c != 0.0) > 2
            && let Some(id) = self.horner(c, &terms)
        {
            return id;
        }
        if c == 0.0
            && terms.len() > 1
            && let Some(id) = self.common_coefficient(&terms)
        {
            return id;
        }
        self.intern_sum(c, terms)
    }

    pub(super) fn intern_sum(&mut self, c: f64, mut terms: Vec<Term>) -> Id {
        terms.sort_by_key(|&(k, id)| (k < 0.0, id));
        let links: Vec<Link> = terms.iter().map(|&(k, id)| Link { k: Num::float(k), id }).collect();
        let terms = self.b.run(&links);
        let c = if c == 0.0 { Num::NO_FLOAT } else { Num::float(c) };
        self.b.intern(Node::Sum { kind: Kind::Float, c, terms })
    }

    /// Rule (a): a sum inside a sum is opened only if one of its terms cancels, since opening it otherwise would change
    /// the order of the user's additions for nothing. Equal terms are one.
    fn open_sums(&self, c: f64, terms: &[Term]) -> (f64, Vec<Term>) {
        let (mut c, mut done) = (c, Vec::<Term>::new());
        let mut todo: Vec<Term> = vec![];
        let push = |c: &mut f64, todo: &mut Vec<Term>, (k, id): Term| match self.coefficient(id) {
            _ if k == 0.0 => {}
            (inner, None) => *c += k * inner,
            (inner, Some(id)) => todo.push((k * inner, id)),
        };
        terms.iter().rev().for_each(|&t| push(&mut c, &mut todo, t));
        while let Some((k, id)) = todo.pop() {
            if let Some((inner_c, inner)) = self.terms(id) {
                let against = |&(ik, it): &Term| done.iter().chain(&todo).any(|&(mk, mt)| mt == it && mk == -k * ik);
                if inner.iter().any(against) {
                    c += k * inner_c;
                    inner.iter().rev().for_each(|&(ik, it)| push(&mut c, &mut todo, (k * ik, it)));
                    continue;
                }
            }
            match done.iter_mut().find(|t| t.1 == id) {
                Some(term) => term.0 += k,
                None => done.push((k, id)),
            }
            done.retain(|t| t.0 != 0.0);
        }
        (c, done)
    }

    /// Rule (b): `a * x + a * y` is `a * (x + y)`, so that `a` is multiplied once and can cancel.
    fn factor_common(&mut self, terms: &[Term]) -> Option<Id> {
        let factors: Vec<Vec<(Id, i64)>> = terms.iter().map(|t| self.factors(t.1)).collect();
        let shared = |&(id, power): &(Id, i64)| {
            let mut least = power;
            for other in &factors {
                let found = other.iter().find(|f| f.0 == id && (f.1 > 0) == (power > 0))?;
                least = if power > 0 { least.min(found.1) } else { least.max(found.1) };
            }
            Some((id, least))
        };
        let mut common: Vec<(Id, i64)> = factors.first()?.iter().filter_map(shared).collect();
        if common.is_empty() {
            return None;
        }
        let mut rest = vec![];
        for (&(k, _), mut factors) in terms.iter().zip(factors) {
            for factor in &mut factors {
                let taken = common.iter().find(|c| c.0 == factor.0 && (c.1 > 0) == (factor.1 > 0));
                factor.1 -= taken.map_or(0, |c| c.1);
            }
            rest.push((k, self.product(&factors)));
        }
        let rest = self.sum(0.0, &rest);
        common.push((rest, 1));
        Some(self.product(&common))
    }

    /// Rule (g), late: takes out the factor that most terms share, again and again: the fewest multiplications. Done
    /// early it would hide terms that cancel.
    fn horner(&mut self, c: f64, terms: &[Term]) -> Option<Id> {
        let mut counts = Vec::<(usize, Id)>::new();
        for &(_, id) in terms {
            for (factor, power) in self.factors(id) {
                match counts.iter_mut().find(|n| n.1 == factor) {
                    _ if power < 0 => {}
                    Some(count) => count.0 += 1,
                    None => counts.push((1, factor)),
                }
            }
        }
        let &(_, shared) = counts.iter().filter(|n| n.0 > 1).max()?;
        let (mut inside, mut outside) = (vec![], vec![]);
        for &(k, id) in terms {
            let mut factors = self.factors(id);
            match factors.iter_mut().find(|f| f.0 == shared && f.1 > 0) {
                Some(factor) => {
                    factor.1 -= 1;
                    inside.push((k, self.product(&factors)));
                }
                None => outside.push((k, id)),
            }
        }
        let inside = self.sum(0.0, &inside);
        outside.push((1.0, self.mul(shared, inside)));
        Some(self.sum(c, &outside))
    }

    /// `k * a - k * b` is `k * (a - b)`, so that products see what is inside.
    fn common_coefficient(&mut self, terms: &[Term]) -> Option<Id> {
        let size = terms.first()?.0.abs();
        let k = if terms.iter().all(|t| t.0 < 0.0) { -size } else { size };
        if k == 1.0 || !terms.iter().all(|t| t.0.abs() == size) {
            return None;
        }
        let inside = self.intern_sum(0.0, terms.iter().map(|&(t, id)| (t / k, id)).collect());
        Some(self.intern_sum(0.0, vec![(k, inside)]))
    }
}
