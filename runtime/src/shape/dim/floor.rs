//! Quotients that are rounded down.

use super::{Dim, NO_FORM, ONE, exponent, gcd, place, whole};

impl Dim {
    /// The quotient rounded down, by a number that is positive.
    pub const fn floor_div(self, other: Dim) -> Dim {
        // Rounding twice is rounding once: `floor(floor(a) / n) = floor(a / n)`.
        let is_positive = match other.literal() {
            Some(n) => n > 0,
            None => other.whole(),
        };
        if !self.whole() || !is_positive { Dim::UNKNOWN } else { self.unrounded().div(other).rounded_down() }
    }

    /// As [`subst`](Dim::subst), where `dims[k]` is rounded down: what is added to it and divides it goes inside of the
    /// rounding. Unknown where it occurs otherwise.
    pub(super) const fn subst_rounded(&self, dims: &[Dim], k: usize) -> Dim {
        let (mut factor, mut rest) = (Dim { den: self.den, ..Dim::ZERO }, Dim { den: self.den, ..Dim::ZERO });
        let mut i = 0;
        while i < self.terms() {
            let fits = match exponent(self.powers[i], k) {
                0 => rest.insert(self.coefs[i], self.powers[i]),
                1 => factor.insert(self.coefs[i], self.powers[i] - (1 << place(k))),
                _ => false,
            };
            if !fits {
                return Dim::UNKNOWN;
            }
            i += 1;
        }
        let (factor, rest) = (factor.reduced().subst(dims), rest.reduced().subst(dims));
        let divisor = Dim::lit(1).div(factor);
        let is_inside = divisor.whole()
            && divisor.exceeds(&Dim::ZERO)
            && rest.mul(divisor).whole()
            && (self.floor || divisor.is_one());
        if !is_inside {
            return Dim::UNKNOWN;
        }
        dims[k].unrounded().mul(factor).add(rest).rounded_down()
    }

    /// The sum that is rounded down, if it is.
    pub(crate) const fn unrounded(mut self) -> Dim {
        self.floor = false;
        self
    }

    /// The largest whole number that is no greater.
    pub(super) const fn rounded_down(mut self) -> Dim {
        if self.len == 0 || self.len == NO_FORM || self.whole() {
            return self;
        }
        // What divides the denominator and all coefficients but the constant's: `floor((2a + 1) / 2) = a`.
        let (mut g, mut constant, mut i) = (self.den, None, 0);
        while i < self.terms() {
            if self.powers[i] == ONE {
                constant = Some(i);
            } else if whole(self.powers[i]) {
                g = gcd(g, self.coefs[i]);
            } else {
                g = 1;
            }
            i += 1;
        }
        if let Some(at) = constant {
            self.coefs[at] = self.coefs[at].div_euclid(g) * g;
            if self.coefs[at] == 0 {
                self.remove(at);
            }
        }
        self = self.reduced();
        self.floor = !self.whole();
        self
    }

    /// Whether it is rounded down.
    pub(crate) const fn is_rounded(&self) -> bool {
        self.floor
    }
}
