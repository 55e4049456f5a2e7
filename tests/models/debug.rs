//! Values by path, and the first NaN.

use crate::support::device;
use cotangent::prelude::*;
use cotangent::{Error, attempt, debug, raise};

#[model(dims(C))]
struct Inner {
    fc: Linear![C => C],
}

#[model]
impl Inner {
    fn forward(&self, x: Tensor![B, C]) -> Tensor![B, C] {
        self.fc.forward(x).tanh()
    }

    fn both(&self, x: Tensor![B, C]) -> (Tensor![B, C], Tensor![B, C]) {
        (x.sqrt(), self.forward(x))
    }
}

#[model(dims(C))]
struct Outer {
    blocks: [Inner![C]; 3],
    #[init(Linear![3 => 3], Tanh)]
    layers: Vec<Box<dyn Layer>>,
    head: Inner![C],
}

#[model]
impl Outer {
    fn loss(&self, x: Tensor![B, C], cx: &mut Cx) -> Tensor![] {
        let mut x = x;
        for block in self.blocks.iter().rev() {
            x = block.forward(x);
        }
        for layer in &self.layers {
            x = layer.forward(x, cx);
        }
        let (a, b) = self.head.both(x.square());
        (self.blocks[0].fc.forward(a) + b).square().mean(..)
    }
}

fn outer() -> (Outer, Tensor) {
    let (device, mut rng) = (device(), Rng::seed(1));
    (Outer::init(OuterConfig::new(3), &mut rng, &device), Tensor::randn([2, 3], &mut rng, &device))
}

#[test]
fn outputs_by_path() {
    let (model, x) = outer();
    let wished = ["blocks.*", "layers.1", "head", "nothing"];
    let (loss, plain) = debug::capture(&wished, || model.loss(x.clone(), &mut Cx::eval()));
    let ((with_grads, _), companion) = debug::capture(&wished, || model.loss_grad(x.clone(), &mut Cx::eval()));
    assert_eq!(loss.item(), with_grads.item());
    let paths: Vec<&str> = plain.keys().map(String::as_str).collect();
    let blocks = ["blocks.0", "blocks.0.fc", "blocks.1", "blocks.1.fc", "blocks.2", "blocks.2.fc"];
    assert_eq!(paths, [&blocks[..], &["head", "layers.1"]].concat());
    for (path, tensors) in &plain {
        let values = |list: &[Tensor]| list.iter().map(Tensor::to_vec).collect::<Vec<_>>();
        assert_eq!(values(tensors), values(&companion[path]), "{path}");
    }
    // The blocks run from the last one on; the first one's `fc` runs once more; `head` gives two tensors.
    let last = model.blocks[2].forward(x.clone());
    assert_eq!(plain["blocks.2"][0].to_vec(), last.to_vec());
    assert_eq!((plain["blocks.0"].len(), plain["blocks.0.fc"].len(), plain["head"].len()), (1, 2, 2));
    let (_, nothing) = debug::capture(&[], || model.loss(x, &mut Cx::eval()));
    assert!(nothing.is_empty());
}

#[test]
fn an_error_closes_the_calls_that_it_leaves() {
    let (model, x) = outer();
    let (_, outputs) = debug::capture(&["*"], || {
        let failed = attempt(|| model.blocks[0].forward(Tensor::ones([1, 4], &device())));
        assert!(matches!(failed, Err(Error::Shape { .. })));
        model.head.forward(x.clone())
    });
    assert_eq!(outputs.keys().collect::<Vec<_>>(), ["fc"]);
    let raised =
        attempt(|| debug::capture(&["*"], || raise(Error::Argument { op: "test".into(), message: "no".into() })));
    assert!(raised.is_err());
    let (_, outputs) = debug::capture(&["*"], || model.head.forward(x));
    assert_eq!(outputs.len(), 1);
}

/// Its forward pass is finite at 1, its slope is not: infinities of both signs meet.
#[model(dims(C))]
struct Rooted {
    fc: Linear![C => C, bias = false],
}

#[model]
impl Rooted {
    fn forward(&self, x: Tensor![B, C]) -> Tensor![B, C] {
        self.fc.forward(x - 1.0).sqrt()
    }
}

#[model(dims(C))]
struct Wrong {
    first: Inner![C],
    roots: [Rooted![C]; 2],
}

#[model]
impl Wrong {
    fn backward(&self, x: Tensor![B, C]) -> Tensor![] {
        self.roots[1].forward(x).mean(..)
    }

    fn forward(&self, x: Tensor![B, C]) -> Tensor![] {
        let h = self.first.forward(x);
        (h - 2.0).log().mean(..)
    }
}

#[test]
fn the_first_nan() {
    let model = Wrong::init(WrongConfig::new(3), &mut Rng::seed(2), &device());
    let x = || Tensor::ones([2, 3], &device());
    let line = |text: &str| 1 + include_str!("debug.rs").lines().position(|l| l.contains(text)).expect("above") as u32;
    let (loss, nan) = debug::find_nan(|| model.forward(x()));
    let nan = nan.expect("a NaN");
    assert!(loss.item().is_nan() && nan.operation.ends_with("log"), "{nan}");
    assert_eq!((nan.path.as_str(), nan.backward, nan.elements, nan.given), ("", false, (6, 6), false));
    assert_eq!(nan.at.line(), line("(h - 2.0).log()"), "{nan}");
    assert!(nan.to_string().contains("models/debug.rs:") && nan.to_string().contains("6 of 6 elements"), "{nan}");
    let (_, nan) = debug::find_nan(|| model.backward_grad_inputs(x()));
    let nan = nan.expect("a NaN");
    let place = (nan.path.as_str(), nan.backward, nan.at.line());
    assert_eq!(place, ("roots.1.fc", true, line("self.fc.forward(x - 1.0)")), "{nan}");
    let (_, nan) = debug::find_nan(|| model.first.forward(Tensor::full([1, 3], f32::NAN, &device())));
    assert!(nan.expect("a NaN").operation.contains("fill"));
    let made = Tensor::full([1, 3], f32::NAN, &device());
    let (_, nan) = debug::find_nan(|| model.first.forward(made));
    let nan = nan.expect("a NaN");
    assert!(nan.given && nan.path == "fc" && nan.to_string().contains("had NaN before"), "{nan}");
    assert_eq!(debug::find_nan(|| model.first.forward(x())).1, None);
}

#[test]
fn reports_name_kernels_and_the_peak() {
    let (model, x) = outer();
    let (_, report) = cotangent::report::of(|| model.loss_grad(x, &mut Cx::eval()));
    let linear = report.methods.iter().find(|m| m.name == "Linear::forward").expect("called");
    assert_eq!(linear.kernels.get("matmul"), Some(&linear.calls), "{report}");
    assert_eq!(linear.kernels.values().sum::<usize>(), linear.launches);
    let outer = &report.methods[0];
    assert!(outer.peak >= linear.peak && linear.peak >= 2 * 3 * 4, "{report}");
    assert!(report.to_string().contains("at its peak\n  launched: "), "{report}");
}
