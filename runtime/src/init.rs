//! stub
#![allow(missing_docs, non_upper_case_globals)]
use crate::*;
#[derive(Clone, Copy, Debug)] pub enum Init { Zeros, Ones, Normal(f64), Uniform(f64) }
pub const zeros: Init = Init::Zeros; pub const ones: Init = Init::Ones;
pub fn normal(s: f64) -> Init { Init::Normal(s) }
pub fn kaiming_uniform(n: usize) -> Init { Init::Uniform(1.0 / (n as f64).sqrt()) }
impl Init { pub(crate) fn sample(self, shape: &[usize], key: u64, n: u64, d: &Device) -> Tensor {
  let mut rng = Rng::seed(key.wrapping_add(n.wrapping_mul(0x9E3779B97F4A7C15)));
  match self { Init::Zeros => Tensor::zeros(shape, d), Init::Ones => Tensor::ones(shape, d), Init::Normal(s) => Tensor::randn(shape, &mut rng, d) * s, Init::Uniform(b) => (Tensor::rand(shape, &mut rng, d) * 2.0 - 1.0) * b } } }
