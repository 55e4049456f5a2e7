use crate::View;

/// The operations that an expert library does better than a kernel. A new one must name that library.
#[derive(Clone, Copy, Debug)]
pub enum LibraryCall<'a> {
    /// `out[n] = a[n] b[n]`, batches of matrix products (on the CPU: the crate `gemm-f32`).
    ///
    /// `a: [N, M, K]`, `b: [N, K, P]`, `out: [N, M, P]`, all of one float dtype and of any strides except that `out`
    /// does not repeat elements. `K = 0` gives zeros.
    MatMul {
        /// Left factors.
        a: View<'a>,
        /// Right factors.
        b: View<'a>,
        /// Products.
        out: View<'a>,
    },
}
