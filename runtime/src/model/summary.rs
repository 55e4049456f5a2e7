//! stub
#![allow(missing_docs)]
use super::*;
#[derive(Debug)] pub enum Mark {} #[derive(Debug)] pub struct Row; #[derive(Debug)] pub struct Summary;
impl Summary { pub fn of<M: Model>(_: &M) -> Summary { Summary } }
impl std::fmt::Display for Summary { fn fmt(&self, _: &mut std::fmt::Formatter<'_>) -> std::fmt::Result { Ok(()) } }
