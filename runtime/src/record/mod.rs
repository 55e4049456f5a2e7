//! stub
#![allow(missing_docs, dead_code)]
use crate::*;
pub struct Entry { pub shape: Vec<usize>, pub dtype: String }
impl Entry { pub fn reads_as_f32(&self) -> bool { true } }
pub struct Record;
impl Record { pub fn name(&self) -> &str { "" } pub fn get(&self, _: &str) -> Option<&Entry> { None } pub fn tensors(&self) -> std::iter::Empty<(&String, &Entry)> { std::iter::empty() } pub fn read_f32(&self, _: &str, d: &Device) -> Result<Tensor> { Ok(Tensor::zeros([1], d)) } }
pub(crate) fn placeholder(d: &Device) -> Tensor { Tensor::zeros([0], d) }
