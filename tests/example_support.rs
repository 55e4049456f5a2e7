//! What the examples share: the command-line reader, the idx reader, the drawing of digits.

#[path = "../examples/support/draw.rs"]
mod draw;
#[path = "../examples/support/idx.rs"]
mod idx;
#[path = "../examples/support/options.rs"]
mod options;

use flate2::Compression;
use flate2::write::GzEncoder;
use idx::{Digits, Idx};
use options::{Opt, Program};
use std::io::Write;
use std::path::{Path, PathBuf};

/// A folder of its own for one test, removed when the test ends.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).expect("a folder for the test");
        Folder(path)
    }

    fn write(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.0.join(name);
        std::fs::write(&path, bytes).expect("a file for the test");
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn idx_bytes(shape: &[u32], data: &[u8]) -> Vec<u8> {
    let header = [0, 0, 8, shape.len() as u8].into_iter();
    header.chain(shape.iter().flat_map(|d| d.to_be_bytes())).chain(data.iter().copied()).collect()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).expect("memory takes all bytes");
    encoder.finish().expect("memory takes all bytes")
}

/// A file with these bytes is refused with this text after its path.
fn check_refused(name: &str, bytes: &[u8], expected: &str) {
    let folder = Folder::new(name);
    let path = folder.write("file", bytes);
    let error = Idx::read(&path, 3).expect_err("the file is malformed").to_string();
    assert_eq!(error, format!("`{}`: {expected}", path.display()));
}

#[test]
fn plain_and_compressed_files_read_alike() {
    let folder = Folder::new("alike");
    let bytes = idx_bytes(&[2, 1, 3], &[1, 2, 3, 4, 5, 6]);
    for path in [folder.write("plain", &bytes), folder.write("gz", &gzip(&bytes))] {
        let array = Idx::read(&path, 3).expect("the file is sound");
        assert_eq!((array.shape, array.bytes), (vec![2, 1, 3], vec![1, 2, 3, 4, 5, 6]));
    }
}

#[test]
fn malformed_files_say_what_was_expected() {
    let not_idx = "not an idx file of unsigned bytes: it starts with `50 4b 03`, expected `00 00 08`";
    check_refused("magic", b"PK\x03\x04....", not_idx);
    let rank = "holds an array of 1 axes, expected 3 (3 for images, 1 for labels)";
    check_refused("rank", &idx_bytes(&[2], &[1, 2]), rank);
    check_refused("empty", &[], "ends inside its header, expected 16 bytes of it");
    check_refused("cut", &idx_bytes(&[2, 2, 2], &[])[..9], "ends inside its header, expected 16 bytes of it");
    let short = "holds 7 bytes of data, expected 8 for shape [2, 2, 2]";
    check_refused("short", &idx_bytes(&[2, 2, 2], &[0; 7]), short);
    let long = "holds more than the 8 bytes expected for shape [2, 2, 2]";
    check_refused("long", &idx_bytes(&[2, 2, 2], &[0; 9]), long);
    let huge = "the header promises an array of shape [4294967295, 4294967295, 4294967295], \
                expected at most 2147483648 bytes";
    check_refused("huge", &idx_bytes(&[u32::MAX; 3], &[]), huge);
    let whole = gzip(&idx_bytes(&[2, 2, 2], &[0; 8]));
    let folder = Folder::new("gzip");
    let path = folder.write("cut", &whole[..whole.len() - 9]);
    let error = Idx::read(&path, 3).expect_err("the stream is cut").to_string();
    let expected = format!("`{}`: starts as a gzip stream, expected a whole one: ", path.display());
    assert!(error.starts_with(&expected), "{error}");
}

#[test]
fn a_missing_file_is_named() {
    let error = Digits::read(Path::new("no-such-folder"), "train", 10).expect_err("there is no such folder");
    assert!(error.to_string().starts_with("`no-such-folder/train-images-idx3-ubyte.gz`: "), "{error}");
}

#[test]
fn labels_must_fit_the_images() {
    let folder = Folder::new("labels");
    folder.write("train-images-idx3-ubyte", &idx_bytes(&[2, 1, 1], &[0, 255]));
    let labels = folder.write("train-labels-idx1-ubyte", &idx_bytes(&[1], &[0]));
    let error = |e: idx::IdxError| e.to_string();
    let counted = Digits::read(&folder.0, "train", 10).map(|_| ()).map_err(error);
    assert_eq!(counted, Err(format!("`{}`: holds 1 labels, expected 2, one an image", labels.display())));
    folder.write("train-labels-idx1-ubyte", &idx_bytes(&[2], &[0, 10]));
    let ranged = Digits::read(&folder.0, "train", 10).map(|_| ()).map_err(error);
    assert_eq!(ranged, Err(format!("`{}`: label 1 is 10, expected a class below 10", labels.display())));
}

#[test]
fn the_digits_of_the_repository_are_whole() {
    let dir = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/data/mnist10k"));
    for (set, count) in [("train", 8000), ("test", 2000)] {
        let digits = Digits::read(dir, set, 10).expect("the files are sound");
        assert_eq!((digits.len(), digits.rows, digits.cols), (count, 28, 28));
        assert_eq!(digits.image(count - 1).len(), 28 * 28);
        assert!(digits.image(count).is_empty());
    }
}

const PROGRAM: Program = Program {
    name: "toy",
    about: "a toy",
    arguments: &["FILE"],
    options: &[
        Opt { name: "--epochs", value: "N", help: "how often" },
        Opt { name: "--quiet", value: "", help: "say less" },
    ],
};

fn read(line: &str) -> Result<Option<options::Given>, String> {
    PROGRAM.read(line.split_whitespace().map(str::to_string))
}

#[test]
fn options_are_read_in_any_order() {
    for line in ["--epochs 3 a.txt --quiet", "a.txt --quiet --epochs=3"] {
        let given = read(line).expect("the line is right").expect("no help is asked for");
        assert_eq!((given.number("--epochs", 1), given.has("--quiet")), (Ok(3), true));
        assert_eq!(given.argument(0), "a.txt");
    }
    assert!(read("a.txt --help").is_ok_and(|g| g.is_none()));
    let help = "a toy\n\nUsage: toy FILE [OPTIONS]\n\nOptions:\n  --epochs N  how often\n  --quiet     say less\n";
    assert_eq!(PROGRAM.help(), help);
}

#[test]
fn wrong_lines_are_explained() {
    let check = |line: &str, expected: &str| assert_eq!(read(line).err().as_deref(), Some(expected));
    check("a --epoch 3", "unknown option `--epoch` for `toy`; did you mean `--epochs`?");
    check("a --zzz", "unknown option `--zzz` for `toy`; `toy --help` lists what there is");
    check("a --epochs", "`--epochs` needs a value: `--epochs N`");
    check("a --quiet=yes", "`--quiet` of `toy` takes no value");
    check("a --quiet --quiet", "`--quiet` is given twice");
    check("a b", "`toy` does not take the argument `b`");
    check("", "`toy` needs `FILE`; `toy --help` lists what there is");
    let given = read("a --epochs x").expect("the line is right").expect("no help is asked for");
    let message = "`--epochs` is `x`, expected a whole number from 0 up";
    assert_eq!(given.number::<usize>("--epochs", 1), Err(message.to_string()));
}

#[test]
fn digits_are_drawn() {
    let pixels = [255, 0, 0, 255, 255, 0, 0, 0];
    assert_eq!(draw::image(&pixels, 2, draw::Ink::Blocks), ["\u{2580}\u{2584}", "\u{2580} "]);
    assert_eq!(draw::image(&pixels, 2, draw::Ink::Ascii), ["@ ", "@ "]);
    let blocks = [("a".to_string(), vec!["xx".to_string()]), ("b".to_string(), vec!["y".to_string(), "z".to_string()])];
    assert_eq!(draw::beside(&blocks, 2), "a   b\nxx  y\n    z\n");
}
