//! The model of the random bodies, and those of this part.

use cotangent::Tensor;
use cotangent::prelude::*;

/// What bodies find in `self`.
#[model(dims(C))]
pub(super) struct Net {
    #[init(normal(0.7))]
    w: Param![C],
    #[init(normal(0.7))]
    b: Param![C],
    #[config(true)]
    #[init(normal(0.7))]
    bias: Option<Param![C]>,
    lin: Linear![C => C],
    drop: Dropout![p = 0.25],
    block: Block![C],
    blocks: [Block![C]; 2],
    #[init(Stage::Narrow![C = C], Stage::Norm![C = C])]
    stages: Vec<Stage>,
    #[config(0.6)]
    k: f64,
    #[config(true)]
    deep: bool,
    #[config(0)]
    mode: usize,
    #[config(2)]
    n: usize,
}

#[model]
impl Net {
    fn mixed(&self, a: Tensor, b: Tensor) -> Tensor {
        let both = (a * self.w).tanh() + b.sigmoid();
        if self.deep { self.lin.forward(both) } else { both * self.k }
    }

    fn through(&self, x: Tensor, times: usize, cx: &mut Cx) -> Tensor {
        let mut x = x;
        for i in 0..times {
            x = x + self.blocks[i % 2].forward(x, cx) * 0.5;
        }
        x.tanh() * 2.0
    }

    fn halves(&self, x: Tensor) -> (Tensor, Tensor) {
        let y = self.lin.forward(x);
        (y.sigmoid(), y)
    }
}

/// A layer in layers.
#[model(dims(C))]
pub(super) struct Block {
    up: Linear![C => C],
    drop: Dropout![p = 0.3],
    #[init(normal(0.5))]
    scale: Param![C],
}

#[model]
impl Block {
    fn forward(&self, x: Tensor, cx: &mut Cx) -> Tensor {
        let h = self.up.forward(x).tanh();
        x * self.scale + self.drop.forward(h, cx)
    }
}

/// Layers of several kinds.
#[model(dims(C))]
pub(super) enum Stage {
    /// A layer in a layer.
    Narrow(Block![C]),
    /// Rows, normalised.
    Norm(LayerNorm![C]),
}

#[model]
impl Stage {
    fn forward(&self, x: Tensor, cx: &mut Cx) -> Tensor {
        match self {
            Self::Narrow(block) => block.forward(x, cx),
            Self::Norm(norm) => norm.forward(x).sin(),
        }
    }
}

/// A mixture of two tensors.
#[model]
pub(super) fn blend(a: Tensor, b: Tensor, by: f64) -> Tensor {
    let c = a * by;
    if by > 0.5 { (c + b) * 0.5 } else { b - c.sin() }
}

/// Two functions of one tensor.
#[model]
pub(super) fn waves(x: Tensor) -> (Tensor, Tensor) {
    (x.sin(), x.cos() * x.tanh())
}

/// The loss of a body.
pub(super) type Value = fn(&Net, Tensor, Tensor, &mut Cx) -> Tensor;
/// The loss, with the cotangents of the parameters and those of `x` and `y`.
pub(super) type Gradients = fn(&Net, Tensor, Tensor, &mut Cx) -> (Tensor, NetGrads, (Option<Tensor>, Option<Tensor>));

/// A body as it is compiled.
pub(super) struct Form {
    /// The method.
    pub(super) value: Value,
    /// Its gradient.
    pub(super) gradients: Gradients,
}

/// A body with fusion and without.
pub(super) struct Body {
    /// What it was made from.
    pub(super) seed: u64,
    /// Its statements.
    pub(super) text: &'static str,
    /// Whether its operations have slopes everywhere.
    pub(super) smooth: bool,
    /// With fusion.
    pub(super) fused: Form,
    /// Without fusion.
    pub(super) plain: Form,
}

include!(concat!(env!("OUT_DIR"), "/", env!("CARGO_CRATE_NAME"), ".rs"));
