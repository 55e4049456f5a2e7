//! What the elements of filters meet in images, as a factor of a product. No matrix of it is made: panels are filled
//! from the images.
#![allow(unsafe_code, reason = "packs panels, and makes slices of memory of its own")]

use crate::gemm::{Element, Factor, Matrix, Panels, Stored, Strided};
use crate::memory::{Block, Pool};
use cotangent_hal::Result;
use cotangent_hal::native::Level;
use rayon::prelude::*;
use std::ops::Range;
use std::slice;
use std::sync::Arc;

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

    /// What element `at` of a filter meets: calls `meets` with the places of each row that meet the image, and the position
    /// in the image that the first of them meets.
    #[inline(always)]
    pub(super) fn runs(&self, at: [usize; 2], mut meets: impl FnMut(Range<usize>, usize)) {
        let ahead = |axis: usize| (at[axis] * self.dilation[axis]) as isize - self.padding[axis];
        let (down, right) = (ahead(0), ahead(1));
        let [height, width] = self.image;
        let (columns, stride) = (self.places[1], self.stride[1] as isize);
        let first = (-right).max(0).div_euclid(stride) + isize::from((-right).max(0) % stride != 0);
        let end = (width as isize - right).max(0);
        let end = end.div_euclid(stride) + isize::from(end % stride != 0);
        let (first, end) = (first as usize, (end as usize).min(columns));
        if first >= end {
            return;
        }
        let column = ((first * self.stride[1]) as isize + right) as usize;
        for i in 0..self.places[0] {
            let row = (i * self.stride[0]) as isize + down;
            if (0..height as isize).contains(&row) {
                meets(i * columns + first..i * columns + end, row as usize * width + column);
            }
        }
    }
}

/// The elements that filters meet at every place: those of a place are a term for each channel and element of a filter.
#[derive(Clone, Copy)]
pub(super) struct Patches<'a, T> {
    pub(super) level: Level,
    /// Without padding: filters meet the images alone.
    pub(super) grid: Grid,
    /// Images, from the first channel that is met on.
    pub(super) images: &'a [T],
    /// Distance of neighbouring images.
    pub(super) step: usize,
}

/// Images that filters never leave.
pub(super) struct Padded<'a, T> {
    pub(super) grid: Grid,
    images: &'a [T],
    /// The copy, and the number of its elements.
    copy: Option<(Block, usize)>,
}

impl<'a, T: Element> Padded<'a, T> {
    /// The images themselves, of so many planes, or where filters leave them a copy with zeros around each plane.
    pub(super) fn new(
        pool: &Arc<Pool>,
        grid: Grid,
        (planes, images): (usize, &'a [T]),
        parallel: bool,
    ) -> Result<Self> {
        let needs = [0, 1].map(|axis| {
            let [last, reach] = [grid.places[axis], grid.filter[axis]].map(|n| n.saturating_sub(1));
            last * grid.stride[axis] + reach * grid.dilation[axis] + 1
        });
        if grid.padding == [0, 0] && needs[0] <= grid.image[0] && needs[1] <= grid.image[1] {
            return Ok(Padded { grid, images, copy: None });
        }
        let (from, to) = (grid.image[0] * grid.image[1], needs[0] * needs[1]);
        let copy = pool.take(planes * to * size_of::<T>())?;
        // SAFETY: memory of this value alone, initialised and aligned, of so many elements.
        let padded = unsafe { slice::from_raw_parts_mut(copy.ptr().cast::<T>(), planes * to) };
        let one = |(plane, image): (&mut [T], &[T])| {
            plane.fill(T::ZERO);
            for (i, row) in plane.chunks_exact_mut(needs[1]).enumerate() {
                let Some(at) = i.checked_add_signed(-grid.padding[0]).filter(|&at| at < grid.image[0]) else {
                    continue;
                };
                let image = &image[at * grid.image[1]..][..grid.image[1]];
                let (ahead, skip) = (grid.padding[1].max(0) as usize, (-grid.padding[1]).max(0) as usize);
                if ahead < row.len() && skip < image.len() {
                    let count = (row.len() - ahead).min(image.len() - skip);
                    row[ahead..ahead + count].copy_from_slice(&image[skip..skip + count]);
                }
            }
        };
        if from == 0 {
            padded.fill(T::ZERO);
        } else if parallel {
            padded.par_chunks_exact_mut(to).zip(images.par_chunks_exact(from)).for_each(one);
        } else {
            padded.chunks_exact_mut(to).zip(images.chunks_exact(from)).for_each(one);
        }
        let grid = Grid { image: needs, padding: [0, 0], ..grid };
        Ok(Padded { grid, images, copy: Some((copy, planes * to)) })
    }

    /// The images.
    pub(super) fn images(&self) -> &[T] {
        match &self.copy {
            // SAFETY: so many elements are initialised, and nobody writes them.
            Some((copy, len)) => unsafe { slice::from_raw_parts(copy.ptr().cast(), *len) },
            None => self.images,
        }
    }
}

impl<T: Element> Patches<'_, T> {
    /// What element `tap` of a filter, counted through its channels, meets at places of an image.
    fn line(&self, tap: usize, image: usize, places: Range<usize>, to: &mut [T; LINE]) {
        let Grid { filter: [height, width], image: [rows, columns], stride, dilation, .. } = self.grid;
        let (channel, k, l) = (tap / (height * width), tap / width % height, tap % width);
        let first = image * self.step + (channel * rows + k * dilation[0]) * columns + l * dilation[1];
        let (mut i, mut j) = (places.start / self.grid.places[1], places.start % self.grid.places[1]);
        let mut begin = 0;
        while begin < places.len() {
            let count = (self.grid.places[1] - j).min(places.len() - begin);
            let from = first + i * stride[0] * columns + j * stride[1];
            if stride[1] > 1 {
                let row = self.images[from..].iter().step_by(stride[1]);
                to[begin..begin + count].iter_mut().zip(row).for_each(|(to, &x)| *to = x);
            } else if let Some(row) = self.images.get(from..from + count.next_multiple_of(RUN)) {
                // Whole runs are copied fastest; what is too much is written over, or not read.
                for (to, row) in to[begin..].chunks_exact_mut(RUN).zip(row.chunks_exact(RUN)) {
                    to.copy_from_slice(row);
                }
            } else {
                to[begin..begin + count].copy_from_slice(&self.images[from..from + count]);
            }
            (begin, i, j) = (begin + count, i + 1, 0);
        }
    }
}

/// Elements that are copied at once.
const RUN: usize = 16;
/// Places that are gathered at a time.
const PLACES: usize = 128;
/// Elements of filters that are gathered at a time: two panels, at most.
const TAPS: usize = 32;

/// Elements of a line, which may end in a part of a run.
const LINE: usize = PLACES + RUN;

/// The lines of some elements of filters, before they are packed.
type Lines<T> = [[T; LINE]; TAPS];

impl<T: Element + Stored<Computed = T>> Factor<T> for Patches<'_, T> {
    fn matrix(&self) -> Option<Matrix<T>> {
        None
    }

    unsafe fn pack(&self, lanes: Range<usize>, terms: Range<usize>, to: Panels<T>) {
        let mut lines: Lines<T> = [[T::ZERO; LINE]; TAPS];
        let most = PLACES / to.width * to.width;
        for first in lanes.clone().step_by(most) {
            let places = first..lanes.end.min(first + most);
            for start in terms.clone().step_by(TAPS) {
                let count = TAPS.min(terms.end - start);
                for (i, line) in lines[..count].iter_mut().enumerate() {
                    self.line(start + i, 0, places.clone(), line);
                }
                let matrix = Matrix { ptr: lines.as_mut_ptr().cast::<T>(), rows: 1, columns: LINE as isize };
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
        let mut lines: Lines<T> = [[T::ZERO; LINE]; TAPS];
        let most = TAPS / to.width * to.width;
        for first in lanes.clone().step_by(most) {
            let count = most.min(lanes.end - first);
            of_images(self.0.grid.area(), terms.clone(), PLACES, |image, places, term| {
                for (i, line) in lines[..count].iter_mut().enumerate() {
                    self.0.line(first + i, image, places.clone(), line);
                }
                let matrix = Matrix { ptr: lines.as_mut_ptr().cast::<T>(), rows: LINE as isize, columns: 1 };
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
