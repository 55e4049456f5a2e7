//! Tensors put together by rows and by columns, and grids of vectors.

use super::join::{IntoTensors, Joined, cat_vjp};
use super::undo::Undo;
use crate::diff::{Pullback, Want, pull};
use crate::raise::raise;
use crate::tensor::{Dims, Kind, Tensor};
use cotangent_hal::Error;

/// Tensors side by side: along axis 1, vectors and scalars along axis 0. Dtypes are promoted.
///
/// Raises for no tensor at all, and where ranks or other extents differ.
#[track_caller]
pub fn hstack<L: IntoTensors>(tensors: L) -> Tensor<L::Kind> {
    hstack::vjp(tensors, Want::NONE).0
}

/// The companion of the function [`hstack`].
#[doc(hidden)]
#[allow(non_camel_case_types, reason = "the companion of a function bears its name")]
#[derive(Debug)]
pub enum hstack {}

impl hstack {
    #[doc(hidden)]
    #[track_caller]
    pub fn vjp<L: IntoTensors>(
        tensors: L,
        want: Want,
    ) -> (Tensor<L::Kind>, impl Pullback<(), Ct = Ct<L>, In = (Vec<Ct<L>>,)> + use<L>) {
        let (tensors, shapes) = at_least(1, tensors.into_tensors());
        let axis = columns(&tensors);
        let (y, joined) = cat_vjp("hstack", tensors, axis, want);
        (y, apart(joined, shapes))
    }
}

/// Tensors below each other: along axis 0, vectors and scalars as rows of a matrix. Dtypes are promoted.
///
/// Raises for no tensor at all, and where ranks or other extents differ.
#[track_caller]
pub fn vstack<L: IntoTensors>(tensors: L) -> Tensor<L::Kind> {
    vstack::vjp(tensors, Want::NONE).0
}

/// The companion of the function [`vstack`].
#[doc(hidden)]
#[allow(non_camel_case_types, reason = "the companion of a function bears its name")]
#[derive(Debug)]
pub enum vstack {}

impl vstack {
    #[doc(hidden)]
    #[track_caller]
    pub fn vjp<L: IntoTensors>(
        tensors: L,
        want: Want,
    ) -> (Tensor<L::Kind>, impl Pullback<(), Ct = Ct<L>, In = (Vec<Ct<L>>,)> + use<L>) {
        let (tensors, shapes) = at_least(2, tensors.into_tensors());
        let (y, joined) = cat_vjp("vstack", tensors, 0, want);
        (y, apart(joined, shapes))
    }
}

/// The coordinates of a grid: of vectors `[M]` and `[N]` two views `[M, N]`, the first constant along rows, the second along
/// columns, and so on for more (`indexing="ij"` of PyTorch). A scalar is a vector of one.
///
/// Raises for more vectors than a tensor has axes, and for a tensor of more than one axis.
#[track_caller]
pub fn meshgrid<L: IntoTensors>(vectors: L) -> Vec<Tensor<L::Kind>> {
    let vectors = vectors.into_tensors();
    let shape = grid(&vectors);
    let along = |(axis, vector): (usize, Tensor<L::Kind>)| {
        Tensor::from_raw(vector.raw.reshape(&column(&shape, axis)).expand_to("meshgrid", &shape))
    };
    vectors.into_iter().enumerate().map(along).collect()
}

/// The companion of the function [`meshgrid`].
#[doc(hidden)]
#[allow(non_camel_case_types, reason = "the companion of a function bears its name")]
#[derive(Debug)]
pub enum meshgrid {}

impl meshgrid {
    #[doc(hidden)]
    #[track_caller]
    pub fn vjp<L: IntoTensors>(
        vectors: L,
        want: Want,
    ) -> (Vec<Tensor<L::Kind>>, impl Pullback<(), Ct = Vec<Ct<L>>, In = (Vec<Ct<L>>,)> + use<L>) {
        let vectors = vectors.into_tensors();
        let shape = grid(&vectors);
        let own: Vec<Dims> = vectors.iter().map(|v| v.raw.shape).collect();
        let wanted = L::Kind::ACTIVE && want.has(1);
        let pullback = move |cts: Vec<Ct<L>>, (): &mut ()| {
            let back = |((axis, ct), own): ((usize, Ct<L>), Dims)| {
                let ct = L::Kind::ct_tensor(ct).filter(|_| wanted);
                let undo = Undo::Sum(column(&shape, axis)).then(Undo::Shape(own));
                L::Kind::ct(ct.map(|ct| undo.apply(ct)))
            };
            (cts.into_iter().enumerate().zip(own).map(back).collect(),)
        };
        (meshgrid(vectors), pull(pullback))
    }
}

/// The cotangent of a tensor of the list.
type Ct<L> = <<L as IntoTensors>::Kind as Kind>::Ct;

/// The tensors with at least so many axes, new ones in front, and the shapes that they had.
#[track_caller]
fn at_least<K: Kind>(axes: usize, tensors: Vec<Tensor<K>>) -> (Vec<Tensor<K>>, Vec<Dims>) {
    let shapes = tensors.iter().map(|t| t.raw.shape).collect();
    let widened = |mut tensor: Tensor<K>| {
        while tensor.rank() < axes {
            tensor = tensor.unsqueeze(0);
        }
        tensor
    };
    (tensors.into_iter().map(widened).collect(), shapes)
}

/// The axis of the columns.
fn columns<K: Kind>(tensors: &[Tensor<K>]) -> isize {
    isize::from(tensors.first().is_some_and(|t| t.rank() > 1))
}

/// The pullback of a join of tensors that were given in other shapes.
fn apart<K: Kind>(joined: Joined<K>, shapes: Vec<Dims>) -> impl Pullback<(), Ct = K::Ct, In = (Vec<K::Ct>,)> + use<K> {
    pull(move |ct: K::Ct, (): &mut ()| {
        let (cts, ()) = joined.pull(ct, &mut ());
        let back = |(ct, shape): (K::Ct, Dims)| K::ct(K::ct_tensor(ct).map(|ct| ct.reshape(shape)));
        (cts.into_iter().zip(shapes).map(back).collect(),)
    })
}

/// The shape of the grid of some vectors.
#[track_caller]
fn grid<K: Kind>(vectors: &[Tensor<K>]) -> Dims {
    let mut shape = Dims::new();
    for (i, vector) in vectors.iter().enumerate() {
        if vector.rank() > 1 {
            let message = format!("tensor {i} is {:?}, expected a vector", vector.shape());
            raise(Error::Shape { op: "meshgrid".into(), message });
        }
        shape.push("meshgrid", vector.numel());
    }
    shape
}

/// The shape of a vector along one axis of a grid.
fn column(grid: &Dims, axis: usize) -> Dims {
    let mut shape = *grid;
    shape.iter_mut().enumerate().filter(|(a, _)| *a != axis).for_each(|(_, extent)| *extent = 1);
    shape
}
