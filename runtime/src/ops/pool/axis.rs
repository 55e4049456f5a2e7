//! The windows of a pool along one axis.

use cotangent_hal::Scalar;

/// Which places of an axis belong to each window.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Axis {
    /// The extent of the axis.
    pub(super) size: usize,
    /// The number of windows.
    pub(super) output: usize,
    /// Places of a window; 0 where the windows share out the axis.
    pub(super) window: usize,
    /// From one window to the next.
    pub(super) stride: usize,
    /// Places before the first of the axis that windows reach.
    pub(super) padding: usize,
    /// From one place of a window to the next.
    pub(super) dilation: usize,
}

/// The places of a window inside of the axis.
#[derive(Clone, Copy)]
pub(super) struct Places {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) step: usize,
    /// The number of the first among all of the window.
    pub(super) first: usize,
}

impl Axis {
    /// The only window, over one place.
    pub(super) const SINGLE: Axis = Axis { size: 1, output: 1, window: 1, stride: 1, padding: 0, dilation: 1 };

    /// Windows that share out an axis.
    pub(super) fn shared(size: usize, output: usize) -> Axis {
        Axis { size, output, window: 0, stride: 1, padding: 0, dilation: 1 }
    }

    /// As the scalars of a launch.
    pub(super) fn scalars(&self) -> [Scalar; 6] {
        let Axis { size, output, window, stride, padding, dilation } = *self;
        [size, output, window, stride, padding, dilation].map(|n| Scalar::Int(n as i64))
    }

    /// From the scalars of a launch.
    #[inline(always)]
    pub(super) fn of(scalars: [Scalar; 6]) -> Axis {
        let [size, output, window, stride, padding, dilation] = scalars.map(|n| n.i64() as usize);
        Axis { size, output, window, stride, padding, dilation }
    }

    /// The places of window `i`.
    #[inline(always)]
    pub(super) fn places(&self, i: usize) -> Places {
        if self.window == 0 {
            let (start, end) = (i * self.size / self.output, ((i + 1) * self.size).div_ceil(self.output));
            return Places { start, end, step: 1, first: 0 };
        }
        let at = i * self.stride;
        let first = self.padding.saturating_sub(at).div_ceil(self.dilation);
        let start = at + first * self.dilation - self.padding;
        let end = (at + (self.window - 1) * self.dilation + 1).saturating_sub(self.padding).min(self.size);
        Places { start, end: end.max(start), step: self.dilation, first }
    }

    /// The places of window `i` that a mean counts: with the padding, but not behind it.
    #[inline(always)]
    pub(super) fn padded(&self, i: usize) -> usize {
        (i * self.stride + self.window).min(self.size + 2 * self.padding) - i * self.stride
    }

    /// Whether windows of two places lie side by side and cover the axis but for what is left at its end.
    #[inline(always)]
    pub(super) fn is_pairs(&self) -> bool {
        (self.window, self.stride, self.padding, self.dilation) == (2, 2, 0, 1) && 2 * self.output <= self.size
    }
}

impl Places {
    /// The places in order.
    #[inline(always)]
    pub(super) fn iter(self) -> impl Iterator<Item = usize> {
        (self.start..self.end).step_by(self.step)
    }

    /// How many there are.
    #[inline(always)]
    pub(super) fn len(&self) -> usize {
        (self.end - self.start).div_ceil(self.step)
    }
}
