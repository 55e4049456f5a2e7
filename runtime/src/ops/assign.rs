//! The operators `+= -= *= /= %=` and, of integers and truth values, `&= |= ^= <<= >>=`: `a += b` is `a = a + b`. A tensor
//! that another handle can see is not changed by it.

use super::operand::{IntOperand, Operand};
use crate::tensor::{Bool, Int, Tensor};
use std::ops;

macro_rules! assign {
    ($($bound:ident of $K:ty: $($Trait:ident $method:ident $op:tt),+;)*) => { $($(
        impl<R: $bound> ops::$Trait<R> for Tensor<$K> {
            #[track_caller]
            fn $method(&mut self, rhs: R) {
                *self = &*self $op rhs;
            }
        }
    )+)* };
}
assign! {
    Operand of crate::tensor::Float: AddAssign add_assign +, SubAssign sub_assign -, MulAssign mul_assign *,
        DivAssign div_assign /, RemAssign rem_assign %;
    IntOperand of Int: AddAssign add_assign +, SubAssign sub_assign -, MulAssign mul_assign *, RemAssign rem_assign %,
        BitAndAssign bitand_assign &, BitOrAssign bitor_assign |, BitXorAssign bitxor_assign ^, ShlAssign shl_assign <<,
        ShrAssign shr_assign >>;
}

macro_rules! assign_truths {
    ($($Trait:ident $method:ident $op:tt),+) => { $(
        impl ops::$Trait<Tensor<Bool>> for Tensor<Bool> {
            #[track_caller]
            fn $method(&mut self, rhs: Tensor<Bool>) {
                *self = &*self $op rhs;
            }
        }
        impl ops::$Trait<&Tensor<Bool>> for Tensor<Bool> {
            #[track_caller]
            fn $method(&mut self, rhs: &Tensor<Bool>) {
                *self = &*self $op rhs;
            }
        }
    )+ };
}
assign_truths!(BitAndAssign bitand_assign &, BitOrAssign bitor_assign |, BitXorAssign bitxor_assign ^);
