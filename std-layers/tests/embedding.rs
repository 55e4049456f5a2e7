//! `Embedding`.

mod support;

use cotangent::diff::{Pullback, Want};
use cotangent::prelude::*;
use support::golden::Case;
use support::{by_path, check_method, check_refused, device, layer, layouts};

fn table(rows: usize, width: usize) -> Embedding {
    layer(&EmbeddingConfig { V: rows, C: width })
}

/// Ids of a shape, with repeats, in row-major order and as a view.
fn ids(shape: &[usize], rows: usize) -> Vec<Tensor<Int>> {
    let fill = |shape: &[usize]| {
        let n: usize = shape.iter().product();
        let values: Vec<i64> = (0..n).map(|i| ((i * i + 2) % rows) as i64).collect();
        Tensor::<Int>::from_slice(&values, shape, &device())
    };
    let mut out = vec![fill(shape)];
    if let [.., last] = *shape {
        let mut larger = shape.to_vec();
        larger[shape.len() - 1] = last + 2;
        out.push(fill(&larger).narrow(-1, 1, last));
    }
    out
}

/// Checks the rows of ids: values, and the gradient of the table.
#[track_caller]
fn check(table: &Embedding, shape: &[usize]) {
    let [rows, width] = [table.weight.size(0), table.weight.size(1)];
    for ids in ids(shape, rows) {
        let weight = table.weight.to_vec();
        let picked = ids.to_vec().into_iter().flat_map(|id| weight[id as usize * width..][..width].to_vec());
        assert_eq!(table.forward(ids.clone()).to_vec(), picked.collect::<Vec<_>>());
        check_method(
            table,
            &[],
            &[shape, &[width]].concat(),
            |table, _| table.forward(ids.clone()),
            |table, _, ct, grads| {
                table.forward__vjp(ids.clone(), Want::ALL).1.pull(Some(ct), grads);
                vec![]
            },
        );
    }
}

#[test]
fn shapes_and_gradients() {
    for shape in [&[][..], &[1], &[5], &[0], &[2, 3], &[3, 1], &[0, 4], &[2, 0], &[2, 1, 3]] {
        check(&table(7, 4), shape);
        check(&table(1, 4), shape);
        check(&table(7, 1), shape);
    }
}

#[test]
fn scores_of_all_rows() {
    let table = table(5, 3);
    for shape in [&[3][..], &[2, 3], &[1, 3], &[0, 3], &[2, 4, 3]] {
        let output = [&shape[..shape.len() - 1], &[5]].concat();
        for x in layouts(shape) {
            check_method(
                &table,
                &[x],
                &output,
                |table, xs| table.logits(xs[0].clone()),
                |table, xs, ct, grads| vec![table.logits__vjp(xs[0].clone(), Want::ALL).1.pull(Some(ct), grads).0],
            );
        }
    }
}

#[test]
fn values_of_pytorch() {
    for name in ["embedding_2d", "embedding_repeats"] {
        let case = Case::open(name);
        let weight = case.float("param.weight");
        let mut table = table(weight.size(0), weight.size(1));
        table.weight.set(weight);
        case.compare("out.y", Some(table.forward(case.int("in.x"))));
        let (y, back) = table.forward__vjp(case.int("in.x"), Want::ALL);
        case.compare("out.y", Some(y));
        let mut grads = EmbeddingGrads::default();
        back.pull(case.maybe("ct.y"), &mut grads);
        case.compare("grad.param.weight", by_path(&mut grads).remove("weight").flatten());
    }
}

#[test]
fn ids_outside_of_the_table_are_refused() {
    for bad in [7, -1, i64::MIN, i64::MAX] {
        let ids = Tensor::<Int>::from_slice(&[0, bad], [2], &device());
        check_refused(table(7, 4).try_forward(ids), &["embedding", &bad.to_string(), "is 7"]);
    }
}
