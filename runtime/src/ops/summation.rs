//! Sums of products, by an equation that names axes by letters.

use super::contract::{Labelled, contract};
use super::elementwise::float_of;
use super::operand::Slot;
use crate::diff::{Cotangent, Pullback, Want, pull};
use crate::raise::raise;
use crate::shape::{Equation, Term, equation::character};
use crate::tensor::{Dims, Raw, Strides, Tensor};
use cotangent_hal::{DType, Error, Scalar};

/// The operation's name in errors.
const OP: &str = "einsum";
/// The label of the last axis that `...` stands for; those before have greater ones. Letters are their own labels.
const DOTS: u8 = 128;

/// What the operands of [`einsum`] can be written as: a tuple of tensors, by value or by reference, an array, a `Vec`.
pub trait Factors {
    /// Their cotangents.
    type Cts: Cotangent;
    /// The tensors in order.
    #[doc(hidden)]
    fn factors(self) -> Vec<Tensor>;
    #[doc(hidden)]
    fn cotangents(cts: Vec<Option<Tensor>>) -> Self::Cts;
}

/// A tensor among the operands of [`einsum`].
pub trait Factor {
    /// Its cotangent.
    type Ct: Slot;
    #[doc(hidden)]
    fn factor(self) -> Tensor;
}

impl Factor for Tensor {
    type Ct = Option<Tensor>;
    fn factor(self) -> Tensor {
        self
    }
}

impl Factor for &Tensor {
    type Ct = Option<Tensor>;
    fn factor(self) -> Tensor {
        self.clone()
    }
}

macro_rules! tuples {
    ($($($t:ident)+;)*) => { $(
        #[allow(non_snake_case, reason = "a value is named like its type")]
        impl<$($t: Factor),+> Factors for ($($t,)+) {
            type Cts = ($($t::Ct,)+);
            fn factors(self) -> Vec<Tensor> {
                let ($($t,)+) = self;
                vec![$($t.factor()),+]
            }
            fn cotangents(cts: Vec<Option<Tensor>>) -> Self::Cts {
                let mut cts = cts.into_iter();
                ($($t::Ct::slot(cts.next().flatten()),)+)
            }
        }
    )* };
}
tuples! { A; A B; A B C; A B C D; A B C D E; A B C D E F; }

macro_rules! lists {
    ($([$($generics:tt)*] $list:ty, $this:ident => $tensors:expr;)*) => { $(
        impl<$($generics)*> Factors for $list {
            type Cts = Vec<Option<Tensor>>;
            fn factors(self) -> Vec<Tensor> {
                let $this = self;
                $tensors
            }
            fn cotangents(cts: Vec<Option<Tensor>>) -> Self::Cts {
                cts
            }
        }
    )* };
}
lists! {
    [] Vec<Tensor>, list => list;
    [] &Vec<Tensor>, list => list.clone();
    [] &[Tensor], list => list.to_vec();
    [const N: usize] [Tensor; N], list => list.into();
    [const N: usize] &[Tensor; N], list => list.to_vec();
}

/// The sum of products that an equation names, as in PyTorch: `einsum("bij,bjk->bik", (a, b))` is a batch of matrix
/// products, `"ii->i"` a diagonal, `"ii"` a trace, `"i,j->ij"` an outer product.
///
/// A term names the axes of an operand by letters, `...` stands for any further ones, which broadcast. A letter that terms
/// share is one index, and what the result does not name is summed; an extent of 1 is repeated. Without `->` the result
/// has the axes of `...`, then the letters that occur once, in the order of the alphabet. Operands meet two at a time, from
/// the left, in matrix products. Dtypes are promoted.
///
/// Raises `Error::Argument` for an equation that is none, and `Error::Shape` where operands do not fit it.
#[track_caller]
pub fn einsum<F: Factors>(equation: &str, operands: F) -> Tensor {
    let sum = Sum::new(equation, operands.factors());
    Tensor::from_raw(contract(&sum.terms, &sum.output))
}

/// The companion of the function [`einsum`].
#[doc(hidden)]
#[allow(non_camel_case_types, reason = "companions of functions bear the function's name")]
#[derive(Debug)]
pub enum einsum {}

impl einsum {
    #[doc(hidden)]
    #[track_caller]
    pub fn vjp<F: Factors>(
        equation: &str,
        operands: F,
        want: Want,
    ) -> (Tensor, impl Pullback<(), Ct = Option<Tensor>, In = ((), F::Cts)> + use<F>) {
        let (y, kept) = run(equation, operands.factors(), want.has(2));
        (y, pull(move |ct, (): &mut ()| ((), F::cotangents(cotangents(kept, ct)))))
    }
}

#[track_caller]
fn run(equation: &str, operands: Vec<Tensor>, wanted: bool) -> (Tensor, Option<Sum>) {
    let mut sum = Sum::new(equation, operands);
    let y = Tensor::from_raw(contract(&sum.terms, &sum.output));
    if let [only] = &mut sum.terms[..] {
        // Alone, an operand does not matter for its cotangent: its place in memory is given back.
        only.raw = Raw::full(&only.raw.device, only.raw.dtype, &[], Scalar::Float(0.0)).expand_to(OP, &only.raw.shape);
    }
    if wanted {
        sum.terms.iter_mut().for_each(|term| term.raw = term.raw.clone().keep());
    }
    (y, wanted.then_some(sum))
}

fn cotangents(kept: Option<Sum>, ct: Option<Tensor>) -> Vec<Option<Tensor>> {
    let (Some(sum), Some(ct)) = (kept, ct) else { return vec![] };
    (0..sum.terms.len()).map(|at| Some(Tensor::from_raw(sum.cotangent(at, ct.raw.clone())))).collect()
}

/// Operands with their labels, diagonals taken.
struct Sum {
    terms: Vec<Labelled>,
    output: Vec<u8>,
    own: Vec<Own>,
}

/// What an operand was: its shape, dtype, and the labels of its axes, of which some may be the same.
struct Own {
    shape: Dims,
    dtype: DType,
    labels: Vec<u8>,
}

impl Sum {
    #[track_caller]
    fn new(text: &str, operands: Vec<Tensor>) -> Sum {
        let equation = match Equation::parse(text) {
            Ok(equation) => equation,
            Err(fault) => {
                let (words, letter) = fault.words();
                let letter = letter.map_or(String::new(), |l| format!("`{}` ", character(l)));
                raise(Error::Argument { op: OP.into(), message: format!("`{text}`: {letter}{words}") })
            }
        };
        let fault = |message: String| Error::Shape { op: OP.into(), message: format!("`{text}`: {message}") };
        if equation.count() != operands.len() {
            raise(fault(format!("{} terms for {} operands", equation.count(), operands.len())));
        }
        let (mut extents, mut dots) = ([1; 256], 0);
        let (mut terms, mut own) = (vec![], vec![]);
        let dtype = float_of(operands.iter().map(|t| &t.raw));
        for (at, operand) in operands.into_iter().enumerate() {
            let (term, raw) = (equation.term(at), operand.raw);
            let rank = raw.shape.len();
            let fits = if term.dots.is_some() { rank >= term.len() } else { rank == term.len() };
            if !fits {
                let (least, letters) = (if term.dots.is_some() { "at least " } else { "" }, term.len());
                raise(fault(format!(
                    "operand {} is {:?}, expected {least}{letters} axes for its term",
                    at + 1,
                    raw.shape
                )));
            }
            let further = rank - term.len();
            dots = if term.dots.is_some() { further.max(dots) } else { dots };
            let labels = labels(term, further);
            for (&label, &extent) in labels.iter().zip(raw.shape.iter()) {
                let known: &mut usize = &mut extents[label as usize];
                if *known == 1 {
                    *known = extent;
                } else if extent != 1 && extent != *known {
                    let name = if label < DOTS { character(label) } else { "..." };
                    raise(fault(format!("`{name}` is {known} and {extent}")));
                }
            }
            own.push(Own { shape: raw.shape, dtype: raw.dtype, labels: labels.clone() });
            let Some((view, distinct)) = diagonal(&raw, &labels) else {
                raise(fault(format!("operand {} is {:?}: axes of one letter must be equal", at + 1, raw.shape)))
            };
            terms.push(Labelled { raw: view.cast(dtype), labels: distinct });
        }
        let output = labels(&equation.output, if equation.output.dots.is_some() { dots } else { 0 });
        Sum { terms, output, own }
    }

    /// The cotangent of an operand: the sum of products of the result's with all other operands.
    #[track_caller]
    fn cotangent(&self, at: usize, ct: Raw) -> Raw {
        let (term, own) = (&self.terms[at], &self.own[at]);
        let others = self.terms.iter().enumerate().filter(|(other, _)| *other != at).map(|(_, t)| t.clone());
        let factors: Vec<Labelled> = [Labelled { raw: ct.cast(term.raw.dtype), labels: self.output.clone() }]
            .into_iter()
            .chain(others)
            .collect();
        // What was repeated is summed, and what was summed alone is repeated.
        let kept = |(&label, &extent): (&u8, &usize)| extent != 1 && factors.iter().any(|f| f.has(label));
        let labels: Vec<u8> =
            term.labels.iter().zip(term.raw.shape.iter()).filter(|e| kept(*e)).map(|e| *e.0).collect();
        let part = Labelled { raw: contract(&factors, &labels), labels };
        let whole = part.over(&term.labels).expand_to(OP, &term.raw.shape).cast(own.dtype);
        if term.labels.len() == own.labels.len() {
            return whole;
        }
        let out = Raw::full(&whole.device, own.dtype, &own.shape, Scalar::Float(0.0));
        if let Some((view, _)) = diagonal(&out, &own.labels) {
            whole.copy_to(&view);
        }
        out
    }
}

/// The labels of the axes of a term of which `...` stands for `further`.
fn labels(term: &Term, further: usize) -> Vec<u8> {
    let place = term.dots.unwrap_or(term.len());
    let letter = |i: usize| term.letter(i);
    let dots = (0..further as u8).rev().map(|i| DOTS + i);
    (0..place).map(letter).chain(dots).chain((place..term.len()).map(letter)).collect()
}

/// The view in which each label has one axis, and its labels; `None` where axes of one label differ.
fn diagonal(raw: &Raw, labels: &[u8]) -> Option<(Raw, Vec<u8>)> {
    let (mut shape, mut strides, mut distinct) = (Dims::new(), Strides::new(), Vec::<u8>::new());
    for (axis, &label) in labels.iter().enumerate() {
        match distinct.iter().position(|l| *l == label) {
            Some(first) if shape[first] != raw.shape[axis] => return None,
            Some(first) => strides[first] += raw.strides[axis],
            None => {
                distinct.push(label);
                shape.push(OP, raw.shape[axis]);
                strides.push(OP, raw.strides[axis]);
            }
        }
    }
    Some((Raw { shape, strides, ..raw.clone() }, distinct))
}
