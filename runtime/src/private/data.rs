//! What the expansion of `#[model]` on a struct or an enum calls.

use crate::Error;
use crate::model::{Builder, DimDefault, MOST_LAYERS, Model, Param, State};
use crate::raise::raise;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fmt;

/// The gradients of a field; the form of the path lets an error about `T` point at `T`.
pub type GradsOf<T> = <T as Model>::Grads;

/// A model that stands in a field. As a bound with a lifetime of its own it is taken for granted inside of an impl even
/// where it does not hold, so that a field that is no layer is reported once and not by each impl.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a layer of a model",
    note = "its config has to implement `FromDims`, as every config that `#[model]` writes does"
)]
pub trait Layered<'a>: Model<Config: FromDims> {}

impl<T: Model<Config: FromDims>> Layered<'_> for T {}

/// A config that can be made of dims alone; entries without a default are filled with a value that a proof at compile
/// time shows to be replaced.
pub trait FromDims {
    /// The config with these dims, by place, and defaults for all else.
    fn from_dims(dims: &[usize]) -> Self;
}

impl FromDims for () {
    fn from_dims(_: &[usize]) {}
}

/// The config of a layer with these dims.
pub fn settings<M: Model<Config: FromDims>>(dims: &[usize]) -> M::Config {
    M::Config::from_dims(dims)
}

/// Writes the dims that are given by place.
pub fn put_dims<const N: usize>(places: [&mut usize; N], dims: &[usize]) {
    for (place, dim) in places.into_iter().zip(dims) {
        *place = *dim;
    }
}

/// What the config says, or else what the model declares.
pub fn stored<C: Clone>(entry: &Option<C>, declared: C) -> C {
    entry.clone().unwrap_or(declared)
}

/// `n` configs for a list.
pub fn repeat<C: Clone>(config: C, n: usize) -> Vec<C> {
    if n > MOST_LAYERS {
        let message = format!("a list of {n} layers; at most {MOST_LAYERS} can be made");
        raise(Error::Argument { op: "config".into(), message });
    }
    vec![config; n]
}

/// The config of a generic layer: as given, or its own defaults.
pub fn defaults<M: Model>(entry: &Option<M::Config>, name: &str) -> M::Config {
    if let Some(config) = entry {
        return config.clone();
    }
    let empty = [serde_json::Value::Null, serde_json::Value::Object(serde_json::Map::new())];
    match empty.into_iter().find_map(|value| serde_json::from_value(value).ok()) {
        Some(config) => config,
        None => raise(Error::Argument {
            op: "config".into(),
            message: format!("`{name}` is a `{}`, which has no defaults; give its config", M::NAME),
        }),
    }
}

/// Whether a layer can be made without a word on its config.
pub const fn has_defaults<M: Model>() -> bool {
    let mut k = 0;
    while k < M::DEFAULTS.len() {
        if M::DEFAULTS[k].is_none() {
            return false;
        }
        k += 1;
    }
    M::REQUIRED.is_empty()
}

/// The parameters of `[Param![..]; n]`.
pub fn params(
    at: &mut Builder<'_>,
    name: &str,
    n: usize,
    shape: &[usize],
    mut init: impl FnMut() -> crate::init::Init,
) -> Vec<Param> {
    repeat((), n).iter().enumerate().map(|(i, ())| at.param(&format!("{name}.{i}"), shape, init())).collect()
}

/// The states of `[State![..]; n]`.
pub fn states(
    at: &mut Builder<'_>,
    name: &str,
    n: usize,
    shape: &[usize],
    mut init: impl FnMut() -> crate::init::Init,
) -> Vec<State> {
    repeat((), n).iter().enumerate().map(|(i, ())| at.state(&format!("{name}.{i}"), shape, init())).collect()
}

/// Reports a config that `check(..)` refuses.
#[cold]
pub fn failed_check(check: &str, model: &str, values: fmt::Arguments<'_>) -> ! {
    let values = values.to_string();
    let with = if values.is_empty() { String::new() } else { format!(" with {values}") };
    raise(Error::Argument { op: model.into(), message: format!("`check({check})` of `{model}` fails{with}") })
}

/// Stands in for what a model with mistakes would do; such a program does not compile.
#[cold]
pub fn unbuilt<T>() -> T {
    raise(Error::Argument { op: "model".into(), message: "the model has mistakes".into() })
}

/// A model enum, whose variants have configs of their own.
pub trait Variants: Model {
    /// The config of the variant `name` of an enum with these dims.
    fn variant(name: &str, dims: &[Option<usize>]) -> Self::Config;
}

/// The config of `Stage::Conv![C, K = 3]`.
pub fn variant<M: Variants>(name: &str, places: &[usize], named: &[(&str, usize)]) -> M::Config {
    let dim = |(at, dim): (usize, &&str)| {
        let default = match M::DEFAULTS.get(at) {
            Some(Some(DimDefault::Number(n))) => usize::try_from(*n).ok(),
            Some(Some(DimDefault::Like(_)) | None) | None => None,
        };
        let by_name = named.iter().find(|(name, _)| name == dim).map(|(_, value)| *value);
        places.get(at).copied().or(by_name).or(default)
    };
    let dims: Vec<Option<usize>> = M::DIMS.iter().enumerate().map(dim).collect();
    M::variant(name, &dims)
}

/// The dim that a variant uses.
pub fn variant_dim(dims: &[Option<usize>], at: usize, model: &str, name: &str) -> usize {
    match dims.get(at).copied().flatten() {
        Some(dim) => dim,
        None => raise(Error::Argument {
            op: model.into(),
            message: format!(
                "this variant uses the dim `{name}`, which is not given; write `{model}::..![.., {name} = ..]`"
            ),
        }),
    }
}

/// Reports a variant that the enum does not have.
#[cold]
pub fn unknown_variant(model: &str, name: &str, variants: &[&str]) -> ! {
    let message = format!("no variant `{name}`; there are {}", variants.join(", "));
    raise(Error::Argument { op: model.into(), message })
}

/// Reports a record that names a variant which the enum does not have.
pub fn no_variant<E: serde::de::Error>(name: &str, variants: &[&str]) -> E {
    E::custom(format_args!("no variant `{name}`; there are {}", variants.join(", ")))
}

/// Arithmetic on extents: what has no value raises.
pub mod extent {
    use super::{Error, raise};

    /// `a + b`.
    #[track_caller]
    pub fn add(a: usize, b: usize) -> usize {
        a.checked_add(b).unwrap_or_else(|| none(a, "+", b))
    }

    /// `a - b`.
    #[track_caller]
    pub fn sub(a: usize, b: usize) -> usize {
        a.checked_sub(b).unwrap_or_else(|| none(a, "-", b))
    }

    /// `a * b`.
    #[track_caller]
    pub fn mul(a: usize, b: usize) -> usize {
        a.checked_mul(b).unwrap_or_else(|| none(a, "*", b))
    }

    /// `a / b` without a remainder.
    #[track_caller]
    pub fn div(a: usize, b: usize) -> usize {
        if rem(a, b) == 0 { a / b } else { none(a, "/", b) }
    }

    /// `a / b`, rounded down.
    #[track_caller]
    pub fn floor(a: usize, b: usize) -> usize {
        a.checked_div(b).unwrap_or_else(|| none(a, "/", b))
    }

    /// `a`, or `b` where that is 0.
    pub fn or(a: usize, b: usize) -> usize {
        if a == 0 { b } else { a }
    }

    /// `a % b`.
    #[track_caller]
    pub fn rem(a: usize, b: usize) -> usize {
        a.checked_rem(b).unwrap_or_else(|| none(a, "%", b))
    }

    #[cold]
    #[track_caller]
    fn none(a: usize, operator: &str, b: usize) -> usize {
        raise(Error::Argument { op: "dim".into(), message: format!("`{a} {operator} {b}` is no extent") })
    }
}

/// The entries of a config on their way from or to a record.
#[derive(Default)]
pub struct Entries {
    map: serde_json::Map<String, serde_json::Value>,
    error: Option<serde_json::Error>,
}

impl Entries {
    /// Reads them all.
    ///
    /// # Errors
    /// That of the deserializer.
    pub fn read<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let map = serde::Deserialize::deserialize(deserializer)?;
        Ok(Entries { map, error: None })
    }

    /// Takes the entry `name`.
    ///
    /// # Errors
    /// Where it is missing and has no default, or is of another type.
    pub fn take<T: DeserializeOwned, E: serde::de::Error>(&mut self, name: &str, default: Option<T>) -> Result<T, E> {
        match (self.map.remove(name), default) {
            (Some(value), _) => serde_json::from_value(value).map_err(|e| E::custom(format_args!("`{name}`: {e}"))),
            (None, Some(default)) => Ok(default),
            (None, None) => Err(E::custom(format_args!("`{name}` is missing"))),
        }
    }

    /// The name of the only entry.
    ///
    /// # Errors
    /// Where there is none, or several.
    pub fn only<E: serde::de::Error>(&self) -> Result<String, E> {
        match (self.map.keys().next(), self.map.len()) {
            (Some(name), 1) => Ok(name.clone()),
            (_, n) => Err(E::custom(format_args!("one variant is needed, {n} are given"))),
        }
    }

    /// Ends the reading.
    ///
    /// # Errors
    /// Where an entry is left over.
    pub fn end<E: serde::de::Error>(self, config: &str) -> Result<(), E> {
        match self.map.keys().next() {
            None => Ok(()),
            Some(name) => Err(E::custom(format_args!("`{config}` has no entry `{name}`"))),
        }
    }

    /// Adds an entry.
    pub fn put<T: Serialize>(&mut self, name: &str, value: &T) {
        match serde_json::to_value(value) {
            Ok(value) => {
                self.map.insert(name.to_owned(), value);
            }
            Err(error) => self.error = Some(error),
        }
    }

    /// Writes them all.
    ///
    /// # Errors
    /// Where an entry has no form in JSON, and that of the serializer.
    pub fn write<S: serde::Serializer>(self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.error {
            Some(error) => Err(serde::ser::Error::custom(error)),
            None => self.map.serialize(serializer),
        }
    }
}
