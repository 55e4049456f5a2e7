//! The errors of functions of one element in `f32`, over the whole range of `f32`, against the same formula in `f64`.
//!
//! The driver picks the variant for this processor; `COTANGENT_SIMD` lowers it.

use cotangent_runtime::{DType, Device, Tensor};

/// Floats of every exponent and sign, with infinities, NaN, zeros and subnormals: a prime step through the bits.
fn floats() -> Vec<f32> {
    let special = [0.0, -0.0, 1.0, -1.0, f32::INFINITY, f32::NEG_INFINITY, f32::NAN, 1e-45, -1e-45, f32::MAX, f32::MIN];
    let near_one = (0x3f7f_f000..0x3f80_1000).flat_map(|bits| [f32::from_bits(bits), -f32::from_bits(bits)]);
    special.into_iter().chain(near_one).chain((0..=u32::MAX).step_by(2003).map(f32::from_bits)).collect()
}

/// How far results may be from the exact ones.
#[derive(Clone, Copy)]
enum Bound {
    /// In units in the last place of the result.
    Ulp(f64),
    /// In units in the last place of the result or of 1, whichever is larger: where terms cancel.
    OfOne(f64),
    /// In units in the last place of the result or of 1e-29, whichever is larger: where a factor below the smallest
    /// normal number is 0.
    Normal(f64),
}
use Bound::{Normal, OfOne, Ulp};

fn unit(v: f64) -> f64 {
    let v = (v.abs() as f32).clamp(f32::MIN_POSITIVE, f32::MAX);
    f64::from(f32::from_bits(v.to_bits() & 0xff80_0000)) * f64::from(f32::EPSILON)
}

/// The error of `y` in the units of the bound; infinite where it is NaN, infinite or a zero of the wrong sign.
fn error(bound: Bound, x: f32, y: f32, exact: f64) -> f64 {
    let wrong = |wrong: bool| if wrong { f64::INFINITY } else { 0.0 };
    if exact.is_nan() || y.is_nan() {
        return wrong(!exact.is_nan() || !y.is_nan());
    }
    if y.is_infinite() || (exact as f32).is_infinite() {
        // The exact value may round to either side of the largest float.
        let close = exact.abs() > f64::from(f32::MAX) * (1.0 - 1e-6) && f64::from(y.signum()) == exact.signum();
        return wrong(y != exact as f32 && !close);
    }
    if x == 0.0 && exact == 0.0 {
        return wrong(y.to_bits() != (exact as f32).to_bits());
    }
    // What is below the smallest normal number may be 0.
    if exact.abs().max(f64::from(y.abs())) < f64::from(f32::MIN_POSITIVE) {
        return 0.0;
    }
    let unit = match bound {
        Ulp(_) => unit(exact),
        OfOne(_) => unit(exact).max(unit(1.0)),
        Normal(_) => unit(exact).max(unit(1e-29)),
    };
    (f64::from(y) - exact).abs() / unit
}

macro_rules! bounds {
    ($($name:ident $(($($n:literal),*))?: $bound:expr;)*) => {
        #[test]
        fn functions_stay_within_their_bounds() {
            let xs = floats();
            let x = Tensor::from_slice(&xs, [xs.len()], &Device::cpu());
            let mut wrong = vec![];
            $({
                let found = x.clone().$name($($($n),*)?).to_vec();
                let exact = x.clone().to(DType::F64).$name($($($n),*)?).to_vec_of::<f64>();
                let errors = xs.iter().zip(&found).zip(&exact).map(|((&x, &y), &exact)| (error($bound, x, y, exact), x));
                let (error, at) = errors.max_by(|a, b| a.0.total_cmp(&b.0)).expect("there are floats");
                let (Ulp(limit) | OfOne(limit) | Normal(limit)) = $bound;
                if error > limit {
                    wrong.push(format!("{} errs by {error:.2} at {at:e}, more than {limit}", stringify!($name)));
                }
            })*
            assert!(wrong.is_empty(), "{}", wrong.join("\n"));
        }
    };
}

bounds! {
    neg: Ulp(0.0);
    abs: Ulp(0.0);
    exp: Ulp(1.1);
    exp2: Ulp(1.0);
    expm1: Ulp(1.6);
    log: Ulp(0.9);
    log1p: Ulp(1.6);
    log2: Ulp(1.6);
    log10: Ulp(2.0);
    sqrt: Ulp(0.5);
    rsqrt: Ulp(1.5);
    square: Ulp(0.5);
    reciprocal: Ulp(0.5);
    sin: Ulp(1.6);
    cos: Ulp(1.6);
    tan: Ulp(1.2);
    asin: Ulp(1.0);
    acos: Ulp(1.0);
    atan: Ulp(1.0);
    sinh: Ulp(1.8);
    cosh: Ulp(1.8);
    tanh: Ulp(1.9);
    asinh: Ulp(2.0);
    acosh: Ulp(2.0);
    atanh: Ulp(2.0);
    erf: Ulp(1.2);
    erfc: Ulp(5.0);
    deg2rad: Ulp(1.0);
    rad2deg: Ulp(1.0);
    lgamma: Ulp(1.0);
    sigmoid: Ulp(2.0);
    logsigmoid: Ulp(2.0);
    relu: Ulp(0.0);
    relu6: Ulp(0.0);
    hardtanh(-1.0, 1.0): Ulp(0.0);
    leaky_relu(0.01): Ulp(1.0);
    elu(1.0): Ulp(1.6);
    celu(1.0): Ulp(1.6);
    selu: Ulp(2.0);
    gelu: OfOne(1.6);
    gelu_tanh: OfOne(2.0);
    silu: Normal(3.5);
    mish: Normal(4.0);
    softplus: Ulp(2.0);
    softsign: Ulp(1.6);
    hardshrink(0.5): Ulp(0.0);
    softshrink(0.5): Ulp(0.5);
    threshold(0.25, 2.0): Ulp(0.0);
    logit: OfOne(3.0);
    nan_to_num_with(1.0, 2.0, 3.0): Ulp(0.0);
    hardswish: OfOne(1.8);
    hardsigmoid: OfOne(1.0);
    sign: Ulp(0.0);
    floor: Ulp(0.0);
    ceil: Ulp(0.0);
    round: Ulp(0.0);
    trunc: Ulp(0.0);
    frac: Ulp(0.0);
}
