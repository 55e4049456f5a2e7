//! Files with wrong bytes: an error or a model, never a panic.

use crate::support::{Folder, check_refused, device};
use cotangent::prelude::*;
use cotangent::record::{Checkpoint, Record};

#[model(dims(C, L))]
struct Net {
    table: Embedding![4, C],
    blocks: [Linear![C => 2*C]; L],
    #[tied(weight = table.weight)]
    head: Linear![C => 4, bias = false],
    #[optional]
    #[init(ones)]
    scale: Param![C],
    #[init(Linear![3 => 3], Tanh)]
    layers: Vec<Box<dyn Layer>>,
}

fn net() -> Net {
    Net::init(NetConfig::new(3, 2), &mut Rng::seed(0), &device())
}

/// Looks at all that a file holds, in every way. No outcome is wrong but a panic.
fn look(path: &std::path::Path) -> bool {
    if let Ok(record) = Record::open(path) {
        for (name, _) in record.tensors() {
            let _ = record.read_f32(name, &device());
        }
    }
    if let Ok(checkpoint) = Checkpoint::open(path) {
        let _ = checkpoint.model::<Net>(&device());
        let (mut opt, mut rng, mut cx) = (AdamW::new(1.0), Rng::seed(0), Cx::train(0));
        let _ = checkpoint.restore(&mut opt, &mut rng, &mut cx, &device());
    }
    let config = NetConfig::new(3, 2);
    let _ = Net::load_partial(&config, path, &mut Rng::seed(0), &device());
    Net::load(path, &device()).is_ok()
}

/// A file of a model and one of a checkpoint, each with the length of its header.
fn files(folder: &Folder) -> Vec<(Vec<u8>, usize)> {
    let (model, path) = (net(), folder.join("whole.safetensors"));
    model.save(&path).expect("saved");
    let first = std::fs::read(&path).expect("read");
    let (rng, cx) = (Rng::seed(0), Cx::train(0));
    Checkpoint::save(&path, &model, &AdamW::new(1.0), &rng, &cx, &[("epoch", "1")]).expect("saved");
    let second = std::fs::read(&path).expect("read");
    let length = |bytes: &[u8]| 8 + bytes.first_chunk::<8>().map_or(0, |n| u64::from_le_bytes(*n)) as usize;
    [first, second].map(|bytes| (bytes.clone(), length(&bytes))).to_vec()
}

#[test]
fn five_hundred_mutated_files() {
    let folder = Folder::new("mutated");
    let (files, path) = (files(&folder), folder.join("mutated.safetensors"));
    let mut rng = Rng::seed(11);
    let mut survived = 0;
    for round in 0..500 {
        let (mut bytes, header) = files[round % 2].clone();
        for _ in 0..1 + rng.below(4) {
            let at = rng.below(header);
            match round % 5 {
                // Any byte; a digit, which keeps the JSON whole; a bit; a byte more; a copied run.
                0 => bytes[at] = rng.bits() as u8,
                1 => {
                    let digits: Vec<usize> = (8..header).filter(|&i| bytes[i].is_ascii_digit()).collect();
                    bytes[digits[rng.below(digits.len())]] = b'0' + rng.below(10) as u8;
                }
                2 => bytes[at] ^= 1 << rng.below(8),
                3 => bytes.insert(at, b"0123456789{}[],:\""[rng.below(17)]),
                _ => {
                    let (from, n) = (rng.below(header - 8) + 8, rng.below(40));
                    let run = bytes[from..(from + n).min(header)].to_vec();
                    bytes.splice(at..at, run);
                }
            }
        }
        if round % 3 == 0 {
            // The length of the header is made to fit again, so that more than the first check is met.
            let length = (header - 8) as u64 + (bytes.len() as u64).saturating_sub(files[round % 2].0.len() as u64);
            bytes[..8].copy_from_slice(&length.to_le_bytes());
        }
        std::fs::write(&path, &bytes).expect("written");
        survived += usize::from(look(&path));
    }
    assert!(survived > 0, "no mutation left a file that loads: they never get far");
}

#[test]
fn truncated_files() {
    let folder = Folder::new("truncated");
    let (whole, _) = files(&folder).swap_remove(0);
    let path = folder.join("truncated.safetensors");
    for length in (0..whole.len()).step_by(7).chain([whole.len() - 1]) {
        std::fs::write(&path, &whole[..length]).expect("written");
        let error = Net::load(&path, &device()).map(drop).expect_err("a truncated file was read");
        let text = error.to_string();
        assert!(text.contains("truncated.safetensors") && matches!(error, Error::Record { .. }), "{text}");
    }
    std::fs::write(&path, [&whole[..], &[0]].concat()).expect("written");
    assert!(Net::load(&path, &device()).is_err(), "a byte too many");
    std::fs::write(&path, &whole).expect("written");
    assert!(Net::load(&path, &device()).is_ok());
}

#[test]
fn configs_from_files_are_only_numbers() {
    let folder = Folder::new("configs");
    let path = folder.join("config.safetensors");
    net().save(&path).expect("saved");
    let record = Record::open(&path).expect("opened");
    let config = record.text("cotangent.config").expect("a config").to_owned();
    for c in ["0", "4", "9223372036854775807", "18446744073709551615", "-1", "1e30", "null", "\"3\"", "[[[]]]"] {
        let wrong = config.replace("\"C\":3", &format!("\"C\":{c}"));
        assert_ne!(wrong, config);
        let texts = serde_json::json!({ "cotangent.model": "Net", "cotangent.config": wrong });
        let path = folder.file(&[], texts);
        assert!(Net::load(path, &device()).is_err(), "{c}");
    }
}

#[model(dims(N))]
struct Nothing {
    drops: [Tanh; N],
}

#[model(dims(N))]
struct Nested {
    lists: [Nothing![N]; N],
}

#[test]
fn configs_from_files_do_not_divide_by_zero_nor_count_forever() {
    let folder = Folder::new("counts");
    let file = |model: &str, config: &str| {
        folder.file(&[], serde_json::json!({ "cotangent.model": model, "cotangent.config": config }))
    };
    let path = file("CausalSelfAttention", "{\"C\": 4, \"H\": 0}");
    check_refused(CausalSelfAttention::load(path, &device()), &["`4 % 0`"]);
    let path = file("Nested", "{\"N\": 1000000}");
    check_refused(Nested::load(path, &device()), &["1000000 layers", "at most 65536"]);
}
