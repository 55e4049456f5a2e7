//! A short list on the stack: small calls allocate nothing for their bookkeeping.

use std::ops::{Deref, DerefMut};

/// A list that is on the stack up to `N` entries.
#[derive(Clone)]
pub(super) struct Few<T, const N: usize> {
    len: usize,
    at: [T; N],
    /// All entries, once there are more.
    more: Vec<T>,
}

impl<T: Copy, const N: usize> Few<T, N> {
    /// No entries; `unused` fills their places.
    #[inline]
    pub(super) fn new(unused: T) -> Self {
        Few { len: 0, at: [unused; N], more: vec![] }
    }

    /// Appends an entry.
    #[inline]
    pub(super) fn push(&mut self, entry: T) {
        if self.len < N {
            self.at[self.len] = entry;
        } else {
            if self.len == N {
                self.more.extend_from_slice(&self.at);
            }
            self.more.push(entry);
        }
        self.len += 1;
    }

    /// `len` times `entry`.
    #[inline]
    pub(super) fn repeat(entry: T, len: usize) -> Self {
        let more = if len > N { vec![entry; len] } else { vec![] };
        Few { len, at: [entry; N], more }
    }

    /// The entries of an iterator.
    #[inline]
    pub(super) fn of(unused: T, entries: impl IntoIterator<Item = T>) -> Self {
        let mut list = Few::new(unused);
        entries.into_iter().for_each(|entry| list.push(entry));
        list
    }
}

impl<T, const N: usize> Deref for Few<T, N> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        if self.len > N { &self.more } else { &self.at[..self.len] }
    }
}

impl<T, const N: usize> DerefMut for Few<T, N> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        if self.len > N { &mut self.more } else { &mut self.at[..self.len] }
    }
}

#[cfg(test)]
mod tests {
    use super::Few;

    #[test]
    fn grows_beyond_the_stack() {
        let mut list = Few::<_, 3>::new(0);
        for n in 0..5 {
            assert_eq!(list[..], (0..n).collect::<Vec<_>>());
            list.push(n);
            list[n] += 1;
            list[n] -= 1;
        }
        assert_eq!(Few::<_, 2>::repeat(7, 3)[..], [7; 3]);
        assert_eq!(Few::<_, 2>::of(0, [1, 2])[..], [1, 2]);
    }
}
