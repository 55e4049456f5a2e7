//! Pointwise kernels on tensors: any shapes that broadcast, and the cotangents summed to the operands' own shapes.

use super::call::{Cotangents, Source};
use super::run::Given;
use super::typed::{IntoGiven, Outs};
use crate::diff::{Pullback, Want};
use crate::ops::{Operand, Slot, Value, broadcast_run, float_of, summing_run};
use crate::raise::raise;
use crate::tensor::{Dims, Raw, Tensor, broadcast_all};
use cotangent_hal::{DType, Error, Kernel};

/// A kernel of scalars: what it computes for each element.
pub struct Elementwise {
    /// One input an argument, then the outputs.
    pub forward: &'static Kernel,
    /// The gradient, if an argument can have one.
    pub backward: Option<&'static Backward>,
}

/// The gradient of a kernel of scalars.
pub struct Backward {
    /// One output an entry of `wrt`.
    pub kernel: &'static Kernel,
    /// Where its inputs come from: arguments, outputs and cotangents.
    pub sources: &'static [Source],
    /// The arguments that have a cotangent.
    pub wrt: &'static [u32],
}

/// The kernel `F`, which is the gradient of another one and so has the types of `T`.
pub const fn gradient_of_scalars<F: Pointwise<Plain = T>, T>() -> &'static Elementwise {
    F::KERNEL
}

/// A pointwise kernel, by the name of its function.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a pointwise kernel",
    label = "this must be the name of a kernel of elements, such as `#[kernel] fn f(x: f32) -> f32`"
)]
pub trait Pointwise: Copy + Send + Sync + 'static {
    #[doc(hidden)]
    const KERNEL: &'static Elementwise;
    /// The function that it is for single elements.
    #[doc(hidden)]
    type Plain;
}

/// A pointwise kernel of one float to one: what [`Tensor::map`] takes.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a kernel of one float to one",
    label = "`map` takes the name of a `#[kernel] fn(x: f32) -> f32`"
)]
pub trait Map: Pointwise {}

/// A pointwise kernel of two floats to one: what [`Tensor::zip_map`] takes.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a kernel of two floats to one",
    label = "`zip_map` takes the name of a `#[kernel] fn(x: f32, y: f32) -> f32`"
)]
pub trait ZipMap: Pointwise {}

impl Tensor {
    /// `f(x)` for each element.
    #[track_caller]
    pub fn map<F: Map>(self, _: F) -> Tensor {
        apply(F::KERNEL, vec![self.given()]).next()
    }

    #[doc(hidden)]
    #[allow(non_snake_case, reason = "companions bear the method's name")]
    #[track_caller]
    pub fn map__vjp<F: Map>(
        self,
        _: F,
        want: Want,
    ) -> (Tensor, impl Pullback<(), Ct = Option<Tensor>, In = (Option<Tensor>, ())> + use<F>) {
        let want = want.of_function();
        let (mut outs, saved) = apply_vjp(F::KERNEL, vec![self.given()], want);
        let pull = crate::diff::pull(move |ct: Option<Tensor>, (): &mut ()| {
            let mut cts = saved.pull([ct]);
            (cts.next(), ())
        });
        (outs.next(), pull)
    }

    /// `f(x, y)` for each pair of elements, with broadcasting. `y` may be a number.
    #[track_caller]
    pub fn zip_map<R: Operand, F: ZipMap>(self, other: R, _: F) -> Tensor {
        {
            let other = value(other.operand(self.dtype()));
            apply(F::KERNEL, vec![self.given(), other]).next()
        }
    }

    #[doc(hidden)]
    #[allow(non_snake_case, reason = "companions bear the method's name")]
    #[allow(clippy::type_complexity, reason = "the form of every companion")]
    #[track_caller]
    pub fn zip_map__vjp<R: Operand, F: ZipMap>(
        self,
        other: R,
        _: F,
        want: Want,
    ) -> (Tensor, impl Pullback<(), Ct = Option<Tensor>, In = (Option<Tensor>, R::Ct, ())> + use<R, F>) {
        let want = want.of_function();
        let other = value(other.operand(self.dtype()));
        let (mut outs, saved) = apply_vjp(F::KERNEL, vec![self.given(), other], want);
        let pull = crate::diff::pull(move |ct: Option<Tensor>, (): &mut ()| {
            let mut cts: Cotangents = saved.pull([ct]);
            (cts.next(), <R::Ct as Slot>::slot(cts.next()), ())
        });
        (outs.next(), pull)
    }
}

fn value(value: Value<crate::tensor::Float>) -> Given {
    match value {
        Value::Tensor(t) => Given::of(t.raw),
        Value::Number(n) => Given::number(n),
    }
}

/// The outputs for arguments that broadcast to one shape.
#[track_caller]
pub fn apply(def: &'static Elementwise, args: Vec<Given>) -> Outs {
    let ins = tensors(def, args);
    outs(broadcast_run(def.forward, ins))
}

fn outs(list: Vec<Raw>) -> Outs {
    Outs(list.into_iter().map(Some).collect::<Vec<_>>().into_iter())
}

/// The arguments as tensors; a number becomes one of its own.
#[track_caller]
fn tensors(def: &Elementwise, args: Vec<Given>) -> Vec<Raw> {
    let name = def.forward.name;
    let first = args.iter().find_map(|a| a.tensor().map(|raw| raw.device));
    let Some(device) = first else {
        let message = "no argument is a tensor, so that its device is not known".into();
        raise(Error::Argument { op: name.into(), message })
    };
    // A number takes part in the precision that the tensors have.
    let float = float_of(args.iter().filter_map(Given::tensor));
    let tensor = |(arg, operand): (Given, &cotangent_hal::Operand)| {
        arg.into_tensor(&device, if operand.dtype.is_float() { float } else { operand.dtype })
    };
    args.into_iter().zip(def.forward.operands).map(tensor).collect()
}

/// What the pullback keeps.
pub struct Kept(Option<Inner>);

struct Inner {
    backward: &'static Backward,
    want: Want,
    shape: Dims,
    /// The shapes and dtypes of the arguments, and so of their cotangents.
    own: Vec<(Dims, DType)>,
    args: Vec<Option<Raw>>,
    outs: Vec<Option<Raw>>,
}

/// The outputs, and what the pullback needs; bit `i + 1` of `want` stands for argument `i`.
#[track_caller]
pub fn apply_vjp(def: &'static Elementwise, args: Vec<Given>, want: Want) -> (Outs, Kept) {
    let backward = def.backward.filter(|b| b.wrt.iter().any(|a| want.has(*a as usize + 1)));
    let Some(backward) = backward else { return (apply(def, args), Kept(None)) };
    let ins = tensors(def, args);
    let own: Vec<(Dims, DType)> = ins.iter().map(|x| (x.shape, x.dtype)).collect();
    let shape = broadcast_all(def.forward.name, own.iter().map(|(shape, _)| shape));
    let uses = |source| backward.sources.contains(&source);
    let args = (0..).zip(&ins).map(|(a, x)| uses(Source::Arg(a)).then(|| x.clone().keep())).collect();
    let outs = broadcast_run(def.forward, ins);
    let saved = (0..).zip(&outs).map(|(o, y)| uses(Source::Out(o)).then(|| y.clone().keep())).collect();
    (self::outs(outs), Kept(Some(Inner { backward, want, shape, own, args, outs: saved })))
}

impl Kept {
    /// The same for arguments that were of these dtypes before they were promoted.
    pub(super) fn of_dtypes(mut self, dtypes: &[DType]) -> Kept {
        let own = self.0.iter_mut().flat_map(|inner| &mut inner.own);
        own.zip(dtypes).for_each(|((_, own), dtype)| *own = *dtype);
        self
    }

    /// The cotangent of each argument, from those of the outputs.
    #[track_caller]
    pub fn pull<const N: usize>(self, mut cotangents: [Option<Tensor>; N]) -> Cotangents {
        // The rest is compiled once, not for every caller.
        self.pull_all(&mut cotangents)
    }

    #[track_caller]
    pub(super) fn pull_all(self, cotangents: &mut [Option<Tensor>]) -> Cotangents {
        let mut cotangents: Vec<Option<Raw>> = cotangents.iter_mut().map(|ct| ct.take().map(|t| t.raw)).collect();
        let Some(inner) = self.0 else { return Cotangents(vec![].into_iter()) };
        let mut list: Vec<Option<Raw>> = vec![None; inner.own.len()];
        let Some(some) = cotangents.iter().flatten().next() else { return Cotangents(list.into_iter()) };
        let (device, dtype) = (some.device, some.dtype);
        let Inner { backward, want, shape, own, mut args, mut outs } = inner;
        let given = |source: &Source| {
            let found = match *source {
                Source::Arg(a) => args.get_mut(a as usize)?.take(),
                Source::Out(o) => outs.get_mut(o as usize)?.take(),
                Source::Cotangent(o) => {
                    let ct = cotangents.get_mut(o as usize)?.take();
                    ct.or_else(|| Some(Raw::full(&device, dtype, &[], cotangent_hal::Scalar::Float(0.0))))
                }
                Source::Staged(_) => None,
            };
            found.map(|raw| raw.expand_to(backward.kernel.name, &shape))
        };
        let ins: Vec<Raw> = backward.sources.iter().filter_map(given).collect();
        // A kernel of steps has slope 0 and reads nothing.
        if ins.is_empty() {
            return Cotangents(list.into_iter());
        }
        let wanted = |arg: &u32| want.has(*arg as usize + 1).then(|| own[*arg as usize]);
        let results = summing_run(backward.kernel, ins, &backward.wrt.iter().map(wanted).collect::<Vec<_>>());
        for (&arg, result) in backward.wrt.iter().zip(results) {
            list[arg as usize] = result;
        }
        Cotangents(list.into_iter())
    }
}
