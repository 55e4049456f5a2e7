//! Optimisers and gradient clipping: five steps on given gradients.

use super::inputs::{Inputs, Stop};
use super::registry::{Results, Row};
use cotangent::optim::{clip_grad_norm, clip_grad_value};
use cotangent::prelude::*;

pub(super) const ROWS: &[Row] =
    &[("SGD", sgd), ("Adam", adam), ("AdamW", adamw), ("clip_grad_norm", norm), ("clip_grad_value", value)];

/// Runs the steps of a case: the parameters are a list, which is a model, and so are their gradients.
fn run(i: &Inputs<'_>, mut step: impl FnMut(&mut Vec<Param>, Vec<Option<Tensor>>)) -> Result<Results, Stop> {
    let names = i.params();
    let mut model = Vec::new();
    let mut steps = Vec::new();
    for name in &names {
        model.push(Param::new(i.float(&format!("param.{name}"))?));
        let grads = i.float(&format!("in.grad_{name}"))?;
        let count = isize::try_from(grads.size(0)).unwrap_or(0);
        steps.push((0..count).map(|at| grads.clone().narrow(0, at as usize, 1).squeeze(0)).collect::<Vec<Tensor>>());
    }
    let count = steps.first().map_or(0, Vec::len);
    let mut after: Vec<Vec<Tensor>> = vec![Vec::new(); names.len()];
    for at in 0..count {
        step(&mut model, steps.iter().map(|s| Some(s[at].clone())).collect());
        for (list, param) in after.iter_mut().zip(&model) {
            list.push(Tensor::from_slice(&param.to_vec(), param.shape(), param.device()));
        }
    }
    let mut results = Results::new();
    for (name, list) in names.iter().zip(after) {
        results.out(name, stack(list, 0));
    }
    Ok(results)
}

fn sgd(i: &Inputs<'_>) -> Result<Results, Stop> {
    let mut opt = Sgd::new(i.number("lr")?)
        .momentum(i.number("momentum")?)
        .dampening(i.number("dampening")?)
        .weight_decay(i.number("weight_decay")?)
        .nesterov(i.flag("nesterov")?)
        .maximize(i.flag("maximize")?);
    run(i, |model, grads| opt.step(model, grads))
}

fn adam(i: &Inputs<'_>) -> Result<Results, Stop> {
    let (beta1, beta2) = i.pair("betas")?;
    let mut opt = Adam::new(i.number("lr")?)
        .betas(beta1, beta2)
        .eps(i.number("eps")?)
        .weight_decay(i.number("weight_decay")?)
        .amsgrad(i.flag("amsgrad")?);
    run(i, |model, grads| opt.step(model, grads))
}

fn adamw(i: &Inputs<'_>) -> Result<Results, Stop> {
    let (beta1, beta2) = i.pair("betas")?;
    let mut opt = AdamW::new(i.number("lr")?)
        .betas(beta1, beta2)
        .eps(i.number("eps")?)
        .weight_decay(i.number("weight_decay")?)
        .amsgrad(i.flag("amsgrad")?);
    run(i, |model, grads| opt.step(model, grads))
}

fn clipped(i: &Inputs<'_>, clip: impl FnOnce(&mut Vec<Option<Tensor>>) -> Option<f64>) -> Result<Results, Stop> {
    let names = ["a", "b"];
    let mut grads = Vec::new();
    for name in names {
        grads.push(Some(i.float(&format!("in.{name}"))?));
    }
    let norm = clip(&mut grads);
    let mut results = Results::new();
    if let Some(norm) = norm {
        results.out("total_norm", Tensor::from_slice(&[norm as f32], [0usize; 0], &Device::default()));
    }
    for (name, grad) in names.into_iter().zip(grads) {
        if let Some(grad) = grad {
            results.out(name, grad);
        }
    }
    Ok(results)
}

fn norm(i: &Inputs<'_>) -> Result<Results, Stop> {
    i.only("norm_type", 2.0)?;
    let most = i.number("max_norm")?;
    clipped(i, |grads| Some(clip_grad_norm(grads, most)))
}

fn value(i: &Inputs<'_>) -> Result<Results, Stop> {
    let most = i.number("clip_value")?;
    clipped(i, |grads| {
        clip_grad_value(grads, most);
        None
    })
}
