//! The fixed parts of the expansion of `#[model]` on a struct or an enum, as `macro_rules!` whose slots the macro fills.

/// What a model struct implements: `model! { [generics] [Mlp] [MlpGrads] [bounds] { layers } { other fields }
/// { items of the impl } }`.
#[doc(hidden)]
#[macro_export]
macro_rules! __model {
    (
        [$($generics:tt)*] [$($model:tt)*] [$($grads:tt)*] [$($bounds:tt)*]
        { $([$($cfg:tt)*] $field:ident $name:literal { $($alias:literal => $target:literal)* })* }
        { $([$($plain_cfg:tt)*] $plain:ident)* }
        { $($items:tt)* }
    ) => {
        impl<$($generics)*> ::core::default::Default for $($grads)* where $($bounds)* {
            fn default() -> Self {
                Self {
                    $($($cfg)* $field: ::core::default::Default::default(),)*
                    $($($plain_cfg)* $plain: (),)*
                }
            }
        }

        impl<$($generics)*> $crate::__private::Grads for $($grads)* where $($bounds)* {
            #[allow(unused_variables)]
            fn visit(
                &mut self,
                path: &$crate::__private::Path<'_>,
                f: &mut dyn FnMut(&$crate::__private::Path<'_>, &mut ::core::option::Option<$crate::__private::Tensor>),
            ) {
                $($($cfg)* $crate::__private::Grads::visit(&mut self.$field, &path.child($name), f);)*
            }
            #[allow(unused_variables)]
            fn add(&mut self, other: Self) {
                $($($cfg)* $crate::__private::Grads::add(&mut self.$field, other.$field);)*
            }
        }

        impl<$($generics)*> $crate::__private::Model for $($model)* where $($bounds)* {
            $($items)*

            #[allow(unused_variables)]
            fn visit(
                &self,
                path: &$crate::__private::Path<'_>,
                f: &mut dyn FnMut(&$crate::__private::Path<'_>, $crate::__private::Leaf<'_>),
            ) {
                $($($cfg)* {
                    $(f(&path.child($alias), $crate::__private::Leaf::Tie { target: $target });)*
                    $crate::__private::Model::visit(&self.$field, &path.child($name), f);
                })*
            }
            #[allow(unused_variables)]
            fn visit_mut(
                &mut self,
                path: &$crate::__private::Path<'_>,
                f: &mut dyn FnMut(&$crate::__private::Path<'_>, $crate::__private::LeafMut<'_>),
            ) {
                $($($cfg)* {
                    $(f(&path.child($alias), $crate::__private::LeafMut::Tie { target: $target });)*
                    $crate::__private::Model::visit_mut(&mut self.$field, &path.child($name), f);
                })*
            }
            fn trainable(&self) -> bool {
                $($($cfg)* if $crate::__private::Model::trainable(&self.$field) { return true; })*
                false
            }
        }
    };
}

/// What a model would derive: `Clone` of a struct by its fields, of an enum by its variants, and texts.
#[doc(hidden)]
#[macro_export]
macro_rules! __model_derive {
    (
        Clone [$($generics:tt)*] [$($model:tt)*] [$($bounds:tt)*] struct { $([$($cfg:tt)*] $field:ident)* }
    ) => {
        impl<$($generics)*> ::core::clone::Clone for $($model)* where $($bounds)* {
            fn clone(&self) -> Self {
                Self { $($($cfg)* $field: ::core::clone::Clone::clone(&self.$field),)* }
            }
        }
    };
    (
        Clone [$($generics:tt)*] [$($model:tt)*] [$($bounds:tt)*]
        enum { $([$($cfg:tt)*] $variant:ident $($layer:ident)?;)* }
    ) => {
        impl<$($generics)*> ::core::clone::Clone for $($model)* where $($bounds)* {
            fn clone(&self) -> Self {
                match self {
                    $($($cfg)* Self::$variant $(($layer))? => Self::$variant $((::core::clone::Clone::clone($layer)))?,)*
                }
            }
        }
    };
    ($text:ident [$($generics:tt)*] [$($model:tt)*] [$($bounds:tt)*]) => {
        impl<$($generics)*> ::core::fmt::$text for $($model)* where $($bounds)* {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                ::core::fmt::Display::fmt(&$crate::__private::Summary::of(self), f)
            }
        }
    };
}

/// What a model enum implements: as [`__model`], with the config's enum, the variants that hold a layer, those that
/// hold none, and an expression for the config of the variant `__name` of dims `__dims`.
#[doc(hidden)]
#[macro_export]
macro_rules! __model_enum {
    (
        [$($generics:tt)*] [$($model:tt)*] [$($grads:tt)*] [$($config:tt)*] [$settings:ident] [$($bounds:tt)*]
        { $([$($cfg:tt)*] $layer:ident $name:literal)* }
        { $([$($unit_cfg:tt)*] $unit:ident $unit_name:literal)* }
        { $($items:tt)* }
        { [$variant:ident $dims:ident] $($make:tt)* }
    ) => {
        impl<$($generics)*> ::core::default::Default for $($grads)* where $($bounds)* {
            fn default() -> Self {
                Self {
                    $($($cfg)* $layer: ::core::default::Default::default(),)*
                    $($($unit_cfg)* $unit: (),)*
                }
            }
        }

        impl<$($generics)*> $crate::__private::Grads for $($grads)* where $($bounds)* {
            #[allow(unused_variables)]
            fn visit(
                &mut self,
                path: &$crate::__private::Path<'_>,
                f: &mut dyn FnMut(&$crate::__private::Path<'_>, &mut ::core::option::Option<$crate::__private::Tensor>),
            ) {
                $($($cfg)* $crate::__private::Grads::visit(&mut self.$layer, &path.child($name), f);)*
            }
            #[allow(unused_variables)]
            fn add(&mut self, other: Self) {
                $($($cfg)* $crate::__private::Grads::add(&mut self.$layer, other.$layer);)*
            }
        }

        impl<$($generics)*> $crate::__private::Model for $($model)* where $($bounds)* {
            $($items)*

            fn config(&self) -> Self::Config {
                match self {
                    $($($cfg)* Self::$layer(layer) => $settings::$layer($crate::__private::Model::config(layer)),)*
                    $($($unit_cfg)* Self::$unit => $settings::$unit,)*
                }
            }
            #[allow(unused_variables)]
            fn visit(
                &self,
                path: &$crate::__private::Path<'_>,
                f: &mut dyn FnMut(&$crate::__private::Path<'_>, $crate::__private::Leaf<'_>),
            ) {
                match self {
                    $($($cfg)* Self::$layer(layer) => $crate::__private::Model::visit(layer, &path.child($name), f),)*
                    $($($unit_cfg)* Self::$unit => {})*
                }
            }
            #[allow(unused_variables)]
            fn visit_mut(
                &mut self,
                path: &$crate::__private::Path<'_>,
                f: &mut dyn FnMut(&$crate::__private::Path<'_>, $crate::__private::LeafMut<'_>),
            ) {
                match self {
                    $($($cfg)* Self::$layer(layer) => $crate::__private::Model::visit_mut(layer, &path.child($name), f),)*
                    $($($unit_cfg)* Self::$unit => {})*
                }
            }
            fn trainable(&self) -> bool {
                match self {
                    $($($cfg)* Self::$layer(layer) => $crate::__private::Model::trainable(layer),)*
                    $($($unit_cfg)* Self::$unit => false,)*
                }
            }
        }

        impl<$($generics)*> $crate::__private::Variants for $($model)* where $($bounds)* {
            #[allow(non_snake_case, unused_variables)]
            fn variant($variant: &str, $dims: &[::core::option::Option<usize>]) -> Self::Config {
                $($make)*
            }
        }

        /// A placeholder: a proof at compile time asks for a variant.
        impl<$($generics)*> $crate::__private::FromDims for $($config)* where $($bounds)* {
            fn from_dims(_: &[usize]) -> Self {
                $crate::__private::unbuilt()
            }
        }

        impl<$($generics)*> $crate::__private::serde::Serialize for $($config)* where $($bounds)* {
            fn serialize<S: $crate::__private::serde::Serializer>(
                &self,
                serializer: S,
            ) -> ::core::result::Result<S::Ok, S::Error> {
                let mut entries = $crate::__private::Entries::default();
                match self {
                    $($($cfg)* Self::$layer(config) => entries.put($name, config),)*
                    $($($unit_cfg)* Self::$unit => entries.put($unit_name, &()),)*
                }
                entries.write(serializer)
            }
        }

        impl<'de, $($generics)*> $crate::__private::serde::Deserialize<'de> for $($config)* where $($bounds)* {
            fn deserialize<D: $crate::__private::serde::Deserializer<'de>>(
                deserializer: D,
            ) -> ::core::result::Result<Self, D::Error> {
                let mut entries = $crate::__private::Entries::read(deserializer)?;
                let name = entries.only()?;
                ::core::result::Result::Ok(match &name[..] {
                    $($($cfg)* $name => Self::$layer(entries.take(&name, ::core::option::Option::None)?),)*
                    $($($unit_cfg)* $unit_name => Self::$unit,)*
                    _ => return ::core::result::Result::Err($crate::__private::no_variant(&name, &[$($name,)* $($unit_name),*])),
                })
            }
        }
    };
}

/// How the config of a model struct goes into records: name, text and default of each entry.
#[doc(hidden)]
#[macro_export]
macro_rules! __config {
    (
        [$($generics:tt)*] [$($config:tt)*] $text:literal [$($bounds:tt)*]
        { $([$($cfg:tt)*] $name:ident $entry:literal $default:expr;)* }
    ) => {
        impl<$($generics)*> $crate::__private::serde::Serialize for $($config)* where $($bounds)* {
            fn serialize<S: $crate::__private::serde::Serializer>(
                &self,
                serializer: S,
            ) -> ::core::result::Result<S::Ok, S::Error> {
                let mut entries = $crate::__private::Entries::default();
                $($($cfg)* entries.put($entry, &self.$name);)*
                entries.write(serializer)
            }
        }

        impl<'de, $($generics)*> $crate::__private::serde::Deserialize<'de> for $($config)* where $($bounds)* {
            fn deserialize<D: $crate::__private::serde::Deserializer<'de>>(
                deserializer: D,
            ) -> ::core::result::Result<Self, D::Error> {
                let mut entries = $crate::__private::Entries::read(deserializer)?;
                let config = Self { $($($cfg)* $name: entries.take($entry, $default)?,)* };
                entries.end($text)?;
                ::core::result::Result::Ok(config)
            }
        }
    };
}

/// Stands in for all that a model with mistakes implements.
#[doc(hidden)]
#[macro_export]
macro_rules! __model_stub {
    ($model:ident $grads:ident [$config:ty] [$($derive:ident)*] { $($items:tt)* }) => {
        $($crate::__model_stub! { $derive $model })*
        impl ::core::default::Default for $grads {
            fn default() -> Self { $crate::__private::unbuilt() }
        }
        impl $crate::__private::Grads for $grads {
            fn visit(
                &mut self,
                _: &$crate::__private::Path<'_>,
                _: &mut dyn FnMut(&$crate::__private::Path<'_>, &mut ::core::option::Option<$crate::__private::Tensor>),
            ) {}
            fn add(&mut self, _: Self) {}
        }
        impl $crate::__private::Model for $model {
            type Config = $config;
            type Grads = $grads;
            const NAME: &'static str = "";
            $($items)*
            fn build(_: &Self::Config, _: &mut $crate::__private::Builder<'_>) -> Self { $crate::__private::unbuilt() }
            fn config(&self) -> Self::Config { $crate::__private::unbuilt() }
            fn visit(
                &self,
                _: &$crate::__private::Path<'_>,
                _: &mut dyn FnMut(&$crate::__private::Path<'_>, $crate::__private::Leaf<'_>),
            ) {}
            fn visit_mut(
                &mut self,
                _: &$crate::__private::Path<'_>,
                _: &mut dyn FnMut(&$crate::__private::Path<'_>, $crate::__private::LeafMut<'_>),
            ) {}
            fn trainable(&self) -> bool { false }
        }
    };
    (Clone $model:ident) => {
        impl ::core::clone::Clone for $model {
            fn clone(&self) -> Self { $crate::__private::unbuilt() }
        }
    };
    ($text:ident $model:ident) => {
        impl ::core::fmt::$text for $model {
            fn fmt(&self, _: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result { $crate::__private::unbuilt() }
        }
    };
}

/// Stands in for all that the config of a model with mistakes implements.
#[doc(hidden)]
#[macro_export]
macro_rules! __config_stub {
    ($config:ident) => {
        impl $crate::__private::FromDims for $config {
            fn from_dims(_: &[usize]) -> Self {
                $crate::__private::unbuilt()
            }
        }
        impl $crate::__private::serde::Serialize for $config {
            fn serialize<S: $crate::__private::serde::Serializer>(
                &self,
                _: S,
            ) -> ::core::result::Result<S::Ok, S::Error> {
                $crate::__private::unbuilt()
            }
        }
        impl<'de> $crate::__private::serde::Deserialize<'de> for $config {
            fn deserialize<D: $crate::__private::serde::Deserializer<'de>>(
                _: D,
            ) -> ::core::result::Result<Self, D::Error> {
                $crate::__private::unbuilt()
            }
        }
    };
}
