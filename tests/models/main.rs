//! Models written with the macro: their gradients, and their training runs.

mod bodies;
mod checkpoint;
mod fusion;
mod operations;
mod report;
mod support;
mod training;
