//! A kernel's function and its companion, below the types that the macro emits.

use super::bind::Sizes;
use super::run::{Given, run};
use super::{Outs, Program};
use crate::device::Device;
use crate::diff::Want;
use crate::tensor::{Dims, Raw, Tensor};
use cotangent_hal::{DType, Scalar};

/// A kernel with its gradient.
pub struct Def {
    /// What the function computes.
    pub forward: &'static Program,
    /// The gradient, if an argument can have one.
    pub gradient: Option<&'static Gradient>,
}

/// How the cotangents of the arguments are computed.
pub struct Gradient {
    /// `forward` with the values that are kept as further outputs.
    pub saving: &'static Program,
    /// What is computed once before `backward`.
    pub stage: Option<&'static Derived>,
    /// One output an entry of `wrt`.
    pub backward: &'static Derived,
    /// The arguments that have a cotangent.
    pub wrt: &'static [u32],
}

/// A program and where its arguments come from.
pub struct Derived {
    /// The program.
    pub program: &'static Program,
    /// One source an argument.
    pub sources: &'static [Source],
}

/// Where an argument of a derived program comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// An argument of the kernel.
    Arg(u32),
    /// An output of [`Gradient::saving`].
    Out(u32),
    /// The cotangent of an output of the kernel.
    Cotangent(u32),
    /// An output of [`Gradient::stage`].
    Staged(u32),
}

/// The outputs of a kernel.
#[track_caller]
pub fn call(def: &'static Def, args: &[Given]) -> Outs {
    let (outs, _) = run(def.forward, args, &Sizes::default(), |_| true);
    Outs(outs.into_iter())
}

/// What the pullback of a call keeps; nothing where no cotangent is wanted.
pub struct Saved(Option<Kept>);

struct Kept {
    gradient: &'static Gradient,
    want: Want,
    args: Vec<Option<Given>>,
    outs: Vec<Option<Raw>>,
    /// Where the outputs of the kernel itself live, their dtypes and shapes, for cotangents that are zero.
    zeros: Vec<(Device, DType, Dims)>,
    sizes: Sizes,
}

/// The outputs of a kernel, and what its pullback needs; bit `i + 1` of `want` stands for argument `i`.
#[track_caller]
pub fn vjp(def: &'static Def, args: Vec<Given>, want: Want) -> (Outs, Saved) {
    let gradient = def.gradient.filter(|g| g.wrt.iter().any(|a| want.has(*a as usize + 1)));
    let Some(gradient) = gradient else { return (call(def, &args), Saved(None)) };
    let derived = [gradient.stage, Some(gradient.backward)];
    let uses = |source| derived.iter().flatten().any(|d| d.sources.contains(&source));
    let count = args.len();
    let kept = (0..count as u32).map(|a| uses(Source::Arg(a)).then(|| args[a as usize].clone())).collect();
    let (mut outs, sizes) = run(gradient.saving, &args, &Sizes::default(), |_| true);
    let saved =
        (0..outs.len() as u32).map(|o| uses(Source::Out(o)).then(|| outs[o as usize].clone()).flatten()).collect();
    outs.truncate(def.forward.ir.outs.len());
    // A single output has a cotangent whenever its pullback runs.
    let place = |out: &Raw| (out.device, out.dtype, out.shape);
    let zeros = if outs.len() > 1 { outs.iter().flatten().map(place).collect() } else { vec![] };
    (Outs(outs.into_iter()), Saved(Some(Kept { gradient, want, args: kept, outs: saved, zeros, sizes })))
}

impl Saved {
    /// The cotangent of each of `count` arguments, from those of the outputs.
    #[track_caller]
    pub fn pull<const N: usize>(self, cotangents: [Option<Tensor>; N], count: usize) -> Cotangents {
        let cotangents = cotangents.map(|ct| ct.map(|t| t.raw));
        let mut list: Vec<Option<Raw>> = vec![None; count];
        let Some(kept) = self.0.filter(|_| cotangents.iter().any(Option::is_some)) else {
            return Cotangents(list.into_iter());
        };
        let mut staged: Vec<Option<Raw>> = vec![];
        if let Some(stage) = kept.gradient.stage {
            staged = run(stage.program, &kept.given(stage, &cotangents, &[]), &kept.sizes, |_| true).0;
        }
        let args = kept.given(kept.gradient.backward, &cotangents, &staged);
        // A derivative that is zero everywhere reads nothing.
        if args.iter().all(|arg| arg.tensor().is_none()) {
            return Cotangents(list.into_iter());
        }
        let Kept { gradient, want, sizes, .. } = kept;
        drop(cotangents);
        let wanted = |at: usize| want.has(gradient.wrt[at] as usize + 1);
        let (results, _) = run(gradient.backward.program, &args, &sizes, wanted);
        for ((at, &arg), result) in gradient.wrt.iter().enumerate().zip(results) {
            if wanted(at) {
                list[arg as usize] = result;
            }
        }
        Cotangents(list.into_iter())
    }
}

impl Kept {
    fn given<const N: usize>(
        &self,
        derived: &Derived,
        cotangents: &[Option<Raw>; N],
        staged: &[Option<Raw>],
    ) -> Vec<Given> {
        let given = |source: &Source| match *source {
            Source::Arg(a) => self.args[a as usize].clone(),
            Source::Out(o) => self.outs[o as usize].clone().map(Given::of),
            Source::Staged(s) => staged.get(s as usize).cloned().flatten().map(Given::of),
            Source::Cotangent(o) => Some(Given::of(match &cotangents[o as usize] {
                Some(ct) => ct.clone(),
                None => {
                    let (device, dtype, shape) = &self.zeros[o as usize];
                    Raw::full(device, *dtype, shape, Scalar::Float(0.0))
                }
            })),
        };
        derived.sources.iter().filter_map(given).collect()
    }
}

/// The cotangents of the arguments, in order.
pub struct Cotangents(pub(super) std::vec::IntoIter<Option<Raw>>);
