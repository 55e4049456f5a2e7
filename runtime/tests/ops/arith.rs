use crate::reference::{Array, SHAPES, broadcast, close, cpu, layouts, pulled, random};
use cotangent_runtime::diff::Want;
use cotangent_runtime::ops::{AddVjp, DivVjp, MulVjp, SubVjp};
use cotangent_runtime::testing::{GradCheck, check_grad};
use cotangent_runtime::{Error, Int, Tensor, attempt};

/// Pairs of shapes that broadcast.
const PAIRS: &[[&[usize]; 2]] = &[
    [&[], &[]],
    [&[], &[4]],
    [&[3, 1], &[1, 4]],
    [&[2, 3, 4], &[4]],
    [&[2, 3, 4], &[3, 1]],
    [&[2, 3, 4], &[2, 1, 1]],
    [&[5, 1, 2], &[3, 2]],
    [&[0, 3], &[3]],
    [&[1, 3], &[0, 3]],
    [&[40, 130], &[130]],
    [&[9, 40, 33], &[9, 1, 33]],
];

macro_rules! check {
    ($($name:ident $vjp:ident $f:expr;)*) => { $(
        #[test]
        fn $name() {
            let f: fn(f64, f64) -> f64 = $f;
            for (n, [sa, sb]) in PAIRS.iter().enumerate() {
                for a in layouts(sa, 0.5, 1.0, n as u64) {
                    for b in layouts(sb, 1.5, 2.5, n as u64 + 100) {
                        two(&a, &b, f, |a, b| a.$name(b), |a, b, w| {
                            let (y, p) = a.$vjp(b, w);
                            (y, move |ct| pulled(p, ct))
                        });
                        two(&b, &a, f, |a, b| a.$name(b), |a, b, w| {
                            let (y, p) = a.$vjp(b, w);
                            (y, move |ct| pulled(p, ct))
                        });
                    }
                }
            }
            for shape in SHAPES {
                for x in layouts(shape, 0.5, 1.5, 3) {
                    close(&x.clone().$name(2.5), &Array::of(&x).map(|x| f(x, 2.5)));
                    check_grad(
                        |xs| xs[0].clone().$name(2.5),
                        |xs, ct| vec![pulled(xs[0].clone().$vjp(2.5, Want::ALL).1, Some(ct)).0],
                        &[x],
                        GradCheck::default(),
                    );
                }
            }
        }
    )* };
}

check! {
    add add__vjp |a, b| a + b;
    sub sub__vjp |a, b| a - b;
    mul mul__vjp |a, b| a * b;
    div div__vjp |a, b| a / b;
    maximum maximum__vjp f64::max;
    minimum minimum__vjp f64::min;
}

type Cts = (Option<Tensor>, Option<Tensor>);

#[track_caller]
fn two<P: FnOnce(Option<Tensor>) -> Cts>(
    a: &Tensor,
    b: &Tensor,
    f: fn(f64, f64) -> f64,
    op: impl Fn(Tensor, Tensor) -> Tensor,
    vjp: impl Fn(Tensor, Tensor, Want) -> (Tensor, P),
) {
    let (na, nb) = (Array::of(a), Array::of(b));
    let want = Array::from_fn(&broadcast(a.shape(), b.shape()), |i| f(na.at(i), nb.at(i)));
    close(&op(a.clone(), b.clone()), &want);
    for wants in [[false, false], [true, false], [false, true], [true, true]] {
        let (y, pull) = vjp(a.clone(), b.clone(), Want::of(&wants));
        close(&y, &want);
        let (da, db) = pull(Some(y.ones_like()));
        assert_eq!([da.is_some(), db.is_some()], wants);
    }
    let options = GradCheck { most: 10, ..GradCheck::default() };
    check_grad(
        |xs| op(xs[0].clone(), xs[1].clone()),
        |xs, ct| {
            let (da, db) = vjp(xs[0].clone(), xs[1].clone(), Want::ALL).1(Some(ct));
            vec![da, db]
        },
        &[a.clone(), b.clone()],
        options,
    );
}

fn floats(values: &[f32]) -> Tensor {
    Tensor::from_slice(values, [values.len()], &cpu())
}

fn ints(values: &[i64]) -> Tensor<Int> {
    Tensor::from_slice(values, [values.len()], &cpu())
}

#[test]
fn operators_take_all_forms() {
    let (a, b) = (floats(&[1.0, 2.0]), floats(&[3.0, 5.0]));
    assert_eq!((&a + &b).to_vec(), [4.0, 7.0]);
    assert_eq!((a.clone() - &b).to_vec(), [-2.0, -3.0]);
    assert_eq!((&a * b.clone()).to_vec(), [3.0, 10.0]);
    assert_eq!((b.clone() / a.clone()).to_vec(), [3.0, 2.5]);
    assert_eq!((2.0 * &a).relu().to_vec(), [2.0, 4.0]);
    assert_eq!((1 - a.clone()).to_vec(), [0.0, -1.0]);
    assert_eq!((2.0 / (1.0 + &a - 1)).to_vec(), [2.0, 1.0]);
    assert_eq!((a.clone() * 3f32 + 1usize).to_vec(), [4.0, 7.0]);
    assert_eq!((-&a + 2i64).to_vec(), [1.0, 0.0]);
    assert_eq!((-a).to_vec(), [-1.0, -2.0]);
}

#[test]
fn integers_wrap_and_promote() {
    let n = ints(&[1, -2, i64::MAX]);
    assert_eq!((&n + 1).to_vec(), [2, -1, i64::MIN]);
    assert_eq!((2 * n.clone()).to_vec(), [2, -4, -2]);
    assert_eq!((1 - &n).to_vec(), [0, 3, 1i64.wrapping_sub(i64::MAX)]);
    assert_eq!((n.clone() - ints(&[1, 1, 1])).to_vec(), [0, -3, i64::MAX - 1]);
    assert_eq!((-ints(&[3])).to_vec(), [-3]);
    assert_eq!((ints(&[1, 2]) * floats(&[0.5, 0.25])).to_vec(), [0.5, 0.5]);
    assert_eq!((floats(&[0.5, 0.25]) + ints(&[1, 2])).to_vec(), [1.5, 2.25]);
    assert_eq!((ints(&[1, 3]) * 0.5).to_vec(), [0.5, 1.5]);
}

#[test]
fn maxima_keep_nan_and_share_ties() {
    let nan = f32::NAN;
    let (a, b) = (floats(&[nan, 1.0, nan, 2.0]), floats(&[1.0, nan, nan, 2.0]));
    for y in [a.clone().maximum(&b), a.clone().minimum(&b)] {
        assert_eq!(y.to_vec().iter().map(|v| v.is_nan()).collect::<Vec<_>>(), [true, true, true, false]);
    }
    let (y, p) = floats(&[1.0, 2.0, 3.0]).maximum__vjp(floats(&[2.0, 2.0, 2.0]), Want::ALL);
    let (da, db) = pulled(p, Some(y.ones_like()));
    assert_eq!(da.map(|d| d.to_vec()), Some(vec![0.0, 0.5, 1.0]));
    assert_eq!(db.map(|d| d.to_vec()), Some(vec![1.0, 0.5, 0.0]));
}

#[test]
fn companions_of_numbers() {
    let x = random(&[3], 0.5, 1.5, 1);
    macro_rules! left {
        ($Trait:ident $vjp:ident $f:expr) => {
            let f: fn(f64, f64) -> f64 = $f;
            close(&$Trait::$vjp(2.0, x.clone(), Want::ALL).0, &Array::of(&x).map(|x| f(2.0, x)));
            check_grad(
                |xs| $Trait::$vjp(2.0, xs[0].clone(), Want::NONE).0,
                |xs, ct| vec![pulled($Trait::$vjp(2.0, xs[0].clone(), Want::ALL).1, Some(ct)).1],
                std::slice::from_ref(&x),
                GradCheck::default(),
            );
            let (y, p) = $Trait::$vjp(2, x.clone(), Want::SELF);
            assert!(pulled(p, Some(y.ones_like())).1.is_none());
            let (number, p) = $Trait::$vjp(3.0f32, 2.0f32, Want::ALL);
            assert_eq!(f64::from(number), f(3.0, 2.0));
            assert_eq!(pulled(p, ()), ((), ()));
        };
    }
    left!(AddVjp add__vjp |a, b| a + b);
    left!(SubVjp sub__vjp |a, b| a - b);
    left!(MulVjp mul__vjp |a, b| a * b);
    left!(DivVjp div__vjp |a, b| a / b);
}

#[test]
fn misfits_name_both_shapes() {
    let (a, b) = (random(&[2, 3], 0.0, 1.0, 1), random(&[4], 0.0, 1.0, 2));
    let Err(Error::Shape { op, message }) = attempt(|| a * b) else { panic!("a shape error was expected") };
    assert_eq!(op, "mul");
    assert!(message.contains("[2, 3]") && message.contains("[4]"), "{message}");
}
