//! The dims of a kernel, from the shapes of its arguments.

use super::Program;
use super::few::Few;
use super::run::Given;
use crate::raise::raise;
use crate::tensor::Dims;
use cotangent_hal::Error;
use cotangent_ir::{Binary, Id, Kernel, Kind, Node};

/// What the programs of one call share. A kernel and those derived of it have the same dims.
#[derive(Clone)]
pub(super) struct Sizes {
    /// The value of each dim; of a group, the product of its axes.
    dims: Few<Option<i64>, 8>,
    /// The axes of each group, in the order of `Program::groups`.
    groups: Few<Option<Dims>, 2>,
}

impl Default for Sizes {
    fn default() -> Sizes {
        Sizes { dims: Few::new(None), groups: Few::new(None) }
    }
}

impl Sizes {
    /// The dims that a kernel declares as constants.
    pub(super) fn of(constants: &[(u32, usize)]) -> Sizes {
        let mut sizes = Sizes::default();
        for &(dim, value) in constants {
            (sizes.dims.len()..=dim as usize).for_each(|_| sizes.dims.push(None));
            sizes.dims[dim as usize] = i64::try_from(value).ok();
        }
        sizes
    }
}

/// The extents of one call.
pub(super) struct Bound<'a> {
    program: &'a Program,
    pub(super) sizes: Sizes,
}

impl<'a> Bound<'a> {
    /// Binds every name that is a whole axis of an argument and not among `known`; raises where two arguments or axes
    /// disagree.
    #[track_caller]
    pub(super) fn new(program: &'a Program, args: &[Given], known: &Sizes) -> Bound<'a> {
        let ir = program.ir;
        let mut sizes = known.clone();
        (sizes.dims.len()..ir.dims.len()).for_each(|_| sizes.dims.push(None));
        (sizes.groups.len()..program.groups.len()).for_each(|_| sizes.groups.push(None));
        let mut bound = Bound { program, sizes };
        let given = || ir.args.iter().zip(args).filter_map(|(arg, given)| Some((arg, &*given.tensor()?.shape)));
        given().for_each(|(arg, shape)| bound.learn(&arg.name, &arg.dims, shape));
        // What is left is bound through arithmetic: `2 * N` is 8.
        for _ in 0..bound.open() {
            for (arg, shape) in given() {
                let parts = bound.split(&arg.dims, shape);
                arg.dims.iter().zip(&*parts).for_each(|(dim, axes)| bound.invert(*dim, product(axes)));
            }
        }
        for (arg, shape) in given() {
            let wanted = bound.shape(&arg.dims);
            if *wanted != *shape {
                misfit(ir, &arg.name, &wanted, shape);
            }
        }
        let declared = ir.args.iter().map(|a| (&a.name, &a.dims)).chain(ir.outs.iter().map(|o| (&o.name, &o.dims)));
        for (name, dims) in declared {
            if !dims.iter().all(|dim| bound.is_exact(*dim)) {
                let given: Vec<&[usize]> = given().map(|(_, shape)| shape).collect();
                let message = format!("a quotient in the dims of `{name}` leaves a remainder for the shapes {given:?}");
                raise(Error::Shape { op: ir.name.to_string(), message });
            }
        }
        bound
    }

    #[track_caller]
    fn learn(&mut self, name: &str, dims: &[Id], shape: &[usize]) {
        let ir = self.program.ir;
        let grouped = dims.iter().filter(|d| self.group(**d).is_some()).count();
        let least = dims.len() - grouped;
        if shape.len() < least || (grouped == 0 && shape.len() > least) {
            let more = if grouped > 0 { "at least " } else { "" };
            let message = format!("`{name}` is {shape:?}: {} axes, expected {more}{least}", shape.len());
            raise(Error::Shape { op: ir.name.to_string(), message });
        }
        let parts = self.split(dims, shape);
        for (dim, axes) in dims.iter().zip(&*parts) {
            let Node::Size(size) = ir.nodes[dim.at()] else { continue };
            if let Some(group) = self.group(*dim) {
                self.sizes.groups[group].get_or_insert_with(|| Dims::of(&ir.name, axes));
            }
            self.sizes.dims[size.at()].get_or_insert(product(axes));
        }
    }

    /// The axes of a shape that stand for each extent. More than one group in an argument would not be told apart; the
    /// macro refuses that.
    fn split<'s>(&self, dims: &[Id], shape: &'s [usize]) -> Few<&'s [usize], 8> {
        let single = dims.iter().filter(|dim| self.group(**dim).is_none()).count();
        let wide = shape.len().saturating_sub(single);
        let mut rest = shape;
        let mut parts = Few::new(&[][..]);
        for dim in dims {
            let count = if self.group(*dim).is_some() { wide } else { 1 };
            let (axes, after) = rest.split_at(count.min(rest.len()));
            rest = after;
            parts.push(axes);
        }
        parts
    }

    /// How many dims are not bound yet.
    fn open(&self) -> usize {
        self.sizes.dims.iter().filter(|d| d.is_none()).count()
    }

    /// Whether every dim of an extent is bound.
    fn is_known(&self, id: Id) -> bool {
        let ir = self.program.ir;
        match ir.nodes[id.at()] {
            Node::Size(dim) => self.sizes.dims[dim.at()].is_some(),
            ref node => {
                let mut known = true;
                node.operands(ir.links_of(node), &mut |id| known &= self.is_known(id));
                known
            }
        }
    }

    /// Binds the one open dim of an extent whose value is `n`, where sums and products determine it.
    fn invert(&mut self, extent: Id, n: i64) {
        let ir = self.program.ir;
        let whole = |n: i64, k: i64| (k != 0 && n % k == 0).then(|| n / k);
        let single = |run| {
            let mut open = ir.links(run).iter().filter(|link| !self.is_known(link.id));
            open.next().filter(|_| open.next().is_none())
        };
        match ir.nodes[extent.at()] {
            Node::Size(dim) => {
                self.sizes.dims[dim.at()].get_or_insert(n);
            }
            Node::Sum { kind: Kind::Int, c, terms } => {
                let Some(open) = single(terms) else { return };
                let others = ir.links(terms).iter().filter(|link| link.id != open.id);
                let rest: i64 = others.map(|link| link.k.as_int().wrapping_mul(self.value(link.id))).sum();
                if let Some(n) = whole(n.wrapping_sub(c.as_int()).wrapping_sub(rest), open.k.as_int()) {
                    self.invert(open.id, n);
                }
            }
            Node::Prod { kind: Kind::Int, factors } => {
                let Some(open) = single(factors).filter(|link| link.k.as_int() == 1) else { return };
                let others = ir.links(factors).iter().filter(|link| link.id != open.id);
                let rest = others.map(|link| self.value(link.id).wrapping_pow(link.k.as_int() as u32));
                if let Some(n) = whole(n, rest.fold(1, i64::wrapping_mul)) {
                    self.invert(open.id, n);
                }
            }
            _ => {}
        }
    }

    /// The group that an extent is, if it is one.
    fn group(&self, extent: Id) -> Option<usize> {
        match self.program.ir.nodes.get(extent.at()) {
            Some(Node::Size(dim)) => self.program.groups.iter().position(|g| *g == dim.0),
            _ => None,
        }
    }

    /// The value of a dim; -1 where nothing binds it, which a kernel that the macro accepted does not have.
    pub(super) fn size(&self, dim: u32) -> i64 {
        self.sizes.dims.get(dim as usize).copied().flatten().unwrap_or(-1)
    }

    /// The value of an extent.
    pub(super) fn extent(&self, id: Id) -> usize {
        usize::try_from(self.value(id)).unwrap_or(0)
    }

    fn value(&self, id: Id) -> i64 {
        let ir: &Kernel = self.program.ir;
        match ir.nodes[id.at()] {
            Node::Const(_, n) => n.as_int(),
            Node::Size(dim) => self.size(dim.0),
            Node::Sum { kind: Kind::Int, c, terms } => ir
                .links(terms)
                .iter()
                .fold(c.as_int(), |sum, link| sum.wrapping_add(link.k.as_int().wrapping_mul(self.value(link.id)))),
            Node::Prod { kind: Kind::Int, factors } => ir.links(factors).iter().fold(1, |product: i64, link| {
                product.wrapping_mul(self.value(link.id).wrapping_pow(link.k.as_int() as u32))
            }),
            Node::Binary(op, a, b) => {
                let (a, b) = (self.value(a), self.value(b));
                match op {
                    Binary::Quot if b > 0 => a.div_euclid(b),
                    Binary::Rem if b > 0 => a.rem_euclid(b),
                    Binary::Max => a.max(b),
                    Binary::Min => a.min(b),
                    _ => 0,
                }
            }
            _ => 0,
        }
    }

    /// Whether every quotient in an extent leaves no remainder, as the proofs of the macro take it.
    fn is_exact(&self, id: Id) -> bool {
        let ir = self.program.ir;
        let node = ir.nodes[id.at()];
        let exact = match node {
            Node::Binary(Binary::Quot, a, b) => {
                let (a, b) = (self.value(a), self.value(b));
                b > 0 && a % b == 0
            }
            _ => true,
        };
        let mut all = exact;
        node.operands(ir.links_of(&node), &mut |id| all &= self.is_exact(id));
        all
    }

    /// The axes that an extent stands for: those of a group, or one.
    pub(super) fn axes(&self, extent: Id) -> Dims {
        match self.group(extent).and_then(|g| self.sizes.groups[g]) {
            Some(axes) => axes,
            None => Dims::of(&self.program.ir.name, &[self.extent(extent)]),
        }
    }

    /// The shape with these extents.
    #[track_caller]
    pub(super) fn shape(&self, extents: &[Id]) -> Dims {
        let mut shape = Dims::new();
        for extent in extents {
            for &n in &*self.axes(*extent) {
                shape.push(&self.program.ir.name, n);
            }
        }
        shape
    }
}

fn product(axes: &[usize]) -> i64 {
    axes.iter().fold(1, |n, &axis| n.wrapping_mul(axis as i64))
}

#[cold]
#[track_caller]
fn misfit(ir: &Kernel, name: &str, wanted: &Dims, given: &[usize]) -> ! {
    let message = match wanted.iter().zip(given).position(|(w, g)| w != g) {
        Some(axis) if wanted.len() == given.len() => format!(
            "axis {axis} of `{name}` is {}, expected {}: it is {given:?}, and the rest of the signature asks for {wanted:?}",
            given[axis], wanted[axis]
        ),
        _ => format!("`{name}` is {given:?}, but the rest of the signature asks for {wanted:?}"),
    };
    raise(Error::Shape { op: ir.name.to_string(), message })
}
