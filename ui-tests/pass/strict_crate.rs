//! A crate with strict lints: expansions add nothing that they refuse.
#![forbid(unsafe_code)]
#![deny(missing_docs, warnings, clippy::all)]

use cotangent::prelude::*;

/// A layer that only this crate knows, in a public model.
#[model(dims(C))]
struct Hidden {
    inner: Linear![C => C],
}

#[model]
impl Hidden {
    fn forward(&self, x: Tensor![B, C]) -> Tensor![B, C] {
        self.inner.forward(x).tanh() * 0.5 + 1.0
    }
}

/// A public model with a private layer.
#[model(dims(C, L = 2))]
#[derive(Clone)]
pub struct Net {
    hidden: [Hidden![C]; L],
    /// A scale.
    #[init(ones)]
    pub scale: Param![C],
    #[config(0.5)]
    rate: f64,
}

#[model]
impl Net {
    /// The layers in turn, scaled.
    pub fn forward(&self, x: Tensor![B, C], cx: &mut Cx) -> Tensor![B, C] {
        let mut h = x;
        #[checkpoint]
        for layer in &self.hidden {
            h = layer.forward(h).dropout(self.rate, cx);
        }
        #[checkpoint]
        let y = h * self.scale;
        y
    }

    /// Two values that take turns.
    pub fn turns(&self, x: Tensor![B, C]) -> Tensor![B, C] {
        let (mut a, mut b) = (x, x);
        for layer in &self.hidden {
            (a, b) = (layer.forward(b), a);
        }
        (a, _) = (a + b, b);
        a
    }

    /// A loss.
    pub fn loss(&self, x: Tensor![B, C], cx: &mut Cx) -> (Tensor![], Tensor![B, C]) {
        let y = self.forward(x, cx);
        (y.square().mean(..), y)
    }

    /// The number of layers.
    pub fn depth(&self) -> usize {
        self.hidden.len()
    }

    /// Without a derivative: any Rust.
    #[no_grad]
    pub fn run(&self, x: Tensor![B, C], cx: &mut Cx) -> Vec<Tensor> {
        let mut all = vec![x];
        while all.len() < L + B.min(1) {
            let next = self.forward(all[all.len() - 1].clone(), cx);
            all.push(next);
        }
        all
    }
}

mod nested {
    use super::Net;
    use cotangent::prelude::*;

    #[model]
    impl Net {
        /// In another module than the struct.
        pub(super) fn twice(&self, x: Tensor![B, C], cx: &mut Cx) -> Tensor![B, C] {
            let once = self.forward(x, cx);
            self.forward(once, cx)
        }
    }
}

#[cfg(test)]
mod tests {
    use cotangent::prelude::*;

    #[model]
    struct InTests {
        fc: Linear![2 => 2],
    }
}

fn main() {
    #[model]
    struct Local {
        fc: Linear![3 => 2],
    }

    #[model]
    impl Local {
        fn forward(&self, x: Tensor![B, 3]) -> Tensor![B, 2] {
            self.fc.forward(x)
        }
    }

    let (device, mut rng) = (Device::cpu(), Rng::seed(0));
    let local = Local::init(&mut rng, &device);
    assert_eq!(local.forward(Tensor::zeros([4, 3], &device)).shape(), [4, 2]);
    assert_eq!(local.parameters(), 8);

    let net = Net::init(NetConfig { C: 3, L: 2, rate: 0.5 }, &mut rng, &device);
    let x = Tensor::randn([4, 3], &mut rng, &device);
    let ((loss, y), grads) = net.loss_grad(x.clone(), &mut Cx::train(1));
    assert_eq!((loss.rank(), y.shape(), net.depth()), (0, &[4, 3][..], 2));
    assert!(grads.scale.is_some() && grads.hidden[1].inner.weight.is_some());
    assert_eq!(net.twice(x.clone(), &mut Cx::eval()).shape(), [4, 3]);
    assert_eq!(net.run(x.clone(), &mut Cx::eval()).len(), 3);
    assert_eq!(net.turns(x.clone()).shape(), x.shape());
    assert!(net.try_forward(x.t(), &mut Cx::eval()).is_err());
    let text = net.summary().to_string();
    assert!(text.contains("hidden.1.inner.weight") && text.contains("27 parameters"), "{text}");
}
