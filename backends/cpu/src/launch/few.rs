//! A list on the stack that costs nothing where it is empty.
#![allow(unsafe_code, reason = "keeps unused places uninitialised")]

use std::mem::MaybeUninit;
use std::ops::{Deref, DerefMut};
use std::slice;

/// The most entries: tensors, or scalars, of a launch.
pub(crate) const MOST: usize = 32;

/// Up to `N` entries. A launch has several such lists, and clearing them would take longer than a small kernel.
pub(crate) struct Few<T, const N: usize = MOST> {
    len: usize,
    items: [MaybeUninit<T>; N],
}

impl<T, const N: usize> Few<T, N> {
    #[inline]
    pub(crate) fn new() -> Self {
        Few { len: 0, items: [const { MaybeUninit::uninit() }; N] }
    }

    /// Adds an entry.
    ///
    /// # Panics
    /// Where there are `N` already: callers have counted them.
    #[inline]
    pub(crate) fn push(&mut self, item: T) {
        self.items[self.len].write(item);
        self.len += 1;
    }
}

impl<T, const N: usize> Deref for Few<T, N> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        // SAFETY: the first `len` items are written.
        unsafe { slice::from_raw_parts(self.items.as_ptr().cast(), self.len) }
    }
}

impl<T, const N: usize> DerefMut for Few<T, N> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as above.
        unsafe { slice::from_raw_parts_mut(self.items.as_mut_ptr().cast(), self.len) }
    }
}

impl<T, const N: usize> Drop for Few<T, N> {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: the first `len` items are written, and nobody uses them afterwards.
        unsafe { std::ptr::drop_in_place(&raw mut **self) };
    }
}
