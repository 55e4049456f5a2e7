//! `#[kernel]`: from a function in index notation to the kernel language.
//!
//! Tokens are parsed to [`ast`], which is lowered to a [`cotangent_ir::Kernel`] and the description of a Rust function
//! around it: [`Lowered`]. What comes after reads nothing else.
//!
//! # The language
//! - *Pointwise*: parameters and results are `f32` (any float precision at run time), `i64` and `bool`, and the body is
//!   an ordinary block over them.
//! - *Tensor*: parameters are `Tensor![R.., C]`, `Tensor![Int; T]`, `Tensor![Bool; T]`, scalars, `f64`, a float that is
//!   rounded once, to the precision of the tensors, `usize`, and `Key`, a random stream. After any `let`s, the body is a closure over the output's indices, one for each declared axis; for
//!   several outputs it is a tuple of closures, or one that gives a tuple. Leading axes `R..` are one axis.
//! - *In place*: `&mut Tensor![..]` is a parameter whose elements the closure assigns, `w[i] -= lr * g[i]`, at its own
//!   indices; reads that follow see the new value.
//! - `x[i][j]` is an element; an index is any integer. It is proved inside, unless it depends on data, which the launch
//!   checks, or stands in `or_zero(x[i - 1])`.
//! - `sum`, `mean`, `prod`, `max`, `min`, `argmax`, `argmin`, `logsumexp`, `any` and `all` reduce over the indices of a
//!   closure: `sum(|j| x[i][j])`. An index runs over the extent of the dim that it indexes by itself; else its range is
//!   written: `sum(0..K, |k| x[i + k])`.
//! - `cumsum(|j| x[r][j], i)` is the running sum up to `i`, an index of an outer closure; `cumprod`, `cummax` and
//!   `cummin` are like it.
//! - A dim is arithmetic of numbers, names and constants in braces, `Tensor![2 * C, {HEADS}, 3]`. A constant is a `usize`
//!   that rustc evaluates; the macro does not know its value, so that `x[2]` along it is not proved inside.
//! - A dim's name is an integer; `len(C)` is the same. `uniform(key, i)` is the i-th number of a stream, from 0 up to
//!   1, and `random_bits(key, i)` the integer of 32 bits behind it.
//! - Arithmetic is PyTorch's: an integer beside a float becomes one, integers divide rounding down, and `%` has the
//!   divisor's sign. Both sides of an `if` may be computed. `as usize` is `as i64`: a negative number stays one.
//! - A literal is the `f64` or `i64` that it denotes; one with the suffix `f32`, and a constant of `f32`, is the `f32`.
//! - Functions bear the names of PyTorch or Rust, `gelu(x)`, `elu(x, 0.5)`, `x.ln()`: the table is
//!   `cotangent_ir::FUNCTIONS`. A kernel that bears one of these names is called by a path, `self::gelu(x)`.
//! - What is no function of the language is another pointwise kernel, of floats to one float: `crate::ops::swish(x)`, or
//!   to several: `let (a, b) = rotate(x, y);`. It may be one of another crate. None can call itself through others. The
//!   name of a pointwise kernel is a plain function too: `swish(0.5)` is an `f32`.
//!
//! # Derivatives by hand
//! `#[kernel(vjp = f(x, y, ct))]` on a kernel of tensors: the gradient is that of the function `f`, which may be a kernel.
//! The names say what it is passed, and so what is kept for the backward pass: parameters, the results (`y`, or `y0`,
//! `y1`, ..), and their cotangents (`ct` of the only float result, `ct_y`, `ct_y0`, ..). A parameter goes before a result
//! of its name. `vjp = f` passes all parameters, all results and all cotangents. `f` gives the cotangents of the float
//! tensors among the parameters, in order: one tensor or a tuple. Rustc compares its type; the shapes are compared when it
//! has run. Where no cotangent is wanted `f` does not run.
//!
//! On a pointwise kernel, `f` is another one: `#[kernel(vjp = slope(x, ct))] fn k(x: f32) -> f32`, where
//! `#[kernel] fn slope(x: f32, ct: f32) -> f32` gives the cotangent of `x` for one element, and for several float
//! parameters a tuple of them.
//!
//! # Results without rounding
//! `#[kernel(unrounded)]` on a kernel of tensors: results of 16-bit floats are `f32`, as they are computed. What is added up
//! further is rounded once at the end.
//!
//! # Raw kernels
//! `#[kernel(raw, cpu = f)] fn k(x: Tensor![R.., C], n: usize) -> Tensor![R.., C] {}`: the shapes are those declared, and
//! what is computed is on the CPU the plain function `f(x: &[f32], n: usize, y: &mut [f32], dims: [usize; 2])`. It takes
//! the parameters in order (tensors as row-major slices of `f32`, `i64` and `bool`; `Key` as its `i64`), the results,
//! which are 0 at first, and the extents of the named dims (constants have no names) in the order of their first use, that of `R..` being the
//! product of the axes. `f16` and `bf16` are converted; `f64` is refused. One thread calls it once, with empty tensors
//! too. The body is empty: it is where code for GPUs goes, which is not supported yet. A raw kernel has a gradient only by
//! `vjp = ..`.

mod ast;
mod bounds;
mod check;
mod editor;
mod emit;
mod lower;
mod parse;
mod poly;

pub(crate) use ast::{Out, Param};

use crate::diags::Diags;
use crate::{dump, fallback};
use cotangent_ir::{Arg, Dim, Source};
use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;
use syn::{Attribute, Path, Visibility};

/// How a kernel is launched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// Over the elements of arrays of one shape, its scalars being single elements.
    Pointwise,
    /// On tensors.
    Tensor,
}

/// A kernel without mistakes.
pub(crate) struct Lowered {
    pub(crate) form: Form,
    /// Its arguments are `params`, in order. Its outputs are `outs`, then the tensors that are `&mut`, in order and
    /// under their own names. It has no faults. A quotient in a declared dim rounds down here, but the proofs take it
    /// to be exact: a launch refuses shapes that leave a remainder.
    pub(crate) kernel: cotangent_ir::Kernel,
    pub(crate) name: Ident,
    /// The user's attributes on the function, without `#[kernel]`.
    pub(crate) attrs: Vec<Attribute>,
    pub(crate) vis: Visibility,
    pub(crate) by_hand: Option<ByHand>,
    /// What a raw kernel is on the CPU; its kernel has no stores.
    pub(crate) raw: Option<Path>,
    /// Whether its results keep the precision that is computed in.
    pub(crate) unrounded: bool,
    pub(crate) params: Vec<Param>,
    /// The declared results.
    pub(crate) outs: Vec<Out>,
    /// What the entries of the kernel's `callees` stand for: those are stand-ins of floats to floats, and the statics of
    /// these kernels belong in their places.
    pub(crate) callees: Vec<Path>,
    /// Dims of `kernel` that must not be 0: some index is inside only then.
    pub(crate) nonempty: Vec<Dim>,
    /// Dims of `kernel` whose values rustc evaluates, the last ones.
    pub(crate) constants: Vec<(Dim, TokenStream)>,
    /// What the numbers in the kernel's `spans` stand for; the first is the whole macro.
    pub(crate) spans: Vec<Span>,
}

/// A derivative by hand: a function of tensors, or for a pointwise kernel another one, which gives the cotangents of
/// `wrt`, in order.
pub(crate) struct ByHand {
    pub(crate) path: Path,
    /// What stands for it where the kernel is called, if it can be: it is of floats to floats.
    pub(crate) callee: Option<&'static cotangent_ir::Kernel>,
    /// What it takes: arguments, outputs and cotangents of the kernel.
    pub(crate) takes: Vec<Source>,
    /// The arguments that have a cotangent.
    pub(crate) wrt: Vec<Arg>,
}

/// Expands `#[kernel(args)] fn f(..)`: the function, its companion, and native code for both.
///
/// Mistakes become `compile_error!`s beside the item in plain Rust.
pub fn kernel(args: TokenStream, item: TokenStream) -> TokenStream {
    // Editors take the first of the tokens that a token of the user became.
    let shown = editor::shown(&item);
    let code = match try_kernel(args, item.clone()) {
        Ok((name, tokens)) => {
            let watch = dump::dump(&name, &tokens);
            quote!(#tokens #watch)
        }
        Err(errors) => fallback::of_kernel(&item, errors),
    };
    quote!(#shown #code)
}

fn try_kernel(args: TokenStream, item: TokenStream) -> Result<(String, TokenStream), TokenStream> {
    let lowered = lower(args, item)?;
    let mut diags = Diags::default();
    let tokens = emit::kernel(&lowered, &mut diags);
    diags.gate()?;
    Ok((lowered.name.to_string(), tokens))
}

/// Reads `#[kernel(args)] item`, or gives its mistakes.
pub(crate) fn lower(args: TokenStream, item: TokenStream) -> Result<Lowered, TokenStream> {
    let mut diags = Diags::default();
    let lowered = parse::kernel(args, item, &mut diags).and_then(|ast| lower::kernel(ast, &mut diags));
    diags.gate()?;
    // Nothing comes out only of what was reported.
    lowered.ok_or_else(TokenStream::new)
}

#[doc(hidden)]
pub use editor::language;

/// The text form of the kernel, without spans.
///
/// # Errors
/// Tokens with a `compile_error!` for each mistake.
#[doc(hidden)]
pub fn kernel_ir(args: TokenStream, item: TokenStream) -> Result<String, TokenStream> {
    let mut lowered = lower(args, item)?;
    lowered.kernel.spans.to_mut().clear();
    Ok(cotangent_ir::print(&lowered.kernel))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ast::ParamKind;
    use cotangent_ir::{Node, Unary};
    use quote::ToTokens;

    fn lowered(args: &str, source: &str) -> Result<Lowered, String> {
        let args = args.parse::<TokenStream>().map_err(|e| e.to_string())?;
        let item = source.parse::<TokenStream>().map_err(|e| e.to_string())?;
        lower(args, item).map_err(|e| e.to_string())
    }

    #[test]
    fn describes_the_function() -> Result<(), String> {
        let source = "/// Doc.\npub fn f(x: Tensor![R.., C], w: &mut Tensor![R..], key: Key, n: usize, c: bool)
            -> (Tensor![R..], Tensor![Int; R..]) {
                |r| {
                    w[r] = if c { b::g(x[r][0]) + a::g(w[r]) } else { uniform(key, r) };
                    (a::g(x[r][0]), n)
                }
            }";
        let f = lowered("", source)?;
        assert_eq!((f.form, f.name.to_string().as_str(), f.attrs.len()), (Form::Tensor, "f", 1));
        assert!(matches!(f.vis, Visibility::Public(_)));
        let names: Vec<String> = f.params.iter().map(|p| p.ident.to_string()).collect();
        assert_eq!(names, f.kernel.args.iter().map(|a| a.name.to_string()).collect::<Vec<_>>());
        let outs: Vec<&str> = f.kernel.outs.iter().map(|o| o.name.as_ref()).collect();
        assert_eq!(outs, ["y0", "y1", "w"]);
        assert_eq!(f.params.iter().map(|p| p.by_mut).collect::<Vec<_>>(), [false, true, false, false, false]);
        let shape = f.params.first().map(|p| &p.kind);
        assert!(matches!(shape, Some(ParamKind::Tensor(t)) if t.rest.is_some() && t.dims.len() == 1));
        let callees: Vec<String> = f.callees.iter().map(|p| p.to_token_stream().to_string()).collect();
        assert_eq!(callees, ["a :: g", "b :: g"]);
        let nonempty: Vec<&str> = f.nonempty.iter().map(|d| f.kernel.dims[d.at()].as_ref()).collect();
        assert_eq!(nonempty, ["C"]);
        Ok(())
    }

    #[test]
    fn names_decide_what_a_derivative_takes() -> Result<(), String> {
        let takes = |args: &str, source: &str| {
            let by_hand = lowered(args, source)?.by_hand.ok_or("none")?;
            Ok::<_, String>((by_hand.takes, by_hand.wrt))
        };
        let one = "fn f(x: Tensor![N], n: usize) -> Tensor![N] { |i| x[i] * n }";
        let (x, n, y, ct) = (Source::Arg(Arg(0)), Source::Arg(Arg(1)), Source::Out(0), Source::Cotangent(0));
        assert_eq!(takes("vjp = g", one)?, (vec![x, n, y, ct], vec![Arg(0)]));
        assert_eq!(takes("vjp = a::g(ct, x)", one)?.0, [ct, x]);
        assert_eq!(takes("vjp = g(y, ct_y, n,)", one)?.0, [y, ct, n]);
        let two = "fn f(n: Tensor![Int; N], x: Tensor![N]) -> (Tensor![N], Tensor![Int; N], Tensor![N]) {
            |i| (x[i], n[i], x[i])
        }";
        assert_eq!(takes("vjp = g(ct_y2, y1)", two)?.0, [Source::Cotangent(2), Source::Out(1)]);
        let scalar = "fn f(x: f32, n: i64) -> f32 { x * n }";
        assert_eq!(takes("vjp = g(ct, n)", scalar)?, (vec![ct, n], vec![Arg(0)]));
        Ok(())
    }

    #[test]
    fn spans_are_those_of_the_tokens() -> Result<(), String> {
        let f = lowered("", "fn f(x: f32) -> f32 { x + exp(x) }")?;
        let column = |wanted: fn(&Node) -> bool| {
            let id = f.kernel.nodes.iter().position(wanted)?;
            let span = f.spans.get(*f.kernel.spans.get(id)? as usize)?;
            Some(span.start().column)
        };
        assert_eq!(column(|n| matches!(n, Node::Load { arg: Arg(0), .. })), Some(22));
        assert_eq!(column(|n| matches!(n, Node::Sum { .. })), Some(24));
        assert_eq!(column(|n| matches!(n, Node::Unary(Unary::Exp, _))), Some(26));
        Ok(())
    }
}
