//! Tests of the shape engine.

mod call;
