//! stub
#![allow(missing_docs)]
use super::*;
pub trait ModelExt: Model { fn freeze(&mut self, p: &str) { self.visit_mut(&Path::ROOT, &mut |path, leaf| if let LeafMut::Param(x) = leaf { if matches(p, &path.to_string()) { x.set_requires_grad(false) } }) } }
impl<M: Model> ModelExt for M {}
