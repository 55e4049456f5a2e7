//! One extent: a polynomial over numbered symbols in normal form.

mod compare;
mod value;

pub(crate) use value::Value;

/// How many symbols a scope may have; a name past them is [`Dim::UNKNOWN`].
pub const SYMBOLS: usize = 16;
/// How many terms a sum may have before it becomes [`Dim::UNKNOWN`].
const TERMS: usize = 6;
/// The length that marks [`Dim::UNKNOWN`].
const NO_FORM: u8 = u8::MAX;

/// A product of powers of symbols: four bits a symbol, the exponent plus eight. Exponents range from -4 to 3, so that
/// sums and differences of two stay inside their four bits.
type Powers = u64;
/// The empty product.
const ONE: Powers = 0x8888_8888_8888_8888;

/// An extent: a sum of integer multiples of products of symbols over a common integer denominator, or unknown.
///
/// Terms are sorted and have different powers, no coefficient is zero, numerators and denominator have no common
/// factor and unused places are zero, so that equal polynomials are equal values. Exponents may be negative: `a/b` is
/// the exact division. A symbol stands for a positive number. Symbols from the end of the range are free for interned
/// atoms such as floor divisions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dim {
    len: u8,
    den: i64,
    coefs: [i64; TERMS],
    powers: [Powers; TERMS],
}

impl Dim {
    /// An extent of which nothing is known.
    pub const UNKNOWN: Dim = Dim { len: NO_FORM, den: 1, coefs: [0; TERMS], powers: [0; TERMS] };
    const ZERO: Dim = Dim { len: 0, den: 1, coefs: [0; TERMS], powers: [0; TERMS] };

    /// A number.
    pub const fn lit(value: i64) -> Dim {
        if value == i64::MIN { Dim::UNKNOWN } else { Dim::term(value, ONE) }
    }

    /// The symbol of that number; unknown past [`SYMBOLS`].
    pub const fn sym(number: usize) -> Dim {
        if number >= SYMBOLS { Dim::UNKNOWN } else { Dim::term(1, ONE + (1 << place(number))) }
    }

    /// Whether it has a form.
    pub const fn known(&self) -> bool {
        self.len != NO_FORM
    }

    /// The number that it is, if it is one.
    pub const fn literal(&self) -> Option<i64> {
        if self.len == 0 {
            Some(0)
        } else if self.len == 1 && self.den == 1 && self.powers[0] == ONE {
            Some(self.coefs[0])
        } else {
            None
        }
    }

    /// Whether it is this number.
    pub const fn is(&self, value: i64) -> bool {
        matches!(self.literal(), Some(l) if l == value)
    }

    /// The symbol that it is, if it is nothing but one.
    pub const fn symbol(&self) -> Option<usize> {
        if self.len != 1 || self.den != 1 || self.coefs[0] != 1 || self.powers[0] <= ONE {
            return None;
        }
        let lane = self.powers[0] - ONE;
        if lane.is_power_of_two() && lane.trailing_zeros().is_multiple_of(4) {
            Some(SYMBOLS - 1 - (lane.trailing_zeros() / 4) as usize)
        } else {
            None
        }
    }

    /// The set of symbols in it, one bit each.
    pub const fn symbols(&self) -> u16 {
        let (mut set, mut i) = (0, 0);
        while i < self.terms() {
            let mut k = 0;
            while k < SYMBOLS && self.powers[i] != ONE {
                if exponent(self.powers[i], k) != 0 {
                    set |= 1 << k;
                }
                k += 1;
            }
            i += 1;
        }
        set
    }

    /// `self + other`.
    pub const fn add(self, other: Dim) -> Dim {
        if !self.known() || !other.known() {
            return Dim::UNKNOWN;
        }
        let (scale_self, scale_other, den) = if self.den == other.den {
            (1, 1, self.den)
        } else {
            let g = gcd(self.den, other.den);
            let Some(den) = times(self.den, other.den / g) else { return Dim::UNKNOWN };
            (other.den / g, self.den / g, den)
        };
        let mut sum = Dim { den, ..Dim::ZERO };
        let mut i = 0;
        while i < self.terms() {
            let Some(coef) = times(self.coefs[i], scale_self) else { return Dim::UNKNOWN };
            sum.coefs[i] = coef;
            sum.powers[i] = self.powers[i];
            i += 1;
        }
        sum.len = self.len;
        i = 0;
        while i < other.terms() {
            let Some(coef) = times(other.coefs[i], scale_other) else { return Dim::UNKNOWN };
            if !sum.insert(coef, other.powers[i]) {
                return Dim::UNKNOWN;
            }
            i += 1;
        }
        sum.reduced()
    }

    /// `self - other`.
    pub const fn sub(self, other: Dim) -> Dim {
        self.add(other.neg())
    }

    /// `self * other`.
    pub const fn mul(self, other: Dim) -> Dim {
        if !self.known() || !other.known() {
            return Dim::UNKNOWN;
        }
        let Some(den) = times(self.den, other.den) else { return Dim::UNKNOWN };
        let mut product = Dim { den, ..Dim::ZERO };
        let mut i = 0;
        while i < self.terms() {
            let mut j = 0;
            while j < other.terms() {
                let Some(coef) = times(self.coefs[i], other.coefs[j]) else { return Dim::UNKNOWN };
                if !product.insert(coef, self.powers[i].wrapping_add(other.powers[j]).wrapping_sub(ONE)) {
                    return Dim::UNKNOWN;
                }
                j += 1;
            }
            i += 1;
        }
        product.reduced()
    }

    /// The exact quotient `self / other`; unknown where it is no such polynomial.
    pub const fn div(self, other: Dim) -> Dim {
        if !self.known() || !other.known() || other.len == 0 {
            return Dim::UNKNOWN;
        }
        if other.len == 1 {
            return self.over(&other);
        }
        let leading = Dim { den: other.den, ..Dim::term(other.coefs[0], other.powers[0]) }.reduced();
        let (mut rest, mut quotient, mut i) = (self, Dim::ZERO, 0);
        while i <= TERMS && rest.known() && rest.len > 0 {
            let head = Dim { den: rest.den, ..Dim::term(rest.coefs[0], rest.powers[0]) }.reduced();
            let step = head.over(&leading);
            quotient = quotient.add(step);
            rest = rest.sub(step.mul(other));
            i += 1;
        }
        if rest.len == 0 { quotient } else { Dim::UNKNOWN }
    }

    /// Whether both have the same form, hence are equal under every binding. Unknown dims equal nothing.
    pub const fn same(&self, other: &Dim) -> bool {
        if self.len != other.len || !self.known() || self.den != other.den {
            return false;
        }
        let mut i = 0;
        while i < self.terms() {
            if self.coefs[i] != other.coefs[i] || self.powers[i] != other.powers[i] {
                return false;
            }
            i += 1;
        }
        true
    }

    /// This form with `dims[k]` in the place of symbol `k`; symbols past the end of `dims` are unknown.
    pub const fn subst(&self, dims: &[Dim]) -> Dim {
        if let Some(k) = self.symbol() {
            return if k < dims.len() { dims[k] } else { Dim::UNKNOWN };
        }
        if !self.known() || self.literal().is_some() {
            return *self;
        }
        let (mut sum, mut i) = (Dim::ZERO, 0);
        while i < self.terms() {
            let (mut term, mut k) = (Dim { den: self.den, ..Dim::term(self.coefs[i], ONE) }.reduced(), 0);
            while k < SYMBOLS {
                let mut power = exponent(self.powers[i], k);
                let dim = if k < dims.len() { &dims[k] } else { &Dim::UNKNOWN };
                while power > 0 {
                    term = term.mul(*dim);
                    power -= 1;
                }
                while power < 0 {
                    term = term.div(*dim);
                    power += 1;
                }
                k += 1;
            }
            sum = sum.add(term);
            i += 1;
        }
        sum
    }

    /// How many terms there are to read: none where the dim is unknown.
    pub(crate) const fn terms(&self) -> usize {
        if self.known() { self.len as usize } else { 0 }
    }

    /// The common denominator.
    pub(crate) const fn denominator(&self) -> i64 {
        self.den
    }

    /// The coefficient of term `i`, over the common denominator.
    pub(crate) const fn coef(&self, i: usize) -> i64 {
        self.coefs[i]
    }

    /// The exponent of symbol `k` in term `i`.
    pub(crate) const fn power(&self, i: usize, k: usize) -> i32 {
        exponent(self.powers[i], k)
    }

    const fn term(coef: i64, powers: Powers) -> Dim {
        let mut dim = Dim::ZERO;
        if coef != 0 {
            dim.len = 1;
            dim.coefs[0] = coef;
            dim.powers[0] = powers;
        }
        dim
    }

    const fn neg(mut self) -> Dim {
        let mut i = 0;
        while i < self.terms() {
            self.coefs[i] = -self.coefs[i];
            i += 1;
        }
        self
    }

    /// Adds a term in its place; `false` where it does not fit.
    const fn insert(&mut self, coef: i64, powers: Powers) -> bool {
        if coef == 0 {
            return true;
        }
        // An exponent is in its range where the two upper bits of its four differ.
        if ((powers >> 1) ^ powers) & 0x4444_4444_4444_4444 != 0x4444_4444_4444_4444 {
            return false;
        }
        let mut at = 0;
        while at < self.len as usize && self.powers[at] > powers {
            at += 1;
        }
        if at < self.len as usize && self.powers[at] == powers {
            let Some(sum) = self.coefs[at].checked_add(coef) else { return false };
            if sum == i64::MIN {
                return false;
            }
            self.coefs[at] = sum;
            if sum == 0 {
                self.remove(at);
            }
            return true;
        }
        if self.len as usize == TERMS {
            return false;
        }
        let mut i = self.len as usize;
        while i > at {
            self.coefs[i] = self.coefs[i - 1];
            self.powers[i] = self.powers[i - 1];
            i -= 1;
        }
        self.coefs[at] = coef;
        self.powers[at] = powers;
        self.len += 1;
        true
    }

    const fn remove(&mut self, at: usize) {
        self.len -= 1;
        let (mut i, last) = (at, self.len as usize);
        while i < last {
            self.coefs[i] = self.coefs[i + 1];
            self.powers[i] = self.powers[i + 1];
            i += 1;
        }
        self.coefs[last] = 0;
        self.powers[last] = 0;
    }

    /// Divides numerators and denominator by their greatest common factor.
    const fn reduced(mut self) -> Dim {
        if self.len == 0 {
            return Dim::ZERO;
        }
        if self.den == 1 {
            return self;
        }
        let (mut g, mut i) = (self.den, 0);
        while i < self.terms() {
            g = gcd(g, self.coefs[i]);
            i += 1;
        }
        if self.den < 0 {
            g = -g;
        }
        i = 0;
        while i < self.terms() {
            self.coefs[i] /= g;
            i += 1;
        }
        self.den /= g;
        self
    }

    /// `self / divisor` for a divisor of one term.
    const fn over(self, divisor: &Dim) -> Dim {
        if !self.known() {
            return Dim::UNKNOWN;
        }
        let Some(den) = times(self.den, divisor.coefs[0]) else { return Dim::UNKNOWN };
        let mut quotient = Dim { den, ..Dim::ZERO };
        let mut i = 0;
        while i < self.terms() {
            let Some(coef) = times(self.coefs[i], divisor.den) else { return Dim::UNKNOWN };
            if !quotient.insert(coef, self.powers[i].wrapping_sub(divisor.powers[0]).wrapping_add(ONE)) {
                return Dim::UNKNOWN;
            }
            i += 1;
        }
        quotient.reduced()
    }
}

/// The lowest bit of a symbol's exponent. The first symbol has the highest bits, so that sums are sorted by it.
const fn place(symbol: usize) -> usize {
    4 * (SYMBOLS - 1 - symbol)
}

const fn exponent(powers: Powers, symbol: usize) -> i32 {
    (powers >> place(symbol) & 15) as i32 - 8
}

/// Whether no exponent is negative.
const fn whole(powers: Powers) -> bool {
    powers & ONE == ONE
}

/// The product, or `None` out of the range in which every number has its negative.
const fn times(a: i64, b: i64) -> Option<i64> {
    match a.checked_mul(b) {
        Some(i64::MIN) | None => None,
        product => product,
    }
}

/// The greatest common divisor, not negative; `gcd(0, a) = |a|`.
const fn gcd(a: i64, b: i64) -> i64 {
    let (mut a, mut b) = (a.unsigned_abs(), b.unsigned_abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a as i64
}
