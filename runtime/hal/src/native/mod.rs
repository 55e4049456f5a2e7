//! The native form of kernels: tiles, SIMD variants, vectorisable math and reductions.

pub mod call;
mod float;
pub mod lanes;
mod level;
pub mod math;
pub mod math64;
mod raw;
pub mod row;
pub mod scalar;

pub use float::Float;
pub use level::Level;

/// One function for each instruction set, the same text compiled three times.
///
/// The driver calls the variant of the level that it detected once; hence the `unsafe fn` pointers: calling one is
/// sound only where the processor has the features of its level.
pub struct Native {
    /// `[Level::Base, Level::V3, Level::V4]`.
    pub fns: [TileFn; 3],
}

/// A compiled kernel body.
pub type TileFn = unsafe fn(&mut Tile<'_>);

/// What a kernel body sees: contiguous slices, in the order of the kernel's operands.
pub struct Tile<'a> {
    /// Pointwise: the collapsed index of the first element. Rows: the number of the row.
    pub at: usize,
    /// Elements along the tile.
    pub len: usize,
    /// Where the range of the first axis begins that operands with [`Access::Part`](crate::Access::Part) are.
    pub part: usize,
    /// Operands that are read.
    pub ins: &'a [In<'a>],
    /// Operands that are written, in-out operands with their present contents.
    pub outs: &'a mut [Out<'a>],
    /// The scalars.
    pub scalars: &'a [crate::Scalar],
}

/// An input slice.
#[derive(Clone, Copy, Debug)]
pub enum In<'a> {
    /// Floats.
    F32(&'a [f32]),
    /// Floats of a kernel's `native64`.
    F64(&'a [f64]),
    /// Integers.
    I64(&'a [i64]),
    /// Truth values.
    Bool(&'a [bool]),
    /// The bits of elements of two bytes.
    F16(&'a [u16]),
    /// The bits of elements of one byte.
    U8(&'a [u8]),
}

/// An output slice.
#[derive(Debug)]
pub enum Out<'a> {
    /// Floats.
    F32(&'a mut [f32]),
    /// Floats of a kernel's `native64`.
    F64(&'a mut [f64]),
    /// Integers.
    I64(&'a mut [i64]),
    /// Truth values.
    Bool(&'a mut [bool]),
    /// The bits of elements of two bytes.
    F16(&'a mut [u16]),
    /// The bits of elements of one byte.
    U8(&'a mut [u8]),
}

/// Declares a static [`Kernel`](crate::Kernel): its operands and a body compiled once for each instruction set, and
/// once more over `f64`.
///
/// Inputs come first, outputs after the arrow (`@mut` marks an in-out operand), scalars after a semicolon. In the body
/// every operand is a slice of that name (`Each` operands cut to the tile's length `n`), every scalar a
/// [`Scalar`](crate::Scalar), `tile.0` the tile's position, `tile.1` its length and `tile.2` where its part begins; `FMA`
/// says whether the variant has fused multiply-add, for the functions of [`math`].
///
/// A float operand is declared `F32`. The body is compiled for `f32` and for `f64`, so it names neither: `Real` is the
/// one that it is compiled for, and `math` is [`math`] or [`math64`]. A scalar becomes a float by `Real::from(n)`; what
/// bodies share are functions generic over [`Float`].
///
/// ```
/// cotangent_hal::kernel! {
///     /// `y = e^(a x)`.
///     pub static GROWTH = Pointwise "growth" (x: Each F32; a) -> (y: Each F32) |tile| {
///         let a = Real::from(a);
///         for i in 0..tile.1 {
///             y[i] = math::exp::<FMA>(a * x[i]);
///         }
///     }
/// }
/// assert!(GROWTH.operands.len() == 2 && GROWTH.native64.is_some());
/// ```
#[macro_export]
macro_rules! kernel {
    ($(#[$doc:meta])* $vis:vis static $NAME:ident = $domain:ident $name:literal
     ($($x:ident : $xa:ident $xt:ident),* $(; $($s:ident),+)?) -> ($($(@$io:tt)? $y:ident : $ya:ident $yt:ident),+)
     |$tile:ident| $body:block) => {
        $(#[$doc])*
        $vis static $NAME: $crate::Kernel = {
            $crate::kernel!(@body body f32 math $name ($($x $xa $xt)*) ($($y $ya $yt)+) ($($($s)+)?) $tile $body);
            $crate::kernel!(@body body64 f64 math64 $name ($($x $xa $xt)*) ($($y $ya $yt)+) ($($($s)+)?) $tile $body);
            fn base(tile: &mut $crate::native::Tile<'_>) {
                body::<false>(tile)
            }
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2,fma")]
            fn v3(tile: &mut $crate::native::Tile<'_>) {
                body::<true>(tile)
            }
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2,fma,avx512f,avx512vl,avx512dq,avx512bw")]
            fn v4(tile: &mut $crate::native::Tile<'_>) {
                body::<true>(tile)
            }
            #[cfg(not(target_arch = "x86_64"))]
            use {base as v3, base as v4};
            #[allow(dead_code, reason = "a kernel without floats has no use for it")]
            fn base64(tile: &mut $crate::native::Tile<'_>) {
                body64::<false>(tile)
            }
            $crate::Kernel {
                name: $name,
                domain: $crate::Domain::$domain,
                operands: &[
                    $($crate::Operand { name: stringify!($x), role: $crate::Role::In, access: $crate::Access::$xa, dtype: $crate::DType::$xt },)*
                    $($crate::Operand { name: stringify!($y), role: $crate::kernel!(@role $($io)?), access: $crate::Access::$ya, dtype: $crate::DType::$yt }),+
                ],
                scalars: 0 $($(+ { let _ = stringify!($s); 1 })+)?,
                native: $crate::native::Native { fns: [base, v3, v4] },
                // One instruction set: `f64` serves checks, and its elementary functions do not vectorise.
                native64: $crate::kernel!(@native64 base64 $($xt)* $($yt)+),
            }
        };
    };
    (@body $f:ident $real:ident $math:ident $name:literal
     ($($x:ident $xa:ident $xt:ident)*) ($($y:ident $ya:ident $yt:ident)+) ($($s:ident)*) $tile:ident $body:block) => {
        #[inline(always)]
        #[allow(unused_variables, reason = "a body need not use every scalar, nor the instruction set")]
        #[allow(
            clippy::useless_conversion,
            clippy::unnecessary_cast,
            reason = "what converts in one precision does not in the other"
        )]
        fn $f<const FMA: bool>(tile: &mut $crate::native::Tile<'_>) {
            #[allow(unused_imports, reason = "few bodies need functions")]
            use $crate::native::$math as math;
            #[allow(dead_code, reason = "few bodies name their float")]
            type Real = $real;
            let $tile = (tile.at, tile.len, tile.part);
            let ([$($crate::kernel!(@slice In $real $xt $x)),*], [$($crate::kernel!(@slice Out $real $yt $y)),+]) =
                (tile.ins, &mut *tile.outs)
            else {
                $crate::native::wrong_operands($name)
            };
            $($crate::kernel!(@cut $xa $x $tile);)*
            $($crate::kernel!(@cut_mut $ya $y $tile);)+
            let [$($s),*] = *tile.scalars else { $crate::native::wrong_operands($name) };
            $body
        }
    };
    (@slice $side:ident f64 F32 $x:ident) => { $crate::native::$side::F64($x) };
    (@slice $side:ident $real:ident $t:ident $x:ident) => { $crate::native::$side::$t($x) };
    (@role) => { $crate::Role::Out };
    (@role mut) => { $crate::Role::InOut };
    (@native64 $base:ident) => { None };
    (@native64 $base:ident F32 $($rest:ident)*) => { Some($crate::native::Native { fns: [$base, $base, $base] }) };
    (@native64 $base:ident $t:ident $($rest:ident)*) => { $crate::kernel!(@native64 $base $($rest)*) };
    (@cut Each $x:ident $t:ident) => { let $x = &$x[..$t.1]; };
    (@cut $other:ident $x:ident $t:ident) => { let $x = &$x[..]; };
    (@cut_mut Each $y:ident $t:ident) => { let $y = &mut $y[..$t.1]; };
    (@cut_mut PerColumn $y:ident $t:ident) => { let $y = &mut $y[..$t.1]; };
    (@cut_mut $other:ident $y:ident $t:ident) => { let $y = &mut $y[..]; };
}

/// Reports operands that differ from the kernel's declaration: a fault of the driver that called it.
#[cold]
pub fn wrong_operands(name: &str) -> ! {
    panic!("kernel `{name}` was called with operands that it does not declare")
}
