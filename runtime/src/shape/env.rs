//! Bindings: what the names of a scope stand for, found by holding declared shapes against given ones.

use super::dim::{Dim, SYMBOLS};
use super::fields::{DimDefault, identity};
use super::shape::{Rest, Scope, Shape};
use super::step::{Fail, Step, Verdict};

/// How many groups of leading axes a scope can bind, `..` among them.
const RESTS: usize = 3;

/// What the names of a scope stand for.
///
/// The model's dims are bound from the start, a method's names at their first use as a whole axis.
#[derive(Clone, Copy, Debug)]
pub struct Env {
    scope: Scope,
    bound: u16,
    dims: [Dim; SYMBOLS],
    /// Whether names stand for themselves until they are bound; otherwise they are unknown.
    own: bool,
    rests: [(Rest, Shape); RESTS],
}

/// The result of a typed binding: its proof, and the names that are bound from there on.
#[derive(Clone, Copy, Debug)]
pub struct Bound {
    /// The proof. Its shape is that of the value from there on.
    pub step: Step,
    /// The bindings from there on.
    pub env: Env,
}

/// How a given shape compares with a declared one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Comparison {
    pub(crate) verdict: Verdict,
    /// The first axis, from the left, that gave the verdict; `None` where the rank did.
    pub(crate) axis: Option<usize>,
}

impl Env {
    /// The bindings at the start of a method: the model's dims are bound, the method's names are free.
    pub const fn new(scope: &Scope) -> Env {
        let bound = low_bits(scope.model.len());
        Env { scope: *scope, bound, dims: Dim::SYMS, own: true, rests: [(Rest::None, Shape::UNKNOWN); RESTS] }
    }

    /// These bindings, where the model's dims have these defaults; see [`identity`].
    pub const fn with_defaults(mut self, defaults: &[Option<DimDefault>]) -> Env {
        let own = identity(defaults);
        let mut k = 0;
        while k < own.as_slice().len() {
            self.dims[k] = own.as_slice()[k];
            k += 1;
        }
        self
    }

    /// These bindings and the names that the shapes of a method's arguments bind: each stands for itself.
    pub const fn with_inputs(mut self, inputs: &[Shape]) -> Env {
        let mut i = 0;
        while i < inputs.len() {
            let mut k = 0;
            while k < inputs[i].len() {
                if let Some(s) = inputs[i].axis(k).symbol() {
                    self.bound |= 1 << s;
                }
                k += 1;
            }
            if let Rest::Named(_) = inputs[i].rest() {
                self.learn_rest(inputs[i].rest(), Shape::SCALAR.rested(inputs[i].rest()));
            }
            i += 1;
        }
        self
    }

    /// The bindings of a callee's names: its model's dims are given, its own names are unknown until bound.
    pub(crate) const fn callee(scope: &Scope, dims: &[Dim]) -> Env {
        let (mut own, mut k) = ([Dim::UNKNOWN; SYMBOLS], 0);
        while k < scope.model.len() && k < dims.len() {
            own[k] = dims[k];
            k += 1;
        }
        let bound = low_bits(scope.model.len());
        Env { scope: *scope, bound, dims: own, own: false, rests: [(Rest::None, Shape::UNKNOWN); RESTS] }
    }

    /// What a name stands for; unknown where the scope does not hold it.
    pub const fn dim(&self, name: &str) -> Dim {
        match self.scope.number(name) {
            Some(k) => self.dims[k],
            None => Dim::UNKNOWN,
        }
    }

    /// A declared shape with every name replaced by what it stands for.
    pub const fn apply(&self, shape: &Shape) -> Shape {
        if !shape.known() {
            return Shape::UNKNOWN;
        }
        let (mut axes, mut i) = (shape.rested(Rest::None), 0);
        while i < shape.len() {
            axes.set(i, shape.axis(i).subst(&self.dims));
            i += 1;
        }
        match shape.rest() {
            Rest::None => axes,
            Rest::Any => axes.rested(Rest::Any),
            Rest::Named(_) | Rest::Dots => match self.rest(shape.rest()) {
                Some(prefix) if prefix.known() => prefix.then(&axes),
                Some(_) => axes.rested(Rest::Any),
                None => axes.rested(if self.own { shape.rest() } else { Rest::Any }),
            },
        }
    }

    /// Binds the free names that are whole axes of `want` to the axes of `got`.
    pub(crate) const fn learn(&mut self, want: &Shape, got: &Shape) {
        if misfit(want, got) {
            return;
        }
        let mut back = 0;
        while want.known() && back < want.len() {
            if let Some(k) = want.last(back).symbol()
                && self.bound & (1 << k) == 0
            {
                let dim = if got.known() { got.last(back) } else { Dim::UNKNOWN };
                if dim.known() {
                    self.dims[k] = dim;
                }
                // In its own scope a name that is held against an unknown axis names that axis from there on.
                if dim.known() || self.own {
                    self.bound |= 1 << k;
                }
            }
            back += 1;
        }
        if want.known() && !matches!(want.rest(), Rest::None | Rest::Any) {
            let prefix = if got.known() && got.len() >= want.len() { got.head(want.len()) } else { Shape::UNKNOWN };
            self.learn_rest(want.rest(), prefix);
        }
    }

    /// Holds `got` against `want` with names replaced.
    pub(crate) const fn compare(&self, want: &Shape, got: &Shape) -> Comparison {
        if !want.known() {
            return Comparison { verdict: Verdict::Proved, axis: None };
        }
        if !got.known() {
            return Comparison { verdict: Verdict::Undecided, axis: None };
        }
        if misfit(want, got) {
            return Comparison { verdict: Verdict::Failed, axis: None };
        }
        let mut found = self.compare_rests(want, got);
        let mut place = if got.len() < want.len() { 0 } else { got.len() - want.len() };
        while place < got.len() && !matches!(found.verdict, Verdict::Failed) {
            let back = got.len() - 1 - place;
            let (dim, given) = (want.last(back).subst(&self.dims), got.axis(place));
            // An axis that the declaration leaves open takes whatever is given.
            if want.last(back).known() && !dim.same(&given) {
                if dim.differs(&given) {
                    found = Comparison { verdict: Verdict::Failed, axis: Some(place) };
                } else if matches!(found.verdict, Verdict::Proved) {
                    found = Comparison { verdict: Verdict::Undecided, axis: Some(place) };
                }
            }
            place += 1;
        }
        found
    }

    const fn compare_rests(&self, want: &Shape, got: &Shape) -> Comparison {
        let verdict = match want.rest() {
            Rest::Dots | Rest::Any => Verdict::Proved,
            Rest::None if got.full() => Verdict::Proved,
            Rest::None => Verdict::Undecided,
            Rest::Named(_) => match self.rest(want.rest()) {
                Some(prefix) if got.len() >= want.len() => {
                    let leading = got.head(want.len());
                    if prefix.same(&leading) {
                        Verdict::Proved
                    } else if prefix.differs(&leading) {
                        Verdict::Failed
                    } else {
                        Verdict::Undecided
                    }
                }
                Some(_) | None => Verdict::Undecided,
            },
        };
        Comparison { verdict, axis: None }
    }

    /// The axes bound to `rest`, if any are.
    const fn rest(&self, rest: Rest) -> Option<Shape> {
        let mut i = 0;
        while i < RESTS {
            if rest.same(&self.rests[i].0) {
                return Some(self.rests[i].1);
            }
            i += 1;
        }
        None
    }

    /// Binds leading axes at their first use. `..` may stand for different axes in different arguments; then nothing
    /// is known of it.
    const fn learn_rest(&mut self, rest: Rest, prefix: Shape) {
        let mut i = 0;
        while i < RESTS {
            if rest.same(&self.rests[i].0) {
                if matches!(rest, Rest::Dots) && !self.rests[i].1.same(&prefix) {
                    self.rests[i].1 = Shape::UNKNOWN;
                }
                return;
            }
            if matches!(self.rests[i].0, Rest::None) {
                self.rests[i] = (rest, prefix);
                return;
            }
            i += 1;
        }
    }

    /// Forgets what `..` stands for: each typed binding has its own.
    const fn without_dots(mut self) -> Env {
        let (mut i, mut kept) = (0, 0);
        while i < RESTS {
            if !matches!(self.rests[i].0, Rest::Dots) {
                self.rests[kept] = self.rests[i];
                kept += 1;
            }
            i += 1;
        }
        while kept < RESTS {
            self.rests[kept] = (Rest::None, Shape::UNKNOWN);
            kept += 1;
        }
        self
    }
}

/// Holds a value's shape against the shape that its binding declares. Free names are bound to the value's axes.
pub const fn bind(declared: &Shape, got: &Shape, env: &Env) -> Bound {
    let mut next = *env;
    next.learn(declared, got);
    let found = next.compare(declared, got);
    let want = filled(next.apply(declared), declared, got);
    let fail = match found.verdict {
        Verdict::Proved => Fail::None,
        Verdict::Undecided if !got.known() => Fail::None,
        Verdict::Undecided | Verdict::Failed => Fail::Declared { axis: found.axis, want, got: *got },
    };
    // The declaration says more than an unknown value, and after a mistake it is what the user meant.
    let step = Step { shape: want, verdict: found.verdict, fail };
    Bound { step, env: next.without_dots() }
}

/// Whether `got` certainly has too few or too many axes.
const fn misfit(want: &Shape, got: &Shape) -> bool {
    (got.full() && got.len() < want.len()) || (want.full() && got.len() > want.len())
}

/// `shape`, with the given extents where the declaration leaves an axis open.
const fn filled(mut shape: Shape, declared: &Shape, got: &Shape) -> Shape {
    let mut back = 0;
    while back < declared.len() && back < shape.len() {
        if !declared.last(back).known() {
            shape = shape.with(shape.len() - 1 - back, got.last(back));
        }
        back += 1;
    }
    shape
}

/// A set of the first `n` symbols.
const fn low_bits(n: usize) -> u16 {
    if n >= SYMBOLS { u16::MAX } else { (1 << n) - 1 }
}
