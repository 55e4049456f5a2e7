//! Headers that are refused before a tensor is read.

use crate::support::{by_hand, check_no_record, f32s, with_header};
use cotangent::record::Record;
use serde_json::json;

/// Checks a header above 16 bytes of data.
#[track_caller]
fn check(header: &str, parts: &[&str]) {
    check_no_record(with_header(header.as_bytes(), &[0; 16]), parts);
}

#[test]
fn lengths() {
    check_no_record(vec![], &["0 bytes", "at least 8"]);
    check_no_record(vec![1; 7], &["7 bytes", "at least 8"]);
    check_no_record(vec![9, 0, 0, 0, 0, 0, 0, 0, b'{', b'}'], &["claims 9 bytes", "has 10", "truncated"]);
    check_no_record(vec![255; 64], &[&format!("claims {} bytes", u64::MAX), "has 64"]);
    check_no_record(vec![0; 8], &["cannot be read", "EOF"]);
    check_no_record(with_header(&vec![b' '; 100_000_001], &[]), &["100000001 bytes", "at most 100000000"]);
}

#[test]
fn text() {
    check_no_record(with_header(b"{\"\xff\": 1}", &[]), &["UTF-8", "byte 2"]);
    check("[1, 2]", &["cannot be read", "an object of tensors by name"]);
    check("{", &["cannot be read", "EOF"]);
    check("{} x", &["cannot be read", "trailing characters"]);
    check(&"[".repeat(100_000), &["cannot be read"]);
    check(&format!(r#"{{"w": {}"#, r#"{"x":"#.repeat(100_000)), &["cannot be read"]);
}

#[test]
fn entries_have_the_right_form() {
    let entry = |fields: &str| format!(r#"{{"w": {{{fields}}}}}"#);
    check(&entry(r#""dtype": "F32", "shape": [4]"#), &["`w`", "missing field `data_offsets`"]);
    check(&entry(r#""dtype": "F32", "shape": [-4], "data_offsets": [0, 16]"#), &["`w`", "`-4`"]);
    check(&entry(r#""dtype": "F32", "shape": [1.5], "data_offsets": [0, 16]"#), &["`w`", "`1.5`"]);
    check(&entry(r#""dtype": "F32", "shape": "4", "data_offsets": [0, 16]"#), &["`w`", "a sequence"]);
    check(&entry(r#""dtype": 32, "shape": [4], "data_offsets": [0, 16]"#), &["`w`", "a string"]);
    check(&entry(r#""dtype": "F32", "shape": [4], "data_offsets": [0]"#), &["`w`", "length 1"]);
    check(&entry(r#""dtype": "F32", "shape": [1e400], "data_offsets": [0, 16]"#), &["`w`"]);
    check(r#"{"w": null}"#, &["`w`", "null"]);
    check(r#"{"__metadata__": {"a": 1}}"#, &["`__metadata__`", "`a`", "a string"]);
}

#[test]
fn each_tensor_fits_its_bytes() {
    let tensor = |dtype: &str, shape: &str, offsets: &str| {
        format!(r#"{{"w": {{"dtype": "{dtype}", "shape": {shape}, "data_offsets": {offsets}}}}}"#)
    };
    check(&tensor("F99", "[4]", "[0, 16]"), &["`w`", "`F99`", "`F32`", "write it again"]);
    check(&tensor("F32", "[3]", "[0, 16]"), &["`w`", "[3]", "12 bytes", "0..16 hold 16"]);
    check(&tensor("F64", "[]", "[0, 16]"), &["`w`", "[]", "8 bytes", "0..16 hold 16"]);
    check(&tensor("F32", "[5]", "[0, 20]"), &["`w`", "0..20", "16 bytes"]);
    check(&tensor("F32", "[4]", "[16, 0]"), &["`w`", "16..0", "backwards"]);
    check(&tensor("F32", "[0]", "[99, 99]"), &["`w`", "99..99", "16 bytes"]);
    check(&tensor("F32", "[4294967296, 4294967296]", "[0, 16]"), &["`w`", "more elements"]);
    check(&tensor("F32", "[18446744073709551615]", "[0, 16]"), &["`w`", "more elements"]);
    check(&tensor("F32", "[4]", "[0, 18446744073709551615]"), &["`w`", "beyond the data"]);
    check(&tensor("F4", "[3]", "[0, 16]"), &["`w`", "12 bits", "whole bytes"]);
    let axes = format!("[{}1]", "1, ".repeat(5000));
    check(&tensor("F32", &axes, "[0, 16]"), &["`w`", "[..]", "5001 axes", "at most 64"]);
}

#[test]
fn every_byte_belongs_to_one_tensor() {
    let pair = |a: &str, b: &str| {
        let tensor = |offsets: &str| format!(r#"{{"dtype": "U8", "shape": [4], "data_offsets": {offsets}}}"#);
        let header = format!(r#"{{"a": {}, "b": {}}}"#, tensor(a), tensor(b));
        with_header(header.as_bytes(), &[0; 8])
    };
    assert!(Record::from_bytes("x", pair("[0, 4]", "[4, 8]")).is_ok());
    assert!(Record::from_bytes("x", pair("[4, 8]", "[0, 4]")).is_ok(), "the order of entries is free");
    check_no_record(pair("[0, 4]", "[2, 6]"), &["`b`", "2..6", "`a`", "4", "bytes 6..8 after the last tensor"]);
    check_no_record(pair("[0, 4]", "[0, 4]"), &["`b`", "`a`", "overlap"]);
    check_no_record(pair("[1, 5]", "[4, 8]"), &["`a`", "bytes 0..1", "`b`", "overlap"]);
    let hole = r#"{"a": {"dtype": "U8", "shape": [4], "data_offsets": [8, 12]}}"#;
    check_no_record(with_header(hole.as_bytes(), &[0; 12]), &["`a`", "bytes 0..8 before its offsets 8..12"]);
    check_no_record(with_header(b"{}", &[0; 12]), &["bytes 0..12", "belong to none"]);
}

#[test]
fn names_are_unique() {
    let zero = r#"{"dtype": "F32", "shape": [0], "data_offsets": [0, 0]}"#;
    check_no_record(
        with_header(format!(r#"{{"w": {zero}, "v": {zero}, "w": {zero}}}"#).as_bytes(), &[]),
        &["`w`", "two entries of this name"],
    );
    check(r#"{"__metadata__": {"a": "1", "a": "2"}}"#, &["`__metadata__.a`", "two entries"]);
    check(r#"{"__metadata__": {}, "__metadata__": {}}"#, &["`__metadata__`", "two entries"]);
    // An escape does not hide an equal name.
    check(&format!(r#"{{"w": {zero}, "\u0077": {zero}}}"#), &["`w`", "two entries"]);
}

#[test]
fn many_faults_are_counted() {
    let entries: Vec<String> =
        (0..40).map(|i| format!(r#""w{i:02}": {{"dtype": "F31", "shape": [1], "data_offsets": [0, 4]}}"#)).collect();
    check(&format!("{{{}}}", entries.join(", ")), &["`w00`", "`w15`", "24 more"]);
}

#[test]
fn odd_records_that_are_whole() {
    let empty = Record::from_bytes("x", with_header(b"{}", &[])).expect("a record without tensors");
    assert_eq!((empty.tensors().len(), empty.texts().len()), (0, 0));
    let no_texts = Record::from_bytes("x", with_header(br#"{"__metadata__": null}   "#, &[])).expect("no texts");
    assert!(no_texts.texts().len() == 0);
    let tensors = [f32s("", &[1], &[1.5]), f32s("none", &[0, 7], &[]), f32s("a.\u{1F600}", &[], &[2.5])];
    let record = Record::from_bytes("x", by_hand(&tensors, json!({ "k": "v" }))).expect("odd names");
    let device = crate::support::device();
    assert_eq!(record.read_f32("", &device).expect("read").to_vec(), [1.5]);
    assert_eq!(record.read_f32("a.\u{1F600}", &device).expect("read").item(), 2.5);
    assert_eq!(record.read_f32("none", &device).expect("read").shape(), [0, 7]);
    assert_eq!(record.text("k"), Some("v"));
}
