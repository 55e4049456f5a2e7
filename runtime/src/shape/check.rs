//! The declarations held against real shapes at run time. What fits costs no allocation.

use super::dim::{Dim, SYMBOLS, Value};
use super::message::Message;
use super::shape::{Rest, Scope, Shape};
use super::sig::Sig;
use cotangent_hal::{Error, Result};
use std::cell::Cell;
use std::marker::PhantomData;

thread_local! {
    static INSIDE: Cell<bool> = const { Cell::new(false) };
}

/// Lives as long as the outermost call of a model on this thread; see [`enter`].
#[derive(Debug)]
pub struct Guard {
    /// The flag belongs to the thread, so that the guard stays on it.
    thread: PhantomData<*const ()>,
}

/// Enters a call. Only the outermost one on a thread gets a guard, and with it the duty to check the shapes.
#[must_use = "the call is over when the guard is dropped"]
pub fn enter() -> Option<Guard> {
    INSIDE.with(|inside| if inside.replace(true) { None } else { Some(Guard { thread: PhantomData }) })
}

impl Drop for Guard {
    fn drop(&mut self) {
        INSIDE.with(|inside| inside.set(false));
    }
}

impl Sig {
    /// Holds the arguments of a call against the declared shapes. `what` is the method, such as `Mlp::forward`,
    /// `arguments` are the names of the arguments, `model` the values of the model's dims. `None` is no tensor.
    ///
    /// # Errors
    /// [`Error::Shape`] at the first axis that does not fit.
    pub fn check(
        &self,
        what: &str,
        arguments: &[&str],
        model: &[usize],
        inputs: &[Option<&[usize]>],
    ) -> Result<(), Error> {
        let mut known = Known::of(model);
        let pairs = || (0..).zip(self.inputs.iter().zip(inputs)).filter_map(|(i, (w, g))| Some((i, w, (*g)?)));
        for (i, want, got) in pairs() {
            let fault = known.learn(want, got);
            self.raise(what, arguments, &known, i, want, got, fault)?;
        }
        for (i, want, got) in pairs() {
            let fault = known.compare(want, got);
            self.raise(what, arguments, &known, i, want, got, fault)?;
        }
        Ok(())
    }

    #[allow(clippy::too_many_arguments, reason = "the parts of one message")]
    fn raise(
        &self,
        what: &str,
        arguments: &[&str],
        known: &Known<'_>,
        argument: usize,
        want: &Shape,
        got: &[usize],
        fault: Option<Fault>,
    ) -> Result<()> {
        let Some(fault) = fault else { return Ok(()) };
        let name = arguments.get(argument).copied().unwrap_or("argument");
        Err(Error::Shape { op: quoted(what), message: known.explain(name, want, got, fault, &self.scope) })
    }
}

/// Holds a value's shape against the shape that its binding declares. `known` are the names that have values already;
/// other names are bound at their first use as a whole axis. `what` is the binding's name.
///
/// # Errors
/// [`Error::Shape`] at the first axis that does not fit.
pub fn verify(declared: &Shape, scope: &Scope, known: &[(&str, usize)], got: &[usize], what: &str) -> Result<()> {
    let mut values = Known::of(&[]);
    for (name, value) in known {
        if let Some(k) = scope.number(name) {
            values.set(k, *value);
        }
    }
    let fault = match values.learn(declared, got) {
        None => values.compare(declared, got),
        fault => fault,
    };
    match fault {
        None => Ok(()),
        Some(fault) => {
            let message = values.explain(what, declared, got, fault, scope);
            Err(Error::Shape { op: "typed binding".into(), message })
        }
    }
}

/// The values of names.
struct Known<'a> {
    bound: u16,
    values: [usize; SYMBOLS],
    rests: [Option<&'a [usize]>; SYMBOLS],
}

/// What does not fit.
#[derive(Clone, Copy)]
enum Fault {
    Rank,
    Axis(usize),
    Leading(u8),
}

impl<'a> Known<'a> {
    fn of(model: &[usize]) -> Known<'a> {
        let mut known = Known { bound: 0, values: [0; SYMBOLS], rests: [None; SYMBOLS] };
        for (k, value) in model.iter().enumerate().take(SYMBOLS) {
            known.set(k, *value);
        }
        known
    }

    fn set(&mut self, symbol: usize, value: usize) {
        self.bound |= 1 << symbol;
        self.values[symbol] = value;
    }

    /// Checks the rank and binds free names that are whole axes.
    fn learn(&mut self, want: &Shape, got: &'a [usize]) -> Option<Fault> {
        if !want.known() {
            return None;
        }
        if got.len() < want.len() || (want.full() && got.len() > want.len()) {
            return Some(Fault::Rank);
        }
        let lead = got.len() - want.len();
        for (i, extent) in got[lead..].iter().enumerate() {
            if let Some(k) = want.axis(i).symbol()
                && self.bound & (1 << k) == 0
            {
                self.set(k, *extent);
            }
        }
        if let Rest::Named(k) = want.rest() {
            self.rests[k as usize % SYMBOLS].get_or_insert(&got[..lead]);
        }
        None
    }

    fn compare(&self, want: &Shape, got: &[usize]) -> Option<Fault> {
        if !want.known() {
            return None;
        }
        let lead = got.len() - want.len();
        if let Rest::Named(k) = want.rest()
            && self.rests[k as usize % SYMBOLS].is_some_and(|axes| axes != &got[..lead])
        {
            return Some(Fault::Leading(k));
        }
        (0..want.len()).find(|i| !self.fits(&want.axis(*i), got[lead + i])).map(Fault::Axis)
    }

    /// Whether a dim is this extent, or depends on a name without a value.
    fn fits(&self, dim: &Dim, extent: usize) -> bool {
        if dim.symbols() & !self.bound != 0 {
            return true;
        }
        match dim.value(&self.values) {
            Value::Whole(n) => n == extent,
            Value::Broken => false,
            Value::Unknown => true,
        }
    }

    /// "axis 1 of `x` is 780, expected 784 (x: [64, 780], declared [B, 784])".
    fn explain(&self, name: &str, want: &Shape, got: &[usize], fault: Fault, scope: &Scope) -> String {
        let declared = Message::EMPTY.shape(want, scope);
        let declared = declared.as_str();
        let first = match fault {
            Fault::Rank => {
                let least = if want.full() { "" } else { "at least " };
                format!("`{name}` has {}, expected {least}{}", axes(got.len()), want.len())
            }
            Fault::Leading(k) => {
                let lead = &got[..got.len() - want.len()];
                let expected = self.rests[k as usize % SYMBOLS].unwrap_or_default();
                format!(
                    "the leading axes of `{name}` are {lead:?}, expected `{}..` = {expected:?}",
                    scope.name(k as usize)
                )
            }
            Fault::Axis(i) => {
                let at = got.len() - want.len() + i;
                format!("axis {at} of `{name}` is {}, expected {}", got[at], self.expected(&want.axis(i), scope))
            }
        };
        format!("{first} ({name}: {got:?}, declared {declared})")
    }

    /// "784", "C = 784", or why there is no number.
    fn expected(&self, dim: &Dim, scope: &Scope) -> String {
        let text = Message::EMPTY.dim(dim, scope);
        let text = text.as_str();
        if dim.literal().is_some() {
            return text.into();
        }
        match dim.value(&self.values) {
            Value::Whole(n) => format!("{text} = {n}"),
            Value::Broken | Value::Unknown => {
                let bound = (0..SYMBOLS).filter(|k| dim.symbols() & (1 << k) != 0);
                let values: Vec<String> = bound.map(|k| format!("{} = {}", scope.name(k), self.values[k])).collect();
                format!("{text}, which is no extent for {}", values.join(", "))
            }
        }
    }
}

fn axes(n: usize) -> String {
    if n == 1 { "1 axis".into() } else { format!("{n} axes") }
}

/// A name in backticks, unless it brings its own or is a phrase.
fn quoted(what: &str) -> String {
    if what.contains(['`', ' ']) { what.into() } else { format!("`{what}`") }
}
