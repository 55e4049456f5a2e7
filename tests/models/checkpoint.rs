//! Checkpoints: the same gradients to the bit as without them, whatever they contain and however they are used.

use cotangent::diff::{Pullback, Want};
use cotangent::prelude::*;
use cotangent::{Grads, Path, Tensor};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::bodies::check;
use crate::support::device;

/// Gradients by path, as bits.
type Bits = BTreeMap<String, Option<Vec<u32>>>;

fn bits(tensor: &Tensor) -> Vec<u32> {
    tensor.to_vec().iter().map(|x| x.to_bits()).collect()
}

/// A loss, its gradients and the cotangent of its input.
fn all_bits<G: Grads>((loss, mut grads, ct): (Tensor, G, Option<Tensor>)) -> Bits {
    let mut all = Bits::new();
    grads.visit(&Path::ROOT, &mut |path, ct| {
        all.insert(path.to_string(), ct.as_ref().map(bits));
    });
    all.insert("(loss)".into(), Some(bits(&loss)));
    all.insert("(input)".into(), ct.as_ref().map(bits));
    all
}

fn input(shape: [usize; 2]) -> Tensor {
    Tensor::randn(shape, &mut Rng::seed(9), &device())
}

#[model(dims(C))]
struct Block {
    up: Linear![C => 2*C],
    drop: Dropout![p = 0.3],
    down: Linear![2*C => C],
}

#[model]
impl Block {
    fn forward(&self, x: Tensor![B, C], cx: &mut Cx) -> Tensor![B, C] {
        x + self.down.forward(self.drop.forward(self.up.forward(x).tanh(), cx))
    }
}

#[model(dims(C, L))]
struct Deep {
    blocks: [Block![C]; L],
    first: Block![C],
    #[init(ones)]
    scale: Param![C],
}

#[model]
impl Deep {
    fn plain(&self, x: Tensor![B, C], skip: Tensor![B, C], cx: &mut Cx) -> Tensor![] {
        let (mut first, mut last) = (x, x);
        let mut x = self.first.forward(x, cx);
        for (i, block) in self.blocks.iter().enumerate() {
            x = block.forward(x * (i + 1), cx);
        }
        for (i, block) in self.blocks.iter().rev().skip(1).enumerate() {
            last = block.forward(x + skip, cx);
            if i > 0 {
                first = last * 2.0;
            }
            x = last.tanh();
        }
        x = x + last * first;
        let y = {
            let mut y = x;
            for (i, block) in self.blocks.iter().enumerate() {
                y = block.forward(y, cx) + self.blocks[i].up.forward(y).narrow(1, 0, C);
            }
            y * self.scale
        };
        y.square().mean(..)
    }

    fn kept(&self, x: Tensor![B, C], skip: Tensor![B, C], cx: &mut Cx) -> Tensor![] {
        let (mut first, mut last) = (x, x);
        let mut x = #[checkpoint]
        self.first.forward(x, cx);
        #[checkpoint]
        for (i, block) in self.blocks.iter().enumerate() {
            x = block.forward(x * (i + 1), cx);
        }
        #[checkpoint]
        for (i, block) in self.blocks.iter().rev().skip(1).enumerate() {
            last = block.forward(x + skip, cx);
            if i > 0 {
                first = last * 2.0;
            }
            x = last.tanh();
        }
        x = x + last * first;
        #[checkpoint]
        let y = {
            let mut y = x;
            for (i, block) in self.blocks.iter().enumerate() {
                y = block.forward(y, cx) + self.blocks[i].up.forward(y).narrow(1, 0, C);
            }
            y * self.scale
        };
        y.square().mean(..)
    }
}

fn deep() -> Deep {
    Deep::init(DeepConfig { C: 4, L: 3 }, &mut Rng::seed(1), &device())
}

#[test]
fn loops_and_calls_with_dropout() {
    let (model, mut a, mut b) = (deep(), Cx::train(5), Cx::train(5));
    for _ in 0..2 {
        let (loss, grads, (ct, skip)) = model.plain_grad_inputs(input([3, 4]), input([3, 4]), &mut a);
        let plain = (all_bits((loss, grads, ct)), skip.as_ref().map(bits));
        let (loss, grads, (ct, skip)) = model.kept_grad_inputs(input([3, 4]), input([3, 4]), &mut b);
        assert_eq!(plain, (all_bits((loss, grads, ct)), skip.as_ref().map(bits)));
        assert_eq!(a.state(), b.state());
    }
    assert_eq!(
        bits(&model.plain(input([3, 4]), input([3, 4]), &mut a)),
        bits(&model.kept(input([3, 4]), input([3, 4]), &mut b))
    );
}

#[model(dims(C, H))]
struct Mixed {
    #[init(Stage::Wide, Stage::Norm)]
    stages: Vec<Stage>,
    #[init(Linear![C => C], Tanh, LayerNorm![C])]
    layers: Vec<Box<dyn Layer>>,
    fc: Linear![C => C],
    #[config(true)]
    #[init(normal(1.0))]
    bias: Option<Param![C]>,
    #[config(0.5)]
    scale: f64,
}

#[model]
impl Mixed {
    fn halves(&self, x: Tensor![B, C]) -> (Tensor![B, C], Tensor![B, C]) {
        let y = self.fc.forward(x);
        (y.sigmoid(), y)
    }

    fn plain(&self, x: Tensor![B, C], names: &[String], y: Tensor![Int; B], label: &str, cx: &mut Cx) -> Tensor![] {
        let mut x = x;
        let mut steps = vec![];
        let words = format!("{label} {}", names.len());
        let first = &names[0];
        let mut count = 0;
        for (stage, name) in self.stages.iter().zip(names.iter()) {
            x = stage.forward(x);
            if name.len() > first.len() {
                x = x.tanh();
            }
            steps.push(x);
        }
        for layer in self.layers.iter() {
            count += words.len();
            assert!(count > 0, "{words} {label}");
            x = layer.forward(x, cx) * count;
        }
        let (gate, h) = self.halves(x);
        let h = {
            let h = gate * h.reshape([B, C]);
            let last = steps.pop().unwrap();
            let h = h + last * steps[0] / H;
            if let Some(bias) = &self.bias {
                let h = h + bias;
                h.tanh()
            } else {
                h * self.scale
            }
        };
        let z = if label.is_empty() { h } else { self.fc.forward(h).dropout(self.scale, cx) };
        assert!(count > 0 && !words.is_empty(), "{label} {words} {z:?}");
        z.cross_entropy(y)
    }

    fn kept(&self, x: Tensor![B, C], names: &[String], y: Tensor![Int; B], label: &str, cx: &mut Cx) -> Tensor![] {
        let mut x = x;
        let mut steps = vec![];
        let words = format!("{label} {}", names.len());
        let first = &names[0];
        let mut count = 0;
        #[checkpoint]
        for (stage, name) in self.stages.iter().zip(names.iter()) {
            x = stage.forward(x);
            if name.len() > first.len() {
                x = x.tanh();
            }
            steps.push(x);
        }
        #[checkpoint]
        for layer in self.layers.iter() {
            count += words.len();
            assert!(count > 0, "{words} {label}");
            x = #[checkpoint]
            layer.forward(x, cx)
                * count;
        }
        #[checkpoint]
        let (gate, h) = self.halves(x);
        #[checkpoint]
        let h = {
            let h = gate * h.reshape([B, C]);
            let last = steps.pop().unwrap();
            let h = h + last * steps[0] / H;
            if let Some(bias) = &self.bias {
                #[checkpoint]
                let h = h + bias;
                h.tanh()
            } else {
                h * self.scale
            }
        };
        #[checkpoint]
        let z = if label.is_empty() { h } else { self.fc.forward(h).dropout(self.scale, cx) };
        assert!(count > 0 && !words.is_empty(), "{label} {words} {z:?}");
        #[checkpoint]
        z.cross_entropy(y)
    }
}

#[model]
enum Stage {
    Wide(Linear![4 => 4]),
    Norm(LayerNorm![4]),
}

#[model]
impl Stage {
    fn forward(&self, x: Tensor![B, 4]) -> Tensor![B, 4] {
        match self {
            Self::Wide(layer) =>
            {
                #[checkpoint]
                layer.forward(x)
            }
            Self::Norm(norm) => {
                #[checkpoint]
                let y = norm.forward(x);
                y
            }
        }
    }
}

#[test]
fn everything_that_a_body_can_hold() {
    let model = Mixed::init(MixedConfig::new(4, 2), &mut Rng::seed(3), &device());
    let names = ["a".to_owned(), "bc".to_owned()];
    let rows = Tensor::<Int>::from_slice(&[2, 0, 3], [3], &device());
    let (mut a, mut b) = (Cx::train(5), Cx::train(5));
    for label in ["", "some"] {
        let plain = all_bits(model.plain_grad_inputs(input([3, 4]), &names, rows.clone(), label, &mut a));
        let kept = all_bits(model.kept_grad_inputs(input([3, 4]), &names, rows.clone(), label, &mut b));
        assert_eq!(plain, kept);
    }
}

/// A linear layer after a centring by a running mean, which the gradient of `fc` depends on.
#[model(dims(C))]
struct Centred {
    #[state(zeros)]
    mean: State![C],
    fc: Linear![C => C],
}

#[model]
impl Centred {
    fn forward(&self, x: Tensor![B, C], cx: &mut Cx) -> Tensor![B, C] {
        let y = self.fc.forward(x - self.mean);
        no_grad(cx.update(&self.mean, |mean| mean * 0.5 + y.mean(0) * 0.5));
        y
    }

    fn plain(&self, x: Tensor![B, C], cx: &mut Cx) -> Tensor![] {
        let y = self.fc.forward(x - self.mean);
        no_grad(cx.update(&self.mean, |mean| mean + y.mean(0)));
        let y = self.forward(self.forward(y, cx), cx);
        y.square().mean(..)
    }

    fn kept(&self, x: Tensor![B, C], cx: &mut Cx) -> Tensor![] {
        #[checkpoint]
        let y = {
            let y = self.fc.forward(x - self.mean);
            no_grad(cx.update(&self.mean, |mean| mean + y.mean(0)));
            y
        };
        #[checkpoint]
        let y = self.forward(
            #[checkpoint]
            self.forward(y, cx),
            cx,
        );
        y.square().mean(..)
    }
}

#[test]
fn a_state_moves_once_and_is_read_as_it_was() {
    let model = Centred::init(CentredConfig::new(4), &mut Rng::seed(4), &device());
    let (a, b) = (model.clone(), model);
    for step in 0..2 {
        let plain = all_bits(a.plain_grad_inputs(input([3, 4]), &mut Cx::train(step)));
        let kept = all_bits(b.kept_grad_inputs(input([3, 4]), &mut Cx::train(step)));
        assert_eq!(plain, kept);
        assert_eq!(bits(&a.mean.get()), bits(&b.mean.get()));
    }
    assert!(a.mean.get().to_vec().iter().all(|x| *x != 0.0), "the state moves");
}

#[test]
fn the_model_may_change_before_the_pullback() {
    let (x, skip, one) = (input([3, 4]), input([3, 4]), Some(Tensor::ones([0; 0], &device())));
    let (mut model, mut cx) = (deep(), Cx::train(2));
    let (loss, grads, (ct, _)) = model.kept_grad_inputs(x.clone(), skip.clone(), &mut cx.clone());
    let before = all_bits((loss, grads, ct));
    let (loss, back) = model.kept__vjp(x.clone(), skip.clone(), &mut cx, Want::ALL);
    let mut opt = Sgd::new(0.5);
    for _ in 0..2 {
        let (_, grads) = model.kept_grad(x.clone(), skip.clone(), &mut cx);
        opt.step(&mut model, grads);
    }
    let mut grads = DeepGrads::default();
    let (ct, ..) = back.pull(one, &mut grads);
    assert_eq!(before, all_bits((loss, grads, ct)));
    let (loss, grads, (ct, _)) = model.kept_grad_inputs(x, skip, &mut cx);
    assert_ne!(before, all_bits((loss, grads, ct)), "the model did change");
}

/// How often the statements of [`Counted`] ran.
static RUNS: AtomicUsize = AtomicUsize::new(0);

fn ran() {
    RUNS.fetch_add(1, Ordering::Relaxed);
}

#[model(dims(C))]
struct Counted {
    fc: Linear![C => C],
}

#[model]
impl Counted {
    fn forward(&self, x: Tensor![B, C]) -> Tensor![B, C] {
        #[checkpoint]
        let y = {
            ran();
            self.fc.forward(x)
        };
        y.tanh()
    }
}

#[test]
fn statements_run_again_only_for_what_is_wanted() {
    let mut model = Counted::init(CountedConfig::new(4), &mut Rng::seed(4), &device());
    let runs = |model: &Counted, ct: Option<Tensor>, want: Want| {
        let before = RUNS.load(Ordering::Relaxed);
        let (_, back) = model.forward__vjp(input([3, 4]), want);
        let mut grads = CountedGrads::default();
        let (x,) = back.pull(ct, &mut grads);
        (RUNS.load(Ordering::Relaxed) - before, x.is_some(), grads.fc.weight.is_some())
    };
    let ct = || Some(Tensor::ones([3, 4], &device()));
    assert_eq!(runs(&model, ct(), Want::ALL), (2, true, true));
    assert_eq!(runs(&model, ct(), Want::SELF), (2, false, true));
    assert_eq!(runs(&model, ct(), Want::of(&[false, true])), (2, true, false));
    assert_eq!(runs(&model, ct(), Want::NONE), (1, false, false));
    assert_eq!(runs(&model, None, Want::ALL), (1, false, false));
    model.freeze("*");
    assert_eq!(runs(&model, ct(), Want::SELF), (1, false, false));
    assert_eq!(runs(&model, ct(), Want::ALL), (2, true, false));
}

/// Names that mean one thing outside of a checkpoint and another inside.
#[model(dims(C))]
struct Shadows {
    frozen: [Linear![C => C]; 2],
    trained: [Linear![C => C]; 2],
}

#[model]
impl Shadows {
    fn loss(&self, x: Tensor![B, C], cx: &mut Cx) -> Tensor![] {
        let mut x = x;
        let block = "block";
        #[checkpoint]
        let y = {
            let mut y = x;
            for block in self.trained.iter() {
                y = block.forward(y);
            }
            y
        };
        for block in self.frozen.iter() {
            #[checkpoint]
            for block in self.trained.iter() {
                x = block.forward(x);
            }
            #[checkpoint]
            let z = {
                let mut z = block.forward(x).tanh();
                for block in self.trained.iter() {
                    z = block.forward(z);
                }
                z
            };
            x = z;
        }
        let _ = (block, cx);
        (x * y).mean(..)
    }
}

#[test]
fn names_may_be_hidden_inside() {
    let mut model = Shadows::init(ShadowsConfig::new(3), &mut Rng::seed(4), &device());
    check(&model, input([2, 3]), |m, x| m.loss_grad_inputs(x, &mut Cx::eval()));
    let mut all = all_bits(model.loss_grad_inputs(input([2, 3]), &mut Cx::eval()));
    model.freeze("frozen.*");
    all.iter_mut().filter(|(path, _)| path.starts_with("frozen")).for_each(|(_, ct)| *ct = None);
    assert_eq!(all, all_bits(model.loss_grad_inputs(input([2, 3]), &mut Cx::eval())));
}

#[model]
struct Wrap<L: Layer + Model> {
    inner: L,
}

#[model]
impl<L: Layer + Model> Wrap<L> {
    fn loss(&self, x: Tensor![B, 3], cx: &mut Cx) -> Tensor![] {
        squared(
            #[checkpoint]
            self.inner.forward(x, cx),
            2,
        )
    }
}

#[model]
fn squared(x: Tensor![B, C], times: usize) -> Tensor![] {
    let mut x = x;
    #[checkpoint]
    for _ in 0..times {
        x = x.square();
    }
    #[checkpoint]
    x.mean(..)
}

#[test]
fn generic_wrappers_and_free_functions() {
    let inner = Linear::init(LinearConfig { I: 3, O: 3, bias: true }, &mut Rng::seed(4), &device());
    check(&Wrap { inner }, input([2, 3]), |m, x| m.loss_grad_inputs(x, &mut Cx::eval()));
}
