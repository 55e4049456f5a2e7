//! Errors of operators: raised as one typed panic payload, turned back into a `Result` by [`attempt`].
//!
//! An operator such as `a + b` has no room for a `Result`. It panics with an [`Error`] as the payload; uncaught, a hook
//! prints the error and the user's line, as a panic with a message would.

use crate::watch;
use cotangent_hal::Error;
use std::backtrace::{Backtrace, BacktraceStatus};
use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe, PanicHookInfo};
use std::sync::Once;

thread_local! {
    /// How many calls of [`attempt`] this thread is inside of.
    static ATTEMPTS: Cell<usize> = const { Cell::new(0) };
}

/// Stops the present operation with `error`, at the caller's line.
///
/// Callers are `#[track_caller]` up to the public operator, so that the line is the user's.
#[cold]
#[track_caller]
pub fn raise(error: Error) -> ! {
    install();
    panic::panic_any(error)
}

/// The value of a result, or its error raised.
#[track_caller]
pub(crate) fn raised<T>(result: Result<T, Error>) -> T {
    match result {
        Ok(value) => value,
        Err(error) => raise(error),
    }
}

/// Runs `f` and gives an error that an operator raised inside of it as `Err`. Any other panic goes on.
///
/// ```
/// use cotangent_runtime::{Error, attempt, raise};
/// let result: Result<(), Error> =
///     attempt(|| raise(Error::Argument { op: "narrow".into(), message: "start 5 is past the end".into() }));
/// assert_eq!(result.unwrap_err().to_string(), "narrow: start 5 is past the end");
/// ```
///
/// # Errors
/// What was raised.
pub fn attempt<T>(f: impl FnOnce() -> T) -> Result<T, Error> {
    let depth = watch::depth();
    ATTEMPTS.set(ATTEMPTS.get() + 1);
    let result = panic::catch_unwind(AssertUnwindSafe(f));
    ATTEMPTS.set(ATTEMPTS.get() - 1);
    if result.is_err() {
        watch::return_to(depth);
    }
    match result {
        Ok(value) => Ok(value),
        Err(payload) => match payload.downcast::<Error>() {
            Ok(error) => Err(*error),
            Err(other) => panic::resume_unwind(other),
        },
    }
}

/// Sets, once for the process, a panic hook that knows the payload of [`raise`] and leaves all else to the one before.
fn install() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        let previous = panic::take_hook();
        panic::set_hook(Box::new(move |info| match info.payload().downcast_ref::<Error>() {
            None => previous(info),
            Some(_) if ATTEMPTS.get() > 0 => {}
            Some(error) => report(error, info),
        }));
    });
}

#[allow(
    clippy::print_stderr,
    reason = "a panic hook reports on standard error; `eprintln` is what test runners capture"
)]
fn report(error: &Error, info: &PanicHookInfo<'_>) {
    let thread = std::thread::current();
    let thread = thread.name().unwrap_or("<unnamed>");
    match info.location() {
        Some(at) => eprintln!("\nthread '{thread}' panicked at {at}:\n{error}"),
        None => eprintln!("\nthread '{thread}' panicked:\n{error}"),
    }
    let backtrace = Backtrace::capture();
    if backtrace.status() == BacktraceStatus::Captured {
        eprintln!("stack backtrace:\n{backtrace}");
    }
}
