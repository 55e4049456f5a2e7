//! Calls of the functions of single values: those of the table that is shared with the runtime, under its names and
//! under Rust's own.

use super::super::ast::{At, Expr, text};
use super::super::check::{self, calls, kinds};
use super::Lower;
use cotangent_ir::functions::Takes;
use cotangent_ir::{FUNCTIONS, Function, Id, Kind};
use proc_macro2::{Ident, Span};
use syn::Path;

/// The function of that name.
pub(super) fn function(name: &str) -> Option<&'static Function> {
    cotangent_ir::function(pytorch(name))
}

/// Every name of a function, for hints.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    FUNCTIONS.iter().map(|f| f.name).chain(RUST.iter().map(|(rust, _)| *rust))
}

/// The function whose name this is but for two neighbouring letters that changed places.
pub(super) fn letters_swapped(name: &str) -> Option<&'static str> {
    names().find(|known| {
        let differ: Vec<usize> =
            (0..name.len()).filter(|&at| known.as_bytes().get(at) != name.as_bytes().get(at)).collect();
        let swapped = |a: usize, b: usize| {
            let (known, name) = (known.as_bytes(), name.as_bytes());
            b == a + 1 && known.get(a) == name.get(b) && known.get(b) == name.get(a)
        };
        known.len() == name.len() && matches!(differ[..], [a, b] if swapped(a, b))
    })
}

/// The function that a callee of this path may be meant for, if there is no kernel of that name.
pub(in super::super) fn nearest(path: &Path) -> Option<Ident> {
    let name = path.get_ident()?;
    Some(Ident::new_raw(check::nearest(&text(name), names())?, Span::call_site()))
}

/// PyTorch's name for a name that may be Rust's.
fn pytorch(name: &str) -> &str {
    RUST.iter().find(|(rust, _)| *rust == name).map_or(name, |(_, pytorch)| pytorch)
}

/// Rust's names where PyTorch's differ. The functions are PyTorch's: `round` takes ties to even, `max` and `min` give
/// NaN if either operand is one, `signum` is 0 at 0.
const RUST: &[(&str, &str)] = &[
    ("ln", "log"),
    ("exp_m1", "expm1"),
    ("ln_1p", "log1p"),
    ("recip", "reciprocal"),
    ("fract", "frac"),
    ("signum", "sign"),
    ("max", "maximum"),
    ("min", "minimum"),
    ("is_nan", "isnan"),
    ("is_infinite", "isinf"),
    ("is_finite", "isfinite"),
    ("round_ties_even", "round"),
];

impl Lower<'_> {
    /// A function of these arguments, and of numbers behind them.
    pub(super) fn apply(&mut self, function: &Function, name: &Ident, args: &[Expr]) -> Option<Id> {
        let operands = function.arity;
        if !(operands..=operands + function.numbers.len()).contains(&args.len()) {
            args.iter().for_each(|arg| drop(self.expr(arg)));
            calls::number_of_arguments(name, operands, function.numbers, args.len(), self.diags);
            return None;
        }
        let word = text(name);
        let values: Vec<Option<Id>> = args.iter().map(|arg| self.operand(function.takes, arg, &word)).collect();
        let mut values = values.into_iter().collect::<Option<Vec<Id>>>()?;
        match function.takes {
            Takes::Floats => values.iter_mut().for_each(|id| *id = self.b.cast(Kind::Float, *id)),
            Takes::Numbers | Takes::Any | Takes::Bits => self.alike_all(&mut values, name)?,
            Takes::Truths | Takes::Integers | Takes::Choice => {}
        }
        self.note(&At::from(name.span()));
        function.make(&mut self.b, &values)
    }

    /// An argument, of a kind that the function takes.
    fn operand(&mut self, takes: Takes, arg: &Expr, of: &str) -> Option<Id> {
        match takes {
            Takes::Floats | Takes::Numbers => self.number(arg, of),
            Takes::Truths => self.condition(arg),
            Takes::Any | Takes::Choice => self.scalar(arg),
            Takes::Bits | Takes::Integers => self.bits(of, takes == Takes::Integers, arg),
        }
    }

    /// Makes all values of one kind: integers beside a float become floats.
    fn alike_all(&mut self, values: &mut [Id], name: &Ident) -> Option<()> {
        let Some((first, rest)) = values.split_first_mut() else { return Some(()) };
        for _ in 0..2 {
            for value in rest.iter_mut() {
                let Some(pair) = self.alike(*first, *value) else {
                    let (left, right) = (self.b.kind(*first), self.b.kind(*value));
                    kinds::operands_differ(&At::from(name.span()), &text(name), left, right, self.diags);
                    return None;
                };
                (*first, *value) = pair;
            }
        }
        Some(())
    }
}
