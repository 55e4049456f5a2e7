//! Copies between strided layouts: gathers into scratch, scatters out of it, and whole tensors, with conversion where
//! scratch has another dtype.
#![allow(unsafe_code, reason = "walks raw memory")]

use crate::convert;
use cotangent_hal::DType;

/// The most axes of a copy: a tensor's 8, and one more for the rows of a panel.
pub(crate) const AXES: usize = 9;
/// Two axes that are contiguous on different sides are walked in squares of this size.
const SQUARE: usize = 16;

/// One side of a copy.
#[derive(Clone, Copy)]
pub(crate) struct Side<'a> {
    /// The element at index 0.
    pub ptr: *mut u8,
    /// Distance of neighbours along each axis, in elements.
    pub strides: &'a [isize],
}

/// An axis of a copy: extent, stride of the target, stride of the source.
type Axis = (usize, isize, isize);

/// Which way a [`transfer`] goes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// From the tensor to scratch.
    In,
    /// From scratch to the tensor.
    Out,
}

/// Copies between a tensor and scratch over `extents`, elements converted between the dtypes of both.
///
/// Scratch holds rows along the first axis, each contiguous in row-major order. Conversion runs over contiguous
/// elements alone: where the tensor's rows are not, they go through `raw`, laid out as scratch but of the tensor's
/// dtype.
///
/// # Safety
/// As for [`copy`], and `raw` is as scratch, of as many elements of the tensor's dtype, where the dtypes differ.
pub(crate) unsafe fn transfer(
    way: Way,
    extents: &[usize],
    (stored, tensor): (DType, Side<'_>),
    (computed, scratch): (DType, Side<'_>),
    raw: *mut u8,
) {
    let (Some((&rows, inner)), Some((&pitch, _)), Some((&step, strides))) =
        (extents.split_first(), scratch.strides.split_first(), tensor.strides.split_first())
    else {
        return;
    };
    let length: usize = inner.iter().product();
    if stored == computed {
        let (dst, src) = if way == Way::In { (scratch, tensor) } else { (tensor, scratch) };
        // SAFETY: the caller's promise.
        return unsafe { copy(stored, extents, dst, src) };
    }
    let dense = is_dense(inner, strides);
    let buffer = Side { ptr: raw, strides: scratch.strides };
    let (from, apart) = if dense { (tensor.ptr, step) } else { (raw, pitch) };
    // SAFETY: the caller's promise: rows of scratch, and of the tensor where it is dense, else of `raw`.
    unsafe {
        if way == Way::In && !dense {
            copy(stored, extents, buffer, tensor);
        }
        for row in 0..rows as isize {
            let place = from.wrapping_offset(row * apart * stored.size() as isize);
            let tile = scratch.ptr.wrapping_offset(row * pitch * computed.size() as isize);
            match way {
                Way::In => convert::elements(stored, computed, place, tile, length),
                Way::Out => convert::elements(computed, stored, tile, place, length),
            }
        }
        if way == Way::Out && !dense {
            copy(stored, extents, tensor, buffer);
        }
    }
}

/// Whether elements lie one after another.
pub(crate) fn is_dense(extents: &[usize], strides: &[isize]) -> bool {
    let dense = row_major(extents);
    extents.iter().zip(strides).zip(dense).all(|((&extent, &stride), dense)| extent <= 1 || stride == dense)
}

/// Copies the elements of `src` to those of `dst`, both over `extents` (at most [`AXES`]).
///
/// Truth values become 0 or 1, whatever bytes they were.
///
/// # Safety
/// Every element that either side reaches lies in memory that is alive, aligned for `dtype` and, on the target's side,
/// not accessed by anyone else; the sides do not overlap.
pub(crate) unsafe fn copy(dtype: DType, extents: &[usize], dst: Side<'_>, src: Side<'_>) {
    // SAFETY: the caller's promise.
    unsafe {
        match dtype {
            DType::F64 | DType::I64 => copy_as::<u64>(extents, dst, src, |v| v),
            DType::F32 | DType::I32 => copy_as::<u32>(extents, dst, src, |v| v),
            DType::F16 | DType::BF16 => copy_as::<u16>(extents, dst, src, |v| v),
            DType::U8 => copy_as::<u8>(extents, dst, src, |v| v),
            DType::Bool => copy_as::<u8>(extents, dst, src, |v| u8::from(v != 0)),
        }
    }
}

/// # Safety
/// As for [`copy`], with `T` of the element's size.
unsafe fn copy_as<T: Copy>(extents: &[usize], dst: Side<'_>, src: Side<'_>, map: impl Fn(T) -> T + Copy) {
    let (mut to, mut from) = (dst.ptr.cast::<T>(), src.ptr.cast::<T>().cast_const());
    let mut axes: [Axis; AXES] = [(1, 1, 1); AXES];
    let mut rank = 0;
    for ((&extent, &d), &s) in extents.iter().zip(dst.strides).zip(src.strides) {
        if extent == 0 {
            return;
        }
        if extent == 1 {
            continue;
        }
        let outer = &mut axes[rank.max(1) - 1];
        if rank > 0 && outer.1 == d * extent as isize && outer.2 == s * extent as isize {
            *outer = (outer.0 * extent, d, s);
        } else {
            axes[rank] = (extent, d, s);
            rank += 1;
        }
    }
    if rank == 0 {
        // SAFETY: one element on either side.
        unsafe { to.write(map(from.read())) };
        return;
    }
    let axes = &mut axes[..rank];
    // The last axis is walked innermost: the one along which the target is densest. The axis along which the source
    // is densest comes before it, if it is another.
    move_last(axes, |a| a.1.unsigned_abs());
    let (rest, inner) = axes.split_at_mut(rank - 1);
    let inner = inner[0];
    let across = inner.2.unsigned_abs() > 1 && !rest.is_empty();
    if across {
        move_last(rest, |a| if a.2 == 0 { usize::MAX } else { a.2.unsigned_abs() });
    }
    let across = across && rest[rest.len() - 1].2.unsigned_abs() < inner.2.unsigned_abs();
    let (outer, second) = if across { rest.split_at(rest.len() - 1) } else { (&*rest, &[] as &[Axis]) };
    let mut at = [0usize; AXES];
    loop {
        // SAFETY: `to` and `from` are the elements at index `at` of the outer axes.
        unsafe {
            match second {
                [second] => transposed(*second, inner, to, from, map),
                _ => line(inner, to, from, map),
            }
        }
        let mut axis = outer.len();
        loop {
            if axis == 0 {
                return;
            }
            axis -= 1;
            let (extent, d, s) = outer[axis];
            at[axis] += 1;
            if at[axis] < extent {
                (to, from) = (to.wrapping_offset(d), from.wrapping_offset(s));
                break;
            }
            at[axis] = 0;
            let back = 1 - extent as isize;
            (to, from) = (to.wrapping_offset(d * back), from.wrapping_offset(s * back));
        }
    }
}

/// Moves the axis with the smallest key to the end; the last of equals.
fn move_last(axes: &mut [Axis], key: impl Fn(&Axis) -> usize) {
    let mut least = 0;
    for i in 1..axes.len() {
        if key(&axes[i]) <= key(&axes[least]) {
            least = i;
        }
    }
    axes[least..].rotate_left(1);
}

/// # Safety
/// As for [`copy_as`], over one axis.
unsafe fn line<T: Copy>((n, d, s): Axis, to: *mut T, from: *const T, map: impl Fn(T) -> T) {
    if d == 1 && (s == 1 || s == 0) {
        // SAFETY: `n` elements from `to` on are the target's alone.
        let target = unsafe { std::slice::from_raw_parts_mut(to, n) };
        if s == 0 {
            // SAFETY: an element of the source.
            target.fill(map(unsafe { from.read() }));
        } else {
            // SAFETY: `n` elements from `from` on are the source's and do not overlap the target.
            let source = unsafe { std::slice::from_raw_parts(from, n) };
            for (t, &s) in target.iter_mut().zip(source) {
                *t = map(s);
            }
        }
        return;
    }
    for i in 0..n as isize {
        // SAFETY: index `i` is within the axis on either side.
        unsafe { to.offset(i * d).write(map(from.offset(i * s).read())) };
    }
}

/// # Safety
/// As for [`copy_as`], over two axes.
unsafe fn transposed<T: Copy>(a: Axis, b: Axis, to: *mut T, from: *const T, map: impl Fn(T) -> T) {
    let mut i = 0;
    while i < a.0 {
        let rows = SQUARE.min(a.0 - i);
        let mut j = 0;
        while j < b.0 {
            let columns = SQUARE.min(b.0 - j);
            // SAFETY: the square lies within the two axes on either side.
            let (to, from) = unsafe {
                (to.offset(i as isize * a.1 + j as isize * b.1), from.offset(i as isize * a.2 + j as isize * b.2))
            };
            // The side whose lines lie farther apart is walked along its lines, the other one is scratch or nearer.
            let by_target = a.1.unsigned_abs() > b.2.unsigned_abs();
            let full = rows == SQUARE && columns == SQUARE && a.2 == 1 && b.1 == 1;
            // SAFETY: within the square, of 16 by 16 and dense along one axis on either side where `full`.
            unsafe {
                match (full, by_target) {
                    (true, true) => square((SQUARE, a.1, 1), (SQUARE, 1, b.2), to, from, &map),
                    (true, false) => square((SQUARE, 1, b.2), (SQUARE, a.1, 1), to, from, &map),
                    (false, true) => square((rows, a.1, a.2), (columns, b.1, b.2), to, from, &map),
                    (false, false) => square((columns, b.1, b.2), (rows, a.1, a.2), to, from, &map),
                }
            }
            j += columns;
        }
        i += rows;
    }
}

/// Copies over two axes, the second innermost.
///
/// # Safety
/// As for [`copy_as`].
#[inline(always)]
unsafe fn square<T: Copy>(outer: Axis, inner: Axis, to: *mut T, from: *const T, map: impl Fn(T) -> T) {
    for i in 0..outer.0 as isize {
        for j in 0..inner.0 as isize {
            // SAFETY: the caller's promise.
            unsafe { to.offset(i * outer.1 + j * inner.1).write(map(from.offset(i * outer.2 + j * inner.2).read())) };
        }
    }
}

/// The row-major strides of `shape`.
pub(crate) fn row_major(shape: &[usize]) -> [isize; AXES] {
    let mut strides = [0; AXES];
    let mut next = 1isize;
    for (stride, &extent) in strides[..shape.len()].iter_mut().zip(shape).rev() {
        *stride = next;
        next = next.wrapping_mul(extent as isize);
    }
    strides
}
