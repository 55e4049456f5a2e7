//! Records: what is written comes back, what does not fit is said, and no bytes make a reader panic.
#![allow(clippy::allow_attributes_without_reason, reason = "the expansion of a model has attributes without reasons")]

mod checkpoint;
mod damage;
mod header;
mod misfits;
mod round_trip;
mod saving;
mod support;
mod ties;
