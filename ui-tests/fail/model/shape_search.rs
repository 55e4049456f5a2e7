//! Scenario: shapes of what is found, counted and drawn.
use cotangent::prelude::*;

#[model]
pub fn nonzero(x: Tensor![B, 8]) -> Tensor![B, 8] {
    let found: Tensor![Int; N, 3] = x.gt(0.0).nonzero();
    x + found.sum(..).float()
}

#[model]
pub fn unique(x: Tensor![B, 8], labels: Tensor![Int; B]) -> Tensor![B, 8] {
    let kinds: Tensor![Int; N, 1] = labels.unique();
    x + kinds.sum(..).float()
}

#[model]
pub fn unique_with(x: Tensor![B, 8], labels: Tensor![Int; 6]) -> Tensor![B, 8] {
    let (_, numbers, _) = labels.unique_with();
    x + numbers
}

#[model]
pub fn searchsorted(x: Tensor![6, 8], bounds: Tensor![4, 3]) -> Tensor![6, 8] {
    let places = bounds.searchsorted(x.detach(), false);
    x + places
}

#[model]
pub fn bincount(x: Tensor![B, 8], labels: Tensor![Int; B, 2]) -> Tensor![B, 8] {
    let counts: Tensor![Int; N, 1] = labels.bincount(8);
    x + counts.sum(..).float()
}

#[model]
pub fn norm_keepdim(x: Tensor![B, 8]) -> Tensor![B, 8] {
    x / x.norm_keepdim(2.0, 2)
}

fn main() {}
