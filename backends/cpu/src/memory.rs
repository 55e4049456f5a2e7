//! Tensor memory: 64-byte aligned blocks in size classes, kept by a pool when they are dropped.
#![allow(unsafe_code, reason = "allocates and frees raw memory")]

use cotangent_hal::{Error, Memory, MemoryUse, Result};
use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::any::Any;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The alignment of every block, and the unit of its size.
const ALIGN: usize = 64;
/// Classes up to 16 units, then 8 an octave.
const CLASSES: usize = 16 + 8 * 50;
/// The pool gives nothing back to the system below this many bytes held.
const KEEP: usize = 64 << 20;

/// Free blocks by size class, shared by all threads, and what the process holds.
///
/// A block costs one lock of its class, a few nanoseconds while threads do not meet there. Blocks are zeroed when the
/// system gives them, so that no byte of tensor memory is ever uninitialised. The pool holds at most about twice the
/// most that was in use at once: past that it frees what is unused before it asks the system for more.
pub(crate) struct Pool {
    free: Box<[Mutex<Vec<Free>>]>,
    allocations: AtomicUsize,
    held: AtomicUsize,
    used: AtomicUsize,
    /// The most bytes ever in use when the system was asked for more.
    most: AtomicUsize,
    /// The most bytes in use since somebody asked for it anew.
    peak: AtomicUsize,
    /// Bytes that it holds at most.
    limit: usize,
}

/// A block that nobody uses.
struct Free(NonNull<u8>);

// SAFETY: a free block has no other pointer to it, and the system allocator takes it back on any thread.
unsafe impl Send for Free {}

/// Memory that is in use; back to its pool on drop.
pub(crate) struct Block {
    ptr: NonNull<u8>,
    class: usize,
    state: AtomicU32,
    pool: Arc<Pool>,
}

// SAFETY: the block owns its memory; all access through `&Block` goes by raw pointers under a `Borrow`.
unsafe impl Send for Block {}
// SAFETY: as above: `Borrow` keeps writers and readers of different threads apart.
unsafe impl Sync for Block {}

/// The bit of `Block::state` that a writer sets; below it, readers are counted.
const WRITER: u32 = 1 << 31;

/// The right to read a block, or to read and write it, for the duration of one call.
pub(crate) struct Borrow<'a> {
    block: &'a Block,
    exclusive: bool,
}

impl Pool {
    pub(crate) fn new(limit: usize) -> Arc<Pool> {
        Arc::new(Pool {
            free: (0..CLASSES).map(|_| Mutex::default()).collect(),
            allocations: AtomicUsize::new(0),
            held: AtomicUsize::new(0),
            used: AtomicUsize::new(0),
            most: AtomicUsize::new(0),
            peak: AtomicUsize::new(0),
            limit,
        })
    }

    /// A block of at least `bytes`, its contents those of an earlier use or zeros.
    pub(crate) fn take(self: &Arc<Pool>, bytes: usize) -> Result<Block> {
        let (class, size) = class_of(bytes);
        let cached = match self.free.get(class) {
            Some(list) => lock(list).pop(),
            None => return Err(self.exhausted(bytes)),
        };
        let ptr = match cached {
            Some(Free(ptr)) => ptr,
            None => self.ask(size).ok_or_else(|| self.exhausted(bytes))?,
        };
        let used = self.used.fetch_add(size, Ordering::Relaxed) + size;
        self.peak.fetch_max(used, Ordering::Relaxed);
        Ok(Block { ptr, class, state: AtomicU32::new(0), pool: self.clone() })
    }

    /// How often the system was asked for memory.
    pub(crate) fn allocations(&self) -> usize {
        self.allocations.load(Ordering::Relaxed)
    }

    /// Bytes taken from the system, in use or kept for later.
    pub(crate) fn held(&self) -> usize {
        self.held.load(Ordering::Relaxed)
    }

    /// Bytes in use, the most that were since the last reset, and those taken from the system.
    pub(crate) fn memory(&self) -> MemoryUse {
        let (used, peak) = (self.used.load(Ordering::Relaxed), self.peak.load(Ordering::Relaxed));
        MemoryUse { used, peak, held: self.held() }
    }

    /// Starts the peak anew.
    pub(crate) fn reset_peak(&self) {
        self.peak.store(self.used.load(Ordering::Relaxed), Ordering::Relaxed);
    }

    #[cold]
    fn ask(&self, size: usize) -> Option<NonNull<u8>> {
        if self.held() + size > KEEP {
            let used = self.used.load(Ordering::Relaxed) + size;
            let most = self.most.fetch_max(used, Ordering::Relaxed).max(used);
            if self.held() + size > 2 * most + KEEP {
                self.trim();
            }
        }
        let within = || self.held().checked_add(size).is_some_and(|held| held <= self.limit);
        let ptr = within().then(|| from_system(size)).flatten().or_else(|| {
            self.trim();
            within().then(|| from_system(size)).flatten()
        })?;
        self.allocations.fetch_add(1, Ordering::Relaxed);
        self.held.fetch_add(size, Ordering::Relaxed);
        Some(ptr)
    }

    /// Gives all blocks that are not in use back to the system.
    fn trim(&self) {
        for (class, list) in self.free.iter().enumerate() {
            let size = size_of_class(class);
            for Free(ptr) in std::mem::take(&mut *lock(list)) {
                // SAFETY: a block in the list of its class came from `from_system` with that size and has no user.
                unsafe { to_system(ptr, size) };
                self.held.fetch_sub(size, Ordering::Relaxed);
            }
        }
    }

    #[cold]
    fn exhausted(&self, asked: usize) -> Error {
        Error::Memory { device: "cpu".into(), asked, held: self.held() }
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.trim();
    }
}

impl Block {
    /// The first byte. Reading or writing through it needs a [`Borrow`], or sole ownership.
    pub(crate) fn ptr(&self) -> *mut u8 {
        self.ptr.as_ptr()
    }

    /// The right to use the block, or `None` while another call writes it (or, where `exclusive`, reads it).
    pub(crate) fn borrow(&self, exclusive: bool) -> Option<Borrow<'_>> {
        let granted = if exclusive {
            self.state.compare_exchange(0, WRITER, Ordering::Acquire, Ordering::Relaxed).is_ok()
        } else {
            let reads = self.state.fetch_add(1, Ordering::Acquire) < WRITER;
            if !reads {
                self.state.fetch_sub(1, Ordering::Relaxed);
            }
            reads
        };
        granted.then(|| Borrow { block: self, exclusive })
    }
}

impl Memory for Block {
    fn bytes(&self) -> usize {
        size_of_class(self.class)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        if let Some(list) = self.pool.free.get(self.class) {
            self.pool.used.fetch_sub(self.bytes(), Ordering::Relaxed);
            lock(list).push(Free(self.ptr));
        }
    }
}

impl Borrow<'_> {
    /// The first `len` bytes, or `None` where the block is smaller.
    pub(crate) fn bytes(&self, len: usize) -> Option<&[u8]> {
        // SAFETY: the block is initialised and at least `len` long, and this borrow keeps writers out.
        (len <= self.block.bytes()).then(|| unsafe { std::slice::from_raw_parts(self.block.ptr(), len) })
    }

    /// The first `len` bytes for writing, or `None` where the block is smaller or the borrow is for reading.
    pub(crate) fn bytes_mut(&mut self, len: usize) -> Option<&mut [u8]> {
        let writes = self.exclusive && len <= self.block.bytes();
        // SAFETY: as above, and this borrow is exclusive.
        writes.then(|| unsafe { std::slice::from_raw_parts_mut(self.block.ptr(), len) })
    }
}

impl Drop for Borrow<'_> {
    fn drop(&mut self) {
        self.block.state.fetch_sub(if self.exclusive { WRITER } else { 1 }, Ordering::Release);
    }
}

fn lock(list: &Mutex<Vec<Free>>) -> MutexGuard<'_, Vec<Free>> {
    list.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The class for a request, and the bytes of its blocks. A class that does not exist means too large a request.
fn class_of(bytes: usize) -> (usize, usize) {
    let last = bytes.max(1).div_ceil(ALIGN) - 1;
    if last < 16 {
        return (last, (last + 1) * ALIGN);
    }
    let shift = (usize::BITS - last.leading_zeros()) as usize - 4;
    let steps = (last >> shift) + 1;
    let class = 16 + (shift - 1) * 8 + steps - 9;
    (class, if class < CLASSES { (steps << shift) * ALIGN } else { 0 })
}

fn size_of_class(class: usize) -> usize {
    if class < 16 {
        return (class + 1) * ALIGN;
    }
    let (shift, steps) = ((class - 16) / 8 + 1, (class - 16) % 8 + 9);
    (steps << shift) * ALIGN
}

/// What is asked of the system for a block: room to align it and to keep the address that the system gave.
///
/// Asking for zeros at the system's own alignment gets fresh pages as they are; at 64 they would be cleared by hand.
fn layout(size: usize) -> Option<Layout> {
    Layout::from_size_align(size.checked_add(ALIGN)?, 16).ok()
}

fn from_system(size: usize) -> Option<NonNull<u8>> {
    // SAFETY: the layout is not empty.
    let base = NonNull::new(unsafe { alloc_zeroed(layout(size)?) })?;
    let gap = ALIGN - base.as_ptr().addr() % ALIGN;
    // SAFETY: `gap` is at least 16 and at most `ALIGN`, the room that `layout` adds.
    let ptr = unsafe { base.add(gap) };
    // SAFETY: the 8 bytes before `ptr` lie in the gap and are aligned.
    unsafe { ptr.cast::<NonNull<u8>>().sub(1).write(base) };
    Some(ptr)
}

/// # Safety
/// `ptr` comes from `from_system(size)` and is not used afterwards.
unsafe fn to_system(ptr: NonNull<u8>, size: usize) {
    if let Some(layout) = layout(size) {
        // SAFETY: `from_system` wrote the system's address there and used the same layout.
        unsafe { dealloc(ptr.cast::<NonNull<u8>>().sub(1).read().as_ptr(), layout) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_hold_their_requests_and_waste_little() {
        for bytes in (0..if cfg!(miri) { 2000 } else { 100_000 }).chain([1 << 30, (1 << 30) + 1, 3 << 40]) {
            let (class, size) = class_of(bytes);
            assert_eq!(size, size_of_class(class));
            assert!(size >= bytes && size - bytes <= 64 + bytes / 8, "{bytes} bytes get {size}");
        }
    }

    #[test]
    #[cfg(not(miri))]
    fn what_cannot_be_had_is_an_error() {
        let pool = Pool::new(usize::MAX);
        for bytes in [usize::MAX, usize::MAX / 2, 1 << 60] {
            assert!(matches!(pool.take(bytes), Err(Error::Memory { asked, .. }) if asked == bytes));
        }
        assert_eq!(pool.held(), 0);
    }

    #[test]
    fn a_dropped_block_is_used_again() {
        let pool = Pool::new(usize::MAX);
        let ptr = pool.take(1000).unwrap().ptr();
        assert_eq!(ptr.addr() % ALIGN, 0);
        let block = pool.take(990).unwrap();
        assert_eq!((block.ptr(), pool.allocations()), (ptr, 1));
        let (used, held) = (pool.memory().used, pool.held());
        assert_eq!(used, held);
        drop(block);
        assert_eq!(pool.memory(), MemoryUse { used: 0, peak: held, held });
        pool.reset_peak();
        assert_eq!(pool.memory().peak, 0);
    }

    #[test]
    fn borrows_exclude_each_other() {
        let block = Pool::new(usize::MAX).take(8).unwrap();
        let (a, b) = (block.borrow(false), block.borrow(false));
        assert!(a.is_some() && b.is_some() && block.borrow(true).is_none());
        drop((a, b));
        let writer = block.borrow(true);
        assert!(writer.is_some() && block.borrow(false).is_none() && block.borrow(true).is_none());
        drop(writer);
        assert!(block.borrow(false).is_some());
    }
}
