//! The language of dims: what may stand in `Tensor![B, T, 3*C]` and in `Linear![784 => 256, bias = false]`.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::parse::{Parse, ParseStream};
use syn::visit_mut::{self, VisitMut};
use syn::{Expr, Lit, Path, Token, Type, braced, parenthesized, token};

/// An extent in terms of literals, constants and names.
#[derive(Clone, Debug)]
pub(crate) enum DimExpr {
    /// A number that is written out.
    Lit(i64, Span),
    /// A dim of the model, or of the call.
    Name(Ident),
    Add(Box<DimExpr>, Box<DimExpr>),
    Sub(Box<DimExpr>, Box<DimExpr>),
    Mul(Box<DimExpr>, Box<DimExpr>),
    /// The exact quotient.
    Div(Box<DimExpr>, Box<DimExpr>),
    /// `floor(a / b)`: the quotient rounded down.
    Floor(Box<DimExpr>, Box<DimExpr>),
    /// `{EXPR}`: a constant of type `usize` that rustc evaluates.
    Const(TokenStream),
}

/// What a tensor holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TensorKind {
    Float,
    Int,
    Bool,
}

/// `Tensor![Int; R.., B, C]`.
#[derive(Clone, Debug)]
pub(crate) struct TensorType {
    pub(crate) kind: TensorKind,
    /// Leading axes: `..` is `Some(None)`, `R..` is `Some(Some(R))`.
    pub(crate) rest: Option<Option<Ident>>,
    pub(crate) dims: Vec<DimExpr>,
}

/// `Linear![784 => 256, bias = false]`, or `Relu` without arguments.
#[derive(Clone)]
pub(crate) struct LayerType {
    pub(crate) path: Path,
    pub(crate) args: Vec<LayerArg>,
}

/// One argument of a layer.
#[derive(Clone)]
pub(crate) struct LayerArg {
    /// The name in front of `=`.
    pub(crate) name: Option<Ident>,
    pub(crate) value: ArgValue,
}

/// The value of a layer's argument.
#[derive(Clone)]
pub(crate) enum ArgValue {
    /// A dim: by place, or under a name that starts with an upper-case letter.
    Dim(DimExpr),
    /// The value under a name that starts with a lower-case letter, of a config entry or of a dim with a default; under
    /// any other name, no dim.
    Expr(Expr),
}

/// What one says about tokens that are no dim.
const NO_DIM: &str = "not a dim: use a literal, a name, a constant in braces as in `{EXPR}`, or `+ - * /` of these";

impl DimExpr {
    /// A `shape::Dim`, evaluated by rustc; `scope` is an expression of type `shape::Scope`.
    pub(crate) fn to_const(&self, scope: &TokenStream) -> TokenStream {
        let binary = |a: &DimExpr, method: TokenStream, b: &DimExpr| {
            let (a, b) = (a.to_const(scope), b.to_const(scope));
            quote!(#a.#method(#b))
        };
        match self {
            DimExpr::Lit(value, _) => quote!(::cotangent::__private::shape::Dim::lit(#value)),
            DimExpr::Name(name) => {
                let name = name.to_string();
                quote!(#scope.dim(#name))
            }
            DimExpr::Add(a, b) => binary(a, quote!(add), b),
            DimExpr::Sub(a, b) => binary(a, quote!(sub), b),
            DimExpr::Mul(a, b) => binary(a, quote!(mul), b),
            DimExpr::Div(a, b) => binary(a, quote!(div), b),
            DimExpr::Floor(a, b) => binary(a, quote!(floor_div), b),
            DimExpr::Const(tokens) => quote! {
                ::cotangent::__private::shape::Dim::lit({
                    const __N: ::core::primitive::usize = { #tokens };
                    __N
                } as ::core::primitive::i64)
            },
        }
    }

    /// A `usize` over locals with the names of the dims. What has no value raises: a negative number, a quotient with
    /// a remainder.
    pub(crate) fn to_usize(&self) -> TokenStream {
        let binary = |function: TokenStream, a: &DimExpr, b: &DimExpr| {
            let (a, b) = (a.to_usize(), b.to_usize());
            quote!(::cotangent::__private::extent::#function(#a, #b))
        };
        match self {
            DimExpr::Lit(value, span) => {
                let mut literal = proc_macro2::Literal::i64_unsuffixed(*value);
                literal.set_span(*span);
                literal.into_token_stream()
            }
            DimExpr::Name(name) => name.to_token_stream(),
            DimExpr::Add(a, b) => binary(quote!(add), a, b),
            DimExpr::Sub(a, b) => binary(quote!(sub), a, b),
            DimExpr::Mul(a, b) => binary(quote!(mul), a, b),
            DimExpr::Div(a, b) => binary(quote!(div), a, b),
            DimExpr::Floor(a, b) => binary(quote!(floor), a, b),
            // Braces of our own: those of the user could be called superfluous.
            DimExpr::Const(tokens) => quote!({ #tokens }),
        }
    }

    /// As the user wrote it: `3*C`.
    pub(crate) fn written(&self) -> String {
        let binary = |a: &DimExpr, operator: &str, b: &DimExpr| format!("{}{operator}{}", a.written(), b.written());
        match self {
            DimExpr::Lit(value, _) => value.to_string(),
            DimExpr::Name(name) => name.to_string(),
            DimExpr::Add(a, b) => binary(a, " + ", b),
            DimExpr::Sub(a, b) => binary(a, " - ", b),
            DimExpr::Mul(a, b) => binary(a, "*", b),
            DimExpr::Div(a, b) => binary(a, "/", b),
            DimExpr::Floor(a, b) => format!("floor({})", binary(a, "/", b)),
            DimExpr::Const(tokens) => format!("{{{tokens}}}"),
        }
    }

    /// Every name in it, in order of appearance.
    pub(crate) fn names(&self) -> Vec<&Ident> {
        match self {
            DimExpr::Lit(..) | DimExpr::Const(_) => vec![],
            DimExpr::Name(name) => vec![name],
            DimExpr::Add(a, b)
            | DimExpr::Sub(a, b)
            | DimExpr::Mul(a, b)
            | DimExpr::Div(a, b)
            | DimExpr::Floor(a, b) => [a.names(), b.names()].concat(),
        }
    }

    /// Every constant in it, in order of appearance.
    pub(crate) fn constants(&self) -> Vec<&TokenStream> {
        match self {
            DimExpr::Lit(..) | DimExpr::Name(_) => vec![],
            DimExpr::Const(tokens) => vec![tokens],
            DimExpr::Add(a, b)
            | DimExpr::Sub(a, b)
            | DimExpr::Mul(a, b)
            | DimExpr::Div(a, b)
            | DimExpr::Floor(a, b) => [a.constants(), b.constants()].concat(),
        }
    }

    fn product(input: ParseStream<'_>) -> syn::Result<DimExpr> {
        let mut left = DimExpr::factor(input)?;
        loop {
            if input.peek(Token![*]) {
                input.parse::<Token![*]>()?;
                left = DimExpr::Mul(Box::new(left), Box::new(DimExpr::factor(input)?));
            } else if input.peek(Token![/]) {
                input.parse::<Token![/]>()?;
                left = DimExpr::Div(Box::new(left), Box::new(DimExpr::factor(input)?));
            } else {
                return Ok(left);
            }
        }
    }

    fn factor(input: ParseStream<'_>) -> syn::Result<DimExpr> {
        if input.peek(token::Brace) {
            let content;
            braced!(content in input);
            return Ok(DimExpr::Const(content.parse()?));
        }
        if input.peek(token::Paren) {
            let content;
            parenthesized!(content in input);
            let inner = content.parse()?;
            end(&content)?;
            return Ok(inner);
        }
        if input.peek(Lit) {
            let literal: Lit = input.parse()?;
            return match &literal {
                Lit::Int(int) if int.suffix().is_empty() || int.suffix() == "usize" => {
                    Ok(DimExpr::Lit(int.base10_parse()?, int.span()))
                }
                other => Err(syn::Error::new_spanned(other, NO_DIM)),
            };
        }
        if input.peek(syn::Ident) && input.peek2(token::Paren) {
            let ahead = input.fork();
            if ahead.parse::<Ident>()? == "floor" {
                input.parse::<Ident>()?;
                let content;
                parenthesized!(content in input);
                let inner = content.parse()?;
                end(&content)?;
                return match inner {
                    DimExpr::Div(a, b) => Ok(DimExpr::Floor(a, b)),
                    _ => Err(content.error("`floor` rounds a quotient down, as in `floor((H - K) / 2)`")),
                };
            }
        }
        if input.peek(syn::Ident) && !input.peek2(Token![::]) && !input.peek2(token::Paren) {
            return Ok(DimExpr::Name(input.parse()?));
        }
        Err(input.error(NO_DIM))
    }
}

impl Parse for DimExpr {
    fn parse(input: ParseStream<'_>) -> syn::Result<DimExpr> {
        let mut left = DimExpr::product(input)?;
        loop {
            if input.peek(Token![+]) {
                input.parse::<Token![+]>()?;
                left = DimExpr::Add(Box::new(left), Box::new(DimExpr::product(input)?));
            } else if input.peek(Token![-]) {
                input.parse::<Token![-]>()?;
                left = DimExpr::Sub(Box::new(left), Box::new(DimExpr::product(input)?));
            } else {
                return Ok(left);
            }
        }
    }
}

impl TensorType {
    /// Whether it has a derivative.
    pub(crate) fn is_float(&self) -> bool {
        self.kind == TensorKind::Float
    }

    /// A `shape::Shape`, evaluated by rustc; `scope` names a `shape::Scope` or `shape::Env`, `SCOPE` is a `Scope`.
    pub(crate) fn to_const(&self, scope: &TokenStream) -> TokenStream {
        let dims = self.dims.iter().map(|d| d.to_const(scope));
        match &self.rest {
            None => quote!(::cotangent::__private::shape::Shape::of(&[#(#dims),*])),
            Some(name) => {
                let name = name.as_ref().map(Ident::to_string).unwrap_or_default();
                quote!(::cotangent::__private::shape::Shape::with_rest(#name, &SCOPE, &[#(#dims),*]))
            }
        }
    }

    /// Every name in it, in order of appearance, that of the leading axes included.
    pub(crate) fn names(&self) -> Vec<&Ident> {
        self.rest.iter().flatten().chain(self.dims.iter().flat_map(DimExpr::names)).collect()
    }
}

impl Parse for TensorType {
    fn parse(input: ParseStream<'_>) -> syn::Result<TensorType> {
        let mut kind = TensorKind::Float;
        if input.peek(syn::Ident) && input.peek2(Token![;]) {
            let name: Ident = input.parse()?;
            input.parse::<Token![;]>()?;
            kind = match name.to_string().as_str() {
                "Float" => TensorKind::Float,
                "Int" => TensorKind::Int,
                "Bool" => TensorKind::Bool,
                _ => {
                    let message = format!("unknown kind `{name}` of tensor; supported: `Float`, `Int`, and `Bool`");
                    return Err(syn::Error::new(name.span(), message));
                }
            };
        }
        let mut rest = None;
        if input.peek(Token![..]) || input.peek(syn::Ident) && input.peek2(Token![..]) {
            rest = Some(if input.peek(syn::Ident) { Some(input.parse()?) } else { None });
            input.parse::<Token![..]>()?;
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        let mut dims = vec![];
        while !input.is_empty() {
            if input.peek(Token![..]) || input.peek(syn::Ident) && input.peek2(Token![..]) {
                return Err(input.error("`..` stands for leading axes and comes first"));
            }
            if input.peek(syn::Ident) && input.peek2(Token![;]) {
                return Err(input.error("the kind of a tensor comes first, as in `Tensor![Int; B, T]`"));
            }
            dims.push(input.parse()?);
            if !input.is_empty() {
                comma(input)?;
            }
        }
        Ok(TensorType { kind, rest, dims })
    }
}

impl LayerType {
    /// A layer without arguments.
    pub(crate) fn bare(path: Path) -> LayerType {
        LayerType { path, args: vec![] }
    }

    /// The layer that a macro in the place of a type stands for.
    pub(crate) fn of_macro(mac: &syn::Macro) -> syn::Result<LayerType> {
        let arguments = |input: ParseStream<'_>| {
            let mut args = vec![];
            while !input.is_empty() {
                args.push(input.parse()?);
                if input.peek(Token![=>]) {
                    input.parse::<Token![=>]>()?;
                } else if !input.is_empty() {
                    comma(input)?;
                }
            }
            Ok(args)
        };
        let args = syn::parse::Parser::parse2(arguments, mac.tokens.clone())?;
        Ok(LayerType { path: mac.path.clone(), args })
    }
}

impl Parse for LayerType {
    fn parse(input: ParseStream<'_>) -> syn::Result<LayerType> {
        let path: Path = input.call(Path::parse_mod_style)?;
        if !input.peek(Token![!]) {
            return Ok(LayerType::bare(path));
        }
        let bang_token = input.parse()?;
        let content;
        let brackets = syn::bracketed!(content in input);
        let delimiter = syn::MacroDelimiter::Bracket(brackets);
        LayerType::of_macro(&syn::Macro { path, bang_token, delimiter, tokens: content.parse()? })
    }
}

impl Parse for LayerArg {
    fn parse(input: ParseStream<'_>) -> syn::Result<LayerArg> {
        let is_equal_sign = input.peek2(Token![=]) && !input.peek2(Token![==]) && !input.peek2(Token![=>]);
        if !input.peek(syn::Ident) || !is_equal_sign {
            return Ok(LayerArg { name: None, value: ArgValue::Dim(input.parse()?) });
        }
        let name: Ident = input.parse()?;
        input.parse::<Token![=]>()?;
        let ahead = input.fork();
        let is_dim = starts_upper(&name.to_string())
            && ahead.parse::<DimExpr>().is_ok()
            && (ahead.is_empty() || ahead.peek(Token![,]) || ahead.peek(Token![=>]));
        let value = if is_dim { ArgValue::Dim(input.parse()?) } else { ArgValue::Expr(input.parse()?) };
        Ok(LayerArg { name: Some(name), value })
    }
}

fn comma(input: ParseStream<'_>) -> syn::Result<()> {
    if input.peek(Token![,]) {
        input.parse::<Token![,]>().map(drop)
    } else {
        Err(input.error("expected `,`, or one of `+ - * /`"))
    }
}

fn end(input: ParseStream<'_>) -> syn::Result<()> {
    if input.is_empty() { Ok(()) } else { Err(input.error(NO_DIM)) }
}

/// Replaces what only our macros read by the plain type: `Tensor![Int; B]` by `Tensor<Int>`, `Param![..]` and
/// `State![..]` by `Param` and `State`, `Block![C, H]` by `Block`, `[Block![C]; L]` by `Vec<Block>`. An array of
/// tensors stays an array.
pub(crate) fn strip_types(ty: &mut Type) {
    Strip { lists: false }.visit_type_mut(ty);
}

/// As [`strip_types`], for a field of a model: there every array is a list.
pub(crate) fn strip_field(ty: &mut Type) {
    Strip { lists: true }.visit_type_mut(ty);
}

struct Strip {
    lists: bool,
}

impl VisitMut for Strip {
    fn visit_type_mut(&mut self, ty: &mut Type) {
        let list = matches!(ty, Type::Array(array) if self.lists || is_layer(&array.elem));
        visit_mut::visit_type_mut(self, ty);
        match ty {
            Type::Array(array) if list => {
                let (span, elem) = (array.bracket_token.span.open(), &array.elem);
                *ty = Type::Verbatim(quote_spanned!(span=> ::std::vec::Vec<#elem>));
            }
            Type::Macro(mac) => {
                if let Some(plain) = plain_type(&mac.mac) {
                    *ty = plain;
                }
            }
            _ => {}
        }
    }
}

fn is_layer(ty: &Type) -> bool {
    match ty {
        Type::Macro(mac) => last_name(&mac.mac.path).is_some_and(|n| n != "Tensor" && starts_upper(&n)),
        Type::Array(array) => is_layer(&array.elem),
        Type::Paren(inner) => is_layer(&inner.elem),
        Type::Group(inner) => is_layer(&inner.elem),
        _ => false,
    }
}

/// The plain type of `Name![..]`, in the user's own path, so that an import of it is used; `None` for macros that are
/// not ours.
fn plain_type(mac: &syn::Macro) -> Option<Type> {
    let name = last_name(&mac.path)?;
    let mut path = mac.path.clone();
    if name == "Tensor" {
        let kind = match syn::parse2::<TensorType>(mac.tokens.clone()).map(|t| t.kind) {
            Ok(TensorKind::Int) => Some(quote!(<::cotangent::__private::Int>)),
            Ok(TensorKind::Bool) => Some(quote!(<::cotangent::__private::Bool>)),
            Ok(TensorKind::Float) | Err(_) => None,
        };
        if let (Some(kind), Some(last)) = (kind, path.segments.last_mut()) {
            last.arguments = syn::parse2(kind).map_or(syn::PathArguments::None, syn::PathArguments::AngleBracketed);
        }
    }
    starts_upper(&name).then(|| Type::Path(syn::TypePath { attrs: vec![], qself: None, path }))
}

/// The last name of a path.
pub(crate) fn last_name(path: &Path) -> Option<String> {
    path.segments.last().map(|s| s.ident.to_string())
}

fn starts_upper(name: &str) -> bool {
    name.chars().next().is_some_and(char::is_uppercase)
}

#[cfg(test)]
mod tests {
    use super::*;
    use syn::parse_str;

    #[test]
    fn tensors() {
        let read = |text: &str| {
            let t = parse_str::<TensorType>(text).map_err(|e| e.to_string())?;
            let dims: Vec<_> = t.dims.iter().map(|d| d.to_const(&quote!(S)).to_string()).collect();
            let rest = t.rest.map(|r| r.map_or("..".to_owned(), |r| r.to_string()));
            Ok::<_, String>((t.kind, rest, dims.join(", ").replace(":: cotangent :: __private :: shape :: ", "")))
        };
        let check = |text, kind, rest: Option<&str>, dims: &str| {
            assert_eq!(read(text), Ok((kind, rest.map(str::to_owned), dims.to_owned())), "{text}");
        };
        check("", TensorKind::Float, None, "");
        check("Int;", TensorKind::Int, None, "");
        check("Bool; B", TensorKind::Bool, None, "S . dim (\"B\")");
        check("R.., C,", TensorKind::Float, Some("R"), "S . dim (\"C\")");
        check("..", TensorKind::Float, Some(".."), "");
        check("3*C", TensorKind::Float, None, "Dim :: lit (3i64) . mul (S . dim (\"C\"))");
        check(
            "(C + 1) / 2",
            TensorKind::Float,
            None,
            "S . dim (\"C\") . add (Dim :: lit (1i64)) . div (Dim :: lit (2i64))",
        );
        for (text, part) in [
            ("Real; B", "unknown kind `Real`"),
            ("B, ..", "comes first"),
            ("B, Int; C", "comes first"),
            ("B C", "expected `,`"),
            ("f(x)", "not a dim"),
            ("1.5", "not a dim"),
            ("A::B", "`{EXPR}`"),
            ("(A B)", "not a dim"),
            ("99999999999999999999", "number too large"),
        ] {
            assert!(read(text).is_err_and(|e| e.contains(part)), "{text}: {:?}", read(text));
        }
    }

    #[test]
    fn layers() -> syn::Result<()> {
        let layer: LayerType = parse_str("nn::Conv2d![1 => 2*C, K = 3, bias = false, p = 0.5 * x, act = f(3), {N}]")?;
        let args: Vec<_> = layer
            .args
            .iter()
            .map(|a| {
                let name = a.name.as_ref().map(|n| format!("{n} = ")).unwrap_or_default();
                match &a.value {
                    ArgValue::Dim(d) => format!("{name}dim {}", d.to_usize()),
                    ArgValue::Expr(e) => format!("{name}{}", e.to_token_stream()),
                }
            })
            .collect();
        let expected = [
            "dim 1",
            "dim :: cotangent :: __private :: extent :: mul (2 , C)",
            "K = dim 3",
            "bias = false",
            "p = 0.5 * x",
            "act = f (3)",
            "dim { N }",
        ];
        assert_eq!(args, expected);
        assert!(parse_str::<LayerType>("Relu")?.args.is_empty());
        Ok(())
    }

    #[test]
    fn strip() -> syn::Result<()> {
        let check = |text: &str, expected: &str| -> syn::Result<()> {
            let mut ty: Type = parse_str(text)?;
            strip_types(&mut ty);
            assert_eq!(ty.to_token_stream().to_string().replace(' ', ""), expected, "{text}");
            Ok(())
        };
        check("Tensor![B]", "Tensor")?;
        check("Vec<Tensor![Int; B]>", "Vec<Tensor<::cotangent::__private::Int>>")?;
        check("&'a (Tensor![B], Option<Tensor![Bool;]>)", "&'a(Tensor,Option<Tensor<::cotangent::__private::Bool>>)")?;
        check("[Tensor![B]; 3]", "[Tensor;3]")?;
        check("[a::Block![C, H]; L]", "::std::vec::Vec<a::Block>")?;
        check("[[Block![C]; 2]; L]", "::std::vec::Vec<::std::vec::Vec<Block>>")?;
        check("Param![C]", "Param")?;
        check("my_type![x]", "my_type![x]")?;
        check("Tensor![not good]", "Tensor")
    }
}
