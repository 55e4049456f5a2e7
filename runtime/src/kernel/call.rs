//! A kernel's function and its companion, below the types that the macro emits.

use super::bind::Sizes;
use super::program::Needed;
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
    /// The dims that are constants, and their values.
    pub constants: &'static [(u32, usize)],
    /// Whether what it returns keeps the precision that is computed in, where that is not the arguments'.
    pub unrounded: bool,
}

impl Def {
    /// How a result of arguments that are promoted to `float` is stored.
    fn stored(&self, float: DType) -> DType {
        if self.unrounded { float.compute() } else { float }
    }
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
    let (outs, _) =
        run(def.forward, args, &Sizes::of(def.constants), &|_, float| def.stored(float), &|_| true, &|_| None);
    Outs(outs.into_iter())
}

/// What the pullback of a call keeps; nothing where no cotangent is wanted.
pub struct Saved(Option<Kept>);

struct Kept {
    gradient: &'static Gradient,
    want: Want,
    args: Vec<Option<Given>>,
    outs: Vec<Option<Raw>>,
    /// How the arguments that have a cotangent are stored, and so their cotangents.
    dtypes: Vec<DType>,
    /// Where the outputs of the kernel itself live, their dtypes and shapes, for cotangents that are zero.
    zeros: Vec<(Device, DType, Dims)>,
    sizes: Sizes,
}

/// The outputs of a kernel, and what its pullback needs; bit `i + 1` of `want` stands for argument `i`.
#[track_caller]
pub fn vjp(def: &'static Def, args: Vec<Given>, want: Want) -> (Outs, Saved) {
    let gradient = def.gradient.filter(|g| g.wrt.iter().any(|a| want.has(*a as usize + 1)));
    let Some(gradient) = gradient else { return (call(def, &args), Saved(None)) };
    let used = Used::new(gradient, want);
    let uses = |source| used.has(gradient, source);
    let count = args.len();
    let kept = (0..count as u32).map(|a| uses(Source::Arg(a)).then(|| args[a as usize].keep())).collect();
    let declared = def.forward.ir.outs.len();
    // What is kept beside the outputs is not rounded.
    let stored = |at: usize, float: DType| if at < declared { def.stored(float) } else { float.compute() };
    let (mut outs, sizes) = run(gradient.saving, &args, &Sizes::of(def.constants), &stored, &|_| true, &|_| None);
    let saved = (0..outs.len() as u32)
        .map(|o| uses(Source::Out(o)).then(|| outs[o as usize].clone().map(Raw::keep)).flatten())
        .collect();
    outs.truncate(declared);
    // A single output has a cotangent whenever its pullback runs.
    let place = |out: &Raw| (out.device, out.dtype, out.shape);
    let zeros = if outs.len() > 1 { outs.iter().flatten().map(place).collect() } else { vec![] };
    let dtypes = gradient.wrt.iter().filter_map(|a| args[*a as usize].tensor()).map(|x| x.dtype).collect();
    (Outs(outs.into_iter()), Saved(Some(Kept { gradient, want, args: kept, outs: saved, dtypes, zeros, sizes })))
}

/// What of a gradient is run.
struct Used {
    backward: Needed,
    stage: Option<Needed>,
}

impl Used {
    /// For the cotangents that are wanted.
    fn new(gradient: &Gradient, want: Want) -> Used {
        let Gradient { stage, backward, wrt, .. } = gradient;
        let needed = backward.program.needed(|at| want.has(wrt[at] as usize + 1));
        let staged = |at: usize| backward.reads(&needed, Source::Staged(at as u32));
        let stage = stage.map(|stage| stage.program.needed(staged));
        Used { backward: needed, stage }
    }

    /// Whether that reads what comes from there.
    fn has(&self, gradient: &Gradient, source: Source) -> bool {
        let stage = gradient.stage.zip(self.stage.as_ref());
        gradient.backward.reads(&self.backward, source) || stage.is_some_and(|(d, needed)| d.reads(needed, source))
    }
}

impl Derived {
    fn reads(&self, needed: &Needed, source: Source) -> bool {
        let args = (0..).zip(self.sources).filter(|(_, own)| **own == source);
        args.into_iter().any(|(arg, _)| self.program.reads(needed, arg))
    }
}

impl Saved {
    /// The cotangent of each of `count` arguments, from those of the outputs.
    #[track_caller]
    pub fn pull<const N: usize>(self, mut cotangents: [Option<Tensor>; N], count: usize) -> Cotangents {
        // The rest is compiled once, not for every caller.
        self.pull_summed(&mut cotangents, count, &|_| None)
    }

    /// As [`pull`](Saved::pull), where it pays summed to the shape that is given for an argument.
    #[track_caller]
    pub(super) fn pull_summed(
        self,
        cotangents: &mut [Option<Tensor>],
        count: usize,
        own: &dyn Fn(usize) -> Option<Dims>,
    ) -> Cotangents {
        let cotangents: Vec<Option<Raw>> = cotangents.iter_mut().map(|ct| ct.take().map(|t| t.raw)).collect();
        let mut list: Vec<Option<Raw>> = vec![None; count];
        let Some(kept) = self.0.filter(|_| cotangents.iter().any(Option::is_some)) else {
            return Cotangents(list.into_iter());
        };
        let mut staged: Vec<Option<Raw>> = vec![];
        if let Some(stage) = kept.gradient.stage {
            let used = Used::new(kept.gradient, kept.want);
            let wanted = |at: usize| used.has(kept.gradient, Source::Staged(at as u32));
            let given = kept.given(stage, &cotangents, &[]);
            staged = run(stage.program, &given, &kept.sizes, &|_, float| float.compute(), &wanted, &|_| None).0;
        }
        let args = kept.given(kept.gradient.backward, &cotangents, &staged);
        // A derivative that is zero everywhere reads nothing.
        if args.iter().all(|arg| arg.tensor().is_none()) {
            return Cotangents(list.into_iter());
        }
        let Kept { gradient, want, sizes, dtypes, .. } = kept;
        drop(cotangents);
        let wanted = |at: usize| want.has(gradient.wrt[at] as usize + 1);
        let own = |at: usize| own(gradient.wrt[at] as usize);
        let (results, _) = run(gradient.backward.program, &args, &sizes, &|at, _| dtypes[at], &wanted, &own);
        for ((at, &arg), result) in gradient.wrt.iter().enumerate().zip(results) {
            if wanted(at) {
                list[arg as usize] = result.map(|raw| match own(at) {
                    Some(own) if !raw.is_contiguous() => raw.reinterpret_repeated(&own),
                    Some(_) | None => raw,
                });
            }
        }
        Cotangents(list.into_iter())
    }
}

impl Kept {
    fn given(&self, derived: &Derived, cotangents: &[Option<Raw>], staged: &[Option<Raw>]) -> Vec<Given> {
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
        // What is not kept is not read either.
        derived.sources.iter().map(|source| given(source).unwrap_or_else(|| Given::number(Scalar::Int(0)))).collect()
    }
}

/// The cotangents of the arguments, in order.
pub struct Cotangents(pub(super) std::vec::IntoIter<Option<Raw>>);
