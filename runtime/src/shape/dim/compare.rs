//! What can be said of dims under every binding of their symbols to the numbers that they stand for.

use super::{Dim, ONE, Powers, SYMBOLS, gcd, parted, place, whole};

impl Dim {
    /// Whether the two are different under every binding of the symbols. `false` says nothing.
    pub const fn differs(&self, other: &Dim) -> bool {
        if self.floor || other.floor {
            return self.exceeds(other) || other.exceeds(self);
        }
        let gap = self.sub(*other);
        gap.known() && gap.len > 0 && (gap.positive() || gap.neg().positive() || gap.odd())
    }

    /// Whether `self > other` under every binding of the symbols. `false` says nothing.
    pub const fn exceeds(&self, other: &Dim) -> bool {
        self.least().sub(other.unrounded()).positive()
    }

    /// What it is at least: of a number that is rounded down, the least that rounding leaves.
    const fn least(self) -> Dim {
        if !self.floor {
            return self;
        }
        let (mut lost, mut i) = (Dim::lit(self.den - 1).div(Dim::lit(self.den)), 0);
        while i < self.terms() {
            if !whole(self.powers[i]) {
                lost = Dim::lit(1);
            }
            i += 1;
        }
        self.unrounded().sub(lost)
    }

    /// Whether it is a whole number under every binding.
    pub(crate) const fn whole(&self) -> bool {
        let mut i = 0;
        while i < self.terms() && !self.floor {
            if !whole(self.powers[i]) {
                return false;
            }
            i += 1;
        }
        self.floor || (self.known() && self.den == 1)
    }

    /// Whether it is a whole number under no binding.
    pub(crate) const fn broken(&self) -> bool {
        self.den != 1 && self.len == 1 && self.powers[0] == ONE && !self.floor
    }

    /// Whether it is greater than zero under every binding: each negative term is outweighed by positive terms that are
    /// multiples of it, and something is left over. A factor that may be zero makes neither.
    const fn positive(&self) -> bool {
        let zeros = self.zeros();
        let (mut left, mut i) = (self.coefs, 0);
        while i < self.terms() {
            let mut j = 0;
            while j < self.terms() && left[i] < 0 {
                let factor = parted(self.powers[j], self.powers[i]);
                if left[j] > 0 && whole(factor) && (factor ^ ONE) & zeros == 0 {
                    let moved = if left[j] < -left[i] { left[j] } else { -left[i] };
                    left[j] -= moved;
                    left[i] += moved;
                }
                j += 1;
            }
            if left[i] < 0 {
                return false;
            }
            i += 1;
        }
        i = 0;
        while i < self.terms() {
            if left[i] > 0 && (self.powers[i] ^ ONE) & zeros == 0 {
                return true;
            }
            i += 1;
        }
        false
    }

    /// The places of the symbols that may be zero.
    const fn zeros(&self) -> Powers {
        let (mut places, mut k) = (0, 0);
        while self.zeros >> k != 0 && k < SYMBOLS {
            if self.zeros >> k & 1 == 1 {
                places |= 15 << place(k);
            }
            k += 1;
        }
        places
    }

    /// Whether it cannot be zero because its constant is no multiple of what divides all other terms.
    const fn odd(&self) -> bool {
        let (mut g, mut constant, mut i) = (0, 0, 0);
        while i < self.terms() {
            if self.powers[i] == ONE {
                constant = self.coefs[i];
            } else if whole(self.powers[i]) {
                g = gcd(g, self.coefs[i]);
            } else {
                return false;
            }
            i += 1;
        }
        g != 0 && constant % g != 0
    }
}
