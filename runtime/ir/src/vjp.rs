//! Reverse mode: from a kernel to the kernels of its gradient.
//!
//! The cotangent of a node is a function of its free axes. Used in a node over more axes, it is the sum over the others:
//! that one rule covers broadcasting, reductions and contractions. What is built are ordinary nodes, so that a gradient
//! can be differentiated again.

use crate::build::Builder;
use crate::invert::{Read, Staged, invert};
use crate::kernel::{Arg, Axis, Fold, Id, Kernel, Kind, Mode, Node, OutDef, Store};
use crate::link::link_verified;
use crate::local::{Underivable, partial, passes};
use crate::rules::Simplifier;
use crate::save;
use crate::verify::{Fault, verify};
use std::collections::HashMap;
use std::fmt;

/// Whether the forward kernel keeps values for the backward one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Save {
    /// The backward kernel takes the arguments alone and computes everything again.
    Nothing,
    /// Values of reductions are kept, and outputs where that costs nothing.
    Useful,
}

/// Where an argument of a derived kernel comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// An argument of the primal.
    Arg(Arg),
    /// An output of [`Derivative::forward`].
    Out(u32),
    /// The cotangent of an output of the primal.
    Cotangent(u32),
    /// An output of [`Derivative::stage`].
    Staged(u32),
}

/// A kernel and where its arguments come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stage {
    /// The kernel.
    pub kernel: Kernel,
    /// One source an argument.
    pub sources: Vec<Source>,
}

/// The gradient of a kernel. All its kernels have the dims of the primal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Derivative {
    /// The primal, its outputs followed by the values that are saved.
    pub forward: Kernel,
    /// Reductions that `backward` reads at several places, to be computed once before it.
    pub stage: Option<Stage>,
    /// One output for each argument in `wrt`, in that order and of that shape.
    pub backward: Stage,
}

/// Why a kernel has no derivative.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VjpError {
    /// The node that it is about, where it is about one: the kernel's own number, unless calls were inlined or the kernel
    /// has another layout than [`crate::Builder::finish`] gives. The span is sure.
    pub node: Option<Id>,
    /// What the builder noted for that node.
    pub span: Option<u32>,
    /// The reason.
    pub what: NoDerivative,
}

/// The reasons why a kernel has no derivative.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoDerivative {
    /// The kernel has a fault.
    Faulty(Fault),
    /// There is no such argument.
    NoArg(Arg),
    /// The argument holds no floats.
    NotFloat {
        /// The argument.
        name: String,
        /// What it holds.
        kind: Kind,
    },
    /// A construct without a rule.
    Construct(Underivable),
}

impl fmt::Display for VjpError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.what {
            NoDerivative::Faulty(fault) => fault.fmt(f),
            NoDerivative::NoArg(arg) => write!(f, "there is no argument {}", arg.0),
            NoDerivative::NotFloat { name, kind } => {
                write!(f, "`{name}` cannot have a derivative: it is {}, not a float", kind.phrase())
            }
            NoDerivative::Construct(Underivable::Scan(fold)) => write!(
                f,
                "the derivative of a scan over {0} is not supported yet; mark it with `detach`, or use the operation \
                 `{1}`",
                fold.name(),
                fold.scan_name()
            ),
            NoDerivative::Construct(Underivable::Call) => {
                write!(f, "the derivative of this call is not supported yet; mark it with `detach`")
            }
            NoDerivative::Construct(Underivable::Trigamma) => {
                write!(f, "the derivative of `trigamma` is not supported yet; mark it with `detach`")
            }
        }
    }
}

impl std::error::Error for VjpError {}

/// The kernel of the partial derivative of an output of a called kernel by an argument, both of floats: what takes the
/// place of the callee's own derivative where that is not known.
pub type Partials = fn(&'static Kernel, usize, usize) -> Option<&'static Kernel>;

/// The gradient of a kernel by the arguments `wrt`. Calls are inlined before.
///
/// The cotangent of an output has its shape; integer outputs have none. Where the derivative jumps, PyTorch's choice
/// stands: 0 for `abs` at 0, halves for equal operands of `max`, the first hit for a maximum over axes.
///
/// # Errors
/// Every construct on the way from `wrt` to the outputs that has no rule, or the faults of the kernel.
pub fn vjp(kernel: &Kernel, wrt: &[Arg], save: Save) -> Result<Derivative, Vec<VjpError>> {
    gradient(kernel, wrt, save, None)
}

/// As [`vjp`], but calls stand as they are: a derivative calls the callees and their partial derivatives, and has none
/// itself.
///
/// # Errors
/// As [`vjp`], and calls of a kernel for which `partials` gives nothing.
pub fn vjp_of_calls(kernel: &Kernel, wrt: &[Arg], save: Save, partials: Partials) -> Result<Derivative, Vec<VjpError>> {
    gradient(kernel, wrt, save, Some(partials))
}

/// The kernels of the partial derivatives of a kernel of scalars, of one of its outputs by each of `wrt`. They take what
/// the kernel takes; calls stand as they are.
///
/// # Errors
/// As [`vjp_of_calls`].
pub fn slopes(kernel: &Kernel, out: usize, wrt: &[Arg], partials: Partials) -> Result<Vec<Kernel>, Vec<VjpError>> {
    let (b, outs) = open(kernel, wrt, Some(partials))?;
    let mut s = Simplifier::new(b);
    s.partials = Some(partials);
    let one = s.b.float(1.0);
    let seeds = outs.get(out).into_iter().flat_map(|out| out.stores.iter());
    let seeds = seeds.map(|store| (store.node, vec![Part { axes: vec![], k: 1.0, e: one }])).collect();
    let reads = backpropagate(&mut s, wrt, seeds)?;
    let mut kernels = vec![];
    for &arg in wrt {
        let terms: Vec<(f64, Id)> = reads.iter().filter(|r| r.arg == arg).map(|r| (1.0, r.cotangent)).collect();
        let slope = s.sum(0.0, &terms);
        let slope = s.polish(slope);
        let name = format!("d{}", s.b.args()[arg.at()].name);
        s.b.output_over(&name, &[], slope);
        kernels.push(s.b.finish_as(&name));
        s.b.take_outs();
    }
    Ok(kernels)
}

/// As [`slopes`], where the derivative of the kernel is another kernel of scalars: it takes `takes`, and gives the
/// cotangent of each of `wrt`.
///
/// # Errors
/// The faults of the kernel.
pub fn slopes_by_hand(
    kernel: &Kernel,
    out: usize,
    wrt: &[Arg],
    by_hand: &'static Kernel,
    takes: &[Source],
) -> Result<Vec<Kernel>, Vec<VjpError>> {
    let (mut b, outs) = open(kernel, &[], Some(|_, _, _| None))?;
    let mut args = vec![];
    for take in takes {
        args.push(match *take {
            Source::Arg(arg) => b.load(arg, &[]),
            Source::Out(at) | Source::Staged(at) => match outs.get(at as usize).and_then(|out| out.stores.first()) {
                Some(store) => store.node,
                None => b.float(0.0),
            },
            Source::Cotangent(at) => b.float(if at as usize == out { 1.0 } else { 0.0 }),
        });
    }
    let callee = b.callee(by_hand);
    let mut kernels = vec![];
    for (at, arg) in (0..).zip(wrt) {
        let slope = b.call(callee, at, &args);
        let name = format!("d{}", b.args()[arg.at()].name);
        b.output_over(&name, &[], slope);
        kernels.push(b.finish_as(&name));
        b.take_outs();
    }
    Ok(kernels)
}

fn gradient(kernel: &Kernel, wrt: &[Arg], save: Save, partials: Option<Partials>) -> Result<Derivative, Vec<VjpError>> {
    let (b, outs) = open(kernel, wrt, partials)?;
    let primal = b.clone();
    let args = b.args().len();
    let mut sources: Vec<Source> = (0..args as u32).map(|a| Source::Arg(Arg(a))).collect();
    let mut s = Simplifier::new(b);
    s.partials = partials;
    let mut cotangents = HashMap::new();
    seed(&mut s, &outs, &mut sources, &mut cotangents);
    let mut reads = backpropagate(&mut s, wrt, cotangents)?;
    for read in &mut reads {
        read.cotangent = s.polish(read.cotangent);
    }

    let mut forward = primal;
    forward.put_outs(outs.clone());
    if save == Save::Useful {
        let chosen = save::choose(&s, &outs, args, &reads);
        save::replace_saved(&mut s, &mut forward, &outs, &chosen, &mut reads, &mut sources);
    }

    let mut staged: Staged = vec![];
    let mut gradients = vec![];
    for &arg in wrt {
        gradients.push(invert(&mut s, arg, &reads, &mut staged));
    }
    sources.extend((0..staged.len() as u32).map(Source::Staged));
    let stage = finish_stage(&mut s.b, &staged, &sources);
    for OutDef { name, dims, mode, stores, .. } in gradients {
        s.b.output_of(&name, Kind::Float, &dims, mode, stores.into_owned());
    }
    Ok(Derivative { forward: forward.finish(), stage, backward: prune(&s.b, &sources, "backward") })
}

/// The kernel without its outputs, and these; linked, where there are no partial derivatives of callees.
pub(crate) fn open(
    kernel: &Kernel,
    wrt: &[Arg],
    partials: Option<Partials>,
) -> Result<(Builder, Vec<OutDef>), Vec<VjpError>> {
    let plain = |what| VjpError { node: None, span: None, what };
    let faults = verify(kernel);
    if !faults.is_empty() {
        let error = |fault: Fault| VjpError {
            node: fault.node,
            span: fault.node.and_then(|id| kernel.span(id)),
            what: NoDerivative::Faulty(fault),
        };
        return Err(faults.into_iter().map(error).collect());
    }
    let wrong = |arg: &Arg| match kernel.args.get(arg.at()) {
        None => Some(plain(NoDerivative::NoArg(*arg))),
        Some(def) if def.kind != Kind::Float => {
            Some(plain(NoDerivative::NotFloat { name: def.name.to_string(), kind: def.kind }))
        }
        Some(_) => None,
    };
    let errors: Vec<VjpError> = wrt.iter().filter_map(wrong).collect();
    if !errors.is_empty() {
        return Err(errors);
    }
    let mut b = if partials.is_some() { Builder::open_verified(kernel) } else { link_verified(kernel) };
    let outs = b.take_outs();
    Ok((b, outs))
}

/// Which primal nodes vary with floats of `wrt`.
pub(crate) fn active(b: &Builder, wrt: &[Arg]) -> Vec<bool> {
    let mut active: Vec<bool> = Vec::with_capacity(b.len() as usize);
    for id in (0..b.len()).map(Id) {
        let node = b.node(id);
        let varies = if let Node::Load { arg, .. } = node {
            wrt.contains(&arg)
        } else {
            b.operands(id).iter().enumerate().any(|(at, operand)| active[operand.at()] && passes(&node, at))
        };
        active.push(varies);
    }
    active
}

/// A contribution to the cotangent of a node: the sum over `axes` of `k * e`.
struct Part {
    axes: Vec<Axis>,
    k: f64,
    e: Id,
}

type Cotangents = HashMap<Id, Vec<Part>>;

/// The cotangents of the outputs: what was stored at a place is multiplied by the cotangent at that place.
fn seed(s: &mut Simplifier, outs: &[OutDef], sources: &mut Vec<Source>, cotangents: &mut Cotangents) {
    let single = outs.iter().filter(|o| o.kind == Kind::Float).count() == 1;
    for (at, out) in outs.iter().enumerate().filter(|(_, o)| o.kind == Kind::Float) {
        let name = if single { "ct".to_string() } else { format!("ct_{}", out.name) };
        let arg = s.b.arg(&name, Kind::Float, &out.dims);
        sources.push(Source::Cotangent(at as u32));
        for store in out.stores.iter() {
            let e = s.b.load(arg, &store.at);
            let free = s.b.free(store.node);
            let axes: Vec<Axis> = store.over.iter().copied().filter(|a| !free.contains(a)).collect();
            cotangents.entry(store.node).or_default().push(Part { axes, k: 1.0, e });
        }
    }
}

/// Carries cotangents from the outputs to the loads of `wrt`.
fn backpropagate(s: &mut Simplifier, wrt: &[Arg], mut cotangents: Cotangents) -> Result<Vec<Read>, Vec<VjpError>> {
    let active = active(&s.b, wrt);
    let (mut reads, mut errors) = (vec![], vec![]);
    for v in (0..s.frozen.0).rev().map(Id) {
        let Some(parts) = cotangents.remove(&v).filter(|_| active[v.at()]) else { continue };
        let c = gather(s, parts);
        if s.is_zero(c) {
            continue;
        }
        let node = s.b.node(v);
        if let Node::Load { arg, at, guard } = node {
            let at = s.b.links(at).iter().map(|l| l.id).collect();
            reads.push(Read { arg, at, guard, cotangent: c });
            continue;
        }
        // The transpose of a running sum runs the other way.
        let c = if let Node::Scan { fold: fold @ Fold::Sum, axis, reverse, exclusive, .. } = node {
            s.b.scan(fold, axis, !reverse, exclusive, c)
        } else {
            c
        };
        for (at, operand) in s.b.operands(v).into_iter().enumerate() {
            if !active[operand.at()] || !passes(&node, at) {
                continue;
            }
            match partial(s, v, at, c) {
                Ok((k, e)) => {
                    let mut axes: Vec<Axis> = [s.b.free(v), s.b.free(e)].concat();
                    axes.retain(|a| !s.b.free(operand).contains(a));
                    axes.sort_unstable();
                    axes.dedup();
                    cotangents.entry(operand).or_default().push(Part { axes, k, e });
                }
                Err(what) => {
                    let (node, span) = (Some(v), Some(s.b.span(v)));
                    errors.push(VjpError { node, span, what: NoDerivative::Construct(what) });
                }
            }
        }
    }
    // In the order of the source.
    reads.reverse();
    if errors.is_empty() { Ok(reads) } else { Err(errors) }
}

/// The cotangent of a node: what is summed over the same axes is added first, then reduced once.
fn gather(s: &mut Simplifier, parts: Vec<Part>) -> Id {
    let mut groups = Vec::<(Vec<Axis>, Vec<(f64, Id)>)>::new();
    for Part { axes, k, e } in parts {
        match groups.iter_mut().find(|g| g.0 == axes) {
            Some(group) => group.1.push((k, e)),
            None => groups.push((axes, vec![(k, e)])),
        }
    }
    let mut terms = vec![];
    for (axes, parts) in groups {
        let sum = s.sum(0.0, &parts);
        terms.push((1.0, s.fold_sum(&axes, sum)));
    }
    s.sum(0.0, &terms)
}

/// The kernel that computes what is staged.
fn finish_stage(b: &mut Builder, staged: &Staged, sources: &[Source]) -> Option<Stage> {
    if staged.is_empty() {
        return None;
    }
    for (at, &(id, _)) in staged.iter().enumerate() {
        let axes = b.free(id).to_vec();
        b.output_over(&format!("t{at}"), &axes, id);
    }
    let stage = prune(b, sources, "stage");
    b.take_outs();
    Some(stage)
}

/// The finished kernel with those arguments alone that it loads.
fn prune(b: &Builder, sources: &[Source], role: &str) -> Stage {
    let (kernel, args) = b.finish_needed(role);
    let sources = args.iter().filter_map(|a| sources.get(a.at()).copied()).collect();
    Stage { kernel, sources }
}

/// The output of a gradient that is 0 everywhere.
pub(crate) fn zero_output(s: &mut Simplifier, name: &str, dims: &[Id]) -> OutDef {
    let axes: Vec<Axis> = dims.iter().enumerate().map(|(q, &dim)| s.b.axis(&format!("g{q}"), dim)).collect();
    let zero = s.zero();
    let store = s.b.plain_store(&axes, zero);
    output(name, dims, Mode::Set, vec![store])
}

pub(crate) fn output(name: &str, dims: &[Id], mode: Mode, stores: Vec<Store>) -> OutDef {
    OutDef { name: name.to_string().into(), kind: Kind::Float, dims: dims.to_vec().into(), mode, stores: stores.into() }
}
