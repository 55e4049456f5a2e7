//! Adam and AdamW.

use super::{Masters, collect, gradients, state, walk};
use crate::model::Model;
use crate::record::{Stateful, named, unnamed};
use crate::tensor::Tensor;
use cotangent_hal::{Error, Result};
use cotangent_macros::kernel;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Settings {
    lr: f64,
    beta1: f64,
    beta2: f64,
    eps: f64,
    weight_decay: f64,
    decoupled: bool,
    amsgrad: bool,
    maximize: bool,
    /// Steps taken so far, by parameter: one that joins later starts at its own first step.
    steps: BTreeMap<String, u64>,
}

/// What [`Adam`] and [`AdamW`] share.
#[derive(Clone, Debug)]
struct Moments {
    settings: Settings,
    first: BTreeMap<String, Tensor>,
    second: BTreeMap<String, Tensor>,
    largest: BTreeMap<String, Tensor>,
    masters: Masters,
}

macro_rules! optimiser {
    ($(#[$doc:meta])* $name:ident, $decoupled:literal, $decay:literal) => {
        $(#[$doc])*
        #[derive(Clone, Debug)]
        pub struct $name(Moments);

        impl $name {
            /// With step size `lr` and PyTorch's defaults for all else.
            pub fn new(lr: f64) -> Self {
                $name(Moments::new(lr, $decoupled, $decay))
            }

            /// With other decay rates of the first and second moment; 0.9 and 0.999 unless given.
            pub fn betas(mut self, beta1: f64, beta2: f64) -> Self {
                (self.0.settings.beta1, self.0.settings.beta2) = (beta1, beta2);
                self
            }

            /// With another number added to the root of the second moment; 1e-8 unless given.
            pub fn eps(mut self, eps: f64) -> Self {
                self.0.settings.eps = eps;
                self
            }

            /// With another weight decay.
            pub fn weight_decay(mut self, weight_decay: f64) -> Self {
                self.0.settings.weight_decay = weight_decay;
                self
            }

            /// With the largest second moment so far in place of the present one (Reddi, Kale and Kumar, 2018).
            pub fn amsgrad(mut self, on: bool) -> Self {
                self.0.settings.amsgrad = on;
                self
            }

            /// Climbs instead of descending.
            pub fn maximize(mut self, on: bool) -> Self {
                self.0.settings.maximize = on;
                self
            }

            /// The step size.
            pub fn lr(&self) -> f64 {
                self.0.settings.lr
            }

            /// Sets the step size.
            pub fn set_lr(&mut self, lr: f64) {
                self.0.settings.lr = lr;
            }

            /// Changes every parameter of `model` that has a gradient.
            ///
            /// # Panics
            /// Raises an error, and changes nothing, where the gradients are those of another model.
            #[track_caller]
            pub fn step<M: Model>(&mut self, model: &mut M, mut grads: M::Grads) {
                let grads = gradients(model, collect(&mut grads));
                walk(model, grads, &mut |path, param, grad| self.0.update(path, param, grad));
            }
        }

        impl Stateful for $name {
            fn tensors(&self) -> Vec<(String, Tensor)> {
                self.0.tensors()
            }
            fn settings(&self) -> Result<String> {
                serde_json::to_string(&self.0.settings)
                    .map_err(|e| Error::Argument { op: stringify!($name).into(), message: e.to_string() })
            }
            fn restore(&mut self, settings: &str, tensors: Vec<(String, Tensor)>) -> Result<()> {
                let fault = |message| Error::Argument { op: stringify!($name).into(), message };
                let settings: Settings =
                    serde_json::from_str(settings).map_err(|e| fault(format!("not its settings: {e}")))?;
                if settings.decoupled != $decoupled {
                    let other = if settings.decoupled { "AdamW" } else { "Adam" };
                    return Err(fault(format!("the settings are those of `{other}`; restore them into one")));
                }
                self.0.settings = settings;
                self.0.load(&tensors);
                Ok(())
            }
        }
    };
}

optimiser! {
    /// Adam (Kingma and Ba, 2015), PyTorch's `optim.Adam`.
    ///
    /// `m = β₁m + (1-β₁)g`, `v = β₂v + (1-β₂)g²`, `p -= lr·m/(1-β₁ᵗ) / (√(v/(1-β₂ᵗ)) + eps)`; weight decay is an L2
    /// penalty in `g`, none unless given.
    Adam, false, 0.0
}

optimiser! {
    /// Adam with decoupled weight decay (Loshchilov and Hutter, 2019), PyTorch's `optim.AdamW`.
    ///
    /// As [`Adam`], with `p -= lr·weight_decay·p` before each step; weight decay is 0.01 unless given.
    ///
    /// ```
    /// use cotangent::prelude::*;
    /// let opt = AdamW::new(3e-4).weight_decay(0.1).betas(0.9, 0.95);
    /// assert_eq!(opt.lr(), 3e-4);
    /// ```
    AdamW, true, 0.01
}

impl Moments {
    fn new(lr: f64, decoupled: bool, weight_decay: f64) -> Self {
        let settings = Settings {
            lr,
            beta1: 0.9,
            beta2: 0.999,
            eps: 1e-8,
            weight_decay,
            decoupled,
            amsgrad: false,
            maximize: false,
            steps: BTreeMap::new(),
        };
        let (first, second, largest) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        Moments { settings, first, second, largest, masters: Masters::default() }
    }

    fn update(&mut self, path: &str, param: &mut crate::model::Param, grad: Tensor) {
        if !self.settings.steps.contains_key(path) {
            self.settings.steps.insert(path.to_owned(), 0);
        }
        let step = self.settings.steps.get_mut(path).map_or(1, |s| {
            *s += 1;
            *s
        });
        let s = &self.settings;
        let power = i32::try_from(step).unwrap_or(i32::MAX);
        let (correct1, correct2) = (1.0 - s.beta1.powi(power), 1.0 - s.beta2.powi(power));
        let (l2, shrink) = if s.decoupled { (0.0, 1.0 - s.lr * s.weight_decay) } else { (s.weight_decay, 1.0) };
        let sign = if s.maximize { -1.0 } else { 1.0 };
        let size = s.lr / correct1;
        let (new1, beta2, new2, root, eps) = (1.0 - s.beta1, s.beta2, 1.0 - s.beta2, 1.0 / correct2.sqrt(), s.eps);
        let m = state(&mut self.first, path, param);
        let v = state(&mut self.second, path, param);
        let top = s.amsgrad.then(|| state(&mut self.largest, path, param));
        self.masters.update(path, param, |p| match top {
            None => adam(p, m, v, grad, new1, beta2, new2, size, root, eps, l2, shrink, sign),
            Some(top) => amsgrad(p, m, v, top, grad, new1, beta2, new2, size, root, eps, l2, shrink, sign),
        });
    }

    fn tensors(&self) -> Vec<(String, Tensor)> {
        let mut all = named("exp_avg", &self.first);
        all.extend(named("exp_avg_sq", &self.second));
        all.extend(named("max_exp_avg_sq", &self.largest));
        all.extend(self.masters.tensors());
        all
    }

    fn load(&mut self, tensors: &[(String, Tensor)]) {
        self.first = unnamed("exp_avg", tensors);
        self.second = unnamed("exp_avg_sq", tensors);
        self.largest = unnamed("max_exp_avg_sq", tensors);
        self.masters = Masters::restored(tensors);
    }
}

/// One step; `new = 1 - β`, rounded once, `size = lr / (1 - β₁ᵗ)`, `root = 1 / √(1 - β₂ᵗ)`.
#[kernel]
fn adam(
    p: &mut Tensor![N..],
    m: &mut Tensor![N..],
    v: &mut Tensor![N..],
    g: Tensor![N..],
    new1: f64,
    beta2: f64,
    new2: f64,
    size: f64,
    root: f64,
    eps: f64,
    l2: f64,
    shrink: f64,
    sign: f64,
) {
    |i| {
        let g = sign * g[i] + l2 * p[i];
        m[i] += new1 * (g - m[i]);
        v[i] = beta2 * v[i] + new2 * g * g;
        p[i] = shrink * p[i] - size * m[i] / (sqrt(v[i]) * root + eps);
    }
}

/// As [`adam`], with the largest second moment so far.
#[kernel]
fn amsgrad(
    p: &mut Tensor![N..],
    m: &mut Tensor![N..],
    v: &mut Tensor![N..],
    top: &mut Tensor![N..],
    g: Tensor![N..],
    new1: f64,
    beta2: f64,
    new2: f64,
    size: f64,
    root: f64,
    eps: f64,
    l2: f64,
    shrink: f64,
    sign: f64,
) {
    |i| {
        let g = sign * g[i] + l2 * p[i];
        m[i] += new1 * (g - m[i]);
        v[i] = beta2 * v[i] + new2 * g * g;
        top[i] = maximum(v[i], top[i]);
        p[i] = shrink * p[i] - size * m[i] / (sqrt(top[i]) * root + eps);
    }
}
