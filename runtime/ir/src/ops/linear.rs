//! Products of matrices and vectors.

super::family! {
    "Linear algebra";
    method matmul(Operand) -> Active, "matmul", F;
}
