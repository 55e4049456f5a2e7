//! Models written with the macro: their gradients, and their training runs.

mod bodies;
mod checkpoint;
mod support;
mod training;
