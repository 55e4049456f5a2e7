//! Layers by name, so that a record can say which layer a `Box<dyn Layer>` holds.

use crate::model::erased::config_of;
use crate::model::{Builder, Layer, Model};
use crate::raise::raise;
use cotangent_hal::Error;
use serde::{Deserialize, Serialize};
use std::any::TypeId;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// A layer's name and config: the config of a `Box<dyn Layer>`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LayerConfig {
    /// [`Model::NAME`] of the layer.
    pub name: String,
    /// Its config.
    pub config: serde_json::Value,
}

impl LayerConfig {
    /// That of an `L` with this config, which is registered too.
    ///
    /// # Panics
    /// Raises `Error::Argument` where the config cannot be written as JSON.
    pub fn of<L: Layer + Model>(config: &L::Config) -> Self {
        register::<L>();
        config_of::<L>(config)
    }
}

/// Lets records with a `Box<dyn Layer>` name the layer `L`. [`LayerConfig::of`] and [`Builder::boxed`] do it as well;
/// a program that only loads such records calls it before.
pub fn register<L: Layer + Model>() {
    let entry = Entry { id: TypeId::of::<L>(), build: build_one::<L> };
    let mut layers = LAYERS.lock().unwrap_or_else(PoisonError::into_inner);
    let known = layers.entry(L::NAME).or_default();
    if !known.iter().any(|e| e.id == entry.id) {
        known.push(entry);
    }
}

/// Builds the layer that the config names.
///
/// # Panics
/// Raises `Error::Argument` where the name is not registered, belongs to several types, or the config is not that
/// layer's.
pub(crate) fn build(config: &LayerConfig, at: &mut Builder<'_>) -> Box<dyn Layer> {
    let known = LAYERS.lock().unwrap_or_else(PoisonError::into_inner).get(config.name.as_str()).cloned();
    let name = &config.name;
    match known.as_deref() {
        Some([entry]) => (entry.build)(config, at),
        Some([_, ..]) => fault(format!("several layers are named `{name}`, so that a record cannot tell them apart")),
        Some([]) | None => {
            let names: Vec<String> = names().iter().map(|n| format!("`{n}`")).collect();
            fault(format!(
                "no layer is registered as `{name}`; call `register::<{name}>()` before loading (registered: {})",
                if names.is_empty() { "none".into() } else { names.join(", ") }
            ))
        }
    }
}

static LAYERS: Mutex<BTreeMap<&'static str, Vec<Entry>>> = Mutex::new(BTreeMap::new());

#[derive(Clone, Copy)]
struct Entry {
    id: TypeId,
    build: fn(&LayerConfig, &mut Builder<'_>) -> Box<dyn Layer>,
}

fn names() -> Vec<&'static str> {
    LAYERS.lock().unwrap_or_else(PoisonError::into_inner).keys().copied().collect()
}

fn build_one<L: Layer + Model>(config: &LayerConfig, at: &mut Builder<'_>) -> Box<dyn Layer> {
    match serde_json::from_value::<L::Config>(config.config.clone()) {
        Ok(config) => Box::new(L::build(&config, at)),
        Err(e) => fault(format!("the config of `{}` cannot be read: {e}", config.name)),
    }
}

fn fault(message: String) -> ! {
    raise(Error::Argument { op: "Box<dyn Layer>".into(), message })
}
