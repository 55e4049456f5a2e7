//! Values that PyTorch computed. A case is a safetensors file: `in.*` and `param.*` give inputs and parameters, `ct.*`
//! the cotangents of results, `out.*` and `grad.*` what must come out; its metadata say how exactly.

use super::{by_path, device, layer};
use cotangent::diff::{Pullback, Want};
use cotangent::prelude::*;
use cotangent::testing::assert_close;
use cotangent::{LeafMut, Path};
use safetensors::{Dtype, SafeTensors};
use serde_json::Value;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

/// One file. When it is dropped, everything that it expects must have been compared.
pub(crate) struct Case {
    name: String,
    config: Value,
    floats: BTreeMap<String, Tensor>,
    ints: BTreeMap<String, Tensor<Int>>,
    compared: RefCell<BTreeSet<String>>,
}

impl Case {
    /// Reads `golden/{name}.safetensors`.
    pub(crate) fn open(name: &str) -> Case {
        let path = format!("{}/tests/golden/{name}.safetensors", env!("CARGO_MANIFEST_DIR"));
        let bytes = std::fs::read(path).expect("a golden case");
        let (_, header) = SafeTensors::read_metadata(&bytes).expect("a header");
        let config = &header.metadata().as_ref().expect("metadata")["config"];
        let mut case = Case {
            name: name.into(),
            config: serde_json::from_str(config).expect("JSON"),
            floats: BTreeMap::new(),
            ints: BTreeMap::new(),
            compared: RefCell::default(),
        };
        for (name, view) in SafeTensors::deserialize(&bytes).expect("a safetensors file").tensors() {
            let (data, shape) = (view.data(), view.shape());
            if view.dtype() == Dtype::I64 {
                let values: Vec<i64> = data.as_chunks().0.iter().map(|b| i64::from_le_bytes(*b)).collect();
                case.ints.insert(name, Tensor::from_slice(&values, shape, &device()));
            } else {
                assert_eq!(view.dtype(), Dtype::F32, "`{name}`");
                let values: Vec<f32> = data.as_chunks().0.iter().map(|b| f32::from_le_bytes(*b)).collect();
                case.floats.insert(name, Tensor::from_slice(&values, shape, &device()));
            }
        }
        case
    }

    /// A number among PyTorch's arguments.
    pub(crate) fn number(&self, name: &str) -> f64 {
        self.config["args"][name].as_f64().unwrap_or_else(|| panic!("{}: no number `{name}`", self.name))
    }

    /// A float tensor that the case must have.
    pub(crate) fn float(&self, name: &str) -> Tensor {
        self.maybe(name).unwrap_or_else(|| panic!("{}: no `{name}`", self.name))
    }

    /// A float tensor.
    pub(crate) fn maybe(&self, name: &str) -> Option<Tensor> {
        self.floats.get(name).cloned()
    }

    /// An integer tensor that the case must have.
    pub(crate) fn int(&self, name: &str) -> Tensor<Int> {
        self.ints[name].clone()
    }

    /// Compares a result with `out.*` or `grad.*`; no cotangent is a zero one.
    #[track_caller]
    pub(crate) fn compare(&self, name: &str, got: Option<Tensor>) {
        let want = self.float(name);
        let tolerances = &self.config["tol"][if name.starts_with("out.") { "out" } else { "grad" }];
        let of = |which: &str| tolerances[which].as_f64().expect("a tolerance");
        let got = got.unwrap_or_else(|| Tensor::zeros(want.shape(), &device()));
        assert_close(&got, &want, of("rtol"), of("atol"));
        self.compared.borrow_mut().insert(name.into());
    }
}

impl Drop for Case {
    fn drop(&mut self) {
        let compared = self.compared.borrow();
        let expected = self.floats.keys().filter(|name| name.starts_with("out.") || name.starts_with("grad."));
        let left: Vec<&String> = expected.filter(|name| !compared.contains(*name)).collect();
        assert!(left.is_empty() || std::thread::panicking(), "{}: {left:?} are not compared", self.name);
    }
}

/// Checks a layer by a case, in its plain form and as its companion. `input` is PyTorch's name of `x`, `renamed` gives
/// PyTorch's name of a parameter. A parameter that the case does not have keeps its first value.
#[track_caller]
pub(crate) fn check_golden<L: Layer + Model>(
    name: &str,
    config: impl Fn(&Case) -> L::Config,
    input: &str,
    renamed: impl Fn(&str) -> String,
) {
    let case = Case::open(name);
    let mut layer: L = layer(&config(&case));
    layer.visit_mut(&Path::ROOT, &mut |path, leaf| {
        if let LeafMut::Param(param) = leaf
            && let Some(value) = case.maybe(&format!("param.{}", renamed(&path.to_string())))
        {
            param.set(value);
        }
    });
    let x = case.float(&format!("in.{input}"));
    case.compare("out.y", Some(layer.forward(x.clone(), &mut Cx::eval())));
    let (y, back) = layer.forward__vjp(x, &mut Cx::eval(), Want::ALL);
    case.compare("out.y", Some(y));
    let mut grads = L::Grads::default();
    case.compare(&format!("grad.in.{input}"), back.pull(case.maybe("ct.y"), &mut grads).0);
    for (path, grad) in by_path(&mut grads) {
        let name = format!("grad.param.{}", renamed(&path));
        if case.maybe(&name).is_some() {
            case.compare(&name, grad);
        }
    }
}
