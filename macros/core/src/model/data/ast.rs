//! What a `#[model]` struct or enum says.

use crate::dims::{DimExpr, LayerArg};
use proc_macro2::{Ident, TokenStream};
use syn::{Attribute, Expr, Generics, Item, Type, Visibility};

/// A model. Enums are models whose fields are their variants.
pub(super) struct Model {
    /// The user's item without our attributes, its types replaced.
    pub(super) item: Item,
    pub(super) vis: Visibility,
    pub(super) name: Ident,
    pub(super) generics: Generics,
    pub(super) dims: Vec<Dim>,
    /// `check(..)`: what must hold of the dims and the config.
    pub(super) checks: Vec<Expr>,
    pub(super) fields: Vec<Field>,
    /// The last names of the traits that the user derives.
    pub(super) derives: Vec<String>,
    pub(super) is_enum: bool,
}

/// `C`, or `K = 3`, in `dims(..)`.
pub(super) struct Dim {
    pub(super) name: Ident,
    pub(super) default: Option<DimDefault>,
}

/// What a dim is where it is not given.
pub(super) enum DimDefault {
    Number(i64),
    /// The earlier dim of that number and name.
    Like(usize, Ident),
}

/// A field, or a variant of an enum.
pub(super) struct Field {
    pub(super) cfgs: Vec<Attribute>,
    pub(super) docs: Vec<Attribute>,
    pub(super) vis: Visibility,
    pub(super) ident: Ident,
    /// The type with macros replaced; `()` for a variant without a layer.
    pub(super) ty: Type,
    /// The layers in the type, without lists, options and arguments.
    pub(super) leaves: Vec<Type>,
    pub(super) kind: Kind,
    /// `#[frozen]`: its parameters require no gradient.
    pub(super) frozen: bool,
    /// `#[optional]`: what a record lacks is initialised.
    pub(super) optional: bool,
    pub(super) ties: Vec<Tie>,
}

/// What a field is.
#[allow(clippy::large_enum_variant, reason = "a model has few fields, and they live as long as its expansion")]
pub(super) enum Kind {
    /// A layer, or a list of layers.
    Layer {
        source: Source,
        /// `#[config(true)]` on an option: whether it is there by default.
        flag: Option<bool>,
    },
    /// `Param![..]` or `State![..]`.
    Tensor {
        state: bool,
        shape: Vec<DimExpr>,
        /// The initial value, in the words of `init`.
        init: TokenStream,
        flag: Option<bool>,
        /// The length of `[Param![..]; L]`.
        list: Option<DimExpr>,
    },
    /// A plain value.
    Config { default: Option<TokenStream> },
    /// A variant without a layer, or a field that could not be read.
    Unit,
}

/// Where the config of a layer comes from.
pub(super) enum Source {
    /// The arguments in the field's type or in `#[init(..)]`.
    Given(Layer),
    /// `Box<dyn Layer>`, which holds this layer.
    Object(Layer),
    /// `[X; L]`.
    Repeat(Box<Source>, DimExpr),
    /// An entry of the config, since the field's layers may change after `init`; without one, these.
    Stored(Stored),
}

/// What a stored entry is by default.
pub(super) enum Stored {
    /// `Vec<X>`.
    List(Vec<Source>),
    /// `Box<dyn Layer>`.
    One(Box<Source>),
    /// An option without `#[config(..)]`.
    Absent,
    /// A type parameter: the layer's own defaults, if it has nothing but defaults.
    Defaults,
}

/// A layer with its arguments.
pub(super) struct Layer {
    pub(super) ty: Type,
    pub(super) args: Vec<LayerArg>,
    /// `Conv` of `Stage::Conv![C]`.
    pub(super) variant: Option<Ident>,
    /// The user's tokens, where errors point.
    pub(super) written: TokenStream,
}

/// A second name of a parameter.
pub(super) struct Tie {
    /// Relative to the model, such as `head.weight`.
    pub(super) alias: String,
    pub(super) target: String,
}

impl Model {
    /// Whether the struct holds its config, to know its dims.
    pub(super) fn keeps_config(&self) -> bool {
        !self.is_enum && !self.dims.is_empty()
    }
}

impl Field {
    /// The name in records.
    pub(super) fn text(&self) -> String {
        text(&self.ident)
    }

    /// Whether it is a part of the model's parameters rather than a plain value.
    pub(super) fn is_model(&self) -> bool {
        matches!(self.kind, Kind::Layer { .. } | Kind::Tensor { .. })
    }

    /// The layers whose config the field gives, in order.
    pub(super) fn layers(&self) -> Vec<&Layer> {
        match &self.kind {
            Kind::Layer { source, .. } => source.layers(),
            Kind::Tensor { .. } | Kind::Config { .. } | Kind::Unit => vec![],
        }
    }
}

impl Source {
    /// The layers whose arguments it holds, in order.
    pub(super) fn layers(&self) -> Vec<&Layer> {
        match self {
            Source::Given(layer) | Source::Object(layer) => vec![layer],
            Source::Repeat(inner, _) => inner.layers(),
            Source::Stored(Stored::List(items)) => items.iter().flat_map(Source::layers).collect(),
            Source::Stored(Stored::One(inner)) => inner.layers(),
            Source::Stored(Stored::Absent | Stored::Defaults) => vec![],
        }
    }
}

/// A name without `r#`.
pub(super) fn text(ident: &Ident) -> String {
    let text = ident.to_string();
    text.strip_prefix("r#").map(str::to_owned).unwrap_or(text)
}
