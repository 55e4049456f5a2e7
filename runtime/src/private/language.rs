//! What bodies of kernels name, as items that an editor completes and shows. Rustc never sees them.

use std::ops::{Index, IndexMut};

macro_rules! ranks {
    ($($name:ident of $part:ty;)*) => { $(
        /// A tensor in the body of a kernel; an index gives an element, or a tensor of one axis less.
        pub struct $name<T>(T);

        impl<T, I> Index<I> for $name<T> {
            type Output = $part;
            fn index(&self, _: I) -> &$part {
                loop {}
            }
        }
        impl<T, I> IndexMut<I> for $name<T> {
            fn index_mut(&mut self, _: I) -> &mut $part {
                loop {}
            }
        }
    )* };
}
ranks! {
    Tensor1 of T;
    Tensor2 of Tensor1<T>;
    Tensor3 of Tensor2<T>;
    Tensor4 of Tensor3<T>;
    Tensor5 of Tensor4<T>;
    Tensor6 of Tensor5<T>;
    Tensor7 of Tensor6<T>;
    Tensor8 of Tensor7<T>;
}

cotangent_macros::kernel_language!();
