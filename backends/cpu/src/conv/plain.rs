//! Convolutions by their definition, a plane of the result at a time. No sum is shared by two planes, so that the bits
//! do not depend on the threads.

use super::Extents;
use crate::gemm::Element;
use cotangent_hal::Window;
use rayon::prelude::*;

/// `y` from `x`, `w` and `bias`.
pub(super) fn output<T: Element>(
    extents: &Extents,
    window: &Window,
    x: &[T],
    w: &[T],
    bias: Option<&[T]>,
    y: &mut [T],
    parallel: bool,
) {
    let filters = extents.groups * extents.filters;
    planes(y, area(extents.output), parallel, |plane, y| {
        let (n, o) = (plane / filters, plane % filters);
        y.fill(bias.map_or(T::ZERO, |bias| bias[o]));
        for c in 0..extents.channels {
            let (x, w) = (extents.image(x, n, o / extents.filters, c), extents.filter(w, o, c));
            runs(extents, window, |tap, to, from, len| {
                let weight = w[tap];
                let (x, y) = (&x[from..], &mut y[to..to + len]);
                // Elements side by side are read by vectors.
                if window.stride[1] == 1 {
                    y.iter_mut().zip(x).for_each(|(y, &x)| *y = *y + weight * x);
                } else {
                    y.iter_mut().zip(x.iter().step_by(window.stride[1])).for_each(|(y, &x)| *y = *y + weight * x);
                }
            });
        }
    });
}

/// `x` from `w` and `y`.
pub(super) fn input<T: Element>(extents: &Extents, window: &Window, w: &[T], y: &[T], x: &mut [T], parallel: bool) {
    let channels = extents.groups * extents.channels;
    planes(x, area(extents.image), parallel, |plane, x| {
        let (n, group, c) = (plane / channels, plane % channels / extents.channels, plane % extents.channels);
        x.fill(T::ZERO);
        for o in group * extents.filters..(group + 1) * extents.filters {
            let (w, y) = (extents.filter(w, o, c), extents.output(y, n, o));
            runs(extents, window, |tap, from, to, len| {
                let weight = w[tap];
                let (x, y) = (&mut x[to..], &y[from..from + len]);
                if window.stride[1] == 1 {
                    y.iter().zip(x).for_each(|(&y, x)| *x = *x + weight * y);
                } else {
                    y.iter().zip(x.iter_mut().step_by(window.stride[1])).for_each(|(&y, x)| *x = *x + weight * y);
                }
            });
        }
    });
}

/// `w` from `x` and `y`.
pub(super) fn weight<T: Element>(extents: &Extents, window: &Window, x: &[T], y: &[T], w: &mut [T], parallel: bool) {
    planes(w, area(extents.filter), parallel, |plane, w| {
        let (o, c) = (plane / extents.channels, plane % extents.channels);
        w.fill(T::ZERO);
        for n in 0..extents.images {
            let (x, y) = (extents.image(x, n, o / extents.filters, c), extents.output(y, n, o));
            runs(extents, window, |tap, at, from, len| {
                let mut sum = T::ZERO;
                let x = x[from..].iter().step_by(window.stride[1]);
                y[at..at + len].iter().zip(x).for_each(|(&y, &x)| sum = sum + x * y);
                w[tap] = w[tap] + sum;
            });
        }
    });
}

impl Extents {
    fn image<'a, T>(&self, x: &'a [T], n: usize, group: usize, c: usize) -> &'a [T] {
        plane(x, (n * self.groups + group) * self.channels + c, area(self.image))
    }

    fn filter<'a, T>(&self, w: &'a [T], o: usize, c: usize) -> &'a [T] {
        plane(w, o * self.channels + c, area(self.filter))
    }

    fn output<'a, T>(&self, y: &'a [T], n: usize, o: usize) -> &'a [T] {
        plane(y, n * self.groups * self.filters + o, area(self.output))
    }
}

fn area([rows, columns]: [usize; 2]) -> usize {
    rows * columns
}

fn plane<T>(planes: &[T], i: usize, area: usize) -> &[T] {
    &planes[i * area..(i + 1) * area]
}

/// Calls a function on every plane of a result that is not empty.
fn planes<T: Element>(result: &mut [T], area: usize, parallel: bool, f: impl Fn(usize, &mut [T]) + Sync) {
    if parallel {
        result.par_chunks_exact_mut(area).enumerate().for_each(|(i, plane)| f(i, plane));
    } else {
        result.chunks_exact_mut(area).enumerate().for_each(|(i, plane)| f(i, plane));
    }
}

/// Calls a function for every element of a filter and every row of the output where that element meets the image: the
/// place of the element, those in the planes of output and image where the meeting begins, and its length. From one to
/// the next there is a step in the output and a stride in the image.
fn runs(extents: &Extents, window: &Window, mut f: impl FnMut(usize, usize, usize, usize)) {
    let meets = |axis: usize, tap: usize| {
        // Position `i` of the output meets place `i * stride + ahead - padding` of the image.
        let (ahead, padding, stride) = (tap * window.dilation[axis], window.padding[axis], window.stride[axis]);
        let first = padding.saturating_sub(ahead).div_ceil(stride);
        let end = (extents.image[axis] + padding).saturating_sub(ahead).div_ceil(stride).min(extents.output[axis]);
        let place = move |i: usize| i * stride + ahead - padding;
        (first..end, place)
    };
    for k in 0..extents.filter[0] {
        let (rows, row) = meets(0, k);
        for l in 0..extents.filter[1] {
            let (columns, column) = meets(1, l);
            if columns.is_empty() {
                continue;
            }
            for i in rows.clone() {
                let (to, from) =
                    (i * extents.output[1] + columns.start, row(i) * extents.image[1] + column(columns.start));
                f(k * extents.filter[1] + l, to, from, columns.len());
            }
        }
    }
}
