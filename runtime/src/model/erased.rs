//! The object-safe form of a model, for code that is compiled once.

use crate::model::{LayerConfig, Leaf, LeafMut, Model, Path};
use crate::raise::raise;
use cotangent_hal::Error;

/// What saving, freezing, counting and optimising need of a model. Every [`Model`] has it.
pub trait Erased: Send + Sync {
    /// [`Model::visit`].
    fn visit_leaves(&self, path: &Path<'_>, f: &mut dyn FnMut(&Path<'_>, Leaf<'_>));
    /// [`Model::visit_mut`].
    fn visit_leaves_mut(&mut self, path: &Path<'_>, f: &mut dyn FnMut(&Path<'_>, LeafMut<'_>));
    /// [`Model::NAME`] and [`Model::config`] as JSON.
    ///
    /// # Panics
    /// Raises `Error::Argument` where the config cannot be written as JSON.
    fn layer_config(&self) -> LayerConfig;
    /// [`Model::trainable`].
    fn is_trainable(&self) -> bool;
}

impl<M: Model> Erased for M {
    fn visit_leaves(&self, path: &Path<'_>, f: &mut dyn FnMut(&Path<'_>, Leaf<'_>)) {
        self.visit(path, f);
    }
    fn visit_leaves_mut(&mut self, path: &Path<'_>, f: &mut dyn FnMut(&Path<'_>, LeafMut<'_>)) {
        self.visit_mut(path, f);
    }
    fn layer_config(&self) -> LayerConfig {
        config_of::<M>(&self.config())
    }
    fn is_trainable(&self) -> bool {
        self.trainable()
    }
}

/// Name and config of a model as data.
pub(crate) fn config_of<M: Model>(config: &M::Config) -> LayerConfig {
    match serde_json::to_value(config) {
        Ok(config) => LayerConfig { name: M::NAME.into(), config },
        Err(e) => raise(Error::Argument {
            op: format!("config of `{}`", M::NAME),
            message: format!("it cannot be written as JSON: {e}"),
        }),
    }
}
