//! A kernel as written, before any name in its body is resolved.

use crate::dims::TensorType;
use cotangent_ir::Kind;
use proc_macro2::{Ident, Span, TokenStream};
use quote::ToTokens;
use syn::{Attribute, Path, Type, Visibility};

/// A `#[kernel] fn`.
pub(crate) struct Kernel {
    pub(crate) name: Ident,
    /// The user's attributes, doc comments included.
    pub(crate) attrs: Vec<Attribute>,
    pub(crate) vis: Visibility,
    pub(crate) options: Options,
    pub(crate) params: Vec<Param>,
    pub(crate) outs: Vec<Out>,
    pub(crate) body: Block,
}

/// What stands in `#[kernel(..)]`.
#[derive(Clone, Default)]
pub(crate) struct Options {
    /// `raw`: the body is code for the device.
    pub(crate) raw: Option<Span>,
    /// `cpu = path`: what a raw kernel is on the CPU.
    pub(crate) cpu: Option<Path>,
    /// `vjp = path(x, ct)`: a derivative by hand.
    pub(crate) vjp: Option<Vjp>,
    /// `unrounded`: the results keep the precision that is computed in.
    pub(crate) unrounded: Option<Span>,
}

/// A derivative by hand.
#[derive(Clone)]
pub(crate) struct Vjp {
    pub(crate) path: Path,
    /// What it takes, by name; none if it takes all that there is.
    pub(crate) takes: Option<Vec<Ident>>,
}

/// A parameter.
#[derive(Clone)]
pub(crate) struct Param {
    pub(crate) ident: Ident,
    pub(crate) kind: ParamKind,
    /// The type as written, `Tensor![..]` and `&mut` included.
    pub(crate) ty: Type,
    /// Whether it is `&mut`: a tensor that the kernel changes in place.
    pub(crate) by_mut: bool,
}

impl Param {
    /// The declared shape of a tensor.
    pub(crate) fn shape(&self) -> Option<&TensorType> {
        match &self.kind {
            ParamKind::Tensor(shape) => Some(shape),
            ParamKind::Scalar(_) | ParamKind::Wide | ParamKind::Size | ParamKind::Key | ParamKind::Unknown => None,
        }
    }
}

/// What a parameter is.
#[derive(Clone)]
pub(crate) enum ParamKind {
    /// `f32`, `i64` or `bool`.
    Scalar(Kind),
    /// `f64`: a float of a kernel on tensors, passed as it is and rounded to the precision of the tensors.
    Wide,
    /// `usize`: an integer.
    Size,
    /// `Key`: a random stream, an integer.
    Key,
    /// `Tensor![..]`. Its leading axes `R..` are one axis of the kernel, and `R` is their common extent.
    Tensor(TensorType),
    /// A type that was reported.
    Unknown,
}

/// One result.
#[derive(Clone)]
pub(crate) struct Out {
    pub(crate) kind: Kind,
    /// The declared dims; none for a scalar of a pointwise kernel.
    pub(crate) shape: Option<TensorType>,
    pub(crate) at: At,
}

/// The first and the last of some tokens, for an error that points at all of them.
#[derive(Clone, Copy)]
pub(crate) struct At {
    pub(crate) first: Span,
    pub(crate) last: Span,
}

impl At {
    pub(crate) fn of(tokens: &(impl ToTokens + ?Sized)) -> At {
        let mut spans = tokens.to_token_stream().into_iter().map(|t| t.span());
        let first = spans.next().unwrap_or_else(Span::call_site);
        At { first, last: spans.last().unwrap_or(first) }
    }
}

impl From<Span> for At {
    fn from(span: Span) -> At {
        At { first: span, last: span }
    }
}

/// Tokens that only bear the two spans.
impl ToTokens for At {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        Ident::new("__", self.first).to_tokens(tokens);
        Ident::new("__", self.last).to_tokens(tokens);
    }
}

/// `{ let ..; a[i] = ..; tail }`.
pub(crate) struct Block {
    pub(crate) stmts: Vec<Stmt>,
    pub(crate) tail: Option<Box<Expr>>,
    /// The closing brace, where a missing value is reported.
    pub(crate) end: Span,
}

/// A statement.
pub(crate) enum Stmt {
    /// `let (a, b): (f32, _) = value;`
    Let { pattern: Pattern, ty: LetType, value: Expr },
    /// `target = value;`, or `target += value;` with an operator.
    Assign { target: Expr, operator: Option<(Operator, At)>, value: Expr },
}

/// What a `let` binds.
pub(crate) enum Pattern {
    Name(Ident),
    Tuple(Vec<Pattern>, At),
    /// `_`, or something that was reported.
    Ignored,
}

/// The type of a `let`.
pub(crate) enum LetType {
    /// None, `_`, or one that was reported.
    Any,
    One(Kind),
    Tuple(Vec<LetType>),
}

/// An expression.
pub(crate) struct Expr {
    pub(crate) node: Node,
    pub(crate) at: At,
}

/// The forms of expressions.
pub(crate) enum Node {
    Float(f64),
    Int(i64),
    Truth(bool),
    Name(Ident),
    /// `-a`.
    Neg(Box<Expr>),
    /// `!a`.
    Not(Box<Expr>),
    /// `a + b`, with the place of the operator.
    Binary(Operator, At, Box<Expr>, Box<Expr>),
    /// `if a { b } else { c }`.
    If(Box<Expr>, Block, Box<Expr>),
    /// `a as f32`.
    Cast(Box<Expr>, Kind),
    /// `f(a, b)`.
    Call(Path, Vec<Expr>),
    /// `a.f(b)`; the receiver is the first argument.
    Method(Ident, Vec<Expr>),
    /// `x[i][j]`.
    Index(Ident, Vec<Expr>),
    Tuple(Vec<Expr>),
    Block(Block),
    /// `|i, j| body`.
    Closure(Box<Closure>),
    /// `0..n`, or any other range, which is reported where it is used.
    Range(Box<Expr>, Box<Expr>),
    /// What was reported.
    Broken,
}

/// A closure over indices.
pub(crate) struct Closure {
    /// Its parameters; none for `_`.
    pub(crate) params: Vec<Option<Ident>>,
    /// The two bars and what is between them.
    pub(crate) head: At,
    pub(crate) body: Expr,
}

/// The operators of two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operator {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    And,
    Or,
    BitAnd,
    BitOr,
    BitXor,
    Shl,
    Shr,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
}

impl Operator {
    /// The operator as written.
    pub(crate) const fn symbol(self) -> &'static str {
        match self {
            Operator::Add => "+",
            Operator::Sub => "-",
            Operator::Mul => "*",
            Operator::Div => "/",
            Operator::Rem => "%",
            Operator::And => "&&",
            Operator::Or => "||",
            Operator::BitAnd => "&",
            Operator::BitOr => "|",
            Operator::BitXor => "^",
            Operator::Shl => "<<",
            Operator::Shr => ">>",
            Operator::Eq => "==",
            Operator::Ne => "!=",
            Operator::Lt => "<",
            Operator::Le => "<=",
            Operator::Gt => ">",
            Operator::Ge => ">=",
        }
    }
}

/// A name as the user knows it, without `r#`.
pub(crate) fn text(ident: &Ident) -> String {
    syn::ext::IdentExt::unraw(ident).to_string()
}
