//! Bits of integers and truth values, and the operators `& | ^ << >> !`.

use super::arith::apply_int;
use super::elementwise::{Forms, Function, Pair, binary};
use super::operand::IntOperand;
use crate::tensor::{Bool, Int, Kind, Tensor};
use cotangent_macros::functions;
use std::ops;

cotangent_macros::binary! {
    bitwise_and; bitwise_or; bitwise_xor; bitwise_left_shift; bitwise_right_shift;
    logical_and; logical_or; logical_xor;
}
functions! {
    mod bitwise_not;
    mod logical_not;
}

macro_rules! bitwise {
    ($($(#[$doc:meta])* $name:ident $Trait:ident $operator:ident;)*) => { $(
        impl Tensor<Int> {
            $(#[$doc])*
            ///
            /// `other` is a tensor of integers, whose shape broadcasts, or an integer; dtypes are promoted.
            #[track_caller]
            pub fn $name<R: IntOperand>(self, other: R) -> Tensor<Int> {
                apply_int(&$name::INTS_FORMS, self, other.operand())
            }
        }
        impl<R: IntOperand> ops::$Trait<R> for Tensor<Int> {
            type Output = Tensor<Int>;
            #[track_caller]
            fn $operator(self, other: R) -> Tensor<Int> {
                self.$name(other)
            }
        }
        impl<R: IntOperand> ops::$Trait<R> for &Tensor<Int> {
            type Output = Tensor<Int>;
            #[track_caller]
            fn $operator(self, other: R) -> Tensor<Int> {
                self.clone().$name(other)
            }
        }
    )* };
}

bitwise! {
    /// The bits that are set in both. Also `self & other`.
    bitwise_and BitAnd bitand;
    /// The bits that are set in either. Also `self | other`.
    bitwise_or BitOr bitor;
    /// The bits that are set in one of both. Also `self ^ other`.
    bitwise_xor BitXor bitxor;
    /// `self` shifted to the left by `other` bits; 0 for a distance outside of 0 to 63. Also `self << other`.
    bitwise_left_shift Shl shl;
    /// `self` shifted to the right by `other` bits, keeping its sign; all sign for a distance outside of 0 to 63. Also
    /// `self >> other`.
    bitwise_right_shift Shr shr;
}

macro_rules! truths {
    ($($(#[$doc:meta])* $name:ident $bitwise:ident $Trait:ident $operator:ident;)*) => { $(
        impl<K: Kind> Tensor<K> {
            $(#[$doc])*
            ///
            /// Of numbers, 0 is false and all else true, NaN too. Shapes broadcast.
            #[track_caller]
            pub fn $name<L: Kind>(self, other: Tensor<L>) -> Tensor<Bool> {
                Tensor::from_raw(binary($name::BOOLS.forward, self.bool().raw, other.bool().raw, &[]))
            }
        }
        impl Tensor<Bool> {
            $(#[$doc])*
            ///
            /// Shapes broadcast.
            #[track_caller]
            pub fn $bitwise(self, other: Tensor<Bool>) -> Tensor<Bool> {
                Tensor::from_raw(binary($bitwise::BOOLS.forward, self.raw, other.raw, &[]))
            }
        }
        truths!(@operator $Trait $operator $bitwise Tensor<Bool>, Tensor<Bool>);
        truths!(@operator $Trait $operator $bitwise Tensor<Bool>, &Tensor<Bool>);
        truths!(@operator $Trait $operator $bitwise &Tensor<Bool>, Tensor<Bool>);
        truths!(@operator $Trait $operator $bitwise &Tensor<Bool>, &Tensor<Bool>);
    )* };
    (@operator $Trait:ident $operator:ident $bitwise:ident $Left:ty, $Right:ty) => {
        impl ops::$Trait<$Right> for $Left {
            type Output = Tensor<Bool>;
            #[track_caller]
            fn $operator(self, other: $Right) -> Tensor<Bool> {
                Tensor::clone(&self).$bitwise(Tensor::clone(&other))
            }
        }
    };
}

truths! {
    /// Where both are true.
    logical_and bitwise_and BitAnd bitand;
    /// Where either is true.
    logical_or bitwise_or BitOr bitor;
    /// Where one of both is true.
    logical_xor bitwise_xor BitXor bitxor;
}

impl<K: Kind> Tensor<K> {
    /// Where `self` is false: of numbers, where it is 0.
    #[track_caller]
    pub fn logical_not(self) -> Tensor<Bool> {
        logical_not::BOOLS.of(self.bool(), &[])
    }
}

impl Tensor<Int> {
    /// Every bit turned over: `-x - 1` of each element `x`. Also `!self`.
    #[track_caller]
    pub fn bitwise_not(self) -> Tensor<Int> {
        bitwise_not::INTS.of(self, &[])
    }
}

impl Tensor<Bool> {
    /// Where `self` is false. Also `!self`.
    #[track_caller]
    pub fn bitwise_not(self) -> Tensor<Bool> {
        bitwise_not::BOOLS.of(self, &[])
    }
}

macro_rules! not {
    ($($K:ident),*) => { $(
        impl ops::Not for Tensor<$K> {
            type Output = Tensor<$K>;
            #[track_caller]
            fn not(self) -> Tensor<$K> {
                self.bitwise_not()
            }
        }
        impl ops::Not for &Tensor<$K> {
            type Output = Tensor<$K>;
            #[track_caller]
            fn not(self) -> Tensor<$K> {
                self.clone().bitwise_not()
            }
        }
    )* };
}
not!(Int, Bool);
