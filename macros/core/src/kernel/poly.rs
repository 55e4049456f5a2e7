//! Integer polynomials: extents over dims, and indices over dims and axes, in one normal form.

use cotangent_ir::{Axis, Binary, Builder, Dim, Id, Kind};
use std::collections::BTreeMap;

/// How many terms a polynomial may have, and how many factors a term.
const LIMIT: usize = 64;

/// What a polynomial is over.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Atom {
    Dim(Dim),
    Axis(Axis),
    /// The quotient rounded down. In a declared dim it is exact, since a launch refuses shapes that leave a remainder.
    Quot(Box<Poly>, Box<Poly>),
    /// The remainder, with the divisor's sign.
    Rem(Box<Poly>, Box<Poly>),
    /// A node that is none of these.
    Other(Id),
}

/// A sum of products with integer coefficients, none of them 0.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Poly {
    /// The coefficient of each product, whose factors are in order.
    terms: BTreeMap<Vec<Atom>, i64>,
}

impl Poly {
    pub(super) fn constant(value: i64) -> Poly {
        Poly::term(vec![], value)
    }

    pub(super) fn atom(atom: Atom) -> Poly {
        Poly::term(vec![atom], 1)
    }

    pub(super) fn term(factors: Vec<Atom>, k: i64) -> Poly {
        Poly { terms: if k == 0 { BTreeMap::new() } else { BTreeMap::from([(factors, k)]) } }
    }

    /// Its products and their coefficients.
    pub(super) fn terms(&self) -> impl Iterator<Item = (&[Atom], i64)> {
        self.terms.iter().map(|(factors, &k)| (&factors[..], k))
    }

    /// Its value, if it is a number.
    pub(super) fn as_const(&self) -> Option<i64> {
        match (self.terms.len(), self.terms.first_key_value()) {
            (0, _) => Some(0),
            (1, Some((factors, &k))) if factors.is_empty() => Some(k),
            (_, _) => None,
        }
    }

    /// Its factors, if it is a product of atoms, and maybe of a positive number.
    pub(super) fn factors(&self) -> Option<&[Atom]> {
        match (self.terms.len(), self.terms.first_key_value()) {
            (1, Some((factors, &k))) if k > 0 => Some(factors),
            (_, _) => None,
        }
    }

    /// The one atom that it is, if it is one.
    pub(super) fn as_atom(&self) -> Option<&Atom> {
        match (self.terms.len(), self.terms.first_key_value()) {
            (1, Some((factors, 1))) if factors.len() == 1 => factors.first(),
            (_, _) => None,
        }
    }

    /// Every atom in it, those inside of quotients and remainders excepted.
    pub(super) fn atoms(&self) -> impl Iterator<Item = &Atom> {
        self.terms.keys().flatten()
    }

    /// `self + k * other`; nothing where a number or the polynomial gets too large.
    pub(super) fn plus(&self, k: i64, other: &Poly) -> Option<Poly> {
        let mut sum = self.clone();
        for (factors, c) in &other.terms {
            let entry = sum.terms.entry(factors.clone()).or_insert(0);
            *entry = entry.checked_add(c.checked_mul(k)?)?;
        }
        sum.terms.retain(|_, k| *k != 0);
        (sum.terms.len() <= LIMIT).then_some(sum)
    }

    /// `self * other`; nothing where a number or the polynomial gets too large.
    pub(super) fn times(&self, other: &Poly) -> Option<Poly> {
        let mut product = Poly::default();
        for (left, a) in &self.terms {
            for (right, b) in &other.terms {
                let mut factors = [&left[..], &right[..]].concat();
                if factors.len() > LIMIT {
                    return None;
                }
                factors.sort();
                product = product.plus(1, &Poly::term(factors, a.checked_mul(*b)?))?;
            }
        }
        Some(product)
    }

    /// `self` to that power; nothing where it gets too large.
    pub(super) fn power(&self, n: i64) -> Option<Poly> {
        let n = usize::try_from(n).ok().filter(|&n| n <= LIMIT)?;
        (0..n).try_fold(Poly::constant(1), |product, _| product.times(self))
    }

    /// The quotient rounded down by a product that is at least 1, where that is a polynomial: of terms that it divides,
    /// and of a number that it divides or that is -1.
    pub(super) fn over(&self, divisor: &Poly) -> Option<Poly> {
        let (factors, k) = match (divisor.terms.len(), divisor.terms.first_key_value()) {
            (1, Some((factors, &k))) if k > 0 => (factors, k),
            (_, _) => return None,
        };
        let mut quotient = Poly::default();
        for (term, &c) in &self.terms {
            let part = match without(term, factors) {
                Some(rest) if c % k == 0 => Poly::term(rest, c / k),
                Some(rest) if rest.is_empty() && factors.is_empty() => Poly::constant(c.div_euclid(k)),
                None if term.is_empty() && c == -1 => Poly::constant(-1),
                Some(_) | None => return None,
            };
            quotient = quotient.plus(1, &part)?;
        }
        Some(quotient)
    }

    /// The quotient rounded down, as a polynomial or an atom of its own; nothing where that gets too large.
    ///
    /// A quotient by anything but a number stays as it stands, since the quotient by 0 is 0.
    pub(super) fn quotient(&self, divisor: &Poly) -> Option<Poly> {
        if let Some(quotient) = divisor.as_const().and_then(|_| self.over(divisor)) {
            return Some(quotient);
        }
        let (a, b) = self.pair(divisor)?;
        Some(Poly::atom(Atom::Quot(a, b)))
    }

    /// The remainder as an atom of its own; nothing where that gets too large.
    pub(super) fn remainder(&self, divisor: &Poly) -> Option<Poly> {
        let (a, b) = self.pair(divisor)?;
        Some(Poly::atom(Atom::Rem(a, b)))
    }

    fn pair(&self, other: &Poly) -> Option<(Box<Poly>, Box<Poly>)> {
        let small = self.size() + other.size() <= LIMIT;
        small.then(|| (Box::new(self.clone()), Box::new(other.clone())))
    }

    /// How many atoms and terms there are, those inside of atoms included.
    fn size(&self) -> usize {
        let inner = |atom: &Atom| match atom {
            Atom::Dim(_) | Atom::Axis(_) | Atom::Other(_) => 1,
            Atom::Quot(p, q) | Atom::Rem(p, q) => 1 + p.size() + q.size(),
        };
        self.terms.len() + self.atoms().map(inner).sum::<usize>()
    }

    /// With every `dim` replaced by `value`.
    pub(super) fn replace(&self, dim: Dim, value: &Poly) -> Option<Poly> {
        let mut sum = Poly::default();
        for (factors, &k) in &self.terms {
            let mut product = Poly::constant(k);
            for factor in factors {
                let factor = if *factor == Atom::Dim(dim) { value.clone() } else { Poly::atom(factor.clone()) };
                product = product.times(&factor)?;
            }
            sum = sum.plus(1, &product)?;
        }
        Some(sum)
    }

    /// The integer node that it is.
    pub(super) fn node(&self, b: &mut Builder) -> Id {
        let mut terms = vec![];
        for (factors, &k) in &self.terms {
            let factors: Vec<(i64, Id)> = factors.iter().map(|factor| (1, factor.node(b))).collect();
            terms.push((k, b.product(Kind::Int, &factors)));
        }
        b.affine(0, &terms)
    }

    /// As a user would write it, names given by `name`: products before what has fewer factors, numbers last.
    pub(super) fn written(&self, name: &dyn Fn(&Atom) -> String) -> String {
        let mut terms: Vec<_> = self.terms.iter().collect();
        // A sum starts with a term that is added, if it has one.
        terms.sort_by_key(|(factors, k)| (factors.is_empty(), **k < 0, std::cmp::Reverse(factors.len())));
        let mut text = String::new();
        for (factors, &k) in terms {
            let sign = match (text.is_empty(), k < 0) {
                (true, true) => "-",
                (true, false) => "",
                (false, true) => " - ",
                (false, false) => " + ",
            };
            let number = k.unsigned_abs() != 1 || factors.is_empty();
            let mut parts: Vec<String> = number.then(|| k.unsigned_abs().to_string()).into_iter().collect();
            let alone = factors.len() == 1 && !number;
            parts.extend(factors.iter().map(|factor| match factor {
                Atom::Quot(..) | Atom::Rem(..) if !alone => format!("({})", factor.written(name)),
                _ => factor.written(name),
            }));
            text += &format!("{sign}{}", parts.join("*"));
        }
        if text.is_empty() { "0".to_owned() } else { text }
    }
}

impl Atom {
    fn node(&self, b: &mut Builder) -> Id {
        match self {
            Atom::Dim(dim) => b.size(*dim),
            Atom::Axis(axis) => b.index(*axis),
            Atom::Other(id) => *id,
            Atom::Quot(p, q) => {
                let (p, q) = (p.node(b), q.node(b));
                b.binary(Binary::Quot, p, q)
            }
            Atom::Rem(p, q) => {
                let (p, q) = (p.node(b), q.node(b));
                b.binary(Binary::Rem, p, q)
            }
        }
    }

    fn written(&self, name: &dyn Fn(&Atom) -> String) -> String {
        let part = |p: &Poly| {
            let text = p.written(name);
            if p.terms.len() > 1 { format!("({text})") } else { text }
        };
        match self {
            Atom::Quot(p, q) => format!("{}/{}", part(p), part(q)),
            Atom::Rem(p, q) => format!("{} % {}", part(p), part(q)),
            Atom::Dim(_) | Atom::Axis(_) | Atom::Other(_) => name(self),
        }
    }
}

/// `factors` without those of `divisor`, if all of them are there; both are in order.
pub(super) fn without(factors: &[Atom], divisor: &[Atom]) -> Option<Vec<Atom>> {
    let mut rest = factors.to_vec();
    for factor in divisor {
        let at = rest.iter().position(|f| f == factor)?;
        rest.remove(at);
    }
    Some(rest)
}
