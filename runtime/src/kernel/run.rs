//! Runs a program.

use super::bind::{Bound, Sizes};
use super::few::Few;
use super::product::{self, Side};
use super::{Factor, Launch, Operand, Program, Slot, Step, Value};
use crate::device::Device;
use crate::ops::{float_of, folds_into, indices};
use crate::raise::raise;
use crate::tensor::{Dims, Raw, Strides, launch};
use cotangent_hal::{Access, Arg, DType, Domain, Error, Role, Scalar, View};
use cotangent_ir::{Axis, Id, Kind, Mode};

/// An argument of a program: a tensor or a number.
#[derive(Clone)]
pub struct Given {
    tensor: Option<Raw>,
    number: Scalar,
    /// Whether the caller has one more reference to the tensor, which it gives up for the output that replaces it.
    lent: bool,
}

impl Given {
    /// A tensor.
    pub(crate) fn of(tensor: Raw) -> Given {
        Given { tensor: Some(tensor), number: Scalar::Int(0), lent: false }
    }

    /// A tensor that an output replaces.
    pub(crate) fn lent(tensor: Raw) -> Given {
        Given { lent: true, ..Given::of(tensor) }
    }

    /// A number.
    pub(crate) fn number(number: Scalar) -> Given {
        Given { tensor: None, number, lent: false }
    }

    /// Whether an output of that dtype and shape may take the tensor's memory: nothing else holds it.
    fn is_free(&self, dtype: DType, shape: &[usize]) -> bool {
        self.tensor().is_some_and(|raw| {
            raw.buffer.holders() == 1 + usize::from(self.lent)
                && raw.dtype == dtype
                && *raw.shape == *shape
                && raw.is_contiguous()
        })
    }

    /// The argument as a pullback keeps it.
    pub(super) fn keep(&self) -> Given {
        Given { tensor: self.tensor.clone().map(Raw::keep), ..self.clone() }
    }

    pub(super) fn tensor(&self) -> Option<&Raw> {
        self.tensor.as_ref()
    }

    /// The tensor, or the number as one of its own.
    pub(super) fn into_tensor(self, device: &Device, dtype: DType) -> Raw {
        self.tensor.unwrap_or_else(|| Raw::full(device, dtype, &[], self.number))
    }
}

/// The outputs of `program` that are wanted, for these arguments, and what is known of the call, some of it beforehand. What
/// no wanted output needs is not computed.
///
/// `stored` says how an output of floats is stored, by its number and the dtype that the arguments are promoted to. An
/// argument that nothing else holds may lend its memory to an output. An output may be asked for `summed` to a shape that
/// repeats along its leading axes; it is then a view of the whole shape on that.
#[track_caller]
pub(super) fn run(
    program: &'static Program,
    args: &[Given],
    known: &Sizes,
    stored: &dyn Fn(usize, DType) -> DType,
    wanted: &dyn Fn(usize) -> bool,
    summed: &dyn Fn(usize) -> Option<Dims>,
) -> (Vec<Option<Raw>>, Sizes) {
    let ir = program.ir;
    let Some(first) = args.iter().find_map(Given::tensor) else {
        let message = "no argument is a tensor, so that its device is not known".into();
        raise(Error::Argument { op: ir.name.to_string(), message })
    };
    args.iter().filter_map(Given::tensor).for_each(|t| first.same_device(&ir.name, t));
    let bound = Bound::new(program, args, known);
    for &dim in program.nonempty {
        if bound.size(dim) == 0 {
            let message = format!("`{}` is 0, expected at least 1: an element along it is read", ir.dims[dim as usize]);
            raise(Error::Shape { op: ir.name.to_string(), message });
        }
    }
    for positions in program.positions {
        if let Some(ids) = args.get(positions.arg as usize).and_then(Given::tensor) {
            let what = &ir.args[positions.arg as usize].name;
            indices::check(&ir.name, ids, bound.extent(positions.extent), what, positions.of);
        }
    }
    let float = float_of(args.iter().filter_map(Given::tensor));
    let needed = program.needed(wanted);
    let mut taken = Few::<_, 8>::repeat(false, args.len());
    let mut memory = Memory { program, args, outs: Vec::with_capacity(ir.outs.len()), temps: vec![] };
    for (at, out) in ir.outs.iter().enumerate() {
        if !needed.outs[at] {
            memory.outs.push(None);
            continue;
        }
        let dtype = kept_as(out.kind, stored(at, float));
        let shape = bound.shape(&out.dims);
        let writer = program.launches().flat_map(|l| l.operands).find(|o| o.slot == Slot::Out(at as u32));
        if let Some(arg) = writer.and_then(|o| o.from)
            && let Some(raw) = args[arg as usize].tensor()
        {
            // What is changed in place keeps its precision.
            let free = args[arg as usize].is_free(raw.dtype, &shape) && !program.reads_later(arg, at as u32);
            memory.outs.push(Some(if free { raw.clone() } else { raw.copy() }));
            continue;
        }
        // What nobody wants comes with what is wanted, and is not stored.
        let own = if wanted(at) { summed(at) } else { Some(Dims::new()) };
        if let Some(own) = own.filter(|own| folds_into(own, &shape) && program.is_by_element(at)) {
            memory.outs.push(Some(Raw::empty(&first.device, dtype, &own).expand_to(&ir.name, &shape)));
            continue;
        }
        let lender = lender(program, at, args, &taken, dtype, &shape);
        memory.outs.push(Some(match lender.and_then(|arg| Some((arg, args[arg].tensor()?))) {
            Some((arg, raw)) => {
                taken[arg] = true;
                raw.clone()
            }
            None => Raw::empty(&first.device, dtype, &shape),
        }));
    }
    for (temp, needed) in program.temps.iter().zip(needed.temps.iter()) {
        let shape = || bound.shape(&Few::<_, 8>::of(Id(0), temp.axes.iter().map(|axis| ir.axes[axis.at()].extent)));
        let make = || Raw::empty(&first.device, kept_as(temp.kind, float.compute()), &shape());
        memory.temps.push(needed.then(make));
    }
    for (step, _) in program.steps.iter().zip(needed.steps.iter()).filter(|(_, needed)| **needed) {
        match step {
            Step::Launch(l) => start(&memory, l, &bound),
            Step::Product(p) => {
                let [a, b] = &p.factors;
                let mut sides = [a, b, &p.out].map(|factor| memory.side(factor, &bound));
                let dtype = sides[2].raw.dtype;
                sides[..2].iter_mut().for_each(|side| side.convert(dtype));
                product::run(&ir.name, &mut sides);
            }
        }
    }
    (memory.outs, bound.sizes)
}

/// The dtype in which a value is stored.
fn kept_as(kind: Kind, float: DType) -> DType {
    match kind {
        Kind::Float => float,
        Kind::Int => DType::I64,
        Kind::Bool => DType::Bool,
    }
}

/// The tensors of a call.
struct Memory<'a> {
    program: &'static Program,
    args: &'a [Given],
    outs: Vec<Option<Raw>>,
    temps: Vec<Option<Raw>>,
}

impl Memory<'_> {
    /// A tensor, and the extents that it was declared with.
    #[track_caller]
    fn tensor(&self, slot: Slot) -> (&Raw, Few<Id, 8>) {
        let ir = self.program.ir;
        let all = |dims: &[Id]| Few::of(Id(0), dims.iter().copied());
        let (raw, extents) = match slot {
            Slot::In(at) => (self.args[at as usize].tensor(), all(&ir.args[at as usize].dims)),
            Slot::Out(at) => (self.outs[at as usize].as_ref(), all(&ir.outs[at as usize].dims)),
            Slot::Temp(at) => {
                let extent = |axis: &Axis| ir.axes[axis.at()].extent;
                let axes = self.program.temps[at as usize].axes;
                (self.temps[at as usize].as_ref(), Few::of(Id(0), axes.iter().map(extent)))
            }
        };
        match raw {
            Some(raw) => (raw, extents),
            None => raise(Error::Argument { op: ir.name.to_string(), message: "a number stands for a tensor".into() }),
        }
    }

    /// An operand with the axes of an extent as one.
    #[track_caller]
    fn merged(&self, operand: &Operand, extent: Id, bound: &Bound<'_>) -> Raw {
        let name = &*self.program.ir.name;
        let (raw, dims) = self.tensor(operand.slot);
        if operand.view.is_none() {
            return raw.clone();
        }
        let mut shape = Dims::new();
        for dim in dims.iter() {
            match *dim == extent {
                true => shape.push(name, bound.extent(*dim)),
                false => bound.axes(*dim).iter().for_each(|&n| shape.push(name, n)),
            }
        }
        raw.clone().reshape(&shape)
    }

    #[track_caller]
    fn side(&self, factor: &Factor, bound: &Bound<'_>) -> Side {
        let name = &*self.program.ir.name;
        let (raw, extents) = self.tensor(factor.slot);
        let (mut along, mut begin) = (vec![], 0);
        for (axis, extent) in factor.axes.iter().zip(&*extents) {
            let shape = bound.axes(*extent);
            let end = begin + shape.len();
            along.push((*axis, shape, Strides::of(name, &raw.strides[begin..end])));
            begin = end;
        }
        Side { raw: raw.clone(), along }
    }
}

/// The argument whose memory an output may take: one that the only launch sees element by element, as it does the
/// output, and that nothing else holds. An argument of the output's own name comes first.
fn lender(
    program: &Program,
    out: usize,
    args: &[Given],
    taken: &[bool],
    dtype: DType,
    shape: &[usize],
) -> Option<usize> {
    let only = program.only()?;
    let own = only.operands.iter().find(|o| o.slot == Slot::Out(out as u32))?;
    let view = own.view.filter(|v| program.ir.outs[out].mode == Mode::Set && v.iter().all(Option::is_some))?;
    let fits = |o: &&Operand| match o.slot {
        Slot::In(arg) => {
            let arg = arg as usize;
            o.view == Some(view) && !taken[arg] && args[arg].is_free(dtype, shape)
        }
        Slot::Out(_) | Slot::Temp(_) => false,
    };
    let argument = |o: &Operand| match o.slot {
        Slot::In(arg) => arg as usize,
        Slot::Out(_) | Slot::Temp(_) => usize::MAX,
    };
    let own_name = |arg: &usize| program.ir.args[*arg].name == program.ir.outs[out].name;
    // What another output replaces is left to that one.
    let reserved = |arg: &usize| {
        let name = &program.ir.args[*arg].name;
        program.ir.outs.iter().enumerate().any(|(at, o)| at != out && o.name == *name)
    };
    let found = || only.operands.iter().filter(fits).map(argument).filter(|arg| !reserved(arg));
    found().find(own_name).or_else(|| found().next())
}

#[track_caller]
fn start(memory: &Memory<'_>, l: &Launch, bound: &Bound<'_>) {
    let (program, args) = (memory.program, memory.args);
    let name = &program.ir.name;
    let extent = |axis: &Axis| program.ir.axes[axis.at()].extent;
    let mut extents = Few::<_, 4>::of(Dims::new(), l.axes.iter().map(|axis| bound.axes(extent(axis))));
    // A row is walked along one axis, whatever that stands for.
    let last = l.axes.last().filter(|_| l.kernel.domain == Domain::Rows).map(extent);
    let merged = last.filter(|extent| bound.axes(*extent).len() != 1);
    if let (Some(extent), Some(axes)) = (merged, extents.last_mut()) {
        *axes = Dims::of(name, &[bound.extent(extent)]);
    }
    let mut shape = Dims::new();
    extents.iter().flat_map(|e| e.iter()).for_each(|&n| shape.push(name, n));
    let single = shape.is_empty();
    if single {
        shape.push(name, 1);
    }
    let seen = l.operands.iter().zip(l.kernel.operands);
    let own: Vec<Raw> = merged
        .map_or(vec![], |extent| l.operands.iter().map(|operand| memory.merged(operand, extent, bound)).collect());
    let windows = seen.enumerate().map(|(at, (operand, tile))| {
        let axes = match tile.access {
            Access::Each | Access::Whole | Access::Part => &extents[..],
            Access::Total => &[],
            Access::PerRow => &extents[..extents.len().saturating_sub(1)],
            Access::PerColumn => &extents[extents.len().saturating_sub(1)..],
        };
        let mut window = window(memory, operand, own.get(at), axes, merged, bound);
        if single && operand.view.is_some() && tile.access == Access::Each {
            window.shape.push(name, 1);
            window.strides.push(name, 1);
        }
        Some(window)
    });
    let windows = Few::<_, 4>::of(None, windows);
    let mut list = Few::<Arg<'_>, 6>::new(Arg::Scalar(Scalar::Int(0)));
    for (window, tile) in windows.iter().flatten().zip(l.kernel.operands) {
        list.push(match tile.role {
            Role::In => Arg::In(window.view()),
            Role::Out if window.repeats() => Arg::Sum(window.view()),
            Role::Out | Role::InOut => Arg::Out(window.view()),
        });
    }
    for value in l.scalars {
        list.push(Arg::Scalar(match *value {
            Value::Size(dim) => Scalar::Int(bound.size(dim)),
            Value::Arg(arg) => args[arg as usize].number,
        }));
    }
    if let Some(Some(window)) = windows.first() {
        launch(&window.raw.device, l.kernel, &shape, &list);
    }
}

/// A tensor in the axes that a tile kernel sees.
#[derive(Clone, Copy)]
struct Window<'a> {
    raw: &'a Raw,
    shape: Dims,
    strides: Strides,
}

impl Window<'_> {
    /// Whether elements are seen more than once. The strides of an empty tensor may be 0 for no such reason.
    fn repeats(&self) -> bool {
        let repeated = self.shape.iter().zip(&*self.strides).any(|(&extent, &stride)| extent > 1 && stride == 0);
        repeated && !self.shape.contains(&0)
    }

    fn view(&self) -> View<'_> {
        View { shape: &self.shape, strides: &self.strides, ..self.raw.view() }
    }
}

/// How a launch sees an operand: in axes of `extents`, the axes of the extent `merged` as one.
#[track_caller]
fn window<'a>(
    memory: &'a Memory<'_>,
    operand: &Operand,
    own: Option<&'a Raw>,
    extents: &[Dims],
    merged: Option<Id>,
    bound: &Bound<'_>,
) -> Window<'a> {
    let name = &*memory.program.ir.name;
    let (raw, dims) = memory.tensor(operand.slot);
    let raw = own.unwrap_or(raw);
    let Some(view) = operand.view else {
        return Window { shape: raw.shape, strides: raw.strides, raw };
    };
    // Where the axes of each extent of the tensor begin.
    let mut begins = Few::<_, 9>::of(0, [0]);
    for dim in dims.iter() {
        let axes = if merged == Some(*dim) { 1 } else { bound.axes(*dim).len() };
        begins.push(begins[begins.len() - 1] + axes);
    }
    let (mut shape, mut strides) = (Dims::new(), Strides::new());
    for (axes, from) in extents.iter().zip(view) {
        for (at, &n) in axes.iter().enumerate() {
            shape.push(name, n);
            strides.push(name, from.map_or(0, |dim| raw.strides[begins[dim as usize] + at]));
        }
    }
    Window { raw, shape, strides }
}
