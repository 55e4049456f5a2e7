//! A request that no memory holds is an error with its sizes, and the device stays usable.
#![allow(clippy::allow_attributes_without_reason, reason = "the expansion of a model has attributes without reasons")]

use cotangent::prelude::*;
use cotangent::{Error, Tensor, attempt};

/// More elements than any address space has bytes; their bytes are still a `usize`.
const MANY: usize = 1 << 58;

#[model(dims(C))]
struct Net {
    fc: Linear![C => C],
}

#[model]
impl Net {
    fn forward(&self, x: Tensor![B, C]) -> Tensor![B, C] {
        (self.fc.forward(x) * 2.0).tanh()
    }

    fn loss(&self, x: Tensor![B, C]) -> Tensor![] {
        self.forward(x).mean(..)
    }
}

#[kernel]
fn outer(x: Tensor![N], y: Tensor![M]) -> Tensor![N, M] {
    |i, j| x[i] * y[j]
}

#[kernel]
fn swish(x: f32) -> f32 {
    x / (1.0 + exp(-x))
}

fn refused<T>(what: &str, f: impl FnOnce() -> T) {
    match attempt(f) {
        Err(Error::Memory { asked, .. }) => assert!(asked >= 1 << 40, "{what}: {asked} bytes were asked for"),
        Err(other) => panic!("{what}: {other}"),
        Ok(_) => panic!("{what}: there was memory"),
    }
}

#[test]
fn tensors_larger_than_the_address_space() {
    let device = Device::cpu();
    let row = || Tensor::ones([1], &device).expand([MANY]);
    let long = || Tensor::ones([1, 1], &device).expand([1 << 29, 1]);
    let wide = || Tensor::ones([1, 1], &device).expand([1, 1 << 29]);
    let mut rng = Rng::seed(0);
    for n in [MANY, usize::MAX] {
        refused("zeros", || Tensor::zeros([n], &device));
        refused("ones of a matrix", || Tensor::ones([n, n], &device));
        refused("full of integers", || Tensor::full([n, 8], 3, &device));
        refused("eye", || Tensor::eye(n, &device));
        refused("randn", || Tensor::randn([n, 2], &mut rng, &device));
        refused("uniform", || Tensor::rand([n, 2], &mut rng, &device));
        refused("arange", || Tensor::arange(n, &device));
        refused("linspace", || Tensor::linspace(0.0, 1.0, n, &device));
        refused("causal_mask", || Tensor::causal_mask(n, &device));
        refused("tril_mask", || Tensor::tril_mask(n, 2, 0, &device));
    }
    refused("arange_step", || Tensor::arange_step(0, i64::MAX, 1, &device));
    refused("contiguous", || row().contiguous());
    refused("to_vec", || row().to_vec());
    refused("a function", || row().exp());
    refused("a sum of two", || row() + row());
    refused("a number", || row() * 2.0);
    refused("a comparison", || row().gt(0.0));
    refused("another dtype", || row().double());
    refused("a matrix product", || long().matmul(wide()));
    refused("an outer product", || einsum("i,j->ij", [row().narrow(0, 0, 1 << 29), row().narrow(0, 0, 1 << 29)]));
    refused("cat", || cat([row(), row()], 0));
    refused("stack", || stack([row(), row()], 0));
    refused("broadcasting", || long() + wide());
    refused("select", || select(row().gt(0.0), row(), row()));
    refused("a kernel", || outer(row().narrow(0, 0, 1 << 29), row().narrow(0, 0, 1 << 29)));
    refused("a pointwise kernel", || row().map(swish));
    refused("softmax", || row().softmax(-1));
    refused("cumsum", || row().cumsum(0));
    refused("sort", || row().sort(0, false));
    refused("one_hot", || Tensor::arange(1 << 20, &device).one_hot(1 << 40));
    refused("gather", || wide().expand([1 << 20, 1 << 29]).index_select(0, Tensor::full([1 << 20], 0, &device)));
    assert_eq!((Tensor::ones([4], &device) + 1.0).to_vec(), [2.0; 4], "the device is usable");
}

#[test]
fn a_device_with_a_limit() {
    let device = Device::cpu_with_limit(1 << 20);
    let mut rng = Rng::seed(1);
    let model = Net::init(NetConfig { C: 64 }, &mut rng, &device);
    let x = Tensor::randn([4096, 1], &mut rng, &device).expand([4096, 64]);
    match model.try_forward(x.clone()) {
        Err(Error::Memory { device, asked, held }) => {
            assert_eq!((device.as_str(), asked), ("cpu", 4096 * 64 * 4));
            assert!((64 * 65 * 4..=1 << 20).contains(&held), "{held} bytes held");
        }
        other => panic!("{:?}", other.map(|y| y.shape().to_vec())),
    }
    assert!(matches!(attempt(|| model.loss_grad(x)), Err(Error::Memory { .. })));
    for rows in [1, 100, 500, 100, 500] {
        let x = Tensor::randn([rows, 64], &mut rng, &device);
        let (loss, grads) = attempt(|| model.loss_grad(x)).expect("room for a small batch");
        assert!(loss.item().is_finite() && grads.fc.weight.is_some());
    }
}
