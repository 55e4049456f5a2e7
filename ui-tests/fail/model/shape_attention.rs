//! Scenario: queries, keys, values and masks that do not fit.
use cotangent::prelude::*;

#[model]
pub fn depths(q: Tensor![B, 4, T, 16], k: Tensor![B, 4, S, 32], v: Tensor![B, 4, S, 32]) -> Tensor![B, 4, T, 32] {
    scaled_dot_product_attention(q, k, v, true)
}

#[model]
pub fn heads(q: Tensor![B, 6, T, 16], k: Tensor![B, 4, T, 16]) -> Tensor![B, 6, T, 16] {
    scaled_dot_product_attention(q, k, k, true)
}

#[model]
pub fn mask(q: Tensor![B, 6, T, 16], m: Tensor![Bool; T, T + 1]) -> Tensor![B, 6, T, 16] {
    scaled_dot_product_attention_with(q, q, q, m, false, None)
}

fn main() {}
