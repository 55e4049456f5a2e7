//! Products of matrices and vectors.

super::family! {
    "Linear algebra";
    method matmul(Operand) -> Active, "matmul", F;
    function einsum(Value, Operand) -> Active, "einsum", F, burn "";
}
