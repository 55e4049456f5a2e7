//! What every model can do: visits by path, its summary, freezing, ties, clones, layers as objects, enums.
#![allow(clippy::allow_attributes_without_reason, reason = "the expansion of a model has attributes without reasons")]

use cotangent::model::{LayerConfig, Mark, register};
use cotangent::prelude::*;
use cotangent::{Leaf, LeafMut, Path, attempt};
use serde_json::json;

/// One piece of a list.
#[model(dims(C))]
enum Stage {
    Wide(Linear![C => C]),
    Norm(LayerNorm![C]),
    Skip,
}

#[model]
impl Stage {
    fn forward(&self, x: Tensor![R.., C]) -> Tensor![R.., C] {
        match self {
            Self::Wide(layer) => layer.forward(x),
            Self::Norm(norm) => norm.forward(x),
            Self::Skip => x,
        }
    }
}

#[model(dims(C))]
struct Net {
    table: Embedding![5, C],
    #[init(Stage::Norm![C], Stage::Skip, Stage::Wide![C])]
    stages: Vec<Stage>,
    #[frozen]
    mix: Linear![C => C],
    #[init(Linear![2 => 3], Tanh, Linear![3 => 2])]
    layers: Vec<Box<dyn Layer>>,
    #[tied(weight = table.weight)]
    head: Linear![C => 5, bias = false],
    #[state(zeros)]
    mean: State![3],
}

#[model]
impl Net {
    fn loss(&self, ids: Tensor![Int; B], next: Tensor![Int; B], cx: &mut Cx) -> Tensor![] {
        let mut h = self.table.forward(ids);
        for stage in &self.stages {
            h = stage.forward(h);
        }
        h = self.mix.forward(h);
        for layer in &self.layers {
            h = layer.forward(h, cx);
        }
        self.head.forward(h).cross_entropy(next)
    }
}

fn device() -> Device {
    Device::cpu()
}

fn net() -> Net {
    Net::init(NetConfig::new(2), &mut Rng::seed(0), &device())
}

/// All parameters and states in the order of a visit.
const PATHS: [&str; 13] = [
    "table.weight",
    "stages.0.Norm.weight",
    "stages.0.Norm.bias",
    "stages.2.Wide.weight",
    "stages.2.Wide.bias",
    "mix.weight",
    "mix.bias",
    "layers.0.weight",
    "layers.0.bias",
    "layers.2.weight",
    "layers.2.bias",
    "head.weight",
    "mean",
];

/// A step of training, so that all that can change changes.
fn step(model: &mut Net, opt: &mut Sgd) {
    let ids = Tensor::<Int>::from_slice(&[0, 1, 2, 3, 4], [5], &device());
    let (_, grads) = model.loss_grad(ids.clone(), ids.next(), &mut Cx::train(1));
    opt.step(model, grads);
}

trait Roll {
    fn next(self) -> Self;
}

impl Roll for Tensor<Int> {
    /// The elements moved by one place.
    fn next(self) -> Self {
        let mut ids = self.to_vec();
        ids.rotate_left(1);
        Tensor::from_slice(&ids, self.shape(), self.device())
    }
}

/// All values by path, aliases included.
fn values<M: Model>(model: &M) -> Vec<(String, Vec<f32>)> {
    let mut list = vec![];
    model.visit(&Path::ROOT, &mut |path, leaf| match leaf {
        Leaf::Param(param) => list.push((path.to_string(), param.to_vec())),
        Leaf::State(state) => list.push((path.to_string(), state.get().to_vec())),
        Leaf::Tie { .. } => {}
    });
    list
}

#[track_caller]
fn check_raises<T>(f: impl FnOnce() -> T, parts: &[&str]) {
    let Err(error) = attempt(f) else { panic!("an error was expected that names {parts:?}") };
    let text = error.to_string();
    for part in parts {
        assert!(text.contains(part), "`{part}` is missing in: {text}");
    }
}

#[test]
fn visits_meet_the_same_leaves() {
    let mut model = net();
    let mut met = vec![];
    model.visit(&Path::ROOT, &mut |path, leaf| {
        met.push(match leaf {
            Leaf::Tie { target } => format!("{path} -> {target}"),
            Leaf::Param(_) | Leaf::State(_) => path.to_string(),
        });
    });
    let mut expected: Vec<String> = PATHS.map(str::to_owned).to_vec();
    expected.insert(11, "head.weight -> table.weight".into());
    assert_eq!(met, expected);
    let mut again = vec![];
    model.visit_mut(&Path::ROOT.child("inside"), &mut |path, leaf| {
        again.push(match leaf {
            LeafMut::Tie { target } => format!("{path} -> {target}"),
            LeafMut::Param(_) | LeafMut::State(_) => path.to_string(),
        });
    });
    assert_eq!(again, expected.iter().map(|path| format!("inside.{path}")).collect::<Vec<_>>());
    // Gradients meet the parameters' paths alone, here all that require one.
    let ids = Tensor::<Int>::from_slice(&[1], [1], &device());
    let (_, mut grads) = model.loss_grad(ids.clone(), ids, &mut Cx::eval());
    let mut found = vec![];
    grads.visit(&Path::ROOT, &mut |path, grad| found.extend(grad.is_some().then(|| path.to_string())));
    let trained = PATHS.into_iter().filter(|path| !path.starts_with("mix") && *path != "mean");
    assert_eq!(found, trained.collect::<Vec<_>>());
}

#[test]
fn summary() {
    let model = net();
    let expected = "\
Net
  table.weight          [5, 2]  10
  stages.0.Norm.weight  [2]      2
  stages.0.Norm.bias    [2]      2
  stages.2.Wide.weight  [2, 2]   4
  stages.2.Wide.bias    [2]      2
  mix.weight            [2, 2]   4  frozen
  mix.bias              [2]      2  frozen
  layers.0.weight       [3, 2]   6
  layers.0.bias         [3]      3
  layers.2.weight       [2, 3]   6
  layers.2.bias         [2]      2
  head.weight           [5, 2]  10  tied
  mean                  [3]      3  state
43 parameters (6 frozen), 3 numbers of state, 184 bytes";
    assert_eq!(model.summary().to_string(), expected);
    assert_eq!(format!("{model}"), expected, "a model prints as its summary");
    assert_eq!(model.parameters(), 43);
    let marks: Vec<Mark> = model.summary().rows.iter().map(|row| row.mark).collect();
    assert_eq!((marks[0], marks[5], marks[11], marks[12]), (Mark::Param, Mark::Frozen, Mark::Tied, Mark::State));
    assert_eq!(Tanh::init(&mut Rng::seed(0), &device()).to_string(), "Tanh\n0 parameters, 0 bytes");
}

#[test]
fn freezing_by_pattern() {
    let mut model = net();
    assert!(model.is_frozen("mix") && !model.is_frozen("layers"));
    model.freeze("layers.*.bias");
    model.freeze("stages");
    assert!(model.is_frozen("layers.2.bias") && !model.is_frozen("layers.2") && model.is_frozen("stages.2.Wide"));
    // A tied tensor is frozen under all its names.
    model.freeze("head");
    assert!(model.is_frozen("table.weight") && model.is_frozen("head.weight"));
    let before = values(&model);
    step(&mut model, &mut Sgd::new(0.5));
    let after = values(&model);
    let moved = before.iter().zip(&after).filter(|(a, b)| a != b).map(|(a, _)| a.0.as_str());
    assert_eq!(moved.collect::<Vec<_>>(), ["layers.0.weight", "layers.2.weight"]);
    model.unfreeze("*");
    assert!(!model.is_frozen("mix") && !model.is_frozen("table"));
    check_raises(|| model.freeze("layer"), &["freeze", "`layer`", "`layers`"]);
    check_raises(|| model.unfreeze("mean"), &["unfreeze", "`mean`", "the closest are"]);
    check_raises(|| model.is_frozen(""), &["is_frozen", "``"]);
    let mut tanh = Tanh::init(&mut Rng::seed(0), &device());
    check_raises(|| tanh.freeze("*"), &["`*`", "the model has none"]);
}

/// Whether the two names hold equal values, and hold one parameter for an optimiser.
fn is_tied(model: &Net) -> bool {
    model.head.weight.to_vec() == model.table.weight.to_vec() && model.parameters() == 43
}

#[test]
fn ties_hold_through_training_clones_and_moves() {
    let (mut model, mut opt) = (net(), Sgd::new(0.5).momentum(0.9));
    assert!(is_tied(&model));
    let first = model.table.weight.to_vec();
    step(&mut model, &mut opt);
    assert!(is_tied(&model) && model.table.weight.to_vec() != first);
    let mut moved = model.clone().to_device(&device()).to(DType::F32);
    assert!(is_tied(&moved));
    let kept = values(&model);
    step(&mut moved, &mut opt);
    assert!(is_tied(&moved) && is_tied(&model));
    assert_eq!(values(&model), kept);
    // A value that was set under one name: the target's counts for both after a move.
    model.table.weight.set(Tensor::ones([5, 2], &device()));
    let moved = model.to_device(&device());
    assert!(is_tied(&moved) && moved.head.weight.to_vec() == [1.0; 10]);
    check_raises(|| moved.to(DType::I64), &["`i64`"]);
}

#[test]
fn clones_are_independent() {
    let mut model = net();
    let copy = model.clone();
    let before = values(&copy);
    assert_eq!(values(&model), before);
    step(&mut model, &mut Sgd::new(0.5));
    model.mean.set(Tensor::ones([3], &device()));
    model.freeze("layers");
    model.unfreeze("mix");
    assert_eq!(values(&copy), before);
    assert!(copy.is_frozen("mix") && !copy.is_frozen("layers"));
    let changed = values(&model);
    let same = before.iter().zip(&changed).filter(|(a, b)| a == b).map(|(a, _)| a.0.as_str());
    assert_eq!(same.collect::<Vec<_>>(), ["mix.weight", "mix.bias"]);
    let set = |layer: &mut Linear, n: usize| layer.weight.set(Tensor::zeros([n], &device()));
    check_raises(|| set(&mut model.mix, 3), &["[2, 2]", "[3]"]);
    check_raises(|| model.mean.set(Tensor::zeros([1], &device())), &["[3]", "[1]"]);
}

/// A layer of these tests alone.
#[model(dims(C))]
struct Scale {
    #[init(constant(3.0))]
    by: Param![C],
}

#[model]
impl Scale {
    fn forward(&self, x: Tensor![R.., C]) -> Tensor![R.., C] {
        x * self.by
    }
}

fn scale(c: usize) -> Scale {
    Scale::init(ScaleConfig::new(c), &mut Rng::seed(0), &device())
}

#[test]
fn layers_as_objects() {
    let layer: Box<dyn Layer> = Box::new(scale(2));
    let config = layer.config();
    assert_eq!((config.name.as_str(), &config.config), ("Scale", &json!({ "C": 2 })));
    assert_eq!(values(&layer), [("by".to_owned(), vec![3.0; 2])]);
    let x = Tensor::ones([1, 2], &device());
    assert_eq!(layer.forward(x, &mut Cx::eval()).to_vec(), [3.0; 2]);
    let mut copy = layer.clone();
    copy.visit_mut(&Path::ROOT, &mut |_, leaf| {
        if let LeafMut::Param(param) = leaf {
            param.set(Tensor::zeros([2], &device()));
        }
    });
    assert_eq!((values(&layer)[0].1[0], values(&copy)[0].1[0]), (3.0, 0.0));
    register::<Scale>();
    let built: Box<dyn Layer> = cotangent::model::init(&config, &mut Rng::seed(1), &device());
    assert_eq!(values(&built), values(&layer));
}

#[test]
fn objects_of_unknown_layers_are_refused() {
    let build = |name: &str, config| {
        let config = LayerConfig { name: name.into(), config };
        attempt(|| cotangent::model::init::<Box<dyn Layer>>(&config, &mut Rng::seed(0), &device()))
    };
    register::<Scale>();
    let refused = |name: &str, config, parts: &[&str]| {
        check_raises(|| build(name, config).map(drop).unwrap_or_else(|e| cotangent::raise(e)), parts);
    };
    refused("Nothing", json!(null), &["`Nothing`", "register::<Nothing>()", "`Scale`"]);
    refused("Scale", json!({ "C": "two" }), &["`Scale`", "cannot be read"]);
    refused("Scale", json!({ "D": 2 }), &["`Scale`", "`C` is missing"]);

    mod other {
        use cotangent::prelude::*;

        #[model]
        pub(super) struct Twice {}
        #[model]
        impl Twice {
            pub(super) fn forward(&self, x: Tensor![R..]) -> Tensor![R..] {
                x * 2.0
            }
        }
    }
    #[model]
    struct Twice {}
    #[model]
    impl Twice {
        fn forward(&self, x: Tensor![R..]) -> Tensor![R..] {
            x + x
        }
    }
    register::<Twice>();
    register::<other::Twice>();
    refused("Twice", json!(null), &["several layers are named `Twice`"]);
}

#[test]
fn gradients_of_objects() {
    let layer: Box<dyn Layer> = Box::new(scale(2));
    let x = Tensor::from_slice(&[1.0, 2.0], [1, 2], &device());
    let pull = |grads: &mut cotangent::model::DynGrads| {
        let (_, back) = layer.forward__vjp(x.clone(), &mut Cx::eval(), cotangent::diff::Want::ALL);
        let ct = Some(Tensor::ones([1, 2], &device()));
        cotangent::diff::Pullback::pull(back, ct, grads).0
    };
    let mut grads = cotangent::model::DynGrads::default();
    assert_eq!(pull(&mut grads).map(|ct| ct.to_vec()), Some(vec![3.0; 2]));
    pull(&mut grads);
    let own = grads.downcast_mut::<ScaleGrads>().expect("gradients of `Scale`");
    assert_eq!(own.by.as_ref().map(Tensor::to_vec), Some(vec![2.0, 4.0]), "two calls add up");
    assert!(grads.downcast_mut::<LinearGrads>().is_none());
    let linear: Box<dyn Layer> = Box::new(Linear::init(LinearConfig::new(2, 2), &mut Rng::seed(0), &device()));
    let (_, back) = linear.forward__vjp(x.clone(), &mut Cx::eval(), cotangent::diff::Want::ALL);
    let ct = Some(Tensor::ones([1, 2], &device()));
    check_raises(|| cotangent::diff::Pullback::pull(back, ct, &mut grads).0, &["another type"]);
}

fn stage(config: StageConfig) -> Stage {
    cotangent::model::init(&config, &mut Rng::seed(0), &device())
}

#[test]
fn variants() {
    let wide = stage(StageConfig::Wide(LinearConfig::new(2, 2)));
    assert!(matches!(wide, Stage::Wide(_)) && matches!(stage(StageConfig::Skip), Stage::Skip));
    assert_eq!(values(&wide).iter().map(|(path, _)| path.as_str()).collect::<Vec<_>>(), ["Wide.weight", "Wide.bias"]);
    let text = serde_json::to_value(wide.config()).expect("JSON");
    assert_eq!(text, json!({ "Wide": { "I": 2, "O": 2, "bias": true } }));
    let refused = serde_json::from_value::<StageConfig>(json!({ "Narrow": null })).expect_err("no such variant");
    assert!(refused.to_string().contains("no variant `Narrow`; there are Wide, Norm, Skip"), "{refused}");
    for odd in [json!({}), json!({ "Wide": {}, "Skip": null }), json!([]), json!("Skip"), json!({ "Wide": { "I": 2 } })]
    {
        assert!(serde_json::from_value::<StageConfig>(odd.clone()).is_err(), "{odd}");
    }
}

#[test]
fn a_wrong_variant_in_a_record_is_refused() {
    let path = std::env::temp_dir().join(format!("cotangent-variant-{}.safetensors", std::process::id()));
    let wide = stage(StageConfig::Wide(LinearConfig::new(2, 2)));
    wide.save(&path).expect("saved");
    let same = Stage::load(&path, &device()).map(|stage| values(&stage));
    let norm = serde_json::from_value(json!({ "Norm": { "C": 2, "eps": 1e-5 } })).expect("a config");
    let other = Stage::load_with(&norm, &path, &device());
    std::fs::remove_file(&path).expect("removed");
    assert_eq!(same.expect("loaded"), values(&wide));
    let text = other.map(drop).expect_err("another variant").to_string();
    for part in ["`Norm.weight` [2]: missing", "`Wide.weight` [2, 2]: in the record, but not in the model"] {
        assert!(text.contains(part), "`{part}` is missing in: {text}");
    }
}
