//! Scenario: shapes of products of vectors and matrices that do not fit.
use cotangent::prelude::*;

#[model]
pub fn dot(a: Tensor![8], b: Tensor![6]) -> Tensor![] {
    a.dot(b)
}

#[model]
pub fn mv(a: Tensor![B, 8], b: Tensor![6]) -> Tensor![B] {
    a.mv(b)
}

#[model]
pub fn mm(a: Tensor![B, 8], b: Tensor![6, C]) -> Tensor![B, C] {
    a.mm(b)
}

#[model]
pub fn bmm(a: Tensor![B, 5, 8], b: Tensor![B, 6, C]) -> Tensor![B, 5, C] {
    a.bmm(b)
}

#[model]
pub fn addmm(x: Tensor![7], a: Tensor![B, 8], b: Tensor![8, 6]) -> Tensor![B, 6] {
    x.addmm(a, b)
}

#[model]
pub fn baddbmm(x: Tensor![B, 5, 7], a: Tensor![B, 5, 8], b: Tensor![B, 8, 6]) -> Tensor![B, 5, 6] {
    x.baddbmm(a, b)
}

#[model]
pub fn outer(a: Tensor![B, 3], b: Tensor![C]) -> Tensor![B, C] {
    a.outer(b)
}

#[model]
pub fn kron(a: Tensor![2, 3], b: Tensor![4, 5]) -> Tensor![8, 16] {
    a.kron(b)
}

#[model]
pub fn cross(a: Tensor![B, 4], b: Tensor![B, 4]) -> Tensor![B, 4] {
    a.cross(b, 1)
}

#[model]
pub fn matrix_power(a: Tensor![B, 3, 4]) -> Tensor![B, 3, 4] {
    a.matrix_power(2)
}

#[model]
pub fn cov(x: Tensor![B, 3, 4]) -> Tensor![B, B] {
    x.cov(1)
}

#[model]
pub fn cdist(a: Tensor![B, 8], b: Tensor![C, 6]) -> Tensor![B, C] {
    a.cdist(b)
}

#[model]
pub fn cosine_similarity(a: Tensor![B, 8], b: Tensor![B, 6]) -> Tensor![B] {
    a.cosine_similarity(b, 1, 1e-8)
}

fn main() {}
