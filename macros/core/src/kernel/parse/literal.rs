//! Literals and the constants of `std`, exact to the bit.
//!
//! A literal without a suffix is the `f64` or the `i64` that it denotes; `0.1f32` and the constants of `f32` are `f32`
//! values, widened.

use super::super::ast::{At, Node};
use super::super::check::syntax as check;
use crate::diags::Diags;
use proc_macro2::Span;
use syn::{Lit, Path};

/// A literal, with the sign in front of it.
pub(super) fn literal(lit: &Lit, negative: bool, diags: &mut Diags) -> Node {
    match lit {
        Lit::Float(float) => float_literal(float.base10_digits(), float.suffix(), negative, float.span(), diags),
        Lit::Int(int) if matches!(int.suffix(), "f32" | "f64") => {
            float_literal(int.base10_digits(), int.suffix(), negative, int.span(), diags)
        }
        Lit::Int(int) => {
            if !matches!(int.suffix(), "" | "i64" | "usize") {
                check::literal_suffix(int.span(), int.suffix(), diags);
                return Node::Broken;
            }
            // With the sign, so that the smallest integer can be written.
            let digits = format!("{}{}", if negative { "-" } else { "" }, int.base10_digits());
            match digits.parse::<i64>() {
                Ok(value) => Node::Int(value),
                Err(_) => {
                    check::literal_range(int.span(), "an `i64`", diags);
                    Node::Broken
                }
            }
        }
        Lit::Bool(value) if negative => {
            check::arithmetic_on_bool(&At::from(value.span()), "-", diags);
            Node::Broken
        }
        Lit::Bool(value) => Node::Truth(value.value),
        other => {
            check::literal_kind(other, diags);
            Node::Broken
        }
    }
}

fn float_literal(digits: &str, suffix: &str, negative: bool, span: Span, diags: &mut Diags) -> Node {
    let value = match suffix {
        "" | "f64" => digits.parse::<f64>().ok(),
        "f32" => digits.parse::<f32>().ok().map(f64::from),
        _ => {
            check::literal_suffix(span, suffix, diags);
            return Node::Broken;
        }
    };
    match value {
        Some(value) if value.is_finite() => Node::Float(if negative { -value } else { value }),
        Some(_) | None => {
            check::literal_range(span, if suffix == "f32" { "an `f32`" } else { "an `f64`" }, diags);
            Node::Broken
        }
    }
}

/// A path that is no single name: a constant of `std`.
pub(super) fn constant(path: &Path, diags: &mut Diags) -> Node {
    let names: Vec<String> = path.segments.iter().map(|s| s.ident.to_string()).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let plain = path.segments.iter().all(|s| s.arguments.is_none());
    let value = match names[..] {
        ["std" | "core", "f32", "consts", name] | ["f32", "consts", name] => consts_f32(name).map(Node::Float),
        ["std" | "core", "f64", "consts", name] | ["f64", "consts", name] => consts_f64(name).map(Node::Float),
        ["std" | "core", "f32", name] | ["f32", name] => limits_f32(name).map(Node::Float),
        ["std" | "core", "f64", name] | ["f64", name] => limits_f64(name).map(Node::Float),
        ["std" | "core", "i64", name] | ["i64", name] => limits_i64(name).map(Node::Int),
        _ => None,
    };
    match value {
        Some(node) if plain => node,
        Some(_) | None => {
            check::unknown_constant(path, diags);
            Node::Broken
        }
    }
}

macro_rules! consts {
    ($function:ident, $float:ident) => {
        fn $function(name: &str) -> Option<f64> {
            use std::$float::consts as c;
            let value = match name {
                "PI" => c::PI,
                "TAU" => c::TAU,
                "E" => c::E,
                "LN_2" => c::LN_2,
                "LN_10" => c::LN_10,
                "LOG2_E" => c::LOG2_E,
                "LOG2_10" => c::LOG2_10,
                "LOG10_E" => c::LOG10_E,
                "LOG10_2" => c::LOG10_2,
                "SQRT_2" => c::SQRT_2,
                "FRAC_1_SQRT_2" => c::FRAC_1_SQRT_2,
                "FRAC_1_PI" => c::FRAC_1_PI,
                "FRAC_2_PI" => c::FRAC_2_PI,
                "FRAC_2_SQRT_PI" => c::FRAC_2_SQRT_PI,
                "FRAC_PI_2" => c::FRAC_PI_2,
                "FRAC_PI_3" => c::FRAC_PI_3,
                "FRAC_PI_4" => c::FRAC_PI_4,
                "FRAC_PI_6" => c::FRAC_PI_6,
                "FRAC_PI_8" => c::FRAC_PI_8,
                _ => return None,
            };
            #[allow(clippy::useless_conversion, reason = "one text serves both precisions")]
            Some(f64::from(value))
        }
    };
}

consts!(consts_f32, f32);
consts!(consts_f64, f64);

macro_rules! limits {
    ($function:ident, $float:ident) => {
        fn $function(name: &str) -> Option<f64> {
            let value = match name {
                "NAN" => $float::NAN,
                "INFINITY" => $float::INFINITY,
                "NEG_INFINITY" => $float::NEG_INFINITY,
                "MAX" => $float::MAX,
                "MIN" => $float::MIN,
                "EPSILON" => $float::EPSILON,
                "MIN_POSITIVE" => $float::MIN_POSITIVE,
                _ => return None,
            };
            #[allow(clippy::useless_conversion, reason = "one text serves both precisions")]
            Some(f64::from(value))
        }
    };
}

limits!(limits_f32, f32);
limits!(limits_f64, f64);

fn limits_i64(name: &str) -> Option<i64> {
    match name {
        "MAX" => Some(i64::MAX),
        "MIN" => Some(i64::MIN),
        _ => None,
    }
}
