//! Models written with the macro: their gradients, and their training runs.

mod bodies;
mod checkpoint;
mod debug;
mod fusion;
mod indexing;
mod operations;
mod report;
mod several;
mod support;
mod training;
