//! Every form of field, in crates that deny all warnings: the names in records, and configs that come back as written.
#![forbid(unsafe_code)]
#![deny(missing_docs, warnings, clippy::all, unused_qualifications)]
#![allow(dead_code, reason = "the fields are there to be built and visited")]

use cotangent::prelude::*;
use cotangent::{Error, attempt};

/// An affine map.
#[model(dims(I, O))]
pub struct Affine {
    /// The matrix.
    #[init(uniform(1.0 / (I as f32).sqrt()))]
    pub weight: Param![O, I],
    #[init(zeros)]
    #[config(true)]
    bias: Option<Param![O]>,
}

/// Nothing.
#[model]
pub struct Act;

/// A unit.
#[model]
pub struct Drop {
    /// The rate.
    #[config]
    pub p: f32,
}

/// Norm.
#[model(dims(C))]
pub struct Norm {
    #[init(ones)]
    gamma: Param![C],
    #[state(zeros)]
    mean: State![C],
    #[config(1e-5)]
    eps: f32,
    name: String,
}

/// Attend.
#[model(dims(C, H = 4), check(C % H == 0))]
pub struct Attend {
    qkv: Affine![C => 3*C],
    proj: Affine![C => C, bias = false],
    drop: Drop![p = 0.5 * 0.1],
}

/// A block.
#[model(dims(C, H))]
pub struct Block {
    attn: Attend![C, H],
    #[frozen]
    up: Affine![C => 4*C],
    norm: Norm![C, name = "x"],
}

/// GPT.
#[model(dims(V, C, H, L))]
pub struct Gpt {
    wte: Affine![V, C],
    blocks: [Block![C, H]; L],
    more: Vec<Block![C, H]>,
    #[tied(weight = wte.weight)]
    head: Affine![V => C, bias = false],
    #[tied(wte.weight)]
    #[init(zeros)]
    table: Param![C, V],
}

/// Fixed.
#[model]
#[derive(Clone)]
pub struct Fixed {
    fc1: Affine![784 => 256],
    relu: Act,
    drop: Drop![p = 0.1],
    fc2: Affine![256 => 10],
    #[init(Linear![256 => 256], Linear![256 => 256, bias = false])]
    list: Vec<Box<dyn Layer>>,
    #[init(Linear![10 => 10])]
    one: Box<dyn Layer>,
    maybe: Option<Affine![2 => 2]>,
    #[config(false)]
    yes: Option<Affine![2 => 2]>,
    #[config(false)]
    #[init(zeros)]
    scale: Option<Param![3]>,
    #[init(ones)]
    scales: [Param![3]; 2],
    #[cfg(any())]
    extra: NoSuch![3],
    #[init(Stage::Fc![4], Stage::Act, Stage::Wide![4, K = 2])]
    stages: Vec<Stage>,
    #[init(inner = Linear![3 => 3])]
    wrapped: Wrap<Linear>,
}

/// A stage.
#[model(dims(C, K = 3))]
pub enum Stage {
    /// Affine.
    Fc(Affine![C => C]),
    /// Wider.
    Wide(Affine![C => K * C]),
    /// Not.
    Act(Act),
    /// Nothing.
    Skip,
}

/// Wraps.
#[model]
pub struct Wrap<L: Layer> {
    inner: L,
    #[config(1)]
    n: usize,
}

/// A private layer in a public model.
#[model]
struct Private {
    fc: Affine![{ WIDTH } => 2],
}

const WIDTH: usize = 3;

/// Public.
#[model]
pub struct Public {
    p: Private,
    list: [Private; 2],
    again: Vec<Private>,
}


fn names<M: Model>(model: &M) -> Vec<String> {
    let mut names = vec![];
    model.visit(&cotangent::model::Path::ROOT, &mut |path, _| names.push(path.to_string()));
    names
}

fn main() {
    let (mut rng, device) = (Rng::seed(1), Device::cpu());
    let affine = Affine::init(AffineConfig::new(3, 2), &mut rng, &device);
    assert_eq!(names(&affine), ["weight", "bias"]);
    assert_eq!(Affine!(@dims affine), [3, 2]);
    let attend = Attend::init(AttendConfig::new(8), &mut rng, &device);
    assert_eq!(names(&attend), ["qkv.weight", "qkv.bias", "proj.weight"]);
    let mut gpt = Gpt::init(GptConfig::new(5, 8, 2, 2), &mut rng, &device);
    gpt.more.push(Block::init(BlockConfig::new(8, 2), &mut rng, &device));
    assert_eq!(gpt.config().more.map(|blocks| blocks.len()), Some(1));
    assert!(names(&gpt).contains(&"more.0.attn.qkv.weight".to_owned()));
    let fixed = Fixed::init(&mut rng, &device);
    let found = names(&fixed);
    for name in ["fc1.weight", "list.1.weight", "scales.1", "stages.0.Fc.weight", "stages.2.Wide.bias", "wrapped.inner.bias"] {
        assert!(found.iter().any(|n| n == name), "{name} in {found:?}");
    }
    let refused = attempt(|| Attend::init(AttendConfig { C: 8, H: 5 }, &mut Rng::seed(1), &device));
    match refused {
        Err(Error::Argument { message, .. }) => {
            assert_eq!(message, "`check(C % H == 0)` of `Attend` fails with C = 8, H = 5");
        }
        other => panic!("{:?}", other.map(|_| ())),
    }

    /// A model inside of a function.
    #[model(dims(C))]
    struct Local {
        fc: Linear![C => 2],
    }
    let local = Local::init(LocalConfig { C: 3 }, &mut rng, &device);
    assert_eq!(Local!(@dims local), [3]);
}
