//! Borders around a tensor, and their derivative.

use super::repeat::{add_to, summed};
use super::undo::{Moved, Undo};
use super::window::Window;
use crate::diff::{Diff, Want};
use crate::ops::operand::Number;
use crate::raise::raise;
use crate::tensor::{Dims, Extent, Kind, Raw, Tensor};
use cotangent_hal::{Error, Scalar};

/// What [`Tensor::pad_with`] puts around a tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PadMode {
    /// The elements beside the border mirrored, without that at the border itself: `[a, b, c]` with two on each side is
    /// `[c, b, a, b, c, b, a]`.
    Reflect,
    /// The element at the border: `[a, a, a, b, c, c, c]`.
    Replicate,
    /// The elements of the other end: `[b, c, a, b, c, a, b]`.
    Circular,
}

impl Diff for PadMode {
    type Ct = ();
}

/// What the borders of [`Tensor::pad`] can be written as: integers in an array, a slice or a `Vec`, two for each axis.
pub trait IntoPads {
    /// The widths as they were written: before and behind the last axis, then the one before it, and so on.
    fn into_pads(self) -> Vec<i64>;
}

impl<T: Extent, const N: usize> IntoPads for [T; N] {
    fn into_pads(self) -> Vec<i64> {
        self.iter().map(|&width| width.extent()).collect()
    }
}
impl<T: Extent> IntoPads for &[T] {
    fn into_pads(self) -> Vec<i64> {
        self.iter().map(|&width| width.extent()).collect()
    }
}
impl<T: Extent> IntoPads for Vec<T> {
    fn into_pads(self) -> Vec<i64> {
        self.as_slice().into_pads()
    }
}
impl<T: Extent> IntoPads for &Vec<T> {
    fn into_pads(self) -> Vec<i64> {
        self.as_slice().into_pads()
    }
}

impl<K: Kind> Tensor<K> {
    /// A border of `value` around the last axes: widths before and behind the last axis, then the one before it, and so on,
    /// as in PyTorch's `nn.functional.pad`. A negative width takes entries away. Of truth values, 0 is false.
    ///
    /// Raises `Error::Argument` where the widths are no pairs, too many, or take away more than there is.
    #[track_caller]
    pub fn pad<P: IntoPads>(self, widths: P, value: impl Number) -> Self {
        let plan = Plan::new("pad", &self.raw, widths, None);
        Tensor::from_raw(plan.bordered(self.raw, value.number()))
    }

    #[doc(hidden)]
    #[track_caller]
    pub fn pad__vjp<P: IntoPads, N: Number>(self, widths: P, value: N, want: Want) -> (Self, Moved<K, 2>) {
        let plan = Plan::new("pad", &self.raw, widths, None);
        let y = Tensor::from_raw(plan.bordered(self.raw, value.number()));
        (y, Moved::new(want, Undo::Padding(plan)))
    }

    /// As [`pad`](Self::pad), with a border made of the elements of the tensor.
    ///
    /// Raises `Error::Argument` too where there are not as many elements as the border needs.
    #[track_caller]
    pub fn pad_with<P: IntoPads>(self, widths: P, mode: PadMode) -> Self {
        let plan = Plan::new("pad_with", &self.raw, widths, Some(mode));
        Tensor::from_raw(plan.repeated(self.raw, mode))
    }

    #[doc(hidden)]
    #[track_caller]
    pub fn pad_with__vjp<P: IntoPads>(self, widths: P, mode: PadMode, want: Want) -> (Self, Moved<K, 2>) {
        let plan = Plan::new("pad_with", &self.raw, widths, Some(mode));
        let y = Tensor::from_raw(plan.repeated(self.raw, mode));
        (y, Moved::new(want, Undo::Padding(plan)))
    }
}

#[cold]
#[track_caller]
fn fault(op: &str, message: String) -> ! {
    raise(Error::Argument { op: op.into(), message })
}

/// A side of an axis.
#[derive(Clone, Copy)]
enum End {
    Before,
    Behind,
}

/// The border of a tensor of known shape.
#[derive(Clone)]
pub(crate) struct Plan {
    /// The entries that stay.
    crop: Window,
    before: Dims,
    behind: Dims,
    mode: Option<PadMode>,
}

impl Plan {
    #[track_caller]
    fn new(op: &str, x: &Raw, widths: impl IntoPads, mode: Option<PadMode>) -> Plan {
        let widths = widths.into_pads();
        let rank = x.shape.len();
        if !widths.len().is_multiple_of(2) || widths.len() > 2 * rank {
            let (given, shape) = (widths.len(), x.shape);
            fault(op, format!("{given} widths were given, expected pairs for at most {rank} axes of {shape:?}"));
        }
        let mut cropped = x.shape;
        let mut starts = Dims::repeat(op, 0, rank);
        let (mut before, mut behind) = (starts, starts);
        for (back, pair) in widths.chunks(2).enumerate() {
            let axis = rank - 1 - back;
            let [gone_before, gone_behind] = [pair[0], pair[1]].map(|w| (-w).max(0) as usize);
            let Some(left) = x.shape[axis].checked_sub(gone_before.saturating_add(gone_behind)) else {
                fault(op, format!("the widths {pair:?} take away more than axis {axis} of {:?} has", x.shape))
            };
            (cropped[axis], starts[axis]) = (left, gone_before);
            (before[axis], behind[axis]) = (pair[0].max(0) as usize, pair[1].max(0) as usize);
            let most = match mode {
                None => usize::MAX,
                Some(PadMode::Reflect) => left.saturating_sub(1),
                Some(PadMode::Replicate) => {
                    if left == 0 {
                        0
                    } else {
                        usize::MAX
                    }
                }
                Some(PadMode::Circular) => left,
            };
            if before[axis].max(behind[axis]) > most {
                fault(op, format!("the widths {pair:?} need more elements than axis {axis} of {:?} has", x.shape));
            }
        }
        let crop = Window::of(x, |x| {
            let from = |x: Raw, (axis, &start): (usize, &usize)| x.slice(axis, start, cropped[axis]);
            starts.iter().enumerate().fold(x, from)
        });
        Plan { crop, before, behind, mode }
    }

    /// The shape with the border.
    fn shape(&self) -> Dims {
        let mut shape = self.crop.shape;
        shape.iter_mut().enumerate().for_each(|(axis, extent)| *extent += self.before[axis] + self.behind[axis]);
        shape
    }

    /// The entries that stay, of a tensor in any layout.
    fn cropped(&self, x: Raw) -> Raw {
        if self.crop.shape == self.crop.whole { x } else { self.crop.on(&x.contiguous()) }
    }

    /// The inside of a padded tensor along the axes from `first` on.
    fn inside(&self, padded: Raw, first: usize) -> Raw {
        (first..self.before.len()).fold(padded, |x, axis| x.slice(axis, self.before[axis], self.crop.shape[axis]))
    }

    /// A border of one side of an axis: inside along the axes behind it.
    fn border(&self, padded: &Raw, axis: usize, end: End) -> Option<Raw> {
        let (start, width) = match end {
            End::Before => (0, self.before[axis]),
            End::Behind => (self.before[axis] + self.crop.shape[axis], self.behind[axis]),
        };
        (width > 0).then(|| self.inside(padded.clone(), axis + 1).slice(axis, start, width))
    }

    /// The elements that a border repeats; a single entry where it is the same throughout.
    fn source(&self, padded: &Raw, axis: usize, end: End, mode: PadMode) -> Raw {
        let [before, extent, behind] = [self.before[axis], self.crop.shape[axis], self.behind[axis]];
        let part = self.inside(padded.clone(), axis + 1);
        match (mode, end) {
            (PadMode::Reflect, End::Before) => part.slice(axis, before + 1, before).reversed(axis),
            (PadMode::Reflect, End::Behind) => part.slice(axis, before + extent - 1 - behind, behind).reversed(axis),
            (PadMode::Replicate, End::Before) => part.slice(axis, before, 1),
            (PadMode::Replicate, End::Behind) => part.slice(axis, before + extent - 1, 1),
            (PadMode::Circular, End::Before) => part.slice(axis, extent, before),
            (PadMode::Circular, End::Behind) => part.slice(axis, before, behind),
        }
    }

    #[track_caller]
    fn bordered(&self, x: Raw, value: Scalar) -> Raw {
        let out = Raw::empty(&x.device, x.dtype, &self.shape());
        for axis in 0..self.before.len() {
            for end in [End::Before, End::Behind] {
                if let Some(border) = self.border(&out, axis, end) {
                    border.fill(value);
                }
            }
        }
        self.cropped(x).copy_to(&self.inside(out.clone(), 0));
        out
    }

    #[track_caller]
    fn repeated(&self, x: Raw, mode: PadMode) -> Raw {
        let out = Raw::empty(&x.device, x.dtype, &self.shape());
        self.cropped(x).copy_to(&self.inside(out.clone(), 0));
        for axis in 0..self.before.len() {
            for end in [End::Before, End::Behind] {
                if let Some(border) = self.border(&out, axis, end) {
                    self.source(&out, axis, end, mode).expand_to("pad_with", &border.shape).copy_to(&border);
                }
            }
        }
        out
    }

    /// The cotangent of the tensor: that of its elements, and of all that repeats them.
    #[track_caller]
    pub(crate) fn undo(&self, ct: Raw) -> Raw {
        let dtype = ct.dtype;
        let inside = match self.mode {
            None => self.inside(ct, 0),
            Some(mode) => {
                let sums = ct.cast(dtype.compute()).owned();
                for axis in (0..self.before.len()).rev() {
                    for end in [End::Before, End::Behind] {
                        let Some(border) = self.border(&sums, axis, end) else { continue };
                        let place = self.source(&sums, axis, end, mode);
                        let same = place.shape == border.shape;
                        let part = if same { border } else { summed(&border, axis).reinterpret(&place.shape) };
                        add_to(&place, &part);
                    }
                }
                self.inside(sums, 0).cast(dtype)
            }
        };
        if self.crop.shape == self.crop.whole {
            inside
        } else {
            Undo::Inlay(self.crop).apply(Tensor::from_raw(inside)).raw
        }
    }
}
