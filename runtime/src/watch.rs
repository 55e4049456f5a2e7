//! Who observes a run, and where it is: what stands between the calls of layers and of the device on one side, and
//! reports and debugging aids on the other.
//!
//! An emitted call of a layer says where it begins ([`at`]) and what came out ([`left`], [`left_vjp`]). While nobody
//! observes the thread, that reads one thread-local byte.

use crate::debug;
use crate::device::Device;
use crate::diff::{Diff, Pullback};
use crate::model::join;
use crate::report;
use cotangent_hal::{Arg, Kernel, LibraryCall, View};
use std::cell::{Cell, RefCell};
use std::sync::Arc;

/// Observers, as bits.
pub(crate) const REPORT: u8 = 1;
/// See [`REPORT`].
pub(crate) const CAPTURE: u8 = 2;
/// See [`REPORT`].
pub(crate) const NAN: u8 = 4;

thread_local! {
    static OBSERVERS: Cell<u8> = Cell::new(if debug::nan_is_an_error() { NAN } else { 0 });
    static PLACE: RefCell<Place> = RefCell::default();
}

/// Where a run is.
#[derive(Clone, Default)]
struct Place {
    /// The path of the layer whose call is under way.
    layer: Option<Arc<str>>,
    backward: bool,
}

/// Whether anybody observes this thread.
pub(crate) fn is_on() -> bool {
    OBSERVERS.get() != 0
}

/// Whether that observer does.
pub(crate) fn by(observer: u8) -> bool {
    OBSERVERS.get() & observer != 0
}

/// Lets an observer in or out, and says whether it was in.
pub(crate) fn observe(observer: u8, on: bool) -> bool {
    let before = OBSERVERS.get();
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
    PLACE.with_borrow(|place| (place.layer.as_deref().unwrap_or_default().to_owned(), place.backward))
}

/// A stay in a place; dropped, the run is where it was before.
#[must_use = "the stay ends when this is dropped"]
pub struct At(Option<Place>);

impl At {
    fn enter(to: impl FnOnce(&mut Place)) -> At {
        At(Some(PLACE.with_borrow_mut(|place| {
            let before = place.clone();
            to(place);
            before
        })))
    }
}

impl Drop for At {
    fn drop(&mut self) {
        if let Some(before) = self.0.take() {
            PLACE.with_borrow_mut(|place| *place = before);
            report::in_field("");
        }
    }
}

/// The call of a layer begins, at `field` of the present one: `blocks.*.attn`, each `*` one of `indices`.
pub fn at(field: &'static str, indices: &[usize]) -> At {
    if !is_on() {
        return At(None);
    }
    report::in_field(field);
    let mut indices = indices.iter();
    let segments = field.split('.').map(|segment| match segment {
        "*" => indices.next().map_or_else(String::new, usize::to_string),
        name => name.to_owned(),
    });
    let path = segments.collect::<Vec<_>>().join(".");
    At::enter(|place| place.layer = Some(join(place.layer.as_deref().unwrap_or_default(), &path).into()))
}

/// The call of a layer is over, with this result.
pub fn left<T: Diff>(at: At, value: T) -> T {
    if at.0.is_some() && by(CAPTURE) {
        value.tensors(&mut |tensor| debug::captured(&place().0, tensor));
    }
    value
}

/// As [`left`], for a companion: the pullback runs in the same place.
pub fn left_vjp<T: Diff, P>(at: At, (value, pullback): (T, P)) -> (T, Within<P>) {
    let layer = at.0.as_ref().and_then(|_| PLACE.with_borrow(|place| place.layer.clone()));
    (left(at, value), Within { layer, pullback })
}

/// The pullback of a layer's call.
pub struct Within<P> {
    /// Its path, if anybody observed the call.
    layer: Option<Arc<str>>,
    pullback: P,
}

impl<G: ?Sized, P: Pullback<G>> Pullback<G> for Within<P> {
    type Ct = P::Ct;
    type In = P::In;
    fn pull(self, ct: P::Ct, grads: &mut G) -> P::In {
        let _at = self.layer.map(|layer| At::enter(|place| *place = Place { layer: Some(layer), backward: true }));
        self.pullback.pull(ct, grads)
    }
}

/// A backward pass begins.
pub(crate) fn backward() -> At {
    if is_on() { At::enter(|place| place.backward = true) } else { At(None) }
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
