/// Declares a static [`Kernel`](crate::Kernel) that is one plain function over whole tensors: `(inputs; scalars) ->
/// (outputs)`, and a call of the function with slices of these names (beside each the one for errors) and [`Scalar`](crate::Scalar)s.
///
/// It runs once a launch, on one thread, for all levels alike; floats are `f32`, and launches over `f64` are refused. The
/// outputs are zero at first.
///
/// ```
/// fn reverse(x: &[f32], y: &mut [f32]) {
///     x.iter().rev().zip(y).for_each(|(x, y)| *y = *x);
/// }
/// cotangent_hal::raw_kernel! { pub static REVERSE = "reverse" (x "x": F32;) -> (y "y": F32) { reverse(&x[..], &mut y[..]) } }
/// assert!(REVERSE.operands.len() == 2 && REVERSE.native64.is_none());
/// ```
#[macro_export]
macro_rules! raw_kernel {
    ($vis:vis static $NAME:ident = $name:literal ($($x:ident $xn:literal : $xt:ident),* ; $($s:ident),*)
     -> ($($y:ident $yn:literal : $yt:ident),+) $body:block) => {
        $vis static $NAME: $crate::Kernel = {
            fn run(tile: &mut $crate::native::Tile<'_>) {
                let ([$($crate::native::In::$xt($x)),*], [$($crate::native::Out::$yt($y)),+], [$($s),*]) =
                    (tile.ins, &mut *tile.outs, tile.scalars)
                else {
                    $crate::native::wrong_operands($name)
                };
                $body
            }
            $crate::Kernel {
                name: $name,
                domain: $crate::Domain::Rows,
                operands: &[
                    $($crate::Operand {
                        name: $xn,
                        role: $crate::Role::In,
                        access: $crate::Access::Whole,
                        dtype: $crate::DType::$xt,
                    },)*
                    $($crate::Operand {
                        name: $yn,
                        role: $crate::Role::Out,
                        access: $crate::Access::Whole,
                        dtype: $crate::DType::$yt,
                    }),+
                ],
                scalars: 0 $(+ { let _ = stringify!($s); 1 })*,
                native: $crate::native::Native { fns: [run, run, run] },
                native64: None,
            }
        };
    };
}
