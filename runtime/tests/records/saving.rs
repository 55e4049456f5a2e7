//! A file has its name only when it is complete.

use crate::support::{Folder, check_refused, device};
use cotangent::prelude::*;
use cotangent::record::Record;

fn layer(seed: u64) -> Linear {
    Linear::init(LinearConfig { I: 64, O: 64, bias: true }, &mut Rng::seed(seed), &device())
}

#[test]
fn a_write_that_fails_leaves_the_old_file() {
    let folder = Folder::new("fails");
    // A name that is allowed, while the longer one of the file beside it is not.
    let name = "n".repeat(250);
    let path = folder.join(&name);
    let short = folder.join("short");
    layer(0).save(&short).expect("saved");
    std::fs::rename(&short, &path).expect("renamed");
    let before = std::fs::read(&path).expect("read");
    let result = layer(1).save(&path);
    assert!(matches!(result, Err(Error::Io { .. })), "{result:?}");
    assert_eq!(std::fs::read(&path).expect("read"), before);
    assert_eq!(folder.names(), [name]);
}

#[test]
fn a_rename_that_fails_leaves_nothing() {
    let folder = Folder::new("rename");
    let taken = folder.join("taken");
    std::fs::create_dir(&taken).expect("a folder");
    std::fs::write(taken.join("inside"), b"kept").expect("written");
    check_refused(layer(0).save(&taken), &["taken"]);
    assert_eq!(folder.names(), ["taken"]);
    check_refused(layer(0).save(folder.join("no/such/folder")), &["no/such/folder"]);
    check_refused(layer(0).save(""), &["``"]);
}

#[test]
fn a_record_that_is_open_keeps_its_contents() {
    let folder = Folder::new("open");
    let path = folder.join("m.safetensors");
    layer(0).save(&path).expect("saved");
    let old = Record::open(&path).expect("opened");
    layer(1).save(&path).expect("saved");
    assert_eq!(old.read_f32("weight", &device()).expect("read").to_vec(), layer(0).weight.to_vec());
    assert_eq!(Linear::load(&path, &device()).expect("loaded").weight.to_vec(), layer(1).weight.to_vec());
    assert_eq!(folder.names(), ["m.safetensors"]);
}

#[test]
fn writers_of_one_file_do_not_mix() {
    let folder = Folder::new("writers");
    let path = folder.join("m.safetensors");
    std::thread::scope(|scope| {
        for seed in 0..4 {
            let path = &path;
            scope.spawn(move || {
                let layer = layer(seed);
                for _ in 0..5 {
                    layer.save(path).expect("saved");
                    Linear::load(path, &device()).expect("a whole file");
                }
            });
        }
    });
    let last = Linear::load(&path, &device()).expect("loaded").weight.to_vec();
    assert!((0..4).any(|seed| layer(seed).weight.to_vec() == last), "the file is one writer's");
    assert_eq!(folder.names(), ["m.safetensors"]);
}

#[test]
fn names_without_a_folder() {
    // The folder of a bare name is the present one; the test cleans up after itself.
    let name = format!("cotangent-bare-{}.safetensors", std::process::id());
    layer(0).save(&name).expect("saved");
    let loaded = Linear::load(&name, &device());
    std::fs::remove_file(&name).expect("removed");
    assert_eq!(loaded.expect("loaded").weight.to_vec(), layer(0).weight.to_vec());
}
