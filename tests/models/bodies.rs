//! Derived gradients of bodies with every kind of statement, against central differences.

use cotangent::prelude::*;
use cotangent::testing::{GradCheck, check_loss_grad};
use cotangent::{Path, Tensor};
use std::collections::BTreeMap;

use crate::support::{device, parameters, paths, with_parameters};

/// Checks `loss` by the parameters and by `x`.
pub(crate) fn check<M: Model>(model: &M, x: Tensor, loss: impl Fn(&M, Tensor) -> (Tensor, M::Grads, Option<Tensor>)) {
    let mut inputs = parameters(model);
    inputs.push(x);
    check_loss_grad(
        |inputs| {
            let (x, params) = inputs.split_last().expect("an input");
            let changed = with_parameters(model, params);
            let (loss, mut grads, ct) = loss(&changed, x.clone());
            let mut by_path = BTreeMap::new();
            grads.visit(&Path::ROOT, &mut |path, ct| {
                by_path.insert(path.to_string(), ct.take());
            });
            let mut cts: Vec<_> = paths(model).iter().map(|path| by_path.remove(path).flatten()).collect();
            cts.push(ct);
            (loss, cts)
        },
        &inputs,
        GradCheck::default(),
    );
}

fn input(shape: [usize; 2]) -> Tensor {
    Tensor::randn(shape, &mut Rng::seed(9), &device())
}

#[model(dims(C))]
struct Block {
    up: Linear![C => 2*C],
    down: Linear![2*C => C],
}

#[model]
impl Block {
    fn forward(&self, x: Tensor![B, C]) -> Tensor![B, C] {
        x + self.down.forward(self.up.forward(x).tanh())
    }
}

#[model(dims(C, L))]
struct Loops {
    blocks: [Block![C]; L],
    #[init(normal(0.5))]
    gate: Param![C],
    #[config(2)]
    twice: usize,
}

#[model]
impl Loops {
    fn loss(&self, x: Tensor![B, C]) -> Tensor![] {
        let mut h = x;
        let mut skips = Vec::new();
        for (i, block) in self.blocks.iter().enumerate() {
            h = block.forward(h);
            if i % 2 == 0 {
                h = h.tanh();
            }
            skips.push(h);
        }
        for _ in 0..self.twice {
            h = h * self.gate;
        }
        for (block, skip) in self.blocks.iter().rev().zip(skips.iter().rev()) {
            h = block.forward(h + skip);
        }
        let last = skips.pop().unwrap();
        for i in 0..L - 1 {
            h = h + skips[i] * self.blocks[i].forward(last);
        }
        (h * h).mean(..)
    }
}

#[test]
fn loops_and_lists() {
    let model = Loops::init(LoopsConfig { C: 3, L: 3, twice: 2 }, &mut Rng::seed(1), &device());
    check(&model, input([2, 3]), |m, x| m.loss_grad_inputs(x));
}

#[model]
struct Branches {
    a: Linear![3 => 3],
    b: Option<Linear![3 => 3]>,
    #[config(true)]
    #[init(normal(1.0))]
    bias: Option<Param![3]>,
    #[config(0)]
    mode: usize,
    #[config(0.5)]
    scale: f64,
}

#[model]
impl Branches {
    fn step(&self, x: Tensor![B, 3]) -> (Tensor![B, 3], Tensor![B, 3]) {
        let y = self.a.forward(x);
        (y.sigmoid(), y)
    }

    fn loss(&self, x: Tensor![B, 3]) -> Tensor![] {
        let (gate, y) = self.step(x);
        let mut h = match self.mode {
            0 => gate * y,
            1 => {
                let twice = y + y;
                twice - gate
            }
            _ => -y,
        };
        if let Some(bias) = &self.bias {
            h = h + bias;
        }
        let h = if let Some(b) = &self.b { b.forward(h) } else { h * self.scale };
        let h = {
            let y = h.exp();
            1.0 / (y + 1.0)
        };
        let parts = vec![h, x, gate];
        let all: Tensor![N, 3] = cat(parts, 0);
        let rows = all.size(0);
        assert!(rows == N, "{rows} rows of {all:?}");
        (all * all).sum(..) / 3.0
    }
}

#[test]
fn branches_and_options() {
    for mode in 0..3 {
        let config = BranchesConfig { bias: mode != 1, mode, ..Default::default() };
        let model = cotangent::model::init::<Branches>(&config, &mut Rng::seed(2), &device());
        check(&model, input([2, 3]), |m, x| m.loss_grad_inputs(x));
    }
}

#[model]
enum Stage {
    Wide(Linear![3 => 3]),
    Norm(LayerNorm![3]),
    Skip,
}

#[model]
impl Stage {
    fn forward(&self, x: Tensor![B, 3]) -> Tensor![B, 3] {
        match self {
            Self::Wide(layer) => layer.forward(x),
            Self::Norm(norm) => norm.forward(x),
            Self::Skip => x,
        }
    }
}

#[model]
struct Mixed {
    #[init(Stage::Wide, Stage::Norm, Stage::Skip)]
    stages: Vec<Stage>,
    #[init(Linear![3 => 3], Tanh, LayerNorm![3])]
    layers: Vec<Box<dyn Layer>>,
}

#[model]
impl Mixed {
    fn loss(&self, x: Tensor![B, 3], cx: &mut Cx) -> Tensor![] {
        let mut h = x;
        for stage in &self.stages {
            h = stage.forward(h);
        }
        for layer in &self.layers {
            h = layer.forward(h, cx);
        }
        h.square().mean(..)
    }
}

#[test]
fn lists_of_different_layers() {
    let model = Mixed::init(&mut Rng::seed(3), &device());
    check(&model, input([2, 3]), |m, x| m.loss_grad_inputs(x, &mut Cx::eval()));
}

#[model(dims(C))]
struct Cell {
    fc: Linear![C => C],
}

#[model]
impl Cell {
    fn step(&self, x: Tensor![B, C], h: Tensor![B, C]) -> (Tensor![B, C], Tensor![B, C]) {
        let y = self.fc.forward(x + h).tanh();
        (y, y * h)
    }

    fn loss(&self, x: Tensor![B, C]) -> Tensor![] {
        let mut h = x * 0.5;
        let mut y = x;
        let (mut old, mut older) = (1, 1);
        for i in 0..3 {
            (y, h) = self.step(y, h);
            if i == 1 {
                (h, _) = self.step(h, y);
            }
            (older, old) = (old, old + older);
        }
        (y + h).square().mean(..) * old as f64
    }
}

#[test]
fn assignments_to_several_variables() {
    let model = Cell::init(CellConfig { C: 3 }, &mut Rng::seed(8), &device());
    check(&model, input([2, 3]), |m, x| m.loss_grad_inputs(x));
    let x = input([2, 3]);
    let (y, h) = model.step(x.clone(), x.clone() * 0.5);
    let (y, h) = model.step(y, h);
    let (h, _) = model.step(h, y.clone());
    let (y, h) = model.step(y, h);
    assert_eq!(model.loss(x).to_vec(), ((y + h).square().mean(..) * 5.0).to_vec());
}

/// Squared distance of rows.
#[model]
fn distance(a: Tensor![B, C], b: Tensor![B, C]) -> Tensor![B] {
    (a - b).square().sum(-1)
}

#[model]
struct Wrap<L: Layer + Model> {
    inner: L,
}

#[model]
impl<L: Layer + Model> Wrap<L> {
    fn loss(&self, x: Tensor![B, 3], cx: &mut Cx) -> Tensor![] {
        distance(self.inner.forward(x, cx), x).mean(..)
    }
}

#[test]
fn generic_wrappers_and_free_functions() {
    let inner = Linear::init(LinearConfig { I: 3, O: 3, bias: true }, &mut Rng::seed(4), &device());
    check(&Wrap { inner }, input([2, 3]), |m, x| m.loss_grad_inputs(x, &mut Cx::eval()));
}

#[model(dims(C, H))]
struct Transformer {
    attention: CausalSelfAttention![C, H],
    norm: LayerNorm![C],
}

#[model]
impl Transformer {
    fn loss(&self, x: Tensor![B, C]) -> Tensor![] {
        let h = self.norm.forward(x).reshape([1, B, C]);
        self.attention.forward(h).square().mean(..)
    }
}

#[test]
fn attention() {
    let model = Transformer::init(TransformerConfig { C: 4, H: 2 }, &mut Rng::seed(5), &device());
    check(&model, input([3, 4]), |m, x| m.loss_grad_inputs(x));
}

#[test]
fn what_is_not_wanted_is_not_computed() {
    let mut model = Block::init(BlockConfig { C: 3 }, &mut Rng::seed(6), &device());
    model.freeze("up.*");
    let (_, back) = model.forward__vjp(input([2, 3]), cotangent::diff::Want::SELF);
    let mut grads = BlockGrads::default();
    let ct = Some(Tensor::ones([2, 3], &device()));
    let (x,) = cotangent::diff::Pullback::pull(back, ct, &mut grads);
    assert!(x.is_none(), "the cotangent of `x` was not wanted");
    assert!(grads.up.weight.is_none() && grads.up.bias.is_none(), "`up` is frozen");
    assert!(grads.down.weight.is_some() && grads.down.bias.is_some());
}

#[test]
fn errors_name_argument_axis_expected_and_got() {
    let model = Block::init(BlockConfig { C: 3 }, &mut Rng::seed(7), &device());
    let error = model.try_forward(input([2, 4])).expect_err("4 columns do not fit");
    let text = error.to_string();
    for part in ["Block::forward", "axis 1", "`x`", "4", "3"] {
        assert!(text.contains(part), "`{part}` is missing in: {text}");
    }
}

#[model(dims(C))]
struct Halving {
    fc: Linear![C => C],
}

#[model]
impl Halving {
    fn forward(&self, x: Tensor![B, C], n: usize) -> Tensor![B, C] {
        let x = self.fc.forward(x).tanh();
        if n > 1 {
            #[boxed]
            self.forward(x, n / 2)
        } else {
            x
        }
    }
    fn loss(&self, x: Tensor![B, C], n: usize) -> Tensor![] {
        (self.forward(x, n)
            + #[boxed]
            halved(x, n))
        .square()
        .mean(..)
    }
}

#[model]
fn halved(x: Tensor![B, C], n: usize) -> Tensor![B, C] {
    if n > 1 {
        #[boxed]
        halved(x * 0.5, n / 2)
    } else {
        x.sin()
    }
}

#[test]
fn recursion() {
    let model = Halving::init(HalvingConfig::new(3), &mut Rng::seed(5), &device());
    for n in [1, 4] {
        check(&model, input([2, 3]), |m, x| {
            let (loss, grads, ct) = m.loss_grad_inputs(x, n);
            (loss, grads, ct)
        });
    }
}

#[model]
fn halves(x: Tensor![B, 4]) -> (Tensor![B, 2], Tensor![B, 2]) {
    let parts = x.split(1, [2, 2]);
    (parts.1, parts.0.sin())
}

#[model(dims(C))]
struct Parts {
    fc: Linear![C => 4],
}

#[model]
impl Parts {
    fn loss(&self, x: Tensor![B, C]) -> Tensor![] {
        let both = halves(self.fc.forward(x));
        let mine = (both.0 * both.1, x);
        (mine.0 * both.0).sum(..) + mine.1.square().mean(..)
    }
}

#[test]
fn parts_of_tuples() {
    let model = Parts::init(PartsConfig::new(3), &mut Rng::seed(6), &device());
    check(&model, input([2, 3]), |m, x| m.loss_grad_inputs(x));
}
