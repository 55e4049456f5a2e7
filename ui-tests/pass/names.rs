//! Models and functions named like what expansions are made of.
#![deny(warnings, clippy::all)]

use cotangent::prelude::*;

macro_rules! layers {
    ($($name:ident)*) => { $(
        #[model(dims(C))]
        struct $name {
            #[init(ones)]
            w: Param![C],
            fc: Linear![C => C],
        }

        #[model]
        impl $name {
            fn forward(&self, x: Tensor![B, C]) -> Tensor![B, C] {
                let y: Tensor![B, C] = self.fc.forward(x * self.w + 1.0);
                self.halve(y)
            }

            fn halve(&self, x: Tensor![B, C]) -> Tensor![B, C] {
                (x * 0.5).tanh()
            }
        }
    )* };
}

layers! { Plain Shape Dim Dims Env Step Bound Scope Opaque Missing Absent Init Sig Signature Message Form Fusion }

/// Half of it.
#[model]
fn call(x: Tensor![B, C]) -> Tensor![B, C] {
    x * 0.5
}

/// The sum of both.
#[model]
fn join(x: Tensor![B, C], y: Tensor![B, C]) -> Tensor![B, C] {
    call(x) + y
}

#[model(dims(C))]
struct Net {
    plain: Plain![C],
    steps: [Step![C]; 2],
    shape: Shape![C],
}

#[model]
impl Net {
    fn loss(&self, x: Tensor![B, C]) -> Tensor![] {
        let mut h = self.plain.forward(x);
        for step in &self.steps {
            h = join(step.forward(h), h);
        }
        self.shape.forward(h).square().mean(..)
    }
}

fn main() {
    let (device, mut rng) = (Device::cpu(), Rng::seed(1));
    let net = Net::init(NetConfig { C: 3 }, &mut rng, &device);
    let (_, grads) = net.loss_grad(Tensor::randn([2, 3], &mut rng, &device));
    assert!(grads.steps[1].w.is_some());
    macro_rules! run {
        ($($name:ident $config:ident)*) => { $(
            let layer = $name::init($config { C: 3 }, &mut rng, &device);
            assert_eq!(layer.forward(Tensor::ones([2, 3], &device)).shape(), [2, 3]);
        )* };
    }
    run! {
        Dim DimConfig Dims DimsConfig Env EnvConfig Bound BoundConfig Scope ScopeConfig Opaque OpaqueConfig
        Missing MissingConfig Absent AbsentConfig Init InitConfig Sig SigConfig Signature SignatureConfig
        Message MessageConfig Form FormConfig Fusion FusionConfig
    }
}
