//! Fused bodies against the same bodies without fusion: values, gradients, and what may not change its meaning.

use crate::support::device;
use cotangent::prelude::*;
use cotangent::testing::assert_close;
use cotangent::{DType, Tensor};

/// Declares two models with the same body, one of them without fusion, and a function that runs both.
macro_rules! pair {
    ($name:ident[$c:ident, $k:ident] { $($field:tt)* } |$self:ident, $x:ident, $y:ident| { $($body:tt)* }) => {
        mod $name {
            use cotangent::prelude::*;
            use cotangent::{DType, Path, Tensor};

            #[model(dims($c))]
            struct Fused { #[config(0.5)] $k: f64, $($field)* }

            #[model]
            impl Fused {
                fn loss(&$self, $x: Tensor, $y: Tensor) -> Tensor![] { $($body)* }
            }

            #[model(dims($c))]
            struct Unfused { #[config(0.5)] $k: f64, $($field)* }

            #[model]
            #[no_fuse]
            impl Unfused {
                fn loss(&$self, $x: Tensor, $y: Tensor) -> Tensor![] { $($body)* }
            }

            /// The loss and every cotangent, with fusion and without.
            pub(super) fn both(x: &Tensor, y: &Tensor, dtype: DType) -> [Vec<Tensor>; 2] {
                let (device, c) = (Device::cpu(), x.size(-1));
                let (x, y) = (x.clone().to(dtype), y.clone().to(dtype));
                let mut lists = [vec![], vec![]];
                let model = Fused::init(FusedConfig { $c: c, $k: 0.5 }, &mut Rng::seed(3), &device).to(dtype);
                let alone = model.loss(x.clone(), y.clone());
                let (loss, mut grads, (dx, dy)) = model.loss_grad_inputs(x.clone(), y.clone());
                assert_eq!(loss.item().to_bits(), alone.item().to_bits(), "the method and its companion");
                lists[0].extend([Some(loss), dx, dy].into_iter().flatten());
                grads.visit(&Path::ROOT, &mut |_, ct| lists[0].extend(ct.take()));
                let model = Unfused::init(UnfusedConfig { $c: c, $k: 0.5 }, &mut Rng::seed(3), &device).to(dtype);
                let (loss, mut grads, (dx, dy)) = model.loss_grad_inputs(x, y);
                lists[1].extend([Some(loss), dx, dy].into_iter().flatten());
                grads.visit(&Path::ROOT, &mut |_, ct| lists[1].extend(ct.take()));
                lists
            }
        }
    };
}

type Both = fn(&Tensor, &Tensor, DType) -> [Vec<Tensor>; 2];

/// Compares the two forms over shapes that broadcast, layouts and dtypes.
fn check(both: Both, shapes: &[(&[usize], &[usize])]) {
    check_in(both, shapes, &[(DType::F64, 1e-12), (DType::F32, 1e-5), (DType::BF16, 0.1)]);
}

fn check_in(both: Both, shapes: &[(&[usize], &[usize])], dtypes: &[(DType, f64)]) {
    let mut rng = Rng::seed(5);
    for (a, b) in shapes {
        let x = Tensor::randn(a.to_vec(), &mut rng, &device());
        let y = Tensor::randn(b.to_vec(), &mut rng, &device());
        let flipped = (x.rank() > 1).then(|| x.clone().transpose(0, 1).contiguous().transpose(0, 1));
        for x in [Some(x), flipped].into_iter().flatten() {
            for &(dtype, tolerance) in dtypes {
                let [fused, plain] = both(&x, &y, dtype);
                assert_eq!(fused.len(), plain.len());
                for (fused, plain) in fused.iter().zip(&plain) {
                    assert_eq!((fused.dtype(), fused.shape()), (plain.dtype(), plain.shape()), "{a:?} {b:?} {dtype}");
                    let size = plain.clone().abs().to(DType::F32).amax(..).item().max(1.0);
                    assert_close(fused, plain, tolerance, tolerance * f64::from(size));
                }
            }
        }
    }
}

const SHAPES: &[(&[usize], &[usize])] = &[
    (&[4, 6], &[4, 6]),
    (&[4, 6], &[6]),
    (&[3, 4, 6], &[4, 1]),
    (&[1, 6], &[4, 6]),
    (&[5, 1], &[5, 1]),
    (&[2, 3, 1, 6], &[3, 5, 6]),
    (&[33, 130], &[130]),
];

pair!(affine[C, k] { #[init(normal(1.0))] w: Param![C], #[init(normal(1.0))] b: Param![C] } |self, x, y| {
    let h = (x * self.w + self.b).gelu_tanh();
    let h = h * 0.5 + y;
    h.square().mean(..)
});

#[test]
fn a_chain_with_broadcast_operands() {
    check(affine::both, SHAPES);
}

pair!(residual[C, k] { #[init(normal(1.0))] w: Param![C] } |self, x, y| {
    // Both values leave the group, the first of other operands than the second.
    let h = x.tanh() + y * self.k;
    let z = h * self.w - 2.0 * h.sigmoid();
    let p = h.sum(-1);
    (z.sum(-1) * p).mean(..) + h.exp().log().mean(..)
});

#[test]
fn values_that_leave_in_the_middle() {
    check(residual::both, SHAPES);
}

pair!(bounded[C, k] { #[init(normal(1.0))] w: Param![C] } |self, x, y| {
    // Functions of two and three operands, of numbers and of tensors.
    let h = (x.abs() + 0.1).pow(1.5) + (y.abs() + 0.2).pow(self.w.abs() + 0.5) % 1.75;
    let z = h.clamp(0.25, 4.0).hypot(self.w).clamp_max(y.square() + 1.0) - x.logaddexp(y);
    let t = z.atan2(2.0).lerp(y, 0.3).softshrink(0.1).nan_to_num();
    (t + x.copysign(y).xlogy(1.5) - h.fmod(0.7).floor_divide(0.2)).mean(..)
});

#[test]
fn functions_of_several_operands() {
    let dtypes = [(DType::F64, 1e-12), (DType::F32, 2e-5)];
    check_in(bounded::both, SHAPES, &dtypes);
}

pair!(attention[C, k] { } |self, x, y| {
    let p = (x * self.k + y).softmax(-1);
    let l = (x - y).log_softmax(-1);
    (p * l).square().mean(..)
});

#[test]
fn reductions_at_the_end_of_a_chain() {
    check(attention::both, SHAPES);
}

pair!(norm[C, k] { #[init(normal(1.0))] w: Param![C] } |self, x, y| {
    let h = x + y;
    let ms = h.square().mean_keepdim(-1);
    let n = h * (ms + self.k).rsqrt() * self.w;
    let m = (n.exp() + 1.0).log().sum_keepdim(-1);
    (m * m).mean(..)
});

#[test]
fn a_norm_written_out() {
    check(norm::both, SHAPES);
}

pair!(narrow[C, k] { #[init(normal(1.0))] w: Param![C] } |self, x, y| {
    // What the reduction reads has one column where `y` has one; the group has those of `w`.
    let t = y.tanh();
    let s = (t * 2.0).sum_keepdim(-1) + 1.0;
    let z = s * self.w + t;
    (z * z).mean(..) + x.mean(..)
});

#[test]
fn a_reduction_over_fewer_columns_than_the_group_has() {
    check(narrow::both, SHAPES);
}

pair!(summed[C, k] { #[init(normal(1.0))] w: Param![C] } |self, x, y| {
    // What a sum leaves has one column. Where `y` has one too, so has what they make, whatever the sum reads.
    let a = (self.w.sum_keepdim(-1) * 0.3 + y * 0.5).tanh();
    let b = (self.w.mean_keepdim(-1) * 0.3 + y * 0.5).softmax(-1);
    a.sum(..) + b.square().sum(..) + x.mean(..)
});

#[test]
fn a_sum_of_wide_rows_beside_a_narrow_operand() {
    check(summed::both, SHAPES);
}

pair!(layer_norm[C, k] { #[init(normal(1.0))] w: Param![C], #[init(normal(1.0))] b: Param![C] } |self, x, y| {
    let h = (x + y * 0.1).layer_norm(self.w, self.b, 1e-5).silu();
    (h * h).mean(..)
});

#[test]
fn a_layer_norm_between_others() {
    check(layer_norm::both, &[(&[4, 6], &[4, 6]), (&[2, 3, 6], &[6]), (&[2, 130], &[2, 1])]);
}

#[test]
fn weights_of_norms_do_not_broadcast() {
    #[model]
    fn fused(x: Tensor, w: Tensor) -> Tensor {
        (x * 2.0).layer_norm(w, w, 1e-5)
    }

    let of = |shape: &[usize]| Tensor::ones(shape.to_vec(), &device());
    assert_eq!(fused(of(&[2, 6]), of(&[6])).shape(), [2, 6]);
    for shape in [&[1][..], &[2, 6], &[1, 6]] {
        let error = try_fused(of(&[2, 6]), of(shape)).expect_err("a weight of another shape");
        assert!(error.to_string().contains("layer_norm"), "{error}");
    }
}

pair!(names[C, k] { #[init(normal(1.0))] w: Param![C] } |self, x, y| {
    // Shadowing, assignment, and code that is evaluated between operations that join.
    let mut scale = 2.0;
    let a = x * scale;
    scale = scale + 1.0;
    let x = a + y * scale;
    let mut h = x * self.w;
    for i in 0..3 {
        let y = h.tanh();
        h = y * 0.5 + h * (0.4 * i as f64);
        if i == 1 {
            h = h.sin() - x;
        }
    }
    let x = h.cos() * 2.0;
    let y = x + h;
    (y * y).mean(..) + (a * y).sin().mean(..)
});

#[test]
fn names_keep_their_meaning() {
    // Its rounding errors grow too much for 16 bits, of which fusion rounds fewer.
    check_in(names::both, SHAPES, &[(DType::F64, 1e-12), (DType::F32, 1e-4)]);
}

pair!(many[C, k] { #[init(normal(1.0))] w: Param![C], #[init(normal(1.0))] b: Param![C] } |self, x, y| {
    // More operands than one kernel takes.
    let (a, c) = (x.matmul(x.transpose(-2, -1)).mean(..), y.mean(..));
    let h = (x + y) * self.w + self.b + a - c;
    let g = x.sum_keepdim(-1) + y.sum_keepdim(-1);
    let h = h * g + a.square() * c;
    h.maximum(x).minimum(2.0).mean(..)
});

#[test]
fn more_operands_than_a_kernel_takes() {
    check(many::both, &[(&[4, 6], &[4, 6]), (&[3, 4, 6], &[4, 6]), (&[1, 1], &[1, 1])]);
}

pair!(functions[C, k] { #[init(normal(1.0))] w: Param![C] } |self, x, y| {
    let a = x.relu() + y.abs().sqrt() - self.w.tanh();
    let b = a.elu(0.7).softplus() * y.sigmoid().log1p();
    let c = (b / (a.square() + 1.0)).powf(3.0) + x.leaky_relu(0.1).atan();
    (-c).erf().mean(..)
});

#[test]
fn functions_of_the_table() {
    check(functions::both, SHAPES);
}

pair!(unused[C, k] { } |self, x, y| {
    // What nothing uses has a shape of its own.
    let h = x * 2.0;
    let _wide = h + y;
    let z = y.tanh();
    let _none = z * 2.0;
    (h - 1.0).square().mean(..) + z.mean(..)
});

#[test]
fn values_that_nothing_uses() {
    check(unused::both, SHAPES);
}

pair!(reassigned[C, k] { } |self, x, y| {
    // The group is cut in two, of which the second reads what the first one assigns.
    let mut v = x;
    let h = v.tanh();
    let g = v * y + h;
    v = h * 2.0;
    let z = g + v;
    (z * z).mean(..) + v.exp().mean(..)
});

#[test]
fn a_variable_that_is_read_after_another_value_of_it_is_made() {
    check(reassigned::both, SHAPES);
}

pair!(aliases[C, k] { } |self, x, y| {
    // Both names hold one value, which the kernel in the checkpoint reads once.
    let a = y;
    let mut c = x;
    #[checkpoint]
    for _ in 0..2 {
        c = (a * c + y).tanh();
    }
    (c * 0.5).mean(..) + a.square().mean(..)
});

#[test]
fn two_names_of_a_value_in_a_checkpoint() {
    check(aliases::both, SHAPES);
}

pair!(scaled[C, k] { #[init(normal(1.0))] w: Param![C] } |self, x, y| {
    // Sums of rows with a factor, of tensors of one axis among others.
    let s = (y.sin() + 0.5).sum_keepdim(-1) * 0.3;
    let t = self.w.sigmoid().sum_keepdim(-1) * self.k;
    ((x + s) * t).square().mean(..)
});

#[test]
fn scaled_sums_of_rows() {
    check(scaled::both, SHAPES);
}

pair!(reductions[C, k] { #[init(normal(1.0))] w: Param![C], #[init(normal(1.0))] b: Param![C] } |self, x, y| {
    // As many reductions as a layer is likely to have, over as many operands as a kernel takes.
    let p = (x * self.w + self.b).softmax(-1);
    let q = (y * self.k + x).log_softmax(-1);
    let n = (p * q + x).layer_norm(self.w, self.b, 0.1);
    let m = (n * n).mean_keepdim(-1);
    let s = (n.tanh() + p * q).sum_keepdim(-1);
    let z = ((n - m) * s + p).layer_norm(self.b, self.w, 0.1);
    (z * 0.1).square().mean(..)
});

#[test]
fn many_reductions() {
    check(reductions::both, &[(&[4, 6], &[4, 6]), (&[4, 6], &[6]), (&[3, 4, 6], &[4, 1])]);
}

pair!(constant[C, k] { } |self, x, y| {
    // Each row's mean is that of numbers with the sum 1, and its derivative reads nothing.
    let p = (x * self.k + y).softmax(-1).mean_keepdim(-1);
    p.sum(..) + x.mean(..) + y.mean(..)
});

#[test]
fn a_derivative_that_is_zero() {
    check(constant::both, SHAPES);
}

pair!(suffixed[C, k] { } |self, x, y| { (x * 0.1f32 + y * 0.3).square().mean(..) });

#[test]
fn literals_of_single_precision() {
    check(suffixed::both, SHAPES);
}

/// Integers beside floats, and no parameter at all.
#[model]
fn with_integers(x: Tensor![B, C], ids: Tensor![Int; C]) -> Tensor![B, C] {
    (x * ids + ids).tanh() * 2
}

#[test]
fn integers_become_floats() {
    let ids = Tensor::<Int>::from_slice(&[1, 2, 3], [3], &device());
    let x = Tensor::from_slice(&[0.1, 0.2, 0.3], [1, 3], &device());
    let want: Vec<f32> =
        [0.1f32, 0.2, 0.3].iter().zip(1..).map(|(x, i)| (x * i as f32 + i as f32).tanh() * 2.0).collect();
    assert_close(&with_integers(x.clone(), ids.clone()), &Tensor::from_slice(&want, [1, 3], &device()), 1e-6, 0.0);
    assert_eq!(with_integers(x.bfloat16(), ids).dtype(), DType::BF16);
}

/// A wrong shape that only the run knows.
#[model]
fn undecided(x: Tensor, y: Tensor) -> Tensor {
    (x * y + 1.0).exp()
}

#[test]
fn shapes_that_do_not_fit_are_errors() {
    let error = try_undecided(Tensor::ones([2, 3], &device()), Tensor::ones([4], &device())).expect_err("an error");
    let text = error.to_string();
    assert!(text.contains("[2, 3]") && text.contains("[4]"), "{text}");
}

#[test]
fn empty_tensors() {
    for shape in [[0, 6], [4, 0]] {
        let x = Tensor::zeros(shape, &device());
        for both in [affine::both as Both, attention::both, norm::both] {
            let [fused, plain] = both(&x, &x, DType::F32);
            assert_eq!(fused.len(), plain.len());
            fused.iter().zip(&plain).for_each(|(f, p)| assert_eq!(f.shape(), p.shape()));
        }
    }
}
