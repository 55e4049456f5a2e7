//! Comparisons for the tests of random bodies.

use cotangent::Tensor;
use std::collections::{BTreeMap, BTreeSet};

/// The values, zeros where there is no cotangent, and the largest of them.
fn values(all: &BTreeMap<String, Tensor>, name: &str) -> (Vec<f64>, f64) {
    let list = all.get(name).map(|t| t.to_vec_of::<f64>()).unwrap_or_default();
    let size = list.iter().fold(0.0f64, |most, v| most.max(v.abs()));
    (list, size)
}

/// Asserts that cotangents are equal but for `tolerance` times the largest of them. Panics with `what` and the place.
pub fn compare(found: &BTreeMap<String, Tensor>, wanted: &BTreeMap<String, Tensor>, tolerance: f64, what: &str) {
    let names: BTreeSet<&String> = found.keys().chain(wanted.keys()).collect();
    // Cotangents that cancel are as inexact as the largest one.
    let largest = names.iter().map(|name| values(wanted, name).1).fold(1e-3, f64::max);
    for name in names {
        if let (Some(f), Some(w)) = (found.get(name), wanted.get(name)) {
            assert_eq!(f.shape(), w.shape(), "{what}: the shape of `{name}`");
        }
        let ((f, _), (w, _)) = (values(found, name), values(wanted, name));
        for at in 0..f.len().max(w.len()) {
            let (f, w) = (f.get(at).copied().unwrap_or(0.0), w.get(at).copied().unwrap_or(0.0));
            let close = (f - w).abs() <= tolerance * largest;
            assert!(close, "{what}: element {at} of `{name}` is {f} instead of {w} (largest {largest:.2e})");
        }
    }
}
