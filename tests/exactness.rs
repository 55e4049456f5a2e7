//! One seed, one result: a run that is stopped and goes on equals an unbroken one, and any number of threads gives the
//! same bits.
#![allow(clippy::allow_attributes_without_reason, reason = "the expansion of a model has attributes without reasons")]

#[allow(dead_code, reason = "the program's own start")]
#[path = "../benches/models/transformer.rs"]
mod transformer;

use cotangent::prelude::*;
use cotangent::record::Checkpoint;
use cotangent::{Grads, Path, Tensor};
use std::path::PathBuf;
use transformer::{Gpt, GptConfig};

#[model]
struct Mlp {
    fc1: Linear![16 => 32],
    drop: Dropout![p = 0.2],
    norm: BatchMean![32],
    fc2: Linear![32 => 4],
}

/// A layer with a running state: rows less their running mean.
#[model(dims(C))]
struct BatchMean {
    #[state(zeros)]
    mean: State![C],
}

#[model]
impl BatchMean {
    fn forward(&self, x: Tensor![B, C], cx: &mut Cx) -> Tensor![B, C] {
        no_grad(cx.update(&self.mean, |mean| mean * 0.9 + x.mean(0) * 0.1));
        x - self.mean
    }
}

#[model]
impl Mlp {
    fn loss(&self, x: Tensor![B, 16], y: Tensor![Int; B], cx: &mut Cx) -> Tensor![] {
        let h = self.drop.forward(self.fc1.forward(x).gelu(), cx);
        self.fc2.forward(self.norm.forward(h, cx)).cross_entropy(y)
    }
}

/// Examples of a run.
const EXAMPLES: usize = 44;

struct Run {
    model: Mlp,
    opt: Adam,
    rng: Rng,
    cx: Cx,
    order: Order,
    losses: Vec<u32>,
}

impl Run {
    fn new(seed: u64) -> Run {
        let mut rng = Rng::seed(seed);
        let model = Mlp::init(&mut rng, &Device::cpu());
        let (opt, order) = (Adam::new(0.01).weight_decay(0.1), Order::new(EXAMPLES, 8, seed + 1));
        Run { model, opt, rng, cx: Cx::train(seed), order, losses: vec![] }
    }

    /// Steps that go on over the ends of epochs.
    fn steps(&mut self, count: usize) {
        let data = Tensor::randn([EXAMPLES, 16], &mut Rng::seed(77), &Device::cpu());
        for _ in 0..count {
            let batch = self.order.next().or_else(|| self.order.next()).expect("examples");
            let at: Vec<i64> = batch.iter().map(|&i| i as i64).collect();
            let at = Tensor::<Int>::from_slice(&at, [at.len()], &Device::cpu());
            let noise = Tensor::randn([batch.len(), 16], &mut self.rng, &Device::cpu()) * 0.1;
            let (x, y) = (data.clone().index_select(0, at.clone()) + noise, at.remainder(4));
            let (loss, grads) = self.model.loss_grad(x, y, &mut self.cx);
            self.opt.step(&mut self.model, grads);
            self.losses.push(loss.item().to_bits());
        }
    }

    fn bits(&self) -> Vec<(String, Vec<u32>)> {
        bits(&self.model)
    }

    fn save(&self, path: &PathBuf) {
        let order = self.order.to_string();
        Checkpoint::save(path, &self.model, &self.opt, &self.rng, &self.cx, &[("order", &order)]).expect("saved");
    }

    fn load(path: &PathBuf) -> Run {
        let checkpoint = Checkpoint::open(path).expect("a checkpoint");
        let mut run = Run::new(1000);
        run.model = checkpoint.model(&Device::cpu()).expect("its model");
        checkpoint.restore(&mut run.opt, &mut run.rng, &mut run.cx, &Device::cpu()).expect("its state");
        run.order.resume(checkpoint.note("order").expect("a note")).expect("its place");
        run
    }
}

fn bits(model: &impl Model) -> Vec<(String, Vec<u32>)> {
    let tensors = model.named_tensors().into_iter();
    tensors.map(|(name, t)| (name, t.to_vec().into_iter().map(f32::to_bits).collect())).collect()
}

#[test]
fn a_run_goes_on_where_it_stopped() {
    let path = std::env::temp_dir().join(format!("cotangent-exactness-{}.safetensors", std::process::id()));
    let mut unbroken = Run::new(5);
    unbroken.steps(20);
    // In the middle of the first and of a later epoch, at the end of one, and before all.
    for stop in [0, 3, 6, 10, 12] {
        let mut first = Run::new(5);
        first.steps(stop);
        first.save(&path);
        let mut second = Run::load(&path);
        assert_eq!((second.bits(), second.order.to_string()), (first.bits(), first.order.to_string()));
        second.steps(20 - stop);
        assert_eq!([first.losses, second.losses.clone()].concat(), unbroken.losses, "stopped after {stop} steps");
        assert_eq!(second.bits(), unbroken.bits(), "stopped after {stop} steps");
        assert_eq!(second.cx.state(), unbroken.cx.state());
    }
    let checkpoint = Checkpoint::open(&path).expect("a checkpoint");
    for (error, part) in [
        (checkpoint.model::<Gpt>(&Device::cpu()).map(drop), "`Mlp`"),
        (checkpoint.model::<BatchMean>(&Device::cpu()).map(drop), "`BatchMean`"),
    ] {
        let text = error.expect_err("another one's").to_string();
        assert!(text.contains(part) && text.contains("cotangent-exactness"), "{text}");
    }
    std::fs::remove_file(path).expect("removed");
}

/// Loss, gradients and parameters of some steps, as bits.
type Trace = (Vec<u32>, Vec<(String, Vec<u32>)>);

fn mlp() -> Trace {
    let mut run = Run::new(3);
    run.steps(4);
    let wide = Tensor::randn([700, 16], &mut run.rng, &Device::cpu());
    let y = Tensor::arange(700, &Device::cpu()).remainder(4);
    let (loss, grads) = run.model.loss_grad(wide, y, &mut run.cx);
    run.losses.push(loss.item().to_bits());
    run.opt.step(&mut run.model, grads);
    (run.losses.clone(), run.bits())
}

fn gpt() -> Trace {
    let (device, mut rng) = (Device::cpu(), Rng::seed(2));
    let mut model = Gpt::init(GptConfig { V: 61, S: 32, C: 32, H: 4, L: 2 }, &mut rng, &device);
    let mut opt = AdamW::new(0.01);
    let (mut numbers, mut all) = (vec![], vec![]);
    for _ in 0..3 {
        let ids: Vec<i64> = (0..8 * 33).map(|_| rng.below(61) as i64).collect();
        let ids = Tensor::<Int>::from_slice(&ids, [8, 33], &device);
        let (now, next) = (ids.clone().narrow(1, 0, 32), ids.narrow(1, 1, 32).reshape([8 * 32]));
        let (loss, mut grads) = model.loss_grad(now, next);
        numbers.push(loss.item().to_bits());
        grads.visit(&Path::ROOT, &mut |path, ct| {
            let values = ct.as_ref().map(|t| t.to_vec().into_iter().map(f32::to_bits).collect());
            all.push((format!("gradient of {path}"), values.unwrap_or_default()));
        });
        opt.step(&mut model, grads);
    }
    all.extend(bits(&model));
    (numbers, all)
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    for (name, run) in [("mlp", mlp as fn() -> Trace), ("gpt", gpt)] {
        let traces = [1, 2, 3, 7].map(|threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
            (threads, pool.install(run))
        });
        let (_, (losses, all)) = &traces[0];
        for (threads, (other_losses, others)) in &traces[1..] {
            assert_eq!(losses, other_losses, "the losses of `{name}` by {threads} threads");
            for ((path, values), (_, other)) in all.iter().zip(others) {
                assert!(values == other, "`{path}` of `{name}` differs by {threads} threads");
            }
            assert_eq!(all.len(), others.len());
        }
    }
}
