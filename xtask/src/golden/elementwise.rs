//! Functions of two and three floats, and sums of products.

use super::inputs::{Inputs, Stop};
use super::registry::{Results, Row};
use cotangent::Tensor;
use cotangent::diff::{Pullback, Want};
use cotangent::ops::einsum;

/// Calls a method of `in.a` and `in.b` in its plain form and as its companion.
macro_rules! pair {
    ($inputs:ident, $plain:ident, $companion:ident) => {
        crate::golden::ops::binary!($inputs, |a: Tensor, b: Tensor| a.$plain(b), |a: Tensor, b: Tensor, want| a
            .$companion(b, want))
    };
}
pub(super) use pair;

pub(super) const ROWS: &[Row] = &[
    ("pow", |i| pair!(i, pow, pow__vjp)),
    ("atan2", |i| pair!(i, atan2, atan2__vjp)),
    ("maximum", |i| pair!(i, maximum, maximum__vjp)),
    ("minimum", |i| pair!(i, minimum, minimum__vjp)),
    ("clamp", clamp),
    ("einsum", sum_of_products),
];

fn clamp(i: &Inputs<'_>) -> Result<Results, Stop> {
    let x = i.float("in.x")?;
    let mut results = Results::new();
    let ct = i.ct("y")?;
    let (plain, y, dx) = match (i.maybe_number("min")?, i.maybe_number("max")?) {
        (Some(min), Some(max)) => {
            let (y, pullback) = x.clone().clamp__vjp(min, max, Want::ALL);
            let (dx, (), ()) = Pullback::pull(pullback, ct, &mut ());
            (x.clamp(min, max), y, dx)
        }
        (Some(min), None) => {
            let (y, pullback) = x.clone().clamp_min__vjp(min, Want::ALL);
            let (dx, ()) = Pullback::pull(pullback, ct, &mut ());
            (x.clamp_min(min), y, dx)
        }
        (None, Some(max)) => {
            let (y, pullback) = x.clone().clamp_max__vjp(max, Want::ALL);
            let (dx, ()) = Pullback::pull(pullback, ct, &mut ());
            (x.clamp_max(max), y, dx)
        }
        (None, None) => return Err(i.missing("clamp without a bound")),
    };
    results.out("y", plain);
    results.out("y", y);
    results.grad("in.x", dx);
    Ok(results)
}

fn sum_of_products(i: &Inputs<'_>) -> Result<Results, Stop> {
    let (equation, operands) = (i.word("equation")?, i.list()?);
    let mut results = Results::new();
    results.out("y", einsum(equation, &operands));
    let (y, pullback) = einsum::vjp(equation, operands, Want::ALL);
    results.out("y", y);
    let ((), cts) = pullback.pull(i.ct("y")?, &mut ());
    for (n, ct) in cts.into_iter().enumerate() {
        results.grad(&format!("in.x{n}"), ct);
    }
    Ok(results)
}
