//! Every computing operation against a naive reference in `f64`, and its companion against central differences.

mod arith;
mod attention;
mod batch_norm;
mod compare;
mod conv;
mod dropout;
mod einsum;
mod elementwise;
mod embedding;
mod ending;
mod extremes;
mod index;
mod linear;
mod logic;
mod losses;
mod matmul;
mod order;
mod pointwise;
mod pool;
mod reduce;
mod reference;
mod rows;
mod scan;
mod ulp;
