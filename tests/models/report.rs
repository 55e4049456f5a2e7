//! What a report says of a model.

use crate::support::device;
use cotangent::prelude::*;
use cotangent::report;

#[model]
struct Inner {
    #[init(normal(1.0))]
    w: Param![4],
}

#[model]
impl Inner {
    fn forward(&self, x: Tensor![B, 4]) -> Tensor![B, 4] {
        (x * self.w).tanh()
    }
}

#[model]
struct Outer {
    a: Inner,
    b: Linear![4 => 4],
}

#[model]
impl Outer {
    fn loss(&self, x: Tensor![B, 4]) -> Tensor![] {
        let h = self.b.forward(self.a.forward(x));
        (h * 0.5 + 1.0).square().mean(..)
    }
}

#[test]
fn methods_groups_and_what_is_kept() {
    let model = Outer::init(&mut Rng::seed(0), &device());
    let x = Tensor::ones([8, 4], &device());
    let ((loss, _), report) = report::of(|| model.loss_grad(x.clone()));
    let names: Vec<&str> = report.methods.iter().map(|m| m.name.as_str()).collect();
    assert_eq!(names, ["Outer::loss", "Inner::forward", "Linear::forward"]);
    let [outer, inner, linear] = &report.methods[..] else { panic!("{report}") };
    assert_eq!((outer.calls, inner.calls), (1, 1));
    // The group of the loss, then its mean; backward launches are those of no call.
    assert_eq!((outer.launches, inner.launches), (2, 1), "{report}");
    let line = |text: &str| 1 + include_str!("report.rs").lines().position(|l| l.contains(text)).expect("above") as u32;
    let at = |m: &report::Method| m.groups.iter().map(|g| (g.at.line(), g.operations, g.launches)).collect::<Vec<_>>();
    assert!(outer.groups[0].at.file().ends_with("report.rs"));
    assert_eq!(at(outer), [(line("h * 0.5 + 1.0"), "mul_add_square", (1, 1))]);
    assert_eq!(at(inner), [(line("x * self.w"), "mul_tanh", (1, 1))]);
    assert!(linear.groups.is_empty());
    let bytes = |m: &report::Method, field: &str| m.kept.iter().find(|(f, _)| *f == field).map(|(_, n)| *n);
    let of = |elements: usize| elements * 4;
    // The result of `tanh` is all that its slope needs, beside the operands of the product.
    assert!(bytes(outer, "a") >= Some(of(8 * 4)), "{report}");
    assert_eq!(bytes(outer, "a"), bytes(inner, ""), "{report}");
    assert!(bytes(outer, "b") >= Some(of(4 * 4)) && bytes(outer, "") >= Some(of(8 * 4)), "{report}");
    // Nothing is recorded outside, and the values are the same.
    assert_eq!(loss.item(), model.loss(x).item());
    let (_, report) = report::of(|| ());
    assert!(report.methods.is_empty());
}

#[test]
fn frozen_models_keep_nothing() {
    let mut model = Outer::init(&mut Rng::seed(0), &device());
    model.freeze("*");
    let (_, report) = report::of(|| model.loss_grad(Tensor::ones([8, 4], &device())));
    let kept: usize = report.methods.iter().flat_map(|m| &m.kept).map(|(_, bytes)| bytes).sum();
    assert_eq!(kept, 0, "{report}");
}

#[test]
fn fusion_saves_launches() {
    #[model]
    fn fused(x: Tensor, y: Tensor) -> Tensor {
        let h = x * 2.0 + y;
        h.tanh() * h.sigmoid()
    }

    #[model]
    #[no_fuse]
    fn plain(x: Tensor, y: Tensor) -> Tensor {
        let h = x * 2.0 + y;
        h.tanh() * h.sigmoid()
    }

    use cotangent::diff::Want;
    let x = || Tensor::ones([3], &device());
    let (_, with) = report::of(|| fused::vjp(x(), x(), Want::ALL).0);
    let (_, without) = report::of(|| plain::vjp(x(), x(), Want::ALL).0);
    assert_eq!((with.methods[0].launches, without.methods[0].launches), (1, 5), "{with}{without}");
}

#[model]
struct Ends {
    #[init(normal(1.0))]
    w: Param![4, 4],
    #[init(normal(1.0))]
    b: Param![4],
    #[init(normal(1.0))]
    filters: Param![2, 1, 3, 3],
}

#[model]
impl Ends {
    fn to_relu(&self, x: Tensor![B, 4]) -> Tensor![B, 4] {
        x.linear(self.w, self.b).relu()
    }

    fn to_gelu(&self, x: Tensor![B, 4]) -> Tensor![B, 4] {
        let h = x.matmul(self.w.t());
        h.gelu()
    }

    fn to_silu(&self, x: Tensor![B, 1, H, W]) -> Tensor {
        x.conv2d(self.filters, None, 1, 1, 1, 1).silu()
    }

    /// A variable that is given another value is still there.
    fn twice(&self, x: Tensor![B, 4]) -> Tensor![B, 4] {
        let mut h = x.linear(self.w, self.b);
        let y = h.relu();
        h = y.matmul(self.w);
        h.relu()
    }

    /// What else reads the product keeps it.
    fn both(&self, x: Tensor![B, 4]) -> Tensor![B, 4] {
        let h = x.linear(self.w, self.b);
        let y = h.relu();
        y.matmul(h.t()).matmul(h)
    }

    #[no_fuse]
    fn in_steps(&self, x: Tensor![B, 4]) -> Tensor![B, 4] {
        x.linear(self.w, self.b).relu()
    }
}

#[test]
fn products_end_in_functions() {
    use cotangent::diff::{Pullback, Want};
    let model = Ends::init(&mut Rng::seed(0), &device());
    let (x, images) = (Tensor::ones([3, 4], &device()), Tensor::ones([2, 1, 5, 5], &device()));
    let count = |report: report::Report| report.launches.iter().map(|l| l.count).sum::<usize>();
    let launches = |f: &dyn Fn() -> Tensor| count(report::of(f).1);
    // Without a derivative, whatever the function.
    assert_eq!(launches(&|| model.in_steps(x.clone())), 2);
    assert_eq!(launches(&|| model.to_relu(x.clone())), 1);
    assert_eq!(launches(&|| model.to_gelu(x.clone())), 1);
    assert_eq!(launches(&|| model.to_silu(images.clone())), 1);
    assert_eq!(launches(&|| model.twice(x.clone())), 4);
    assert_eq!(launches(&|| model.both(x.clone())), 4);
    // The slope of `relu` is read from its result, that of the others from what is not there.
    assert_eq!(launches(&|| model.in_steps__vjp(x.clone(), Want::ALL).0), 2);
    assert_eq!(launches(&|| model.to_relu__vjp(x.clone(), Want::ALL).0), 1);
    assert_eq!(launches(&|| model.to_gelu__vjp(x.clone(), Want::ALL).0), 2);
    assert_eq!(launches(&|| model.to_silu__vjp(images.clone(), Want::NONE).0), 1);
    // The values are the same.
    let bits = |y: Tensor| y.to_vec();
    assert_eq!(bits(model.to_relu(x.clone())), bits(model.in_steps(x.clone())));
    let (y, pullback) = model.to_relu__vjp(x.clone(), Want::ALL);
    let (steps, pullback_of_steps) = model.in_steps__vjp(x, Want::ALL);
    assert_eq!(bits(y.clone()), bits(steps));
    let (mut grads, mut grads_of_steps) = (EndsGrads::default(), EndsGrads::default());
    let (dx,) = pullback.pull(Some(y.clone()), &mut grads);
    let (dx_of_steps,) = pullback_of_steps.pull(Some(y), &mut grads_of_steps);
    assert_eq!(dx.map(bits), dx_of_steps.map(bits));
    assert_eq!(grads.w.map(bits), grads_of_steps.w.map(bits));
    assert_eq!(grads.b.map(bits), grads_of_steps.b.map(bits));
}
