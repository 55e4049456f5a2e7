//! Kernels expanded from text form, for the tests.
#![allow(missing_docs, reason = "expanded kernels have no docs of their own")]

pub mod expanded {
    include!(concat!(env!("OUT_DIR"), "/kernels.rs"));
}
