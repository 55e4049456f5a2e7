//! Looks into a running model: the outputs of its layers by path, and where the first NaN comes from.
//!
//! ```
//! use cotangent::debug;
//! use cotangent::prelude::*;
//!
//! #[model]
//! struct Mlp {
//!     layers: [Linear![3 => 3]; 2],
//! }
//!
//! #[model]
//! impl Mlp {
//!     fn loss(&self, x: Tensor![B, 3]) -> Tensor![] {
//!         let mut x = x;
//!         for layer in &self.layers {
//!             x = layer.forward(x).log();
//!         }
//!         x.mean(..)
//!     }
//! }
//!
//! let model = Mlp::init(&mut Rng::seed(0), &Device::cpu());
//! let x = Tensor::ones([2, 3], &Device::cpu());
//! let (_, outputs) = debug::capture(&["layers.*"], || model.loss(x.clone()));
//! assert_eq!(outputs["layers.1"][0].shape(), [2, 3]);
//! let (_, nan) = debug::find_nan(|| model.loss_grad(x));
//! assert_eq!(nan.unwrap().operation, "log");
//! ```
//!
//! With `COTANGENT_NAN=1` in the environment the first NaN of a process is printed to standard error, without a call of
//! [`find_nan`]. Bodies marked `#[no_grad]` are emitted as written: layers inside of them have the path of the method.

pub(crate) mod nan;

pub use nan::Nan;

use crate::tensor::Tensor;
use std::any::Any;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::panic::Location;
use std::sync::OnceLock;

/// The outputs of layers by path, in the order of the calls.
pub type Outputs = BTreeMap<String, Vec<Tensor>>;

/// Runs `f` and gives the float tensors that layers at the paths gave. In a path, `*` stands for any run of characters;
/// the paths are those of a record, without the parameter: `blocks.3.attention`.
///
/// A layer that was called several times has several tensors, the second run of a checkpoint included. Paths that
/// nothing was called at are missing.
pub fn capture<T>(paths: &[&str], f: impl FnOnce() -> T) -> (T, Outputs) {
    let wished = Wished { paths: paths.iter().map(|&path| path.into()).collect(), nan: false };
    let (result, watch) = watched(wished, f);
    (result, watch.outputs)
}

/// Runs `f` and gives the first operation that computed a NaN, if any did. Every operation waits for its results and
/// looks at all of their elements, so that this is slow.
pub fn find_nan<T>(f: impl FnOnce() -> T) -> (T, Option<Nan>) {
    let (result, watch) = watched(Wished { paths: vec![], nan: true }, f);
    (result, watch.nan)
}

thread_local! {
    static WATCHING: Cell<bool> = const { Cell::new(false) };
    static WATCH: RefCell<Watch> = RefCell::default();
}

/// What is looked for.
#[derive(Default)]
struct Wished {
    paths: Vec<String>,
    nan: bool,
}

/// What is looked for and was found, and the calls under way.
#[derive(Default)]
struct Watch {
    wished: Wished,
    outputs: Outputs,
    nan: Option<Nan>,
    calls: Vec<(String, &'static Location<'static>)>,
    /// How many backward passes are under way.
    backward: usize,
}

/// Watches a call, inside of another watched one by itself.
fn watched<T>(wished: Wished, f: impl FnOnce() -> T) -> (T, Watch) {
    /// Puts back what was watched before, by an error too.
    struct Before(bool, Option<Watch>);
    impl Drop for Before {
        fn drop(&mut self) {
            WATCHING.set(self.0);
            WATCH.set(self.1.take().unwrap_or_default());
        }
    }
    let before = Before(WATCHING.replace(true), Some(WATCH.replace(Watch { wished, ..Watch::default() })));
    let result = f();
    let watch = WATCH.take();
    drop(before);
    (result, watch)
}

/// Whether the environment asks for the first NaN.
fn by_environment() -> bool {
    static WISHED: OnceLock<bool> = OnceLock::new();
    *WISHED.get_or_init(|| std::env::var_os("COTANGENT_NAN").is_some_and(|v| !v.is_empty() && v != "0"))
}

/// Whether anything is looked for.
pub(crate) fn is_watching() -> bool {
    WATCHING.get() || by_environment()
}

/// A call of a layer.
#[must_use = "the call ends with `done`"]
#[derive(Clone, Copy, Debug)]
pub struct At(bool);

/// Opens the call of the layer at `place` in the present one; each `{}` in it is one of `indices`.
#[track_caller]
pub fn at(place: &'static str, indices: &[usize]) -> At {
    let watching = is_watching();
    if watching {
        open(place, indices);
    }
    At(watching)
}

#[cold]
#[track_caller]
fn open(place: &str, indices: &[usize]) {
    let mut segment = place.to_owned();
    for index in indices {
        segment = segment.replacen("{}", &index.to_string(), 1);
    }
    let caller = Location::caller();
    WATCH.with_borrow_mut(|watch| watch.calls.push((segment, caller)));
}

impl At {
    /// Ends the call, and keeps its output where that is asked for.
    pub fn seen<T: 'static>(self, output: T) -> T {
        if self.0 {
            close(Some(&output));
        }
        output
    }

    /// As [`seen`](Self::seen).
    pub(crate) fn note<T: 'static>(self, output: &T) {
        if self.0 {
            close(Some(output));
        }
    }

    /// Ends a call whose output is none of a layer.
    pub fn done<T>(self, output: T) -> T {
        if self.0 {
            close(None);
        }
        output
    }
}

/// Ends the present call.
#[cold]
fn close(output: Option<&dyn Any>) {
    WATCH.with_borrow_mut(|watch| {
        let path = watch.path();
        if let Some(output) = output
            && watch.wished.paths.iter().any(|wished| crate::model::is_glob_of(wished, &path))
        {
            let tensors = tensors(output);
            if !tensors.is_empty() {
                watch.outputs.entry(path).or_default().extend(tensors);
            }
        }
        watch.calls.pop();
    });
}

/// The tensors of an output: one, several, or a list.
fn tensors(output: &dyn Any) -> Vec<Tensor> {
    if let Some(one) = output.downcast_ref::<Tensor>() {
        vec![one.clone()]
    } else if let Some((a, b)) = output.downcast_ref::<(Tensor, Tensor)>() {
        vec![a.clone(), b.clone()]
    } else if let Some((a, b, c)) = output.downcast_ref::<(Tensor, Tensor, Tensor)>() {
        vec![a.clone(), b.clone(), c.clone()]
    } else {
        output.downcast_ref::<Vec<Tensor>>().cloned().unwrap_or_default()
    }
}

/// How many calls are under way.
pub(crate) fn depth() -> usize {
    if is_watching() { WATCH.with_borrow(|watch| watch.calls.len()) } else { 0 }
}

/// Ends the calls that an error left.
pub(crate) fn unwind(depth: usize) {
    if is_watching() {
        WATCH.with_borrow_mut(|watch| watch.calls.truncate(depth));
    }
}

/// Runs a backward pass.
pub(crate) fn backward<T>(f: impl FnOnce() -> T) -> T {
    if !is_watching() {
        return f();
    }
    WATCH.with_borrow_mut(|watch| watch.backward += 1);
    let result = f();
    WATCH.with_borrow_mut(|watch| watch.backward = watch.backward.saturating_sub(1));
    result
}

impl Watch {
    fn path(&self) -> String {
        let segments: Vec<&str> = self.calls.iter().map(|(segment, _)| segment.as_str()).collect();
        segments.join(".")
    }
}
