//! Products of tensors whose axes have labels, summed over labels: what `einsum` and its kin are made of.
//!
//! Two tensors at a time meet, from the left: labels that nothing else needs are summed first where only one tensor has
//! them, and as the inner extent of a matrix product where both do. Axes are moved and merged for that, without a copy
//! where the strides allow. Where nothing is summed the tensors are multiplied element by element.

use super::arith::mul;
use super::elementwise::binary;
use super::fold;
use crate::tensor::{Dims, Raw, Tensor};

/// The name in errors.
const OP: &str = "einsum";
/// The most leading axes of a matrix product.
const LEADING: usize = 6;

/// A tensor whose axes have labels, each another.
#[derive(Clone)]
pub(crate) struct Labelled {
    pub(crate) raw: Raw,
    pub(crate) labels: Vec<u8>,
}

/// The product of all terms, of which there is at least one, summed over the labels that `output` does not name, with
/// axes in its order. A label has one extent, or 1 where it is repeated.
#[track_caller]
pub(crate) fn contract(terms: &[Labelled], output: &[u8]) -> Raw {
    let mut whole = terms[0].clone();
    for at in 1..terms.len() {
        let later = &terms[at + 1..];
        let needed = |l: u8| output.contains(&l) || later.iter().any(|t| t.has(l));
        whole = pair(whole, terms[at].clone(), needed);
    }
    whole.summed(|l| output.contains(&l)).in_order(output).raw
}

#[track_caller]
fn pair(a: Labelled, b: Labelled, needed: impl Fn(u8) -> bool) -> Labelled {
    a.raw.same_device(OP, &b.raw);
    let (a, b) = (a.without_ones(&b), b.without_ones(&a));
    let (of_a, of_b) = (a.labels.clone(), b.labels.clone());
    let (a, b) = (a.summed(|l| needed(l) || of_b.contains(&l)), b.summed(|l| needed(l) || of_a.contains(&l)));
    let shared = |l: &u8| b.has(*l);
    let inner: Vec<u8> = a.labels.iter().copied().filter(|l| shared(l) && !needed(*l)).collect();
    if inner.is_empty() {
        return multiply(&a, &b);
    }
    let batch: Vec<u8> = a.labels.iter().copied().filter(|l| shared(l) && needed(*l)).collect();
    let left: Vec<u8> = a.labels.iter().copied().filter(|l| !shared(l)).collect();
    let right: Vec<u8> = b.labels.iter().copied().filter(|l| !a.has(*l)).collect();
    let mut shape = Dims::new();
    batch.iter().chain(&left).for_each(|&l| shape.push(OP, a.extent(l)));
    right.iter().for_each(|&l| shape.push(OP, b.extent(l)));
    let rows = a.merged(&[&batch, &left, &inner], batch.len());
    let columns = b.merged(&[&batch, &inner, &right], batch.len());
    let product: Tensor = Tensor::from_raw(rows);
    let raw = product.matmul(Tensor::from_raw(columns)).raw.reshape(&shape);
    Labelled { raw, labels: [batch, left, right].concat() }
}

/// The product element by element: the labels of `a`, then those that only `b` has.
#[track_caller]
fn multiply(a: &Labelled, b: &Labelled) -> Labelled {
    let right = b.labels.iter().copied().filter(|l| !a.has(*l));
    let labels: Vec<u8> = a.labels.iter().copied().chain(right).collect();
    let [x, y] = [a, b].map(|t| t.clone().over(&labels));
    Labelled { raw: binary(mul::FLOATS.forward, x, y, &[]), labels }
}

impl Labelled {
    pub(crate) fn has(&self, label: u8) -> bool {
        self.labels.contains(&label)
    }

    fn axis(&self, label: u8) -> Option<usize> {
        self.labels.iter().position(|l| *l == label)
    }

    /// The extent of a label, 1 where it has none.
    fn extent(&self, label: u8) -> usize {
        self.axis(label).map_or(1, |axis| self.raw.shape[axis])
    }

    /// Without the axes of extent 1 that are longer in `other`.
    fn without_ones(&self, other: &Labelled) -> Labelled {
        let mut out = self.clone();
        for axis in (0..self.labels.len()).rev() {
            let label = self.labels[axis];
            if self.raw.shape[axis] == 1 && other.extent(label) != 1 {
                out.raw = out.raw.remove_axis(axis);
                out.labels.remove(axis);
            }
        }
        out
    }

    /// Summed over the labels that are not kept, rounded once.
    #[track_caller]
    fn summed(self, keep: impl Fn(u8) -> bool) -> Labelled {
        let mask =
            self.labels.iter().enumerate().filter(|(_, l)| !keep(**l)).fold(0, |mask, (axis, _)| mask | 1 << axis);
        if mask == 0 {
            return self;
        }
        let raw = fold::sum(&self.raw, mask, 1.0).cast(self.raw.dtype);
        Labelled { raw, labels: self.labels.into_iter().filter(|l| keep(*l)).collect() }
    }

    /// The axes in the order of `labels`, which are the same.
    fn in_order(self, labels: &[u8]) -> Labelled {
        let order: Vec<usize> = labels.iter().filter_map(|l| self.axis(*l)).collect();
        Labelled { raw: self.raw.permute(&order), labels: labels.to_vec() }
    }

    /// The axes in the order of `labels`, with an axis of extent 1 for each that it lacks.
    #[track_caller]
    pub(crate) fn over(self, labels: &[u8]) -> Raw {
        let own: Vec<u8> = labels.iter().copied().filter(|l| self.has(*l)).collect();
        let mut raw = self.clone().in_order(&own).raw;
        for (axis, label) in labels.iter().enumerate() {
            if !self.has(*label) {
                raw = raw.insert_axis(OP, axis);
            }
        }
        raw
    }

    /// The axes in the order of three groups of labels, the last two groups each as one axis; the first too, where it has
    /// more than a matrix product takes.
    #[track_caller]
    fn merged(&self, groups: &[&[u8]; 3], leading: usize) -> Raw {
        let extent = |labels: &[u8]| labels.iter().map(|&l| self.extent(l)).product::<usize>();
        let mut shape = Dims::new();
        if leading > LEADING {
            shape.push(OP, extent(groups[0]));
        } else {
            groups[0].iter().for_each(|&l| shape.push(OP, self.extent(l)));
        }
        groups[1..].iter().for_each(|labels| shape.push(OP, extent(labels)));
        self.clone().in_order(&groups.concat()).raw.reshape(&shape)
    }
}
