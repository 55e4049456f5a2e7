//! Convolutions: verification, and how operands become contiguous elements of the dtype that is computed in.
#![allow(unsafe_code, reason = "hands verified memory to the loops")]

mod depthwise;
mod implicit;
mod patches;

use crate::backend::{refused, threads};
use crate::gemm::{Element, Epilogue, Matrix, Stored};
use crate::launch::{Few, Views};
use crate::memory::{Block, Pool};
use crate::strided::{self, Side, Way};
use cotangent_hal::native::Level;
use cotangent_hal::{Activation, ConvolutionPart, DType, Error, Result, View, Window};
use implicit::Means;
use patches::Grid;
use std::slice;
use std::sync::Arc;

/// The operands in messages.
const NAMES: [&str; 4] = ["the input", "the weight", "the output", "the bias"];

/// Multiplications from which a convolution is worth several threads.
const PARALLEL: usize = 1 << 17;

/// The extents of a convolution, channels by group.
#[derive(Clone, Copy)]
struct Extents {
    images: usize,
    groups: usize,
    /// Channels of a group in the images and in the outputs.
    channels: usize,
    filters: usize,
    /// Rows and columns of an image, of a filter, and of an output.
    image: [usize; 2],
    filter: [usize; 2],
    output: [usize; 2],
}

impl Extents {
    /// Multiplications, at most.
    fn work(&self) -> usize {
        let of = |[rows, columns]: [usize; 2]| rows.saturating_mul(columns);
        let planes = self.images.saturating_mul(self.groups * self.channels).saturating_mul(self.filters);
        planes.saturating_mul(of(self.filter)).saturating_mul(of(self.output))
    }
}

/// See [`LibraryCall::Convolution`](cotangent_hal::LibraryCall::Convolution).
pub(crate) fn convolution(
    pool: &Arc<Pool>,
    level: Level,
    part: ConvolutionPart,
    [x, w, y]: [&View<'_>; 3],
    epilogue: &cotangent_hal::Epilogue<'_>,
    window: &Window,
) -> Result<()> {
    let (bias, activation) = (epilogue.bias.as_ref(), epilogue.activation);
    let extents = extents(x, w, y, window).ok_or_else(|| misshapen(x, w, y, window))?;
    if part == ConvolutionPart::Weight && (bias.is_some() || activation != Activation::Identity) {
        return Err(refused("convolution: filters have no epilogue; compute them without bias and activation".into()));
    }
    let result = if part == ConvolutionPart::Input { x } else { y };
    if let Some(bias) = bias.filter(|bias| bias.shape != [result.shape[1]]) {
        let message = format!("the bias is {:?}, expected [{}]", bias.shape, result.shape[1]);
        return Err(Error::Shape { op: "convolution".into(), message });
    }
    let target = match part {
        ConvolutionPart::Input => 0,
        ConvolutionPart::Weight => 1,
        ConvolutionPart::Output => 2,
    };
    let (dtype, mut views) = (x.dtype, Views::of("convolution"));
    let mut places = Few::<_, 4>::new();
    for (i, (view, name)) in [x, w, y].into_iter().chain(bias).zip(NAMES).enumerate() {
        let dtypes = if i == 0 { &DType::FLOATS[..] } else { &[dtype] };
        let ptr = if i == target {
            views.written(name, view, dtypes)
        } else {
            views.read([name, "an operand"], view, dtypes)
        };
        places.push((view, ptr?));
    }
    if views.writes_nothing() {
        return Ok(());
    }
    let _borrows = views.borrow()?;
    let mut operands = Few::<_, 4>::new();
    for (i, &(view, ptr)) in places.iter().enumerate() {
        // SAFETY: the elements are verified and borrowed; those of the target are distinct and overlap no other.
        operands.push(unsafe { Dense::new(pool, view, ptr, i != target) }?);
    }
    let means = Means { pool, level, parallel: extents.work() >= PARALLEL && threads() > 1 };
    // SAFETY: each operand is as long as its view, of the dtype that is computed in, and only the target is written.
    unsafe {
        if dtype == DType::F64 {
            run::<f64>(means, part, &extents, window, &operands, activation)?;
        } else {
            run::<f32>(means, part, &extents, window, &operands, activation)?;
        }
        operands[target].store(pool, places[target].0)
    }
}

/// # Safety
/// The operands are those of a verified call, of dtype `T`; the one that `part` names is the caller's alone.
unsafe fn run<T: Element + Stored<Computed = T>>(
    means: Means<'_>,
    part: ConvolutionPart,
    extents: &Extents,
    window: &Window,
    operands: &[Dense],
    activation: Activation,
) -> Result<()> {
    let [x, w, y] = [&operands[0], &operands[1], &operands[2]];
    let bias = operands.get(3).map(|bias| Matrix { ptr: bias.ptr.cast::<T>(), rows: 1, columns: 0 });
    let epilogue = Epilogue { bias, activation };
    // A product shares each element of an image among filters, and each of a filter among places. With one filter for
    // a channel there is nothing to share.
    let depthwise = extents.channels * extents.filters == 1;
    // SAFETY: the caller's promise.
    unsafe {
        match part {
            ConvolutionPart::Output if depthwise => {
                depthwise::output(means, extents, window, [x.read(), w.read()], epilogue, y.write::<T>())
            }
            ConvolutionPart::Input if depthwise => {
                depthwise::input(means, extents, window, [w.read(), y.read()], epilogue, x.write::<T>())
            }
            ConvolutionPart::Weight if depthwise => {
                depthwise::weight(means, extents, window, [x.read(), y.read()], w.write::<T>())
            }
            ConvolutionPart::Output => {
                implicit::output(means, extents, window, [x.read(), w.read()], epilogue, y.write::<T>())
            }
            ConvolutionPart::Input => {
                implicit::input(means, extents, window, [w.read(), y.read()], epilogue, x.write::<T>())
            }
            ConvolutionPart::Weight => implicit::weight(means, extents, window, [x.read(), y.read()], w.write::<T>()),
        }
    }
}

/// The elements of a view one after another, in the dtype that is computed in: the view's own memory, or a copy.
struct Dense {
    ptr: *mut u8,
    len: usize,
    /// Where the view's elements lie, and the memory of the copy.
    copy: Option<(*mut u8, Block)>,
}

impl Dense {
    /// # Safety
    /// The elements of `view`, the first at `ptr`, may be read where `filled`, else written.
    unsafe fn new(pool: &Arc<Pool>, view: &View<'_>, ptr: *mut u8, filled: bool) -> Result<Dense> {
        let (len, compute) = (view.len(), view.dtype.compute());
        if view.dtype == compute && strided::is_dense(view.shape, view.strides) {
            return Ok(Dense { ptr, len, copy: None });
        }
        let memory = pool.take(len * compute.size())?;
        let dense = Dense { ptr: memory.ptr(), len, copy: Some((ptr, memory)) };
        if filled && len > 0 {
            // SAFETY: the caller's promise; the scratch is this value's alone.
            unsafe { dense.transfer(Way::In, pool, view, ptr) }?;
        }
        Ok(dense)
    }

    /// Brings what was computed to the elements of the view.
    ///
    /// # Safety
    /// The elements of `view`, which this was made of, are the caller's alone and all elements of this are written.
    unsafe fn store(&self, pool: &Arc<Pool>, view: &View<'_>) -> Result<()> {
        match &self.copy {
            // SAFETY: the caller's promise.
            Some((ptr, _)) => unsafe { self.transfer(Way::Out, pool, view, *ptr) },
            None => Ok(()),
        }
    }

    /// # Safety
    /// The elements of `view`, the first at `tensor`, and those of this, may be read and written as `way` says.
    unsafe fn transfer(&self, way: Way, pool: &Arc<Pool>, view: &View<'_>, tensor: *mut u8) -> Result<()> {
        let raw = pool.take(view.len() * view.dtype.size())?;
        let strides = strided::row_major(view.shape);
        let scratch = Side { ptr: self.ptr, strides: &strides[..view.shape.len()] };
        let tensor = Side { ptr: tensor, strides: view.strides };
        // SAFETY: the caller's promise; `raw` is as long as the view.
        unsafe {
            strided::transfer(way, view.shape, (view.dtype, tensor), (view.dtype.compute(), scratch), raw.ptr());
        }
        Ok(())
    }

    /// # Safety
    /// The elements are of type `T` and nobody writes them while the slice lives.
    unsafe fn read<T>(&self) -> &[T] {
        // SAFETY: the caller's promise; memory of the pool is initialised and aligned.
        unsafe { slice::from_raw_parts(self.ptr.cast(), self.len) }
    }

    /// # Safety
    /// The elements are of type `T`, and the caller's alone while the slice lives.
    #[allow(clippy::mut_from_ref, reason = "the elements are memory of a call, whose owner says who may write")]
    unsafe fn write<T>(&self) -> &mut [T] {
        // SAFETY: the caller's promise; memory of the pool is initialised and aligned.
        unsafe { slice::from_raw_parts_mut(self.ptr.cast(), self.len) }
    }
}

/// The extents, where the shapes fit together and every position is a number.
fn extents(x: &View<'_>, w: &View<'_>, y: &View<'_>, window: &Window) -> Option<Extents> {
    let (&[images, c, h, width], &[o, channels, kh, kw], &[y_images, y_o, oh, ow]) = (x.shape, w.shape, y.shape) else {
        return None;
    };
    let groups = window.groups;
    let fits = groups > 0
        && o % groups == 0
        && channels.checked_mul(groups) == Some(c)
        && (y_images, y_o) == (images, o)
        && window.stride.iter().chain(&window.dilation).all(|&n| n > 0);
    if !fits {
        return None;
    }
    let (filter, output) = ([kh, kw], [oh, ow]);
    for axis in 0..2 {
        let last = output[axis].saturating_sub(1).checked_mul(window.stride[axis])?;
        let reach = filter[axis].saturating_sub(1).checked_mul(window.dilation[axis])?;
        isize::try_from(last.checked_add(reach)?.checked_add(window.padding[axis])?).ok()?;
    }
    Some(Extents { images, groups, channels, filters: o / groups, image: [h, width], filter, output })
}

/// How the filters of a call lie on its images.
fn grid(extents: &Extents, window: &Window) -> Grid {
    Grid {
        filter: extents.filter,
        places: extents.output,
        image: extents.image,
        stride: window.stride,
        dilation: window.dilation,
        padding: window.padding.map(|padding| padding as isize),
    }
}

/// How filters lie on outputs, where they move in steps of one: turned round, they make of them the images' cotangent.
fn turned(extents: &Extents, window: &Window) -> Grid {
    let &Extents { image, filter, output, .. } = extents;
    let ahead = |axis: usize| (window.dilation[axis] * (filter[axis].max(1) - 1)) as isize;
    let padding = [0, 1].map(|axis| ahead(axis) - window.padding[axis] as isize);
    Grid { filter, places: image, image: output, stride: [1, 1], dilation: window.dilation, padding }
}

#[cold]
fn misshapen(x: &View<'_>, w: &View<'_>, y: &View<'_>, window: &Window) -> Error {
    let message = format!(
        "`{:?}` with the filters `{:?}` into `{:?}`, expected `[N, C, H, W]` with `[O, C / groups, KH, KW]` into \
         `[N, O, OH, OW]`; {window:?}, whose numbers but the padding are at least 1",
        x.shape, w.shape, y.shape
    );
    Error::Shape { op: "convolution".into(), message }
}
