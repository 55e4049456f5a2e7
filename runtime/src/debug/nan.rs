//! The first operation that computes a NaN.

use super::{WATCH, by_environment};
use cotangent_hal::{Arg, Backend, DType, LibraryCall, View};
use half::{bf16, f16};
use std::fmt;
use std::panic::Location;
use std::sync::Once;

/// The first operation that computed a NaN.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Nan {
    /// The layer in which it ran, as in a record; empty for the model whose method was called.
    pub path: String,
    /// The operation, or the names of several in one kernel.
    pub operation: String,
    /// Where it stands; in a backward pass, where the call of the layer does.
    pub at: &'static Location<'static>,
    /// Whether it ran in a backward pass.
    pub backward: bool,
    /// How many elements of its results are NaN, and how many there are.
    pub elements: (usize, usize),
    /// Whether its operands had a NaN already, so that it came with the data.
    pub given: bool,
}

impl fmt::Display for Nan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Nan { path, operation, at, backward, elements: (bad, all), given } = self;
        let pass = if *backward { "the backward pass of " } else { "" };
        let (layer, tick) = if path.is_empty() { ("the outermost call", "") } else { (path.as_str(), "`") };
        write!(
            f,
            "first NaN: `{operation}` in {pass}{tick}{layer}{tick}, {}:{}: {bad} of {all} elements",
            at.file(),
            at.line()
        )?;
        if *given { f.write_str("; its operands had NaN before it ran") } else { Ok(()) }
    }
}

/// Whether a NaN is looked for and none was found.
pub(crate) fn is_sought() -> bool {
    WATCH.with_borrow(|watch| watch.nan.is_none() && (watch.wished.nan || by_environment()))
}

/// What an operation reads and writes.
pub(crate) fn views<'a>(args: &[Arg<'a>]) -> (Vec<View<'a>>, Vec<View<'a>>) {
    let (mut reads, mut writes) = (vec![], vec![]);
    for arg in args {
        match arg {
            Arg::In(view) => reads.push(*view),
            Arg::Out(view) | Arg::Sum(view) => writes.push(*view),
            Arg::Scalar(_) => {}
        }
    }
    (reads, writes)
}

/// What a library call reads and writes.
pub(crate) fn library<'a>(call: &LibraryCall<'a>) -> (Vec<View<'a>>, Vec<View<'a>>) {
    match *call {
        LibraryCall::MatMul { a, b, out } => (vec![a, b], vec![out]),
        LibraryCall::Sort { x, values, at, .. } => (vec![x], vec![values, at]),
    }
}

/// Runs an operation and notes it where its results have the first NaN.
#[track_caller]
pub(crate) fn run<T>(
    backend: &dyn Backend,
    operation: &str,
    (reads, writes): (Vec<View<'_>>, Vec<View<'_>>),
    work: impl FnOnce() -> T,
) -> T {
    // What is written may be what is read.
    let given = reads.iter().any(|view| count(backend, view).0 > 0);
    let result = work();
    let counts = writes.iter().map(|view| count(backend, view));
    let elements = counts.fold((0, 0), |(bad, all), (b, a)| (bad + b, all + a));
    if elements.0 > 0 {
        let caller = Location::caller();
        WATCH.with_borrow_mut(|watch| {
            let backward = watch.backward > 0;
            let at = watch.calls.last().filter(|_| backward).map_or(caller, |(_, at)| at);
            let nan = Nan { path: watch.path(), operation: operation.to_owned(), at, backward, elements, given };
            if by_environment() && !watch.wished.nan {
                print(&nan);
            }
            watch.nan = Some(nan);
        });
    }
    result
}

#[allow(clippy::print_stderr, reason = "the user asked for it")]
fn print(nan: &Nan) {
    static PRINTED: Once = Once::new();
    PRINTED.call_once(|| eprintln!("{nan}"));
}

/// How many elements of a view are NaN, and how many there are. What cannot be read has none.
fn count(backend: &dyn Backend, view: &View<'_>) -> (usize, usize) {
    let (size, all) = (view.dtype.size(), view.len());
    let Some((_, high)) = view.bounds().filter(|_| view.dtype.is_float()) else { return (0, all) };
    let mut bytes = vec![0; (high + 1) * size];
    if backend.read(view.buffer, &mut bytes).is_err() {
        return (0, all);
    }
    let mut index = vec![0; view.shape.len()];
    let (mut position, mut bad) = (view.offset as isize, 0);
    for _ in 0..all {
        let start = position as usize * size;
        bad += usize::from(is_nan(view.dtype, &bytes[start..start + size]));
        for axis in (0..index.len()).rev() {
            index[axis] += 1;
            position += view.strides[axis];
            if index[axis] < view.shape[axis] {
                break;
            }
            position -= view.strides[axis] * view.shape[axis] as isize;
            index[axis] = 0;
        }
    }
    (bad, all)
}

fn is_nan(dtype: DType, bytes: &[u8]) -> bool {
    match (dtype, bytes) {
        (DType::F32, &[a, b, c, d]) => f32::from_ne_bytes([a, b, c, d]).is_nan(),
        (DType::F64, &[a, b, c, d, e, f, g, h]) => f64::from_ne_bytes([a, b, c, d, e, f, g, h]).is_nan(),
        (DType::F16, &[a, b]) => f16::from_ne_bytes([a, b]).is_nan(),
        (DType::BF16, &[a, b]) => bf16::from_ne_bytes([a, b]).is_nan(),
        _ => false,
    }
}
