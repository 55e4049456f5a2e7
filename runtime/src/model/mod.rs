//! Models: structs of parameters, and what generated code implements for them.
//!
//! A [`Model`] is built by one function for both sources, random initialisation and a record (see [`Builder`]), and is
//! walked by [`Model::visit`]. Everything else, such as saving, freezing, counting and optimising, is code over these
//! two that is compiled once, in this crate: [`Erased`] is the object-safe form that it takes.
//!
//! **Invariant:** `build`, `visit` and `visit_mut` meet the same leaves under the same paths in the same order, and
//! `Grads::visit` meets the paths of parameters alone.

mod builder;
mod erased;
mod ext;
mod freeze;
mod grads;
mod layer;
mod list;
mod param;
mod path;
mod read;
mod reading;
mod registry;
mod state;
mod summary;
mod ties;

pub use crate::shape::{DimDefault, FieldDims};
pub use builder::{Builder, init};
pub use erased::Erased;
pub use ext::{ModelExt, Partial};
pub use grads::{DynGrads, Grads, grads_at};
pub use layer::{BoxPull, Layer};
pub use param::Param;
pub use path::Path;
pub use read::Read;
pub use registry::{LayerConfig, register};
pub use state::State;
pub use summary::{Mark, Row, Summary};

pub(crate) use builder::{MOST_LAYERS, load_from};
pub(crate) use ext::check_name;
pub(crate) use path::{is_glob_of, join, matches};
pub(crate) use ties::Ties;

use serde::Serialize;
use serde::de::DeserializeOwned;

/// A struct of parameters and layers; `#[model]` writes the implementation.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a model field",
    label = "not a model, a parameter or a list of these",
    note = "a field is a layer, `Param![..]`, `State![..]`, a list of layers, or a plain value marked `#[config]`",
    note = "a struct becomes a layer by `#[model]`"
)]
pub trait Model: Clone + Send + Sync + 'static {
    /// Dims and settings that shape the model; `()` where it has neither. Written into records as JSON.
    type Config: Clone + Serialize + DeserializeOwned;
    /// The gradients of its parameters, field by field.
    type Grads: Grads;
    /// The name in records and reports.
    const NAME: &'static str;
    /// The names of its dims, in order.
    const DIMS: &'static [&'static str];
    /// The default of each dim.
    const DEFAULTS: &'static [Option<DimDefault>];
    /// The names of config entries without a default.
    const REQUIRED: &'static [&'static str];
    /// What the dims of each layer field are in terms of [`Model::DIMS`].
    const FIELDS: &'static [FieldDims];

    /// Makes the model of what the builder gives: random numbers, or the tensors of a record.
    fn build(config: &Self::Config, at: &mut Builder<'_>) -> Self;

    /// What it was built with.
    fn config(&self) -> Self::Config;

    /// Shows every parameter, state and tie in the order of the fields.
    fn visit(&self, path: &Path<'_>, f: &mut dyn FnMut(&Path<'_>, Leaf<'_>));

    /// As [`Model::visit`], for changing them.
    fn visit_mut(&mut self, path: &Path<'_>, f: &mut dyn FnMut(&Path<'_>, LeafMut<'_>));

    /// Whether any parameter requires a gradient.
    fn trainable(&self) -> bool;
}

/// What a visit of a model meets.
#[derive(Clone, Copy)]
pub enum Leaf<'a> {
    /// A parameter.
    Param(&'a Param),
    /// A tensor that is saved but has no gradient.
    State(&'a State),
    /// A second name of a parameter. The path is that of the model which declares the tie, with the alias as its one
    /// last segment, so that `path.parent()` is what `target` is relative to. A parameter at the alias, if the
    /// model has one, is visited as well and always holds the target's tensor.
    Tie {
        /// The parameter that the name stands for, relative to the model that declares the tie.
        target: &'a str,
    },
}

/// As [`Leaf`], for changing the values.
pub enum LeafMut<'a> {
    /// A parameter.
    Param(&'a mut Param),
    /// A tensor that is saved but has no gradient.
    State(&'a mut State),
    /// A second name of a parameter; see [`Leaf::Tie`].
    Tie {
        /// The parameter that the name stands for, relative to the model that declares the tie.
        target: &'a str,
    },
}
