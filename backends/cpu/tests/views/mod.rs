//! Tensors of random layout, and what they hold.
#![allow(dead_code, reason = "each test file uses a part")]

use cotangent_cpu::CpuBackend;
use cotangent_hal::{Activation, Arg, Backend, Buffer, DType, View};
use half::{bf16, f16};

/// A small generator of numbers, the same on every run.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    pub(crate) fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    /// True once in `n` times.
    pub(crate) fn once_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    /// A multiple of 1/8 of small size, so that short sums are exact in any order.
    pub(crate) fn value(&mut self) -> f32 {
        self.below(128) as f32 / 8.0 - 8.0
    }

    /// `F32` half of the time, else any float.
    pub(crate) fn float(&mut self) -> DType {
        if self.once_in(2) { DType::F32 } else { DType::FLOATS[self.below(4)] }
    }

    /// `I64` half of the time, else any integer.
    pub(crate) fn int(&mut self) -> DType {
        if self.once_in(2) { DType::I64 } else { DType::INTS[self.below(3)] }
    }

    /// A shape of rank `ranks`, of about at most `elements`, with some axes of size 1.
    pub(crate) fn shape(&mut self, least: usize, most: usize, elements: usize) -> Vec<usize> {
        let rank = least + self.below(most - least + 1);
        let mut room = elements;
        let mut shape: Vec<usize> = (0..rank)
            .map(|i| {
                let cap = if i + 1 == rank { room } else { room.min(40) };
                let extent = if self.once_in(4) { 1 } else { 1 + self.below(cap.max(1)) };
                room /= extent;
                extent
            })
            .collect();
        // The long axis may be any.
        if rank > 1 {
            shape.rotate_left(self.below(rank));
        }
        shape
    }
}

/// How a tensor lies in memory.
#[derive(Clone, Debug)]
pub(crate) struct Tensor {
    pub(crate) buffer: Buffer,
    pub(crate) dtype: DType,
    pub(crate) offset: usize,
    pub(crate) shape: Vec<usize>,
    pub(crate) strides: Vec<isize>,
    pub(crate) elements: usize,
}

impl Tensor {
    /// A contiguous tensor of random values.
    pub(crate) fn contiguous(cpu: &CpuBackend, random: &mut Random, dtype: DType, shape: &[usize]) -> Tensor {
        Tensor::laid_out(cpu, random, dtype, shape, |_| false, false)
    }

    /// A tensor permuted, sliced, reversed at random, and, where `broadcast`, repeated along axes.
    pub(crate) fn strided(
        cpu: &CpuBackend,
        random: &mut Random,
        dtype: DType,
        shape: &[usize],
        broadcast: bool,
    ) -> Tensor {
        if random.once_in(3) {
            return Tensor::contiguous(cpu, random, dtype, shape);
        }
        Tensor::laid_out(cpu, random, dtype, shape, |r| broadcast && r.once_in(3), true)
    }

    fn laid_out(
        cpu: &CpuBackend,
        random: &mut Random,
        dtype: DType,
        shape: &[usize],
        mut repeat: impl FnMut(&mut Random) -> bool,
        vary: bool,
    ) -> Tensor {
        let mut order: Vec<usize> = (0..shape.len()).rev().collect();
        if vary {
            for i in (1..order.len()).rev() {
                order.swap(i, random.below(i + 1));
            }
        }
        let mut strides = vec![0; shape.len()];
        let (mut offset, mut pitch) = (0usize, 1usize);
        for axis in order {
            if repeat(random) {
                continue;
            }
            let (step, before, after) = if vary && random.once_in(3) {
                (1 + random.below(2), random.below(3), random.below(3))
            } else {
                (1, 0, 0)
            };
            let extent = shape[axis].max(1);
            strides[axis] = (pitch * step) as isize;
            offset += before * pitch;
            if vary && random.once_in(3) {
                offset += (extent - 1) * step * pitch;
                strides[axis] = -strides[axis];
            }
            pitch *= before + (extent - 1) * step + 1 + after;
        }
        let bytes: Vec<u8> = (0..pitch)
            .flat_map(|_| match dtype {
                DType::F64 => f64::from(random.value()).to_ne_bytes().to_vec(),
                DType::F32 => random.value().to_ne_bytes().to_vec(),
                DType::F16 => f16::from_f32(random.value()).to_ne_bytes().to_vec(),
                DType::BF16 => bf16::from_f32(random.value()).to_ne_bytes().to_vec(),
                DType::I64 => (random.below(1000) as i64 - 500).to_ne_bytes().to_vec(),
                DType::I32 => (random.below(1000) as i32 - 500).to_ne_bytes().to_vec(),
                DType::U8 => vec![random.below(256) as u8],
                DType::Bool => vec![u8::from(random.once_in(2))],
            })
            .collect();
        let buffer = cpu.alloc(bytes.len()).unwrap();
        cpu.write(&buffer, &bytes).unwrap();
        Tensor { buffer, dtype, offset, shape: shape.to_vec(), strides, elements: pitch }
    }

    pub(crate) fn view(&self) -> View<'_> {
        View {
            buffer: &self.buffer,
            dtype: self.dtype,
            offset: self.offset,
            shape: &self.shape,
            strides: &self.strides,
        }
    }

    pub(crate) fn input(&self) -> Arg<'_> {
        Arg::In(self.view())
    }

    pub(crate) fn output(&self) -> Arg<'_> {
        Arg::Out(self.view())
    }

    /// Positions of the elements, in row-major order.
    pub(crate) fn places(&self) -> Vec<usize> {
        let mut all = vec![self.offset as isize];
        for (&extent, &stride) in self.shape.iter().zip(&self.strides) {
            all = all.iter().flat_map(|&x| (0..extent as isize).map(move |i| x + i * stride)).collect();
        }
        all.into_iter().map(|x| x as usize).collect()
    }

    pub(crate) fn bytes(&self, cpu: &CpuBackend) -> Vec<u8> {
        let mut bytes = vec![0; self.elements * self.dtype.size()];
        cpu.read(&self.buffer, &mut bytes).unwrap();
        bytes
    }

    /// The elements in row-major order, as `f64`.
    pub(crate) fn values(&self, cpu: &CpuBackend) -> Vec<f64> {
        let bytes = self.bytes(cpu);
        let size = self.dtype.size();
        self.places()
            .into_iter()
            .map(|p| {
                let b = &bytes[p * size..(p + 1) * size];
                match self.dtype {
                    DType::F64 => f64::from_ne_bytes(b.try_into().unwrap()),
                    DType::F32 => f64::from(f32::from_ne_bytes(b.try_into().unwrap())),
                    DType::F16 => f64::from(f16::from_ne_bytes(b.try_into().unwrap())),
                    DType::BF16 => f64::from(bf16::from_ne_bytes(b.try_into().unwrap())),
                    DType::I64 => i64::from_ne_bytes(b.try_into().unwrap()) as f64,
                    DType::I32 => f64::from(i32::from_ne_bytes(b.try_into().unwrap())),
                    DType::U8 | DType::Bool => f64::from(b[0]),
                }
            })
            .collect()
    }

    /// What an element of this tensor becomes that is computed as `value`, one that `f32` holds exactly.
    fn stored(&self, value: f64) -> f64 {
        match self.dtype {
            DType::F64 | DType::F32 => value,
            DType::F16 => f64::from(f16::from_f64(value)),
            DType::BF16 => f64::from(bf16::from_f64(value)),
            DType::I64 | DType::Bool => value,
            DType::I32 => f64::from(value as i64 as i32),
            DType::U8 => f64::from(value as i64 as u8),
        }
    }

    /// Asserts that the elements are `wanted`, rounded as they are stored, and that no byte between them differs from
    /// `before`.
    pub(crate) fn expect(&self, cpu: &CpuBackend, before: &[u8], wanted: &[f64], what: &str) {
        let given = self.values(cpu);
        assert_eq!(given.len(), wanted.len(), "{what}");
        for (i, (g, w)) in given.iter().zip(wanted).enumerate() {
            let w = &self.stored(*w);
            assert!(g == w || g.is_nan() && w.is_nan(), "{what}: element {i} is {g}, not {w}, in {self:?}");
        }
        let size = self.dtype.size();
        let mut outside = vec![true; self.elements];
        self.places().into_iter().for_each(|p| outside[p] = false);
        let after = self.bytes(cpu);
        for (p, _) in outside.iter().enumerate().filter(|(_, o)| **o) {
            let range = p * size..(p + 1) * size;
            assert_eq!(after[range.clone()], before[range], "{what}: element {p} outside the view changed, {self:?}");
        }
    }
}

/// As many random cases as are worth while: a few under Miri.
pub(crate) fn cases(n: u64) -> std::ops::Range<u64> {
    0..if cfg!(miri) { n.min(6) } else { n }
}

/// Elements of a random case.
pub(crate) fn size() -> usize {
    if cfg!(miri) { 60 } else { 6000 }
}

/// What a function of an epilogue makes of an element.
pub(crate) fn activated(activation: Activation, x: f64) -> f64 {
    match activation {
        Activation::Identity => x,
        Activation::Relu => x.max(0.0),
        Activation::Gelu => x / 2.0 * (1.0 + libm::erf(x / 2f64.sqrt())),
        Activation::GeluTanh => {
            x / 2.0 * (1.0 + ((2.0 / std::f64::consts::PI).sqrt() * (x + 0.044715 * x.powi(3))).tanh())
        }
        Activation::Silu => x / (1.0 + (-x).exp()),
    }
}
