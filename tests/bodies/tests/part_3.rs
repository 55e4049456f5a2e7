//! An eighth of the random bodies.
#![allow(unused, clippy::all, reason = "random bodies do what nobody would write")]

mod bodies;
