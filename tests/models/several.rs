//! Bodies with operations that give several results, of which some carry no derivative.

use cotangent::prelude::*;

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
