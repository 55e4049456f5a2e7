//! Holds results against what a case expects.

use super::case::{Array, Case, Data, Tolerance};
use super::registry::Results;
use cotangent::DType;
use std::borrow::Cow;

/// Every `out.*`, `state_after.*` and `grad.*` of the case must be among the results and equal.
pub(super) fn results(case: &Case, results: &Results) -> Result<(), String> {
    for (name, want) in &case.arrays {
        let tolerance = match name.split('.').next() {
            Some("out" | "state_after") => case.out,
            Some("grad") => case.grad,
            _ => continue,
        };
        let mut missing = true;
        for got in results.of(name) {
            missing = false;
            // No cotangent stands for a zero one.
            let zero = || zeros(want.dtype, &want.shape);
            let got = got.as_ref().map_or_else(|| Cow::Owned(zero()), Cow::Borrowed);
            arrays(&got, want, tolerance).map_err(|e| format!("`{name}` {e}"))?;
        }
        if missing {
            return Err(format!("`{name}` is not computed"));
        }
    }
    Ok(())
}

fn zeros(dtype: DType, shape: &[usize]) -> Array {
    Array { dtype, shape: shape.to_vec(), data: Data::Floats(vec![0.0; shape.iter().product()]) }
}

/// Says which element is furthest off, if any is too far.
fn arrays(got: &Array, want: &Array, tolerance: Tolerance) -> Result<(), String> {
    if got.shape != want.shape {
        return Err(format!("has shape {:?}, expected {:?}", got.shape, want.shape));
    }
    if got.dtype != want.dtype {
        return Err(format!("has dtype `{}`, expected `{}`", got.dtype, want.dtype));
    }
    match (&got.data, &want.data) {
        (Data::Floats(got), Data::Floats(want_data)) => floats(got, want_data, &want.shape, tolerance),
        (Data::Whole(got), Data::Whole(want_data)) => match got.iter().zip(want_data).position(|(g, w)| g != w) {
            None => Ok(()),
            Some(i) => Err(format!("at {:?} is {}, expected {}", place(i, &want.shape), got[i], want_data[i])),
        },
        (Data::Floats(_), Data::Whole(_)) => Err("is a float array, expected whole numbers".into()),
        (Data::Whole(_), Data::Floats(_)) => Err("is an array of whole numbers, expected floats".into()),
    }
}

fn floats(got: &[f64], want: &[f64], shape: &[usize], tolerance: Tolerance) -> Result<(), String> {
    let Tolerance { rtol, atol } = tolerance;
    let excess = |(&g, &w): (&f64, &f64)| {
        if g == w || (g.is_nan() && w.is_nan()) {
            return 0.0;
        }
        let ratio = (g - w).abs() / (atol + rtol * w.abs());
        if ratio.is_nan() { f64::INFINITY } else { ratio }
    };
    let ratios: Vec<f64> = got.iter().zip(want).map(excess).collect();
    let Some((worst, ratio)) = ratios.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1)) else { return Ok(()) };
    if *ratio <= 1.0 {
        return Ok(());
    }
    let off = ratios.iter().filter(|r| **r > 1.0).count();
    Err(format!(
        "at {:?} is {:e}, expected {:e}: {ratio:.1} times the tolerance (rtol {rtol:e}, atol {atol:e}); {off} of {} elements are off",
        place(worst, shape),
        got[worst],
        want[worst],
        want.len()
    ))
}

/// The index of the `i`-th element, one number an axis.
fn place(mut i: usize, shape: &[usize]) -> Vec<usize> {
    let mut index: Vec<usize> = shape.iter().rev().map(|&d| (i % d, i /= d).0).collect();
    index.reverse();
    index
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOLERANCE: Tolerance = Tolerance { rtol: 1e-5, atol: 1e-6 };

    fn array(shape: &[usize], data: &[f64]) -> Array {
        Array { dtype: DType::F32, shape: shape.to_vec(), data: Data::Floats(data.to_vec()) }
    }

    #[test]
    fn the_worst_element_is_named() {
        let want = array(&[2, 2], &[1.0, 2.0, 3.0, 4.0]);
        assert_eq!(arrays(&want, &want, TOLERANCE), Ok(()));
        assert_eq!(arrays(&array(&[2, 2], &[1.000001, 2.0, 3.0, 4.0]), &want, TOLERANCE), Ok(()));
        let message = arrays(&array(&[2, 2], &[1.1, 2.0, 5.0, 4.0]), &want, TOLERANCE).unwrap_err();
        assert!(message.starts_with("at [1, 0] is 5e0, expected 3e0"), "{message}");
        assert!(message.ends_with("2 of 4 elements are off"), "{message}");
    }

    #[test]
    fn shapes_and_odd_values_count() {
        let one = array(&[1], &[1.0]);
        assert_eq!(arrays(&array(&[1, 1], &[1.0]), &one, TOLERANCE), Err("has shape [1, 1], expected [1]".into()));
        assert!(arrays(&array(&[1], &[f64::NAN]), &one, TOLERANCE).is_err());
        assert!(arrays(&array(&[1], &[f64::INFINITY]), &array(&[1], &[f64::NEG_INFINITY]), TOLERANCE).is_err());
        assert_eq!(arrays(&array(&[1], &[f64::INFINITY]), &array(&[1], &[f64::INFINITY]), TOLERANCE), Ok(()));
    }
}
