//! Checkpoints: a run goes on where it stopped.

use crate::support::{Folder, check_refused, device};
use cotangent::prelude::*;
use cotangent::record::Checkpoint;

#[model(dims(C))]
struct Net {
    table: Embedding![5, C],
    drop: Dropout![p = 0.3],
    #[frozen]
    mix: Linear![C => C],
    #[tied(weight = table.weight)]
    head: Linear![C => 5, bias = false],
    #[state(zeros)]
    mean: State![1],
}

#[model]
impl Net {
    fn loss(&self, ids: Tensor![Int; B], next: Tensor![Int; B], cx: &mut Cx) -> Tensor![] {
        let h = self.mix.forward(self.drop.forward(self.table.forward(ids), cx));
        self.head.forward(h.tanh()).cross_entropy(next)
    }
}

struct Run {
    model: Net,
    opt: AdamW,
    rng: Rng,
    cx: Cx,
}

impl Run {
    fn new() -> Run {
        let mut rng = Rng::seed(3);
        let model = Net::init(NetConfig { C: 4 }, &mut rng, &device());
        Run { model, opt: AdamW::new(0.05), rng, cx: Cx::train(9) }
    }

    fn steps(&mut self, count: usize) {
        for _ in 0..count {
            let ids: Vec<i64> = (0..12).map(|_| self.rng.below(5) as i64).collect();
            let ids = Tensor::<Int>::from_slice(&ids, [12], &device());
            let (loss, grads) = self.model.loss_grad(ids.clone(), ids, &mut self.cx);
            self.opt.step(&mut self.model, grads);
            self.model.mean.set(loss.reshape([1]));
        }
    }

    fn bits(&self) -> Vec<u32> {
        self.model.named_tensors().into_iter().flat_map(|(_, t)| t.to_vec()).map(f32::to_bits).collect()
    }

    fn save(&self, path: &std::path::Path) {
        Checkpoint::save(path, &self.model, &self.opt, &self.rng, &self.cx, &[("epoch", "3")]).expect("saved");
    }
}

#[test]
fn a_resumed_run_equals_an_unbroken_one() {
    let folder = Folder::new("resume");
    let (mut unbroken, mut first, path) = (Run::new(), Run::new(), folder.join("run.safetensors"));
    unbroken.steps(8);
    first.steps(3);
    first.save(&path);
    let checkpoint = Checkpoint::open(&path).expect("opened");
    let model = checkpoint.model(&device()).expect("a model");
    let mut second = Run { model, opt: AdamW::new(1.0), rng: Rng::seed(0), cx: Cx::eval() };
    checkpoint.restore(&mut second.opt, &mut second.rng, &mut second.cx, &device()).expect("restored");
    assert_eq!(second.bits(), first.bits());
    assert_eq!((checkpoint.note("epoch"), checkpoint.note("none")), (Some("3"), None));
    second.steps(5);
    assert_eq!(second.bits(), unbroken.bits());
    assert_eq!(second.model.head.weight.to_vec(), second.model.table.weight.to_vec());
}

#[test]
fn a_checkpoint_of_something_else_is_refused() {
    let folder = Folder::new("else");
    let (run, path) = (Run::new(), folder.join("run.safetensors"));
    run.save(&path);
    let checkpoint = Checkpoint::open(&path).expect("opened");
    check_refused(checkpoint.model::<Linear>(&device()), &["run.safetensors", "`Net`", "`Linear`"]);
    let (mut rng, mut cx) = (Rng::seed(0), Cx::train(0));
    check_refused(checkpoint.restore(&mut Sgd::new(1.0), &mut rng, &mut cx, &device()), &["Sgd", "not its settings"]);
    assert_eq!((rng.bits(), cx.step()), (Rng::seed(0).bits(), 0), "nothing was restored");
    run.model.save(&path).expect("saved");
    let no_run = Checkpoint::open(&path).expect("opened");
    let result = no_run.restore(&mut AdamW::new(1.0), &mut rng, &mut cx, &device());
    check_refused(result, &["no entry", "no checkpoint"]);
}
