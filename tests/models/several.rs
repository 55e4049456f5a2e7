//! Bodies with operations that give several results, of which some carry no derivative.

use cotangent::diff::{Pullback, Want};
use cotangent::prelude::*;
use cotangent::testing::{GradCheck, check_grad};

use crate::bodies::check;
use crate::support::device;

#[model]
struct Several {
    up: Linear![3 => 4],
    #[init(normal(1.0))]
    table: Param![4, 2],
}

#[model]
impl Several {
    fn loss(&self, x: Tensor![B, 3]) -> Tensor![] {
        let h: Tensor![B, 4] = self.up.forward(x);
        let (high, place) = h.max_dim(1);
        let (var, mean) = h.var_mean_keepdim(-1);
        let (low, _) = h.aminmax(..);
        let picked: Tensor![B, 2] = self.table.embedding(place);
        let spread: Tensor![B, 1] = var + mean;
        let high: Tensor![B] = high;
        (picked.sum(-1) * high).sum(..) + (spread.square()).mean(..) + low + h.norm(2.0, ..) + h.logsumexp(-1).mean(0)
    }
}

#[test]
fn parts_are_differentiated_and_shaped() {
    let model = Several::init(&mut Rng::seed(4), &device());
    let x = Tensor::randn([5, 3], &mut Rng::seed(9), &device());
    check(&model, x, |m, x| m.loss_grad_inputs(x));
}

/// Elements by their order, and places whose number the run decides.
#[model]
fn chosen(x: Tensor![B, 4]) -> Tensor![] {
    let (sorted, places) = x.sort(-1, true);
    let (top, _) = x.topk(2, 1, true, true);
    let (middle, _) = x.median(1);
    let positive: Tensor![Int; N, 2] = x.gt(0.0).nonzero();
    let (different, numbers, counts) = places.unique_with();
    assert!(N <= 4 * B && positive.size(1) == 2 && numbers.shape() == places.shape());
    assert!(different.numel() == 4 && counts.to_vec() == [B as i64; 4]);
    let running: Tensor![B, 4] = sorted.cumsum(1) * x.cumprod(0);
    let top: Tensor![B, 2] = top;
    running.sum(..) + top.square().sum(..) + middle.exp().sum(0)
}

#[test]
fn elements_by_their_order() {
    let values: Vec<f32> = (0..12).map(|i| (i * 7 % 12) as f32 / 5.0 - 1.0).collect();
    let x = Tensor::from_slice(&values, [3, 4], &device());
    check_grad(
        |xs| chosen(xs[0].clone()),
        |xs, ct| vec![chosen::vjp(xs[0].clone(), Want::ALL).1.pull(Some(ct), &mut ()).0],
        &[x],
        GradCheck::default(),
    );
}
