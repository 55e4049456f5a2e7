//! One tensor as several views along an axis.

use super::undo::joined;
use crate::diff::{Cotangent, Pullback, Want, pull};
use crate::raise::raise;
use crate::tensor::{Dims, Kind, Tensor, axis_of};
use cotangent_hal::Error;
use std::marker::PhantomData;

/// The form that the parts of a split come in: a tuple or a `Vec`.
pub trait Form: 'static {
    /// The parts.
    type Parts<K: Kind>;
    /// Their cotangents.
    type Cts<K: Kind>: Cotangent;
    /// The parts in this form, of which there are as many as it holds.
    #[doc(hidden)]
    fn parts<K: Kind>(parts: Vec<Tensor<K>>) -> Self::Parts<K>;
    /// The cotangents in order.
    #[doc(hidden)]
    fn cts<K: Kind>(cts: Self::Cts<K>) -> Vec<K::Ct>;
}

/// A tuple of `N` parts, 2 to 6.
#[derive(Debug)]
pub enum Tuple<const N: usize> {}

/// A `Vec` of parts.
#[derive(Debug)]
pub enum List {}

/// What the extents of the parts can be written as: `[s; N]` for a tuple of `N` parts (2 to 6), a `Vec` or a slice for a
/// `Vec` of parts.
pub trait IntoParts {
    /// The form of the parts.
    type Form: Form;
    /// The extents of the parts.
    fn extents(&self) -> &[usize];
}

macro_rules! tuples {
    ($($n:literal: $($t:ident)*;)*) => { $(
        impl Form for Tuple<$n> {
            type Parts<K: Kind> = ($(tuples!(@tensor $t),)*);
            type Cts<K: Kind> = ($(tuples!(@ct $t),)*);
            fn parts<K: Kind>(parts: Vec<Tensor<K>>) -> Self::Parts<K> {
                match <[Tensor<K>; $n]>::try_from(parts) {
                    Ok([$($t),*]) => ($($t,)*),
                    Err(parts) => unreachable!("{} parts for a tuple of {}", parts.len(), $n),
                }
            }
            fn cts<K: Kind>(($($t,)*): Self::Cts<K>) -> Vec<K::Ct> {
                vec![$($t),*]
            }
        }
        impl IntoParts for [usize; $n] {
            type Form = Tuple<$n>;
            fn extents(&self) -> &[usize] {
                self
            }
        }
    )* };
    (@tensor $t:ident) => { Tensor<K> };
    (@ct $t:ident) => { K::Ct };
}
tuples! {
    2: a b;
    3: a b c;
    4: a b c d;
    5: a b c d e;
    6: a b c d e f;
}

impl Form for List {
    type Parts<K: Kind> = Vec<Tensor<K>>;
    type Cts<K: Kind> = Vec<K::Ct>;
    fn parts<K: Kind>(parts: Vec<Tensor<K>>) -> Self::Parts<K> {
        parts
    }
    fn cts<K: Kind>(cts: Self::Cts<K>) -> Vec<K::Ct> {
        cts
    }
}

impl IntoParts for Vec<usize> {
    type Form = List;
    fn extents(&self) -> &[usize] {
        self
    }
}
impl IntoParts for &Vec<usize> {
    type Form = List;
    fn extents(&self) -> &[usize] {
        self
    }
}
impl IntoParts for &[usize] {
    type Form = List;
    fn extents(&self) -> &[usize] {
        self
    }
}

impl<K: Kind> Tensor<K> {
    /// Views along an axis, one after another: a tuple for an array of extents, a `Vec` for a `Vec` or slice.
    ///
    /// Raises where the extents do not add up to that of the axis.
    #[track_caller]
    pub fn split<P: IntoParts>(self, axis: isize, extents: P) -> <P::Form as Form>::Parts<K> {
        P::Form::parts(parts(self, axis, extents.extents()))
    }

    #[doc(hidden)]
    #[track_caller]
    pub fn split__vjp<P: IntoParts>(
        self,
        axis: isize,
        extents: P,
        want: Want,
    ) -> (<P::Form as Form>::Parts<K>, Parted<K, P::Form>) {
        let pullback = Parted::new(&self, axis, extents.extents(), want);
        (self.split(axis, extents), pullback)
    }
}

impl<K: Kind> Tensor<K> {
    /// Views of equal extent along an axis, the last one perhaps shorter: at most `count` of them.
    ///
    /// Raises `Error::Argument` for a count of 0.
    #[track_caller]
    pub fn chunk(self, count: usize, axis: isize) -> Vec<Self> {
        let extents = chunks(&self, count, axis);
        self.split(axis, extents)
    }

    #[doc(hidden)]
    #[track_caller]
    pub fn chunk__vjp(self, count: usize, axis: isize, want: Want) -> (Vec<Self>, Parted<K, List>) {
        let extents = chunks(&self, count, axis);
        self.split__vjp(axis, extents, want)
    }

    /// The entries of an axis as views without it.
    #[track_caller]
    pub fn unbind(self, axis: isize) -> Vec<Self> {
        let axis = axis_of("unbind", axis, self.shape());
        let entry = |i| Tensor::from_raw(self.raw.clone().slice(axis, i, 1).remove_axis(axis));
        (0..self.raw.shape[axis]).map(entry).collect()
    }

    #[doc(hidden)]
    #[track_caller]
    pub fn unbind__vjp(
        self,
        axis: isize,
        want: Want,
    ) -> (Vec<Self>, impl Pullback<(), Ct = Vec<K::Ct>, In = (K::Ct, ())> + use<K>) {
        let (shape, at) = (self.raw.shape, axis_of("unbind", axis, self.shape()));
        let wanted = K::ACTIVE && want.has(0);
        let pullback = move |cts: Vec<K::Ct>, (): &mut ()| {
            let rows = cts.into_iter().map(|ct| K::ct_tensor(ct).map(|ct| ct.unsqueeze(at as isize)));
            let rows: Vec<Option<Tensor>> = rows.collect();
            let extents = vec![1; rows.len()];
            (K::ct(if wanted { whole(&shape, at, &extents, rows) } else { None }), ())
        };
        (self.unbind(axis), pull(pullback))
    }
}

/// The extents of so many parts of an axis.
#[track_caller]
fn chunks<K: Kind>(x: &Tensor<K>, count: usize, axis: isize) -> Vec<usize> {
    let extent = x.raw.shape[axis_of("chunk", axis, x.shape())];
    if count == 0 {
        let message = format!("0 parts of axis {axis} of {:?} were asked for, expected at least 1", x.shape());
        raise(Error::Argument { op: "chunk".into(), message });
    }
    let size = extent.div_ceil(count);
    if size == 0 {
        return vec![0; count];
    }
    (0..extent).step_by(size).map(|start| size.min(extent - start)).collect()
}

#[track_caller]
fn parts<K: Kind>(x: Tensor<K>, axis: isize, extents: &[usize]) -> Vec<Tensor<K>> {
    let at = axis_of("split", axis, x.shape());
    let total = extents.iter().try_fold(0usize, |sum, &extent| sum.checked_add(extent));
    if total != Some(x.raw.shape[at]) {
        raise(Error::Shape {
            op: "split".into(),
            message: format!(
                "axis {at} of {:?} is {}, but the parts {extents:?} do not add up to that",
                x.raw.shape, x.raw.shape[at]
            ),
        });
    }
    let mut start = 0;
    let mut out = Vec::with_capacity(extents.len());
    for &extent in extents {
        out.push(Tensor::from_raw(x.raw.clone().slice(at, start, extent)));
        start += extent;
    }
    out
}

/// The pullback of [`Tensor::split`].
#[derive(Debug)]
pub struct Parted<K: Kind, F: Form> {
    /// The shape of the whole, the axis and the extents of the parts; `None` where nothing is wanted.
    whole: Option<(Dims, usize, Vec<usize>)>,
    form: PhantomData<fn() -> (K, F)>,
}

impl<K: Kind, F: Form> Parted<K, F> {
    #[track_caller]
    fn new(x: &Tensor<K>, axis: isize, extents: &[usize], want: Want) -> Self {
        let wanted = K::ACTIVE && want.has(0);
        let whole = wanted.then(|| (x.raw.shape, axis, extents.to_vec()));
        let whole = whole.map(|(shape, axis, extents)| (shape, axis_of("split", axis, &shape), extents));
        Parted { whole, form: PhantomData }
    }
}

impl<K: Kind, F: Form> Pullback<()> for Parted<K, F> {
    type Ct = F::Cts<K>;
    type In = (K::Ct, (), ());
    fn pull(self, ct: Self::Ct, (): &mut ()) -> Self::In {
        let Some((shape, axis, extents)) = self.whole else { return (K::Ct::default(), (), ()) };
        let cts = F::cts::<K>(ct).into_iter().map(K::ct_tensor).collect();
        (K::ct(whole(&shape, axis, &extents, cts)), (), ())
    }
}

/// The cotangent of the whole, given those of the parts.
fn whole(shape: &Dims, axis: usize, extents: &[usize], cts: Vec<Option<Tensor>>) -> Option<Tensor> {
    let mut start = 0;
    let mut parts = Vec::with_capacity(cts.len());
    for (ct, extent) in cts.into_iter().zip(extents) {
        parts.extend(ct.map(|ct| (start, ct.raw)));
        start += extent;
    }
    (!parts.is_empty()).then(|| Tensor::from_raw(joined(shape, axis, &parts)))
}
