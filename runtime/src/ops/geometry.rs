//! Angles and distances of vectors along an axis.

#![allow(non_snake_case, reason = "companions are named `<operation>__vjp`")]
#![allow(clippy::type_complexity, reason = "the type of a companion names all of its cotangents")]

use super::movement::cat;
use super::turn::Turn;
use crate::diff::{Pullback, Want, pull};
use crate::raise::raise;
use crate::tensor::{Tensor, axis_of, broadcast};
use cotangent_hal::Error;
use cotangent_macros::{kernel, model};

/// Each row over its length, which counts as `eps` at least.
#[kernel]
fn normalize(x: Tensor![R.., C], eps: f64) -> Tensor![R.., C] {
    |r, i| x[r][i] * rsqrt(maximum(sum(|j| x[r][j] * x[r][j]), eps * eps))
}

/// The cosine of the angle between rows.
#[kernel]
fn cosine(x: Tensor![R.., C], y: Tensor![R.., C], eps: f64) -> Tensor![R..] {
    |r| {
        let xx = maximum(sum(|j| x[r][j] * x[r][j]), eps * eps);
        let yy = maximum(sum(|j| y[r][j] * y[r][j]), eps * eps);
        sum(|j| x[r][j] * y[r][j]) * rsqrt(xx) * rsqrt(yy)
    }
}

/// The distance of each row of `x` from each of `y`; the slope is 0 where it is 0.
#[kernel]
fn distances(x: Tensor![R.., I, C], y: Tensor![R.., J, C]) -> Tensor![R.., I, J] {
    |r, i, j| {
        let square = sum(|k| (x[r][i][k] - y[r][j][k]) * (x[r][i][k] - y[r][j][k]));
        if square > 0.0 { sqrt(square) } else { 0.0 }
    }
}

/// `a × b` along an axis of extent 3: products of the components after and before each.
#[model]
fn cross(a: Tensor, b: Tensor, axis: isize) -> Tensor {
    let after = cat([a.clone().narrow(axis, 1, 2), a.clone().narrow(axis, 0, 1)], axis)
        * cat([b.clone().narrow(axis, 2, 1), b.clone().narrow(axis, 0, 2)], axis);
    let before = cat([a.clone().narrow(axis, 2, 1), a.narrow(axis, 0, 2)], axis)
        * cat([b.clone().narrow(axis, 1, 2), b.narrow(axis, 0, 1)], axis);
    after - before
}

impl Tensor {
    /// Each vector along an axis over its length (the square root of the sum of squares), which counts as `eps` at least:
    /// PyTorch's `normalize`, with 1e-12 there.
    #[track_caller]
    pub fn normalize(self, axis: isize, eps: f64) -> Tensor {
        let turn = Turn::of("normalize", self.shape(), axis);
        turn.tensor(normalize(turn.rows(self), eps))
    }

    #[doc(hidden)]
    #[track_caller]
    pub fn normalize__vjp(
        self,
        axis: isize,
        eps: f64,
        want: Want,
    ) -> (Tensor, impl Pullback<(), Ct = Option<Tensor>, In = (Option<Tensor>, (), ())> + use<>) {
        let turn = Turn::of("normalize", self.shape(), axis);
        let (y, of_rows) = normalize::vjp(turn.rows(self), eps, want.of_function());
        let pullback = pull(move |ct: Option<Tensor>, (): &mut ()| {
            let (dx, ()) = of_rows.pull(ct.map(|ct| turn.rows(ct)), &mut ());
            (dx.map(|dx| turn.tensor(dx)), (), ())
        });
        (turn.tensor(y), pullback)
    }

    /// The cosine of the angle between vectors along an axis, which the result lacks: their inner product over the product
    /// of their lengths, each of which counts as `eps` at least (1e-8 in PyTorch). Shapes broadcast.
    #[track_caller]
    pub fn cosine_similarity(self, other: Tensor, axis: isize, eps: f64) -> Tensor {
        cosine_of(self, other, axis, eps, Want::NONE).0
    }

    #[doc(hidden)]
    #[track_caller]
    pub fn cosine_similarity__vjp(
        self,
        other: Tensor,
        axis: isize,
        eps: f64,
        want: Want,
    ) -> (Tensor, impl Pullback<(), Ct = Option<Tensor>, In = (Option<Tensor>, Option<Tensor>, (), ())> + use<>) {
        cosine_of(self, other, axis, eps, want)
    }

    /// The distances, square roots of sums of squares, of each row of `self` from each of `other`:
    /// `[.., P, M], [.., R, M] -> [.., P, R]`, with leading axes broadcast. Slope 0 at a distance of 0.
    ///
    /// Raises `Error::Shape` for vectors, and where the last axes differ.
    #[track_caller]
    pub fn cdist(self, other: Tensor) -> Tensor {
        distances_of(self, other, Want::NONE).0
    }

    #[doc(hidden)]
    #[track_caller]
    pub fn cdist__vjp(
        self,
        other: Tensor,
        want: Want,
    ) -> (Tensor, impl Pullback<(), Ct = Option<Tensor>, In = (Option<Tensor>, Option<Tensor>)> + use<>) {
        distances_of(self, other, want)
    }

    /// The vector product `self × other` of vectors along an axis of extent 3. Shapes broadcast; raises `Error::Shape` where
    /// the extent is another.
    #[track_caller]
    pub fn cross(self, other: Tensor, axis: isize) -> Tensor {
        let (a, b, axis) = triples(self, other, axis);
        cross(a, b, axis)
    }

    #[doc(hidden)]
    #[track_caller]
    pub fn cross__vjp(
        self,
        other: Tensor,
        axis: isize,
        want: Want,
    ) -> (Tensor, impl Pullback<(), Ct = Option<Tensor>, In = (Option<Tensor>, Option<Tensor>, ())> + use<>) {
        let shape = broadcast("cross", self.shape(), other.shape());
        let (a, of_a) = self.expand__vjp(&shape, Want::of(&[want.has(0)]));
        let (b, of_b) = other.expand__vjp(&shape, Want::of(&[want.has(1)]));
        let (a, b, axis) = triples(a, b, axis);
        let (y, product) = cross::vjp(a, b, axis, want.of_function());
        let pullback = pull(move |ct, (): &mut ()| {
            let (da, db, ()) = product.pull(ct, &mut ());
            (of_a.pull(da, &mut ()).0, of_b.pull(db, &mut ()).0, ())
        });
        (y, pullback)
    }
}

#[track_caller]
fn triples(a: Tensor, b: Tensor, axis: isize) -> (Tensor, Tensor, isize) {
    let shape = broadcast("cross", a.shape(), b.shape());
    let at = axis_of("cross", axis, &shape);
    if shape[at] != 3 {
        let message = format!("axis {at} of {shape:?} is {}, expected 3", shape[at]);
        raise(Error::Shape { op: "cross".into(), message });
    }
    (a.expand(&shape), b.expand(&shape), at as isize)
}

#[track_caller]
fn cosine_of(
    a: Tensor,
    b: Tensor,
    axis: isize,
    eps: f64,
    want: Want,
) -> (Tensor, impl Pullback<(), Ct = Option<Tensor>, In = (Option<Tensor>, Option<Tensor>, (), ())> + use<>) {
    let shape = broadcast("cosine_similarity", a.shape(), b.shape());
    let at = axis_of("cosine_similarity", axis, &shape);
    let last = shape.len() as isize - 1;
    let (a, of_a) = a.expand__vjp(&shape, Want::of(&[want.has(0)]));
    let (b, of_b) = b.expand__vjp(&shape, Want::of(&[want.has(1)]));
    // The axis goes to the end, the others keep their order.
    let mut order: Vec<isize> = (0..=last).filter(|i| *i != at as isize).collect();
    order.push(at as isize);
    let mut back: Vec<isize> = (0..last).collect();
    back.insert(at, last);
    let (y, of_rows) = cosine::vjp(a.permute(&order), b.permute(&order), eps, want.of_function());
    let pullback = pull(move |ct, (): &mut ()| {
        let (da, db, ()) = of_rows.pull(ct, &mut ());
        let moved = |d: Option<Tensor>| d.map(|d| d.permute(&back));
        (of_a.pull(moved(da), &mut ()).0, of_b.pull(moved(db), &mut ()).0, (), ())
    });
    (y, pullback)
}

#[track_caller]
fn distances_of(
    a: Tensor,
    b: Tensor,
    want: Want,
) -> (Tensor, impl Pullback<(), Ct = Option<Tensor>, In = (Option<Tensor>, Option<Tensor>)> + use<>) {
    let ([la @ .., p, m], [lb @ .., r, n]) = (a.shape(), b.shape()) else {
        let message = format!("{:?} and {:?} were given, expected at least 2 axes each", a.shape(), b.shape());
        raise(Error::Shape { op: "cdist".into(), message })
    };
    if m != n {
        let message = format!("{:?} and {:?}: the last axes differ, {m} and {n}", a.shape(), b.shape());
        raise(Error::Shape { op: "cdist".into(), message });
    }
    let lead = broadcast("cdist", la, lb);
    let (sa, sb) = ([&lead[..], &[*p, *m]].concat(), [&lead[..], &[*r, *m]].concat());
    let (a, of_a) = a.expand__vjp(&sa, Want::of(&[want.has(0)]));
    let (b, of_b) = b.expand__vjp(&sb, Want::of(&[want.has(1)]));
    let (y, of_rows) = distances::vjp(a, b, want.of_function());
    let pullback = pull(move |ct, (): &mut ()| {
        let (da, db) = of_rows.pull(ct, &mut ());
        (of_a.pull(da, &mut ()).0, of_b.pull(db, &mut ()).0)
    });
    (y, pullback)
}
