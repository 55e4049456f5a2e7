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
    /// The first `k` elements of each row in order, and the places where they were. Equal elements stay in the order of
    /// their places. NaN is larger than all numbers and equal to itself, and both zeros are equal. (On the CPU: radix
    /// sort, of the keys that order floats as integers; on GPUs, the vendor's.)
    ///
    /// `x: [.., n]`, `values: [.., k]` of the same dtype, `at: [.., k]` of `i64`, `k <= n`; of any dtype and strides except
    /// that results do not repeat elements.
    Sort {
        /// Rows.
        x: View<'a>,
        /// Their first elements.
        values: View<'a>,
        /// The places of these.
        at: View<'a>,
        /// Whether the largest comes first.
        descending: bool,
    },
}

impl LibraryCall<'_> {
    /// The name in reports: that of the operation.
    pub fn name(&self) -> &'static str {
        match self {
            LibraryCall::MatMul { .. } => "matmul",
            LibraryCall::Sort { .. } => "sort",
        }
    }
}
