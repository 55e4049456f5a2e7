//! Tensors from rules, random numbers and arrays; operators that assign.

use cotangent_runtime::tensor::Constant;
use cotangent_runtime::testing::assert_close;
use cotangent_runtime::{Bool, DType, Device, Error, Float, Int, Rng, Tensor, attempt};

fn cpu() -> Device {
    Device::cpu()
}

#[test]
fn constants_of_every_kind() {
    assert_eq!(Tensor::<Int>::zeros([2, 1], &cpu()).to_vec(), [0, 0]);
    assert_eq!(Tensor::<Int>::ones([2], &cpu()).to_vec(), [1, 1]);
    assert_eq!(Tensor::<Bool>::zeros([1], &cpu()).to_vec(), [false]);
    assert_eq!(Tensor::<Bool>::ones([1], &cpu()).to_vec(), [true]);
    // Without a kind, floats.
    assert_eq!(Tensor::zeros([0], &cpu()).dtype(), DType::F32);
    let n = Tensor::<Int>::ones([2], &cpu()).to(DType::U8);
    assert_eq!((n.full_like(7).to_vec(), n.zeros_like().dtype()), (vec![7, 7], DType::U8));
    assert_eq!(Tensor::<Bool>::ones([2], &cpu()).full_like(false).to_vec(), [false, false]);
    assert_eq!(Tensor::<Float>::zeros([2], &cpu()).bfloat16().full_like(1.5).to_vec(), [1.5, 1.5]);
}

#[test]
fn sequences() {
    assert_eq!(Tensor::arange_step(2, 7, 2, &cpu()).to_vec(), [2, 4, 6]);
    assert_eq!(Tensor::arange_step(0, -3, -1, &cpu()).to_vec(), [0, -1, -2]);
    assert_eq!(Tensor::arange_step(1.0, 2.0, 0.25, &cpu()).to_vec(), [1.0, 1.25, 1.5, 1.75]);
    assert_eq!(Tensor::arange_step(3, 3, 1, &cpu()).shape(), [0]);
    for wrong in [attempt(|| Tensor::arange_step(0, 5, -1, &cpu())), attempt(|| Tensor::arange_step(0, 5, 0, &cpu()))] {
        let Err(Error::Argument { op, message }) = wrong else { panic!("an error was expected") };
        assert!(op == "arange" && message.contains("do not lead from 0 to 5"), "{message}");
    }
    assert!(attempt(|| Tensor::arange_step(0.0, 1.0, f32::NAN, &cpu())).is_err());
    assert_eq!(Tensor::linspace(0, 1, 5, &cpu()).to_vec(), [0.0, 0.25, 0.5, 0.75, 1.0]);
    assert_eq!(Tensor::linspace(3.0, -1.0, 3, &cpu()).to_vec(), [3.0, 1.0, -1.0]);
    assert_eq!(Tensor::linspace(3.0, 7.0, 1, &cpu()).to_vec(), [3.0]);
    assert_eq!(Tensor::linspace(3.0, 7.0, 0, &cpu()).shape(), [0]);
    assert_eq!(Tensor::logspace(0, 2, 3, 10, &cpu()).to_vec(), [1.0, 10.0, 100.0]);
}

#[test]
fn identities_and_triangles() {
    assert_eq!(Tensor::eye(2, &cpu()).to_vec(), [1.0, 0.0, 0.0, 1.0]);
    assert_eq!(Tensor::eye_of(2, 3, &cpu()).to_vec(), [1.0, 0.0, 0.0, 0.0, 1.0, 0.0]);
    assert_eq!(Tensor::eye_of(3, 1, &cpu()).to_vec(), [1.0, 0.0, 0.0]);
    assert_eq!(Tensor::eye(0, &cpu()).shape(), [0, 0]);
    assert_eq!(Tensor::tril_mask(2, 3, 0, &cpu()).to_vec(), [true, false, false, true, true, false]);
    assert_eq!(Tensor::tril_mask(2, 2, -1, &cpu()).to_vec(), [false, false, true, false]);
    assert_eq!(Tensor::triu_mask(2, 3, 1, &cpu()).to_vec(), [false, true, true, false, false, true]);
    assert!(Tensor::triu_mask(4, 4, 1, &cpu()).equal(&Tensor::causal_mask(4, &cpu())));
}

#[test]
fn nested_arrays_and_lists() {
    let x = Tensor::from([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]);
    assert_eq!((x.shape(), x.to_vec()), (&[3, 2][..], vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0]));
    assert_eq!(Tensor::from([1, 2]).to_vec(), [1, 2]);
    assert_eq!(Tensor::from([[[true], [false]]]).shape(), [1, 2, 1]);
    assert_eq!(Tensor::from([[[[0.5f32; 4]; 3]; 2]; 1]).shape(), [1, 2, 3, 4]);
    assert_eq!(Tensor::from(vec![1.0, 2.0]).shape(), [2]);
    assert_eq!(Tensor::from(&[1i64, 2, 3][..]).shape(), [3]);
    let values: Vec<f32> = x.t().into();
    assert_eq!(values, [1.0, 3.0, 5.0, 2.0, 4.0, 6.0]);
    assert_eq!(Tensor::from([[0.0f32; 0]; 2]).shape(), [2, 0]);
}

#[test]
fn draws() {
    let mut rng = Rng::seed(1);
    let p = Tensor::from([[0.0, 1.0, 0.25]]).expand([4000, 3]);
    let drawn = p.bernoulli(&mut rng);
    let mean = drawn.mean(0).to_vec();
    assert!(mean[0] == 0.0 && mean[1] == 1.0 && (mean[2] - 0.25).abs() < 0.03, "{mean:?}");
    let x = Tensor::<Float>::zeros([3, 2], &cpu()).half();
    assert_eq!((x.rand_like(&mut rng).dtype(), x.randn_like(&mut rng).shape()), (DType::F16, &[3, 2][..]));
    let mut order = Tensor::randperm(50, &mut rng, &cpu()).to_vec();
    assert_ne!(order, (0..50).collect::<Vec<i64>>());
    order.sort_unstable();
    assert_eq!(order, (0..50).collect::<Vec<i64>>());

    let weights = Tensor::from([[1.0, 0.0, 3.0], [0.0, 2.0, 0.0]]);
    let drawn = weights.multinomial(2000, true, &mut rng);
    assert_eq!(drawn.shape(), [2, 2000]);
    let values = drawn.to_vec();
    let share = values[..2000].iter().filter(|i| **i == 2).count() as f64 / 2000.0;
    assert!((share - 0.75).abs() < 0.05 && !values[..2000].contains(&1) && values[2000..].iter().all(|i| *i == 1));
    let mut both = Tensor::from([1.0, 0.0, 3.0]).multinomial(2, false, &mut rng).to_vec();
    both.sort_unstable();
    assert_eq!(both, [0, 2]);
    let error = |f: &mut dyn FnMut() -> Tensor<Int>| attempt(f).unwrap_err().to_string();
    let few = error(&mut || weights.multinomial(2, false, &mut Rng::seed(1)));
    assert!(few.contains("1 weights of a row are above 0"), "{few}");
    let bad = error(&mut || Tensor::from([-1.0]).multinomial(1, true, &mut Rng::seed(1)));
    assert!(bad.contains("a weight is -1"), "{bad}");
    assert!(
        error(&mut || Tensor::scalar(1.0, &cpu()).multinomial(1, true, &mut Rng::seed(1))).contains("one axis or two")
    );
}

#[test]
fn operators_that_assign() {
    let mut x = Tensor::from([1.0, 2.0]);
    let seen = x.clone();
    x += 1;
    x *= &seen;
    x -= Tensor::from([1.0, 1.0]);
    x /= 2.0;
    x %= 2.0;
    assert_eq!((x.to_vec(), seen.to_vec()), (vec![0.5, 0.5], vec![1.0, 2.0]));
    let mut n = Tensor::from([6, 7]);
    n += 1;
    n %= 5;
    n <<= 2;
    n |= 1;
    n ^= Tensor::from([1, 0]);
    n &= 13;
    n >>= 1;
    n -= 1;
    n *= &Tensor::from([2, 2]);
    assert_eq!(n.to_vec(), [6, 10]);
    let mut m = Tensor::from([true, false]);
    m |= Tensor::from([false, true]);
    m &= &Tensor::from([true, false]);
    m ^= Tensor::from([true, true]);
    assert_eq!(m.to_vec(), [false, true]);
    assert_close(&m, &Tensor::from([false, true]), 0.0, 0.0);
}
