use std::fmt;

/// The type of a stored element.
///
/// Kernels compute in `F32` (or `F64`), `I64` and `Bool`; see [`DType::compute`]. All others are ways to store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DType {
    /// IEEE 754 binary64.
    F64,
    /// IEEE 754 binary32.
    F32,
    /// IEEE 754 binary16: 5 bits of exponent, 11 of significand.
    F16,
    /// The upper half of a binary32: 8 bits of exponent, 8 of significand.
    BF16,
    /// Two's complement, 64 bits.
    I64,
    /// Two's complement, 32 bits.
    I32,
    /// Without a sign, 8 bits.
    U8,
    /// One byte, 0 or 1.
    Bool,
}

impl DType {
    /// All of them.
    pub const ALL: [DType; 8] =
        [DType::F64, DType::F32, DType::F16, DType::BF16, DType::I64, DType::I32, DType::U8, DType::Bool];
    /// The floats.
    pub const FLOATS: [DType; 4] = [DType::F64, DType::F32, DType::F16, DType::BF16];
    /// The integers.
    pub const INTS: [DType; 3] = [DType::I64, DType::I32, DType::U8];

    /// Bytes of one element.
    pub const fn size(self) -> usize {
        match self {
            DType::F64 | DType::I64 => 8,
            DType::F32 | DType::I32 => 4,
            DType::F16 | DType::BF16 => 2,
            DType::U8 | DType::Bool => 1,
        }
    }

    /// The name in lower case, as safetensors and error messages have it: `f32`, `bf16`, `bool`.
    pub const fn name(self) -> &'static str {
        match self {
            DType::F64 => "f64",
            DType::F32 => "f32",
            DType::F16 => "f16",
            DType::BF16 => "bf16",
            DType::I64 => "i64",
            DType::I32 => "i32",
            DType::U8 => "u8",
            DType::Bool => "bool",
        }
    }

    /// Whether the elements are floats.
    pub const fn is_float(self) -> bool {
        matches!(self, DType::F64 | DType::F32 | DType::F16 | DType::BF16)
    }

    /// Whether the elements are integers; truth values are not.
    pub const fn is_int(self) -> bool {
        matches!(self, DType::I64 | DType::I32 | DType::U8)
    }

    /// Whether the elements are floats of 16 bits.
    pub const fn is_half(self) -> bool {
        matches!(self, DType::F16 | DType::BF16)
    }

    /// The dtype that values of this one are computed and summed in: the widest of the kind for integers, at least
    /// `F32` for floats.
    pub const fn compute(self) -> DType {
        match self {
            DType::F64 => DType::F64,
            DType::F32 | DType::F16 | DType::BF16 => DType::F32,
            DType::I64 | DType::I32 | DType::U8 => DType::I64,
            DType::Bool => DType::Bool,
        }
    }

    /// The dtype of an operation on both, by the rules of PyTorch's `promote_types`: a float wins over an integer and
    /// an integer over a truth value; of one kind the wider wins; `F16` and `BF16`, neither of which holds the other,
    /// meet in `F32`.
    pub const fn promote(self, other: DType) -> DType {
        let (a, b) = (self.rank(), other.rank());
        match (self, other) {
            (DType::F16, DType::BF16) | (DType::BF16, DType::F16) => DType::F32,
            _ if a >= b => self,
            _ => other,
        }
    }

    /// A number that orders dtypes by what they hold.
    const fn rank(self) -> u8 {
        match self {
            DType::Bool => 0,
            DType::U8 => 1,
            DType::I32 => 2,
            DType::I64 => 3,
            DType::F16 | DType::BF16 => 4,
            DType::F32 => 5,
            DType::F64 => 6,
        }
    }
}

impl fmt::Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::DType::{self, BF16, Bool, F16, F32, F64, I32, I64, U8};

    /// PyTorch's `torch.promote_types`, written out: rows and columns in the order of `DType::ALL`.
    #[test]
    fn promotion_is_pytorch_s() {
        let table = [
            [F64, F64, F64, F64, F64, F64, F64, F64],
            [F64, F32, F32, F32, F32, F32, F32, F32],
            [F64, F32, F16, F32, F16, F16, F16, F16],
            [F64, F32, F32, BF16, BF16, BF16, BF16, BF16],
            [F64, F32, F16, BF16, I64, I64, I64, I64],
            [F64, F32, F16, BF16, I64, I32, I32, I32],
            [F64, F32, F16, BF16, I64, I32, U8, U8],
            [F64, F32, F16, BF16, I64, I32, U8, Bool],
        ];
        for (a, row) in DType::ALL.into_iter().zip(table) {
            for (b, want) in DType::ALL.into_iter().zip(row) {
                assert_eq!(a.promote(b), want, "{a} with {b}");
            }
        }
    }

    #[test]
    fn kinds_are_closed_under_compute() {
        for dtype in DType::ALL {
            let compute = dtype.compute();
            assert_eq!((compute.is_float(), compute.is_int()), (dtype.is_float(), dtype.is_int()));
            assert!(compute.size() >= dtype.size() && compute.compute() == compute);
        }
        assert!(DType::FLOATS.iter().all(|d| d.is_float()) && DType::INTS.iter().all(|d| d.is_int()));
    }
}
