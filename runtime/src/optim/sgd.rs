//! Stochastic gradient descent.

use super::{Masters, collect, gradients, state, walk};
use crate::model::Model;
use crate::raise::raise;
use crate::record::{Stateful, named, unnamed};
use crate::tensor::Tensor;
use cotangent_hal::{Error, Result};
use cotangent_macros::kernel;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Stochastic gradient descent with momentum, PyTorch's `optim.SGD`.
///
/// `g = ∂L/∂p + weight_decay·p`, `b = momentum·b + (1 - dampening)·g` (at first `b = g`), and `p -= lr·b`, with
/// Nesterov's momentum `p -= lr·(g + momentum·b)`.
#[derive(Clone, Debug)]
pub struct Sgd {
    settings: Settings,
    momenta: BTreeMap<String, Tensor>,
    masters: Masters,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Settings {
    lr: f64,
    momentum: f64,
    dampening: f64,
    weight_decay: f64,
    nesterov: bool,
    maximize: bool,
}

impl Sgd {
    /// Plain gradient descent with step size `lr`.
    pub fn new(lr: f64) -> Self {
        let settings =
            Settings { lr, momentum: 0.0, dampening: 0.0, weight_decay: 0.0, nesterov: false, maximize: false };
        Sgd { settings, momenta: BTreeMap::new(), masters: Masters::default() }
    }

    /// With momentum; 0 is none.
    pub fn momentum(mut self, momentum: f64) -> Self {
        self.settings.momentum = momentum;
        self
    }

    /// With a dampened share of new gradients in the momentum.
    pub fn dampening(mut self, dampening: f64) -> Self {
        self.settings.dampening = dampening;
        self
    }

    /// With an L2 penalty, `weight_decay/2·|p|²`.
    pub fn weight_decay(mut self, weight_decay: f64) -> Self {
        self.settings.weight_decay = weight_decay;
        self
    }

    /// With Nesterov's momentum, which needs a momentum and no dampening.
    pub fn nesterov(mut self, on: bool) -> Self {
        self.settings.nesterov = on;
        self
    }

    /// Climbs instead of descending.
    pub fn maximize(mut self, on: bool) -> Self {
        self.settings.maximize = on;
        self
    }

    /// The step size.
    pub fn lr(&self) -> f64 {
        self.settings.lr
    }

    /// Sets the step size.
    pub fn set_lr(&mut self, lr: f64) {
        self.settings.lr = lr;
    }

    /// Changes every parameter of `model` that has a gradient.
    ///
    /// # Panics
    /// Raises an error, and changes nothing, where the gradients are those of another model, or where Nesterov's
    /// momentum is asked for without momentum or with dampening.
    #[track_caller]
    pub fn step<M: Model>(&mut self, model: &mut M, mut grads: M::Grads) {
        self.check();
        let grads = gradients(model, collect(&mut grads));
        walk(model, grads, &mut |path, param, grad| {
            let s = &self.settings;
            let sign = if s.maximize { -1.0 } else { 1.0 };
            if s.momentum == 0.0 {
                self.masters.update(path, param, |p| descend(p, grad, s.lr, s.weight_decay, sign));
                return;
            }
            let keep = if self.momenta.contains_key(path) { 1.0 - s.dampening } else { 1.0 };
            let b = state(&mut self.momenta, path, param);
            self.masters.update(path, param, |p| {
                roll(p, b, grad, s.lr, s.weight_decay, sign, s.momentum, keep, s.nesterov);
            });
        });
    }
}

impl Sgd {
    #[track_caller]
    fn check(&self) {
        let s = &self.settings;
        if s.nesterov && (s.momentum <= 0.0 || s.dampening != 0.0) {
            let message = format!(
                "`nesterov` needs a momentum above 0 and no dampening, but they are {} and {}",
                s.momentum, s.dampening
            );
            raise(Error::Argument { op: "Sgd".into(), message });
        }
    }
}

impl Stateful for Sgd {
    fn tensors(&self) -> Vec<(String, Tensor)> {
        let mut all = named("momentum_buffer", &self.momenta);
        all.extend(self.masters.tensors());
        all
    }
    fn settings(&self) -> Result<String> {
        serde_json::to_string(&self.settings).map_err(|e| Error::Argument { op: "Sgd".into(), message: e.to_string() })
    }
    fn restore(&mut self, settings: &str, tensors: Vec<(String, Tensor)>) -> Result<()> {
        self.settings = serde_json::from_str(settings)
            .map_err(|e| Error::Argument { op: "Sgd".into(), message: format!("not its settings: {e}") })?;
        self.momenta = unnamed("momentum_buffer", &tensors);
        self.masters = Masters::restored(&tensors);
        Ok(())
    }
}

/// `p -= lr (±g + decay p)`.
#[kernel]
fn descend(p: &mut Tensor![N..], g: Tensor![N..], lr: f64, decay: f64, sign: f64) {
    |i| p[i] -= lr * (sign * g[i] + decay * p[i])
}

/// `b = momentum b + keep g`; `p -= lr b`, or `lr (g + momentum b)`.
#[kernel]
fn roll(
    p: &mut Tensor![N..],
    b: &mut Tensor![N..],
    g: Tensor![N..],
    lr: f64,
    decay: f64,
    sign: f64,
    momentum: f64,
    keep: f64,
    nesterov: bool,
) {
    |i| {
        let g = sign * g[i] + decay * p[i];
        b[i] = momentum * b[i] + keep * g;
        p[i] -= lr * (if nesterov { g + momentum * b[i] } else { b[i] });
    }
}
