//! Whole training runs: what is saved goes on bit for bit, and files that do not fit are told apart.

use cotangent::prelude::*;
use cotangent::record::Checkpoint;
use std::path::PathBuf;

use crate::support::{device, parameters};

#[model]
struct Mlp {
    fc1: Linear![6 => 16],
    drop: Dropout![p = 0.2],
    fc2: Linear![16 => 3],
}

#[model]
impl Mlp {
    fn loss(&self, x: Tensor![B, 6], y: Tensor![Int; B], cx: &mut Cx) -> Tensor![] {
        let h = self.fc1.forward(x).relu();
        self.fc2.forward(self.drop.forward(h, cx)).cross_entropy(y)
    }
}

struct Run {
    model: Mlp,
    opt: AdamW,
    rng: Rng,
    cx: Cx,
}

impl Run {
    fn new() -> Run {
        let mut rng = Rng::seed(7);
        Run { model: Mlp::init(&mut rng, &device()), opt: AdamW::new(1e-2), rng, cx: Cx::train(7) }
    }

    fn steps(&mut self, count: usize) {
        for _ in 0..count {
            let x = Tensor::randn([8, 6], &mut self.rng, &device());
            let y = Tensor::<Int>::from_slice(&[0, 1, 2, 0, 1, 2, 0, 1], [8], &device());
            let (_, grads) = self.model.loss_grad(x, y, &mut self.cx);
            self.opt.step(&mut self.model, grads);
        }
    }

    fn bits(&self) -> Vec<u32> {
        parameters(&self.model).iter().flat_map(Tensor::to_vec).map(f32::to_bits).collect()
    }
}

/// A file of this test run alone, removed at the end.
struct File(PathBuf);

impl File {
    fn new(name: &str) -> File {
        File(std::env::temp_dir().join(format!("cotangent-{}-{name}.safetensors", std::process::id())))
    }
}

impl Drop for File {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

#[test]
fn a_resumed_run_equals_an_unbroken_one() {
    let mut unbroken = Run::new();
    unbroken.steps(9);
    let (mut first, file) = (Run::new(), File::new("resume"));
    first.steps(4);
    Checkpoint::save(&file.0, &first.model, &first.opt, &first.rng, &first.cx, &[("step", "4")]).expect("saved");
    let checkpoint = Checkpoint::open(&file.0).expect("opened");
    let mut second = Run {
        model: checkpoint.model(&device()).expect("a model"),
        opt: AdamW::new(1.0),
        rng: Rng::seed(0),
        cx: Cx::train(0),
    };
    checkpoint.restore(&mut second.opt, &mut second.rng, &mut second.cx, &device()).expect("restored");
    assert_eq!(checkpoint.note("step"), Some("4"));
    second.steps(5);
    assert_eq!(second.bits(), unbroken.bits());
}

#[test]
fn one_seed_gives_one_result() {
    let (mut a, mut b) = (Run::new(), Run::new());
    a.steps(5);
    b.steps(5);
    assert_eq!(a.bits(), b.bits());
}

#[test]
fn files_survive_and_misfits_are_listed_together() {
    let run = Run::new();
    let file = File::new("misfits");
    run.model.save(&file.0).expect("saved");
    let same = Mlp::load(&file.0, &device()).expect("loaded");
    assert_eq!(parameters(&same)[0].to_vec(), parameters(&run.model)[0].to_vec());

    #[model]
    struct Other {
        fc1: Linear![6 => 17],
        fc3: Linear![16 => 3],
    }
    let error = Other::load_with(&Default::default(), &file.0, &device()).expect_err("misfits").to_string();
    for part in ["fc1.weight", "[16, 6]", "[17, 6]", "fc3.weight", "missing", "fc2.weight", "not in the model"] {
        assert!(error.contains(part), "`{part}` is missing in: {error}");
    }
    let (_, partial) = {
        #[model]
        struct Wider {
            fc1: Linear![6 => 16],
            extra: Linear![2 => 2],
        }
        Wider::load_partial(&Default::default(), &file.0, &mut Rng::seed(0), &device()).expect("partial")
    };
    assert_eq!(partial.missing, ["extra.weight", "extra.bias"]);
    assert_eq!(partial.unread, ["fc2.bias", "fc2.weight"]);
    assert!(Other::load(&file.0, &device()).is_err(), "the file names another model");
}

#[test]
fn broken_files_are_errors() {
    let run = Run::new();
    let file = File::new("broken");
    run.model.save(&file.0).expect("saved");
    let whole = std::fs::read(&file.0).expect("read");
    let mut rng = Rng::seed(3);
    for round in 0..400 {
        let mut bytes = whole.clone();
        if round % 2 == 0 {
            bytes.truncate(rng.below(whole.len()));
        } else {
            for _ in 0..1 + rng.below(4) {
                let at = rng.below(600.min(bytes.len()));
                bytes[at] = rng.bits() as u8;
            }
        }
        std::fs::write(&file.0, &bytes).expect("written");
        // Whatever the bytes are, the answer is a model or an error.
        let loaded = Mlp::load(&file.0, &device());
        if round % 2 == 0 {
            assert!(loaded.is_err(), "a truncated file was read");
        }
    }
}

#[test]
fn tied_and_frozen_parameters() {
    #[model]
    struct Tied {
        table: Embedding![5, 4],
        #[tied(weight = table.weight)]
        head: Linear![4 => 5, bias = false],
        #[frozen]
        fixed: Linear![4 => 4],
    }
    #[model]
    impl Tied {
        fn loss(&self, ids: Tensor![Int; B], next: Tensor![Int; B]) -> Tensor![] {
            self.head.forward(self.fixed.forward(self.table.forward(ids))).cross_entropy(next)
        }
    }
    let mut model = Tied::init(&mut Rng::seed(1), &device());
    let fixed = model.fixed.weight.to_vec();
    let before = model.table.weight.to_vec();
    let mut opt = Sgd::new(0.1);
    for _ in 0..3 {
        let ids = Tensor::<Int>::from_slice(&[0, 1, 2], [3], &device());
        let next = Tensor::<Int>::from_slice(&[1, 2, 3], [3], &device());
        let (_, grads) = model.loss_grad(ids, next);
        opt.step(&mut model, grads);
        assert_eq!(model.table.weight.to_vec(), model.head.weight.to_vec(), "both names hold one tensor");
    }
    assert_ne!(model.table.weight.to_vec(), before);
    assert_eq!(model.fixed.weight.to_vec(), fixed);
    let names: Vec<String> = model.named_tensors().into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["table.weight", "fixed.weight", "fixed.bias"], "a tied tensor is written once");
}
