//! Sums of products against plain loops over all indices, their gradients, and what equations may not say.

use crate::reference::{Array, index, layouts, near, pulled, random, tolerance};
use cotangent_runtime::diff::Want;
use cotangent_runtime::ops::einsum;
use cotangent_runtime::testing::{GradCheck, check_grad};
use cotangent_runtime::{DType, Tensor, attempt};

/// The sum of products over all values of all letters. Terms are without `...`; the result is written out.
fn reference(terms: &[&str], output: &str, operands: &[Array]) -> Array {
    let mut letters: Vec<char> = terms.concat().chars().collect();
    letters.sort_unstable();
    letters.dedup();
    let extent = |l: char| {
        let of = |(term, x): (&&str, &Array)| {
            term.chars().zip(&x.shape).filter(|(c, _)| *c == l).map(|(_, &n)| n).collect::<Vec<_>>()
        };
        let all: Vec<usize> = terms.iter().zip(operands).flat_map(of).collect();
        all.iter().copied().find(|n| *n != 1).unwrap_or(1)
    };
    let extents: Vec<usize> = letters.iter().map(|&l| extent(l)).collect();
    let place = |at: &[usize], l: char| letters.iter().position(|c| *c == l).map_or(0, |i| at[i]);
    let shape: Vec<usize> = output.chars().map(extent).collect();
    let mut out = Array::from_fn(&shape, |_| 0.0);
    for i in 0..extents.iter().product() {
        let at = index(i, &extents);
        let value = |(term, x): (&&str, &Array)| x.at(&term.chars().map(|l| place(&at, l)).collect::<Vec<_>>());
        let product: f64 = terms.iter().zip(operands).map(value).product();
        let flat = output.chars().zip(&shape).fold(0, |flat, (l, n)| flat * n + place(&at, l));
        out.data[flat] += product;
    }
    out
}

const EXTENTS: &[(char, usize)] = &[('a', 2), ('b', 3), ('c', 4), ('d', 5), ('e', 1), ('z', 0)];

#[track_caller]
fn check(equation: &str) {
    let (terms, output) = equation.split_once("->").expect("the result is written out");
    let terms: Vec<&str> = terms.split(',').collect();
    let shape = |term: &&str| -> Vec<usize> {
        term.chars().map(|l| EXTENTS.iter().find(|(c, _)| *c == l).map_or(1, |(_, n)| *n)).collect()
    };
    for seed in 0..3 {
        let pick = |(at, term): (usize, &&str)| {
            let all = layouts(&shape(term), 0.5, 1.5, seed + at as u64);
            all[(seed as usize + at) % all.len()].clone()
        };
        let operands: Vec<Tensor> = terms.iter().enumerate().map(pick).collect();
        let arrays: Vec<Array> = operands.iter().map(Array::of).collect();
        let y = einsum(equation, &operands);
        let coarse = operands.iter().map(|x| tolerance(x.dtype())).fold(tolerance(y.dtype()), f64::max);
        near(&y, &reference(&terms, output, &arrays), 4.0 * coarse);
        check_grad(
            |xs| einsum(equation, xs),
            |xs, ct| pulled(einsum::vjp(equation, xs, Want::ALL).1, Some(ct)).1,
            &operands,
            GradCheck { most: 8, ..GradCheck::default() },
        );
    }
}

#[test]
fn one_operand() {
    ["ab->ba", "aa->a", "aa->", "ab->a", "ab->", "aba->ab", "abca->cb", "->", "zb->b", "zz->z", "aaa->a"]
        .into_iter()
        .for_each(check);
}

#[test]
fn two_operands() {
    let equations = [
        "ab,bc->ac",
        "ab,bc->ca",
        "abc,acd->abd",
        "abc,cd->dba",
        "a,b->ab",
        "a,a->",
        "ab,ab->ab",
        "ab,ab->",
        "ab,cd->acbd",
        "ab,b->a",
        "ab,a->b",
        "abcd,abed->abce",
        "aab,bc->ac",
        "ab,e->ab",
        "ae,ab->b",
        "ab,->a",
        "zb,bc->zc",
        "bz,zc->bc",
        "abc,bad->cd",
        "acbd,cd->ab",
    ];
    equations.into_iter().for_each(check);
}

#[test]
fn more_operands() {
    ["ab,bc,cd->ad", "a,b,c->abc", "ab,bc,ca->", "ab,a,b->ab", "ab,c,bd->d"].into_iter().for_each(check);
}

#[test]
fn results_that_are_implied_and_further_axes() {
    let (a, b) = (random(&[3, 4], 0.0, 1.0, 1), random(&[4, 5], 0.0, 1.0, 2));
    let product = a.clone().matmul(b.clone());
    assert!(einsum("ij,jk", (&a, &b)).equal(&product));
    assert!(einsum(" k j , i k ", (&b, &a)).allclose(&product, 1e-5, 1e-6));
    assert!(einsum("ji", (&a,)).equal(&a.clone().t()));
    let many = random(&[2, 1, 3, 4], 0.0, 1.0, 3);
    let want = many.clone().matmul(b.clone());
    assert!(einsum("...ij,jk->...ik", (many.clone(), b.clone())).allclose(&want, 1e-5, 1e-6));
    assert!(einsum("...ij,...jk", [many.clone(), b.clone().expand([2, 7, 4, 5])]).shape() == [2, 7, 3, 5]);
    assert!(einsum("i...->...", (many.clone(),)).allclose(many.clone().sum(0), 1e-5, 1e-6));
    assert_eq!(einsum("...ij->ij", (many.clone(),)).shape(), [3, 4]);
    check_grad(
        |xs| einsum("...ij,...jk", xs),
        |xs, ct| pulled(einsum::vjp("...ij,...jk", xs, Want::ALL).1, Some(ct)).1,
        &[many.double(), random(&[7, 4, 2], 0.0, 1.0, 4).double()],
        GradCheck::default(),
    );
    let half = einsum("ij,jk", (a.clone().to(DType::BF16), b.to(DType::BF16)));
    assert_eq!(half.dtype(), DType::BF16);
    let (_, p) = einsum::vjp("ij->j", (&a,), Want::NONE);
    assert!(pulled(p, Some(random(&[4], 0.0, 1.0, 5))).1.0.is_none());
}

#[test]
fn mistakes_name_the_equation() {
    let (a, b) = (random(&[3, 4], 0.0, 1.0, 1), random(&[5, 2], 0.0, 1.0, 2));
    let error = |equation: &str| attempt(|| einsum(equation, (&a, &b))).unwrap_err().to_string();
    assert_eq!(error("ij,jk"), "einsum: `ij,jk`: `j` is 4 and 5");
    assert_eq!(error("ij"), "einsum: `ij`: 1 terms for 2 operands");
    assert_eq!(error("ijk,jk"), "einsum: `ijk,jk`: operand 1 is [3, 4], expected 3 axes for its term");
    assert_eq!(error("ii,jk"), "einsum: `ii,jk`: `i` is 3 and 4");
    assert_eq!(error("ij,kl->im"), "einsum: `ij,kl->im`: `m` is in the result, but in no operand");
    assert_eq!(error("i1,kl"), "einsum: `i1,kl`: `1` is no letter, `,`, `->` or `...`");
}
