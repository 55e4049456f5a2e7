//! Elementary functions of `f32` for kernel bodies: straight-line, so that the loop around them vectorises.
//!
//! No function branches, reads a table or calls libm. `FMA` says whether the variant that is compiled has fused
//! multiply-add; the two differ in the last bits, within the stated error. Errors are in units in the last place
//! against the exact value, over all arguments. NaN gives NaN; infinities, zeros and their signs are those of IEEE 754.
#![allow(clippy::excessive_precision, reason = "coefficients are written as published")]

/// `a * b + c`, with one rounding where `FMA`.
#[inline(always)]
pub fn fma<const FMA: bool>(a: f32, b: f32, c: f32) -> f32 {
    if FMA { a.mul_add(b, c) } else { a * b + c }
}

/// The polynomial with coefficients `c`, highest power first.
#[inline(always)]
fn polynomial<const FMA: bool, const N: usize>(x: f32, c: [f32; N]) -> f32 {
    let mut p = c[0];
    let mut i = 1;
    while i < N {
        p = fma::<FMA>(p, x, c[i]);
        i += 1;
    }
    p
}

/// 1.5 * 2^23: adding it rounds a small `f32` to the nearest integer, held in the low bits of the sum.
const ROUND: f32 = 12_582_912.0;
/// ln 2 in two parts; the high one has few bits, so that its product with an exponent is exact.
const LN2_HIGH: f32 = 0.693_359_4;
const LN2_LOW: f32 = -2.121_944_4e-4;
/// Beyond these `exp` is infinite or below the smallest normal number.
const EXP_MAX: f32 = 88.722_84;
const EXP_MIN: f32 = -87.336_54;

/// `e^x`, error below 1.1. Results below the smallest normal number are 0.
#[inline(always)]
pub fn exp<const FMA: bool>(x: f32) -> f32 {
    let (rest, n) = exp_parts::<FMA>(x);
    let y = f32::from_bits((rest + 1.0).to_bits().wrapping_add((n as u32) << 23));
    // What lies outside, for which the above is meaningless, is decided by `x`; the sum is NaN where it is.
    let y = if x < EXP_MIN { 0.0 } else { y };
    if x <= EXP_MAX { y } else { x + f32::INFINITY }
}

/// `e^x` as `(1 + rest) * 2^n` with `rest` between -0.3 and 0.42, for `|x|` below 100.
#[inline(always)]
fn exp_parts<const FMA: bool>(x: f32) -> (f32, i32) {
    let (r, n) = powers_of_two::<FMA>(x);
    (expm1_near_zero::<FMA>(r), n)
}

/// `x` as `r + n ln 2` with `|r|` at most about half of `ln 2`, for `|x|` below 100.
#[inline(always)]
fn powers_of_two<const FMA: bool>(x: f32) -> (f32, i32) {
    let rounded = fma::<FMA>(x, std::f32::consts::LOG2_E, ROUND);
    let n = rounded - ROUND;
    let r = fma::<FMA>(n, -LN2_HIGH, x);
    let r = fma::<FMA>(n, -LN2_LOW, r);
    (r, (rounded.to_bits() as i32).wrapping_sub(ROUND.to_bits() as i32))
}

/// `e^r - 1` for `|r|` up to about 0.4.
#[inline(always)]
fn expm1_near_zero<const FMA: bool>(r: f32) -> f32 {
    let p =
        polynomial::<FMA, 6>(r, [1.987_569_1e-4, 1.398_199_9e-3, 8.333_452e-3, 4.166_579_6e-2, 1.666_666_5e-1, 5e-1]);
    fma::<FMA>(p, r * r, r)
}

/// `y * 2^n`, in two factors: n reaches 128, which no exponent holds.
#[inline(always)]
fn scaled(y: f32, n: i32) -> f32 {
    let half = n >> 1;
    y * power_of_two(half) * power_of_two(n.wrapping_sub(half))
}

#[inline(always)]
fn power_of_two(n: i32) -> f32 {
    f32::from_bits((n.wrapping_add(127) as u32) << 23)
}

/// `e^x - 1`, error below 1.6.
#[inline(always)]
pub fn expm1<const FMA: bool>(x: f32) -> f32 {
    let t = if x > EXP_MAX { EXP_MAX } else { x };
    // From here on down it is -1.
    let t = if t < -18.0 { -18.0 } else { t };
    let (rest, n) = exp_parts::<FMA>(t);
    let half = power_of_two(n.wrapping_sub(1));
    let y = fma::<FMA>(rest, half, half - 0.5) * 2.0;
    let y = if n == 0 { rest } else { y };
    // The polynomial loses the sign of -0.
    (if x > EXP_MAX { f32::INFINITY } else { y }).copysign(x)
}

/// The natural logarithm, error below 0.9. `-inf` at 0, NaN below 0.
#[inline(always)]
pub fn log<const FMA: bool>(x: f32) -> f32 {
    log_and::<FMA>(x, 0.0)
}

/// `log x + rest`, where the rest is small beside the logarithm.
#[inline(always)]
fn log_and<const FMA: bool>(x: f32, rest: f32) -> f32 {
    let tiny = x < f32::MIN_POSITIVE;
    let scaled = if tiny { x * 8_388_608.0 } else { x };
    // The mantissa is taken from [sqrt 1/2, sqrt 2).
    let bits = scaled.to_bits() as i32;
    let exponent = bits.wrapping_sub(0x3f35_04f3) >> 23;
    let r = f32::from_bits(bits.wrapping_sub(exponent << 23) as u32) - 1.0;
    let e = exponent as f32 - if tiny { 23.0 } else { 0.0 };
    let square = r * r;
    let p = polynomial::<FMA, 9>(
        r,
        [
            7.037_683_6e-2,
            -1.151_461e-1,
            1.167_699_84e-1,
            -1.242_014_1e-1,
            1.424_932_3e-1,
            -1.666_805_8e-1,
            2.000_071_4e-1,
            -2.499_999_4e-1,
            3.333_333e-1,
        ],
    );
    let y = fma::<FMA>(e, LN2_LOW, p * r * square);
    let y = fma::<FMA>(square, -0.5, y) + rest;
    let y = fma::<FMA>(e, LN2_HIGH, r + y);
    let y = if x == f32::INFINITY { x } else { y };
    let y = if x == 0.0 { f32::NEG_INFINITY } else { y };
    if x >= 0.0 { y } else { f32::NAN }
}

/// `log(1 + x)`, error below 1.6. `-inf` at -1, NaN below.
#[inline(always)]
pub fn log1p<const FMA: bool>(x: f32) -> f32 {
    let sum = 1.0 + x;
    // What the sum lost, which is exact, over the slope there.
    let lost = (x - (sum - 1.0)) / sum;
    let y = log_and::<FMA>(sum, if x < 1e8 { lost } else { 0.0 });
    if x == 0.0 { x } else { y }
}

/// The hyperbolic cosine, error below 1.8.
#[inline(always)]
pub fn cosh<const FMA: bool>(x: f32) -> f32 {
    let half = half_exp::<FMA>(x.abs());
    half + 0.25 / half
}

/// The hyperbolic sine, error below 1.8.
#[inline(always)]
pub fn sinh<const FMA: bool>(x: f32) -> f32 {
    let t = x.abs();
    let half = half_exp::<FMA>(t);
    let square = x * x;
    let p = polynomial::<FMA, 5>(square, [2.505_210_8e-8, 2.755_731_9e-6, 1.984_127e-4, 8.333_333e-3, 1.666_666_7e-1]);
    let small = fma::<FMA>(p * square, t, t);
    (if t >= 1.0 { half - 0.25 / half } else { small }).copysign(x)
}

/// `e^x / 2` for `x` of at least 0: it overflows where the hyperbolic functions do.
#[inline(always)]
fn half_exp<const FMA: bool>(x: f32) -> f32 {
    let t = if x > 90.0 { 90.0 } else { x };
    let (rest, n) = exp_parts::<FMA>(t);
    scaled(rest + 1.0, n.wrapping_sub(1))
}

/// Beyond this the square under a root is all of it.
const ROOT_MAX: f32 = 1e9;

/// The inverse hyperbolic sine, error below 2.
#[inline(always)]
pub fn asinh<const FMA: bool>(x: f32) -> f32 {
    let t = x.abs();
    let square = t * t;
    let near = log1p::<FMA>(t + square / (1.0 + (1.0 + square).sqrt()));
    let far = log::<FMA>(t) + std::f32::consts::LN_2;
    (if t > ROOT_MAX { far } else { near }).copysign(x)
}

/// The inverse hyperbolic cosine, error below 2. NaN below 1.
#[inline(always)]
pub fn acosh<const FMA: bool>(x: f32) -> f32 {
    let t = x - 1.0;
    let near = log1p::<FMA>(t + (t * (t + 2.0)).sqrt());
    let far = log::<FMA>(x) + std::f32::consts::LN_2;
    let y = if x > ROOT_MAX { far } else { near };
    if x >= 1.0 { y } else { f32::NAN }
}

/// The inverse hyperbolic tangent, error below 2. Infinite at -1 and 1, NaN beyond.
#[inline(always)]
pub fn atanh<const FMA: bool>(x: f32) -> f32 {
    let t = x.abs();
    let twice = t + t;
    let y = 0.5 * log1p::<FMA>(twice + twice * t / (1.0 - t));
    if t > 1.0 { f32::NAN } else { y.copysign(x) }
}

/// The hyperbolic tangent, error below 1.9.
#[inline(always)]
pub fn tanh<const FMA: bool>(x: f32) -> f32 {
    let t = x.abs();
    let square = x * x;
    let large = 1.0 - 2.0 / (exp::<FMA>(2.0 * t) + 1.0);
    let p = polynomial::<FMA, 4>(square, [1.573_944e-2, -5.230_255_8e-2, 1.331_524_7e-1, -3.333_276_8e-1]);
    let small = fma::<FMA>(p * square, t, t);
    // Comparing this way round, NaN takes the small branch and stays NaN.
    (if t >= 0.55 { large } else { small }).copysign(x)
}

/// The error function, error below 1.2.
#[inline(always)]
pub fn erf<const FMA: bool>(x: f32) -> f32 {
    let t = x.abs();
    let square = x * x;
    let low = fma::<FMA>(-1.728_534_7e-5, t, 3.831_971_3e-4);
    let high = fma::<FMA>(-3.883_964_4e-3, t, 2.425_462_2e-2);
    let p = fma::<FMA>(low, square, high);
    let p = fma::<FMA>(p, t, -1.067_778_8e-1);
    let p = fma::<FMA>(p, t, -6.348_467e-1);
    let p = fma::<FMA>(p, t, -1.287_175_1e-1);
    let large = 1.0 - exp::<FMA>(fma::<FMA>(p, t, -t));
    let large = if t > 4.0 { 1.0 } else { large };
    (if t > 0.927_734_4 { large } else { erf_near_zero::<FMA>(t) }).copysign(x)
}

/// The error function between -0.93 and 0.93.
#[inline(always)]
fn erf_near_zero<const FMA: bool>(x: f32) -> f32 {
    let q = polynomial::<FMA, 6>(
        x * x,
        [-5.967_617e-4, 4.991_194_2e-3, -2.676_813_5e-2, 1.128_199_25e-1, -3.761_253_4e-1, 1.283_791_7e-1],
    );
    fma::<FMA>(q, x, x)
}

/// One minus the error function, error below 5. Results below the smallest normal number may be 0.
#[inline(always)]
pub fn erfc<const FMA: bool>(x: f32) -> f32 {
    let t = x.abs();
    // The square in two parts, the first exact: 12 bits times 12 bits.
    let high = f32::from_bits(t.to_bits() & 0xffff_f000);
    let rest = (high - t) * (high + t);
    let (r, n) = powers_of_two::<FMA>(-high * high);
    let bell = f32::from_bits((expm1_near_zero::<FMA>(r + rest) + 1.0).to_bits().wrapping_add((n as u32) << 23));
    // `(1 + 2t) e^(t^2) erfc(t)` by `(t - 3) / (t + 3)`.
    let s = (t - 3.0) / (t + 3.0);
    let p = polynomial::<FMA, 10>(
        s,
        [
            -5.265_771_2e-4,
            1.837_523_4e-3,
            2.390_377_3e-3,
            -2.376_442_96e-2,
            6.833_798_6e-2,
            -1.192_735_55e-1,
            1.296_426_3e-1,
            -4.756_232e-2,
            -1.356_210_5e-1,
            1.253_008_1,
        ],
    );
    let tail = bell * (p / (1.0 + 2.0 * t));
    let tail = if t > 9.3 { 0.0 } else { tail };
    let far = if x < 0.0 { 2.0 - tail } else { tail };
    if t < 0.5 { 1.0 - erf_near_zero::<FMA>(x) } else { far }
}

/// The logistic function `1 / (1 + e^-x)`, error below 2. Results below the smallest normal number may be 0.
#[inline(always)]
pub fn sigmoid<const FMA: bool>(x: f32) -> f32 {
    // Of the two forms the one whose exponential is below 1: its error counts less.
    let e = exp::<FMA>(-x.abs());
    let y = (if x >= 0.0 { 1.0 } else { e }) / (1.0 + e);
    // Far down, what the sum lost would count.
    if x < -1.5 { fma::<FMA>(-e, y, e) } else { y }
}

/// `1 / sqrt(x)`, error below 1.5. Infinite at 0, with its sign; NaN below.
#[inline(always)]
pub fn rsqrt<const FMA: bool>(x: f32) -> f32 {
    1.0 / x.sqrt()
}

/// The sine, error below 1.6 for arguments of any size. NaN at infinities.
#[inline(always)]
pub fn sin<const FMA: bool>(x: f32) -> f32 {
    let (r, quarter) = quarter_turns(x);
    let y = quarter_wave::<FMA>(r, quarter);
    // The polynomial loses the sign of -0.
    if x == 0.0 { x } else { y }
}

/// The cosine, error below 1.6 for arguments of any size. NaN at infinities.
#[inline(always)]
pub fn cos<const FMA: bool>(x: f32) -> f32 {
    let (r, quarter) = quarter_turns(x);
    quarter_wave::<FMA>(r, quarter.wrapping_add(1))
}

/// `sin(r + quarter * pi / 2)` for `|r| <= pi / 4`.
#[inline(always)]
fn quarter_wave<const FMA: bool>(r: f32, quarter: u32) -> f32 {
    let square = r * r;
    let p = polynomial::<FMA, 4>(square, [2.865_679_6e-6, -1.985_599_2e-4, 8.333_386e-3, -1.666_666_7e-1]);
    let sine = fma::<FMA>(p, square * r, r);
    let p = polynomial::<FMA, 4>(square, [2.443_158_5e-5, -1.388_731_6e-3, 4.166_664_6e-2, -0.5]);
    let cosine = fma::<FMA>(p, square, 1.0);
    let y = if quarter & 1 == 1 { cosine } else { sine };
    f32::from_bits(y.to_bits() ^ ((quarter & 2) << 30))
}

/// `x` as `r + quarter * pi / 2` with `|r|` at most about pi / 4, the quarter modulo 4.
///
/// `2 / pi` is cut into pieces of 28 bits, so that their products with the 24 bits of `x` are exact in `f64`. Of each
/// product whole multiples of 4 are dropped, exactly. Four pieces reach far enough below the binary point; where the
/// products with the leading pieces are multiples of 4, four later ones are taken.
#[inline(always)]
fn quarter_turns(x: f32) -> (f32, u32) {
    // 1.5 * 2^52 rounds an f64 as `ROUND` does an f32.
    const ROUND: f64 = 6_755_399_441_055_744.0;
    const PIECES: [f64; 7] = two_over_pi();
    let size = x.abs();
    let (large, huge, vast) = (size >= pow2(53), size >= pow2(81), size >= pow2(109));
    let piece = |i: usize| {
        let p = if large { PIECES[i + 1] } else { PIECES[i] };
        let p = if huge { PIECES[i + 2] } else { p };
        if vast { PIECES[i + 3] } else { p }
    };
    let x = f64::from(x);
    let modulo_four = |p: f64| p - 4.0 * ((p * 0.25 + ROUND) - ROUND);
    let sum = modulo_four(x * piece(0)) + modulo_four(x * piece(1));
    let whole = (sum + ROUND) - ROUND;
    let rest = (sum - whole) + x * piece(2);
    let carry = (rest + ROUND) - ROUND;
    let rest = (rest - carry) + x * piece(3);
    let quarter = (whole + carry + ROUND).to_bits() as u32;
    ((rest * std::f64::consts::FRAC_PI_2) as f32, quarter)
}

const fn pow2(n: u32) -> f32 {
    f32::from_bits((n + 127) << 23)
}

/// The first 196 bits of `2 / pi` after the binary point, 28 a piece.
const fn two_over_pi() -> [f64; 7] {
    const DIGITS: [u32; 7] = [0xA2F9836, 0xE4E4415, 0x29FC275, 0x7D1F534, 0xDDC0DB6, 0x295993C, 0x439041F];
    let mut pieces = [0.0; 7];
    let mut i = 0;
    while i < 7 {
        let scale = f64::from_bits((1023 - 28 * (i as u64 + 1)) << 52);
        pieces[i] = DIGITS[i] as f64 * scale;
        i += 1;
    }
    pieces
}
