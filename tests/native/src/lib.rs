//! Kernels for the tests: those expanded from text form, and scalar ones that other crates call.
#![allow(missing_docs, reason = "expanded kernels have no docs of their own")]

pub mod expanded {
    include!(concat!(env!("OUT_DIR"), "/kernels.rs"));
}

pub mod scalars;
