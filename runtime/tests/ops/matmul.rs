use crate::reference::{Array, broadcast, close, layouts, pulled, random};
use cotangent_runtime::diff::Want;
use cotangent_runtime::testing::{GradCheck, check_grad};
use cotangent_runtime::{Error, attempt};

/// The product of arrays of rank 2 and more.
fn product(a: &Array, b: &Array) -> Array {
    let ((la, ma), (lb, mb)) = (a.shape.split_at(a.shape.len() - 2), b.shape.split_at(b.shape.len() - 2));
    let mut shape = broadcast(la, lb);
    shape.extend([ma[0], mb[1]]);
    Array::from_fn(&shape, |at| {
        let (lead, last) = at.split_at(at.len() - 2);
        let of = |array: &Array, lead: &[usize], row, column| {
            let skip = lead.len() - (array.shape.len() - 2);
            array.at(&[&lead[skip..], &[row, column]].concat())
        };
        (0..ma[1]).map(|k| of(a, lead, last[0], k) * of(b, lead, k, last[1])).sum()
    })
}

/// The product with vectors as rows and columns.
fn reference(a: &Array, b: &Array) -> Array {
    let (mut pa, mut pb) = (a.clone(), b.clone());
    if a.shape.len() == 1 {
        pa.shape.insert(0, 1);
    }
    if b.shape.len() == 1 {
        pb.shape.push(1);
    }
    let mut y = product(&pa, &pb);
    if b.shape.len() == 1 {
        y.shape.pop();
    }
    if a.shape.len() == 1 {
        let row = y.shape.len() - if b.shape.len() == 1 { 1 } else { 2 };
        y.shape.remove(row);
    }
    y
}

#[test]
fn products_of_all_ranks_and_layouts() {
    for (n, [sa, sb]) in [
        [&[3][..], &[3][..]],
        [&[3], &[3, 4]],
        [&[2, 3], &[3]],
        [&[2, 3], &[3, 4]],
        [&[1, 1], &[1, 1]],
        [&[5, 2, 3], &[3, 4]],
        [&[5, 2, 3], &[3]],
        [&[3], &[5, 3, 4]],
        [&[5, 2, 3], &[5, 3, 4]],
        [&[2, 3], &[5, 3, 4]],
        [&[1, 2, 3], &[5, 3, 4]],
        [&[4, 1, 2, 3], &[5, 3, 2]],
        [&[2, 0], &[0, 3]],
        [&[0, 2], &[2, 3]],
        [&[4, 2, 0], &[0, 3]],
        [&[0, 2, 3], &[3, 4]],
        [&[0, 2, 3], &[0, 3, 4]],
        [&[65, 70], &[70, 33]],
    ]
    .into_iter()
    .enumerate()
    {
        for a in layouts(sa, -1.0, 1.0, n as u64) {
            for b in layouts(sb, -1.0, 1.0, n as u64 + 50) {
                let want = reference(&Array::of(&a), &Array::of(&b));
                close(&a.clone().matmul(b.clone()), &want);
                for wants in [[false, false], [true, false], [false, true], [true, true]] {
                    let (y, p) = a.clone().matmul__vjp(b.clone(), Want::of(&wants));
                    close(&y, &want);
                    let (da, db) = pulled(p, Some(y.ones_like()));
                    assert_eq!([da.is_some(), db.is_some()], wants);
                }
                check_grad(
                    |xs| xs[0].clone().matmul(xs[1].clone()),
                    |xs, ct| {
                        let (da, db) = pulled(xs[0].clone().matmul__vjp(xs[1].clone(), Want::ALL).1, Some(ct));
                        vec![da, db]
                    },
                    &[a.clone(), b],
                    GradCheck { most: 12, ..GradCheck::default() },
                );
            }
        }
    }
}

#[test]
fn heads_are_multiplied_in_place() {
    let (q, k) = (random(&[2, 5, 3, 4], -1.0, 1.0, 1), random(&[2, 5, 3, 4], -1.0, 1.0, 2));
    let (q, k) = (q.transpose(1, 2), k.transpose(1, 2).transpose(-1, -2));
    close(&q.clone().matmul(k.clone()), &product(&Array::of(&q), &Array::of(&k)));
}

#[test]
fn misfits_name_both_shapes() {
    for (sa, sb) in [(&[2, 3][..], &[4, 5][..]), (&[2, 2, 3], &[3, 3, 4]), (&[], &[3]), (&[3], &[2])] {
        let (a, b) = (random(sa, 0.0, 1.0, 0), random(sb, 0.0, 1.0, 0));
        let Err(Error::Shape { op, message }) = attempt(|| a.matmul(b)) else { panic!("an error was expected") };
        assert_eq!(op, "matmul");
        let batch = sa.len() > 2;
        assert!(batch || message.contains(&format!("{sa:?}")) && message.contains(&format!("{sb:?}")), "{message}");
    }
}

#[test]
fn affine_maps() {
    for (n, [shape, weight]) in
        [[&[3][..], &[4, 3][..]], [&[5, 3], &[4, 3]], [&[2, 5, 3], &[1, 3]], [&[0, 3], &[4, 3]], [&[2, 0], &[4, 0]]]
            .into_iter()
            .enumerate()
    {
        let weights = layouts(weight, -1.0, 1.0, n as u64 + 50);
        let biases = layouts(&weight[..1], -1.0, 1.0, n as u64 + 90);
        for (i, x) in layouts(shape, -1.0, 1.0, n as u64).into_iter().enumerate() {
            let w = weights[(i + 1) % weights.len()].clone();
            let b = biases[(i + 2) % biases.len()].clone();
            let (xs, ws, bs) = (Array::of(&x), Array::of(&w), Array::of(&b));
            let mut outer = shape[..shape.len() - 1].to_vec();
            outer.push(weight[0]);
            let want = Array::from_fn(&outer, |at| {
                let (o, lead) = at.split_last().unwrap();
                let sum: f64 = (0..weight[1]).map(|k| xs.at(&[lead, &[k]].concat()) * ws.at(&[*o, k])).sum();
                sum + bs.data[*o]
            });
            close(&x.clone().linear(w.clone(), b.clone()), &want);
            for i in 0..3 {
                let (y, p) = x.clone().linear__vjp(w.clone(), b.clone(), Want::of(&[true, i == 1, i == 2]));
                let (dx, dw, db) = pulled(p, Some(y.ones_like()));
                assert!(dx.is_some() && dw.is_some() == (i == 1) && db.is_some() == (i == 2), "{i}");
            }
            check_grad(
                |xs| xs[0].clone().linear(xs[1].clone(), xs[2].clone()),
                |xs, ct| {
                    let (_, p) = xs[0].clone().linear__vjp(xs[1].clone(), xs[2].clone(), Want::ALL);
                    let (dx, dw, db) = pulled(p, Some(ct));
                    vec![dx, dw, db]
                },
                &[x, w, b],
                GradCheck { most: 6, ..GradCheck::default() },
            );
        }
    }
}

#[test]
fn operands_of_affine_maps_are_checked() {
    let of = |shape: &[usize]| random(shape, 0.0, 1.0, 1);
    let fails = |x: &[usize], w: &[usize], b: &[usize]| attempt(|| of(x).linear(of(w), of(b))).unwrap_err().to_string();
    assert_eq!(fails(&[2, 3], &[3], &[3]), "linear: [2, 3] with the weight [3], expected `[.., I]` and `[O, I]`");
    assert_eq!(
        fails(&[2, 3], &[4, 5], &[4]),
        "linear: [2, 3] with the weight [4, 5] and the bias [4], expected `[.., I]`, `[O, I]` and `[O]`"
    );
    assert!(fails(&[2, 3], &[4, 3], &[3]).contains("and the bias [3]"));
}
