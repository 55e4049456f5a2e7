//! Random tensors: kernels whose element `i` depends on the key and on `i` alone.

use super::{Key, Rng};
use crate::device::Device;
use crate::raise::raise;
use crate::tensor::{Int, IntoShape, Raw, Tensor, launch};
use cotangent_hal::{Arg, DType, Error, Kernel, Scalar, kernel};
use cotangent_ir::philox::{GROUP, group};

/// Half of a [`group`]: what two words make, a word and the word this far after it.
const HALF: usize = GROUP / 2;
const PAIR: usize = GROUP / 4;

/// Calls `f(i, word)` for each element `i` of a tile of `len` elements that starts at element `at` of the stream.
///
/// For kernel bodies: it takes the instruction set of the function that it is inlined into.
#[inline(always)]
fn each_word(key: Key, at: usize, len: usize, mut f: impl FnMut(usize, u32)) {
    let mut i = 0;
    while i < len {
        let from = (at + i) % GROUP;
        let words = group(key.0, ((at + i) / GROUP) as u64);
        let take = (GROUP - from).min(len - i);
        for (j, &word) in words[from..from + take].iter().enumerate() {
            f(i + j, word);
        }
        i += take;
    }
}

/// A word as a number in `[0, 1)`, of 24 bits.
#[inline(always)]
fn unit(word: u32) -> f32 {
    (word >> 8) as i32 as f32 * (1.0 / 16_777_216.0)
}

kernel! {
    /// `y = low + width u` with `u` uniform in `[0, 1)`.
    static UNIFORM = Pointwise "rand" (; key, low, width) -> (y: Each F32) |tile| {
        let (low, width) = (Real::from(low), Real::from(width));
        each_word(Key::of(key), tile.0, tile.1, |i, word| y[i] = low + width * Real::from(unit(word)));
    }
}

kernel! {
    /// `y = mean + std z` with `z` of the standard normal distribution.
    static NORMAL = Pointwise "randn" (; key, mean, std) -> (y: Each F32) |tile| {
        let (key, mean, std) = (Key::of(key), Real::from(mean), Real::from(std));
        let mut i = 0;
        while i < tile.1 {
            let from = (tile.0 + i) % GROUP;
            let normals = normals(&group(key.0, ((tile.0 + i) / GROUP) as u64));
            let take = (GROUP - from).min(tile.1 - i);
            for (to, z) in y[i..i + take].iter_mut().zip(&normals[from..from + take]) {
                *to = mean + std * Real::from(*z);
            }
            i += take;
        }
    }
}

kernel! {
    /// `y = low + r` with `r` uniform among the integers from 0 to `width - 1`, the width as 64 bits without a sign.
    static INTEGERS = Pointwise "randint" (; key, low, width) -> (y: Each I64) |tile| {
        let (key, low, width) = (Key::of(key), low.i64(), width.i64() as u64);
        let mut i = 0;
        while i < tile.1 {
            let from = (tile.0 + i) % HALF;
            let words = group(key.0, ((tile.0 + i) / HALF) as u64);
            let take = (HALF - from).min(tile.1 - i);
            for (to, within) in y[i..i + take].iter_mut().zip(from..) {
                let j = within % PAIR + within / PAIR * HALF;
                let bits = u64::from(words[j]) << 32 | u64::from(words[j + PAIR]);
                // The product's high half is uniform up to one part in 2^64 / width.
                *to = low.wrapping_add(((u128::from(bits) * u128::from(width)) >> 64) as i64);
            }
            i += take;
        }
    }
}

/// Standard normals of a group's words, two of two words (Box and Muller).
///
/// Written without fused multiply-add, of operations that IEEE 754 rounds in one way: the same bits everywhere.
#[inline(always)]
fn normals(words: &[u32; GROUP]) -> [f32; GROUP] {
    let mut out = [0.0; GROUP];
    for half in [0, HALF] {
        for i in half..half + PAIR {
            let u = ((words[i] >> 1) as i32 as f32 + 1.0) * (1.0 / 2_147_483_648.0);
            let radius = (-2.0 * ln_unit(u)).sqrt();
            let (sin, cos) = sin_cos_turn(words[i + PAIR]);
            out[i] = radius * cos;
            out[i + PAIR] = radius * sin;
        }
    }
    out
}

/// `ln(x)` for a normal `x` in `(0, 1]`, to 1 ulp; the polynomial of Cephes' `logf`.
#[inline(always)]
fn ln_unit(x: f32) -> f32 {
    let bits = x.to_bits();
    let mantissa = f32::from_bits(bits & 0x007F_FFFF | 0x3F00_0000);
    let exponent = (bits >> 23) as i32 - 126;
    let small = mantissa < std::f32::consts::FRAC_1_SQRT_2;
    let m = if small { mantissa + mantissa } else { mantissa } - 1.0;
    let e = (exponent - i32::from(small)) as f32;
    let z = m * m;
    let mut y = 7.037_683_6e-2;
    for c in [
        -1.151_461e-1,
        1.167_699_84e-1,
        -1.242_014_1e-1,
        1.424_932_3e-1,
        -1.666_805_8e-1,
        2.000_071_5e-1,
        -2.499_999_4e-1,
        3.333_333e-1,
    ] {
        y = y * m + c;
    }
    let y = y * m * z - 2.121_944_4e-4 * e - 0.5 * z;
    m + y + 0.693_359_4 * e
}

/// Sine and cosine of `2 pi word / 2^32`, to 2 ulp; the polynomials of Cephes' `sinf` and `cosf`.
#[inline(always)]
fn sin_cos_turn(word: u32) -> (f32, f32) {
    // The nearest quarter turn, and what is left as a signed fraction of one.
    let quarter = word.wrapping_add(1 << 29) >> 30;
    let x = (word << 2) as i32 as f32 * (std::f32::consts::FRAC_PI_2 / 4_294_967_296.0);
    let z = x * x;
    let s = ((-1.951_529_6e-4 * z + 8.332_161e-3) * z - 1.666_665_5e-1) * z * x + x;
    let c = ((2.443_315_7e-5 * z - 1.388_731_6e-3) * z + 4.166_664_6e-2) * z * z - 0.5 * z + 1.0;
    let (sin, cos) = if quarter & 1 == 1 { (c, s) } else { (s, c) };
    let flip = |v: f32, bit: u32| f32::from_bits(v.to_bits() ^ (bit >> 1 & 1) << 31);
    (flip(sin, quarter), flip(cos, quarter + 1))
}

impl Tensor {
    /// Uniform numbers in `[0, 1)`.
    #[track_caller]
    pub fn rand(shape: impl IntoShape, rng: &mut Rng, device: &Device) -> Self {
        let shape = shape.into_shape().all("rand");
        fill(&UNIFORM, &shape, rng, device, [0.0, 1.0])
    }

    /// Numbers of the standard normal distribution.
    #[track_caller]
    pub fn randn(shape: impl IntoShape, rng: &mut Rng, device: &Device) -> Self {
        let shape = shape.into_shape().all("randn");
        fill(&NORMAL, &shape, rng, device, [0.0, 1.0])
    }

    /// Uniform numbers from `low` to `high`.
    #[track_caller]
    pub fn uniform(shape: impl IntoShape, low: f32, high: f32, rng: &mut Rng, device: &Device) -> Self {
        let shape = shape.into_shape().all("uniform");
        fill(&UNIFORM, &shape, rng, device, [low, high - low])
    }

    /// Numbers of the normal distribution with that mean and standard deviation.
    #[track_caller]
    pub fn normal(shape: impl IntoShape, mean: f32, std: f32, rng: &mut Rng, device: &Device) -> Self {
        let shape = shape.into_shape().all("normal");
        fill(&NORMAL, &shape, rng, device, [mean, std])
    }
}

impl Tensor<Int> {
    /// Uniform integers from `low` to `high - 1`; raises where there is none.
    #[track_caller]
    pub fn randint(low: i64, high: i64, shape: impl IntoShape, rng: &mut Rng, device: &Device) -> Self {
        if low >= high {
            raise(Error::Argument {
                op: "randint".into(),
                message: format!("no integer lies in {low}..{high}; the end must be greater than the start"),
            });
        }
        let width = high.wrapping_sub(low);
        let out = Raw::empty(device, DType::I64, &shape.into_shape().all("randint"));
        let args = [rng.key().scalar(), Scalar::Int(low), Scalar::Int(width)];
        run(&INTEGERS, &out, args);
        Tensor::from_raw(out)
    }
}

impl Tensor {
    /// Uniform numbers in `[0, 1)`, of this tensor's shape, dtype and device.
    #[track_caller]
    pub fn rand_like(&self, rng: &mut Rng) -> Self {
        fill(&UNIFORM, self.shape(), rng, self.device(), [0.0, 1.0]).to(self.dtype())
    }

    /// Numbers of the standard normal distribution, of this tensor's shape, dtype and device.
    #[track_caller]
    pub fn randn_like(&self, rng: &mut Rng) -> Self {
        fill(&NORMAL, self.shape(), rng, self.device(), [0.0, 1.0]).to(self.dtype())
    }

    /// 1 with the probability that each element is, else 0, in its dtype. A probability of at most 0 gives 0, one of at
    /// least 1 gives 1, and NaN 0.
    #[track_caller]
    pub fn bernoulli(&self, rng: &mut Rng) -> Self {
        let dtype = self.dtype();
        fill(&UNIFORM, self.shape(), rng, self.device(), [0.0, 1.0]).lt(self.clone().float()).floats(dtype)
    }

    /// `count` indices along the last axis, drawn with the weights that the elements are: `[N] -> [count]`,
    /// `[M, N] -> [M, count]`. With replacement an index may come again. The weights need not add up to 1. Waits for the
    /// device.
    ///
    /// Raises `Error::Shape` for other ranks, and `Error::Argument` where a weight is negative or not finite, a row has too
    /// few that are above 0, or none.
    #[track_caller]
    pub fn multinomial(&self, count: usize, replacement: bool, rng: &mut Rng) -> Tensor<Int> {
        let (rows, n) = match *self.shape() {
            [n] => (1, n),
            [rows, n] => (rows, n),
            _ => raise(Error::Shape {
                op: "multinomial".into(),
                message: format!("the weights are {:?}, expected one axis or two", self.shape()),
            }),
        };
        let weights = self.to_vec_of::<f64>();
        let mut drawn = Vec::with_capacity(rows * count);
        for row in weights.chunks(n.max(1)).take(rows) {
            draw(row, count, replacement, rng, &mut drawn);
        }
        let shape = if self.rank() == 1 { vec![count] } else { vec![rows, count] };
        Tensor::from_vec(drawn, shape, self.device())
    }
}

/// Draws indices of one row of weights: each is where a uniform number falls among the sums of the weights before.
#[track_caller]
fn draw(weights: &[f64], count: usize, replacement: bool, rng: &mut Rng, drawn: &mut Vec<i64>) {
    let fault = |message: String| Error::Argument { op: "multinomial".into(), message };
    if let Some(bad) = weights.iter().find(|w| !w.is_finite() || **w < 0.0) {
        raise(fault(format!("a weight is {bad}, expected finite numbers of at least 0")));
    }
    let (mut left, positive) = (weights.to_vec(), weights.iter().filter(|w| **w > 0.0).count());
    let needed = if replacement { count.min(1) } else { count };
    if positive < needed {
        raise(fault(format!("{count} indices were asked for, but {positive} weights of a row are above 0")));
    }
    for _ in 0..count {
        let total: f64 = left.iter().sum();
        let mut at = rng.uniform() * total;
        let hit = left.iter().position(|w| {
            at -= w;
            at < 0.0 && *w > 0.0
        });
        // Rounding may leave nothing at the end.
        let hit = hit.or_else(|| left.iter().rposition(|w| *w > 0.0)).unwrap_or(0);
        if !replacement {
            left[hit] = 0.0;
        }
        drawn.push(hit as i64);
    }
}

impl Tensor<Int> {
    /// The numbers `0..n` in a random order: `[n]`.
    #[track_caller]
    pub fn randperm(n: usize, rng: &mut Rng, device: &Device) -> Self {
        let values: Vec<i64> = rng.permutation(n).into_iter().map(|i| i as i64).collect();
        Tensor::from_vec(values, [n], device)
    }
}

#[track_caller]
fn fill(kernel: &'static Kernel, shape: &[usize], rng: &mut Rng, device: &Device, numbers: [f32; 2]) -> Tensor {
    let out = Raw::empty(device, DType::F32, shape);
    let [a, b] = numbers.map(|v| Scalar::Float(f64::from(v)));
    run(kernel, &out, [rng.key().scalar(), a, b]);
    Tensor::from_raw(out)
}

#[track_caller]
fn run(kernel: &'static Kernel, out: &Raw, [key, a, b]: [Scalar; 3]) {
    if out.numel() > 0 {
        let args = [Arg::Out(out.view()), Arg::Scalar(key), Arg::Scalar(a), Arg::Scalar(b)];
        launch(&out.device, kernel, &out.shape, &args);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logarithm_and_circle_are_accurate() {
        for i in 1..=100_000u32 {
            let x = i as f32 / 100_000.0;
            let exact = f64::from(x).ln();
            let off = (f64::from(ln_unit(x)) - exact).abs();
            assert!(off <= 1.2e-7 * exact.abs().max(0.3), "ln({x}) is off by {off}");
            let word = i.wrapping_mul(2_654_435_761);
            let angle = f64::from(word) / 4_294_967_296.0 * std::f64::consts::TAU;
            let (sin, cos) = sin_cos_turn(word);
            assert!(
                (f64::from(sin) - angle.sin()).abs() < 2e-7 && (f64::from(cos) - angle.cos()).abs() < 2e-7,
                "{word}"
            );
        }
        assert_eq!(ln_unit(1.0), 0.0);
        assert_eq!(sin_cos_turn(0), (0.0, 1.0));
        assert_eq!(sin_cos_turn(1 << 31), (-0.0, -1.0));
    }
}
