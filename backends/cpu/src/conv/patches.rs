//! What the elements of filters meet in images, as a factor of a product. No matrix of it is made: panels are filled
//! from the images.
#![allow(unsafe_code, reason = "packs panels")]

use crate::gemm::{Element, Factor, Matrix, Panels, Stored, Strided};
use cotangent_hal::native::Level;
use std::ops::Range;

/// How filters lie on an image: element `k` of a filter at place `i` meets row `i * stride + k * dilation - padding`, as
/// along columns.
#[derive(Clone, Copy)]
pub(super) struct Grid {
    pub(super) filter: [usize; 2],
    pub(super) places: [usize; 2],
    pub(super) image: [usize; 2],
    pub(super) stride: [usize; 2],
    pub(super) dilation: [usize; 2],
    pub(super) padding: [isize; 2],
}

impl Grid {
    /// The number of places of a filter.
    pub(super) fn area(&self) -> usize {
        self.places[0] * self.places[1]
    }

    /// Whether each place meets the element of its own position, and nothing else.
    pub(super) fn is_identity(&self) -> bool {
        self.filter == [1, 1] && self.stride == [1, 1] && self.padding == [0, 0] && self.places == self.image
    }

    /// What element `at` of a filter meets at the places of one row and another: calls `meets` with each of the
    /// first and last-but-one place that meets the image, and the position in the image that the first meets.
    pub(super) fn runs(&self, at: [usize; 2], places: Range<usize>, mut meets: impl FnMut(Range<usize>, usize)) {
        let ahead = |axis: usize| (at[axis] * self.dilation[axis]) as isize - self.padding[axis];
        let (down, right) = (ahead(0), ahead(1));
        let [height, width] = self.image;
        let (columns, stride) = (self.places[1], self.stride[1] as isize);
        let first = (-right).max(0).div_euclid(stride) + isize::from((-right).max(0) % stride != 0);
        let end = (width as isize - right).max(0);
        let end = end.div_euclid(stride) + isize::from(end % stride != 0);
        let (first, end) = (first as usize, (end as usize).min(columns));
        let mut begin = places.start;
        while begin < places.end {
            let (i, j) = (begin / columns, begin % columns);
            let count = (columns - j).min(places.end - begin);
            let row = (i * self.stride[0]) as isize + down;
            let (from, to) = (first.max(j), end.min(j + count));
            if (0..height as isize).contains(&row) && from < to {
                let column = (from * self.stride[1]) as isize + right;
                meets(begin + from - j..begin + to - j, row as usize * width + column as usize);
            }
            begin += count;
        }
    }
}

/// The elements that filters meet at every place: those of a place are a term for each channel and element of a filter.
#[derive(Clone, Copy)]
pub(super) struct Patches<'a, T> {
    pub(super) level: Level,
    pub(super) grid: Grid,
    /// Images, from the first channel that is met on.
    pub(super) images: &'a [T],
    /// Distance of neighbouring images.
    pub(super) step: usize,
}

impl<T: Element> Patches<'_, T> {
    /// What element `tap` of a filter, counted through its channels, meets at places of an image.
    fn line(&self, tap: usize, image: usize, places: Range<usize>, to: &mut [T]) {
        let Grid { filter: [height, width], image: [rows, columns], stride, .. } = self.grid;
        let (channel, at) = (tap / (height * width), [tap / width % height, tap % width]);
        let plane = &self.images[image * self.step + channel * rows * columns..][..rows * columns];
        to.fill(T::ZERO);
        self.grid.runs(at, places.clone(), |run, from| {
            let to = &mut to[run.start - places.start..run.end - places.start];
            if stride[1] == 1 {
                to.copy_from_slice(&plane[from..from + to.len()]);
            } else {
                to.iter_mut().zip(plane[from..].iter().step_by(stride[1])).for_each(|(to, &x)| *to = x);
            }
        });
    }
}

/// Places that are gathered at a time.
const PLACES: usize = 128;
/// Elements of filters that are gathered at a time: two panels, at most.
const TAPS: usize = 32;

/// The lines of some elements of filters, before they are packed.
type Lines<T> = [[T; PLACES]; TAPS];

impl<T: Element + Stored<Computed = T>> Factor<T> for Patches<'_, T> {
    fn matrix(&self) -> Option<Matrix<T>> {
        None
    }

    unsafe fn pack(&self, lanes: Range<usize>, terms: Range<usize>, to: Panels<T>) {
        let mut lines: Lines<T> = [[T::ZERO; PLACES]; TAPS];
        let most = PLACES / to.width * to.width;
        for first in lanes.clone().step_by(most) {
            let places = first..lanes.end.min(first + most);
            for start in terms.clone().step_by(TAPS) {
                let count = TAPS.min(terms.end - start);
                for (i, line) in lines[..count].iter_mut().enumerate() {
                    self.line(start + i, 0, places.clone(), &mut line[..places.len()]);
                }
                let matrix = Matrix { ptr: lines.as_mut_ptr().cast::<T>(), rows: 1, columns: PLACES as isize };
                let to = to.from((first - lanes.start) / to.width, start - terms.start);
                // SAFETY: the lines that are gathered; then the caller's promise.
                unsafe { Strided { level: self.level, matrix }.pack(0..places.len(), 0..count, to) };
            }
        }
    }
}

/// [`Patches`] with elements of filters as lanes, and the places of all images as terms.
pub(super) struct Turned<'a, T>(pub(super) Patches<'a, T>);

impl<T: Element + Stored<Computed = T>> Factor<T> for Turned<'_, T> {
    fn matrix(&self) -> Option<Matrix<T>> {
        None
    }

    unsafe fn pack(&self, lanes: Range<usize>, terms: Range<usize>, to: Panels<T>) {
        let mut lines: Lines<T> = [[T::ZERO; PLACES]; TAPS];
        let most = TAPS / to.width * to.width;
        for first in lanes.clone().step_by(most) {
            let count = most.min(lanes.end - first);
            of_images(self.0.grid.area(), terms.clone(), PLACES, |image, places, term| {
                for (i, line) in lines[..count].iter_mut().enumerate() {
                    self.0.line(first + i, image, places.clone(), &mut line[..places.len()]);
                }
                let matrix = Matrix { ptr: lines.as_mut_ptr().cast::<T>(), rows: PLACES as isize, columns: 1 };
                let to = to.from((first - lanes.start) / to.width, term);
                // SAFETY: the lines that are gathered; then the caller's promise.
                unsafe { Strided { level: self.0.level, matrix }.pack(0..count, 0..places.len(), to) };
            });
        }
    }
}

/// Planes of images: a lane for each channel, and the elements of all images as terms.
pub(super) struct Planes<'a, T> {
    pub(super) level: Level,
    /// From the first of the channels on.
    pub(super) images: &'a [T],
    /// Elements of a plane.
    pub(super) area: usize,
    /// Distance of neighbouring images.
    pub(super) step: usize,
}

impl<T: Element + Stored<Computed = T>> Factor<T> for Planes<'_, T> {
    fn matrix(&self) -> Option<Matrix<T>> {
        None
    }

    unsafe fn pack(&self, lanes: Range<usize>, terms: Range<usize>, to: Panels<T>) {
        of_images(self.area, terms, usize::MAX, |image, places, term| {
            let ptr = self.images[image * self.step..].as_ptr().cast_mut();
            let matrix = Matrix { ptr, rows: self.area as isize, columns: 1 };
            // SAFETY: the caller's promise, for lanes and places of one image.
            unsafe { Strided { level: self.level, matrix }.pack(lanes.clone(), places, to.from(0, term)) };
        });
    }
}

/// Cuts terms, the elements of one image after another, into parts of images of at most so many: calls `part` with the
/// image, its elements, and how many terms come before.
fn of_images(area: usize, terms: Range<usize>, most: usize, mut part: impl FnMut(usize, Range<usize>, usize)) {
    let mut begin = terms.start;
    while begin < terms.end {
        let (image, at) = (begin / area, begin % area);
        let count = (area - at).min(terms.end - begin).min(most);
        part(image, at..at + count, begin - terms.start);
        begin += count;
    }
}
