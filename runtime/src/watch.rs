//! Who observes a run, and where it is: what stands between the calls of layers and of the device on one side, and
//! reports and debugging aids on the other.
//!
//! An emitted call of a layer says where it begins ([`at`]) and what came out ([`left`]), its pullback the same ([`back`],
//! [`done`]). While nobody observes the thread, that reads one thread-local byte.

use crate::debug;
use crate::device::Device;
use crate::diff::Diff;
use crate::model::join;
use crate::report;
use crate::tensor::Tensor;
use cotangent_hal::{Arg, Kernel, LibraryCall, View};
use std::cell::{Cell, RefCell};

/// Observers, as bits.
pub(crate) const REPORT: u8 = 1;
/// See [`REPORT`].
pub(crate) const CAPTURE: u8 = 2;
/// See [`REPORT`].
pub(crate) const NAN: u8 = 4;

thread_local! {
    static OBSERVERS: Cell<u8> = Cell::new(if debug::nan_is_an_error() { NAN } else { 0 });
    static PLACES: RefCell<Places> = RefCell::default();
}

/// Where a run is, and was.
#[derive(Default)]
struct Places {
    /// The paths of all layers that were called, by number.
    paths: Vec<String>,
    /// The calls of layers that are under way, outermost first.
    stack: Vec<Layer>,
    /// How many backward passes are under way.
    backward: usize,
}

/// A call of a layer, by the number of its path, from 1; 0 for one that nobody observed.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(transparent)]
pub struct Layer(u32);

/// Whether the environment turns a switch on: it is set, and neither empty nor `0`.
pub(crate) fn is_set(switch: &str) -> bool {
    std::env::var_os(switch).is_some_and(|v| !v.is_empty() && v != "0")
}

/// Whether anybody observes this thread.
pub(crate) fn is_on() -> bool {
    OBSERVERS.get() != 0
}

/// Whether that observer does.
pub(crate) fn by(observer: u8) -> bool {
    OBSERVERS.get() & observer != 0
}

/// Lets an observer in or out, and says whether it was in. The first one finds the run outside of all layers.
pub(crate) fn observe(observer: u8, on: bool) -> bool {
    let before = OBSERVERS.get();
    if before == 0 {
        PLACES.take();
    }
    OBSERVERS.set(if on { before | observer } else { before & !observer });
    before & observer != 0
}

/// Runs `f` unobserved.
fn unobserved<T>(f: impl FnOnce() -> T) -> T {
    let before = OBSERVERS.replace(0);
    let result = f();
    OBSERVERS.set(before);
    result
}

/// The path of the layer whose call is under way, empty in the outermost, and whether that is in a backward pass.
pub(crate) fn place() -> (String, bool) {
    PLACES.with_borrow(|places| (places.path().to_owned(), places.backward > 0))
}

/// How many calls of layers and backward passes are under way.
pub(crate) fn depth() -> (usize, usize) {
    PLACES.with_borrow(|places| (places.stack.len(), places.backward))
}

/// Leaves the calls and the passes that an error ended: those beyond the depth before.
pub(crate) fn return_to((layers, backward): (usize, usize)) {
    PLACES.with_borrow_mut(|places| {
        places.stack.truncate(layers);
        places.backward = places.backward.min(backward);
    });
}

impl Places {
    fn path(&self) -> &str {
        let layer = self.stack.last().and_then(|layer| self.paths.get(layer.0 as usize - 1));
        layer.map_or("", String::as_str)
    }

    /// The call of a layer is over, and with it those in it that an error ended.
    fn leave(&mut self, layer: Layer) {
        if let Some(at) = self.stack.iter().rposition(|known| *known == layer) {
            self.stack.truncate(at);
        }
    }
}

/// The call of a layer begins, at `field` of the present one: `blocks.*.attn`, each `*` one of `indices`.
///
/// Like those below it never unwinds, and says so by its ABI: so its many calls cost the caller no clean-up code.
#[allow(improper_ctypes_definitions, reason = "the ABI is about unwinding alone")]
pub extern "C" fn at_in(field: &'static str, indices: &[usize]) -> Layer {
    if is_on() { entered(field, indices) } else { Layer(0) }
}

/// As [`at_in`], for a path without indices.
#[allow(improper_ctypes_definitions, reason = "as above")]
pub extern "C" fn at(field: &'static str) -> Layer {
    at_in(field, &[])
}

#[cold]
fn entered(field: &'static str, indices: &[usize]) -> Layer {
    report::in_field(field);
    let mut indices = indices.iter();
    let segments = field.split('.').map(|segment| match segment {
        "*" => indices.next().map_or_else(String::new, usize::to_string),
        name => name.to_owned(),
    });
    let path = segments.collect::<Vec<_>>().join(".");
    PLACES.with_borrow_mut(|places| {
        let path = join(places.path(), &path);
        let known = places.paths.iter().position(|p| *p == path);
        let at = known.unwrap_or_else(|| {
            places.paths.push(path);
            places.paths.len() - 1
        });
        let layer = Layer(at as u32 + 1);
        places.stack.push(layer);
        layer
    })
}

/// The call of a layer is over, with this result.
#[allow(improper_ctypes_definitions, reason = "as above")]
pub extern "C" fn left<T: Diff>(layer: Layer, value: &T) {
    if layer.0 > 0 {
        value.tensors(&mut seen);
        over(layer);
    }
}

#[cold]
fn seen(tensor: &Tensor) {
    if by(CAPTURE) {
        debug::captured(&place().0, tensor);
    }
}

#[cold]
fn over(layer: Layer) {
    PLACES.with_borrow_mut(|places| places.leave(layer));
    report::in_field("");
}

/// The pullback of a layer's call begins.
pub extern "C" fn back(layer: Layer) {
    if layer.0 > 0 {
        PLACES.with_borrow_mut(|places| {
            places.stack.push(layer);
            places.backward += 1;
        });
    }
}

/// It is over.
pub extern "C" fn done(layer: Layer) {
    if layer.0 > 0 {
        PLACES.with_borrow_mut(|places| {
            places.leave(layer);
            places.backward = places.backward.saturating_sub(1);
        });
    }
}

/// A backward pass begins; whether anybody observes it.
pub(crate) fn backward() -> bool {
    let observed = is_on();
    if observed {
        PLACES.with_borrow_mut(|places| places.backward += 1);
    }
    observed
}

/// An observed backward pass is over.
pub(crate) fn backward_is_over() {
    PLACES.with_borrow_mut(|places| places.backward = places.backward.saturating_sub(1));
}

/// Runs a launch for the observers.
#[track_caller]
pub(crate) fn launch(device: &Device, kernel: &Kernel, args: &[Arg<'_>], run: impl FnOnce()) {
    let views = kernel.operands.iter().zip(args).filter_map(|(operand, arg)| match arg {
        Arg::In(view) => Some((operand.name, *view, true)),
        Arg::Out(view) | Arg::Sum(view) => Some((operand.name, *view, false)),
        Arg::Scalar(_) => None,
    });
    observed(device, kernel.name, &views.collect::<Vec<_>>(), run);
}

/// As [`launch`], for an operation of a library.
#[track_caller]
pub(crate) fn library(device: &Device, call: &LibraryCall<'_>, run: impl FnOnce()) {
    let inputs = call.inputs().into_iter().map(|(name, view)| (name, view, true));
    let outputs = call.outputs().into_iter().map(|(name, view)| (name, view, false));
    observed(device, call.name(), &inputs.chain(outputs).collect::<Vec<_>>(), run);
}

/// Runs an operation over views, each with its name and whether it is read.
#[track_caller]
fn observed(device: &Device, name: &'static str, views: &[(&'static str, View<'_>, bool)], run: impl FnOnce()) {
    let nan_in = |read| match by(NAN) {
        true => unobserved(|| views.iter().find(|(_, v, reads)| *reads == read && debug::has_nan(device, v))),
        false => None,
    };
    if let Some((operand, ..)) = nan_in(true) {
        debug::found(name, Some(*operand));
    }
    if by(REPORT) {
        report::launched(device, name, run)
    } else {
        run()
    }
    if nan_in(false).is_some() {
        debug::found(name, None);
    }
}
