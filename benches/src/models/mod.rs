//! Models whose training is timed.

mod cnn;
mod gpt;

pub use cnn::Digits;
pub use gpt::Text;

/// A model with its optimiser and a batch of random data.
pub trait Training {
    /// A fresh one.
    fn new() -> Self;

    /// The result for the whole batch.
    fn forward(&self);

    /// The loss, its gradient and a step of the optimiser. Gives the loss before it.
    fn step(&mut self) -> f64;
}
