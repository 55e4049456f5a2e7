//! Products of matrices and vectors.

super::family! {
    "Linear algebra";
    method matmul(Operand) -> Active, "matmul", F;
    method linear(Operand, Operand) -> Active, "linear", F;
    method dot(Operand) -> Active, "dot", F;
    method mv(Operand) -> Active, "mv", F, burn "";
    method mm(Operand) -> Active, "mm", F, burn "matmul";
    method bmm(Operand) -> Active, "bmm", F, burn "matmul";
    method addmm(Operand, Operand) -> Active, "addmm", F, burn "";
    method addmm_with(Operand, Operand, Value, Value) -> Active, "addmm", F, torch "addmm", burn "";
    method baddbmm(Operand, Operand) -> Active, "baddbmm", F, burn "";
    method baddbmm_with(Operand, Operand, Value, Value) -> Active, "baddbmm", F, torch "baddbmm", burn "";
    method outer(Operand) -> Active, "outer", F;
    method tensordot(Operand, Value, Value) -> Active, "", F, burn "";
    method kron(Operand) -> Active, "kron", F, burn "";
    method cross(Operand, Value) -> Active, "cross", F;
    method matrix_power(Value) -> Active, "square", F, burn "";
    method cov(Value) -> Active, "cov", F;
    method corrcoef() -> Active, "cov", F, burn "";
    method cdist(Operand) -> Active, "cdist", F, burn "";
    method cosine_similarity(Operand, Value, Value) -> Active, "cosine_similarity", F;
    method normalize(Value, Value) -> Active, "along", F, burn "";
    function scaled_dot_product_attention(Operand, Operand, Operand, Value) -> Active, "attention", F, burn "attention";
    function scaled_dot_product_attention_with(Operand, Operand, Operand, Operand, Value, Value) -> Active, "attention", F,
        torch "scaled_dot_product_attention", burn "attention";
    function einsum(Value, Operand) -> Active, "einsum", F, burn "";
}
