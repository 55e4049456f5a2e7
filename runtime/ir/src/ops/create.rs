//! Tensors from nothing.

super::family! {
    "Creation";
    function arange(Value) -> Tensor, "arange", I;
    function causal_mask(Value) -> Tensor, "causal_mask", B, torch "", burn "tril_mask";
}
