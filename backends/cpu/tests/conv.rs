//! Convolutions against their definition, over random extents, windows and layouts.

mod views;

use cotangent_cpu::CpuBackend;
use cotangent_hal::native::Level;
use cotangent_hal::{Activation, Backend, ConvolutionPart, DType, Epilogue, Error, LibraryCall, Window};
use half::bf16;
use views::{Random, Tensor, activated, cases};

const PARTS: [ConvolutionPart; 3] = [ConvolutionPart::Output, ConvolutionPart::Input, ConvolutionPart::Weight];

/// The operands of a call.
struct Call {
    x: Tensor,
    w: Tensor,
    y: Tensor,
    bias: Option<Tensor>,
    activation: Activation,
    window: Window,
}

impl Call {
    fn run(&self, cpu: &CpuBackend, part: ConvolutionPart) -> Result<(), Error> {
        let epilogue = Epilogue { bias: self.bias.as_ref().map(Tensor::view), activation: self.activation };
        let (x, w, y) = (self.x.view(), self.w.view(), self.y.view());
        cpu.library(&LibraryCall::Convolution { part, x, w, y, epilogue, window: &self.window })
    }

    fn target(&self, part: ConvolutionPart) -> &Tensor {
        match part {
            ConvolutionPart::Output => &self.y,
            ConvolutionPart::Input => &self.x,
            ConvolutionPart::Weight => &self.w,
        }
    }

    /// The part by its definition; exact for the test's values, which are small multiples of 1/8.
    fn naive(&self, cpu: &CpuBackend, part: ConvolutionPart) -> Vec<f64> {
        let [x, w, y] = [&self.x, &self.w, &self.y].map(|t| t.values(cpu));
        let mut out = vec![0.0; self.target(part).places().len()];
        let (xs, ws, ys) = (&self.x.shape, &self.w.shape, &self.y.shape);
        let Window { stride, padding, dilation, groups } = self.window;
        let index = |shape: &[usize], at: [usize; 4]| at.iter().zip(shape).fold(0, |sum, (i, n)| sum * n + i);
        let all = |shape: &[usize]| {
            let shape: [usize; 4] = shape.try_into().unwrap();
            (0..shape.iter().product()).map(move |i: usize| {
                let [_, b, c, d] = shape;
                [i / (b * c * d), i / (c * d) % b, i / d % c, i % d]
            })
        };
        for [n, o, i, j] in all(ys) {
            for [_, c, k, l] in all(&[1, ws[1], ws[2], ws[3]]) {
                let place = |axis: usize, i: usize, k: usize| {
                    (i * stride[axis] + k * dilation[axis]).checked_sub(padding[axis]).filter(|&p| p < xs[2 + axis])
                };
                let (Some(row), Some(column)) = (place(0, i, k), place(1, j, l)) else { continue };
                let x_at = index(xs, [n, o / (ys[1] / groups) * ws[1] + c, row, column]);
                let (w_at, y_at) = (index(ws, [o, c, k, l]), index(ys, [n, o, i, j]));
                match part {
                    ConvolutionPart::Output => out[y_at] += w[w_at] * x[x_at],
                    ConvolutionPart::Input => out[x_at] += w[w_at] * y[y_at],
                    ConvolutionPart::Weight => out[w_at] += x[x_at] * y[y_at],
                }
            }
        }
        if let Some(bias) = &self.bias {
            let (bias, shape) = (bias.values(cpu), &self.target(part).shape);
            let plane = shape[2] * shape[3];
            out.iter_mut().enumerate().for_each(|(i, y)| *y += bias[i / plane % shape[1]]);
        }
        out.iter_mut().for_each(|y| *y = activated(self.activation, *y));
        out
    }

    fn check(&self, cpu: &CpuBackend, part: ConvolutionPart) {
        let target = self.target(part);
        let (before, wanted) = (target.bytes(cpu), self.naive(cpu, part));
        self.run(cpu, part).unwrap();
        let what = format!("{part:?}: {:?}, {:?}, {:?}, {:?}", self.x, self.w, self.y, self.window);
        target.expect(cpu, &before, &wanted, &what);
    }
}

/// A call of random extents up to a size; at times without images, or with an output that reaches behind them.
fn random(cpu: &CpuBackend, r: &mut Random, part: ConvolutionPart, size: usize) -> Call {
    let dtype = r.float();
    let groups = if r.once_in(2) { 1 } else { 1 + r.below(3) };
    let pair = |r: &mut Random, least: usize, most: usize| [0; 2].map(|_| least + r.below(most - least + 1));
    let (stride, padding, dilation) = (pair(r, 1, 3), pair(r, 0, 3), pair(r, 1, 2));
    let (image, filter) = (pair(r, 1, size), pair(r, 1, 4));
    let output = [0, 1].map(|axis| {
        let room = image[axis] + padding[axis] + r.below(4);
        (room.saturating_sub(dilation[axis] * (filter[axis] - 1) + 1)) / stride[axis] + 1
    });
    let (n, c, o) = (r.below(4), 1 + r.below(3), 1 + r.below(4));
    let strided = |r: &mut Random, shape: &[usize], repeat: bool| Tensor::strided(cpu, r, dtype, shape, repeat);
    let x = strided(r, &[n, c * groups, image[0], image[1]], part != ConvolutionPart::Input);
    let w = strided(r, &[o * groups, c, filter[0], filter[1]], part != ConvolutionPart::Weight);
    let y = strided(r, &[n, o * groups, output[0], output[1]], part != ConvolutionPart::Output);
    let channels = if part == ConvolutionPart::Input { c } else { o } * groups;
    let bias = (part != ConvolutionPart::Weight && r.once_in(2)).then(|| strided(r, &[channels], true));
    let relu = part != ConvolutionPart::Weight && r.once_in(2);
    let activation = if relu { Activation::Relu } else { Activation::Identity };
    Call { x, w, y, bias, activation, window: Window { stride, padding, dilation, groups } }
}

#[test]
fn random_windows_and_layouts() {
    let cpu = CpuBackend::new();
    for seed in cases(400) {
        let r = &mut Random(seed);
        for part in PARTS {
            random(&cpu, r, part, if cfg!(miri) { 3 } else { 9 }).check(&cpu, part);
        }
    }
}

/// Extents that take several panels, blocks and parts, on every instruction set.
#[test]
#[cfg(not(miri))]
fn larger_extents() {
    let window = |stride, padding, dilation, groups| Window {
        stride: [stride, stride],
        padding: [padding, padding],
        dilation: [dilation, dilation],
        groups,
    };
    for &level in Level::available() {
        let cpu = CpuBackend::with_level(level);
        let r = &mut Random(21);
        for (images, channels, side, filters, filter, window) in [
            (3, 9, 21, 13, 3, window(1, 1, 1, 1)),
            (2, 40, 9, 3, 3, window(1, 0, 1, 1)),
            (9, 7, 15, 35, 3, window(2, 1, 1, 1)),
            (1, 24, 13, 20, 1, window(1, 0, 1, 1)),
            (2, 12, 17, 18, 3, window(1, 2, 2, 3)),
            (2, 6, 20, 6, 5, window(1, 2, 1, 6)),
        ] {
            for part in PARTS {
                let side_of_y = side + 2 * window.padding[0] - window.dilation[0] * (filter - 1);
                let side_of_y = side_of_y.div_ceil(window.stride[0]);
                let of = |r: &mut Random, shape: &[usize]| Tensor::contiguous(&cpu, r, DType::F32, shape);
                let x = of(r, &[images, channels, side, side]);
                let w = of(r, &[filters, channels / window.groups, filter, filter]);
                let y = of(r, &[images, filters, side_of_y, side_of_y]);
                let bias = (part == ConvolutionPart::Output).then(|| of(r, &[filters]));
                Call { x, w, y, bias, activation: Activation::Identity, window }.check(&cpu, part);
            }
        }
    }
}

/// Functions in the epilogue are those of products, whatever computes the sums.
#[test]
fn functions() {
    let r = &mut Random(5);
    let window = |stride, groups| Window { stride: [stride; 2], padding: [1; 2], dilation: [1; 2], groups };
    let images: &[usize] = if cfg!(miri) { &[1] } else { &[1, 64] };
    for &level in Level::available() {
        let cpu = CpuBackend::with_level(level);
        let all = [Activation::Relu, Activation::Gelu, Activation::GeluTanh, Activation::Silu];
        for (i, activation) in all.into_iter().enumerate() {
            for (j, dtype) in DType::FLOATS.into_iter().enumerate() {
                let [channels, groups, stride] = [[6, 1, 1], [6, 6, 1], [6, 1, 2], [6, 6, 2]][(i + j) % 4];
                let out = 5 / stride + stride % 2;
                for (&n, part) in images.iter().flat_map(|n| PARTS[..2].iter().map(move |part| (n, *part))) {
                    let of = |r: &mut Random, shape: &[usize]| Tensor::strided(&cpu, r, dtype, shape, false);
                    let (x, y) = (of(r, &[n, channels, 6, 6]), of(r, &[n, channels, out, out]));
                    let (w, bias) = (of(r, &[channels, 6 / groups, 3, 3]), Some(of(r, &[channels])));
                    let mut call =
                        Call { x, w, y, bias, activation: Activation::Identity, window: window(stride, groups) };
                    let sums = call.naive(&cpu, part);
                    call.activation = activation;
                    call.run(&cpu, part).unwrap();
                    let unit = [1e-14, 1e-6, 1e-3, 8e-3][j];
                    for (got, x) in call.target(part).values(&cpu).iter().zip(sums) {
                        let want = activated(activation, x);
                        let near = (got - want).abs() <= unit * (want.abs() + x.abs().min(1.0));
                        assert!(near, "{activation:?} of {x} is {got}, not {want}: {dtype}, {part:?}, {groups} groups");
                    }
                }
            }
        }
    }
}

/// What lies beside the elements that a filter meets does not matter, not even where it is no number.
#[test]
fn infinite_neighbours() {
    let cpu = CpuBackend::new();
    let r = &mut Random(6);
    let of = |r: &mut Random, shape: &[usize]| Tensor::contiguous(&cpu, r, DType::F32, shape);
    let (x, w, y) = (of(r, &[1, 1, 3, 5]), of(r, &[1, 1, 1, 3]), of(r, &[1, 1, 3, 3]));
    let mut values = x.values(&cpu).iter().map(|&x| x as f32).collect::<Vec<_>>();
    (0..3).for_each(|row| values[5 * row + 4] = f32::INFINITY);
    cpu.write(&x.buffer, &values.iter().flat_map(|x| x.to_ne_bytes()).collect::<Vec<_>>()).unwrap();
    let window = Window { stride: [1; 2], padding: [0; 2], dilation: [1; 2], groups: 1 };
    let call = Call { x, w, y, bias: None, activation: Activation::Identity, window };
    call.run(&cpu, ConvolutionPart::Weight).unwrap();
    let filter = call.w.values(&cpu);
    assert!(filter[0].is_finite() && filter[1].is_finite() && !filter[2].is_finite(), "{filter:?}");
}

#[test]
#[cfg(not(miri))]
fn any_number_of_threads_gives_the_same_bits() {
    let cpu = CpuBackend::new();
    for seed in 0..6 {
        for part in PARTS {
            let run = |threads: usize| {
                let call = random(&cpu, &mut Random(1000 + seed), part, 40);
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                pool.install(|| call.run(&cpu, part)).unwrap();
                call.target(part).bytes(&cpu)
            };
            let one = run(1);
            assert!([2, 3, 8].into_iter().all(|threads| run(threads) == one), "{part:?}, seed {seed}");
        }
    }
}

#[test]
fn sums_of_16_bit_floats_are_rounded_once() {
    let cpu = CpuBackend::new();
    let r = &mut Random(1);
    let ones = |r: &mut Random, shape: &[usize]| {
        let t = Tensor::contiguous(&cpu, r, DType::BF16, shape);
        let one = bf16::from_f32(1.0).to_ne_bytes();
        cpu.write(&t.buffer, &one.repeat(shape.iter().product())).unwrap();
        t
    };
    let (x, w) = (ones(r, &[1, 1, 20, 20]), ones(r, &[1, 1, 20, 20]));
    let y = Tensor::contiguous(&cpu, r, DType::BF16, &[1, 1, 1, 1]);
    let window = Window { stride: [1; 2], padding: [0; 2], dilation: [1; 2], groups: 1 };
    let call = Call { x, w, y, bias: None, activation: Activation::Identity, window };
    call.run(&cpu, ConvolutionPart::Output).unwrap();
    // Added up in `bf16`, ones stop at 256.
    assert_eq!(call.y.values(&cpu), [400.0]);
}

#[test]
fn operands_are_verified() {
    let cpu = CpuBackend::new();
    let r = &mut Random(2);
    let window = Window { stride: [1; 2], padding: [0; 2], dilation: [1; 2], groups: 1 };
    let tensor = |r: &mut Random, shape: &[usize]| Tensor::contiguous(&cpu, r, DType::F32, shape);
    let (x, w, y) = (tensor(r, &[1, 2, 5, 5]), tensor(r, &[3, 2, 3, 3]), tensor(r, &[1, 3, 3, 3]));
    let square = tensor(r, &[2, 2, 3, 3]);
    let flat = tensor(r, &[2, 5, 5]);
    let ints = Tensor::contiguous(&cpu, r, DType::I64, &[1, 2, 5, 5]);
    let half = Tensor::contiguous(&cpu, r, DType::BF16, &[3, 2, 3, 3]);
    let bias = tensor(r, &[2]);
    let fails = |[x, w, y]: [&Tensor; 3], bias: Option<&Tensor>, window: Window, part, wanted: &str| {
        let [x, w, y] = [x, w, y].map(Tensor::clone);
        let call = Call { x, w, y, bias: bias.cloned(), activation: Activation::Identity, window };
        let error = call.run(&cpu, part).unwrap_err();
        assert!(error.to_string().contains(wanted), "{error}");
    };
    let part = ConvolutionPart::Output;
    fails([&flat, &w, &y], None, window, part, "`[2, 5, 5]` with the filters `[3, 2, 3, 3]` into `[1, 3, 3, 3]`");
    fails([&x, &w, &y], None, Window { groups: 2, ..window }, part, "groups: 2");
    fails([&x, &w, &y], None, Window { stride: [0, 1], ..window }, part, "are at least 1");
    fails([&x, &w, &y], None, Window { padding: [usize::MAX, 0], ..window }, part, "padding");
    fails([&ints, &w, &y], None, window, part, "dtype `i64` cannot be used here");
    fails([&x, &half, &y], None, window, part, "dtype `bf16` cannot be used here; accepted: `f32`");
    fails([&x, &w, &y], Some(&bias), window, part, "the bias is [2], expected [3]");
    fails([&x, &w, &y], Some(&tensor(r, &[3])), window, ConvolutionPart::Input, "the bias is [3], expected [2]");
    fails([&x, &w, &y], Some(&bias), window, ConvolutionPart::Weight, "filters have no epilogue");
    fails([&Tensor { offset: 999, ..x.clone() }, &w, &y], None, window, part, "the input reaches outside its buffer");
    fails([&x, &w, &Tensor { strides: vec![0, 0, 0, 1], ..y.clone() }], None, window, part, "repeats elements");
    fails([&square, &square, &square], None, Window { padding: [1, 1], ..window }, part, "overlaps an operand");
}
