use crate::reference::{Array, cpu, exact, layouts, pulled, random};
use cotangent_runtime::diff::Want;
use cotangent_runtime::ops::select;
use cotangent_runtime::testing::{GradCheck, check_grad};
use cotangent_runtime::{Bool, Error, Tensor, attempt};

#[test]
fn comparisons_of_floats_and_integers() {
    let nan = f32::NAN;
    let (a, b) = (Tensor::from_slice(&[1.0f32, 2.0, 3.0, nan], [4], &cpu()), 2.0);
    let check = |y: Tensor<Bool>, want: [bool; 4]| assert_eq!(y.to_vec(), want);
    check(a.clone().eq(b), [false, true, false, false]);
    check(a.clone().ne(b), [true, false, true, true]);
    check(a.clone().lt(b), [true, false, false, false]);
    check(a.clone().le(b), [true, true, false, false]);
    check(a.clone().gt(b), [false, false, true, false]);
    check(a.clone().ge(b), [false, true, true, false]);
    let c = Tensor::from_slice(&[2.0f32], [1], &cpu());
    check(a.clone().eq(&c), [false, true, false, false]);
    check(a.clone().gt(c), [false, false, true, false]);
    check(a.clone().ne(a), [false, false, false, true]);
    let n = Tensor::from_slice(&[1i64, 2, 3, -4], [4], &cpu());
    check(n.clone().eq(2), [false, true, false, false]);
    check(n.clone().ge(&n), [true; 4]);
    check(n.clone().lt(n.clone() + 1), [true; 4]);
    check(n.le(-4i64), [false, false, false, true]);
    assert!(attempt(|| random(&[2], 0.0, 1.0, 0).lt(random(&[3], 0.0, 1.0, 0))).is_err());
}

#[test]
fn comparisons_broadcast_all_layouts() {
    for a in layouts(&[3, 4], -1.0, 1.0, 1) {
        for b in layouts(&[4], -1.0, 1.0, 2) {
            let (x, y) = (Array::of(&a), Array::of(&b));
            let want = Array::from_fn(&[3, 4], |i| f64::from(x.at(i) < y.at(i)));
            exact(&a.clone().lt(&b).float(), &want);
        }
    }
}

#[test]
fn logic() {
    let a = Tensor::from_slice(&[true, true, false, false], [4], &cpu());
    let b = Tensor::from_slice(&[true, false, true, false], [4], &cpu());
    assert_eq!((a.clone() & b.clone()).to_vec(), [true, false, false, false]);
    assert_eq!((a.clone() | b.clone()).to_vec(), [true, true, true, false]);
    assert_eq!((!a.clone()).to_vec(), [false, false, true, true]);
    assert_eq!(a.logical_and(b.logical_not()).to_vec(), [false, true, false, false]);
}

#[test]
fn select_sends_cotangents_to_the_chosen_side() {
    let c = random(&[3, 1], -1.0, 1.0, 4).gt(0.0);
    let nc = Array::of(&c.clone().float());
    for a in layouts(&[3, 4], -1.0, 1.0, 1) {
        for b in layouts(&[4], -1.0, 1.0, 2) {
            let (x, y) = (Array::of(&a), Array::of(&b));
            let want = Array::from_fn(&[3, 4], |i| if nc.at(i) == 1.0 { x.at(i) } else { y.at(i) });
            exact(&select(c.clone(), &a, &b), &want);
            for wants in [[false, false], [true, false], [false, true], [true, true]] {
                let bits = Want::of(&[true, true, wants[0], wants[1]]);
                let (y, p) = select::vjp(c.clone(), a.clone(), b.clone(), bits);
                let ((), da, db) = pulled(p, Some(y.ones_like()));
                assert_eq!([da.is_some(), db.is_some()], wants);
            }
            check_grad(
                |xs| select(c.clone(), &xs[0], &xs[1]),
                |xs, ct| {
                    let p = select::vjp(c.clone(), xs[0].clone(), xs[1].clone(), Want::ALL).1;
                    let ((), da, db) = pulled(p, Some(ct));
                    vec![da, db]
                },
                &[a.clone(), b],
                GradCheck::default(),
            );
        }
    }
    let (y, p) = select::vjp(c, 1.0, random(&[3, 2], 0.0, 1.0, 1), Want::ALL);
    let ((), (), db) = pulled(p, Some(y.ones_like()));
    assert_eq!(db.map(|d| d.shape().to_vec()), Some(vec![3, 2]));
}

#[test]
fn masked_fill() {
    for x in layouts(&[3, 4], -1.0, 1.0, 1) {
        let mask = random(&[4], -1.0, 1.0, 9).gt(0.0);
        let (nx, nm) = (Array::of(&x), Array::of(&mask.clone().float()));
        let want = Array::from_fn(&[3, 4], |i| if nm.at(i) == 1.0 { -7.0 } else { nx.at(i) });
        exact(&x.clone().masked_fill(mask.clone(), -7), &want);
        let (y, p) = x.clone().masked_fill__vjp(mask.clone(), -7.0, Want::NONE);
        assert!(pulled(p, Some(y.ones_like())).0.is_none());
        check_grad(
            |xs| xs[0].clone().masked_fill(mask.clone(), -7.0),
            |xs, ct| vec![pulled(xs[0].clone().masked_fill__vjp(mask.clone(), -7.0, Want::ALL).1, Some(ct)).0],
            &[x],
            GradCheck::default(),
        );
    }
    let mask = random(&[2, 3], 0.0, 1.0, 0).gt(0.5);
    let Err(Error::Shape { message, .. }) = attempt(|| random(&[3], 0.0, 1.0, 0).masked_fill(mask, 0)) else {
        panic!("an error was expected")
    };
    assert!(message.contains("[2, 3]") && message.contains("[3]"), "{message}");
}
