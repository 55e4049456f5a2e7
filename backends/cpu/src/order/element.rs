//! Elements as words that sort like them.

use half::{bf16, f16};
use std::ops::Not;

/// A key before a place: what is sorted in the stead of an element. Any bits are a word.
pub(super) trait Word: Copy + Ord + Send + Sync {
    type Key: Copy + Ord + Not<Output = Self::Key>;
    /// Bytes of a key.
    const BYTES: usize;
    /// Behind all words.
    const LAST: Self;

    fn new(key: Self::Key, index: u32) -> Self;
    fn key(self) -> Self::Key;
    fn index(self) -> u32;
    /// Byte `at` of the key, counted from the lowest.
    fn digit(self, at: usize) -> usize;
}

macro_rules! words {
    ($($word:ident of $key:ident;)*) => { $(
        impl Word for $word {
            type Key = $key;
            const BYTES: usize = size_of::<$key>();
            const LAST: $word = $word::MAX;

            fn new(key: $key, index: u32) -> $word {
                $word::from(key) << 32 | $word::from(index)
            }
            fn key(self) -> $key {
                (self >> 32) as $key
            }
            fn index(self) -> u32 {
                self as u32
            }
            fn digit(self, at: usize) -> usize {
                (self >> (32 + 8 * at)) as usize & 0xFF
            }
        }
    )* };
}
words! {
    u64 of u32;
    u128 of u64;
}

type Key<E> = <<E as Element>::Word as Word>::Key;

/// A type of elements in memory.
pub(super) trait Element: Copy + Send + Sync {
    type Word: Word;

    /// The key in ascending order, NaN last.
    fn ascending(self) -> Key<Self>;
    /// The element with that key; none where several have it.
    fn back(key: Key<Self>) -> Option<Self>;

    /// The key in the order asked for: in descending order NaN comes first.
    fn key(self, descending: bool) -> Key<Self> {
        if descending { !self.ascending() } else { self.ascending() }
    }

    /// The inverse of [`key`](Element::key), as far as there is one.
    fn of(key: Key<Self>, descending: bool) -> Option<Self> {
        Self::back(if descending { !key } else { key })
    }
}

/// Floats: both zeros have one key, and so has every NaN.
macro_rules! floats {
    ($($t:ident as $bits:ident in $word:ident of $key:ident;)*) => { $(
        impl Element for $t {
            type Word = $word;

            fn ascending(self) -> $key {
                const SIGN: $bits = 1 << ($bits::BITS - 1);
                let bits = self.to_bits();
                // The zeros are where the order of bits turns.
                let key = if bits & SIGN == 0 { bits | SIGN } else { SIGN - (bits & !SIGN) };
                if self.is_nan() { $key::MAX } else { key.into() }
            }
            fn back(key: $key) -> Option<$t> {
                const SIGN: $bits = 1 << ($bits::BITS - 1);
                let bits = key as $bits;
                if key == $key::from(SIGN) || key == $key::MAX {
                    return None;
                }
                Some($t::from_bits(if bits & SIGN != 0 { bits & !SIGN } else { SIGN | (SIGN - bits) }))
            }
        }
    )* };
}
floats! {
    f64 as u64 in u128 of u64;
    f32 as u32 in u64 of u32;
    f16 as u16 in u64 of u32;
    bf16 as u16 in u64 of u32;
}

macro_rules! integers {
    ($($t:ident in $word:ident of $key:ident, less $least:expr;)*) => { $(
        impl Element for $t {
            type Word = $word;

            fn ascending(self) -> $key {
                self as $key ^ $least
            }
            fn back(key: $key) -> Option<$t> {
                Some((key ^ $least) as $t)
            }
        }
    )* };
}
integers! {
    i64 in u128 of u64, less 1 << 63;
    i32 in u64 of u32, less 1 << 31;
    u8 in u64 of u32, less 0;
}

/// A truth value as it lies in memory: any byte but 0 is true.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(super) struct Truth(u8);

impl Element for Truth {
    type Word = u64;

    fn ascending(self) -> u32 {
        u32::from(self.0 != 0)
    }
    fn back(key: u32) -> Option<Truth> {
        Some(Truth(u8::from(key != 0)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check<E: Element + PartialOrd + std::fmt::Debug>(ascending: &[E])
    where
        Key<E>: std::fmt::Debug,
    {
        for pair in ascending.windows(2) {
            assert!(pair[0].key(false) < pair[1].key(false) && pair[0].key(true) > pair[1].key(true), "{pair:?}");
        }
        for &e in ascending {
            for descending in [false, true] {
                assert!(E::of(e.key(descending), descending).is_none_or(|back| back == e), "{e:?}");
            }
        }
    }

    #[test]
    fn keys_sort_like_elements() {
        let inf = f32::INFINITY;
        let floats = [-inf, f32::MIN, -1.5, -1.0, -1e-45, 0.0, 1e-45, 1.0, 1.5, f32::MAX, inf];
        check(&floats);
        check(&floats.map(f64::from));
        check(&[-f32::INFINITY, -2.0, -1.0, 0.0, 0.5, 1.0, inf].map(f16::from_f32));
        check(&[-f32::INFINITY, -2.0, -1.0, 0.0, 0.5, 1.0, inf].map(bf16::from_f32));
        check(&[i64::MIN, -1, 0, 1, i64::MAX]);
        check(&[i32::MIN, -1, 0, 1, i32::MAX]);
        check(&[0u8, 1, 255]);
    }

    #[test]
    fn nan_is_last_and_zeros_are_equal() {
        assert!(f32::NAN.key(false) > inf_key() && (-f32::NAN).key(false) == f32::NAN.key(false));
        assert!(f16::NAN.key(false) > f16::INFINITY.key(false) && f64::NAN.key(true) < f64::INFINITY.key(true));
        assert_eq!((-0.0f32).key(false), 0.0f32.key(false));
        assert!(f32::of(f32::NAN.key(true), true).is_none() && f32::of(0.0f32.key(false), false).is_none());
    }

    fn inf_key() -> u32 {
        f32::INFINITY.key(false)
    }
}
