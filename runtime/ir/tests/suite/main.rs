//! One test crate, so that it links once.

mod common;
mod derivative;
mod eval;
mod forms;
mod functions;
mod fuzz;
mod text;
mod verify;
