//! Kernels of floats to floats as functions: what other kernels call.
//!
//! The caller's macro knows the callee by its path alone. What it needs is found through the type of that name: the code
//! of the value and of the partial derivatives, which rustc inlines, and both as data, for devices that take no Rust.

use cotangent_ir::Kernel;

/// The code of a kernel of `N` floats, in one precision.
pub trait Function<T, const N: usize> {
    /// Result `OF`; `FMA` as in a kernel's body.
    fn value<const OF: usize, const FMA: bool>(x: [T; N]) -> T;
    /// The partial derivative of result `OF` by argument `BY`.
    fn slope<const OF: usize, const BY: usize, const FMA: bool>(x: [T; N]) -> T;
}

/// A kernel of `N` floats to `M`, by the name of its function. Kernels that call each other in a circle do not compile:
/// their statics would need one another.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a kernel of floats to floats (arguments here: {N}, results: {M})",
    label = "a kernel calls pointwise kernels, such as `#[kernel] fn f(x: f32) -> f32`"
)]
pub trait Callable<const N: usize, const M: usize> {
    /// Bears the code.
    type Body: Function<f32, N> + Function<f64, N>;
    /// The values as data.
    const IR: &'static Kernel;
    /// The partial derivatives of each result as data.
    const SLOPES: [[&'static Kernel; N]; M];
}

/// What stands for a callee beside the caller's code, where the path to the callee cannot be written.
pub trait Callee<const N: usize, const M: usize> {
    /// The kernel.
    type Kernel: Callable<N, M>;
}

/// Declares the code of a kernel: the type that bears it, its arguments, and for each result its value and its partial
/// derivatives by number.
///
/// Blocks are written as those of [`kernel!`](crate::kernel): over `Real`, `math` and `FMA`.
///
/// ```
/// use cotangent_hal::native::call::Function;
/// cotangent_hal::function! { Square [x] 0 { x * x } [0 { 2.0 * x }] }
/// let x = [3.0f32];
/// assert_eq!((Square::value::<0, false>(x), Square::slope::<0, 0, false>(x)), (9.0, 6.0));
/// ```
#[macro_export]
macro_rules! function {
    ($Body:ident $args:tt $($of:literal $value:block $slopes:tt)+) => {
        /// Code of a kernel.
        pub enum $Body {}
        $crate::function!(@of f32 math $Body $args $($of $value $slopes)+);
        $crate::function!(@of f64 math64 $Body $args $($of $value $slopes)+);
    };
    (@of $t:ident $math:ident $Body:ident [$($x:ident)+] $($of:literal $value:block [$($by:literal $slope:block)*])+) => {
        #[allow(unused_variables, reason = "a derivative need not use every argument")]
        #[allow(
            clippy::useless_conversion,
            clippy::unnecessary_cast,
            reason = "what converts in one precision does not in the other"
        )]
        impl $crate::native::call::Function<$t, { [$(stringify!($x)),+].len() }> for $Body {
            #[inline(always)]
            fn value<const OF: usize, const FMA: bool>([$($x),+]: [$t; { [$(stringify!($x)),+].len() }]) -> $t {
                #[allow(unused_imports, reason = "few bodies need functions")]
                use $crate::native::$math as math;
                #[allow(dead_code, reason = "few bodies name their float")]
                type Real = $t;
                match OF {
                    $($of => $value)+
                    _ => Real::NAN,
                }
            }
            #[inline(always)]
            fn slope<const OF: usize, const BY: usize, const FMA: bool>([$($x),+]: [$t; { [$(stringify!($x)),+].len() }]) -> $t {
                #[allow(unused_imports, reason = "few bodies need functions")]
                use $crate::native::$math as math;
                #[allow(dead_code, reason = "few bodies name their float")]
                type Real = $t;
                match (OF, BY) {
                    $($(($of, $by) => $slope)*)+
                    _ => Real::NAN,
                }
            }
        }
    };
}
