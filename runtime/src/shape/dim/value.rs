//! The number that a dim is when its symbols have values.

use super::{Dim, SYMBOLS, exponent};

/// What a [`Dim`] is when its symbols have values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Value {
    /// A whole number that is not negative.
    Whole(usize),
    /// A division with a remainder, or a negative number.
    Broken,
    /// Not known: no form, or a number out of range.
    Unknown,
}

impl Dim {
    /// The extent when symbol `k` is `values[k]`, or `None` where a symbol has no value, a division leaves a
    /// remainder, the number is negative or out of range.
    pub const fn eval(&self, values: &[usize]) -> Option<usize> {
        match self.value(values) {
            Value::Whole(n) => Some(n),
            Value::Broken | Value::Unknown => None,
        }
    }

    /// As [`Dim::eval`], telling apart why there is no extent.
    pub(crate) const fn value(&self, values: &[usize]) -> Value {
        if let Some(k) = self.symbol() {
            return if k < values.len() { Value::Whole(values[k]) } else { Value::Unknown };
        }
        if let Some(l) = self.literal() {
            return if l >= 0 { Value::Whole(l as usize) } else { Value::Broken };
        }
        let Some((num, den)) = self.fraction(values) else { return Value::Unknown };
        if den == 0 || (num % den != 0 && !self.floor) || num.div_euclid(den) < 0 {
            return Value::Broken;
        }
        let value = num.div_euclid(den);
        if value > usize::MAX as i128 { Value::Unknown } else { Value::Whole(value as usize) }
    }

    /// Numerator and denominator of the value, or `None` where it leaves the range or a symbol has no value.
    const fn fraction(&self, values: &[usize]) -> Option<(i128, i128)> {
        if !self.known() {
            return None;
        }
        // The denominator takes each symbol to the highest power by which any term divides.
        let (mut den, mut lowest, mut k) = (self.den as i128, [0; SYMBOLS], 0);
        while k < SYMBOLS {
            let mut i = 0;
            while i < self.terms() {
                let power = exponent(self.powers[i], k);
                if power != 0 && k >= values.len() {
                    return None;
                }
                if power < lowest[k] {
                    lowest[k] = power;
                }
                i += 1;
            }
            let mut power = lowest[k];
            while power < 0 {
                let Some(d) = den.checked_mul(values[k] as i128) else { return None };
                den = d;
                power += 1;
            }
            k += 1;
        }
        let (mut num, mut i) = (0i128, 0);
        while i < self.terms() {
            let (mut term, mut k) = (self.coefs[i] as i128, 0);
            while k < SYMBOLS {
                let mut power = exponent(self.powers[i], k) - lowest[k];
                while power > 0 {
                    let Some(t) = term.checked_mul(values[k] as i128) else { return None };
                    term = t;
                    power -= 1;
                }
                k += 1;
            }
            let Some(n) = num.checked_add(term) else { return None };
            num = n;
            i += 1;
        }
        Some((num, den))
    }
}
