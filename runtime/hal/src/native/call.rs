//! Kernels of floats to one float as functions: what other kernels call.
//!
//! The caller's macro knows the callee by its path alone. What it needs is found through the type of that name: the code
//! of the value and of the partial derivatives, which rustc inlines, and both as data, for devices that take no Rust.

use cotangent_ir::Kernel;

/// The code of a kernel of `N` floats to one, in one precision.
pub trait Function<T, const N: usize> {
    /// The value; `FMA` as in a kernel's body.
    fn value<const FMA: bool>(x: [T; N]) -> T;
    /// The partial derivative by argument `BY`.
    fn slope<const BY: usize, const FMA: bool>(x: [T; N]) -> T;
}

/// A kernel of `N` floats to one, by the name of its function. Kernels that call each other in a circle do not compile:
/// their statics would need one another.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a kernel of floats to one float (arguments here: {N})",
    label = "a kernel calls pointwise kernels, such as `#[kernel] fn f(x: f32) -> f32`"
)]
pub trait Callable<const N: usize> {
    /// Bears the code.
    type Body: Function<f32, N> + Function<f64, N>;
    /// The value as data.
    const IR: &'static Kernel;
    /// The partial derivatives as data.
    const SLOPES: [&'static Kernel; N];
}

/// What stands for a callee beside the caller's code, where the path to the callee cannot be written.
pub trait Callee<const N: usize> {
    /// The kernel.
    type Kernel: Callable<N>;
}

/// Declares the code of a kernel: the type that bears it, its arguments, its value, and its partial derivatives by number.
///
/// Blocks are written as those of [`kernel!`](crate::kernel): over `Real`, `math` and `FMA`.
///
/// ```
/// use cotangent_hal::native::call::Function;
/// cotangent_hal::function! { Square [x] { x * x } 0 { 2.0 * x } }
/// let x = [3.0f32];
/// assert_eq!((Square::value::<false>(x), Square::slope::<0, false>(x)), (9.0, 6.0));
/// ```
#[macro_export]
macro_rules! function {
    ($Body:ident $args:tt $value:block $($by:literal $slope:block)*) => {
        /// Code of a kernel.
        pub enum $Body {}
        $crate::function!(@of f32 math $Body $args $value $($by $slope)*);
        $crate::function!(@of f64 math64 $Body $args $value $($by $slope)*);
    };
    (@of $t:ident $math:ident $Body:ident [$($x:ident)+] $value:block $($by:literal $slope:block)*) => {
        #[allow(unused_variables, reason = "a derivative need not use every argument")]
        #[allow(
            clippy::useless_conversion,
            clippy::unnecessary_cast,
            reason = "what converts in one precision does not in the other"
        )]
        impl $crate::native::call::Function<$t, { [$(stringify!($x)),+].len() }> for $Body {
            #[inline(always)]
            fn value<const FMA: bool>([$($x),+]: [$t; { [$(stringify!($x)),+].len() }]) -> $t {
                #[allow(unused_imports, reason = "few bodies need functions")]
                use $crate::native::$math as math;
                #[allow(dead_code, reason = "few bodies name their float")]
                type Real = $t;
                $value
            }
            #[inline(always)]
            fn slope<const BY: usize, const FMA: bool>([$($x),+]: [$t; { [$(stringify!($x)),+].len() }]) -> $t {
                #[allow(unused_imports, reason = "few bodies need functions")]
                use $crate::native::$math as math;
                #[allow(dead_code, reason = "few bodies name their float")]
                type Real = $t;
                match BY {
                    $($by => $slope)*
                    _ => Real::NAN,
                }
            }
        }
    };
}
