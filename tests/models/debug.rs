//! Values captured by path, and the first NaN.

use crate::support::device;
use cotangent::diff::Want;
use cotangent::prelude::*;
use cotangent::{attempt, debug};
use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe, Location};

#[model]
struct Inner {
    fc: Linear![3 => 3],
}

#[model]
impl Inner {
    fn forward(&self, x: Tensor![B, 3]) -> Tensor![B, 3] {
        self.fc.forward(x).tanh()
    }

    /// Two results.
    fn halves(&self, x: Tensor![B, 3]) -> (Tensor![B, 3], Tensor![B, 3]) {
        let y = self.fc.forward(x);
        (y.clone() * 0.5, y * 2.0)
    }
}

#[model(dims(L))]
struct Outer {
    blocks: [Inner; L],
    head: Option<Inner>,
}

#[model]
impl Outer {
    fn forward(&self, x: Tensor![B, 3]) -> Tensor![B, 3] {
        let mut x = x;
        for block in &self.blocks {
            x = block.forward(x);
        }
        let (a, b) = self.blocks[0].halves(x);
        if let Some(head) = &self.head { head.forward(a + b) } else { a + b }
    }

    fn loss(&self, x: Tensor![B, 3]) -> Tensor![] {
        self.forward(x).sum(..)
    }
}

fn outer() -> Outer {
    let mut model = Outer::init(OuterConfig::new(3), &mut Rng::seed(1), &device());
    model.head = Some(Inner::init(&mut Rng::seed(2), &device()));
    model
}

#[test]
fn results_are_captured_by_path() {
    let (model, x) = (outer(), Tensor::ones([2, 3], &device()));
    let (y, all) = debug::capture(&["*"], || model.forward(x.clone()));
    let paths: Vec<&str> = all.keys().map(String::as_str).collect();
    assert_eq!(
        paths,
        ["blocks.0", "blocks.0.fc", "blocks.1", "blocks.1.fc", "blocks.2", "blocks.2.fc", "head", "head.fc"]
    );
    // The second call of block 0 has two results.
    assert_eq!((all["blocks.0"].len(), all["blocks.0.fc"].len(), all["blocks.1"].len()), (3, 2, 1));
    assert_eq!(all["head"][0].to_vec(), y.to_vec());
    let by_hand = model.blocks[1].fc.forward(model.blocks[0].forward(x.clone()));
    assert_eq!(all["blocks.1.fc"][0].to_vec(), by_hand.to_vec());

    let (_, some) = debug::capture(&["blocks.2", "head.fc"], || model.loss_grad(x.clone()));
    assert_eq!(some.keys().collect::<Vec<_>>(), ["blocks.2", "head.fc"]);
    assert_eq!(some["blocks.2"][0].to_vec(), all["blocks.2"][0].to_vec());
    let (_, none) = debug::capture(&["nothing"], || model.forward(x));
    assert!(none.is_empty());
}

#[test]
fn captures_nest_and_end() {
    let (model, x) = (outer(), Tensor::ones([2, 3], &device()));
    let ((_, inner), outside) =
        debug::capture(&["blocks.1"], || debug::capture(&["blocks.0"], || model.forward(x.clone())));
    assert!(outside.is_empty() && inner.contains_key("blocks.0"));
    let ((), after) = debug::capture(&["*"], || ());
    model.forward(x);
    assert!(after.is_empty());
}

#[model]
struct Roots {
    a: Inner,
    #[init(ones)]
    w: Param![3],
}

#[model]
impl Roots {
    fn middle(&self, x: Tensor![B, 3]) -> Tensor![B, 3] {
        self.a.forward(x).abs() * self.w
    }

    fn loss(&self, x: Tensor![B, 3]) -> Tensor![] {
        self.middle(x).sqrt().sum(..)
    }
}

#[model]
struct Whole {
    roots: [Roots; 2],
}

#[model]
impl Whole {
    fn loss(&self, x: Tensor![B, 3]) -> Tensor![] {
        self.roots[0].loss(x.clone()) + self.roots[1].loss(x)
    }
}

#[test]
fn the_first_nan_has_layer_operation_and_line() {
    let mut model = Whole::init(&mut Rng::seed(1), &device());
    let x = || Tensor::ones([2, 3], &device());
    let (_, nan) = debug::find_nan(|| model.loss_grad(x()));
    assert_eq!(nan, None);

    model.roots[1].w.set(Tensor::full([3], -1.0, &device()));
    let (_, nan) = debug::find_nan(|| model.loss(x()));
    let nan = nan.expect("the root of a negative number");
    assert_eq!((nan.layer.as_str(), nan.operation, nan.given, nan.backward), ("roots.1", "sqrt", None, false));
    let line = 1 + include_str!("debug.rs").lines().position(|l| l.contains(".sqrt()")).expect("above") as u32;
    assert!(nan.at.file().ends_with("debug.rs") && nan.at.line() == line, "{nan}");
    assert!(nan.to_string().starts_with("`sqrt` makes the first NaN in layer `roots.1` at "), "{nan}");

    model.roots[1].w.set(Tensor::full([3], f32::NAN, &device()));
    let (_, nan) = debug::find_nan(|| model.loss(x()));
    let nan = nan.expect("a parameter");
    assert!(nan.given.is_some() && nan.layer == "roots.1" && nan.to_string().contains("is given a NaN in its operand"));
}

#[test]
fn a_nan_of_the_backward_pass_has_its_layer() {
    let mut model = Whole::init(&mut Rng::seed(1), &device());
    model.roots[1].w.set(Tensor::zeros([3], &device()));
    // The root of 0 is 0, its slope is infinite, and infinity times 0 is no number.
    let (_, nan) = debug::find_nan(|| model.loss_grad(Tensor::ones([2, 3], &device())));
    let nan = nan.expect("0 times infinity");
    assert_eq!((nan.layer.as_str(), nan.backward), ("roots.1", true), "{nan}");
    assert!(nan.to_string().ends_with("in layer `roots.1` in the backward pass"), "{nan}");
}

/// `x` without its rows, and `y` added to it.
#[model]
#[no_fuse]
fn added(x: Tensor, y: Tensor) -> Tensor {
    let mean = x.mean_keepdim(0);
    mean.clone() * 2.0 + y + mean
}

#[test]
fn errors_in_a_body_name_the_users_line() {
    let (x, y) = (Tensor::ones([2, 3], &device()), Tensor::full([2, 3], f32::NAN, &device()));
    let (_, nan) = debug::find_nan(|| added(x, y));
    let nan = nan.expect("an operand");
    let line =
        1 + include_str!("debug.rs").lines().position(|l| l.contains("mean.clone() * 2.0")).expect("above") as u32;
    assert_eq!((nan.operation, nan.at.line()), ("add", line), "{nan}");
}

fn sum_of(x: Tensor, _y: Tensor, _ct: Tensor) -> Tensor {
    x.sum(..)
}

/// The cotangent that its derivative gives has another shape, which is an error.
#[kernel(vjp = sum_of)]
fn doubled(x: Tensor![N]) -> Tensor![N] {
    |i| 2.0 * x[i]
}

#[model]
struct Doubles {
    #[init(ones)]
    w: Param![3],
}

#[model]
impl Doubles {
    fn forward(&self, x: Tensor![3]) -> Tensor![3] {
        doubled(x * self.w)
    }
}

#[model]
struct Fails {
    inner: Doubles,
    fc: Linear![3 => 3],
}

#[model]
impl Fails {
    fn loss(&self, x: Tensor![3]) -> Tensor![] {
        self.inner.forward(x).sum(..)
    }

    fn rows(&self, x: Tensor) -> Tensor {
        self.fc.forward(x)
    }
}

#[test]
fn what_an_error_ended_is_over() {
    let model = Fails::init(&mut Rng::seed(0), &device());
    let (failed, all) = debug::capture(&["*"], || {
        let failed = attempt(|| model.rows(Tensor::ones([2, 4], &device()))).is_err();
        model.rows(Tensor::ones([2, 3], &device()));
        failed
    });
    assert!(failed);
    assert_eq!(all.keys().collect::<Vec<_>>(), ["fc"]);

    let ((failed, _), nan) = debug::find_nan(|| {
        let failed = attempt(|| model.loss_grad(Tensor::ones([3], &device()))).is_err();
        (failed, Tensor::full([3], -1.0, &device()).sqrt())
    });
    let nan = nan.expect("the root of a negative number");
    assert!(failed);
    assert_eq!((nan.layer.as_str(), nan.backward), ("", false), "{nan}");
}

/// The line of this file where an operator raised its error.
fn line_of_error(f: impl FnOnce()) -> Option<u32> {
    thread_local!(static LINE: Cell<Option<u32>> = const { Cell::new(None) });
    // The first error sets a hook, which one that is set afterwards stands before.
    assert!(attempt(|| Tensor::zeros([2], &device()).narrow(0, 3, 1)).is_err());
    let previous = panic::take_hook();
    panic::set_hook(Box::new(|info| {
        LINE.set(info.location().filter(|at| at.file().ends_with("models/debug.rs")).map(Location::line));
    }));
    let failed = panic::catch_unwind(AssertUnwindSafe(f));
    panic::set_hook(previous);
    assert!(failed.is_err());
    LINE.take()
}

#[model]
fn gated(x: Tensor, y: Tensor) -> Tensor {
    (x + y).tanh()
}

#[test]
fn operands_that_do_not_broadcast_name_the_users_line() {
    let (x, y) = (Tensor::ones([2, 3], &device()), Tensor::ones([2, 4], &device()));
    let line = 1 + include_str!("debug.rs").lines().position(|l| l.contains("(x + y).tanh()")).expect("above") as u32;
    assert_eq!(line_of_error(|| drop(gated(x.clone(), y.clone()))), Some(line));
    assert_eq!(line_of_error(|| drop(gated::vjp(x.clone(), y.clone(), Want::ALL))), Some(line));
    let here = line!() + 1;
    assert_eq!(line_of_error(|| drop(einsum("ij,jk->ik", [x, y]))), Some(here));
}
