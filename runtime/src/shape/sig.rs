//! What a method declares, and the step of calling it.

use super::env::Env;
use super::fields::Dims;
use super::shape::{Scope, Shape};
use super::step::{Fail, Step, Verdict};

/// The declared shapes of a method.
#[derive(Clone, Copy, Debug)]
pub struct Sig {
    /// The name of the method's model, such as `Linear`; of a free function, its own.
    pub name: &'static str,
    /// The names that the shapes use.
    pub scope: Scope,
    /// The shape of each argument; [`Shape::UNKNOWN`] where it is no annotated tensor.
    pub inputs: &'static [Shape],
    /// The shape of each part of the result.
    pub outputs: &'static [Shape],
}

/// A type that stands for a method's signature.
pub trait Signature {
    /// The declared shapes.
    const SIG: Sig;
}

/// The signature of a method, found through a function that names it. The function is not called.
pub const fn sig_of<M, S: Signature>(_: fn(&M) -> S) -> Sig {
    S::SIG
}

/// Calls a method of a model whose dims are `dims`; the step's shape is that of part `out` of the result.
///
/// The callee's own names are bound where they are whole axes of an argument; every other axis is checked. Unknown
/// arguments are skipped, and axes of the result that depend on names without a binding are unknown. An axis of the result
/// that is negative whatever the names stand for is a mistake, such as a window larger than its image.
pub const fn call(sig: &Sig, dims: &Dims, inputs: &[Shape], out: usize) -> Step {
    let mut env = Env::callee(&sig.scope, dims.as_slice());
    let arguments = if inputs.len() < sig.inputs.len() { inputs.len() } else { sig.inputs.len() };
    let mut i = 0;
    while i < arguments {
        if inputs[i].known() {
            env.learn(&sig.inputs[i], &inputs[i]);
        }
        i += 1;
    }
    let shape = if out < sig.outputs.len() { env.apply(&sig.outputs[out]) } else { Shape::UNKNOWN };
    let mut step = Step::proof(shape);
    i = 0;
    while i < arguments {
        let (want, got) = (&sig.inputs[i], &inputs[i]);
        let found = env.compare(want, got);
        if !matches!(found.verdict, Verdict::Proved) {
            let symbol = match found.axis {
                Some(axis) => want.last(got.len() - 1 - axis).symbol(),
                None => None,
            };
            let fail = Fail::Input {
                argument: i,
                arguments: declared(sig.inputs),
                axis: found.axis,
                want: env.apply(want),
                got: *got,
                name: sig.name,
                names: sig.scope.model,
                dims: *dims,
                symbol,
            };
            if matches!(found.verdict, Verdict::Failed) {
                return Step::mistake(fail);
            }
            step = step.doubt(if got.known() { fail } else { Fail::None });
        }
        i += 1;
    }
    i = 0;
    while i < shape.len() {
        if matches!(shape.axis(i).literal(), Some(extent) if extent < 0) {
            let input = if arguments > 0 { inputs[0] } else { Shape::UNKNOWN };
            return Step::mistake(Fail::Negative { axis: i, result: shape, input });
        }
        i += 1;
    }
    step
}

/// How many arguments are annotated tensors.
const fn declared(inputs: &[Shape]) -> usize {
    let (mut count, mut i) = (0, 0);
    while i < inputs.len() {
        count += inputs[i].known() as usize;
        i += 1;
    }
    count
}
