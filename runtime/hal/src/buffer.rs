use std::any::Any;
use std::fmt;
use std::sync::Arc;

/// Memory of one backend, behind a [`Buffer`].
pub trait Memory: Any + Send + Sync {
    /// Usable bytes.
    fn bytes(&self) -> usize;
    /// The value itself, for the backend's own downcast.
    fn as_any(&self) -> &dyn Any;
}

/// A counted reference to device memory, freed (or returned to its pool) with the last reference.
///
/// The contents are untyped bytes, aligned to 64; [`View`](crate::View) gives them a dtype and a shape.
#[derive(Clone)]
pub struct Buffer(Arc<dyn Memory>);

impl Buffer {
    /// Wraps memory of a backend.
    pub fn new(memory: impl Memory) -> Self {
        Buffer(Arc::new(memory))
    }

    /// Usable bytes.
    pub fn bytes(&self) -> usize {
        self.0.bytes()
    }

    /// Whether this is the only reference, so that an operation may write in place.
    pub fn is_unique(&self) -> bool {
        Arc::strong_count(&self.0) == 1
    }

    /// How many references there are.
    pub fn holders(&self) -> usize {
        Arc::strong_count(&self.0)
    }

    /// Whether both are references to the same memory.
    pub fn same(&self, other: &Buffer) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// What tells this memory apart from all other that is held at the same time.
    pub fn address(&self) -> usize {
        Arc::as_ptr(&self.0).cast::<()>() as usize
    }

    /// The backend's own type, or `None` where the memory belongs to another backend.
    pub fn downcast<M: Memory>(&self) -> Option<&M> {
        self.0.as_any().downcast_ref()
    }
}

impl fmt::Debug for Buffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Buffer({} bytes)", self.bytes())
    }
}
