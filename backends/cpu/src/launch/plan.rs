//! How a launch is cut into tiles: which axes a tile spans, which operands it sees in place, which through scratch.

use super::few::Few;
use super::operand::Checked;
use cotangent_hal::{Access, DType, Domain, Kernel, Role};

/// Elements of a tile whose operands are all seen in place, and of one that has operands in scratch.
const DIRECT: usize = 4096;
const TILE: usize = 1024;
/// A panel is a block of rows gathered together, for operands that are dense along another axis than the last: rows,
/// the elements of a row in a pointwise tile, and the most elements in all.
const PANEL_ROWS: usize = 32;
const PANEL_COLUMNS: usize = 512;
const PANEL: usize = 1 << 18;
/// Elements between the rows of a panel in scratch beyond a row's own: without them, rows of a power of two would
/// fall into the same few sets of the cache.
const PANEL_GAP: usize = 16;

/// The walk of one launch, common to all its operands.
pub(crate) struct Walk {
    /// Extents of the collapsed axes.
    pub dims: [usize; 8],
    pub rank: usize,
    /// The first axis that a tile spans, and how much of it; all of the later axes are in every tile.
    pub split: usize,
    pub span: usize,
    /// The product of the extents after `split`.
    pub inner: usize,
    /// The axis before `split` that panels take several indices of, and how many.
    pub panel: Option<(usize, usize)>,
    /// Steps along each axis up to `split`.
    pub steps: [usize; 8],
    /// The number of panels or tiles: the product of `steps`.
    pub units: usize,
    /// What one index of an axis adds to `Tile::at`.
    pub weights: [usize; 8],
    /// Elements of the domain.
    pub total: usize,
    /// Whether all of it is one sequence, in row-major order, run once or for each part.
    pub ordered: bool,
    /// Bytes of scratch that a thread needs.
    pub scratch: usize,
    /// Bytes of the sums that each block of units has of its own, and the most sums of an operand.
    pub sums: usize,
    pub most: usize,
}

/// How tiles see one operand.
#[derive(Clone, Copy)]
pub(crate) struct Slot {
    /// The element at index 0.
    pub ptr: *mut u8,
    /// The dtype that tiles see, and the one that is stored.
    pub dtype: DType,
    pub stored: DType,
    pub role: Role,
    pub access: Access,
    /// Elements from one index of a collapsed axis to the next.
    pub strides: [isize; 8],
    pub source: Source,
}

/// Where the slice of a tile lies.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Source {
    /// In the tensor itself.
    Place,
    /// In scratch, `offset` bytes from its start, the rows of a panel `pitch` elements apart. Where `keep`, what was
    /// gathered stays right while it comes from the same place. An operand that is converted has room for the stored
    /// elements at `raw`.
    Scratch { offset: usize, pitch: usize, keep: bool, raw: usize },
    /// The same slice of that many elements for all tiles: whole tensors.
    Fixed(usize),
    /// A slice that each block of units has of its own, that many bytes from the start of the block's sums.
    Partial(usize),
    /// Scratch, `offset` bytes from its start, whose values are added to `count` sums that each block of units has of
    /// its own, `sums` bytes from their start.
    Summed { offset: usize, sums: usize, count: usize },
}

impl Walk {
    #[inline]
    pub(crate) fn new() -> Self {
        Walk {
            dims: [1; 8],
            rank: 0,
            split: 0,
            span: 1,
            inner: 1,
            panel: None,
            steps: [1; 8],
            units: 1,
            weights: [0; 8],
            total: 0,
            ordered: false,
            scratch: 0,
            sums: 0,
            most: 0,
        }
    }

    /// Plans the walk and gives `slots` an entry an operand. Whole operands are left to the caller.
    pub(crate) fn plan(&mut self, kernel: &Kernel, shape: &[usize], tensors: &[Checked<'_>], slots: &mut Few<Slot>) {
        for tensor in tensors {
            let offset = if !tensor.is_empty() { tensor.view.offset * tensor.view.dtype.size() } else { 0 };
            slots.push(Slot {
                ptr: tensor.block.ptr().wrapping_add(offset),
                dtype: tensor.dtype,
                stored: tensor.view.dtype,
                role: tensor.operand.role,
                access: tensor.operand.access,
                strides: [0; 8],
                source: Source::Place,
            });
        }
        self.total = shape.iter().product();
        let whole = |t: &Checked<'_>| matches!(t.operand.access, Access::Whole | Access::Part);
        self.ordered = tensors.iter().any(|t| whole(t) && t.operand.role != Role::In);
        let plain = |t: &Checked<'_>| t.operand.access == Access::Each && (t.sums.is_some() || t.view.is_contiguous());
        if kernel.domain == Domain::Pointwise && tensors.iter().all(plain) {
            // The common case: all operands lie alike, in order.
            (self.rank, self.dims[0]) = (1, self.total);
            slots.iter_mut().for_each(|s| s.strides[0] = 1);
        } else {
            collapse(self, kernel.domain, shape, tensors, slots);
        }
        cut(self, kernel.domain, tensors, slots);
        place(self, tensors, slots);
    }
}

/// Merges neighbouring axes that every operand walks as one; in a domain of rows the last axis stays by itself.
fn collapse(walk: &mut Walk, domain: Domain, shape: &[usize], tensors: &[Checked<'_>], slots: &mut [Slot]) {
    let merged = match domain {
        Domain::Pointwise => shape.len(),
        Domain::Rows => shape.len() - 1,
    };
    for (axis, &extent) in shape[..merged].iter().enumerate() {
        if extent == 1 {
            continue;
        }
        let rank = walk.rank;
        let merges = rank > 0
            && slots
                .iter()
                .zip(tensors)
                .all(|(s, t)| s.strides[rank - 1] == stride(t, axis).wrapping_mul(extent as isize));
        let target = if merges { rank - 1 } else { rank };
        walk.dims[target] *= extent;
        walk.rank = target + 1;
        for (slot, tensor) in slots.iter_mut().zip(tensors) {
            slot.strides[target] = stride(tensor, axis);
        }
    }
    if domain == Domain::Rows || walk.rank == 0 {
        walk.dims[walk.rank] = if domain == Domain::Rows { shape[merged] } else { 1 };
        for (slot, tensor) in slots.iter_mut().zip(tensors) {
            let last = domain == Domain::Rows && tensor.operand.access == Access::Each;
            slot.strides[walk.rank] = if last { stride(tensor, merged) } else { 0 };
        }
        walk.rank += 1;
    }
}

/// The stride of a tensor along an axis of the domain, 0 where it has none there.
fn stride(tensor: &Checked<'_>, axis: usize) -> isize {
    let indexed =
        !tensor.is_empty() && tensor.sums.is_none() && matches!(tensor.operand.access, Access::Each | Access::PerRow);
    if indexed { tensor.view.strides.get(axis).copied().unwrap_or(0) } else { 0 }
}

/// Chooses the axes of a tile and of a panel.
fn cut(walk: &mut Walk, domain: Domain, tensors: &[Checked<'_>], slots: &[Slot]) {
    let last = walk.rank - 1;
    walk.split = last;
    let rows = domain == Domain::Rows;
    // The axis along which a gathered operand is dense, if it is not the last.
    let dense = slots.iter().find_map(|s| (s.access == Access::Each).then(|| dense_axis(walk, s)).flatten());
    let wide = dense.is_some() && walk.dims[last] >= PANEL_ROWS;
    if rows {
        // A row is a tile, also where it is empty: its sums are 0.
        walk.span = walk.dims[last];
        walk.steps[last] = 1;
    } else {
        if !wide {
            while walk.split > 0 && walk.inner * walk.dims[walk.split] <= TILE {
                walk.inner *= walk.dims[walk.split];
                walk.split -= 1;
            }
        }
        let is_copied =
            |t: &Checked<'_>| t.overwritten || t.sums.is_some() || t.dtype == DType::Bool || t.dtype != t.view.dtype;
        let copied = || tensors.iter().any(is_copied);
        let dense = |s: &Slot| s.access == Access::Total || s.strides[0] == 1;
        let direct = walk.rank == 1 && slots.iter().all(dense) && !copied();
        let tile = if direct {
            DIRECT
        } else if wide {
            PANEL_COLUMNS
        } else {
            TILE
        };
        let most = if walk.inner == 1 { tile } else { (tile / walk.inner).max(1) };
        (walk.span, walk.steps[walk.split]) = pieces(walk.dims[walk.split], most);
    }
    if let Some(axis) = dense
        && axis < walk.split
        && !walk.ordered
    {
        let fits = PANEL / (walk.span * walk.inner).max(1);
        let count = PANEL_ROWS.min(walk.dims[axis]).min(fits);
        if count >= 4 {
            walk.panel = Some((axis, count));
        }
    }
    for axis in 0..walk.split {
        walk.steps[axis] = walk.dims[axis];
    }
    if let Some((axis, count)) = walk.panel {
        walk.steps[axis] = walk.dims[axis].div_ceil(count);
    }
    walk.units = walk.steps[..=walk.split].iter().product();
    let mut weight = 1;
    for axis in (0..if rows { last } else { walk.rank }).rev() {
        walk.weights[axis] = weight;
        weight *= walk.dims[axis];
    }
}

/// The size and number of about equal pieces of an extent, of at most `most` each.
fn pieces(extent: usize, most: usize) -> (usize, usize) {
    if extent <= most {
        return (extent.max(1), extent.min(1));
    }
    let size = extent.div_ceil(extent.div_ceil(most));
    (size, extent.div_ceil(size))
}

/// The axis of smallest stride of an operand that is far from dense along the last axis.
fn dense_axis(walk: &Walk, slot: &Slot) -> Option<usize> {
    let last = walk.rank - 1;
    let far = slot.strides[last].unsigned_abs();
    let (least, axis) =
        (0..last).filter(|&a| slot.strides[a] != 0).map(|a| (slot.strides[a].unsigned_abs(), a)).min()?;
    (far >= 8 && least * 4 <= far).then_some(axis)
}

/// Decides which operands tiles see in place, and lays out the scratch of the others.
fn place(walk: &mut Walk, tensors: &[Checked<'_>], slots: &mut [Slot]) {
    // Sums of 8 bytes serve all dtypes.
    let sums = |walk: &mut Walk, count: usize| {
        let at = walk.sums;
        walk.sums += count.next_multiple_of(8) * 8;
        walk.most = walk.most.max(count);
        at
    };
    for (slot, tensor) in slots.iter_mut().zip(tensors) {
        if let Some(count) = tensor.sums {
            let (offset, length) = (walk.scratch, walk.span * walk.inner);
            walk.scratch += (length * slot.dtype.size()).next_multiple_of(64).max(64);
            slot.source = Source::Summed { offset, sums: sums(walk, count), count };
            continue;
        }
        let (length, rows) = match slot.access {
            Access::Each => (walk.span * walk.inner, walk.panel.map_or(1, |(_, count)| count)),
            Access::PerRow => (1, walk.panel.map_or(1, |(_, count)| count)),
            Access::PerColumn | Access::Total => {
                let count = if slot.access == Access::Total { 1 } else { walk.dims[walk.rank - 1] };
                slot.source = Source::Partial(sums(walk, count));
                continue;
            }
            Access::Whole | Access::Part => continue,
        };
        let input = slot.role == Role::In;
        // Bytes of truth values are made 0 or 1 on the way into scratch; as bytes they might be anything.
        let converted = slot.dtype != slot.stored;
        let in_place =
            contiguous(walk, slot) && !(converted || tensor.overwritten || input && slot.dtype == DType::Bool);
        if !in_place {
            let pitch = if rows > 1 && length > 1 { length + PANEL_GAP } else { length };
            let mut room = |dtype: DType| {
                let offset = walk.scratch;
                // Room for an empty row too: its slice needs a place.
                walk.scratch += (pitch * rows * dtype.size()).next_multiple_of(64).max(64);
                offset
            };
            let offset = room(slot.dtype);
            let raw = if converted { room(slot.stored) } else { offset };
            slot.source = Source::Scratch { offset, pitch, keep: input && !tensor.overwritten, raw };
        }
    }
}

/// Whether a tile's elements lie one after another in the tensor.
fn contiguous(walk: &Walk, slot: &Slot) -> bool {
    let mut expected = 1;
    for axis in (walk.split..walk.rank).rev() {
        let extent = if axis == walk.split { walk.span } else { walk.dims[axis] };
        if extent > 1 && slot.strides[axis] != expected {
            return slot.access == Access::PerRow;
        }
        expected *= extent as isize;
    }
    true
}
