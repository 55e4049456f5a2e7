//! Records that do not fit a model: every misfit is said at once, and what may be left out may be left out.

use crate::support::{Folder, check_refused, device, f32s};
use cotangent::prelude::*;
use serde_json::json;

#[model]
struct Small {
    fc: Linear![3 => 2],
    #[state(zeros)]
    mean: State![2],
}

#[model]
struct Other {
    fc: Linear![3 => 4],
    extra: Linear![1 => 1, bias = false],
}

fn small() -> Small {
    Small::init(&mut Rng::seed(0), &device())
}

#[test]
fn misfits_come_together() {
    let folder = Folder::new("together");
    let path = folder.join("small.safetensors");
    small().save(&path).expect("saved");
    let result = Other::load_with(&Default::default(), &path, &device());
    let parts = ["small.safetensors", "`fc.weight`: [2, 3]", "needs [4, 3]", "`fc.bias`: [2]", "needs [4]"];
    check_refused(result.clone(), &parts);
    check_refused(result, &["`extra.weight` [1, 1]: missing", "`mean` [2]: in the record, but not in the model"]);
    check_refused(Other::load(&path, &device()), &["`Small`", "`Other`"]);
    check_refused(Small::load(folder.join("none"), &device()), &["none"]);
    check_refused(Small::load(folder.join(""), &device()), &["cotangent-records"]);
}

#[test]
fn foreign_files_need_a_config() {
    let folder = Folder::new("foreign");
    let tensors = [f32s("weight", &[2, 3], &[0.0; 6]), f32s("bias", &[2], &[1.0, 2.0])];
    let path = folder.file(&tensors, json!({ "format": "pt" }));
    check_refused(Linear::load(&path, &device()), &["no config", "Linear::load_with"]);
    let config = LinearConfig { I: 3, O: 2, bias: true };
    let layer = Linear::load_with(&config, &path, &device()).expect("loaded");
    assert_eq!(layer.bias.map(|b| b.to_vec()), Some(vec![1.0, 2.0]));
    let config = LinearConfig { bias: false, ..config };
    check_refused(Linear::load_with(&config, &path, &device()), &["`bias` [2]", "the config leaves it out"]);
    let path = folder.file(&tensors, json!({ "cotangent.model": "Linear", "cotangent.config": "{\"I\": true}" }));
    check_refused(Linear::load(&path, &device()), &["config", "`Linear`"]);
}

#[test]
fn parts_of_a_record() {
    let folder = Folder::new("parts");
    let path = folder.file(
        &[f32s("extra.weight", &[1, 1], &[3.0]), f32s("left", &[0], &[]), f32s("over.w", &[1], &[0.0])],
        json!({}),
    );
    let mut rng = Rng::seed(4);
    let (model, partial) = Other::load_partial(&Default::default(), &path, &mut rng, &device()).expect("loaded");
    assert_eq!(partial.missing, ["fc.weight", "fc.bias"]);
    assert_eq!(partial.unread, ["left", "over.w"]);
    assert_eq!(model.extra.weight.to_vec(), [3.0]);
    assert!(model.fc.weight.to_vec().iter().any(|&w| w != 0.0), "what is missing is initialised");
    // A wrong shape is an error all the same.
    let path = folder.file(&[f32s("fc.bias", &[3], &[0.0; 3])], json!({}));
    let result = Other::load_partial(&Default::default(), &path, &mut rng, &device());
    check_refused(result.map(|(model, _)| model), &["`fc.bias`: [3]", "needs [4]"]);
}

/// A model that grew a field after its first records were written.
#[model]
struct Grown {
    fc: Linear![3 => 2],
    #[optional]
    #[init(ones)]
    scale: Param![2],
    #[optional]
    #[state(zeros)]
    seen: State![1],
}

#[test]
fn optional_fields_have_defaults() {
    let folder = Folder::new("optional");
    let old = [f32s("fc.weight", &[2, 3], &[0.0; 6]), f32s("fc.bias", &[2], &[0.0; 2])];
    let path = folder.file(&old, json!({}));
    let model = Grown::load_with(&Default::default(), &path, &device()).expect("loaded");
    assert_eq!((model.scale.to_vec(), model.seen.get().to_vec()), (vec![1.0; 2], vec![0.0]));
    let new = [&old[..], &[f32s("scale", &[2], &[5.0, 6.0])]].concat();
    let model = Grown::load_with(&Default::default(), folder.file(&new, json!({})), &device()).expect("loaded");
    assert_eq!(model.scale.to_vec(), [5.0, 6.0]);
    let wrong = [&old[..], &[f32s("scale", &[1], &[5.0])]].concat();
    let path = folder.file(&wrong, json!({}));
    check_refused(Grown::load_with(&Default::default(), path, &device()), &["`scale`: [1]", "needs [2]"]);
    // Only what is marked may be missing.
    let path = folder.file(&[f32s("scale", &[2], &[5.0, 6.0])], json!({}));
    check_refused(Grown::load_with(&Default::default(), path, &device()), &["`fc.weight` [2, 3]", "`fc.bias` [2]"]);
}

#[model(dims(L))]
struct Long {
    layers: [Linear![1 => 1]; L],
}

#[test]
fn a_config_that_asks_for_too_much_stops_early() {
    let folder = Folder::new("long");
    let texts = |config: &str| json!({ "cotangent.model": "Long", "cotangent.config": config });
    let path = folder.file(&[], texts("{\"L\": 60000}"));
    check_refused(Long::load(path, &device()), &["`layers.0.weight` [1, 1]", "more than 200 tensors"]);
    let path = folder.file(&[], texts("{\"L\": 1000000000000}"));
    check_refused(Long::load(path, &device()), &["1000000000000 layers"]);
    let texts = json!({ "cotangent.model": "Linear", "cotangent.config": "{\"I\": 9e18, \"O\": 1, \"bias\": true}" });
    assert!(Linear::load(folder.file(&[], texts), &device()).is_err());
    let config = format!("{{\"I\": {0}, \"O\": {0}, \"bias\": true}}", usize::MAX);
    let texts = json!({ "cotangent.model": "Linear", "cotangent.config": config });
    check_refused(Linear::load(folder.file(&[], texts), &device()), &["`weight`", "missing"]);
}

#[test]
fn too_many_axes() {
    let folder = Folder::new("axes");
    let path = folder.file(&[f32s("w", &[1; 9], &[0.0])], json!({}));
    let record = cotangent::record::Record::open(path).expect("opened");
    check_refused(record.read_f32("w", &device()), &["`w`", "9 axes", "at most 8"]);
}
