//! Losses: methods of the prediction, with a target.

use super::inputs::{Inputs, Stop};
use super::registry::{Results, Row};
use cotangent::diff::{Pullback, Want};

pub(super) const ROWS: &[Row] = &[("CrossEntropyLoss", cross_entropy), ("MSELoss", mse)];

/// The target of ignored rows, the default of PyTorch and the only one here.
const IGNORED: i64 = -100;

fn cross_entropy(i: &Inputs<'_>) -> Result<Results, Stop> {
    i.only("reduction", "mean")?;
    i.only("label_smoothing", 0.0)?;
    i.only("ignore_index", IGNORED)?;
    if i.holds_floats("in.weight").is_some() {
        return Err(i.missing("weight"));
    }
    if i.holds_floats("in.target") == Some(true) {
        return Err(i.missing("probabilities"));
    }
    let (x, target) = (i.float("in.input")?, i.int("in.target")?);
    if x.rank() != 2 {
        return Err(i.missing("spatial"));
    }
    let mut results = Results::new();
    results.out("y", x.clone().cross_entropy(target.clone()));
    let (y, pullback) = x.cross_entropy__vjp(target, Want::ALL);
    results.out("y", y);
    results.grad("in.input", pullback.pull(i.ct("y")?, &mut ()).0);
    Ok(results)
}

fn mse(i: &Inputs<'_>) -> Result<Results, Stop> {
    i.only("reduction", "mean")?;
    let (x, target) = (i.float("in.input")?, i.float("in.target")?);
    let mut results = Results::new();
    results.out("y", x.clone().mse_loss(target.clone()));
    let (y, pullback) = x.mse_loss__vjp(target, Want::ALL);
    results.out("y", y);
    let (ct, ct_target) = pullback.pull(i.ct("y")?, &mut ());
    results.grad("in.input", ct);
    results.grad("in.target", ct_target);
    Ok(results)
}
