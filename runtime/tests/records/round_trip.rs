//! What is saved comes back, bit for bit.

use crate::support::{Folder, by_hand, check_refused, device};
use cotangent::prelude::*;
use cotangent::record::{Entry, Record};
use serde_json::{Value, json};

#[model(dims(C, N = 2))]
struct Block {
    fc: Linear![C => N*C, bias = false],
    #[init(normal(1.0))]
    gate: Param![N, C],
    #[state(ones)]
    mean: State![C],
    #[config(0.25)]
    rate: f64,
    name: String,
}

#[model(dims(C, L))]
struct Net {
    blocks: [Block![C, name = "b"]; L],
    #[init(Linear![3 => 3], Tanh, LayerNorm![3])]
    layers: Vec<Box<dyn Layer>>,
    #[config(false)]
    #[init(zeros)]
    scale: Option<Param![C]>,
}

/// Every tensor of a model by path, as bits.
fn bits<M: Model>(model: &M) -> Vec<(String, Vec<usize>, Vec<u32>)> {
    let tensors = model.named_tensors().into_iter();
    tensors.map(|(name, t)| (name, t.shape().to_vec(), t.to_vec().iter().map(|v| v.to_bits()).collect())).collect()
}

/// Saves and loads, and compares config and tensors.
#[track_caller]
fn check<M: Model>(model: &M, name: &str) {
    let folder = Folder::new(name);
    let path = folder.join("model.safetensors");
    model.save(&path).expect("saved");
    let same = M::load(&path, &device()).expect("loaded");
    let config = |model: &M| serde_json::to_value(model.config()).expect("JSON");
    assert_eq!(config(&same), config(model));
    assert_eq!(bits(&same), bits(model));
    assert_eq!(folder.names(), ["model.safetensors"], "nothing else is left in the folder");
    // The same file again, byte for byte.
    let again = folder.join("again.safetensors");
    same.save(&again).expect("saved");
    let read = |path| Record::open(path).expect("opened");
    let (first, second) = (read(path), read(again));
    assert!(first.texts().eq(second.texts()));
}

#[test]
fn parameters_state_and_config() {
    let config = NetConfig::new(3, 2);
    let model = Net::init(config, &mut Rng::seed(0), &device());
    model.blocks[1].mean.set(Tensor::from_slice(&[0.5, -0.0, 7.0], [3], &device()));
    check(&model, "net");
    let config = NetConfig { scale: true, ..NetConfig::new(3, 0) };
    check(&Net::init(config, &mut Rng::seed(1), &device()), "net-scale");
    check(&Tanh::init(&mut Rng::seed(1), &device()), "no-tensors");
}

#[test]
fn every_bit_of_every_layout() {
    let values = [f32::NAN, f32::from_bits(0x7f80_0001), -0.0, f32::INFINITY, f32::MIN_POSITIVE / 8.0, f32::MAX];
    let mut model = Embedding::init(EmbeddingConfig { V: 3, C: 2 }, &mut Rng::seed(0), &device());
    model.weight.set(Tensor::from_slice(&values, [2, 3], &device()).transpose(0, 1));
    check(&model, "transposed");
    model.weight.set(Tensor::from_slice(&values, [6, 1], &device()).narrow(0, 1, 3).expand([3, 2]));
    check(&model, "expanded");
}

#[test]
fn empty_tensors() {
    check(&Embedding::init(EmbeddingConfig { V: 0, C: 2 }, &mut Rng::seed(0), &device()), "empty");
}

#[test]
fn names_and_texts_of_a_file() {
    let folder = Folder::new("texts");
    let path = folder.join("m.safetensors");
    let config = NetConfig::new(3, 1);
    Net::init(config, &mut Rng::seed(0), &device()).save(&path).expect("saved");
    let record = Record::open(&path).expect("opened");
    assert_eq!(record.text("cotangent.model"), Some("Net"));
    let config: Value = serde_json::from_str(record.text("cotangent.config").expect("a config")).expect("JSON");
    assert_eq!((&config["C"], &config["L"], &config["scale"]), (&json!(3), &json!(1), &json!(false)));
    let names: Vec<&str> = record.tensors().map(|(name, _)| name).collect();
    let expected = [
        "blocks.0.fc.weight",
        "blocks.0.gate",
        "blocks.0.mean",
        "layers.0.bias",
        "layers.0.weight",
        "layers.2.bias",
        "layers.2.weight",
    ];
    assert_eq!(names, expected);
    let entry = record.get("blocks.0.fc.weight").expect("an entry");
    assert_eq!((&entry.shape[..], entry.dtype().as_str()), (&[6, 3][..], "F32"));
}

/// A model of one tensor.
#[model]
struct One {
    #[init(zeros)]
    w: Param![4],
    #[state(zeros)]
    s: State![1],
}

/// The bytes of a number.
type Encode = fn(f64) -> Vec<u8>;

#[test]
fn every_dtype_of_a_file() {
    let folder = Folder::new("dtypes");
    let floats: [(&str, Encode); 4] = [
        ("F32", |v| (v as f32).to_le_bytes().to_vec()),
        ("F64", |v| v.to_le_bytes().to_vec()),
        ("BF16", |v| ((v as f32).to_bits() >> 16).to_le_bytes()[..2].to_vec()),
        ("F16", |v| half(v as f32).to_le_bytes().to_vec()),
    ];
    // Values that each of the formats holds exactly.
    let values = [1.0, -2.5, 0.0, f64::INFINITY];
    for (dtype, encode) in floats {
        let all = values.iter().flat_map(|&v| encode(v)).collect();
        let path = folder.file(&[("w", dtype, &[4], all), ("s", dtype, &[1], encode(0.5))], json!({}));
        let model = One::load_with(&Default::default(), path, &device()).expect("loaded");
        assert_eq!(model.w.to_vec(), values.map(|v| v as f32), "{dtype}");
        assert_eq!(model.s.get().to_vec(), [0.5], "{dtype}");
    }
    for (dtype, size) in [("I64", 8), ("U8", 1), ("BOOL", 1), ("F8_E4M3", 1), ("C64", 8)] {
        let path = folder.file(&[("w", dtype, &[4], vec![0; 4 * size]), ("s", dtype, &[1], vec![0; size])], json!({}));
        let result = One::load_with(&Default::default(), &path, &device());
        check_refused(result, &["by-hand", "`w`", "`s`", &format!("`{dtype}`"), "`F32`, `F64`, `F16` and `BF16`"]);
        let record = Record::open(&path).expect("opened");
        assert_eq!(record.get("w").map(Entry::dtype).as_deref(), Some(dtype));
        check_refused(record.read_f32("w", &device()), &["`w`", &format!("`{dtype}`")]);
    }
}

/// IEEE 754 binary16 of a value that it holds exactly and that is not subnormal.
fn half(v: f32) -> u16 {
    let bits = v.to_bits();
    let sign = (bits >> 16 & 0x8000) as u16;
    match bits >> 23 & 0xff {
        0 => sign,
        255 => sign | 0x7c00,
        exponent => sign | ((exponent - 112) << 10) as u16 | (bits >> 13 & 0x3ff) as u16,
    }
}

#[test]
fn records_in_memory() {
    let bytes = by_hand(&[crate::support::f32s("w", &[2], &[1.0, 2.0])], json!({}));
    let record = Record::from_bytes("mine", bytes).expect("a record");
    assert_eq!(record.name(), "mine");
    check_refused(record.read_f32("v", &device()), &["`mine`", "`v`", "missing"]);
}
