//! Micro-kernels: one small tile of a product, summed in registers.
#![allow(unsafe_code, reason = "kernels read and write raw places")]

use super::portable;
#[cfg(target_arch = "x86_64")]
use super::{avx2, avx512};
use cotangent_hal::native::{Float, Level};
use cotangent_hal::{Activation, DType};
use std::f64::consts::FRAC_1_SQRT_2;

/// `sqrt(8 / pi)`, of the approximation of `gelu`.
const LINEAR: f64 = 1.595_769_121_605_730_8;

/// What panels hold, and kernels multiply.
pub(crate) trait Packed: Copy + Send + Sync + 'static {
    /// What products are summed in.
    type Sum: Element;

    /// The kernel for a level, which the processor must have.
    fn kernel(level: Level) -> &'static Kernel<Self>;
}

/// A tile of a product: `c = a b`, or `c += a b` where it accumulates.
///
/// Element `(i, l)` of `a` lies at `a + i * a_row + l * a_col`, whatever the strides. Rows of `b` and of `c` are
/// contiguous. So a kernel runs on packed panels (`a_row = 1`, `a_col = Kernel::rows`, `b_row = Kernel::columns`) and on
/// matrices as they lie.
#[derive(Clone, Copy)]
pub(crate) struct Tile<P: Packed> {
    /// Terms of each sum, a multiple of [`Kernel::terms`]; none gives zeros.
    pub k: usize,
    /// Rows of the tile, from 1 to [`Kernel::rows`].
    pub rows: usize,
    /// Columns of the tile, from 1 to [`Kernel::columns`].
    pub columns: usize,
    /// The first element of the left factor.
    pub a: *const P,
    /// Distance of its rows.
    pub a_row: isize,
    /// Distance of its columns.
    pub a_col: isize,
    /// The first element of the right factor.
    pub b: *const P,
    /// Distance of its rows.
    pub b_row: isize,
    /// The first element of the product.
    pub c: *mut P::Sum,
    /// Distance of its rows.
    pub c_row: isize,
    /// Whether the product is added to `c`, which is not read otherwise.
    pub accumulate: bool,
}

/// The micro-kernel of a type on an instruction set.
pub(crate) struct Kernel<P: Packed> {
    /// Rows of the largest tile.
    pub rows: usize,
    /// Columns of the largest tile.
    pub columns: usize,
    /// Terms that are multiplied at a time.
    pub terms: usize,
    /// Terms of a sum, at most, that are added up before the next ones are packed.
    pub depth: usize,
    /// Bytes of the left factor's panels, at most, that are run through for each panel of the right one: they stay in
    /// the second cache.
    pub second: usize,
    /// The function: see [`Kernel::tile`].
    run: unsafe fn(&Tile<P>),
}

impl<P: Packed> Kernel<P> {
    /// A kernel that multiplies one term after another.
    pub(super) const fn new(
        [rows, columns]: [usize; 2],
        depth: usize,
        second: usize,
        run: unsafe fn(&Tile<P>),
    ) -> Self {
        Kernel { rows, columns, terms: 1, depth, second, run }
    }

    /// The kernel, for so many terms at a time.
    pub(super) const fn by(self, terms: usize) -> Self {
        Kernel { terms, ..self }
    }

    /// Computes one tile. Every element is summed in order of `l`, in one sum, whatever the tile's extents.
    ///
    /// # Safety
    /// The elements of `a` and `b` may be read, those of `c` are the caller's alone; `c` overlaps neither.
    #[inline]
    pub(crate) unsafe fn tile(&self, tile: &Tile<P>) {
        debug_assert!((1..=self.rows).contains(&tile.rows) && (1..=self.columns).contains(&tile.columns));
        // SAFETY: the caller's promise; `Packed::kernel` gives kernels that the processor runs.
        unsafe { (self.run)(tile) }
    }
}

/// Rows and columns of a square that is turned at once.
pub(super) const SIDE: usize = 8;

/// Writes the columns of the first rows of a square as rows that lie `step` apart.
///
/// # Safety
/// There is room for `rows` elements in each of them, which are the caller's alone.
#[inline(always)]
pub(super) unsafe fn turn<T: Copy>(square: &[[T; SIDE]; SIDE], rows: usize, to: *mut T, step: usize) {
    for l in 0..SIDE {
        for (i, row) in square[..rows].iter().enumerate() {
            // SAFETY: the caller's promise.
            unsafe { to.add(l * step + i).write(row[l]) };
        }
    }
}

/// What products are computed in: `f32` or `f64`.
pub(crate) trait Element: Float + Packed<Sum = Self> {
    /// Its name.
    const DTYPE: DType;

    /// [`turn`] by the instructions of [`Level::V3`].
    ///
    /// # Safety
    /// As for [`turn`], on a processor of this level.
    unsafe fn turn(square: &[[Self; SIDE]; SIDE], rows: usize, to: *mut Self, step: usize) {
        // SAFETY: the caller's promise.
        unsafe { turn(square, rows, to, step) }
    }

    /// Applies the function to each element.
    fn activate<const FMA: bool>(activation: Activation, row: &mut [Self]);
}

macro_rules! element {
    ($t:ty, $dtype:ident, $name:ident, $math:ident $(, $turn:item)?) => {
        impl Packed for $t {
            type Sum = $t;

            fn kernel(level: Level) -> &'static Kernel<$t> {
                match level {
                    #[cfg(target_arch = "x86_64")]
                    Level::V4 => &avx512::$name,
                    #[cfg(target_arch = "x86_64")]
                    Level::V3 => &avx2::$name,
                    _ => &portable::$name,
                }
            }
        }

        impl Element for $t {
            const DTYPE: DType = DType::$dtype;
            $($turn)?

            #[inline(always)]
            fn activate<const FMA: bool>(activation: Activation, row: &mut [$t]) {
                use cotangent_hal::native::$math as math;
                match activation {
                    Activation::Identity => {}
                    // A NaN stays one.
                    Activation::Relu => {
                        for x in row {
                            *x = if *x <= 0.0 { 0.0 } else { *x };
                        }
                    }
                    Activation::Gelu => {
                        for x in row {
                            *x = 0.5 * *x * (1.0 + math::erf::<FMA>(*x * FRAC_1_SQRT_2 as $t));
                        }
                    }
                    Activation::GeluTanh => {
                        for x in row {
                            let slope = LINEAR as $t + (LINEAR * 0.044715) as $t * (*x * *x);
                            *x *= math::sigmoid::<FMA>(*x * slope);
                        }
                    }
                    Activation::Silu => {
                        for x in row {
                            *x *= math::sigmoid::<FMA>(*x);
                        }
                    }
                }
            }
        }
    };
}
element! {
    f32, F32, SINGLE, math,
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    unsafe fn turn(square: &[[f32; SIDE]; SIDE], rows: usize, to: *mut f32, step: usize) {
        // SAFETY: the caller's promise.
        unsafe { avx2::turn(square, rows, to, step) }
    }
}
element!(f64, F64, DOUBLE, math64);

/// Writes the kernel of an instruction set whose vectors have `$lanes` elements, for tiles of up to `$rows` (all are
/// listed) by two vectors. In scope are the functions on vectors: `zero`, `broadcast`, `load`, `store`, `add`, `fma`,
/// and for the first elements of one that `some(n)` names, `load_some` and `store_some`.
macro_rules! kernel {
    ($features:literal, $t:ty, $lanes:literal, $rows:literal: $($row:literal)+) => {
        /// A tile of `R` rows and `V` vectors of columns, the last of them whole where `FULL`; `PACKED` says that the
        /// left factor is a packed panel.
        #[target_feature(enable = $features)]
        unsafe fn rows<const R: usize, const V: usize, const FULL: bool, const PACKED: bool>(t: &Tile<$t>) {
            let (a_row, a_col) = if PACKED { (1, $rows) } else { (t.a_row, t.a_col) };
            let last = some(t.columns - (V - 1) * $lanes);
            let mut sums = [[zero(); V]; R];
            let (mut a, mut b) = (t.a, t.b);
            for _ in 0..t.k {
                let mut x = [zero(); V];
                // SAFETY: row `l` of `b` and column `l` of `a`, within the tile.
                unsafe {
                    for v in 0..V {
                        let at = b.add(v * $lanes);
                        x[v] = if FULL || v + 1 < V { load(at) } else { load_some(at, last) };
                    }
                    for i in 0..R {
                        let y = broadcast(a.offset(i as isize * a_row));
                        for v in 0..V {
                            sums[i][v] = fma(y, x[v], sums[i][v]);
                        }
                    }
                }
                a = a.wrapping_offset(a_col);
                b = b.wrapping_offset(t.b_row);
            }
            for i in 0..R {
                for v in 0..V {
                    // SAFETY: elements of row `i` of `c`, within the tile.
                    unsafe {
                        let at = t.c.offset(i as isize * t.c_row).add(v * $lanes);
                        let whole = FULL || v + 1 < V;
                        let mut sum = sums[i][v];
                        if t.accumulate {
                            sum = add(if whole { load(at) } else { load_some(at, last) }, sum);
                        }
                        if whole { store(at, sum) } else { store_some(at, last, sum) }
                    }
                }
            }
        }

        /// # Safety
        /// As for [`Kernel::tile`](crate::gemm::Kernel::tile), on a processor with the features.
        #[target_feature(enable = $features)]
        pub(super) unsafe fn run(t: &Tile<$t>) {
            let (narrow, packed) = (t.columns <= $lanes, t.a_row == 1 && t.a_col == $rows);
            let full = t.columns % $lanes == 0;
            // SAFETY: the caller's promise.
            unsafe {
                match t.rows {
                    $($row => match (narrow, full, packed) {
                        (false, true, true) => rows::<$row, 2, true, true>(t),
                        (false, true, false) => rows::<$row, 2, true, false>(t),
                        (false, false, _) => rows::<$row, 2, false, false>(t),
                        (true, true, _) => rows::<$row, 1, true, false>(t),
                        (true, false, _) => rows::<$row, 1, false, false>(t),
                    },)+
                    _ => {}
                }
            }
        }
    };
}
pub(super) use kernel;
