//! Elements at positions along an axis: the kernels that gather and scatter them.
//!
//! A tensor is seen as `[outer, entries, inner]`, the positions as `[outer, count, inner]`. Positions that are the same
//! for all of `inner` move whole rows. What is written is shared out among the threads by its rows, each of which sees
//! all positions in order, so that the last of equal positions wins and sums do not depend on the number of threads.

use crate::tensor::{Dims, Float, Int, Raw, Tensor, launch, of_each_size};
use cotangent_hal::native::scalar::{maximum, minimum};
use cotangent_hal::{Arg, DType, Kernel, Scalar, kernel};

/// A stretch of a tile of positions.
struct Stretch {
    /// Where it begins in the tile.
    from: usize,
    len: usize,
    /// Its number among the outer ones.
    outer: usize,
    /// The place in a row of its first element, and of each further one beyond that before it.
    lane: usize,
    step: usize,
}

/// The stretches of positions with one outer number, of a tile of `len` elements from `at` on.
#[inline(always)]
fn stretches(at: usize, len: usize, count: usize, inner: usize, mut each: impl FnMut(Stretch)) {
    let (most, step) = if inner == 1 { (count, 0) } else { (inner, 1) };
    let mut from = 0;
    while from < len {
        let (run, lane) = ((at + from) / most, (at + from) % most);
        let outer = if inner == 1 { run } else { run / count };
        let n = (most - lane).min(len - from);
        each(Stretch { from, len: n, outer, lane: lane * step, step });
        from += n;
    }
}

/// The rows of a tile of `len` elements from `at` on, whole or cut: where each begins in the tile, its length, its number
/// and its first lane.
#[inline(always)]
fn rows(at: usize, len: usize, inner: usize, mut each: impl FnMut(usize, usize, usize, usize)) {
    let mut from = 0;
    while from < len {
        let (row, lane) = ((at + from) / inner, (at + from) % inner);
        let n = (inner - lane).min(len - from);
        each(from, n, row, lane);
        from += n;
    }
}

macro_rules! pick_elements {
    ($NAME:ident $W:ident) => {
        kernel! {
            static $NAME = Pointwise "gather" (ids: Each I64, x: Whole $W; entries, count, inner) -> (y: Each $W) |tile| {
                let [entries, count, inner] = [entries, count, inner].map(|n| n.i64() as usize);
                stretches(tile.0, tile.1, count, inner, |s| {
                    let x = &x[s.outer * entries * inner..][..entries * inner];
                    let (ids, y) = (&ids[s.from..][..s.len], &mut y[s.from..][..s.len]);
                    for i in 0..s.len {
                        y[i] = x[ids[i] as usize * inner + s.lane + i * s.step];
                    }
                });
            }
        }
    };
}
of_each_size!(pick_elements => PICK_ELEMENTS);

macro_rules! pick_rows {
    ($NAME:ident $W:ident) => {
        kernel! {
            static $NAME = Pointwise "gather" (ids: Whole I64, x: Whole $W; entries, count, inner) -> (y: Each $W) |tile| {
                let [entries, count, inner] = [entries, count, inner].map(|n| n.i64() as usize);
                rows(tile.0, tile.1, inner, |from, len, row, lane| {
                    let at = row / count * entries + ids[row] as usize;
                    y[from..][..len].copy_from_slice(&x[at * inner + lane..][..len]);
                });
            }
        }
    };
}
of_each_size!(pick_rows => PICK_ROWS);

/// Declares a kernel that joins elements of the target with what is put there.
macro_rules! put_elements {
    ($NAME:ident $W:ident $name:literal |$old:ident, $new:ident| $join:expr) => {
        kernel! {
            static $NAME = Pointwise $name
                (ids: Each I64, v: Each $W; entries, count, inner) -> (@mut y: Part $W) |tile| {
                let [entries, count, inner] = [entries, count, inner].map(|n| n.i64() as usize);
                let (part, here) = (tile.2, y.len() / inner);
                stretches(tile.0, tile.1, count, inner, |s| {
                    let first = s.outer * entries;
                    if first + entries <= part || part + here <= first {
                        return;
                    }
                    let (ids, v) = (&ids[s.from..][..s.len], &v[s.from..][..s.len]);
                    for i in 0..s.len {
                        let row = (first + ids[i] as usize).wrapping_sub(part);
                        if row < here {
                            let y = &mut y[row * inner + s.lane + i * s.step];
                            let ($old, $new) = (*y, v[i]);
                            *y = $join;
                        }
                    }
                });
            }
        }
    };
}

/// As [`put_elements`], whole rows.
macro_rules! put_rows {
    ($NAME:ident $W:ident $name:literal |$old:ident, $new:ident| $join:expr) => {
        kernel! {
            static $NAME = Pointwise $name
                (ids: Whole I64, v: Each $W; entries, count, inner) -> (@mut y: Part $W) |tile| {
                let [entries, count, inner] = [entries, count, inner].map(|n| n.i64() as usize);
                let (part, here) = (tile.2, y.len() / inner);
                rows(tile.0, tile.1, inner, |from, len, row, lane| {
                    let at = (row / count * entries + ids[row] as usize).wrapping_sub(part);
                    if at < here {
                        let (y, v) = (&mut y[at * inner + lane..][..len], &v[from..][..len]);
                        for i in 0..len {
                            let ($old, $new) = (y[i], v[i]);
                            y[i] = $join;
                        }
                    }
                });
            }
        }
    };
}

macro_rules! set_elements {
    ($NAME:ident $W:ident) => {
        put_elements! { $NAME $W "scatter" |_old, new| new }
    };
}
macro_rules! set_rows {
    ($NAME:ident $W:ident) => {
        put_rows! { $NAME $W "scatter" |_old, new| new }
    };
}
of_each_size!(set_elements => SET_ELEMENTS);
of_each_size!(set_rows => SET_ROWS);

put_elements! { ADD_FLOATS F32 "scatter_add" |old, new| old + new }
put_elements! { ADD_INTS I64 "scatter_add" |old, new| old.wrapping_add(new) }
put_rows! { ADD_FLOAT_ROWS F32 "scatter_add" |old, new| old + new }
put_rows! { ADD_INT_ROWS I64 "scatter_add" |old, new| old.wrapping_add(new) }
put_elements! { MUL_FLOATS F32 "scatter_reduce" |old, new| old * new }
put_elements! { MUL_INTS I64 "scatter_reduce" |old, new| old.wrapping_mul(new) }
put_elements! { MAX_FLOATS F32 "scatter_reduce" |old, new| maximum(old, new) }
put_elements! { MAX_INTS I64 "scatter_reduce" |old, new| old.max(new) }
put_elements! { MIN_FLOATS F32 "scatter_reduce" |old, new| minimum(old, new) }
put_elements! { MIN_INTS I64 "scatter_reduce" |old, new| old.min(new) }

/// What becomes of an element that something is put to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Put {
    /// It is replaced; the last one stays.
    Set,
    /// The sum.
    Add,
    /// The product.
    Mul,
    /// The larger one, NaN where either is.
    Max,
    /// The smaller one, NaN where either is.
    Min,
}

impl Put {
    /// The kernel for elements of a dtype, numbers unless they are replaced.
    fn of_elements(self, dtype: DType) -> &'static Kernel {
        match (self, dtype.is_float()) {
            (Put::Set, _) => SET_ELEMENTS.of(dtype),
            (Put::Add, true) => &ADD_FLOATS,
            (Put::Add, false) => &ADD_INTS,
            (Put::Mul, true) => &MUL_FLOATS,
            (Put::Mul, false) => &MUL_INTS,
            (Put::Max, true) => &MAX_FLOATS,
            (Put::Max, false) => &MAX_INTS,
            (Put::Min, true) => &MIN_FLOATS,
            (Put::Min, false) => &MIN_INTS,
        }
    }

    /// The kernel for rows, where there is one.
    fn of_rows(self, dtype: DType) -> Option<&'static Kernel> {
        match (self, dtype.is_float()) {
            (Put::Set, _) => Some(SET_ROWS.of(dtype)),
            (Put::Add, true) => Some(&ADD_FLOAT_ROWS),
            (Put::Add, false) => Some(&ADD_INT_ROWS),
            (Put::Mul | Put::Max | Put::Min, _) => None,
        }
    }
}

/// Positions as kernels take them.
struct Positions {
    /// `[outer, count, inner]`.
    shape: Dims,
    /// Of that shape.
    each: Raw,
    scalars: [Scalar; 3],
}

impl Positions {
    /// Positions along `axis`, which has so many `entries`.
    fn new(index: &Raw, axis: usize, entries: usize) -> Positions {
        let (outer, inner) = (index.shape[..axis].iter().product(), index.shape[axis + 1..].iter().product());
        let count = index.shape[axis];
        let shape = Dims::of("index", &[outer, count, inner]);
        let scalars = [entries, count, inner].map(|n| Scalar::Int(n as i64));
        Positions { shape, each: index.clone().reshape(&shape), scalars }
    }

    /// One position for each row, contiguous, where it is the same for all of the row.
    fn of_rows(&self) -> Option<Raw> {
        (self.shape[2] > 1 && self.each.strides[2] == 0).then(|| self.each.clone().slice(2, 0, 1).contiguous())
    }

    fn launch(&self, kernel: &'static Kernel, ids: &Raw, x: &Raw, y: &Raw) {
        let [entries, count, inner] = self.scalars.map(Arg::Scalar);
        let args = [Arg::In(ids.view()), Arg::In(x.view()), Arg::Out(y.view()), entries, count, inner];
        launch(&ids.device, kernel, &self.shape, &args);
    }
}

/// `y[.., i, ..] = x[.., index[.., i, ..], ..]`: the entries of `x` at positions along `axis`.
///
/// The positions are inside of the axis, and have as many axes as `x`, none longer than that of `x` but for `axis`.
#[track_caller]
pub(crate) fn pick(x: &Raw, axis: usize, index: &Raw) -> Raw {
    let out = Raw::empty(&x.device, x.dtype, &index.shape);
    if out.numel() > 0 {
        let x = x.clone().corner(&within(x, axis, &index.shape)).contiguous().bits();
        let at = Positions::new(index, axis, x.shape[axis]);
        let y = out.clone().bits().reinterpret(&at.shape);
        match at.of_rows() {
            Some(ids) => at.launch(PICK_ROWS.of(x.dtype), &ids, &x, &y),
            None => at.launch(PICK_ELEMENTS.of(x.dtype), &at.each, &x, &y),
        }
    }
    out
}

/// `x` with the elements of `v` put to positions along `axis`: `x[.., index[.., i, ..], ..]` meets `v[.., i, ..]`, in
/// row-major order.
///
/// Positions are as for [`pick`], `v` has their shape and the dtype of `x`.
#[track_caller]
pub(crate) fn put(x: Raw, axis: usize, index: &Raw, v: &Raw, how: Put) -> Raw {
    let out = x.owned();
    if index.numel() == 0 {
        return out;
    }
    let part = out.clone().corner(&within(&out, axis, &index.shape));
    if part.shape == out.shape {
        put_all(&out, axis, index, v, how);
    } else {
        let copy = part.copy();
        put_all(&copy, axis, index, v, how);
        copy.copy_to(&part);
    }
    out
}

/// As [`put`] into a contiguous tensor whose other axes are those of the positions.
#[track_caller]
fn put_all(x: &Raw, axis: usize, index: &Raw, v: &Raw, how: Put) {
    let at = Positions::new(index, axis, x.shape[axis]);
    let rows = [at.shape[0] * x.shape[axis], at.shape[2]];
    let (x, v) = (x.clone().reinterpret(&rows), v.clone().reshape(&at.shape));
    let (x, v) = if how == Put::Set { (x.bits(), v.bits()) } else { (x, v) };
    match at.of_rows().zip(how.of_rows(x.dtype)) {
        Some((ids, kernel)) => at.launch(kernel, &ids, &v, &x),
        None => at.launch(how.of_elements(x.dtype), &at.each, &v, &x),
    }
}

/// As [`pick`], with 0 for all but the last of equal positions, from a tensor of `shape`.
#[track_caller]
pub(crate) fn pick_last(x: &Raw, axis: usize, index: &Raw, shape: &Dims) -> Raw {
    let numbers: Vec<i64> = (0..index.numel() as i64).collect();
    let numbers = Raw::from_bytes("scatter", &x.device, DType::I64, &index.shape, bytemuck::cast_slice(&numbers));
    let last = put(Raw::full(&x.device, DType::I64, shape, Scalar::Int(-1)), axis, index, &numbers, Put::Set);
    let overwritten = Tensor::<Int>::from_raw(pick(&last, axis, index)).ne(Tensor::<Int>::from_raw(numbers));
    Tensor::<Float>::from_raw(pick(x, axis, index)).masked_fill(overwritten, 0.0).raw
}

/// The shape of `x` along `axis`, and `shape` along all others.
fn within(x: &Raw, axis: usize, shape: &Dims) -> Dims {
    let mut out = *shape;
    out[axis] = x.shape[axis];
    out
}
