//! Factors of a product, and how they are packed into panels.
#![allow(unsafe_code, reason = "copies between raw places")]

use super::kernel::{Element, SIDE, turn};
#[cfg(target_arch = "x86_64")]
use super::pairs;
use super::{Extents, Matrix, Output};
use crate::memory::Pool;
use cotangent_hal::native::{Float, Level};
use cotangent_hal::{DType, Result};
use half::{bf16, f16};
use std::ops::Range;
use std::sync::Arc;

/// A factor of a product: *lanes*, the rows of a left factor or the columns of a right one, of *terms* that are summed.
pub(crate) trait Factor<T>: Sync {
    /// The factor as it lies in memory, lanes as rows and terms as columns, where its elements are stored as they are
    /// computed with.
    fn matrix(&self) -> Option<Matrix<T>>;

    /// Packs these elements into panels from their first lane and term on. Lanes that the last panel lacks are zeros.
    ///
    /// # Safety
    /// The factor's elements may be read, and there is room for the elements in the panels, which are the caller's alone.
    unsafe fn pack(&self, lanes: Range<usize>, terms: Range<usize>, to: Panels<T>);
}

/// Which factor of a product.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    /// The left one.
    Left,
    /// The right one.
    Right,
}

/// Panels: each has, for one term after another, the elements of `width` lanes.
#[derive(Clone, Copy)]
pub(crate) struct Panels<T> {
    /// The factor that they are of; pairs lie differently in those of the left one.
    pub side: Side,
    /// The first element.
    pub ptr: *mut T,
    /// Lanes of a panel.
    pub width: usize,
    /// Distance of neighbouring panels.
    pub pitch: usize,
}

impl<T> Panels<T> {
    /// The panels from one of them, and a term, on.
    pub(crate) fn from(self, panel: usize, term: usize) -> Self {
        Panels { ptr: self.ptr.wrapping_add(panel * self.pitch + term * self.width), ..self }
    }
}

/// A factor that lies in memory, with any strides, as elements that may be narrower than those computed with.
pub(crate) struct Strided<S> {
    /// The instruction set to pack with.
    pub level: Level,
    /// Lanes as rows, terms as columns.
    pub matrix: Matrix<S>,
}

/// An element as it is stored.
pub(crate) trait Stored: Copy + Send + Sync + 'static {
    /// What it is computed with.
    type Computed: Element;
    /// Its name.
    const DTYPE: DType;

    /// The matrix, where it needs no conversion.
    fn as_computed(matrix: Matrix<Self>) -> Option<Matrix<Self::Computed>>;

    /// The value.
    fn value(self) -> Self::Computed;

    /// `out = a b` by a kernel for elements as they are stored; `None` where there is none, and they are to be converted.
    ///
    /// # Errors
    /// As for [`Product::run`](super::Product::run).
    ///
    /// # Safety
    /// As for [`Product::run`](super::Product::run).
    unsafe fn product(
        _pool: &Arc<Pool>,
        _level: Level,
        _extents: Extents,
        _factors: [Matrix<Self>; 2],
        _out: Output<Self::Computed>,
        _parallel: bool,
    ) -> Option<Result<()>> {
        None
    }
}

macro_rules! stored_as_computed {
    ($($t:ty)*) => { $(
        impl Stored for $t {
            type Computed = $t;
            const DTYPE: DType = <$t as Element>::DTYPE;

            fn as_computed(matrix: Matrix<$t>) -> Option<Matrix<$t>> {
                Some(matrix)
            }

            #[inline(always)]
            fn value(self) -> $t {
                self
            }
        }
    )* };
}
stored_as_computed!(f32 f64);

impl Stored for bf16 {
    type Computed = f32;
    const DTYPE: DType = DType::BF16;

    fn as_computed(_: Matrix<bf16>) -> Option<Matrix<f32>> {
        None
    }

    #[inline(always)]
    fn value(self) -> f32 {
        f32::from_bits(u32::from(self.to_bits()) << 16)
    }

    #[cfg(target_arch = "x86_64")]
    unsafe fn product(
        pool: &Arc<Pool>,
        level: Level,
        extents: Extents,
        factors: [Matrix<bf16>; 2],
        out: Output<f32>,
        parallel: bool,
    ) -> Option<Result<()>> {
        // SAFETY: the caller's promise.
        unsafe { pairs::product(pool, level, extents, factors, out, parallel) }
    }
}

impl Stored for f16 {
    type Computed = f32;
    const DTYPE: DType = DType::F16;

    fn as_computed(_: Matrix<f16>) -> Option<Matrix<f32>> {
        None
    }

    /// The exponent is moved by a product, which also makes subnormal numbers normal; straight-line, to vectorise.
    #[inline(always)]
    fn value(self) -> f32 {
        let bits = u32::from(self.to_bits());
        let size = f32::from_bits((bits & 0x7fff) << 13);
        let scaled = size * f32::from_bits((127 + 112) << 23);
        let special = f32::from_bits(size.to_bits() | 0x7f80_0000);
        let size = if bits & 0x7c00 == 0x7c00 { special } else { scaled };
        f32::from_bits(size.to_bits() | (bits & 0x8000) << 16)
    }
}

impl<S: Stored> Factor<S::Computed> for Strided<S> {
    fn matrix(&self) -> Option<Matrix<S::Computed>> {
        S::as_computed(self.matrix)
    }

    unsafe fn pack(&self, lanes: Range<usize>, terms: Range<usize>, to: Panels<S::Computed>) {
        let matrix = self.matrix.from(lanes.start, terms.start);
        let (lanes, terms) = (lanes.len(), terms.len());
        // SAFETY: the caller's promise; the processor has the level.
        unsafe {
            match self.level {
                #[cfg(target_arch = "x86_64")]
                Level::V3 | Level::V4 => packed_v3(matrix, lanes, terms, to),
                _ => packed::<false, S>(matrix, lanes, terms, to),
            }
        }
    }
}

/// # Safety
/// As for [`Factor::pack`], on a processor with these instructions.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
unsafe fn packed_v3<S: Stored>(m: Matrix<S>, lanes: usize, terms: usize, to: Panels<S::Computed>) {
    // SAFETY: the caller's promise.
    unsafe { packed::<true, S>(m, lanes, terms, to) }
}

/// # Safety
/// As for [`Factor::pack`], for the first lanes and terms of a matrix; where `V3`, on a processor with these instructions.
#[inline(always)]
unsafe fn packed<const V3: bool, S: Stored>(m: Matrix<S>, lanes: usize, terms: usize, to: Panels<S::Computed>) {
    let width = to.width;
    let (whole, rest) = (lanes / width, lanes % width);
    // SAFETY: the caller's promise: whole panels, and the rest of the lanes.
    unsafe {
        match width {
            4 if m.rows == 1 => copied::<S, 4>(m, whole, terms, to),
            6 if m.rows == 1 => copied::<S, 6>(m, whole, terms, to),
            8 if m.rows == 1 => copied::<S, 8>(m, whole, terms, to),
            12 if m.rows == 1 => copied::<S, 12>(m, whole, terms, to),
            16 if m.rows == 1 => copied::<S, 16>(m, whole, terms, to),
            32 if m.rows == 1 => copied::<S, 32>(m, whole, terms, to),
            _ => {
                for p in 0..whole {
                    turned::<V3, S>(m.from(p * width, 0), width, terms, width, to.from(p, 0).ptr);
                }
            }
        }
        if rest > 0 {
            let (last, to) = (m.from(whole * width, 0), to.from(whole, 0).ptr);
            zeros(rest, terms, width, to);
            turned::<V3, S>(last, rest, terms, width, to);
        }
    }
}

/// Packs whole panels of lanes that lie one after another, some terms of all panels at a time: what was read of a term is
/// in cache for the next panel.
///
/// # Safety
/// As for [`Factor::pack`].
#[inline(always)]
unsafe fn copied<S: Stored, const W: usize>(m: Matrix<S>, panels: usize, terms: usize, to: Panels<S::Computed>) {
    for first in (0..terms).step_by(2 * SIDE) {
        for p in 0..panels {
            for l in first..terms.min(first + 2 * SIDE) {
                let (from, to) = (m.from(p * W, l).ptr, to.from(p, l).ptr);
                // SAFETY: `W` elements of either side.
                unsafe {
                    let from = from.cast::<[S; W]>().read_unaligned();
                    to.cast::<[S::Computed; W]>().write_unaligned(from.map(S::value));
                }
            }
        }
    }
}

/// Packs lanes of a panel, in squares where terms lie one after another.
///
/// # Safety
/// As for [`Factor::pack`]; where `V3`, on a processor with these instructions.
#[inline(always)]
unsafe fn turned<const V3: bool, S: Stored>(
    m: Matrix<S>,
    lanes: usize,
    terms: usize,
    width: usize,
    to: *mut S::Computed,
) {
    let runs = if m.columns == 1 { terms / SIDE } else { 0 };
    for r in 0..runs {
        for first in (0..lanes).step_by(SIDE) {
            let (corner, to) = (m.from(first, r * SIDE), to.wrapping_add(r * SIDE * width + first));
            // SAFETY: runs of lanes, and their places in as many rows of the panel.
            unsafe {
                match lanes - first {
                    SIDE.. => square::<V3, S, SIDE>(corner, to, width),
                    7 => square::<V3, S, 7>(corner, to, width),
                    6 => square::<V3, S, 6>(corner, to, width),
                    5 => square::<V3, S, 5>(corner, to, width),
                    4 => square::<V3, S, 4>(corner, to, width),
                    3 => square::<V3, S, 3>(corner, to, width),
                    2 => square::<V3, S, 2>(corner, to, width),
                    _ => square::<V3, S, 1>(corner, to, width),
                }
            }
        }
    }
    for l in runs * SIDE..terms {
        for i in 0..lanes {
            // SAFETY: an element of either side.
            unsafe { to.add(l * width + i).write(m.from(i, l).ptr.read().value()) };
        }
    }
}

/// Packs runs of `N` lanes.
///
/// # Safety
/// As for [`turned`].
#[inline(always)]
unsafe fn square<const V3: bool, S: Stored, const N: usize>(m: Matrix<S>, to: *mut S::Computed, width: usize) {
    let mut square = [[S::Computed::ZERO; SIDE]; SIDE];
    for (i, row) in square[..N].iter_mut().enumerate() {
        // SAFETY: a run of a lane.
        *row = unsafe { m.from(i, 0).ptr.cast::<[S; SIDE]>().read_unaligned() }.map(S::value);
    }
    // SAFETY: the places of these lanes in as many rows of the panel as the square has columns.
    unsafe {
        if V3 {
            S::Computed::turn(&square, N, to, width);
        } else {
            turn(&square, N, to, width);
        }
    }
}

/// Zeros for the lanes of a panel that follow the first.
///
/// # Safety
/// As for [`Factor::pack`].
#[inline(always)]
unsafe fn zeros<T: Element>(lanes: usize, terms: usize, width: usize, to: *mut T) {
    for l in 0..terms {
        for i in lanes..width {
            // SAFETY: a place in the panel.
            unsafe { to.add(l * width + i).write(T::ZERO) };
        }
    }
}
