use crate::{Buffer, DType};

/// A strided window on a buffer: element `i` lies at `offset + sum_a i[a] * strides[a]`, counted in elements.
///
/// A stride of 0 repeats an element along its axis (broadcast); strides may be negative.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    /// The memory.
    pub buffer: &'a Buffer,
    /// The type of an element.
    pub dtype: DType,
    /// Position of the first element, in elements.
    pub offset: usize,
    /// Extents, outermost first; empty for a scalar.
    pub shape: &'a [usize],
    /// Distance of neighbours along each axis, in elements; as long as `shape`.
    pub strides: &'a [isize],
}

impl View<'_> {
    /// The number of elements: the product of the extents.
    pub fn len(&self) -> usize {
        self.shape.iter().product()
    }

    /// Whether an extent is 0.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether the elements lie one after another in row-major order.
    pub fn is_contiguous(&self) -> bool {
        let mut expected = 1;
        for (&extent, &stride) in self.shape.iter().zip(self.strides).rev() {
            if extent != 1 && stride != expected {
                return self.is_empty();
            }
            expected *= extent as isize;
        }
        true
    }

    /// The lowest and highest element that the view touches, or `None` where it is empty or overflows.
    pub fn bounds(&self) -> Option<(usize, usize)> {
        if self.is_empty() {
            return None;
        }
        let (mut low, mut high) = (isize::try_from(self.offset).ok()?, isize::try_from(self.offset).ok()?);
        for (&extent, &stride) in self.shape.iter().zip(self.strides) {
            let reach = isize::try_from(extent - 1).ok()?.checked_mul(stride)?;
            if reach < 0 {
                low = low.checked_add(reach)?;
            } else {
                high = high.checked_add(reach)?;
            }
        }
        Some((usize::try_from(low).ok()?, usize::try_from(high).ok()?))
    }
}
