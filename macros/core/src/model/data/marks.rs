//! The attributes of a field that are ours.

use super::ast::Layer;
use super::check;
use crate::diags::Diags;
use crate::dims::{LayerArg, LayerType};
use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::parse::{ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::{Attribute, LitBool, Meta, Token, Type};

/// Our attributes of one field, each at most once.
#[derive(Default)]
pub(super) struct Marks(Vec<Attribute>);

/// What `#[init(..)]` says of a layer.
pub(super) enum Init {
    None,
    /// The layers, and the tokens they were read from.
    Layers(Vec<Layer>, TokenStream),
    /// Arguments by name for the layer of the field's own type.
    Arguments(Vec<LayerArg>, TokenStream),
}

impl Marks {
    /// Keeps the first of each.
    pub(super) fn read(attrs: Vec<Attribute>, diags: &mut Diags) -> Marks {
        let mut marks = Marks::default();
        for attr in attrs {
            if attr.path().get_ident().is_some_and(|name| marks.0.iter().any(|a| a.path().is_ident(name))) {
                check::attribute_given_twice(&attr, diags);
            } else {
                if (attr.path().is_ident("frozen") || attr.path().is_ident("optional"))
                    && !matches!(attr.meta, Meta::Path(_))
                {
                    check::no_arguments(&attr, diags);
                }
                marks.0.push(attr);
            }
        }
        marks
    }

    /// Reports every attribute but these.
    pub(super) fn refuse(&self, allowed: &[&str], what: &str, diags: &mut Diags) {
        for attr in &self.0 {
            if !allowed.iter().any(|name| attr.path().is_ident(name)) {
                check::misplaced_attribute(attr, what, diags);
            }
        }
    }

    fn get(&self, name: &str) -> Option<&Attribute> {
        self.0.iter().find(|a| a.path().is_ident(name))
    }

    /// The tokens in the parentheses of an attribute.
    fn arguments(&self, name: &str) -> Option<TokenStream> {
        match &self.get(name)?.meta {
            Meta::List(list) => Some(list.tokens.clone()),
            Meta::NameValue(pair) => Some(pair.value.to_token_stream()),
            Meta::Path(_) => None,
        }
    }

    pub(super) fn frozen(&self) -> bool {
        self.get("frozen").is_some()
    }

    pub(super) fn optional(&self) -> bool {
        self.get("optional").is_some()
    }

    pub(super) fn is_config(&self) -> bool {
        self.get("config").is_some()
    }

    /// The attribute `#[config]` itself.
    pub(super) fn config_tokens(&self) -> TokenStream {
        self.get("config").map(ToTokens::to_token_stream).unwrap_or_default()
    }

    /// The default of a config entry.
    pub(super) fn config_default(&self) -> Option<TokenStream> {
        self.arguments("config")
    }

    /// `#[config(true)]`.
    pub(super) fn flag(&self) -> Option<bool> {
        syn::parse2::<LitBool>(self.arguments("config")?).ok().map(|b| b.value)
    }

    pub(super) fn init(&self) -> Option<TokenStream> {
        self.arguments("init")
    }

    pub(super) fn state(&self) -> Option<TokenStream> {
        self.arguments("state")
    }

    /// `#[init(..)]` as a list of layers.
    pub(super) fn init_list(&self, diags: &mut Diags) -> Init {
        let Some(tokens) = self.arguments("init") else { return Init::None };
        if let Ok(args) = Punctuated::<LayerArg, Token![,]>::parse_terminated.parse2(tokens.clone())
            && args.iter().all(|arg| arg.name.is_some())
            && !args.is_empty()
        {
            return Init::Arguments(args.into_iter().collect(), tokens);
        }
        let result = Punctuated::<Layer, Token![,]>::parse_terminated.parse2(tokens.clone());
        let layers = diags.take(result).unwrap_or_default();
        Init::Layers(layers.into_iter().collect(), tokens)
    }

    /// What `#[tied(..)]` says: alias and target. The alias of a parameter is the field itself.
    pub(super) fn ties(&self, field: &str, is_param: bool, diags: &mut Diags) -> Vec<(String, String)> {
        let Some(attr) = self.get("tied") else { return vec![] };
        let tokens = self.arguments("tied").unwrap_or_default();
        let read = if is_param {
            (|input: ParseStream<'_>| Ok(vec![(field.to_owned(), place(input)?)])).parse2(tokens)
        } else {
            let named = |pairs: Punctuated<(String, String), Token![,]>| {
                pairs.into_iter().map(|(alias, target)| (format!("{field}.{alias}"), target)).collect()
            };
            (|input: ParseStream<'_>| Punctuated::parse_terminated_with(input, alias)).parse2(tokens).map(named)
        };
        match read {
            Ok(ties) if !ties.is_empty() => ties,
            Ok(_) | Err(_) => {
                check::tied_form(attr, is_param, diags);
                vec![]
            }
        }
    }
}

/// `weight = wte.weight`.
fn alias(input: ParseStream<'_>) -> syn::Result<(String, String)> {
    let alias = place(input)?;
    input.parse::<Token![=]>()?;
    Ok((alias, place(input)?))
}

/// A path such as `blocks.0.weight`.
fn place(input: ParseStream<'_>) -> syn::Result<String> {
    let mut path = String::new();
    loop {
        if input.peek(syn::LitFloat) {
            // `0.weight` begins with a number, and `0.1` reads as one.
            path += &input.parse::<syn::LitFloat>()?.to_string();
        } else if input.peek(syn::LitInt) {
            path += &input.parse::<syn::LitInt>()?.to_string();
        } else {
            path += &super::ast::text(&input.call(Ident::parse_any)?);
        }
        if !input.peek(Token![.]) {
            return Ok(path);
        }
        input.parse::<Token![.]>()?;
        path.push('.');
    }
}

impl syn::parse::Parse for Layer {
    /// `Linear![C => C]`, `Relu` or `Stage::Conv![C]`.
    fn parse(input: ParseStream<'_>) -> syn::Result<Layer> {
        let ahead = input.fork();
        let mut layer: LayerType = input.parse()?;
        let is_comma = |t: &TokenTree| matches!(t, TokenTree::Punct(p) if p.as_char() == ',');
        let written: TokenStream = ahead.parse::<TokenStream>()?.into_iter().take_while(|t| !is_comma(t)).collect();
        let mut variant = None;
        let length = layer.path.segments.len();
        let parent_is_type = |path: &syn::Path| {
            let parent = path.segments.iter().nth_back(1);
            parent.is_some_and(|s| s.ident.to_string().starts_with(char::is_uppercase))
        };
        if length > 1 && parent_is_type(&layer.path) {
            variant = layer.path.segments.pop().map(|segment| segment.ident);
            layer.path.segments.pop_punct();
        }
        let path = syn::TypePath { attrs: vec![], qself: None, path: layer.path };
        Ok(Layer { ty: Type::Path(path), args: layer.args, variant, written })
    }
}
