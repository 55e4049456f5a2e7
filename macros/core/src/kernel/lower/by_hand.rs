//! A derivative by hand: what it takes, by the names in `vjp = f(x, y, ct)`.

use super::super::ast::{Kernel, Options, ParamKind, text};
use super::super::check::signature as check;
use super::super::{ByHand, Form};
use super::placeholder::{self, Arity, Callee};
use crate::diags::Diags;
use cotangent_ir::{Arg, Kind, Source};

/// The derivative by hand of a kernel with these outputs; nothing if there is none, or if it has a mistake.
pub(super) fn by_hand(
    ast: &Kernel,
    form: Form,
    outs: &[(String, Kind)],
    callees: &mut Vec<Callee>,
    diags: &mut Diags,
) -> Option<ByHand> {
    let Options { vjp: Some(vjp), .. } = &ast.options else { return None };
    let path = vjp.path.clone();
    if ast.params.iter().any(|p| p.by_mut) {
        check::vjp_of_changes(&path, diags);
        return None;
    }
    let float = |kind: &ParamKind| match kind {
        ParamKind::Tensor(shape) => shape.is_float(),
        ParamKind::Scalar(kind) => form == Form::Pointwise && *kind == Kind::Float,
        ParamKind::Wide | ParamKind::Size | ParamKind::Key | ParamKind::Unknown => false,
    };
    let wrt: Vec<Arg> = (0..).zip(&ast.params).filter(|(_, p)| float(&p.kind)).map(|(at, _)| Arg(at)).collect();
    let float_outs: Vec<u32> = (0..).zip(outs).filter(|(_, o)| o.1 == Kind::Float).map(|(at, _)| at).collect();
    if wrt.is_empty() || float_outs.is_empty() {
        check::vjp_of_nothing(&path, diags);
        return None;
    }
    let mut known: Vec<(String, Source)> = vec![];
    known.extend((0..).zip(&ast.params).map(|(at, p)| (text(&p.ident), Source::Arg(Arg(at)))));
    known.extend((0..).zip(outs).map(|(at, (name, _))| (name.clone(), Source::Out(at))));
    known.extend(float_outs.iter().map(|&at| (format!("ct_{}", outs[at as usize].0), Source::Cotangent(at))));
    let every: Vec<Source> = known.iter().map(|k| k.1).collect();
    if let [only] = float_outs[..] {
        known.push(("ct".to_owned(), Source::Cotangent(only)));
    }
    let mut takes = if vjp.takes.is_none() { every } else { vec![] };
    for name in vjp.takes.iter().flatten() {
        match known.iter().find(|k| k.0 == text(name)) {
            Some((_, source)) => takes.push(*source),
            None => check::vjp_argument(name, known.iter().map(|k| k.0.as_str()), diags),
        }
    }
    let floats = wrt.len() == ast.params.len() && float_outs.len() == outs.len();
    let callee = if form == Form::Pointwise && floats && !takes.is_empty() {
        let arity = Arity { takes: takes.len(), gives: wrt.len() };
        placeholder::callee(&path, arity, &text(&ast.name), callees)
    } else {
        None
    };
    Some(ByHand { path, callee, takes, wrt })
}
