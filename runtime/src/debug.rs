//! Looking into a run: the results of layers by their path, and the first NaN.
//!
//! ```
//! use cotangent::prelude::*;
//! use cotangent::debug;
//!
//! #[model]
//! struct Net {
//!     fc1: Linear![3 => 4],
//!     fc2: Linear![4 => 2],
//! }
//!
//! #[model]
//! impl Net {
//!     fn forward(&self, x: Tensor![B, 3]) -> Tensor![B, 2] {
//!         self.fc2.forward(self.fc1.forward(x).log())
//!     }
//! }
//!
//! let net = Net::init(&mut Rng::seed(0), &Device::cpu());
//! let x = Tensor::ones([1, 3], &Device::cpu());
//! let (_, values) = debug::capture(&["fc*"], || net.forward(x.clone()));
//! assert_eq!(values["fc1"][0].shape(), [1, 4]);
//!
//! let (_, nan) = debug::find_nan(|| net.forward(x * -1e30));
//! let nan = nan.expect("the logarithm of a negative number");
//! assert_eq!((nan.operation, nan.layer.as_str(), nan.backward), ("log", "", false));
//! ```

use crate::Device;
use crate::model::is_glob_of;
use crate::raise::raise;
use crate::tensor::{Dims, Raw, Strides, Tensor};
use crate::watch::{self, CAPTURE, NAN};
use cotangent_hal::{Error, View};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt;
use std::panic::Location;
use std::sync::OnceLock;

/// What layers returned, by the path of the layer, in the order of its calls: the float tensors of each result.
pub type Captured = BTreeMap<String, Vec<Tensor>>;

thread_local! {
    static CAPTURES: RefCell<Captures> = RefCell::default();
    static FIRST: RefCell<Option<FirstNan>> = const { RefCell::new(None) };
}

#[derive(Default)]
struct Captures {
    patterns: Vec<String>,
    values: Captured,
}

/// Runs `f` and gives the results of those layers whose path a pattern names, in forward and in differentiated calls.
///
/// Paths are relative to the model whose method `f` calls, as in its records: `blocks.3.attn`. In a pattern `*` stands
/// for any run of characters. Captured tensors share memory with the run's, so that what the run would have freed is
/// kept. A capture inside of another has the values for itself.
pub fn capture<T>(patterns: &[&str], f: impl FnOnce() -> T) -> (T, Captured) {
    let patterns = patterns.iter().map(|&p| p.to_owned()).collect();
    let outer = CAPTURES.replace(Captures { patterns, values: Captured::new() });
    let _in = Observer::new(CAPTURE);
    let result = f();
    (result, CAPTURES.replace(outer).values)
}

/// Notes a result of the layer at `path`.
pub(crate) fn captured(path: &str, value: &Tensor) {
    CAPTURES.with_borrow_mut(|captures| {
        if captures.patterns.iter().any(|pattern| is_glob_of(pattern, path)) {
            captures.values.entry(path.to_owned()).or_default().push(value.clone());
        }
    });
}

/// The operation that had the first NaN of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FirstNan {
    /// The kernel or library call: the name of the operation, or of several that share a kernel.
    pub operation: &'static str,
    /// The operand that held a NaN before the operation ran; none where the operation made it.
    pub given: Option<&'static str>,
    /// The path of the layer in whose method the operation stands; empty in the outermost method.
    pub layer: String,
    /// Whether a pullback ran the operation.
    pub backward: bool,
    /// The line that called the operation: the user's in a forward pass.
    pub at: &'static Location<'static>,
}

impl fmt::Display for FirstNan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.given {
            Some(operand) => write!(f, "`{}` is given a NaN in its operand `{operand}`", self.operation)?,
            None => write!(f, "`{}` makes the first NaN", self.operation)?,
        }
        if !self.layer.is_empty() {
            write!(f, " in layer `{}`", self.layer)?;
        }
        match self.backward {
            true => f.write_str(" in the backward pass"),
            false => write!(f, " at {}", self.at),
        }
    }
}

/// Runs `f` and names the first operation in it that was given a NaN or made one, forward or backward.
///
/// Every operand and result is read after each launch, which makes `f` many times slower. An operation whose NaN is
/// meant, because a later one masks it, is named as well. `COTANGENT_NAN=1` in the environment looks at all operations of
/// the process and raises `Error::Argument` at the first NaN.
pub fn find_nan<T>(f: impl FnOnce() -> T) -> (T, Option<FirstNan>) {
    let outer = FIRST.take();
    let _in = Observer::new(NAN);
    let result = f();
    (result, FIRST.replace(outer))
}

/// Whether the environment wants the first NaN to be an error.
pub(crate) fn nan_is_an_error() -> bool {
    static WISHED: OnceLock<bool> = OnceLock::new();
    *WISHED.get_or_init(|| watch::is_set("COTANGENT_NAN"))
}

/// Notes that an operation made a NaN, or was given one.
#[track_caller]
pub(crate) fn found(operation: &'static str, given: Option<&'static str>) {
    if FIRST.with_borrow(Option::is_some) {
        return;
    }
    let (layer, backward) = watch::place();
    let nan = FirstNan { operation, given, layer, backward, at: Location::caller() };
    if nan_is_an_error() {
        raise(Error::Argument { op: operation.into(), message: nan.to_string() });
    }
    FIRST.set(Some(nan));
}

/// Whether any element of a float view is NaN.
pub(crate) fn has_nan(device: &Device, view: &View<'_>) -> bool {
    const OP: &str = "find_nan";
    if !view.dtype.is_float() || view.shape.contains(&0) {
        return false;
    }
    let (shape, strides) = (Dims::of(OP, view.shape), Strides::of(OP, view.strides));
    let raw =
        Raw { device: *device, buffer: view.buffer.clone(), dtype: view.dtype, offset: view.offset, shape, strides };
    raw.to_vec::<f32>().iter().any(|x| x.is_nan())
}

/// An observer that leaves when this is dropped, unless it was there before.
struct Observer {
    which: u8,
    before: bool,
}

impl Observer {
    fn new(which: u8) -> Observer {
        Observer { which, before: watch::observe(which, true) }
    }
}

impl Drop for Observer {
    fn drop(&mut self) {
        watch::observe(self.which, self.before);
    }
}
