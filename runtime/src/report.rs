//! What differentiated calls run and keep: kernels that compute several operations, launches by name, bytes for the
//! backward pass and at the peak.
//!
//! With `COTANGENT_REPORT=1` in the environment each outermost call of a companion (`loss_grad`, ..) prints that to
//! standard error, the first time that it is made. [`of`] gives it as a value.
//!
//! ```
//! use cotangent::prelude::*;
//!
//! #[model]
//! struct Scaled {
//!     #[init(ones)]
//!     w: Param![3],
//! }
//!
//! #[model]
//! impl Scaled {
//!     fn loss(&self, x: Tensor![B, 3]) -> Tensor![] {
//!         (x * self.w).tanh().mean(..)
//!     }
//! }
//!
//! let model = Scaled::init(&mut Rng::seed(0), &Device::cpu());
//! let x = Tensor::ones([2, 3], &Device::cpu());
//! let (_, report) = cotangent::report::of(|| model.loss_grad(x));
//! let loss = &report.methods[0];
//! assert_eq!((loss.name.as_str(), loss.groups[0].operations), ("Scaled::loss", "mul_tanh"));
//! ```

use crate::debug;
use crate::kernel::Fusion;
use crate::tensor::Raw;
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::panic::Location;
use std::sync::{Mutex, OnceLock};

/// What calls ran and kept, by method.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// In order of the first call.
    pub methods: Vec<Method>,
}

/// What the calls of one method ran and kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Method {
    /// `Type::method`, or the name of a function.
    pub name: String,
    /// How often it was called.
    pub calls: usize,
    /// Kernels and library calls that were launched, those of inner calls aside.
    pub launches: usize,
    /// The same by name, in order.
    pub kernels: BTreeMap<&'static str, usize>,
    /// Bytes of tensors at the peak of a call, inner calls included, beyond those that were there when it began.
    pub peak: usize,
    /// Operations that shared a kernel, by place.
    pub groups: Vec<Group>,
    /// Bytes that are kept for the backward pass, by field of the model whose call keeps them, inner calls included. What
    /// the method's own operations keep has no name. A tensor that several operations keep counts for the first.
    pub kept: Vec<(&'static str, usize)>,
}

/// Operations that one kernel computes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// Where the last of them stands.
    pub at: &'static Location<'static>,
    /// Their names, joined.
    pub operations: &'static str,
    /// Launches of a call, forward and backward.
    pub launches: (usize, usize),
}

/// Runs `f` and gives what its calls of companions ran and kept. Inside of another report nothing is recorded twice: the
/// outer one has it.
pub fn of<T>(f: impl FnOnce() -> T) -> (T, Report) {
    let own = begin();
    let result = f();
    (result, if own { end() } else { Report::default() })
}

thread_local! {
    static RECORDING: Cell<bool> = const { Cell::new(false) };
    static RECORDER: RefCell<Recorder> = RefCell::default();
}

/// The report that is made, and the calls that are under way.
#[derive(Default)]
struct Recorder {
    report: Report,
    frames: Vec<Frame>,
    /// Addresses of what is kept.
    kept: BTreeSet<usize>,
}

/// A call under way.
struct Frame {
    method: usize,
    /// The field whose call is under way in it.
    field: &'static str,
    /// Bytes of tensors that were there when it began, as the first allocation in it tells.
    before: Option<usize>,
}

fn is_recording() -> bool {
    RECORDING.with(Cell::get)
}

/// Starts a report unless there is one.
fn begin() -> bool {
    !RECORDING.with(|r| r.replace(true))
}

fn end() -> Report {
    RECORDING.with(|r| r.set(false));
    RECORDER.with_borrow_mut(|r| std::mem::take(r).report)
}

/// Whether the environment asks for reports.
fn wished() -> bool {
    static WISHED: OnceLock<bool> = OnceLock::new();
    *WISHED.get_or_init(|| std::env::var_os("COTANGENT_REPORT").is_some_and(|v| !v.is_empty() && v != "0"))
}

/// A call of a companion.
#[must_use = "the call ends when this is dropped"]
#[derive(Debug)]
pub struct Call {
    recording: bool,
    /// Whether the report is that of this call.
    outermost: bool,
}

impl Call {
    /// Opens a call of the method of that name.
    pub fn open(name: &'static str) -> Call {
        let outermost = wished() && !is_recording() && is_new(name) && begin();
        let recording = is_recording();
        if recording {
            RECORDER.with_borrow_mut(|r| r.open(name));
        }
        Call { recording, outermost }
    }

    /// A call that no report speaks of.
    pub fn unreported() -> Call {
        Call { recording: false, outermost: false }
    }

    /// Opens the call of the field at `place`, where each `{}` is one of `indices`.
    #[track_caller]
    pub fn at(&self, place: &'static str, indices: &[usize]) -> debug::At {
        self.say(place);
        debug::at(place, indices)
    }

    /// Ends that call, with its output.
    pub fn seen<T: 'static>(&self, call: debug::At, output: &T) {
        self.say("");
        call.note(output);
    }

    /// Says which field's call comes next; none for the method's own operations.
    fn say(&self, field: &'static str) {
        if self.recording {
            RECORDER.with_borrow_mut(|r| r.frames.iter_mut().rev().take(1).for_each(|frame| frame.field = field));
        }
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        if self.recording {
            RECORDER.with_borrow_mut(|r| r.frames.pop());
        }
        if self.outermost {
            let report = end();
            #[allow(clippy::print_stderr, reason = "the user asked for it")]
            if !std::thread::panicking() {
                eprint!("{report}");
            }
        }
    }
}

/// Whether no report of that method was printed before.
fn is_new(name: &'static str) -> bool {
    static PRINTED: Mutex<BTreeSet<&str>> = Mutex::new(BTreeSet::new());
    PRINTED.lock().is_ok_and(|mut printed| printed.insert(name))
}

impl Recorder {
    fn open(&mut self, name: &str) {
        let known = self.report.methods.iter().position(|m| m.name == name);
        let method = known.unwrap_or_else(|| {
            let kept = vec![];
            self.report.methods.push(Method {
                name: name.into(),
                calls: 0,
                launches: 0,
                kernels: BTreeMap::new(),
                peak: 0,
                groups: vec![],
                kept,
            });
            self.report.methods.len() - 1
        });
        self.report.methods[method].calls += 1;
        self.frames.push(Frame { method, field: "", before: None });
    }

    fn top(&mut self) -> Option<&mut Method> {
        let frame = self.frames.last()?;
        self.report.methods.get_mut(frame.method)
    }
}

/// Counts a launch.
pub(crate) fn launched(name: &'static str) {
    if is_recording() {
        RECORDER.with_borrow_mut(|r| {
            if let Some(method) = r.top() {
                method.launches += 1;
                *method.kernels.entry(name).or_default() += 1;
            }
        });
    }
}

/// Notes that `bytes` were allocated, after which `used` are in use.
pub(crate) fn allocated(bytes: usize, used: impl FnOnce() -> usize) {
    if !is_recording() {
        return;
    }
    let used = used();
    RECORDER.with_borrow_mut(|r| {
        for frame in &mut r.frames {
            let before = *frame.before.get_or_insert(used.saturating_sub(bytes));
            if let Some(method) = r.report.methods.get_mut(frame.method) {
                method.peak = method.peak.max(used.saturating_sub(before));
            }
        }
    });
}

/// Notes operations that share a kernel.
#[track_caller]
pub(crate) fn fused(fusion: &Fusion) {
    if is_recording() {
        let group = Group { at: Location::caller(), operations: fusion.name, launches: fusion.launches() };
        RECORDER.with_borrow_mut(|r| {
            if let Some(method) = r.top().filter(|m| !m.groups.contains(&group)) {
                method.groups.push(group);
            }
        });
    }
}

/// Notes a tensor that is kept for the backward pass.
pub(crate) fn kept(raw: &Raw) {
    if !is_recording() {
        return;
    }
    RECORDER.with_borrow_mut(|r| {
        if !r.kept.insert(raw.buffer.address()) {
            return;
        }
        let bytes = raw.buffer.bytes();
        for frame in &r.frames {
            let Some(method) = r.report.methods.get_mut(frame.method) else { continue };
            match method.kept.iter_mut().find(|(field, _)| *field == frame.field) {
                Some((_, sum)) => *sum += bytes,
                None => method.kept.push((frame.field, bytes)),
            }
        }
    });
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.methods.iter().try_for_each(|method| method.fmt(f))
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Method { name, calls, launches, kernels, peak, groups, kept } = self;
        let times = if *calls == 1 { String::new() } else { format!(", {calls} calls") };
        let s = if *launches == 1 { "" } else { "es" };
        let all: usize = kept.iter().map(|(_, bytes)| bytes).sum();
        writeln!(
            f,
            "{name}{times}: {launches} launch{s} of its own, {} kept for the backward pass, {} at its peak",
            Bytes(all),
            Bytes(*peak)
        )?;
        if !kernels.is_empty() {
            let list: Vec<String> = kernels.iter().map(|(name, times)| format!("{name} {times}")).collect();
            writeln!(f, "  launched: {}", list.join(", "))?;
        }
        for (field, bytes) in kept {
            let field = if field.is_empty() { "operations".into() } else { field.replace(".{}", "") };
            writeln!(f, "  {:<24} {}", field, Bytes(*bytes))?;
        }
        for Group { at, operations, launches: (forward, backward) } in groups {
            writeln!(f, "  {}:{}: {operations} fused, {forward} forward, {backward} backward", at.file(), at.line())?;
        }
        Ok(())
    }
}

/// A number of bytes as people read it.
struct Bytes(usize);

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes = self.0 as f64;
        match self.0 {
            0..1024 => write!(f, "{} B", self.0),
            1024..1_048_576 => write!(f, "{:.1} KiB", bytes / 1024.0),
            _ => write!(f, "{:.1} MiB", bytes / 1_048_576.0),
        }
    }
}
