//! Tensors from nothing.

super::family! {
    "Creation";
    function arange(Value) -> Tensor, "arange", I;
    method zeros_like() -> Tensor, "same", FIB;
    method ones_like() -> Tensor, "same", FIB;
    method full_like(Value) -> Tensor, "same", FIB;
    method rand_like(Value) -> Tensor, "same", F, burn "random_like";
    method randn_like(Value) -> Tensor, "same", F, burn "random_like";
    method bernoulli(Value) -> Tensor, "same", F, burn "";
    method multinomial(Value, Value, Value) -> Tensor, "multinomial", F, burn "";
    function causal_mask(Value) -> Tensor, "causal_mask", B, torch "", burn "tril_mask";
}
