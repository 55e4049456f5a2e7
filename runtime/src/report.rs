//! What differentiated calls run and keep: kernels that compute several operations, launches and their time, memory.
//!
//! With `COTANGENT_REPORT=1` in the environment each outermost differentiated call (`loss_grad`, ..) prints that to
//! standard error, the first time that it is made. [`of`] gives it as a value, of any code.
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

use crate::device::Device;
use crate::kernel::Fusion;
use crate::tensor::Raw;
use crate::watch::{self, REPORT};
use cotangent_hal::Result;
use std::cell::RefCell;
use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::fmt;
use std::panic::Location;
use std::sync::{Mutex, OnceLock};
use std::time::{Duration, Instant};

/// What calls ran and kept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Differentiated methods, in order of the first call.
    pub methods: Vec<Method>,
    /// All launches, of methods or not, by kernel or library call; what took longest comes first.
    pub launches: Vec<Launches>,
    /// The most bytes that tensors took at once on the devices of these launches, beyond what they took before.
    pub peak: usize,
}

/// The launches of one kernel or library call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launches {
    /// Its name: that of the operation, or of several that share a kernel.
    pub name: &'static str,
    /// How many there were.
    pub count: usize,
    /// From start to end, all together.
    pub time: Duration,
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
    static RECORDER: RefCell<Recorder> = RefCell::default();
}

/// The report that is made, and the calls that are under way.
#[derive(Default)]
struct Recorder {
    report: Report,
    frames: Vec<Frame>,
    /// Addresses of what is kept.
    kept: BTreeSet<usize>,
    /// Devices that ran launches, and the bytes that each used before.
    devices: Vec<(Device, usize)>,
}

/// A call under way.
struct Frame {
    method: usize,
    /// The field whose call is under way in it.
    field: &'static str,
}

fn is_recording() -> bool {
    watch::by(REPORT)
}

/// Starts a report unless there is one.
fn begin() -> bool {
    !watch::observe(REPORT, true)
}

fn end() -> Report {
    watch::observe(REPORT, false);
    let Recorder { mut report, devices, .. } = RECORDER.take();
    report.launches.sort_by_key(|l| Reverse(l.time));
    report.peak = devices.iter().map(|(device, before)| device.memory().peak.saturating_sub(*before)).sum();
    report
}

/// Whether the environment asks for reports.
fn wished() -> bool {
    static WISHED: OnceLock<bool> = OnceLock::new();
    *WISHED.get_or_init(|| watch::is_set("COTANGENT_REPORT"))
}

/// A differentiated call.
#[must_use = "the call ends when this is dropped"]
#[derive(Debug)]
pub struct Call {
    /// Whether it is one of the calls of the report.
    open: bool,
    /// Whether the report is that of this call.
    outermost: bool,
}

impl Call {
    /// Opens a call of the companion of that method.
    pub fn open(name: &'static str) -> Call {
        let outermost = starts(name);
        let open = is_recording();
        if open {
            RECORDER.with_borrow_mut(|r| r.open(name));
        }
        Call { open, outermost }
    }

    /// What stands around a call of the companion of that method and the backward pass from its result.
    pub fn around(name: &'static str) -> Call {
        Call { open: false, outermost: starts(name) }
    }
}

/// Starts the report that the environment asks for, unless this method had its own before.
fn starts(name: &'static str) -> bool {
    wished() && !is_recording() && is_new(name) && begin()
}

impl Drop for Call {
    fn drop(&mut self) {
        if self.open {
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

/// Says which field's call comes next; none for a method's own operations.
pub(crate) fn in_field(field: &'static str) {
    if is_recording() {
        RECORDER.with_borrow_mut(|r| r.frames.iter_mut().rev().take(1).for_each(|frame| frame.field = field));
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
            self.report.methods.push(Method { name: name.into(), calls: 0, launches: 0, groups: vec![], kept });
            self.report.methods.len() - 1
        });
        self.report.methods[method].calls += 1;
        self.frames.push(Frame { method, field: "" });
    }

    fn top(&mut self) -> Option<&mut Method> {
        let frame = self.frames.last()?;
        self.report.methods.get_mut(frame.method)
    }
}

/// Runs a launch, and counts and times it.
pub(crate) fn launched(device: &Device, name: &'static str, run: impl FnOnce() -> Result<()>) -> Result<()> {
    RECORDER.with_borrow_mut(|r| {
        if r.devices.iter().all(|(known, _)| known != device) {
            device.reset_peak_memory();
            r.devices.push((*device, device.memory().used));
        }
    });
    device.sync();
    let start = Instant::now();
    run()?;
    device.sync();
    let time = start.elapsed();
    RECORDER.with_borrow_mut(|r| {
        r.top().into_iter().for_each(|m| m.launches += 1);
        match r.report.launches.iter_mut().find(|l| l.name == name) {
            Some(known) => {
                known.count += 1;
                known.time += time;
            }
            None => r.report.launches.push(Launches { name, count: 1, time }),
        }
    });
    Ok(())
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
        self.methods.iter().try_for_each(|method| method.fmt(f))?;
        let (count, time) = self.launches.iter().fold((0, Duration::ZERO), |(n, t), l| (n + l.count, t + l.time));
        writeln!(f, "{count} launches in {}, at most {} more in use", Time(time), Bytes(self.peak))?;
        for Launches { name, count, time } in &self.launches {
            writeln!(f, "  {name:<40} {count:>6} {:>10}", Time(*time).to_string())?;
        }
        Ok(())
    }
}

/// A time as people read it.
struct Time(Duration);

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.0.as_secs_f64();
        match self.0.as_micros() {
            0..1000 => write!(f, "{:.1} us", seconds * 1e6),
            1000..1_000_000 => write!(f, "{:.1} ms", seconds * 1e3),
            _ => write!(f, "{seconds:.2} s"),
        }
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Method { name, calls, launches, groups, kept } = self;
        let times = if *calls == 1 { String::new() } else { format!(", {calls} calls") };
        let s = if *launches == 1 { "" } else { "es" };
        let all: usize = kept.iter().map(|(_, bytes)| bytes).sum();
        writeln!(f, "{name}{times}: {launches} launch{s} of its own, {} kept for the backward pass", Bytes(all))?;
        for (field, bytes) in kept {
            let field = if field.is_empty() { "operations" } else { field };
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
