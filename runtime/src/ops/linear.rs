//! Products of matrices and vectors under their own names, which check ranks, and what is made of them.

#![allow(non_snake_case, reason = "companions are named `<operation>__vjp`")]
#![allow(clippy::type_complexity, reason = "the type of a companion names all of its cotangents")]

use super::operand::Number;
use super::summation::einsum;
use crate::diff::{Pullback, Want, pull};
use crate::raise::raise;
use crate::tensor::{Float, IntoAxes, Raw, Tensor};
use cotangent_hal::{Error, Scalar};
use cotangent_macros::model;

/// `beta * x + alpha * (a @ b)`.
#[model]
fn add_product(x: Tensor, a: Tensor, b: Tensor, beta: f64, alpha: f64) -> Tensor {
    x * beta + a.matmul(b) * alpha
}

/// The power that the bits of an exponent name, the highest first.
#[model]
fn power(x: Tensor, bits: &[bool]) -> Tensor {
    let mut power = x.clone();
    for &bit in bits[1..].iter() {
        power = power.clone().matmul(power);
        if bit {
            power = power.matmul(x.clone());
        }
    }
    power
}

/// Declares products of two tensors of fixed ranks.
macro_rules! products {
    ($($(#[$doc:meta])* $name:ident $companion:ident $left:literal $right:literal;)*) => {
        impl Tensor {
            $(
                $(#[$doc])*
                ///
                /// Raises `Error::Shape` for other ranks, and where extents differ.
                #[track_caller]
                pub fn $name(self, other: Tensor) -> Tensor {
                    ranks(stringify!($name), &self, $left, &other, $right);
                    self.matmul(other)
                }
                #[doc(hidden)]
                #[track_caller]
                pub fn $companion(
                    self,
                    other: Tensor,
                    want: Want,
                ) -> (Tensor, impl Pullback<(), Ct = Option<Tensor>, In = (Option<Tensor>, Option<Tensor>)> + use<>) {
                    ranks(stringify!($name), &self, $left, &other, $right);
                    self.matmul__vjp(other, want)
                }
            )*
        }
    };
}

products! {
    /// The inner product of two vectors: `[N], [N] -> []`.
    dot dot__vjp 1 1;
    /// The product of a matrix and a vector: `[M, N], [N] -> [M]`.
    mv mv__vjp 2 1;
    /// The product of two matrices: `[M, K], [K, N] -> [M, N]`.
    mm mm__vjp 2 2;
    /// The products of two batches of matrices: `[B, M, K], [B, K, N] -> [B, M, N]`; a batch of 1 is repeated.
    bmm bmm__vjp 3 3;
}

/// Declares products of two matrices, or batches of them, that are added to a tensor.
macro_rules! added {
    ($($(#[$doc:meta])* $name:ident $companion:ident $with:ident $with_companion:ident $rank:literal;)*) => {
        impl Tensor {
            $(
                $(#[$doc])*
                ///
                /// `self` broadcasts to the product. Raises `Error::Shape` for other ranks, and where extents differ.
                #[track_caller]
                pub fn $name(self, a: Tensor, b: Tensor) -> Tensor {
                    self.$with(a, b, 1.0, 1.0)
                }
                #[doc(hidden)]
                #[track_caller]
                pub fn $companion(
                    self,
                    a: Tensor,
                    b: Tensor,
                    want: Want,
                ) -> (
                    Tensor,
                    impl Pullback<(), Ct = Option<Tensor>, In = (Option<Tensor>, Option<Tensor>, Option<Tensor>)> + use<>,
                ) {
                    let (y, all) = self.$with_companion(a, b, 1.0, 1.0, want);
                    let pullback = pull(move |ct, (): &mut ()| {
                        let (dx, da, db, (), ()) = all.pull(ct, &mut ());
                        (dx, da, db)
                    });
                    (y, pullback)
                }

                /// `beta * self` plus `alpha` times the product.
                #[track_caller]
                pub fn $with(self, a: Tensor, b: Tensor, beta: impl Number, alpha: impl Number) -> Tensor {
                    ranks(stringify!($name), &a, $rank, &b, $rank);
                    add_product(self, a, b, beta.number().f64(), alpha.number().f64())
                }
                #[doc(hidden)]
                #[track_caller]
                pub fn $with_companion<N: Number, M: Number>(
                    self,
                    a: Tensor,
                    b: Tensor,
                    beta: N,
                    alpha: M,
                    want: Want,
                ) -> (
                    Tensor,
                    impl Pullback<
                        (),
                        Ct = Option<Tensor>,
                        In = (Option<Tensor>, Option<Tensor>, Option<Tensor>, (), ()),
                    > + use<N, M>,
                ) {
                    ranks(stringify!($name), &a, $rank, &b, $rank);
                    add_product::vjp(self, a, b, beta.number().f64(), alpha.number().f64(), want.of_function())
                }
            )*
        }
    };
}

added! {
    /// `self + a @ b` of matrices.
    addmm addmm__vjp addmm_with addmm_with__vjp 2;
    /// `self + a @ b` of batches of matrices.
    baddbmm baddbmm__vjp baddbmm_with baddbmm_with__vjp 3;
}

impl Tensor {
    /// Every product of an element of one vector and one of another: `[M], [N] -> [M, N]`. Raises `Error::Shape` for other
    /// ranks.
    #[track_caller]
    pub fn outer(self, other: Tensor) -> Tensor {
        ranks("outer", &self, 1, &other, 1);
        einsum("i,j->ij", (self, other))
    }

    #[doc(hidden)]
    #[track_caller]
    pub fn outer__vjp(
        self,
        other: Tensor,
        want: Want,
    ) -> (Tensor, impl Pullback<(), Ct = Option<Tensor>, In = (Option<Tensor>, Option<Tensor>)> + use<>) {
        ranks("outer", &self, 1, &other, 1);
        by_equation("i,j->ij", self, other, want)
    }

    /// The sum of products over pairs of axes, the first of `axes` with the first of `others` and so on: the result has the
    /// further axes of `self`, then those of `other`.
    ///
    /// Raises `Error::Argument` for lists of different lengths or axes that are not there, and `Error::Shape` where extents
    /// differ.
    #[track_caller]
    pub fn tensordot(self, other: Tensor, axes: impl IntoAxes, others: impl IntoAxes) -> Tensor {
        let equation = dot_equation(&self, &other, axes, others);
        einsum(&equation, (self, other))
    }

    #[doc(hidden)]
    #[track_caller]
    pub fn tensordot__vjp<A: IntoAxes, B: IntoAxes>(
        self,
        other: Tensor,
        axes: A,
        others: B,
        want: Want,
    ) -> (Tensor, impl Pullback<(), Ct = Option<Tensor>, In = (Option<Tensor>, Option<Tensor>, (), ())> + use<A, B>)
    {
        let equation = dot_equation(&self, &other, axes, others);
        let (y, pullback) = by_equation(&equation, self, other, want);
        let pullback = pull(move |ct, (): &mut ()| {
            let (da, db) = pullback.pull(ct, &mut ());
            (da, db, (), ())
        });
        (y, pullback)
    }

    /// The matrix product of a square matrix, or of each of a batch, with itself, `exponent` times; the identity for 0.
    ///
    /// Raises `Error::Shape` where the last two axes differ.
    #[track_caller]
    pub fn matrix_power(self, exponent: usize) -> Tensor {
        check_square(&self);
        match bits(exponent)[..] {
            [] => identity_like(&self),
            ref bits => power(self, bits),
        }
    }

    #[doc(hidden)]
    #[track_caller]
    pub fn matrix_power__vjp(
        self,
        exponent: usize,
        want: Want,
    ) -> (Tensor, impl Pullback<(), Ct = Option<Tensor>, In = (Option<Tensor>, ())> + use<>) {
        check_square(&self);
        let (y, of_power) = match bits(exponent)[..] {
            [] => (identity_like(&self), None),
            ref bits => {
                let (y, of_power) = power::vjp(self, bits, want.of_function());
                (y, Some(of_power))
            }
        };
        let pullback = pull(move |ct, (): &mut ()| match of_power {
            Some(of_power) => of_power.pull(ct, &mut ()),
            None => (None, ()),
        });
        (y, pullback)
    }
}

#[track_caller]
fn by_equation(
    equation: &str,
    a: Tensor,
    b: Tensor,
    want: Want,
) -> (Tensor, impl Pullback<(), Ct = Option<Tensor>, In = (Option<Tensor>, Option<Tensor>)> + use<>) {
    let [first, second] = [want.has(0), want.has(1)];
    let (y, pullback) = einsum::vjp(equation, (a, b), Want::of(&[false, false, first || second]));
    let pullback = pull(move |ct, (): &mut ()| {
        let ((), (da, db)) = pullback.pull(ct, &mut ());
        (da.filter(|_| first), db.filter(|_| second))
    });
    (y, pullback)
}

#[track_caller]
fn ranks(op: &str, a: &Tensor, left: usize, b: &Tensor, right: usize) {
    if a.rank() != left || b.rank() != right {
        let axes = |n: usize| if n == 1 { "1 axis".into() } else { format!("{n} axes") };
        let message =
            format!("{:?} and {:?} were given, expected {} and {}", a.shape(), b.shape(), axes(left), axes(right));
        raise(Error::Shape { op: op.into(), message });
    }
}

/// The equation of a sum of products over pairs of axes.
#[track_caller]
fn dot_equation(a: &Tensor, b: &Tensor, axes: impl IntoAxes, others: impl IntoAxes) -> String {
    let left = axes.into_axes().resolve("tensordot", a.shape());
    let right = others.into_axes().resolve("tensordot", b.shape());
    if left.len() != right.len() {
        let message = format!("{} axes and {} were given, expected as many of both", left.len(), right.len());
        raise(Error::Argument { op: "tensordot".into(), message });
    }
    let mut first: Vec<char> = (b'a'..).take(a.rank()).map(char::from).collect();
    let mut second: Vec<char> = (b'A'..).take(b.rank()).map(char::from).collect();
    for (i, (&l, &r)) in left.iter().zip(right.iter()).enumerate() {
        if a.shape()[l] != b.shape()[r] {
            let message = format!("axis {l} of {:?} and axis {r} of {:?} differ", a.shape(), b.shape());
            raise(Error::Shape { op: "tensordot".into(), message });
        }
        let shared = char::from(b'm' + i as u8);
        (first[l], second[r]) = (shared, shared);
    }
    let free = |term: &[char]| term.iter().filter(|c| !('m'..='t').contains(*c)).collect::<String>();
    let result = free(&first) + &free(&second);
    format!("{},{}->{result}", String::from_iter(&first), String::from_iter(&second))
}

#[track_caller]
fn check_square(x: &Tensor) {
    if !matches!(x.shape(), [.., m, n] if m == n) {
        let message = format!("{:?} is no square matrix, nor a batch of them", x.shape());
        raise(Error::Shape { op: "matrix_power".into(), message });
    }
}

/// The bits of a number, the highest first; none for 0.
fn bits(n: usize) -> Vec<bool> {
    (0..usize::BITS - n.leading_zeros()).rev().map(|bit| n >> bit & 1 == 1).collect()
}

#[track_caller]
fn identity_like(x: &Tensor) -> Tensor {
    let eye = Tensor::<Float>::eye(x.size(-1), x.device()).to(x.dtype());
    let out = Raw::full(x.device(), x.dtype(), x.shape(), Scalar::Float(0.0));
    eye.raw.expand_to("matrix_power", x.shape()).copy_to(&out);
    Tensor::from_raw(out)
}
