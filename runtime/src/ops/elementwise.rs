//! How pointwise kernels run: broadcasting, the choice of the result's memory, and the pullback of operations with one
//! operand.

use crate::diff::{Pullback, Want};
use crate::tensor::{Dims, Raw, Tensor, broadcast, launch};
use cotangent_hal::{Arg, DType, Kernel, Scalar};

/// Runs a kernel of one input, in the input's memory where nothing else holds it.
#[track_caller]
pub(crate) fn unary(kernel: &'static Kernel, x: Raw, scalars: &[Scalar]) -> Raw {
    if reusable(&x) {
        run(kernel, &x.shape, &[&x], &x, scalars);
        return x;
    }
    let out = Raw::empty(&x.device, x.dtype, &x.shape);
    run(kernel, &x.shape, &[&x], &out, scalars);
    out
}

/// Runs a kernel of one input whose result has another dtype.
#[track_caller]
pub(crate) fn unary_to(kernel: &'static Kernel, x: &Raw, out: DType, scalars: &[Scalar]) -> Raw {
    let out = Raw::empty(&x.device, out, &x.shape);
    run(kernel, &x.shape, &[x], &out, scalars);
    out
}

/// The dtype of an operation on two tensors, as PyTorch's `result_type` for tensors of one kind: a tensor without axes
/// gives way to one with axes, else [`DType::promote`].
pub(crate) fn result_dtype(a: &Raw, b: &Raw) -> DType {
    match (a.shape.is_empty(), b.shape.is_empty()) {
        (true, false) => b.dtype,
        (false, true) => a.dtype,
        (true, true) | (false, false) => a.dtype.promote(b.dtype),
    }
}

/// Runs a kernel of two inputs over their broadcast shape, in the memory of one of them where possible. The result is
/// of their [`result_dtype`].
#[track_caller]
pub(crate) fn binary(kernel: &'static Kernel, a: Raw, b: Raw, scalars: &[Scalar]) -> Raw {
    a.same_device(kernel.name, &b);
    let dtype = result_dtype(&a, &b);
    if a.shape == b.shape {
        if a.dtype == dtype && reusable(&a) {
            run(kernel, &a.shape, &[&a, &b], &a, scalars);
            return a;
        }
        if b.dtype == dtype && reusable(&b) {
            run(kernel, &a.shape, &[&a, &b], &b, scalars);
            return b;
        }
        let out = Raw::empty(&a.device, dtype, &a.shape);
        run(kernel, &a.shape, &[&a, &b], &out, scalars);
        return out;
    }
    let shape = broadcast(kernel.name, &a.shape, &b.shape);
    let out = Raw::output(&a.device, dtype, &shape, &[&a, &b]);
    let ins = [&a.expand_to(kernel.name, &shape), &b.expand_to(kernel.name, &shape)];
    run(kernel, &shape, &ins, &out, scalars);
    out
}

/// Runs a kernel of up to three inputs over their broadcast shape into new memory of the given dtype.
#[track_caller]
pub(crate) fn broadcasting(kernel: &'static Kernel, ins: &[&Raw], out: DType, scalars: &[Scalar]) -> Raw {
    let mut shape = ins[0].shape;
    for x in &ins[1..] {
        ins[0].same_device(kernel.name, x);
        shape = broadcast(kernel.name, &shape, &x.shape);
    }
    let out = Raw::empty(&ins[0].device, out, &shape);
    let expanded: Vec<Raw> = ins.iter().map(|x| x.expand_to(kernel.name, &shape)).collect();
    run(kernel, &shape, &expanded.iter().collect::<Vec<_>>(), &out, scalars);
    out
}

/// Runs a kernel of any inputs and outputs over the inputs' broadcast shape; the first output takes the memory of an
/// input where nothing else holds it.
#[track_caller]
pub(crate) fn broadcast_run(kernel: &'static Kernel, ins: Vec<Raw>) -> Vec<Raw> {
    let name = kernel.name;
    ins.iter().for_each(|x| ins[0].same_device(name, x));
    let shape = ins.iter().fold(Dims::new(), |all, x| broadcast(name, &all, &x.shape));
    let (device, float) = (ins[0].device, float_of(ins.iter()));
    let mut outs: Vec<Raw> = vec![];
    for operand in &kernel.operands[ins.len()..] {
        let dtype = if operand.dtype.is_float() { float } else { operand.dtype };
        let lent: Vec<&Raw> = if outs.is_empty() { ins.iter().collect() } else { vec![] };
        outs.push(Raw::output(&device, dtype, &shape, &lent));
    }
    let seen: Vec<Raw> = ins.iter().map(|x| x.expand_to(name, &shape)).collect();
    if !shape.contains(&0) {
        let args = seen.iter().map(|x| Arg::In(x.view())).chain(outs.iter().map(|y| Arg::Out(y.view())));
        launch(&device, kernel, &shape, &args.collect::<Vec<_>>());
    }
    outs
}

/// The dtype that all float tensors among these are promoted to; `F32` where there is none.
pub(crate) fn float_of<'a>(tensors: impl Iterator<Item = &'a Raw>) -> DType {
    let floats = tensors.map(|t| t.dtype).filter(|d| d.is_float());
    floats.reduce(DType::promote).unwrap_or(DType::F32)
}

/// Launches a pointwise kernel: at most four tensors and two scalars.
#[track_caller]
pub(crate) fn run(kernel: &'static Kernel, shape: &[usize], ins: &[&Raw], out: &Raw, scalars: &[Scalar]) {
    if shape.contains(&0) {
        return;
    }
    let mut args = [Arg::Scalar(Scalar::Int(0)); 6];
    let given = ins.iter().map(|x| Arg::In(x.view())).chain([Arg::Out(out.view())]);
    let mut n = 0;
    for arg in given.chain(scalars.iter().map(|&s| Arg::Scalar(s))) {
        args[n] = arg;
        n += 1;
    }
    launch(&out.device, kernel, shape, &args[..n]);
}

/// Whether a result may be written over `x`.
pub(crate) fn reusable(x: &Raw) -> bool {
    x.buffer.is_unique() && x.is_contiguous()
}

/// What the pullback of an operation with one operand keeps.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Keep {
    /// The operand.
    Input,
    /// The result.
    Output,
}

/// The pullback of an operation with one tensor operand: a kernel of the cotangent, of a kept value where it needs one,
/// and of a number where it takes one.
pub(crate) struct Chain {
    wanted: bool,
    kernel: Option<&'static Kernel>,
    saved: Option<Raw>,
    scalar: Option<Scalar>,
}

impl Chain {
    /// `ct -> kernel(ct, saved; scalar)`; without a kernel the cotangent passes unchanged.
    pub(crate) fn new(kernel: Option<&'static Kernel>, saved: Option<Raw>, scalar: Option<Scalar>) -> Chain {
        Chain { wanted: true, kernel, saved, scalar }
    }

    /// The pullback of a call whose cotangent nobody wants.
    pub(crate) fn unwanted() -> Chain {
        Chain { wanted: false, kernel: None, saved: None, scalar: None }
    }

    /// The operand's cotangent.
    #[track_caller]
    pub(crate) fn apply(self, ct: Raw) -> Raw {
        match (self.kernel, self.saved) {
            (None, _) => ct,
            (Some(kernel), None) => unary(kernel, ct, self.scalar.as_slice()),
            (Some(kernel), Some(saved)) => binary(kernel, ct, saved, self.scalar.as_slice()),
        }
    }
}

impl Pullback<()> for Chain {
    type Ct = Option<Tensor>;
    type In = (Option<Tensor>,);
    fn pull(self, ct: Option<Tensor>, (): &mut ()) -> (Option<Tensor>,) {
        (ct.filter(|_| self.wanted).map(|ct| Tensor::from_raw(self.apply(ct.raw))),)
    }
}

/// Runs `forward` and keeps what `backward`, a kernel of the cotangent and the kept value, needs.
#[track_caller]
pub(crate) fn unary_vjp(
    forward: &'static Kernel,
    backward: &'static Kernel,
    x: Tensor,
    keep: Keep,
    scalar: Option<Scalar>,
    want: Want,
) -> (Tensor, Chain) {
    if !want.has(0) {
        return (Tensor::from_raw(unary(forward, x.raw, scalar.as_slice())), Chain::unwanted());
    }
    let input = (keep == Keep::Input).then(|| x.raw.clone());
    let y = unary(forward, x.raw, scalar.as_slice());
    let saved = input.unwrap_or_else(|| y.clone());
    (Tensor::from_raw(y), Chain::new(Some(backward), Some(saved), scalar))
}
