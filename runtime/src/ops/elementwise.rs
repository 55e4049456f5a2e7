//! How pointwise kernels run: broadcasting, the choice of the result's memory, and the pullback of operations with one
//! operand.

use super::fold;
use crate::diff::{Pullback, Want};
use crate::tensor::{Bool, Dims, Kind, Raw, Tensor, broadcast, broadcast_all, launch};
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

/// An operand of an operation whose result is of `dtype`: an integer without axes that gives way to a narrower dtype is of
/// that dtype before anything is computed, as in PyTorch.
pub(crate) fn of_integers(x: Raw, dtype: DType) -> Raw {
    let gives_way = x.shape.is_empty() && x.dtype != dtype && DType::INTS.contains(&dtype);
    if gives_way { x.cast(dtype) } else { x }
}

/// Runs a kernel of two inputs over their broadcast shape, in the memory of one of them where possible. The result is
/// of their [`result_dtype`].
#[track_caller]
pub(crate) fn binary(kernel: &'static Kernel, a: Raw, b: Raw, scalars: &[Scalar]) -> Raw {
    a.same_device(kernel.name, &b);
    let dtype = result_dtype(&a, &b);
    let (a, b) = (of_integers(a, dtype), of_integers(b, dtype));
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
    let shape = broadcast_all(name, ins.iter().map(|x| &x.shape));
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

/// The least elements for which it pays to add up in the kernel what is summed, or to leave out what nobody wants.
const SUMMED: usize = 512;

/// As [`broadcast_run`], each output of a shape and dtype of its own: summed over the axes that broadcasting added or
/// repeated. An output that nobody wants is `None`.
#[track_caller]
pub(crate) fn summing_run(kernel: &'static Kernel, ins: Vec<Raw>, own: &[Option<(Dims, DType)>]) -> Vec<Option<Raw>> {
    let name = kernel.name;
    let shape = broadcast_all(name, ins.iter().map(|x| &x.shape));
    let (device, float, total) = (ins[0].device, float_of(ins.iter()), shape.numel());
    if total == 0 {
        let zeros = |(shape, dtype): &(Dims, DType)| Raw::full(&device, *dtype, shape, Scalar::Float(0.0));
        return own.iter().map(|own| own.as_ref().map(zeros)).collect();
    }
    let mut lent: Vec<&Raw> = ins.iter().collect();
    let out = |own: &Option<(Dims, DType)>| match own {
        Some((own, dtype)) if *own == shape => {
            let out = Raw::output(&device, *dtype, &shape, &std::mem::take(&mut lent));
            (out, false)
        }
        Some((own, dtype)) if folds_into(own, &shape) => (Raw::empty(&device, *dtype, own), true),
        None if folds_into(&[], &shape) => (Raw::empty(&device, float, &[]), true),
        Some(_) | None => (Raw::empty(&device, float, &shape), false),
    };
    let outs: Vec<(Raw, bool)> = own.iter().map(out).collect();
    let seen: Vec<Raw> = ins.iter().map(|x| x.expand_to(name, &shape)).collect();
    let wide: Vec<Raw> = outs.iter().map(|(y, _)| y.expand_to(name, &shape)).collect();
    let written =
        wide.iter().zip(&outs).map(|(y, (_, sum))| if *sum { Arg::Sum(y.view()) } else { Arg::Out(y.view()) });
    let args: Vec<Arg<'_>> = seen.iter().map(|x| Arg::In(x.view())).chain(written).collect();
    launch(&device, kernel, &shape, &args);
    drop((seen, wide, ins));
    let finish = |((y, _), own): ((Raw, bool), &Option<(Dims, DType)>)| {
        own.as_ref().map(|(shape, dtype)| fold::sum_to(y, shape).cast(*dtype))
    };
    outs.into_iter().zip(own).map(finish).collect()
}

/// Whether it pays to add up an output of a shape to `own`, which is its trailing part apart from leading extents of 1.
pub(crate) fn folds_into(own: &[usize], shape: &[usize]) -> bool {
    let total = shape.iter().product::<usize>();
    let first = own.iter().position(|&n| n != 1).unwrap_or(own.len());
    total >= SUMMED && shape.ends_with(&own[first..]) && own.iter().product::<usize>() * 16 <= total
}

/// The dtype that all float tensors among these are promoted to; `F32` where there is none.
pub(crate) fn float_of<'a>(tensors: impl Iterator<Item = &'a Raw>) -> DType {
    let floats = tensors.map(|t| t.dtype).filter(|d| d.is_float());
    floats.reduce(DType::promote).unwrap_or(DType::F32)
}

/// Launches a pointwise kernel: at most six tensors and scalars.
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

/// The pullback of an operation with one tensor operand: a kernel of the cotangent, of up to two kept values where it
/// needs them, and of the numbers that it takes.
pub(crate) struct Chain {
    wanted: bool,
    kernel: Option<&'static Kernel>,
    saved: Option<Raw>,
    result: Option<Raw>,
    scalars: [Option<Scalar>; 3],
}

impl Chain {
    /// That of the identity: the cotangent passes unchanged.
    pub(crate) fn passing() -> Chain {
        Chain { wanted: true, ..Chain::unwanted() }
    }

    /// The pullback of a call whose cotangent nobody wants, or is 0.
    pub(crate) fn unwanted() -> Chain {
        Chain { wanted: false, kernel: None, saved: None, result: None, scalars: [None; 3] }
    }

    /// The operand's cotangent, where it is wanted.
    #[track_caller]
    pub(crate) fn ct(self, ct: Raw) -> Option<Raw> {
        self.wanted.then(|| self.apply(ct))
    }

    #[track_caller]
    fn apply(self, ct: Raw) -> Raw {
        let Some(kernel) = self.kernel else { return ct };
        let scalars: Vec<Scalar> = self.scalars.into_iter().flatten().collect();
        match (self.saved, self.result) {
            (None, None) => unary(kernel, ct, &scalars),
            (Some(saved), None) | (None, Some(saved)) => binary(kernel, ct, saved, &scalars),
            (Some(x), Some(y)) => {
                let dtype = result_dtype(&ct, &y);
                let out = Raw::output(&ct.device, dtype, &ct.shape, &[&ct, &x, &y]);
                run(kernel, &ct.shape, &[&ct, &x, &y], &out, &scalars);
                out
            }
        }
    }
}

impl Pullback<()> for Chain {
    type Ct = Option<Tensor>;
    type In = (Option<Tensor>,);
    fn pull(self, ct: Option<Tensor>, (): &mut ()) -> (Option<Tensor>,) {
        (ct.and_then(|ct| self.ct(ct.raw)).map(Tensor::from_raw),)
    }
}

/// A function of the table of built-in ones: its kernels, which take the numbers of a call behind their tensors.
pub(crate) struct Function {
    pub(crate) forward: &'static Kernel,
    /// None where the slope is 0 everywhere.
    pub(crate) slope: Option<Slope>,
}

/// The gradient of a [`Function`]: a kernel of the cotangent, and of operand and result where it needs them.
pub(crate) struct Slope {
    /// None where the cotangent passes as it is.
    pub(crate) kernel: Option<&'static Kernel>,
    pub(crate) input: bool,
    pub(crate) output: bool,
    /// Which numbers it takes.
    pub(crate) numbers: &'static [bool],
}

impl Function {
    /// The function of each element.
    #[track_caller]
    pub(crate) fn of<K: Kind>(&self, x: Tensor<K>, numbers: &[Scalar]) -> Tensor<K> {
        Tensor::from_raw(unary(self.forward, x.raw, numbers))
    }

    /// The truth value of each element.
    #[track_caller]
    pub(crate) fn truth<K: Kind>(&self, x: Tensor<K>, numbers: &[Scalar]) -> Tensor<Bool> {
        Tensor::from_raw(unary_to(self.forward, &x.raw, DType::Bool, numbers))
    }

    /// The function of each element, and its pullback.
    #[track_caller]
    pub(crate) fn vjp(&self, x: Tensor, numbers: &[Scalar], want: Want) -> (Tensor, Chain) {
        let saved = (want.has(0) && self.needs_operand()).then(|| x.raw.clone());
        let y = unary(self.forward, x.raw, numbers);
        let chain = self.chain(saved, &y, numbers, want);
        (Tensor::from_raw(y), chain)
    }

    /// Whether the gradient needs the operand.
    pub(crate) fn needs_operand(&self) -> bool {
        self.slope.as_ref().is_some_and(|slope| slope.input)
    }

    /// The pullback from the operand, where it needs that, and the result.
    pub(crate) fn chain(&self, x: Option<Raw>, y: &Raw, numbers: &[Scalar], want: Want) -> Chain {
        let Some(slope) = self.slope.as_ref().filter(|_| want.has(0)) else { return Chain::unwanted() };
        let (saved, result) = (x.map(Raw::keep), slope.output.then(|| y.clone().keep()));
        let mut scalars = [None; 3];
        let taken = numbers.iter().zip(slope.numbers).filter(|(_, taken)| **taken);
        scalars.iter_mut().zip(taken).for_each(|(slot, (number, _))| *slot = Some(*number));
        Chain { wanted: true, kernel: slope.kernel, saved, result, scalars }
    }
}

/// A function of two tensors of the table of built-in ones.
pub(crate) struct Pair {
    pub(crate) forward: &'static Kernel,
    /// The gradients by both operands; none where the slope is 0 everywhere.
    pub(crate) slopes: [Option<PairSlope>; 2],
}

/// A function of a tensor and of another one, or of a number.
pub(crate) struct Forms {
    pub(crate) pair: &'static Pair,
    pub(crate) right: &'static Function,
}

/// The gradient of a [`Pair`] by one operand: a kernel of the cotangent and of the operands that it reads.
pub(crate) struct PairSlope {
    /// None where the cotangent passes as it is.
    pub(crate) kernel: Option<&'static Kernel>,
    pub(crate) reads: [bool; 2],
}

impl PairSlope {
    /// The operand's cotangent, of the result's shape; what is read of the operands was kept.
    #[track_caller]
    pub(crate) fn apply(&self, ct: Raw, kept: &[Option<Raw>; 2]) -> Raw {
        let Some(kernel) = self.kernel else { return ct };
        let [a, b] = [0, 1].map(|at| kept[at].as_ref().filter(|_| self.reads[at]));
        match (a, b) {
            (None, None) => unary(kernel, ct, &[]),
            (Some(x), None) | (None, Some(x)) => binary(kernel, ct, x.clone(), &[]),
            (Some(a), Some(b)) => broadcasting(kernel, &[&ct, a, b], result_dtype(a, b), &[]),
        }
    }
}
