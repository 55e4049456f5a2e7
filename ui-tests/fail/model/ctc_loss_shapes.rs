//! Scenario: the samples of a batch lie along axis 1 of log-probabilities, and axis 0 of their labels.
use cotangent::prelude::*;

#[model]
pub fn transposed(x: Tensor![4, 100, 29], y: Tensor![Int; 4, S], times: Tensor![Int; 4], lengths: Tensor![Int; 4]) -> Tensor![4] {
    x.log_softmax(-1).ctc_loss(y, times, lengths, 0)
}

fn main() {}
