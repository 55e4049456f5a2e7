//! What a call must be before its memory is touched.

use super::Problem;
use super::backward::Gradients;
use super::forward::Results;
use super::tile::Stack;
use crate::launch::{Borrows, Views};
use cotangent_hal::{Attention, AttentionGradients, DType, Error, Result, View};

/// The operation's name in errors.
const OP: &str = "attention";

/// A verified call, whose memory is borrowed while it lives.
pub(super) struct Call<'a, R> {
    problem: Problem,
    results: R,
    empty: bool,
    _borrows: Borrows<'a>,
}

impl<R: Copy> Call<'_, R> {
    /// The operands, or `None` where there is nothing to compute.
    pub(super) fn operands(&self) -> Option<(&Problem, R)> {
        (!self.empty).then_some((&self.problem, self.results))
    }
}

/// Operands as they are collected.
struct Operands<'a>(Views<'a>);

impl<'a> Operands<'a> {
    /// Takes an operand of that shape and dtype; its place in memory.
    fn take(
        &mut self,
        name: &'static str,
        view: &View<'a>,
        shape: &[usize],
        dtypes: &[DType],
        written: bool,
    ) -> Result<Stack> {
        if view.shape != shape {
            let message = format!("{name} has the shape {:?}, expected {shape:?}", view.shape);
            return Err(Error::Shape { op: OP.into(), message });
        }
        let ptr = if written { self.0.written(name, view, dtypes)? } else { self.0.read([name; 2], view, dtypes)? };
        let mut strides = [0; 4];
        strides[..view.strides.len()].copy_from_slice(view.strides);
        Ok(Stack { ptr, dtype: view.dtype, strides })
    }
}

/// Verifies what is read.
fn problem<'a>(of: &'a Attention<'a>, operands: &mut Operands<'a>) -> Result<Problem> {
    let dtype = of.q.dtype;
    if !dtype.is_float() {
        return Err(Error::Dtype { op: OP.into(), given: dtype, accepted: DType::FLOATS.to_vec() });
    }
    let misshapen = || {
        let message = format!(
            "queries {:?}, keys {:?} and values {:?}, expected [B, H, T, D], [B, G, S, D] and [B, G, S, E] with H a \
             multiple of G",
            of.q.shape, of.k.shape, of.v.shape
        );
        Error::Shape { op: OP.into(), message }
    };
    let (&[batch, heads, queries, depth], &[_, groups, keys, _], &[_, _, _, width]) =
        (of.q.shape, of.k.shape, of.v.shape)
    else {
        return Err(misshapen());
    };
    let fits = of.k.shape == [batch, groups, keys, depth] && of.v.shape == [batch, groups, keys, width];
    if !fits || (heads > 0 && (groups == 0 || !heads.is_multiple_of(groups))) {
        return Err(misshapen());
    }
    let mask = match &of.mask {
        Some(mask) => {
            let shape = [batch, heads, queries, keys];
            Some(operands.take("the mask", mask, &shape, &[DType::Bool, dtype], false)?)
        }
        None => None,
    };
    Ok(Problem {
        batch,
        heads,
        groups,
        sharing: heads / groups.max(1),
        queries,
        keys,
        depth,
        width,
        q: operands.take("q", &of.q, of.q.shape, &[dtype], false)?,
        k: operands.take("k", &of.k, of.k.shape, &[dtype], false)?,
        v: operands.take("v", &of.v, of.v.shape, &[dtype], false)?,
        mask,
        causal: of.causal,
        scale: of.scale,
    })
}

/// Verifies a forward call.
pub(super) fn forward<'a>(of: &'a Attention<'a>, out: &'a View<'a>, lse: &'a View<'a>) -> Result<Call<'a, Results>> {
    let mut operands = Operands(Views::of(OP));
    let problem = problem(of, &mut operands)?;
    let results = results(&problem, out, lse, &mut operands, true)?;
    Ok(Call { problem, results, empty: operands.0.writes_nothing(), _borrows: operands.0.borrow()? })
}

/// Verifies a backward call.
pub(super) fn backward<'a>(
    of: &'a Attention<'a>,
    [out, lse, d_out]: [&'a View<'a>; 3],
    wanted: &'a AttentionGradients<'a>,
) -> Result<Call<'a, Gradients>> {
    let mut operands = Operands(Views::of(OP));
    let problem = problem(of, &mut operands)?;
    let dtype = problem.q.dtype;
    let results = results(&problem, out, lse, &mut operands, false)?;
    let d_out = operands.take("d_out", d_out, out.shape, &[dtype], false)?;
    let scores = [problem.batch, problem.heads, problem.queries, problem.keys];
    let AttentionGradients { d_q, d_k, d_v, d_mask } = wanted;
    let mut written = |name, view: &'a Option<View<'a>>, shape: &[usize], dtype| {
        view.as_ref().map(|view| operands.take(name, view, shape, &[dtype], true)).transpose()
    };
    let gradients = Gradients {
        results,
        d_out,
        d_q: written("d_q", d_q, of.q.shape, dtype)?,
        d_k: written("d_k", d_k, of.k.shape, dtype)?,
        d_v: written("d_v", d_v, of.v.shape, dtype)?,
        d_mask: written("d_mask", d_mask, &scores, dtype.compute())?,
    };
    Ok(Call { problem, results: gradients, empty: operands.0.writes_nothing(), _borrows: operands.0.borrow()? })
}

fn results<'a>(
    problem: &Problem,
    out: &'a View<'a>,
    lse: &'a View<'a>,
    operands: &mut Operands<'a>,
    written: bool,
) -> Result<Results> {
    let Problem { batch, heads, queries, width, .. } = *problem;
    let dtype = problem.q.dtype;
    Ok(Results {
        out: operands.take("out", out, &[batch, heads, queries, width], &[dtype], written)?,
        lse: operands.take("lse", lse, &[batch, heads, queries], &[dtype.compute()], written)?,
    })
}
