//! `cat` and `stack`: several tensors as one.

use super::undo::joined;
use crate::diff::{Pullback, Want};
use crate::raise::raise;
use crate::tensor::{Dims, Kind, Tensor, axis_below, axis_of};
use cotangent_hal::{DType, Error};
use std::marker::PhantomData;

/// What several tensors can be written as: an array, a `Vec`, a slice.
pub trait IntoTensors {
    /// The tensors' kind.
    type Kind: Kind;
    /// The tensors in order.
    fn into_tensors(self) -> Vec<Tensor<Self::Kind>>;
}

impl<K: Kind> IntoTensors for Vec<Tensor<K>> {
    type Kind = K;
    fn into_tensors(self) -> Vec<Tensor<K>> {
        self
    }
}
impl<K: Kind, const N: usize> IntoTensors for [Tensor<K>; N] {
    type Kind = K;
    fn into_tensors(self) -> Vec<Tensor<K>> {
        self.into()
    }
}
impl<K: Kind, const N: usize> IntoTensors for &[Tensor<K>; N] {
    type Kind = K;
    fn into_tensors(self) -> Vec<Tensor<K>> {
        self.to_vec()
    }
}
impl<K: Kind> IntoTensors for &[Tensor<K>] {
    type Kind = K;
    fn into_tensors(self) -> Vec<Tensor<K>> {
        self.to_vec()
    }
}
impl<K: Kind> IntoTensors for &Vec<Tensor<K>> {
    type Kind = K;
    fn into_tensors(self) -> Vec<Tensor<K>> {
        self.clone()
    }
}

/// Tensors one after another along an axis, copied: `[A, 2], [A, 3]` along axis 1 is `[A, 5]`. Dtypes are promoted.
///
/// Raises for no tensor at all, and where ranks or other extents differ.
#[track_caller]
pub fn cat<L: IntoTensors>(tensors: L, axis: isize) -> Tensor<L::Kind> {
    cat_all("cat", tensors.into_tensors(), axis).0
}

/// The companion of the function [`cat`].
#[doc(hidden)]
#[allow(non_camel_case_types, reason = "the companion of a function bears its name")]
#[derive(Debug)]
pub enum cat {}

impl cat {
    #[doc(hidden)]
    #[track_caller]
    pub fn vjp<L: IntoTensors>(tensors: L, axis: isize, want: Want) -> (Tensor<L::Kind>, Joined<L::Kind>) {
        cat_vjp("cat", tensors.into_tensors(), axis, want)
    }
}

/// The companion of [`cat`] by the name `op`.
#[track_caller]
pub(super) fn cat_vjp<K: Kind>(op: &str, tensors: Vec<Tensor<K>>, axis: isize, want: Want) -> (Tensor<K>, Joined<K>) {
    let dtypes = tensors.iter().map(Tensor::dtype).collect();
    let (out, axis, extents) = cat_all(op, tensors, axis);
    (out, Joined::new(want, Apart::Narrow { axis, extents }, dtypes))
}

/// Tensors of one shape along a new axis, copied: two of `[A, B]` along axis 0 are `[2, A, B]`. Dtypes are promoted.
///
/// Raises for no tensor at all, and where shapes differ.
#[track_caller]
pub fn stack<L: IntoTensors>(tensors: L, axis: isize) -> Tensor<L::Kind> {
    stack_all(tensors.into_tensors(), axis).0
}

/// The companion of the function [`stack`].
#[doc(hidden)]
#[allow(non_camel_case_types, reason = "the companion of a function bears its name")]
#[derive(Debug)]
pub enum stack {}

impl stack {
    #[doc(hidden)]
    #[track_caller]
    pub fn vjp<L: IntoTensors>(tensors: L, axis: isize, want: Want) -> (Tensor<L::Kind>, Joined<L::Kind>) {
        let tensors = tensors.into_tensors();
        let dtypes = tensors.iter().map(Tensor::dtype).collect();
        let (out, axis, count) = stack_all(tensors, axis);
        (out, Joined::new(want, Apart::Entry { axis, count }, dtypes))
    }
}

/// The whole, the axis, and the extents of the parts along it.
#[track_caller]
fn cat_all<K: Kind>(op: &str, tensors: Vec<Tensor<K>>, axis: isize) -> (Tensor<K>, usize, Vec<usize>) {
    let Some(first) = tensors.first() else { nothing_to_join(op) };
    let axis = axis_of(op, axis, first.shape());
    let mut shape = first.raw.shape;
    shape[axis] = 0;
    for (i, tensor) in tensors.iter().enumerate() {
        first.raw.same_device(op, &tensor.raw);
        let fits = tensor.rank() == first.rank()
            && tensor.shape().iter().zip(first.shape()).enumerate().all(|(a, (x, y))| a == axis || x == y);
        if !fits {
            raise(Error::Shape {
                op: op.into(),
                message: format!(
                    "tensor {i} is {:?} and tensor 0 is {:?}, expected equal extents but for axis {axis}",
                    tensor.raw.shape, first.raw.shape
                ),
            });
        }
        shape[axis] += tensor.raw.shape[axis];
    }
    let extents = tensors.iter().map(|t| t.raw.shape[axis]).collect();
    (put_together(&shape, axis, tensors), axis, extents)
}

/// The whole, the new axis, and its extent.
#[track_caller]
fn stack_all<K: Kind>(tensors: Vec<Tensor<K>>, axis: isize) -> (Tensor<K>, usize, usize) {
    let Some(first) = tensors.first() else { nothing_to_join("stack") };
    let Some(at) = axis_below(axis, first.rank() + 1) else {
        let (shape, rank) = (first.raw.shape, first.rank() as isize);
        raise(Error::Argument {
            op: "stack".into(),
            message: format!(
                "axis {axis} was given, but tensors of {shape:?} stack along the axes {} to {rank}",
                -rank - 1
            ),
        })
    };
    for (i, tensor) in tensors.iter().enumerate() {
        first.raw.same_device("stack", &tensor.raw);
        if tensor.shape() != first.shape() {
            raise(Error::Shape {
                op: "stack".into(),
                message: format!(
                    "tensor {i} is {:?} and tensor 0 is {:?}, expected equal shapes",
                    tensor.raw.shape, first.raw.shape
                ),
            });
        }
    }
    let (count, mut shape) = (tensors.len(), first.raw.shape);
    shape.insert("stack", at, count);
    let mut entries = Vec::with_capacity(count);
    for tensor in tensors {
        entries.push(Tensor::from_raw(tensor.raw.insert_axis("stack", at)));
    }
    (put_together(&shape, at, entries), at, count)
}

/// Tensors side by side along `axis`, which add up to `shape`; a single one is the whole.
#[track_caller]
fn put_together<K: Kind>(shape: &Dims, axis: usize, mut tensors: Vec<Tensor<K>>) -> Tensor<K> {
    if tensors.len() == 1 {
        return tensors.swap_remove(0);
    }
    let mut start = 0;
    let mut parts = Vec::with_capacity(tensors.len());
    for tensor in tensors {
        let extent = tensor.raw.shape[axis];
        parts.push((start, tensor.raw));
        start += extent;
    }
    Tensor::from_raw(joined(shape, axis, &parts))
}

#[cold]
#[track_caller]
fn nothing_to_join(op: &str) -> ! {
    raise(Error::Argument { op: op.into(), message: "no tensor was given, expected at least one".into() })
}

/// How the whole comes apart.
#[derive(Debug)]
enum Apart {
    /// Into parts of these extents.
    Narrow {
        /// The axis.
        axis: usize,
        /// The parts' extents.
        extents: Vec<usize>,
    },
    /// Into its entries.
    Entry {
        /// The axis, which the parts do not have.
        axis: usize,
        /// The number of entries.
        count: usize,
    },
}

impl Apart {
    /// The parts of `ct`, as views.
    fn apply(self, ct: &Tensor) -> Vec<Tensor> {
        match self {
            Apart::Narrow { axis, extents } => extents
                .iter()
                .scan(0, |start, &extent| {
                    let part = ct.raw.clone().slice(axis, *start, extent);
                    *start += extent;
                    Some(Tensor::from_raw(part))
                })
                .collect(),
            Apart::Entry { axis, count } => {
                (0..count).map(|i| Tensor::from_raw(ct.raw.clone().slice(axis, i, 1).remove_axis(axis))).collect()
            }
        }
    }
}

/// The pullback of the functions [`cat`] and [`stack`].
#[derive(Debug)]
pub struct Joined<K: Kind> {
    apart: Option<Apart>,
    /// The dtypes of the tensors that were joined.
    dtypes: Vec<DType>,
    kind: PhantomData<fn() -> K>,
}

impl<K: Kind> Joined<K> {
    fn new(want: Want, apart: Apart, dtypes: Vec<DType>) -> Self {
        Joined { apart: (K::ACTIVE && want.has(1)).then_some(apart), dtypes, kind: PhantomData }
    }
}

impl<K: Kind> Pullback<()> for Joined<K> {
    type Ct = K::Ct;
    type In = (Vec<K::Ct>, ());
    fn pull(self, ct: K::Ct, (): &mut ()) -> Self::In {
        match (self.apart, K::ct_tensor(ct)) {
            (Some(apart), Some(ct)) => {
                let parts = apart.apply(&ct).into_iter().zip(&self.dtypes);
                (parts.map(|(part, &dtype)| K::ct(Some(part.to(dtype)))).collect(), ())
            }
            (_, _) => (self.dtypes.iter().map(|_| K::Ct::default()).collect(), ()),
        }
    }
}
