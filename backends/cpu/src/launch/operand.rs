//! Verification of a launch's arguments.

use super::few::{Few, MOST};
use super::overlap;
use crate::backend::{block_of, in_use, refused};
use crate::memory::{Block, Borrow};
use cotangent_hal::{Access, Arg, DType, Domain, Error, Kernel, Memory, Operand, Result, Role, Scalar, View};

/// A tensor argument whose dtype, shape, bounds and overlaps are verified.
#[derive(Clone, Copy)]
pub(crate) struct Checked<'a> {
    pub operand: &'static Operand,
    /// The dtype that a tile sees; the view's is the one that is stored.
    pub dtype: DType,
    pub view: &'a View<'a>,
    pub block: &'a Block,
    /// From the lowest element to behind the highest; equal where the view is empty.
    pub range: (usize, usize),
    /// Whether an output has the very elements of this input.
    pub overwritten: bool,
    /// How many elements an output's values are added up in.
    pub sums: Option<usize>,
}

impl Checked<'_> {
    pub(crate) fn is_empty(&self) -> bool {
        self.range.0 == self.range.1
    }
}

/// All arguments of a launch.
pub(crate) struct Operands<'a> {
    /// Whether floats are computed in `f64`.
    pub wide: bool,
    pub tensors: Few<Checked<'a>>,
    pub scalars: Few<Scalar>,
    /// The right to use each buffer, held until the launch is done.
    borrows: Few<Borrow<'a>>,
}

impl<'a> Operands<'a> {
    #[inline]
    pub(crate) fn new() -> Self {
        Operands { wide: false, tensors: Few::new(), scalars: Few::new(), borrows: Few::new() }
    }

    /// Verifies `args` against what `kernel` declares, and takes them.
    pub(crate) fn take(&mut self, kernel: &'static Kernel, shape: &[usize], args: &'a [Arg<'a>]) -> Result<()> {
        let count = kernel.operands.len();
        if count > MOST || kernel.scalars > MOST {
            return Err(misuse(
                kernel,
                format!(
                    "{count} tensors and {} scalars, of which no more than {MOST} each are supported yet",
                    kernel.scalars
                ),
            ));
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
        for (operand, arg) in kernel.operands.iter().zip(args) {
            take_tensor(&mut self.tensors, kernel, operand, arg, shape)?;
        }
        self.wide = self.tensors.iter().any(|t| t.view.dtype == DType::F64);
        if self.wide {
            self.tensors.iter_mut().filter(|t| t.dtype == DType::F32).for_each(|t| t.dtype = DType::F64);
        }
        for arg in &args[count..] {
            let Arg::Scalar(scalar) = arg else {
                return Err(misuse(kernel, "a tensor was given where a scalar is expected".into()));
            };
            self.scalars.push(*scalar);
        }
        self.check_overlaps(kernel)?;
        self.borrow()
    }

    /// An output may share elements with an input of the same access and layout, and with nothing else.
    fn check_overlaps(&mut self, kernel: &'static Kernel) -> Result<()> {
        for o in 0..self.tensors.len() {
            // Inputs come first: those pairs, and each pair of outputs once.
            let (before, after) = self.tensors.split_at_mut(o);
            let out = &after[0];
            if out.operand.role == Role::In {
                continue;
            }
            if out.sums.is_none() && !out.is_empty() && overlap::repeats(out.view.shape, out.view.strides) {
                let name = out.operand.name;
                return Err(misuse(kernel, format!("the output `{name}` repeats elements; give it memory of its own")));
            }
            for other in before {
                if !std::ptr::eq(other.block, out.block) || out.is_empty() || other.is_empty() {
                    continue;
                }
                let element_wise = matches!(out.operand.access, Access::Each | Access::PerRow)
                    && other.operand.role == Role::In
                    && other.operand.access == out.operand.access
                    && overlap::same_layout(out.view, other.view);
                if element_wise {
                    other.overwritten = true;
                    continue;
                }
                let (p, q) = (byte_range(out), byte_range(other));
                if !(p.1 <= q.0 || q.1 <= p.0 || overlap::disjoint(out.view, out.range.0, other.view, other.range.0)) {
                    let (out, other) = (out.operand.name, other.operand.name);
                    let message = format!("the output `{out}` overlaps `{other}` other than element by element");
                    return Err(misuse(kernel, message));
                }
            }
        }
        Ok(())
    }

    fn borrow(&mut self) -> Result<()> {
        for (i, tensor) in self.tensors.iter().enumerate() {
            let shares = |t: &&Checked<'_>| std::ptr::eq(t.block, tensor.block);
            if self.tensors[..i].iter().any(|t| shares(&t)) {
                continue;
            }
            let writes = self.tensors[i..].iter().filter(shares).any(|t| t.operand.role != Role::In);
            self.borrows.push(tensor.block.borrow(writes).ok_or_else(in_use)?);
        }
        Ok(())
    }
}

/// Verifies one tensor and adds it.
fn take_tensor<'a>(
    tensors: &mut Few<Checked<'a>>,
    kernel: &'static Kernel,
    operand: &'static Operand,
    arg: &'a Arg<'a>,
    shape: &[usize],
) -> Result<()> {
    let view = match (arg, operand.role) {
        (Arg::In(view), Role::In) | (Arg::Out(view), Role::Out | Role::InOut) => view,
        (Arg::Sum(view), Role::Out) if operand.access == Access::Each && operand.dtype == DType::F32 => view,
        (Arg::In(_) | Arg::Out(_) | Arg::Sum(_) | Arg::Scalar(_), _) => {
            let wanted = if operand.role == Role::In { "an input" } else { "an output" };
            return Err(misuse(kernel, format!("`{}` is {wanted}, but was given as something else", operand.name)));
        }
    };
    let rows = shape.len().saturating_sub(1);
    let wanted = match (operand.access, kernel.domain, operand.role) {
        (Access::Each, _, _) => Some(shape),
        (Access::PerRow, Domain::Rows, _) => Some(&shape[..rows]),
        (Access::PerColumn, Domain::Rows, Role::Out) if operand.is_summable() => Some(&shape[rows..]),
        (Access::Total, _, Role::Out) if operand.is_summable() => Some(&shape[..0]),
        (Access::Whole, _, _) => None,
        (Access::Part, _, Role::Out | Role::InOut) if !view.shape.is_empty() => None,
        (Access::PerRow | Access::PerColumn | Access::Total | Access::Part, _, _) => {
            let message = format!("`{}` declares an access that its domain, role or dtype does not have", operand.name);
            return Err(misuse(kernel, message));
        }
    };
    if !operand.is_computed() {
        let message = format!(
            "`{}` declares `{}`, but bodies see f32, i64 or bool, and bits as f16 or u8",
            operand.name, operand.dtype
        );
        return Err(misuse(kernel, message));
    }
    let accepted = operand.accepts(kernel);
    if !accepted.contains(&view.dtype) {
        let op = format!("{} (`{}`)", kernel.name, operand.name);
        return Err(Error::Dtype { op, given: view.dtype, accepted: accepted.to_vec() });
    }
    if wanted.is_some_and(|wanted| wanted != view.shape) {
        let wanted = wanted.unwrap_or_default();
        return Err(misshapen(kernel, format!("`{}` is {:?}, expected {wanted:?}", operand.name, view.shape)));
    }
    let block = block_of(view.buffer)?;
    let Some(range) = range(view, block) else {
        return Err(misshapen(kernel, format!("`{}` {}", operand.name, outside(view, block))));
    };
    let sums = match arg {
        Arg::Sum(_) => Some(summed(view).ok_or_else(|| {
            let message =
                format!("`{}` is summed, but its view {:?} is not a trailing part", operand.name, view.strides);
            misuse(kernel, message)
        })?),
        Arg::In(_) | Arg::Out(_) | Arg::Scalar(_) => None,
    };
    tensors.push(Checked { operand, dtype: operand.dtype, view, block, range, overwritten: false, sums });
    Ok(())
}

/// How many elements a view has that repeats them along leading axes and is row-major in the others.
fn summed(view: &View<'_>) -> Option<usize> {
    let (mut count, mut repeats) = (1, false);
    for (&extent, &stride) in view.shape.iter().zip(view.strides).rev().filter(|(extent, _)| **extent != 1) {
        if stride == 0 {
            repeats = true;
        } else if repeats || usize::try_from(stride) != Ok(count) {
            return None;
        } else {
            count *= extent;
        }
    }
    Some(count)
}

/// From the lowest element of a view to behind its highest, `(0, 0)` where it is empty; `None` where it has more axes
/// than 8 or than strides, or reaches outside its block.
#[inline]
pub(crate) fn range(view: &View<'_>, block: &Block) -> Option<(usize, usize)> {
    if view.shape.len() > 8 || view.strides.len() != view.shape.len() {
        return None;
    }
    let mut low = isize::try_from(view.offset).ok()?;
    let (mut high, mut len) = (low, 1isize);
    for (&extent, &stride) in view.shape.iter().zip(view.strides) {
        if extent == 0 {
            return Some((0, 0));
        }
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
    (high < block.bytes() / view.dtype.size()).then_some((low, high + 1))
}

/// What is wrong with a view that has no [`range`].
#[cold]
pub(crate) fn outside(view: &View<'_>, block: &Block) -> String {
    format!(
        "reaches outside its buffer: shape {:?}, strides {:?}, offset {} of {} elements (at most 8 axes)",
        view.shape,
        view.strides,
        view.offset,
        block.bytes() / view.dtype.size()
    )
}

fn byte_range(tensor: &Checked<'_>) -> (usize, usize) {
    let size = tensor.view.dtype.size();
    (tensor.range.0 * size, tensor.range.1 * size)
}

#[cold]
fn misuse(kernel: &Kernel, message: String) -> Error {
    refused(format!("kernel `{}`: {message}", kernel.name))
}

#[cold]
fn misshapen(kernel: &Kernel, message: String) -> Error {
    Error::Shape { op: kernel.name.into(), message }
}
