//! One test crate, so that it links once.

mod common;
mod derivative;
mod eval;
mod exact;
mod forms;
mod functions;
mod fuzz;
mod hostile;
mod text;
mod verify;
