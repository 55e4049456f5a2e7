//! What a call must be before its memory is touched.

use super::Problem;
use super::backward::Gradients;
use super::forward::Results;
use super::tile::Stack;
use crate::backend::{block_of, in_use, refused};
use crate::launch::{outside, range, repeats};
use crate::memory::{Block, Borrow};
use cotangent_hal::{Attention, AttentionGradients, DType, Error, Result, View};

/// The operation's name in errors.
const OP: &str = "attention";

/// A verified call, whose memory is borrowed while it lives.
pub(super) struct Call<'a, R> {
    problem: Problem,
    results: R,
    empty: bool,
    _borrows: Vec<Borrow<'a>>,
}

impl<R: Copy> Call<'_, R> {
    /// The operands, or `None` where there is nothing to compute.
    pub(super) fn operands(&self) -> Option<(&Problem, R)> {
        (!self.empty).then_some((&self.problem, self.results))
    }
}

/// An operand with its name in messages.
struct Operand<'a> {
    name: &'static str,
    view: &'a View<'a>,
    block: &'a Block,
    /// The first element and the one behind the last, in bytes.
    range: (usize, usize),
    written: bool,
}

/// Operands as they are collected.
struct Operands<'a>(Vec<Operand<'a>>);

impl<'a> Operands<'a> {
    /// Takes an operand of that shape and dtype; its place in memory.
    fn take(
        &mut self,
        name: &'static str,
        view: &'a View<'a>,
        shape: &[usize],
        dtypes: &[DType],
        written: bool,
    ) -> Result<Stack> {
        if view.shape != shape || view.strides.len() != shape.len() {
            let message = format!("{name} has the shape {:?}, expected {shape:?}", view.shape);
            return Err(Error::Shape { op: OP.into(), message });
        }
        if !dtypes.contains(&view.dtype) {
            return Err(Error::Dtype { op: OP.into(), given: view.dtype, accepted: dtypes.to_vec() });
        }
        let block = block_of(view.buffer)?;
        let Some((low, high)) = range(view, block) else {
            return Err(Error::Shape { op: OP.into(), message: format!("{name} {}", outside(view, block)) });
        };
        if written && !view.is_empty() && repeats(view.shape, view.strides) {
            return Err(refused(format!("{OP}: {name} repeats elements; give it memory of its own")));
        }
        let size = view.dtype.size();
        self.0.push(Operand { name, view, block, range: (low * size, high * size), written });
        let offset = if low < high { view.offset } else { 0 };
        let mut strides = [0; 4];
        strides[..view.strides.len()].copy_from_slice(view.strides);
        Ok(Stack { ptr: block.ptr().wrapping_add(offset * size), dtype: view.dtype, strides })
    }

    /// The right to use all of the memory.
    fn borrow(&self) -> Result<Vec<Borrow<'a>>> {
        let mut borrows = Vec::new();
        for (i, a) in self.0.iter().enumerate() {
            let same = |b: &Operand<'_>| std::ptr::eq(a.block, b.block);
            for b in self.0[..i].iter().filter(|b| same(b) && (a.written || b.written)) {
                if a.range.0 < b.range.1 && b.range.0 < a.range.1 {
                    let message = format!("{OP}: {} overlaps {}; give each result memory of its own", a.name, b.name);
                    return Err(refused(message));
                }
            }
            // A buffer that holds several operands is borrowed once.
            if !self.0[..i].iter().any(same) {
                let written = self.0.iter().any(|b| same(b) && b.written);
                borrows.push(a.block.borrow(written).ok_or_else(in_use)?);
            }
        }
        Ok(borrows)
    }

    fn writes_nothing(&self) -> bool {
        self.0.iter().all(|operand| !operand.written || operand.view.is_empty())
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
    let mut operands = Operands(Vec::new());
    let problem = problem(of, &mut operands)?;
    let results = results(&problem, out, lse, &mut operands, true)?;
    Ok(Call { problem, results, empty: operands.writes_nothing(), _borrows: operands.borrow()? })
}

/// Verifies a backward call.
pub(super) fn backward<'a>(
    of: &'a Attention<'a>,
    [out, lse, d_out]: [&'a View<'a>; 3],
    wanted: &'a AttentionGradients<'a>,
) -> Result<Call<'a, Gradients>> {
    let mut operands = Operands(Vec::new());
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
    Ok(Call { problem, results: gradients, empty: operands.writes_nothing(), _borrows: operands.borrow()? })
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
