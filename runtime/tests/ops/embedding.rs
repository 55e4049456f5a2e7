use crate::reference::{cpu, layouts, pulled, random};
use cotangent_runtime::diff::Want;
use cotangent_runtime::testing::{GradCheck, check_grad};
use cotangent_runtime::{Error, Tensor, attempt};

#[test]
fn rows_are_gathered_and_their_cotangents_added() {
    for (shape, values) in
        [(&[4][..], vec![1i64, 0, 1, 3]), (&[], vec![2]), (&[2, 0], vec![]), (&[2, 2], vec![3, 3, 3, 0])]
    {
        let ids = Tensor::from_slice(&values, shape, &cpu());
        for table in layouts(&[4, 5], -1.0, 1.0, 3) {
            let (rows, y) = (table.to_vec(), table.clone().embedding(ids.clone()));
            assert_eq!(y.shape(), [shape, &[5]].concat());
            let want: Vec<f32> = values.iter().flat_map(|&i| rows[i as usize * 5..][..5].to_vec()).collect();
            assert_eq!(y.to_vec(), want);
            let (y, p) = table.clone().embedding__vjp(ids.clone(), Want::NONE);
            assert!(pulled(p, Some(y.ones_like())).0.is_none());
            check_grad(
                |xs| xs[0].clone().embedding(ids.clone()),
                |xs, ct| vec![pulled(xs[0].clone().embedding__vjp(ids.clone(), Want::ALL).1, Some(ct)).0],
                &[table],
                GradCheck::default(),
            );
        }
    }
}

#[test]
fn ids_out_of_range_are_named() {
    let table = random(&[4, 5], 0.0, 1.0, 1);
    for bad in [4i64, -2] {
        let ids = Tensor::from_slice(&[0, bad, 1], [3], &cpu());
        let Err(Error::Argument { op, message }) = attempt(|| table.clone().embedding(ids)) else {
            panic!("an error was expected")
        };
        assert!(
            op == "embedding" && message.contains(&format!("id {bad} ")) && message.contains("V is 4"),
            "{message}"
        );
    }
    let ids = Tensor::from_slice(&[0i64], [1], &cpu());
    assert!(matches!(attempt(|| random(&[4], 0.0, 1.0, 0).embedding(ids)), Err(Error::Shape { .. })));
}
