//! Raw kernels: plain functions on the CPU.

use cotangent::prelude::*;

/// Running sums along the last axis, from the left or from the right.
#[kernel(raw, cpu = running, vjp = running_vjp(reverse, ct))]
fn cumulate(x: Tensor![R.., C], reverse: bool) -> Tensor![R.., C] {}

fn running(x: &[f32], reverse: bool, y: &mut [f32], [rows, columns]: [usize; 2]) {
    for r in 0..rows {
        let mut sum = 0.0;
        for c in 0..columns {
            let at = r * columns + if reverse { columns - 1 - c } else { c };
            sum += x[at];
            y[at] = sum;
        }
    }
}

fn running_vjp(reverse: bool, ct: Tensor) -> Tensor {
    cumulate(ct, !reverse)
}

/// Several results of several kinds, and dims that are arithmetic.
#[kernel(raw, cpu = cpu::pairs)]
fn pairs(x: Tensor![2 * N], n: Tensor![Int; N], k: usize, s: f32) -> (Tensor![N], Tensor![Bool; N], Tensor![Int;]) {}

mod cpu {
    #[allow(clippy::too_many_arguments, reason = "all that a raw kernel is passed")]
    pub(super) fn pairs(
        x: &[f32],
        n: &[i64],
        k: usize,
        s: f32,
        sums: &mut [f32],
        even: &mut [bool],
        total: &mut [i64],
        dims: [usize; 1],
    ) {
        for i in 0..dims[0] {
            sums[i] = s * (x[2 * i] + x[2 * i + 1]);
            even[i] = n[i] % 2 == 0;
            total[0] += n[i] * k as i64;
        }
    }
}

#[model]
struct Sums {
    #[init(ones)]
    w: Param![4],
}

#[model]
impl Sums {
    fn loss(&self, x: Tensor![A, B, 4], c: Tensor![A, B, 4]) -> Tensor![] {
        (cumulate(x * self.w, false) * c).sum(..)
    }
}

fn input(shape: &[usize]) -> Tensor {
    Tensor::randn(shape, &mut Rng::seed(3), &Device::cpu())
}

#[test]
fn values() {
    let x = input(&[2, 3, 4]);
    let (given, found) = (x.to_vec(), cumulate(x.clone().to(DType::F16), false));
    assert_eq!((found.shape(), found.dtype()), (&[2, 3, 4][..], DType::F16));
    for (row, found) in given.chunks(4).zip(cumulate(x, false).to_vec().chunks(4)) {
        for at in 0..4 {
            assert!((row[..=at].iter().sum::<f32>() - found[at]).abs() < 1e-5);
        }
    }
    let n = Tensor::<Int>::from_slice(&[4i64, 3, 8], &[3], &Device::cpu());
    let (sums, even, total) = pairs(Tensor::ones([6], &Device::cpu()), n, 2, 0.5);
    assert_eq!((sums.to_vec(), even.to_vec()), (vec![1.0; 3], vec![true, false, true]));
    assert_eq!((total.shape(), total.to_vec()), (&[][..], vec![30]));
    assert_eq!(cumulate(input(&[0, 3]), false).shape(), [0, 3]);
}

#[test]
fn gradients() {
    let model = Sums::init(&mut Rng::seed(1), &Device::cpu());
    let (x, c) = (input(&[2, 3, 4]), Tensor::randn([2, 3, 4], &mut Rng::seed(8), &Device::cpu()));
    let (_, grads, (ct, _)) = model.loss_grad_inputs(x, c.clone());
    let (ct, expected) = (ct.expect("wanted").to_vec(), cumulate(c, true).to_vec());
    assert!(ct.iter().zip(expected).all(|(found, expected)| (found - expected).abs() < 1e-5));
    assert!(grads.w.is_some());
}

#[test]
fn wide_floats_are_refused() {
    let x = input(&[2, 4]).to(DType::F64);
    let error = cotangent::__private::attempt(|| cumulate(x, false)).expect_err("the function takes f32");
    assert_eq!(error.to_string(), "cumulate (`x`): dtype `f64` cannot be used here; accepted: `f32`, `f16`, `bf16`");
}
