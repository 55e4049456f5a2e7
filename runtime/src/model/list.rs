//! Lists, options and boxes of models are models.

use crate::model::{
    Builder, DimDefault, DynGrads, FieldDims, Layer, LayerConfig, Leaf, LeafMut, Model, Path, registry,
};

/// The constants of models without dims of their own.
macro_rules! no_dims {
    () => {
        const DIMS: &'static [&'static str] = &[];
        const DEFAULTS: &'static [Option<DimDefault>] = &[];
        const REQUIRED: &'static [&'static str] = &[];
        const FIELDS: &'static [FieldDims] = &[];
    };
}

/// A list of layers; the `i`-th lies at path `i`.
impl<T: Model> Model for Vec<T> {
    type Config = Vec<T::Config>;
    type Grads = Vec<T::Grads>;
    const NAME: &'static str = "Vec";
    no_dims!();

    fn build(config: &Self::Config, at: &mut Builder<'_>) -> Self {
        at.list("", config.len(), |i| config[i].clone())
    }
    fn config(&self) -> Self::Config {
        self.iter().map(T::config).collect()
    }
    fn visit(&self, path: &Path<'_>, f: &mut dyn FnMut(&Path<'_>, Leaf<'_>)) {
        for (i, layer) in self.iter().enumerate() {
            layer.visit(&path.index(i), f);
        }
    }
    fn visit_mut(&mut self, path: &Path<'_>, f: &mut dyn FnMut(&Path<'_>, LeafMut<'_>)) {
        for (i, layer) in self.iter_mut().enumerate() {
            layer.visit_mut(&path.index(i), f);
        }
    }
    fn trainable(&self) -> bool {
        self.iter().any(T::trainable)
    }
}

/// A layer that may be left out; it adds nothing to the path.
impl<T: Model> Model for Option<T> {
    type Config = Option<T::Config>;
    type Grads = T::Grads;
    const NAME: &'static str = T::NAME;
    no_dims!();

    fn build(config: &Self::Config, at: &mut Builder<'_>) -> Self {
        config.as_ref().map(|config| T::build(config, at))
    }
    fn config(&self) -> Self::Config {
        self.as_ref().map(T::config)
    }
    fn visit(&self, path: &Path<'_>, f: &mut dyn FnMut(&Path<'_>, Leaf<'_>)) {
        if let Some(layer) = self {
            layer.visit(path, f);
        }
    }
    fn visit_mut(&mut self, path: &Path<'_>, f: &mut dyn FnMut(&Path<'_>, LeafMut<'_>)) {
        if let Some(layer) = self {
            layer.visit_mut(path, f);
        }
    }
    fn trainable(&self) -> bool {
        self.as_ref().is_some_and(T::trainable)
    }
}

/// A layer of any type, built from its [`LayerConfig`].
impl Model for Box<dyn Layer> {
    type Config = LayerConfig;
    type Grads = DynGrads;
    const NAME: &'static str = "Box<dyn Layer>";
    no_dims!();

    fn build(config: &LayerConfig, at: &mut Builder<'_>) -> Self {
        registry::build(config, at)
    }
    fn config(&self) -> LayerConfig {
        (**self).layer_config()
    }
    fn visit(&self, path: &Path<'_>, f: &mut dyn FnMut(&Path<'_>, Leaf<'_>)) {
        (**self).visit_leaves(path, f);
    }
    fn visit_mut(&mut self, path: &Path<'_>, f: &mut dyn FnMut(&Path<'_>, LeafMut<'_>)) {
        (**self).visit_leaves_mut(path, f);
    }
    fn trainable(&self) -> bool {
        (**self).is_trainable()
    }
}
