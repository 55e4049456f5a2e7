//! Walks the tiles of a launch and hands each to the kernel's native form.
#![allow(unsafe_code, reason = "makes slices of verified raw memory and calls variants that the processor has")]

use super::few::{Few, MOST};
use super::operand::{Checked, Operands};
use super::plan::{Slot, Source, Walk};
use super::small;
use crate::backend::threads;
use crate::memory::{Block, Pool};
use crate::strided::{self, Side, Way};
use cotangent_hal::native::{In, Level, Out, Tile, TileFn};
use cotangent_hal::{Access, Arg, DType, Domain, Kernel, Result, Role, Scalar};
use rayon::prelude::*;
use std::mem::MaybeUninit;
use std::ops::Range;
use std::slice;
use std::sync::Arc;

/// Elements below which a launch stays on its thread, and the least that a task gets beyond.
const PARALLEL: usize = 1 << 16;
const TASK: usize = 1 << 14;
/// Rows are summed in blocks of at least this many elements, at most this many blocks, whatever the threads.
const BLOCK: usize = 1 << 14;
const BLOCKS: usize = 64;
/// How many partial sums make one.
const LANES: usize = 32;

/// What all threads of a launch share.
struct Run<'a> {
    walk: &'a Walk,
    slots: &'a [Slot],
    /// Operands that are read; the others are written.
    ins: usize,
    body: TileFn,
    scalars: &'a [Scalar],
    /// Whether a position counts rows.
    rows: bool,
    /// Where the part of the outputs begins that is written.
    part: usize,
    pool: &'a Arc<Pool>,
}

// SAFETY: the pointers in `slots` come from blocks that the launch has borrowed, for writing where they are outputs.
// Threads take disjoint units, and outputs do not repeat elements, so that no element is written by two of them, nor
// written by one and read by another: an input shares elements with an output only index by index, and each block of
// tiles has partial sums, each part of an output elements of its own.
unsafe impl Sync for Run<'_> {}

/// See [`Backend::launch`](cotangent_hal::Backend::launch).
pub(crate) fn launch(
    pool: &Arc<Pool>,
    level: Level,
    kernel: &'static Kernel,
    shape: &[usize],
    args: &[Arg<'_>],
) -> Result<()> {
    if small::launch(level, kernel, shape, args) {
        return Ok(());
    }
    let mut operands = Operands::new();
    operands.take(kernel, shape, args)?;
    let tensors = &*operands.tensors;
    let (mut walk, mut slots) = (Walk::new(), Few::new());
    walk.plan(kernel, shape, tensors, &mut slots);
    let has = |access| tensors.iter().any(|t| t.operand.access == access);
    let whole = has(Access::Whole) || has(Access::Part);
    let copies = if whole { bind_whole(pool, tensors, &mut slots)? } else { Vec::new() };
    let native = if operands.wide { kernel.native64.as_ref().unwrap_or(&kernel.native) } else { &kernel.native };
    let run = Run {
        walk: &walk,
        slots: &slots,
        ins: tensors.iter().take_while(|t| t.operand.role == Role::In).count(),
        body: native.fns[level as usize],
        scalars: &operands.scalars,
        rows: kernel.domain == Domain::Rows,
        part: 0,
        pool,
    };
    if slots.iter().any(|s| matches!(s.source, Source::Partial(_) | Source::Summed { .. })) {
        run.with_partials(tensors)?;
    } else if has(Access::Part) {
        run.in_parts(tensors)?;
    } else {
        run.all_units()?;
    }
    if whole {
        return_whole(pool, tensors, &slots)?;
    }
    drop(copies);
    Ok(())
}

impl Run<'_> {
    /// Runs all units, on several threads where it pays.
    fn all_units(&self) -> Result<()> {
        let (units, total) = (self.walk.units, self.walk.total);
        let threads = if total < PARALLEL || self.walk.ordered || units < 2 { 1 } else { threads() };
        if threads == 1 {
            return self.units(0..units, std::ptr::null_mut());
        }
        let tasks = (total / TASK).min(4 * threads).min(units).max(1);
        (0..tasks)
            .into_par_iter()
            .try_for_each(|i| self.units(i * units / tasks..(i + 1) * units / tasks, std::ptr::null_mut()))
    }

    /// Runs all units in blocks, each with its own sums, and adds these in the order of the blocks.
    fn with_partials(&self, tensors: &[Checked<'_>]) -> Result<()> {
        let (units, total, pitch) = (self.walk.units, self.walk.total, self.walk.sums);
        let width = self.walk.dims[self.walk.rank - 1];
        // The sums of all blocks together are no more than the elements.
        let most = (total / self.walk.most.max(1)).clamp(1, BLOCKS);
        let blocks = (total / BLOCK).min(units / 4).clamp(1, most);
        let blocks = if self.walk.ordered { 1 } else { blocks };
        let memory = self.pool.take(blocks.saturating_mul(pitch))?;
        let sums = Shared(memory.ptr());
        let block = |i: usize| {
            let sums = &sums;
            let own = sums.0.wrapping_add(i * pitch);
            // SAFETY: the memory holds `blocks` times `pitch` bytes, this block's from `own` on.
            unsafe { own.write_bytes(0, pitch) };
            self.units(i * units / blocks..(i + 1) * units / blocks, own)
        };
        if blocks > 1 && total >= PARALLEL && threads() > 1 {
            (0..blocks).into_par_iter().try_for_each(block)?;
        } else {
            (0..blocks).try_for_each(block)?;
        }
        for (slot, tensor) in self.slots.iter().zip(tensors) {
            let (at, count, step) = match slot.source {
                Source::Partial(at) if slot.access == Access::Total => (at, 1, 1),
                Source::Partial(at) => (at, width, tensor.view.strides.first().copied().unwrap_or(1)),
                Source::Summed { sums, count, .. } => (sums, count, 1),
                Source::Place | Source::Scratch { .. } | Source::Fixed(_) => continue,
            };
            let first = sums.0.wrapping_add(at);
            let raw = self.pool.take(count * slot.stored.size())?;
            // SAFETY: the sums are written, zeros at least; the output's `count` elements are verified, and the
            // launch's alone.
            unsafe {
                match slot.dtype {
                    DType::F64 => add::<f64>(first, blocks, pitch, count, |a, b| a + b),
                    DType::F32 | DType::F16 | DType::BF16 => add::<f32>(first, blocks, pitch, count, |a, b| a + b),
                    DType::I64 | DType::I32 | DType::U8 | DType::Bool => {
                        add::<i64>(first, blocks, pitch, count, i64::wrapping_add);
                    }
                }
                let place = Side { ptr: slot.ptr, strides: &[0, step] };
                let total = Side { ptr: first, strides: &[0, 1] };
                strided::transfer(Way::Out, &[1, count], (slot.stored, place), (slot.dtype, total), raw.ptr());
            }
        }
        Ok(())
    }

    /// Runs all units for each part of the outputs that are cut in parts.
    ///
    /// An element is written by one of the parts, in the order of the units, so that it does not matter how many there
    /// are.
    fn in_parts(&self, tensors: &[Checked<'_>]) -> Result<()> {
        let work: usize = tensors.iter().map(|t| t.view.len()).fold(0, usize::saturating_add);
        let cut = || tensors.iter().filter(|t| t.operand.access == Access::Part);
        let most = cut().map(|t| t.view.shape[0]).min().unwrap_or(1);
        let whole = tensors.iter().any(|t| t.operand.access == Access::Whole && t.operand.role != Role::In);
        let parts = if work < PARALLEL || whole { 1 } else { threads().min(most).max(1) };
        let part = |i: usize| {
            let mut slots: Few<Slot> = Few::new();
            let mut begin = 0;
            for (slot, tensor) in self.slots.iter().zip(tensors) {
                let mut slot = *slot;
                if slot.access == Access::Part {
                    let (first, rows) = (tensor.view.shape[0], tensor.view.len() / tensor.view.shape[0].max(1));
                    let (from, to) = (i * first / parts, (i + 1) * first / parts);
                    let size = slot.dtype.size();
                    slot.ptr = slot.ptr.wrapping_add(from * rows * size);
                    slot.source = Source::Fixed((to - from) * rows);
                    begin = from;
                    if slot.role == Role::Out {
                        // SAFETY: the rows `from..to` of the output's own elements, or of their copy: this part's alone.
                        unsafe { slot.ptr.write_bytes(0, (to - from) * rows * size) };
                    }
                }
                slots.push(slot);
            }
            let units = self.walk.units;
            Run { slots: &slots, part: begin, ..*self }.units(0..units, std::ptr::null_mut())
        };
        if parts > 1 { (0..parts).into_par_iter().try_for_each(part) } else { part(0) }
    }

    /// Runs a range of units, with `sums` as the memory of this range's sums.
    fn units(&self, range: Range<usize>, sums: *mut u8) -> Result<()> {
        let walk = self.walk;
        let scratch = if walk.scratch > 0 { Some(self.pool.take(walk.scratch)?) } else { None };
        let scratch = scratch.as_ref().map_or(std::ptr::null_mut(), Block::ptr);
        let mut at = [0; 8];
        let mut rest = range.start;
        for axis in (0..=walk.split).rev() {
            if rest == 0 {
                break;
            }
            (at[axis], rest) = (rest % walk.steps[axis], rest / walk.steps[axis]);
        }
        // Where each operand's scratch was filled from.
        let mut filled = [(std::ptr::null_mut::<u8>(), 0usize, 0usize); MOST];
        for _ in range {
            self.unit(&at, scratch, sums, &mut filled);
            for axis in (0..=walk.split).rev() {
                at[axis] += 1;
                if at[axis] < walk.steps[axis] {
                    break;
                }
                at[axis] = 0;
            }
        }
        Ok(())
    }

    /// Runs one unit: gathers, calls the body on each row of the panel, scatters.
    #[inline(always)]
    fn unit(&self, at: &[usize; 8], scratch: *mut u8, sums: *mut u8, filled: &mut [(*mut u8, usize, usize); MOST]) {
        let walk = self.walk;
        let mut index = *at;
        index[walk.split] *= walk.span;
        let span = walk.span.min(walk.dims[walk.split] - index[walk.split]);
        let (panel, rows) = match walk.panel {
            Some((axis, count)) => {
                index[axis] *= count;
                (axis, count.min(walk.dims[axis] - index[axis]))
            }
            None => (0, 1),
        };
        let len = span * walk.inner;
        let position: usize = (0..=walk.split).map(|a| index[a] * walk.weights[a]).sum();
        let mut starts = [std::ptr::null_mut::<u8>(); MOST];
        for (i, slot) in self.slots.iter().enumerate() {
            let offset: isize = (0..=walk.split).map(|a| index[a] as isize * slot.strides[a]).sum();
            starts[i] = slot.ptr.wrapping_offset(offset * slot.stored.size() as isize);
            if let Source::Scratch { keep, .. } = slot.source
                && slot.role != Role::Out
            {
                let key = (starts[i], rows, len);
                if !keep || filled[i] != key {
                    // SAFETY: the tile's elements are within the verified view, the scratch is this thread's.
                    unsafe { self.exchange(Way::In, slot, starts[i], scratch, rows, panel, span) };
                    filled[i] = key;
                }
            }
        }
        for row in 0..rows {
            let mut ins = [const { MaybeUninit::<In<'_>>::uninit() }; MOST];
            let mut outs = [const { MaybeUninit::<Out<'_>>::uninit() }; MOST];
            for (i, slot) in self.slots.iter().enumerate() {
                let own = if matches!(slot.access, Access::PerRow | Access::Total) { 1 } else { len };
                let step = row as isize * if walk.panel.is_some() { slot.strides[panel] } else { 0 };
                let size = slot.dtype.size();
                let (ptr, n) = match slot.source {
                    Source::Place => (starts[i].wrapping_offset(step * size as isize), own),
                    Source::Scratch { offset, pitch, .. } => (scratch.wrapping_add(offset + row * pitch * size), own),
                    Source::Fixed(n) => (slot.ptr, n),
                    Source::Partial(offset) => (sums.wrapping_add(offset), own),
                    Source::Summed { offset, .. } => (scratch.wrapping_add(offset), own),
                };
                // SAFETY: `n` initialised elements from `ptr` on: those of the tile in a verified view, or scratch or
                // sums of this thread. Outputs are this launch's alone and inputs that share their elements are read
                // from scratch, so that no two slices overlap. Truth values are 0 or 1: inputs come through scratch
                // or are checked, outputs are cleared.
                unsafe {
                    if i < self.ins {
                        ins[i].write(input(slot.dtype, ptr, n));
                    } else {
                        // What all tiles see was cleared or copied before the first of them.
                        let role = if matches!(slot.source, Source::Fixed(_)) { None } else { Some(slot.role) };
                        outs[i - self.ins].write(output(slot.dtype, role, ptr, n));
                    }
                }
            }
            let at = position + if walk.panel.is_some() { row * walk.weights[panel] } else { 0 };
            // SAFETY: the first `ins` and `count - ins` entries are written, and the level is one that the processor
            // has.
            unsafe {
                let ins = slice::from_raw_parts(ins.as_ptr().cast::<In<'_>>(), self.ins);
                let outs = slice::from_raw_parts_mut(outs.as_mut_ptr().cast::<Out<'_>>(), self.slots.len() - self.ins);
                (self.body)(&mut Tile { at, len, part: self.part, ins, outs, scalars: self.scalars });
            }
            let first = if self.rows { at * len } else { at };
            for slot in &self.slots[self.ins..] {
                if let Source::Summed { offset, sums: place, count } = slot.source {
                    let (values, sums) = (scratch.wrapping_add(offset), sums.wrapping_add(place));
                    // SAFETY: the body has written `len` values to scratch; the block has `count` sums of its own.
                    unsafe {
                        match slot.dtype {
                            DType::F64 => fold::<f64>(values, len, sums, count, first),
                            // A float that is computed in `f32`: nothing else is summed.
                            DType::F32 | DType::F16 | DType::BF16 => fold::<f32>(values, len, sums, count, first),
                            DType::I64 | DType::I32 | DType::U8 | DType::Bool => {}
                        }
                    }
                }
            }
        }
        for (i, slot) in self.slots[self.ins..].iter().enumerate() {
            // SAFETY: the tile's elements are within the verified view, which this launch alone writes.
            unsafe { self.exchange(Way::Out, slot, starts[self.ins + i], scratch, rows, panel, span) };
        }
    }

    /// Copies a unit's elements between a tensor and scratch, if that is where tiles see them.
    ///
    /// # Safety
    /// The unit's elements from `tensor` on lie in memory that the launch may read, or write on the way out; `scratch`
    /// is this thread's.
    #[expect(clippy::too_many_arguments, reason = "a unit's place and extent, known to one caller")]
    unsafe fn exchange(
        &self,
        way: Way,
        slot: &Slot,
        tensor: *mut u8,
        scratch: *mut u8,
        rows: usize,
        panel: usize,
        span: usize,
    ) {
        let Source::Scratch { offset, pitch, raw, .. } = slot.source else { return };
        let walk = self.walk;
        let mut extents = [1; strided::AXES];
        let mut strides = [0; strided::AXES];
        extents[0] = rows;
        strides[0] = if walk.panel.is_some() { slot.strides[panel] } else { 0 };
        let mut axes = 1;
        if slot.access == Access::Each {
            for axis in walk.split..walk.rank {
                extents[axes] = if axis == walk.split { span } else { walk.dims[axis] };
                strides[axes] = slot.strides[axis];
                axes += 1;
            }
        }
        let mut dense = strided::row_major(&extents[..axes]);
        dense[0] = pitch as isize;
        let tensor = Side { ptr: tensor, strides: &strides[..axes] };
        let tile = Side { ptr: scratch.wrapping_add(offset), strides: &dense[..axes] };
        let raw = scratch.wrapping_add(raw);
        // SAFETY: the caller's promise; `offset` and `raw` are places in scratch with room for `rows` of `pitch`
        // elements.
        unsafe { strided::transfer(way, &extents[..axes], (slot.stored, tensor), (slot.dtype, tile), raw) };
    }
}

/// Gives whole operands a contiguous slice: their own memory, or a copy, returned to keep it alive.
fn bind_whole(pool: &Arc<Pool>, tensors: &[Checked<'_>], slots: &mut [Slot]) -> Result<Vec<Block>> {
    let mut copies = Vec::new();
    for (slot, tensor) in slots.iter_mut().zip(tensors) {
        if !matches!(slot.access, Access::Whole | Access::Part) {
            continue;
        }
        let n = if !tensor.is_empty() { tensor.view.len() } else { 0 };
        slot.source = Source::Fixed(n);
        if !in_place(tensor) {
            let copy = pool.take(n * slot.dtype.size())?;
            let place = std::mem::replace(&mut slot.ptr, copy.ptr());
            copies.push(copy);
            if slot.role != Role::Out {
                // SAFETY: the view's elements are verified, and the copy has room for them.
                unsafe { between(Way::In, pool, tensor, slot.ptr, place)? };
            }
        }
        if slot.role == Role::Out && slot.access == Access::Whole {
            // SAFETY: the slice is the output's own `n` elements, or their copy.
            unsafe { slot.ptr.write_bytes(0, n * slot.dtype.size()) };
        }
    }
    Ok(copies)
}

/// Writes whole outputs that were copies back to their places.
fn return_whole(pool: &Arc<Pool>, tensors: &[Checked<'_>], slots: &[Slot]) -> Result<()> {
    for (slot, tensor) in slots.iter().zip(tensors) {
        let whole = matches!(slot.access, Access::Whole | Access::Part);
        if whole && slot.role != Role::In && !in_place(tensor) && !tensor.is_empty() {
            let place = tensor.block.ptr().wrapping_add(tensor.view.offset * slot.stored.size());
            // SAFETY: the view's elements are verified, and this launch alone writes them.
            unsafe { between(Way::Out, pool, tensor, slot.ptr, place)? };
        }
    }
    Ok(())
}

/// Whether a whole operand is seen in its own memory.
fn in_place(tensor: &Checked<'_>) -> bool {
    let plain = tensor.view.dtype == tensor.dtype && tensor.dtype != DType::Bool;
    tensor.is_empty() || tensor.view.is_contiguous() && plain
}

/// Copies a whole operand from its place to a contiguous copy, or back.
///
/// # Safety
/// `place` is the view's first element in its block, `copy` has room for all of its elements.
unsafe fn between(way: Way, pool: &Arc<Pool>, tensor: &Checked<'_>, copy: *mut u8, place: *mut u8) -> Result<()> {
    let (shape, stored) = (tensor.view.shape, tensor.view.dtype);
    if tensor.is_empty() {
        return Ok(());
    }
    let rank = shape.len();
    let (mut extents, mut strides) = ([1; strided::AXES], [0; strided::AXES]);
    extents[1..=rank].copy_from_slice(shape);
    strides[1..=rank].copy_from_slice(tensor.view.strides);
    let dense = strided::row_major(&extents[..=rank]);
    let copy = Side { ptr: copy, strides: &dense[..=rank] };
    let place = Side { ptr: place, strides: &strides[..=rank] };
    let raw = if stored == tensor.dtype { None } else { Some(pool.take(tensor.view.len() * stored.size())?) };
    let raw = raw.as_ref().map_or(std::ptr::null_mut(), Block::ptr);
    // SAFETY: the caller's promise; `raw` has room for all elements where they are converted.
    unsafe { strided::transfer(way, &extents[..=rank], (stored, place), (tensor.dtype, copy), raw) };
    Ok(())
}

/// A pointer that threads share, each for a part of its own.
struct Shared(*mut u8);

// SAFETY: each block of rows uses a part of the memory that no other uses.
unsafe impl Sync for Shared {}

/// # Safety
/// `n` initialised elements of `dtype`, one that bodies compute in, truth values 0 or 1, that nobody writes while the
/// slice lives.
pub(super) unsafe fn input<'a>(dtype: DType, ptr: *mut u8, n: usize) -> In<'a> {
    // SAFETY: the caller's promise.
    unsafe {
        match dtype {
            DType::F64 => In::F64(slice::from_raw_parts(ptr.cast(), n)),
            DType::F32 | DType::BF16 => In::F32(slice::from_raw_parts(ptr.cast(), n)),
            DType::I64 | DType::I32 => In::I64(slice::from_raw_parts(ptr.cast(), n)),
            DType::F16 => In::F16(slice::from_raw_parts(ptr.cast(), n)),
            DType::U8 => In::U8(slice::from_raw_parts(ptr, n)),
            DType::Bool => In::Bool(slice::from_raw_parts(ptr.cast(), n)),
        }
    }
}

/// # Safety
/// `n` initialised elements of `dtype`, one that bodies compute in, that nobody else uses while the slice lives; without
/// a role, truth values among them are 0 or 1.
pub(super) unsafe fn output<'a>(dtype: DType, role: Option<Role>, ptr: *mut u8, n: usize) -> Out<'a> {
    // SAFETY: the caller's promise.
    unsafe {
        match dtype {
            DType::F64 => Out::F64(slice::from_raw_parts_mut(ptr.cast(), n)),
            DType::F32 | DType::BF16 => Out::F32(slice::from_raw_parts_mut(ptr.cast(), n)),
            DType::I64 | DType::I32 => Out::I64(slice::from_raw_parts_mut(ptr.cast(), n)),
            DType::F16 => Out::F16(slice::from_raw_parts_mut(ptr.cast(), n)),
            DType::U8 => Out::U8(slice::from_raw_parts_mut(ptr, n)),
            DType::Bool => {
                let bytes = slice::from_raw_parts_mut(ptr, n);
                match role {
                    Some(Role::Out) => bytes.fill(0),
                    Some(Role::In | Role::InOut) => bytes.iter_mut().for_each(|b| *b = u8::from(*b != 0)),
                    None => {}
                }
                Out::Bool(slice::from_raw_parts_mut(ptr.cast(), n))
            }
        }
    }
}

/// Adds `len` values, the first of them at position `first` of the domain, to `count` sums, each for every `count`-th
/// position.
///
/// # Safety
/// Values and sums are initialised and aligned, in memory that nobody else uses.
unsafe fn fold<T: Copy + Default + std::ops::Add<Output = T>>(
    values: *const u8,
    len: usize,
    sums: *mut u8,
    count: usize,
    first: usize,
) {
    // SAFETY: the caller's promise.
    let (values, sums) =
        unsafe { (slice::from_raw_parts(values.cast::<T>(), len), slice::from_raw_parts_mut(sums.cast::<T>(), count)) };
    if let [sum] = sums {
        let mut lanes = [T::default(); LANES];
        let chunks = values.chunks_exact(LANES);
        let rest = chunks.remainder().iter();
        chunks.for_each(|chunk| lanes.iter_mut().zip(chunk).for_each(|(lane, &v)| *lane = *lane + v));
        *sum = lanes.iter().chain(rest).fold(*sum, |sum, &v| sum + v);
        return;
    }
    let (mut at, mut left) = (first % count.max(1), values);
    while !left.is_empty() && count > 0 {
        let (now, later) = left.split_at(left.len().min(count - at));
        sums[at..].iter_mut().zip(now).for_each(|(sum, &v)| *sum = *sum + v);
        (at, left) = (0, later);
    }
}

/// Adds the `n` partial sums of each of `blocks`, `pitch` bytes apart, in order, to those of the first.
///
/// # Safety
/// The sums are initialised and aligned, in memory that nobody else uses.
unsafe fn add<T: Copy>(first: *mut u8, blocks: usize, pitch: usize, n: usize, plus: impl Fn(T, T) -> T) {
    // SAFETY: the caller's promise.
    unsafe {
        let total = slice::from_raw_parts_mut(first.cast::<T>(), n);
        for block in 1..blocks {
            let part = slice::from_raw_parts(first.add(block * pitch).cast::<T>(), n);
            for (t, &p) in total.iter_mut().zip(part) {
                *t = plus(*t, p);
            }
        }
    }
}
