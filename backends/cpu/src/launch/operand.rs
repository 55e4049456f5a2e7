//! Verification of a launch's arguments.

use super::overlap;
use crate::backend::{block_of, in_use, refused};
use crate::memory::{Block, Borrow};
use cotangent_hal::{Access, Arg, DType, Domain, Error, Kernel, Memory, Operand, Result, Role, Scalar, View};

/// The most tensors, and the most scalars, that a launch takes.
pub(crate) const OPERANDS: usize = 16;

/// A tensor argument whose dtype, shape, bounds and overlaps are verified.
#[derive(Clone, Copy)]
pub(crate) struct Checked<'a> {
    pub operand: &'static Operand,
    pub view: View<'a>,
    pub block: &'a Block,
    /// Lowest and highest element, or `None` where the view is empty.
    pub range: Option<(usize, usize)>,
    /// Whether an output has the very elements of this input.
    pub overwritten: bool,
}

/// All arguments of a launch.
pub(crate) struct Operands<'a> {
    tensors: [Option<Checked<'a>>; OPERANDS],
    scalars: [Scalar; OPERANDS],
    count: usize,
    scalar_count: usize,
    /// The right to use each buffer, held until the launch is done.
    _borrows: [Option<Borrow<'a>>; OPERANDS],
}

impl<'a> Operands<'a> {
    /// Verifies `args` against what `kernel` declares.
    pub(crate) fn check(kernel: &'static Kernel, shape: &[usize], args: &[Arg<'a>]) -> Result<Self> {
        let count = kernel.operands.len();
        if count > OPERANDS || kernel.scalars > OPERANDS {
            return Err(misuse(kernel, format!("more than {OPERANDS} tensors or scalars are not supported yet")));
        }
        if args.len() != count + kernel.scalars {
            let wanted = format!("{count} tensors and {} scalars", kernel.scalars);
            return Err(misuse(kernel, format!("{} arguments were given, expected {wanted}", args.len())));
        }
        let rank = shape.len();
        if rank > 8 || (rank == 0 && kernel.domain == Domain::Rows) {
            let least = if kernel.domain == Domain::Rows { 1 } else { 0 };
            return Err(misshapen(kernel, format!("the shape {shape:?} has {rank} axes, expected {least} to 8")));
        }
        if shape.iter().try_fold(1isize, |n, &e| n.checked_mul(isize::try_from(e).ok()?)).is_none() {
            return Err(misshapen(kernel, format!("the shape {shape:?} has too many elements")));
        }
        let mut all = Operands {
            tensors: [None; OPERANDS],
            scalars: [Scalar::Int(0); OPERANDS],
            count,
            scalar_count: kernel.scalars,
            _borrows: [const { None }; OPERANDS],
        };
        for ((operand, arg), slot) in kernel.operands.iter().zip(args).zip(&mut all.tensors) {
            *slot = Some(check_tensor(kernel, operand, arg, shape)?);
        }
        for (arg, slot) in args[count..].iter().zip(&mut all.scalars) {
            let Arg::Scalar(scalar) = arg else {
                return Err(misuse(kernel, "a tensor was given where a scalar is expected".into()));
            };
            *slot = *scalar;
        }
        all.check_overlaps(kernel)?;
        all.borrow()?;
        Ok(all)
    }

    pub(crate) fn tensors(&self) -> impl Iterator<Item = &Checked<'a>> {
        self.tensors[..self.count].iter().flatten()
    }

    pub(crate) fn scalars(&self) -> &[Scalar] {
        &self.scalars[..self.scalar_count]
    }

    /// An output may share elements with an input of the same access and layout, and with nothing else.
    fn check_overlaps(&mut self, kernel: &'static Kernel) -> Result<()> {
        for o in 0..self.count {
            let Some(out) = self.tensors[o] else { continue };
            if out.operand.role == Role::In {
                continue;
            }
            if out.range.is_some() && overlap::repeats(out.view.shape, out.view.strides) {
                let name = out.operand.name;
                return Err(misuse(kernel, format!("the output `{name}` repeats elements; give it memory of its own")));
            }
            for i in 0..self.count {
                let Some(other) = &mut self.tensors[i] else { continue };
                if i == o || !std::ptr::eq(other.block, out.block) || (other.operand.role != Role::In && i > o) {
                    continue;
                }
                let (Some(a), Some(b)) = (out.range, other.range) else { continue };
                if byte_range(a, out.view.dtype).1 <= byte_range(b, other.view.dtype).0
                    || byte_range(b, other.view.dtype).1 <= byte_range(a, out.view.dtype).0
                    || overlap::disjoint(&out.view, a.0, &other.view, b.0)
                {
                    continue;
                }
                let element_wise = matches!(out.operand.access, Access::Each | Access::PerRow)
                    && other.operand.role == Role::In
                    && other.operand.access == out.operand.access
                    && overlap::same_layout(&out.view, &other.view);
                if !element_wise {
                    let (out, other) = (out.operand.name, other.operand.name);
                    let message = format!("the output `{out}` overlaps `{other}` other than element by element");
                    return Err(misuse(kernel, message));
                }
                other.overwritten = true;
            }
        }
        Ok(())
    }

    fn borrow(&mut self) -> Result<()> {
        for i in 0..self.count {
            let Some(tensor) = self.tensors[i] else { continue };
            let block = tensor.block;
            let shares = |t: &&Checked<'_>| std::ptr::eq(t.block, block);
            if self.tensors[..i].iter().flatten().any(|t| shares(&t)) {
                continue;
            }
            let writes =
                self.tensors[i..self.count].iter().flatten().filter(shares).any(|t| t.operand.role != Role::In);
            self._borrows[i] = Some(block.borrow(writes).ok_or_else(in_use)?);
        }
        Ok(())
    }
}

fn check_tensor<'a>(
    kernel: &'static Kernel,
    operand: &'static Operand,
    arg: &Arg<'a>,
    shape: &[usize],
) -> Result<Checked<'a>> {
    let view = match (arg, operand.role) {
        (Arg::In(view), Role::In) | (Arg::Out(view), Role::Out | Role::InOut) => *view,
        (Arg::In(_) | Arg::Out(_) | Arg::Scalar(_), _) => {
            let wanted = if operand.role == Role::In { "an input" } else { "an output" };
            return Err(misuse(kernel, format!("`{}` is {wanted}, but was given as something else", operand.name)));
        }
    };
    let rows = shape.len().saturating_sub(1);
    let wanted = match (operand.access, kernel.domain, operand.role) {
        (Access::Each, _, _) => Some(shape),
        (Access::PerRow, Domain::Rows, _) => Some(&shape[..rows]),
        (Access::PerColumn, Domain::Rows, Role::Out) if operand.dtype != DType::Bool => Some(&shape[rows..]),
        (Access::Whole, _, _) => None,
        (Access::PerRow | Access::PerColumn, _, _) => {
            let message = format!("`{}` declares an access that its domain, role or dtype does not have", operand.name);
            return Err(misuse(kernel, message));
        }
    };
    if view.dtype != operand.dtype {
        let op = format!("{} (`{}`)", kernel.name, operand.name);
        return Err(Error::Dtype { op, given: view.dtype, accepted: vec![operand.dtype] });
    }
    if wanted.is_some_and(|wanted| wanted != view.shape) {
        let wanted = wanted.unwrap_or_default();
        return Err(misshapen(kernel, format!("`{}` is {:?}, expected {wanted:?}", operand.name, view.shape)));
    }
    let block = block_of(view.buffer)?;
    let range = range(&view, block).map_err(|message| misshapen(kernel, format!("`{}` {message}", operand.name)))?;
    Ok(Checked { operand, view, block, range, overwritten: false })
}

/// The lowest and highest element of a view, all of which lie in its block; `None` where it is empty.
pub(crate) fn range(view: &View<'_>, block: &Block) -> Result<Option<(usize, usize)>, String> {
    if view.shape.len() > 8 || view.strides.len() != view.shape.len() {
        return Err(format!(
            "has {} axes and {} strides, expected as many, at most 8",
            view.shape.len(),
            view.strides.len()
        ));
    }
    if view.shape.contains(&0) {
        return Ok(None);
    }
    let bounds = || {
        let mut low = isize::try_from(view.offset).ok()?;
        let (mut high, mut len) = (low, 1isize);
        for (&extent, &stride) in view.shape.iter().zip(view.strides) {
            let extent = isize::try_from(extent).ok()?;
            len = len.checked_mul(extent)?;
            let reach = (extent - 1).checked_mul(stride)?;
            if reach < 0 {
                low = low.checked_add(reach)?;
            } else {
                high = high.checked_add(reach)?;
            }
        }
        let (low, high) = (usize::try_from(low).ok()?, usize::try_from(high).ok()?);
        (high < block.bytes() / view.dtype.size()).then_some((low, high))
    };
    match bounds() {
        Some(range) => Ok(Some(range)),
        None => Err(format!(
            "reaches outside its buffer: shape {:?}, strides {:?}, offset {} of {} elements",
            view.shape,
            view.strides,
            view.offset,
            block.bytes() / view.dtype.size()
        )),
    }
}

fn byte_range((low, high): (usize, usize), dtype: DType) -> (usize, usize) {
    (low * dtype.size(), (high + 1) * dtype.size())
}

#[cold]
fn misuse(kernel: &Kernel, message: String) -> Error {
    refused(format!("kernel `{}`: {message}", kernel.name))
}

#[cold]
fn misshapen(kernel: &Kernel, message: String) -> Error {
    Error::Shape { op: kernel.name.into(), message }
}
