//! Tied tensors: written once, read under any of their names.

use crate::support::{Folder, Stored, check_refused, device, f32s};
use cotangent::prelude::*;
use serde_json::json;

/// Table and output share a matrix; `second` is a further name of it.
#[model]
struct Lm {
    table: Embedding![2, 3],
    #[tied(weight = table.weight)]
    head: Linear![3 => 2, bias = false],
    #[tied(head.weight)]
    #[init(zeros)]
    second: Param![2, 3],
}

/// The alias comes first.
#[model]
struct Turned {
    #[tied(fc = last)]
    first: Inner,
    last: Linear![2 => 2],
}

#[model]
struct Inner {
    fc: Linear![2 => 2],
}

const A: [f32; 6] = [1.0, 2.0, 3.0, 4.0, 5.0, -0.0];
const B: [f32; 6] = [1.0, 2.0, 3.0, 4.0, 5.0, 0.0];

fn load(tensors: &[Stored<'_>]) -> Result<Lm, Error> {
    let folder = Folder::new(&format!("tie-{:?}", std::thread::current().id()));
    Lm::load_with(&Default::default(), folder.file(tensors, json!({})), &device())
}

/// Checks that a record gives all names of the tensor these values.
#[track_caller]
fn check(tensors: &[Stored<'_>], expected: &[f32; 6]) {
    let model = load(tensors).expect("loaded");
    let bits = |p: &Param| p.to_vec().iter().map(|v| v.to_bits()).collect::<Vec<_>>();
    let expected = expected.map(f32::to_bits);
    assert_eq!(
        [bits(&model.table.weight), bits(&model.head.weight), bits(&model.second)],
        [(); 3].map(|()| expected.to_vec())
    );
    assert_eq!(model.parameters(), 6, "one tensor");
}

#[test]
fn any_name_will_do() {
    for name in ["table.weight", "head.weight", "second"] {
        check(&[f32s(name, &[2, 3], &A)], &A);
    }
    check(&[f32s("head.weight", &[2, 3], &A), f32s("second", &[2, 3], &A)], &A);
    check(&[f32s("head.weight", &[2, 3], &A), f32s("table.weight", &[2, 3], &A)], &A);
    // The same values in other precisions are the same.
    let wide = A.iter().flat_map(|&v| f64::from(v).to_le_bytes()).collect();
    check(&[f32s("table.weight", &[2, 3], &A), ("head.weight", "F64", &[2, 3], wide)], &A);
}

/// Two names of the tensor, whose values differ by the sign of a zero.
fn pair<'a>(a: &'a str, b: &'a str) -> [Stored<'a>; 2] {
    [f32s(a, &[2, 3], &A), f32s(b, &[2, 3], &B)]
}

#[test]
fn names_that_differ_are_refused() {
    check_refused(load(&pair("table.weight", "head.weight")), &["`table.weight` and `head.weight`", "differ"]);
    check_refused(load(&pair("head.weight", "table.weight")), &["`table.weight` and `head.weight`", "differ"]);
    check_refused(load(&pair("head.weight", "second")), &["`head.weight` and `second`", "differ"]);
    let shapes = [f32s("table.weight", &[2, 3], &A), f32s("second", &[3, 2], &A)];
    check_refused(load(&shapes), &["`table.weight` and `second`", "differ"]);
    let kinds = [f32s("table.weight", &[2, 3], &A), ("second", "I64", &[2, 3][..], vec![0; 48])];
    check_refused(load(&kinds), &["`table.weight` and `second`", "differ"]);
    // A part of a model is held to the same.
    let folder = Folder::new("tie-partial");
    let path = folder.file(&pair("table.weight", "second"), json!({}));
    let partial = Lm::load_partial(&Default::default(), path, &mut Rng::seed(0), &device());
    check_refused(partial.map(|(model, _)| model), &["`table.weight` and `second`", "differ"]);
}

#[test]
fn what_is_missing_is_said_with_all_names() {
    check_refused(load(&[]), &["`table.weight` [2, 3]: missing", "`head.weight`", "`second`"]);
    check_refused(load(&[f32s("head.weight", &[3, 2], &A)]), &["`head.weight`: [3, 2]", "needs [2, 3]"]);
    let extra = [f32s("table.weight", &[2, 3], &A), f32s("head.bias", &[2], &[0.0; 2])];
    check_refused(load(&extra), &["`head.bias` [2]"]);
}

#[test]
fn ties_of_whole_layers() {
    let folder = Folder::new("tie-layers");
    let load = |name: &str, values: &[f32; 4]| {
        let (weight, bias) = (format!("{name}.weight"), format!("{name}.bias"));
        let tensors = [f32s(&weight, &[2, 2], values), f32s(&bias, &[2], &[8.0, 9.0])];
        Turned::load_with(&Default::default(), folder.file(&tensors, json!({})), &device())
    };
    for name in ["last", "first.fc"] {
        let model = load(name, &[1.0, 2.0, 3.0, 4.0]).expect("loaded");
        assert_eq!(model.first.fc.weight.to_vec(), [1.0, 2.0, 3.0, 4.0], "{name}");
        assert_eq!(model.last.weight.to_vec(), [1.0, 2.0, 3.0, 4.0], "{name}");
        let path = folder.join("again.safetensors");
        model.save(&path).expect("saved");
        let record = cotangent::record::Record::open(&path).expect("opened");
        assert_eq!(record.tensors().map(|(name, _)| name).collect::<Vec<_>>(), ["last.bias", "last.weight"]);
        Turned::load(&path, &device()).expect("loaded again");
    }
}

/// A tie whose target is a layer with ties of its own.
#[model]
struct Late {
    #[tied(weight = lm.head.weight)]
    early: Linear![3 => 2, bias = false],
    lm: Lm,
}

#[test]
fn a_tie_that_comes_too_late_is_refused() {
    let built = cotangent::attempt(|| Late::init(&mut Rng::seed(0), &device()));
    check_refused(built, &["lm.head.weight", "`lm.table.weight`", "before"]);
}
