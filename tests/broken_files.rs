//! Files with wrong bytes are refused, and reading one takes bounded memory, whatever it claims: what the file has for
//! tensors, [`HEADER`] times its header, and [`BASE`]. Alone in its binary, since all of the process's memory is counted.
#![allow(clippy::allow_attributes_without_reason, reason = "the expansion of a model has attributes without reasons")]
#![allow(unsafe_code, reason = "an allocator that counts")]

use cotangent::prelude::*;
use cotangent::record::{Checkpoint, Record};
use serde_json::{Value, json};
use std::alloc::{GlobalAlloc, Layout, System};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// The system's allocator, and the bytes that it gave: those in use, and the most at once.
struct Counting;

static USED: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call is the system allocator's, with the same arguments.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        PEAK.fetch_max(USED.fetch_add(layout.size(), Relaxed) + layout.size(), Relaxed);
        // SAFETY: as above.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, ptr: *mut u8, layout: Layout) {
        USED.fetch_sub(layout.size(), Relaxed);
        // SAFETY: as above.
        unsafe { System.dealloc(ptr, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// How many bytes are taken for one of the header: a text of one letter is two strings, an extent of one digit a number.
const HEADER: usize = 4;

/// What is taken for any file: errors, the first of what does not fit.
const BASE: usize = 256 << 10;

/// What a tensor takes beside its elements: the handle, its names in a model or an optimiser, the least block.
const TENSOR: usize = 1 << 10;

/// How many bytes are taken for one of a config, whose JSON is copied: an object of one entry is a map.
const CONFIG: usize = 400;

/// What is taken for a layer that a config claims; up to 65,536 are believed.
const LAYER: usize = 40;

/// The most memory that `f` had at once, beyond what was in use before.
fn taken(f: impl FnOnce()) -> usize {
    let before = USED.load(Relaxed);
    PEAK.store(before, Relaxed);
    f();
    PEAK.load(Relaxed).saturating_sub(before)
}

#[model(dims(C, L))]
struct Net {
    table: Embedding![4, C],
    blocks: [Linear![C => 2*C]; L],
    #[tied(weight = table.weight)]
    head: Linear![C => 4, bias = false],
    #[state(zeros)]
    mean: State![C],
    #[init(Linear![3 => 3], Tanh)]
    layers: Vec<Box<dyn Layer>>,
}

/// Everything that reads a file. No outcome is wrong but a panic; true where the model loads.
fn look(path: &Path) -> bool {
    let device = Device::cpu();
    if let Ok(record) = Record::open(path) {
        for (name, _) in record.tensors() {
            let _ = record.read(name, &device);
        }
    }
    if let Ok(checkpoint) = Checkpoint::open(path) {
        let _ = checkpoint.model::<Net>(&device);
        let (mut rng, mut cx) = (Rng::seed(0), Cx::train(0));
        let _ = checkpoint.restore(&mut AdamW::new(1.0), &mut rng, &mut cx, &device);
        let _ = checkpoint.restore(&mut Sgd::new(1.0), &mut rng, &mut cx, &device);
        let _ = Order::new(10, 2, 0).resume(checkpoint.note("order").unwrap_or_default());
    }
    let _ = Net::load_partial(&NetConfig::new(3, 2), path, &mut Rng::seed(0), &device);
    Net::load(path, &device).is_ok()
}

/// Looks at a file of these bytes, in memory bounds, and says whether the model loads.
fn check(path: &Path, bytes: &[u8], what: &str) -> bool {
    check_with(path, bytes, 0, what)
}

/// Looks at a file that may take so many bytes beside what the others take.
fn check_with(path: &Path, bytes: &[u8], more: usize, what: &str) -> bool {
    std::fs::write(path, bytes).expect("written");
    let mut loads = false;
    let taken = taken(|| match catch_unwind(AssertUnwindSafe(|| look(path))) {
        Ok(found) => loads = found,
        Err(_) => panic!("{what}: a panic"),
    });
    let claimed = bytes.first_chunk().map_or(0, |length| u64::from_le_bytes(*length));
    let header = usize::try_from(claimed).map_or(bytes.len(), |length| length.min(bytes.len()));
    let accepted = bytes.len() - header + HEADER * header + BASE + more;
    assert!(
        taken <= accepted,
        "{what}: {taken} bytes were taken for {} beside a header of {header}",
        bytes.len() - header
    );
    loads
}

/// A file of a model, and one of a checkpoint.
fn files(path: &PathBuf) -> [Vec<u8>; 2] {
    let (device, mut rng, mut cx) = (Device::cpu(), Rng::seed(0), Cx::train(0));
    let mut model = Net::init(NetConfig::new(3, 2), &mut rng, &device);
    model.save(path).expect("saved");
    let first = std::fs::read(path).expect("read");
    let mut opt = AdamW::new(1e-3);
    cx.enter();
    let grads = NetGrads { mean: Default::default(), ..Default::default() };
    opt.step(&mut model, grads);
    let order = Order::new(10, 2, 0).to_string();
    Checkpoint::save(path, &model, &opt, &rng, &cx, &[("order", &order)]).expect("saved");
    [first, std::fs::read(path).expect("read")]
}

fn header(bytes: &[u8]) -> (Value, &[u8]) {
    let length = u64::from_le_bytes(*bytes.first_chunk().expect("a length")) as usize;
    (serde_json::from_slice(&bytes[8..8 + length]).expect("JSON"), &bytes[8 + length..])
}

fn file(header: &[u8], data: &[u8]) -> Vec<u8> {
    [&(header.len() as u64).to_le_bytes(), header, data].concat()
}

#[test]
fn no_bytes_panic_or_take_memory() {
    let path = std::env::temp_dir().join(format!("cotangent-broken-{}.safetensors", std::process::id()));
    let whole = files(&path);
    // What is made once, for the process.
    std::fs::write(&path, &whole[0]).expect("written");
    look(&path);
    for (kind, bytes) in whole.iter().enumerate() {
        assert_eq!(check(&path, bytes, "the whole file"), kind == 0);
        truncated(&path, bytes);
        random(&path, bytes, kind as u64);
        lengths(&path, bytes);
        headers(&path, bytes);
    }
    texts(&path, &whole);
    dense(&path);
    dense_texts(&path, &whole[1]);
    large(&path);
    std::fs::remove_file(path).expect("removed");
}

fn truncated(path: &Path, bytes: &[u8]) {
    for length in (0..bytes.len()).step_by(13).chain([7, 8, 9, bytes.len() - 1]) {
        assert!(!check(path, &bytes[..length], &format!("the first {length} bytes")));
    }
}

/// Flipped bits, and bytes put in, left out and copied.
fn random(path: &Path, bytes: &[u8], seed: u64) {
    let mut rng = Rng::seed(seed);
    for round in 0..400 {
        let mut wrong = bytes.to_vec();
        for _ in 0..1 + rng.below(5) {
            let at = rng.below(wrong.len());
            match rng.below(5) {
                0 => wrong[at] ^= 1 << rng.below(8),
                1 => wrong[at] = rng.bits() as u8,
                2 => wrong.insert(at, rng.bits() as u8),
                3 => drop(wrong.remove(at)),
                _ => {
                    let (from, n) = (rng.below(wrong.len()), rng.below(60));
                    let run = wrong[from..(from + n).min(wrong.len())].to_vec();
                    wrong.splice(at..at, run);
                }
            }
        }
        check(path, &wrong, &format!("round {round} of seed {seed}"));
    }
}

/// Headers that claim to be long.
fn lengths(path: &Path, bytes: &[u8]) {
    let all = bytes.len() as u64;
    for length in [0, 1, 2, all - 9, all - 8, all, 100_000_000, 1 << 40, i64::MAX as u64, u64::MAX - 7, u64::MAX] {
        let mut wrong = bytes.to_vec();
        wrong[..8].copy_from_slice(&length.to_le_bytes());
        assert!(!check(path, &wrong, &format!("a header of {length} bytes")));
    }
}

/// One entry of a whole header rewritten.
fn headers(path: &Path, bytes: &[u8]) {
    let (header, data) = header(bytes);
    let huge = u64::MAX;
    let entries = [
        json!({ "data_offsets": [0, huge] }),
        json!({ "data_offsets": [huge, huge] }),
        json!({ "data_offsets": [-8, 4] }),
        json!({ "data_offsets": [8, 4] }),
        json!({ "data_offsets": [0, 4, 8] }),
        json!({ "data_offsets": [0, 1e300] }),
        json!({ "data_offsets": [0, data.len()] }),
        json!({ "shape": [1u64 << 32, 1u64 << 32] }),
        json!({ "shape": [huge, huge, 0] }),
        json!({ "shape": [0, 0, 0, huge] }),
        json!({ "shape": [-3, -4] }),
        json!({ "shape": vec![1; 10_000] }),
        json!({ "shape": vec![huge; 10_000] }),
        json!({ "shape": "[4, 3]" }),
        json!({ "dtype": "F64" }),
        json!({ "dtype": "F8_E4M3" }),
        json!({ "dtype": "F4" }),
        json!({ "dtype": "BOOL" }),
        json!({ "dtype": "I64" }),
        json!({ "dtype": "C64" }),
        json!({ "dtype": "F".repeat(10_000) }),
        json!({ "dtype": null }),
        json!({ "more": { "deep": [[[[]]]] } }),
    ];
    let names: Vec<String> = header.as_object().expect("an object").keys().cloned().collect();
    for name in names.iter().filter(|name| *name != "__metadata__") {
        for entry in &entries {
            let mut wrong = header.clone();
            for (key, value) in entry.as_object().expect("an object") {
                wrong[name][key] = value.clone();
            }
            check(path, &file(wrong.to_string().as_bytes(), data), &format!("`{name}` with {entry:.100}"));
        }
        let mut without = header.clone();
        without.as_object_mut().expect("an object").remove(name);
        assert!(!check(path, &file(without.to_string().as_bytes(), data), &format!("without `{name}`")));
        // The same name twice, and the same bytes under two names.
        let (entry, text) = (header[name].to_string(), header.to_string());
        for other in [name.as_str(), "other"] {
            let wrong = format!("{{\"{other}\":{entry},{}", &text[1..]);
            assert!(!check(path, &file(wrong.as_bytes(), data), &format!("`{name}` again as `{other}`")));
        }
    }
    let deep = |open: &str, close: &str| format!("{{\"a\":{}{}}}", open.repeat(100_000), close.repeat(100_000));
    let odd =
        ["", "{", "[]", "null", "\"\"", "{}", "{\"__metadata__\":[]}", "{\"__metadata__\":{\"a\":1}}", "\u{feff}{}"];
    for text in odd.map(String::from).into_iter().chain([deep("[", "]"), deep("{\"a\":", "}"), deep("[{\"a\":", "}]")])
    {
        assert!(!check(path, &file(text.as_bytes(), data), &format!("the header {text:.40}")));
    }
    check(path, &file(&[0xff; 50], data), "no UTF-8");
}

/// Metadata that claims large models, and other states of a run.
fn texts(path: &Path, whole: &[Vec<u8>; 2]) {
    let huge = [0u64, 4, 1 << 16, 1 << 20, 1 << 31, 1 << 40, i64::MAX as u64, u64::MAX];
    for bytes in whole {
        let (header, data) = header(bytes);
        let with = |key: &str, value: String| {
            let mut wrong = header.clone();
            wrong["__metadata__"][key] = json!(value);
            file(wrong.to_string().as_bytes(), data)
        };
        let config: Value =
            serde_json::from_str(header["__metadata__"]["cotangent.config"].as_str().expect("a config")).expect("JSON");
        for n in huge {
            for dim in ["C", "L"] {
                let mut wrong = config.clone();
                wrong[dim] = json!(n);
                let what = format!("`{dim}` of {n}");
                let layers = if dim == "L" { LAYER << 16 } else { 0 };
                assert!(!check_with(path, &with("cotangent.config", wrong.to_string()), layers, &what), "{what}");
            }
        }
        for (key, values) in [
            ("cotangent.optim", ["{}", "[]", "{\"lr\": \"x\"}", "1e999", "{\"lr\":1,\"steps\":{\"a\":-1}}"]),
            ("cotangent.rng", ["{}", "null", "{\"key\":-1,\"counter\":0}", "[1,2,3]", "\"\""]),
            ("cotangent.cx", ["{}", "{\"training\":1}", "[]", "{\"training\":true,\"seed\":1e40}", "x"]),
            ("cotangent.config", ["{}", "null", "[[[[", "{\"C\":{}}", "{\"C\":3,\"L\":2,\"layers\":[{}]}"]),
            (
                "note.order",
                [
                    "{}",
                    "{\"examples\":18446744073709551615,\"batch\":1,\"seed\":0,\"epoch\":0,\"given\":0}",
                    "{\"examples\":1099511627776,\"batch\":1,\"seed\":0,\"epoch\":0,\"given\":0}",
                    "{\"examples\":1,\"batch\":0,\"seed\":0,\"epoch\":0,\"given\":0}",
                    "7",
                ],
            ),
        ] {
            for value in values {
                check(path, &with(key, value.into()), &format!("`{key}` of {value}"));
            }
        }
    }
}

/// As many entries as go into a megabyte of an object; also their number.
fn many(entry: &dyn Fn(usize) -> String) -> (String, usize) {
    let (mut text, mut count) = (String::from("{"), 0);
    while text.len() < LENGTH {
        text.extend([if count == 0 { "" } else { "," }, &entry(count)]);
        count += 1;
    }
    (text + "}", count)
}

const LENGTH: usize = 1 << 20;

/// Headers that say as much as they can.
fn dense(path: &Path) {
    let empty = r#""shape":[0],"data_offsets":[0,0]"#;
    let ones = ["1"; 63].join(",");
    let look = |header: &str, more, what: &str| check_with(path, &file(header.as_bytes(), &[]), more, what);
    let entries = |entry: &dyn Fn(usize) -> String, what: &str| look(&many(entry).0, 0, what);
    entries(&|i| format!(r#""{i:x}":{{"dtype":"U8",{empty}}}"#), "many tensors");
    entries(&|i| format!(r#""{i:x}":{{"dtype":"U9",{empty}}}"#), "many unknown dtypes");
    entries(&|_| format!(r#""":{{"dtype":"U8",{empty}}}"#), "one name");
    entries(&|i| format!(r#""{i:x}":{{"dtype":"U8","shape":[0,{ones}],"data_offsets":[0,0]}}"#), "long shapes");
    entries(&|i| format!(r#""{i:x}":{{"dtype":"U8","shape":[0,{ones},1],"data_offsets":[0,0]}}"#), "longer shapes");
    let (header, count) = many(&|i| format!(r#""optim.{i:x}":{{"dtype":"F32",{empty}}}"#));
    look(&header, TENSOR * count, "many tensors of an optimiser");
    let (texts, _) = many(&|i| format!(r#""{i:x}":"""#));
    look(&format!(r#"{{"__metadata__":{texts}}}"#), 0, "many texts");
    look(&format!(r#"{{"__metadata__":{texts},"x":0}}"#), 0, "many texts and a mistake");
    let long = "n".repeat(LENGTH);
    look(&format!(r#"{{"{long}":{{"dtype":"U9",{empty}}}}}"#), 0, "a long name");
    look(&format!(r#"{{"{long}":[]}}"#), 0, "a long name of no tensor");
    look(&format!(r#"{{"a":{{"dtype":"{long}",{empty}}}}}"#), 0, "a long dtype");
    look(&format!(r#"{{"a":{{"dtype":"U8","shape":"{long}"}}}}"#), 0, "a long text for a shape");
    look(&format!(r#"{{"__metadata__":{{"a":"{}"}}}}"#, "\\n".repeat(LENGTH / 2)), 0, "a long text of escapes");
}

/// Configs and settings that say as much as they can.
fn dense_texts(path: &Path, whole: &[u8]) {
    let (header, data) = header(whole);
    let with = |key: &str, entry: &str, text: &str, factor: usize, what: &str| {
        let mut wrong = header.clone();
        let own: Value = serde_json::from_str(header["__metadata__"][key].as_str().expect("a text")).expect("JSON");
        let mut own = own.as_object().expect("an object").clone();
        own.insert(entry.into(), serde_json::from_str(text).expect("JSON"));
        wrong["__metadata__"][key] = json!(serde_json::to_string(&own).expect("JSON"));
        check_with(path, &file(wrong.to_string().as_bytes(), data), factor * text.len(), what);
    };
    let list = |entry: &str| format!("[{}]", vec![entry; LENGTH / (entry.len() + 1)].join(","));
    let layer = |config: String| format!(r#"[{{"name":"Tanh","config":{config}}}]"#);
    with("cotangent.config", "layers", &list(r#"{"name":"","config":0}"#), CONFIG, "many layers");
    with("cotangent.config", "layers", &layer(list("0")), CONFIG, "a layer with many numbers");
    with("cotangent.config", "layers", &layer(list(r#"{"":0}"#)), CONFIG, "a layer with many objects");
    with("cotangent.optim", "steps", &many(&|i| format!(r#""{i:x}":1"#)).0, 2 * HEADER, "many steps");
}

/// Tensors take what the file has for them.
fn large(path: &Path) {
    let (device, mut rng) = (Device::cpu(), Rng::seed(0));
    Net::init(NetConfig::new(700, 2), &mut rng, &device).save(path).expect("saved");
    let bytes = std::fs::read(path).expect("read");
    assert!(check(path, &bytes, "large tensors"));
}
