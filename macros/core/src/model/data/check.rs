//! The rules of a `#[model]` struct or enum. Each function reports one rule, and its name is the rule's id.

use super::ast::{Kind, Layer, Model, Source, text};
use crate::diags::Diags;
use crate::dims::{ArgValue, DimExpr};
use proc_macro2::Ident;
use quote::ToTokens;
use syn::{Attribute, Type};

/// Reports what a whole tree shows to be wrong.
pub(super) fn model(model: &Model, diags: &mut Diags) {
    dims(model, diags);
    lifetime(model, diags);
    for field in &model.fields {
        field_named_like_a_dim(model, &field.ident, diags);
        reserved_field(&field.ident, diags);
        match &field.kind {
            Kind::Layer { source, .. } => self::source(model, source, diags),
            Kind::Tensor { shape, list, .. } => {
                shape.iter().chain(list).for_each(|dim| undeclared_dim(model, dim, diags));
            }
            Kind::Config { .. } | Kind::Unit => {}
        }
        for tie in &field.ties {
            tied_to_nothing(model, &field.ident, &tie.target, diags);
        }
    }
}

/// Reports what is wrong about the layers of a field.
fn source(model: &Model, source: &Source, diags: &mut Diags) {
    if let Source::Repeat(inner, length) = source {
        undeclared_dim(model, length, diags);
        return self::source(model, inner, diags);
    }
    source.layers().into_iter().for_each(|layer| layer_arguments(model, layer, diags));
}

/// Reports what is wrong about the arguments of a layer.
fn layer_arguments(model: &Model, layer: &Layer, diags: &mut Diags) {
    let mut names: Vec<&Ident> = vec![];
    for arg in &layer.args {
        match (&arg.name, &arg.value) {
            (None, ArgValue::Dim(dim)) => {
                if let Some(name) = names.last() {
                    positional_after_named(name, diags);
                }
                undeclared_dim(model, dim, diags);
            }
            (Some(name), value) => {
                if names.contains(&name) {
                    argument_given_twice(name, diags);
                }
                match value {
                    ArgValue::Dim(dim) => undeclared_dim(model, dim, diags),
                    ArgValue::Expr(value) if is_dim_name(name) => dim_by_expression(name, value, diags),
                    ArgValue::Expr(_) => {}
                }
                names.push(name);
            }
            // The parser reads dims alone where there is no name.
            (None, ArgValue::Expr(_)) => {}
        }
    }
}

/// Whether a name is that of a dim rather than of a config entry.
pub(super) fn is_dim_name(name: &Ident) -> bool {
    text(name).starts_with(char::is_uppercase)
}

/// Reports what is wrong about `dims(..)`.
fn dims(model: &Model, diags: &mut Diags) {
    for (at, dim) in model.dims.iter().enumerate() {
        if dim.default.is_none() {
            dim_in_lower_case(&dim.name, diags);
        }
        if model.dims[..at].iter().any(|d| d.name == dim.name) {
            dim_declared_twice(&dim.name, diags);
        }
    }
    if let Some(dim) = model.dims.get(MAX_DIMS) {
        too_many_dims(&dim.name, diags);
    }
}

/// The shape engine has room for sixteen names in a method, of which the model's dims come first.
const MAX_DIMS: usize = 8;

fn dim_in_lower_case(name: &Ident, diags: &mut Diags) {
    if !is_dim_name(name) {
        let upper = text(name).to_uppercase();
        diags.error(name, format!("a dim without a default starts with an upper-case letter; write `{upper}`"));
    }
}

fn dim_declared_twice(name: &Ident, diags: &mut Diags) {
    diags.error(name, format!("dim `{name}` is declared twice"));
}

fn too_many_dims(at: &Ident, diags: &mut Diags) {
    diags.error(at, format!("a model can have {MAX_DIMS} dims; compute some from others, as in `Linear![C => 4*C]`"));
}

fn undeclared_dim(model: &Model, dim: &DimExpr, diags: &mut Diags) {
    for name in dim.names() {
        if !model.dims.iter().any(|d| d.name == *name) {
            let owner = &model.name;
            diags.error(name, format!("`{name}` is no dim of `{owner}`\nhelp: declare it as `#[model(dims({name}))]`, or write `{{{name}}}` if it is a constant"));
        }
    }
}

fn field_named_like_a_dim(model: &Model, name: &Ident, diags: &mut Diags) {
    if !model.is_enum && model.dims.iter().any(|d| d.name == *name) {
        diags.error(
            name,
            format!("field `{name}` has the name of a dim, which every method can read as `{name}` already; rename it"),
        );
    }
}

fn reserved_field(name: &Ident, diags: &mut Diags) {
    if name.to_string().starts_with("__") {
        diags.error(name, format!("names that start with `__` are reserved in a model; rename `{name}`"));
    }
}

fn lifetime(model: &Model, diags: &mut Diags) {
    if let Some(lifetime) = model.generics.lifetimes().next() {
        diags.error(&lifetime.lifetime, "a model owns its data and cannot have a lifetime");
    }
}

fn positional_after_named(at: &Ident, diags: &mut Diags) {
    diags.error(at, format!("dims by place come before those by name; move `{at} = ..` to the end"));
}

fn argument_given_twice(name: &Ident, diags: &mut Diags) {
    diags.error(name, format!("`{name}` is given twice"));
}

fn dim_by_expression(name: &Ident, value: &impl ToTokens, diags: &mut Diags) {
    diags.error(
        value,
        format!(
            "`{name}` is a dim, since it starts with an upper-case letter, and this is none: use a literal, a name, \
             `{{EXPR}}` for a constant, or `+ - * /` of these"
        ),
    );
}

fn tied_to_nothing(model: &Model, field: &Ident, target: &str, diags: &mut Diags) {
    let first = target.split('.').next().unwrap_or_default();
    if !model.fields.iter().any(|f| f.text() == first && f.is_model()) {
        let owner = &model.name;
        diags.error(
            field,
            format!("`{field}` is tied to `{target}`, but `{owner}` has no layer or parameter `{first}`"),
        );
    } else if text(field) == first {
        diags.error(field, format!("`{field}` cannot be tied to itself"));
    }
}

/// `#[model(unknown)]`.
pub(super) fn unknown_option(name: &Ident, diags: &mut Diags) {
    let given = name.to_string();
    let near = ["dims", "check"].into_iter().find(|k| strsim::jaro_winkler(k, &given) > 0.7);
    let hint = near.map_or("supported: `dims(..)` and `check(..)`".to_owned(), |k| format!("did you mean `{k}`?"));
    diags.error(name, format!("unknown option `{given}` for `#[model]`; {hint}"));
}

/// A tuple struct.
pub(super) fn unnamed_fields(at: &impl ToTokens, diags: &mut Diags) {
    diags.error(at, "the fields of a model need names, since records name its parameters by them");
}

/// A variant of a model enum that holds anything but one layer.
pub(super) fn variant_form(at: &impl ToTokens, diags: &mut Diags) {
    diags.error(at, "a variant of a model enum holds one layer, as in `Conv(Conv2d![1 => 32])`, or nothing");
}

/// A variant that holds a tensor or a plain value.
pub(super) fn variant_without_layer(at: &Type, diags: &mut Diags) {
    diags.error(at, "a variant of a model enum holds a layer; put parameters and config into a `#[model] struct`");
}

/// Two attributes that say the same thing.
pub(super) fn attribute_given_twice(at: &Attribute, diags: &mut Diags) {
    let name = at.path().to_token_stream();
    diags.error(at, format!("`#[{name}]` is given twice"));
}

/// An attribute that has no meaning for this kind of field.
pub(super) fn misplaced_attribute(at: &Attribute, what: &str, diags: &mut Diags) {
    let name = at.path().to_token_stream();
    diags.error(at, format!("`#[{name}]` has no meaning for {what}"));
}

/// A parameter without a first value.
pub(super) fn param_without_init(at: &impl ToTokens, diags: &mut Diags) {
    diags.error(at, "a parameter needs a first value\nhelp: write `#[init(zeros)]`, `#[init(ones)]` or another `init`");
}

/// A state without a first value.
pub(super) fn state_without_init(at: &impl ToTokens, diags: &mut Diags) {
    diags.error(at, "a state needs a first value\nhelp: write `#[state(zeros)]` or another `init`");
}

/// `Box<dyn Layer>` that nothing fills.
pub(super) fn object_without_init(at: &impl ToTokens, diags: &mut Diags) {
    diags.error(at, "this box needs a layer\nhelp: write `#[init(Relu)]`, or `#[init(Linear![C => C])]`");
}

/// `Param`, `State` or `Tensor` where a shape is needed.
pub(super) fn tensor_field(at: &impl ToTokens, diags: &mut Diags) {
    diags.error(at, "a model holds tensors as `Param![..]`, which are trained, or `State![..]`, which are only saved; give one of these with a shape");
}

/// `Param![Int; ..]` or `Param![.., C]`.
pub(super) fn param_shape(at: &impl ToTokens, diags: &mut Diags) {
    diags.error(at, "a parameter or state is a float tensor whose dims are all listed, as in `Param![O, I]`");
}

/// `Option<Param![..]>` without a word on when it is there.
pub(super) fn option_without_config(at: &impl ToTokens, diags: &mut Diags) {
    diags.error(at, "what is optional and has a first value says whether it is there by default\nhelp: write `#[config(true)]` or `#[config(false)]`; the config then has a flag of the field's name");
}

/// `#[config(..)]` on an option or a layer with something other than a truth value.
pub(super) fn config_flag(at: &impl ToTokens, diags: &mut Diags) {
    diags.error(at, "`#[config]` on an optional layer or parameter takes `true` or `false`, its default");
}

/// The length of a list that is no dim.
pub(super) fn list_length(at: &impl ToTokens, diags: &mut Diags) {
    diags.error(at, "the length of a list is a dim: a literal, a name, `{EXPR}` for a constant, or `+ - * /` of these");
}

/// `[L; N]` where `L` is a type parameter.
pub(super) fn generic_list(at: &impl ToTokens, diags: &mut Diags) {
    diags.error(at, "a list of a generic layer has no length of its own; use `Vec<..>`, whose layers the config lists");
}

/// `#[tied]` that does not say to what.
pub(super) fn tied_form(at: &impl ToTokens, on_param: bool, diags: &mut Diags) {
    let form = if on_param { "#[tied(wte.weight)]" } else { "#[tied(weight = wte.weight)]" };
    diags.error(at, format!("write `{form}`: the path of the parameter that this name stands for"));
}

/// `#[init(A, B)]` on a field that holds one layer.
pub(super) fn one_layer(at: &impl ToTokens, diags: &mut Diags) {
    diags.error(at, "this field holds one layer, so `#[init(..)]` names one");
}

/// `#[init(..)]` on a layer whose type has arguments already, or that names another layer.
pub(super) fn init_of_layer(at: &impl ToTokens, diags: &mut Diags) {
    diags.error(at, "a layer's arguments stand in its type, as in `Linear![C => C]`; `#[init(..)]` fills lists, boxes, enums (`Stage::Conv![C]`) and generic layers (`inner = Linear![C => C]`)");
}

/// A default that is no number, or one before a dim without a default.
pub(super) fn dim_default(at: &impl ToTokens, diags: &mut Diags) {
    diags.error(at, "the default of a dim is a number or an earlier dim, as in `dims(C, K = 3, S = K)`");
}

/// An attribute that takes no arguments.
pub(super) fn no_arguments(at: &Attribute, diags: &mut Diags) {
    let name = at.path().to_token_stream();
    diags.error(at, format!("`#[{name}]` takes no arguments"));
}
