//! One extent: a polynomial over numbered symbols in normal form.

mod compare;
mod floor;
mod value;

pub(crate) use value::Value;

/// How many symbols a scope may have; a name past them is [`Dim::UNKNOWN`].
pub const SYMBOLS: usize = 16;
/// How many terms a sum may have before it becomes [`Dim::UNKNOWN`].
const TERMS: usize = 8;
/// The length that marks [`Dim::UNKNOWN`].
const NO_FORM: u8 = u8::MAX;

/// The greatest coefficient; the least is its negative.
const RANGE: i128 = i64::MAX as i128;

/// A product of powers of symbols: four bits a symbol, the exponent plus eight. Exponents range from -4 to 3, so that
/// sums and differences of two stay inside their four bits.
type Powers = u64;
/// The empty product.
const ONE: Powers = 0x8888_8888_8888_8888;

/// An extent: a sum of integer multiples of products of symbols over a common integer denominator, the largest whole
/// number that is no greater than such a sum, or unknown.
///
/// Terms are sorted and have different powers, no coefficient is zero, numerators and denominator have no common
/// factor and unused places are zero, so that equal polynomials are equal values. Exponents may be negative: `a/b` is
/// the exact division. A symbol stands for a positive number, or for any that is not negative where the dim says
/// so. A sum that is rounded down is never whole by its form, and its constant is a multiple of the part of the
/// denominator that divides no other coefficient.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dim {
    len: u8,
    /// Whether it is the sum rounded down.
    floor: bool,
    /// The symbols that may be zero, one bit each; some may have fallen out of the sum.
    zeros: u16,
    den: i64,
    coefs: [i64; TERMS],
    powers: [Powers; TERMS],
}

impl Dim {
    /// An extent of which nothing is known.
    pub const UNKNOWN: Dim =
        Dim { len: NO_FORM, floor: false, zeros: 0, den: 1, coefs: [0; TERMS], powers: [0; TERMS] };
    const ZERO: Dim = Dim { len: 0, floor: false, zeros: 0, den: 1, coefs: [0; TERMS], powers: [0; TERMS] };

    /// All symbols in order, worked out once.
    pub(crate) const SYMS: [Dim; SYMBOLS] = {
        let (mut all, mut k) = ([Dim::UNKNOWN; SYMBOLS], 0);
        while k < SYMBOLS {
            all[k] = Dim::term(1, ONE + (1 << place(k)));
            k += 1;
        }
        all
    };

    /// A number.
    pub const fn lit(value: i64) -> Dim {
        if value == i64::MIN { Dim::UNKNOWN } else { Dim::term(value, ONE) }
    }

    /// The symbol of that number; unknown past [`SYMBOLS`].
    pub const fn sym(number: usize) -> Dim {
        if number >= SYMBOLS { Dim::UNKNOWN } else { Dim::SYMS[number] }
    }

    /// The dim, each symbol of which may be zero too.
    pub(crate) const fn maybe_zero(mut self) -> Dim {
        self.zeros = self.symbols();
        self
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
        if self.len != 1 || self.floor || self.den != 1 || self.coefs[0] != 1 || self.powers[0] <= ONE {
            return None;
        }
        // One symbol to the first power is one lowest bit of the four.
        let lane = self.powers[0] - ONE;
        if lane & (lane - 1) != 0 || lane & 0x1111_1111_1111_1111 == 0 {
            return None;
        }
        Some(SYMBOLS - 1 - (lane.trailing_zeros() / 4) as usize)
    }

    /// The set of symbols in it, one bit each.
    pub const fn symbols(&self) -> u16 {
        let (mut used, mut i) = (0, 0);
        while i < self.terms() {
            used |= self.powers[i] ^ ONE;
            i += 1;
        }
        let (mut set, mut k) = (0, SYMBOLS);
        while used != 0 {
            k -= 1;
            if used & 15 != 0 {
                set |= 1 << k;
            }
            used >>= 4;
        }
        set
    }

    /// `self + other`.
    pub const fn add(self, other: Dim) -> Dim {
        if self.len == NO_FORM || other.len == NO_FORM {
            return Dim::UNKNOWN;
        }
        if self.len == 0 {
            return other;
        }
        if self.floor || other.floor {
            // A whole number may stand outside or inside of the rounding.
            if !(self.whole() && other.whole()) || (self.floor && other.floor) {
                return Dim::UNKNOWN;
            }
            return self.unrounded().add(other.unrounded()).rounded_down();
        }
        let (scale_self, scale_other, den) = if self.den == other.den {
            (1, 1, self.den)
        } else {
            let g = gcd(self.den, other.den);
            let Some(den) = times(self.den, other.den / g) else { return Dim::UNKNOWN };
            (other.den / g, self.den / g, den)
        };
        let mut sum = self;
        sum.den = den;
        sum.zeros |= other.zeros;
        let mut i = 0;
        while scale_self != 1 && i < self.terms() {
            let Some(coef) = times(self.coefs[i], scale_self) else { return Dim::UNKNOWN };
            sum.coefs[i] = coef;
            i += 1;
        }
        i = 0;
        while i < other.terms() {
            let Some(coef) = times(other.coefs[i], scale_other) else { return Dim::UNKNOWN };
            if !sum.insert(coef, other.powers[i]) {
                return Dim::UNKNOWN;
            }
            i += 1;
        }
        if sum.den == 1 && sum.len > 0 { sum } else { sum.reduced() }
    }

    /// `self - other`.
    pub const fn sub(self, other: Dim) -> Dim {
        if other.floor {
            return if self.same(&other) { Dim::ZERO } else { Dim::UNKNOWN };
        }
        self.add(other.neg())
    }

    /// `self * other`.
    pub const fn mul(self, other: Dim) -> Dim {
        if self.len == NO_FORM || other.len == NO_FORM {
            return Dim::UNKNOWN;
        }
        if other.is_one() {
            return self;
        }
        if self.is_one() {
            return other;
        }
        if self.floor || other.floor {
            return if self.len == 0 || other.len == 0 { Dim::ZERO } else { Dim::UNKNOWN };
        }
        let Some(den) = times(self.den, other.den) else { return Dim::UNKNOWN };
        let mut product = Dim { den, zeros: self.zeros | other.zeros, ..Dim::ZERO };
        let mut i = 0;
        while i < self.terms() {
            let mut j = 0;
            while j < other.terms() {
                let Some(coef) = times(self.coefs[i], other.coefs[j]) else { return Dim::UNKNOWN };
                if !product.insert(coef, joined(self.powers[i], other.powers[j])) {
                    return Dim::UNKNOWN;
                }
                j += 1;
            }
            i += 1;
        }
        if den == 1 && product.len > 0 { product } else { product.reduced() }
    }

    /// The exact quotient `self / other`; unknown where it is no such polynomial.
    pub const fn div(self, other: Dim) -> Dim {
        if self.len == NO_FORM || other.len == NO_FORM || other.len == 0 {
            return Dim::UNKNOWN;
        }
        if other.is_one() {
            return self;
        }
        if self.floor || other.floor {
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
        if self.len != other.len || self.len == NO_FORM || self.den != other.den || self.floor != other.floor {
            return false;
        }
        let mut i = 0;
        while i < self.len as usize {
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
        let (symbols, mut k) = (self.symbols(), 0);
        while k < dims.len() && k < SYMBOLS {
            if symbols & (1 << k) != 0 && dims[k].floor {
                return self.subst_rounded(dims, k);
            }
            k += 1;
        }
        if self.floor {
            return self.unrounded().subst(dims).rounded_down();
        }
        let (mut sum, mut i) = (Dim::ZERO, 0);
        while i < self.terms() {
            let mut term = Dim { den: self.den, ..Dim::term(self.coefs[i], ONE) };
            if self.den != 1 {
                term = term.reduced();
            }
            let (mut left, mut k) = (self.powers[i] ^ ONE, SYMBOLS);
            while left != 0 {
                k -= 1;
                if left & 15 != 0 {
                    let dim = if k < dims.len() { &dims[k] } else { &Dim::UNKNOWN };
                    term = term.times_power(dim, exponent(self.powers[i], k));
                }
                left >>= 4;
            }
            sum = if self.len == 1 { term } else { sum.add(term) };
            i += 1;
        }
        sum
    }

    /// How many terms there are to read: none where the dim is unknown.
    pub(crate) const fn terms(&self) -> usize {
        if self.len == NO_FORM { 0 } else { self.len as usize }
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

    const fn times_power(mut self, dim: &Dim, power: i32) -> Dim {
        let mut left = power;
        while left > 0 {
            self = self.mul(*dim);
            left -= 1;
        }
        while left < 0 {
            self = self.div(*dim);
            left += 1;
        }
        self
    }

    const fn is_one(&self) -> bool {
        self.len == 1 && self.den == 1 && self.coefs[0] == 1 && self.powers[0] == ONE
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
            let sum = self.coefs[at] as i128 + coef as i128;
            if sum > RANGE || sum < -RANGE {
                return false;
            }
            let sum = sum as i64;
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
        let mut quotient = Dim { den, zeros: self.zeros | divisor.zeros, ..Dim::ZERO };
        let mut i = 0;
        while i < self.terms() {
            let Some(coef) = times(self.coefs[i], divisor.den) else { return Dim::UNKNOWN };
            if !quotient.insert(coef, parted(self.powers[i], divisor.powers[0])) {
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

/// The product, or `None` out of the range. Wide arithmetic is a single step of the compiler's interpreter, where each
/// checked operation is several calls.
const fn times(a: i64, b: i64) -> Option<i64> {
    let product = a as i128 * b as i128;
    if product > RANGE || product < -RANGE { None } else { Some(product as i64) }
}

/// The powers of a product of two terms.
const fn joined(a: Powers, b: Powers) -> Powers {
    (a as i128 + b as i128 - ONE as i128) as Powers
}

/// The powers of a quotient of two terms.
const fn parted(a: Powers, b: Powers) -> Powers {
    (a as i128 - b as i128 + ONE as i128) as Powers
}

/// The greatest common divisor, not negative; `gcd(0, a) = |a|`.
const fn gcd(a: i64, b: i64) -> i64 {
    let (mut a, mut b) = (a.unsigned_abs(), b.unsigned_abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a as i64
}
