//! What Rust's operators leave open, as PyTorch defines it: expanded kernels call these.

/// A number that may have no place in the order.
pub trait Number: Copy + PartialOrd {
    /// A number that is none, where there is one.
    const NAN: Self;

    /// Whether it equals not even itself.
    fn is_nan(self) -> bool;
}

impl Number for f32 {
    const NAN: f32 = f32::NAN;

    #[inline(always)]
    fn is_nan(self) -> bool {
        self.is_nan()
    }
}

impl Number for f64 {
    const NAN: f64 = f64::NAN;

    #[inline(always)]
    fn is_nan(self) -> bool {
        self.is_nan()
    }
}

impl Number for i64 {
    const NAN: i64 = 0;

    #[inline(always)]
    fn is_nan(self) -> bool {
        false
    }
}

/// The larger number, NaN where either is.
#[inline(always)]
pub fn maximum<T: Number>(a: T, b: T) -> T {
    // The first select is the processor's own maximum and gives `b` where that is NaN. The second gives neither operand:
    // a choice that might leave a lane as it is becomes a masked store, which is slow.
    let m = if a > b { a } else { b };
    if a.is_nan() { T::NAN } else { m }
}

/// The smaller number, NaN where either is.
#[inline(always)]
pub fn minimum<T: Number>(a: T, b: T) -> T {
    let m = if a < b { a } else { b };
    if a.is_nan() { T::NAN } else { m }
}

/// Whether `a` comes before `b` in the search for a maximum: NaN before all, and the first of equals stays.
#[inline(always)]
pub fn above<T: Number>(a: T, b: T) -> bool {
    !b.is_nan() && (a > b || a.is_nan())
}

/// Whether `a` comes before `b` in the search for a minimum.
#[inline(always)]
pub fn below<T: Number>(a: T, b: T) -> bool {
    !b.is_nan() && (a < b || a.is_nan())
}

/// `a > b`, of integers and truth values.
#[inline(always)]
pub fn greater<T: PartialOrd>(a: T, b: T) -> bool {
    a > b
}

/// `a < b`, of integers and truth values.
#[inline(always)]
pub fn less<T: PartialOrd>(a: T, b: T) -> bool {
    a < b
}

/// The remainder with the sign of the divisor, of floats.
#[inline(always)]
pub fn remainder<T>(a: T, b: T) -> T
where
    T: Number + Default + std::ops::Rem<Output = T> + std::ops::Add<Output = T>,
{
    let (r, zero) = (a % b, T::default());
    if r != zero && (r < zero) != (b < zero) { r + b } else { r }
}

/// The remainder with the sign of the divisor, of integers; 0 for a divisor of 0.
#[inline(always)]
pub fn int_remainder(a: i64, b: i64) -> i64 {
    let r = a.checked_rem(b).unwrap_or(0);
    if r != 0 && (r < 0) != (b < 0) { r + b } else { r }
}

/// The quotient rounded down, of integers; 0 for a divisor of 0, wrapping where it overflows.
#[inline(always)]
pub fn int_quotient(a: i64, b: i64) -> i64 {
    if b == 0 {
        return 0;
    }
    let q = a.wrapping_div(b);
    if int_remainder(a, b) != 0 && (a < 0) != (b < 0) { q - 1 } else { q }
}

/// `a` shifted to the left; 0 for a distance outside of 0 to 63.
#[inline(always)]
pub fn shift_left(a: i64, by: i64) -> i64 {
    if (0..64).contains(&by) { a << by } else { 0 }
}

/// `a` shifted to the right, keeping its sign; all sign for a distance outside of 0 to 63.
#[inline(always)]
pub fn shift_right(a: i64, by: i64) -> i64 {
    a >> if (0..64).contains(&by) { by } else { 63 }
}

pub use cotangent_ir::special::{digamma, erfinv, lgamma, trigamma};

/// Word `at` of the random stream `key`.
#[inline(always)]
pub fn word(key: i64, at: i64) -> i64 {
    i64::from(cotangent_ir::philox::word(key as u64, at as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remainders_follow_the_divisor() {
        assert_eq!([remainder(7.0, 3.0), remainder(-7.0, 3.0), remainder(7.0, -3.0)], [1.0, 2.0, -2.0]);
        assert_eq!([int_remainder(-7, 3), int_remainder(7, -3), int_remainder(6, 0)], [2, -2, 0]);
        assert_eq!(
            [int_quotient(-7, 3), int_quotient(7, -3), int_quotient(7, 0), int_quotient(-6, 3)],
            [-3, -3, 0, -2]
        );
        assert_eq!((int_quotient(i64::MIN, -1), int_remainder(i64::MIN, -1)), (i64::MIN, 0));
    }

    #[test]
    fn nan_wins() {
        assert!(maximum(f32::NAN, 1.0).is_nan() && maximum(1.0, f32::NAN).is_nan() && minimum(1.0, f64::NAN).is_nan());
        assert!(above(f32::NAN, 1.0) && !above(1.0, f32::NAN) && !above(f32::NAN, f32::NAN) && !above(1.0, 1.0));
    }

    #[test]
    fn shifts_of_any_distance() {
        assert_eq!([shift_left(1, 3), shift_left(1, 64), shift_left(1, -1)], [8, 0, 0]);
        assert_eq!([shift_right(-8, 1), shift_right(-8, 99), shift_right(8, -1)], [-4, -1, 0]);
    }
}
