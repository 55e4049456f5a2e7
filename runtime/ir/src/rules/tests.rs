//! Each rule on the smallest case that needs it.

use super::Simplifier;
use crate::build::Builder;
use crate::kernel::{Arg, Axis, Id, Kind, Unary};
use crate::text::show;

/// A simplifier over `x: [R, C]` and `t: int[R]` with axes `r`, `i` and `j`; what `primal` makes comes before it.
struct Case {
    s: Simplifier,
    axes: [Axis; 3],
    primal: Vec<Id>,
}

fn case(primal: impl FnOnce(&mut Builder, &dyn Fn(&mut Builder, usize) -> Id) -> Vec<Id>) -> Case {
    let mut b = Builder::new("k");
    let (rows, columns) = (b.dim("R"), b.dim("C"));
    let (rows, columns) = (b.size(rows), b.size(columns));
    let axes = [b.axis("r", rows), b.axis("i", columns), b.axis("j", columns)];
    b.arg("x", Kind::Float, &[rows, columns]);
    b.arg("t", Kind::Int, &[rows]);
    b.arg("ct", Kind::Float, &[rows, columns]);
    let primal = primal(&mut b, &|b, axis| b.load_over(Arg(0), &[axes[0], axes[axis]]));
    Case { s: Simplifier::new(b), axes, primal }
}

impl Case {
    /// The cotangent at `[r, i]`.
    fn ct(&mut self) -> Id {
        self.s.b.load_over(Arg(2), &self.axes[..2])
    }

    /// The expression in the form of a report.
    fn check(mut self, id: Id, expected: &str) {
        let axes = self.s.b.free(id).to_vec();
        self.s.b.output_over("y", &axes, id);
        let text = show(&self.s.b.finish());
        let text = text.trim_end().rsplit_once(" = ").map_or(text.as_str(), |x| x.1);
        assert_eq!(text, expected);
    }
}

#[test]
fn rule_a_opens_what_cancels_and_nothing_else() {
    let mut c = case(|b, x| {
        let (i, e) = (x(b, 1), x(b, 1));
        let e = b.unary(Unary::Exp, e);
        vec![b.sub(i, e), b.mul(i, e), e]
    });
    let [difference, product, e] = c.primal[..] else { panic!() };
    let ct = c.ct();
    let kept = c.s.add(difference, ct);
    let opened = c.s.sum(0.0, &[(1.0, difference), (1.0, e)]);
    let quotient = c.s.product(&[(product, 1), (e, -1)]);
    assert_eq!(opened, quotient);
    c.check(kept, "(x[r][i] - exp(x[r][i])) + ct[r][i]");
}

#[test]
fn rule_b_takes_out_common_factors() {
    let mut c = case(|b, x| vec![x(b, 1)]);
    let (x, ct) = (c.primal[0], c.ct());
    let (square, product) = (c.s.mul(x, x), c.s.mul(x, ct));
    let sum = c.s.sum(0.0, &[(3.0, square), (1.0, product)]);
    c.check(sum, "x[r][i] * (3 * x[r][i] + ct[r][i])");
}

#[test]
fn rule_c_uses_products_of_the_primal() {
    let mut c = case(|b, x| {
        let x = x(b, 1);
        let (a, s) = (b.unary(Unary::Exp, x), b.unary(Unary::Sin, x));
        vec![a, s, b.div(a, s)]
    });
    let [a, s, quotient] = c.primal[..] else { panic!() };
    let ct = c.ct();
    let found = c.s.product(&[(a, 1), (ct, 1), (s, -1)]);
    assert_eq!(found, c.s.mul(quotient, ct));
}

#[test]
fn rule_d_pulls_factors_out_of_sums() {
    let mut c = case(|b, x| vec![x(b, 2)]);
    let (ct, xj, j) = (c.ct(), c.primal[0], c.axes[2]);
    let product = c.s.product(&[(ct, 1), (xj, 1)]);
    let product = c.s.scale(2.0, product);
    let sum = c.s.fold_sum(&[j], product);
    let count = c.s.fold_sum(&[j], ct);
    let both = c.s.add(sum, count);
    c.check(both, "ct[r][i] * (2 * sum[i](x[r][i]) + C)");
}

#[test]
fn rule_e_drops_what_sums_to_zero() {
    let mut c = case(|b, x| {
        let x = x(b, 1);
        let mean = b.mean(&[Axis(1)], x);
        vec![b.sub(x, mean)]
    });
    let (i, centred, ct) = (c.axes[1], c.primal[0], c.ct());
    let zero = c.s.fold_sum(&[i], centred);
    assert!(c.s.is_zero(zero));
    let sum = c.s.add(centred, ct);
    let rest = c.s.fold_sum(&[i], sum);
    c.check(rest, "sum[i](ct[r][i])");
}

#[test]
fn rule_f_subtracts_logarithms_late() {
    let mut c = case(|b, x| {
        let x = x(b, 1);
        let e = b.unary(Unary::Exp, x);
        let s = b.sum(&[Axis(1)], e);
        let log = b.unary(Unary::Log, s);
        vec![e, s, b.sub(x, log)]
    });
    let [e, s, y] = c.primal[..] else { panic!() };
    let early = c.s.div(e, s);
    let late = c.s.polish(early);
    assert_ne!(early, late);
    assert_eq!(late, c.s.b.unary(Unary::Exp, y));
}

#[test]
fn rule_g_finds_horners_form_late() {
    let mut c = case(|b, x| vec![x(b, 1)]);
    let (x, ct) = (c.primal[0], c.ct());
    let (square, cube) = (c.s.product(&[(x, 2)]), c.s.product(&[(x, 3)]));
    let sum = c.s.sum(0.0, &[(1.0, x), (2.0, square), (3.0, cube), (1.0, ct)]);
    let late = c.s.polish(sum);
    c.check(late, "ct[r][i] + x[r][i] * (x[r][i] * (3 * x[r][i] + 2) + 1)");
}

#[test]
fn rule_h_turns_a_one_hot_into_a_load() {
    let mut c = case(|_, _| vec![]);
    let (r, j) = (c.axes[0], c.axes[2]);
    let (index, row) = (c.s.b.index(j), c.s.b.index(r));
    let target = c.s.b.load(Arg(1), &[row]);
    let hits = c.s.b.eq(index, target);
    let (value, zero) = (c.s.b.load_over(Arg(2), &[r, j]), c.s.zero());
    let body = c.s.b.select(hits, value, zero);
    let sum = c.s.fold_sum(&[j], body);
    // Nothing says that the target is a position, so the load is guarded.
    c.check(sum, "select(and((0 <= t[r]), (t[r] < C)), ct?[r][t[r]], 0)");
}

#[test]
fn rule_i_opens_integer_sums() {
    let mut b = Builder::new("k");
    let n = b.dim("N");
    let n = b.size(n);
    let (inner, one) = (b.affine(-1, &[(2, n)]), b.int(1));
    let (sum, twice) = (b.add(inner, one), b.add(n, n));
    assert_eq!(sum, twice);
}

#[test]
fn rule_j_renames_bound_axes() {
    let mut c = case(|b, x| {
        let x = x(b, 1);
        let (i, j) = (b.index(Axis(1)), b.index(Axis(2)));
        let (i, j) = (b.cast(Kind::Float, i), b.cast(Kind::Float, j));
        let product = b.mul(x, j);
        let wave = b.unary(Unary::Sin, product);
        let inner = b.sum(&[Axis(1)], wave);
        vec![b.mul(inner, i)]
    });
    // The sum binds `i`; `j` becomes `i` outside of it.
    let i = c.s.b.index(c.axes[1]);
    let (j, node) = (c.axes[2], c.primal[0]);
    let moved = crate::rewrite::subst(&mut c.s, node, &[(j, i)]);
    c.check(moved, "i * sum[j](sin(i * x[r][j]))");
}

#[test]
fn rule_k_selects_last() {
    for exchanged in [false, true] {
        let mut c = case(|b, x| vec![x(b, 1)]);
        let (x, ct) = (c.primal[0], c.ct());
        let (zero, one) = (c.s.zero(), c.s.b.float(1.0));
        let above = c.s.b.lt(one, x);
        let chosen = if exchanged { c.s.b.select(above, zero, ct) } else { c.s.b.select(above, ct, zero) };
        let quotient = c.s.div(chosen, x);
        let late = c.s.polish(quotient);
        let expected = if exchanged { "0, ct[r][i] / x[r][i]" } else { "ct[r][i] / x[r][i], 0" };
        c.check(late, &format!("select((1 < x[r][i]), {expected})"));
    }
}
