//! Randomness as a pure function of a key and a counter: seeded, replayable, the same on every device and for any
//! number of threads.

mod fill;

use crate::raise::raise;
use cotangent_hal::{Error, Scalar};
use cotangent_ir::philox::block;
use serde::{Deserialize, Serialize};

/// Names a stream of random words: equal keys give equal tensors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Key(pub u64);

/// The last counter word keeps what a key is used for apart, so that no two uses share a block.
#[derive(Clone, Copy)]
enum Use {
    /// The words of a tensor, and single numbers.
    Words = 0,
    /// Keys that an [`Rng`] hands out.
    Derive = 1,
    /// Keys of [`Key::at`].
    Fold = 2,
}

impl Key {
    /// The key of the `draw`-th draw of step `step`.
    pub fn at(self, step: u64, draw: u32) -> Key {
        key_of(block(self.0, [step as u32, (step >> 32) as u32, draw, Use::Fold as u32]))
    }

    /// The key as an argument of a kernel.
    pub(crate) fn scalar(self) -> Scalar {
        Scalar::Int(self.0 as i64)
    }

    /// The key that a kernel got as an argument.
    pub(crate) fn of(scalar: Scalar) -> Key {
        Key(scalar.i64() as u64)
    }
}

fn key_of(words: [u32; 4]) -> Key {
    Key(u64::from(words[1]) << 32 | u64::from(words[0]))
}

/// A source of random numbers, keys and tensors: a key and the count of what was drawn.
///
/// It is its own state: save it with serde, restore it, and it goes on where it was.
///
/// ```
/// use cotangent_runtime::Rng;
/// let mut rng = Rng::seed(7);
/// let first = rng.uniform();
/// assert!((0.0..1.0).contains(&first) && first != rng.uniform());
/// assert_eq!(first, Rng::seed(7).uniform());
/// let mut order = rng.permutation(5);
/// order.sort();
/// assert_eq!(order, [0, 1, 2, 3, 4]);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rng {
    key: u64,
    counter: u64,
}

impl Rng {
    /// The source that `seed` names.
    pub fn seed(seed: u64) -> Rng {
        Rng { key: seed, counter: 0 }
    }

    /// The key and the count of what was drawn.
    pub fn state(&self) -> (u64, u64) {
        (self.key, self.counter)
    }

    /// The source with that state.
    pub fn from_state((key, counter): (u64, u64)) -> Rng {
        Rng { key, counter }
    }

    /// A fresh key, for a random tensor.
    pub fn key(&mut self) -> Key {
        key_of(self.next(Use::Derive))
    }

    /// A source of its own, for a worker or a part of a program whose draws must not move others'.
    pub fn fork(&mut self) -> Rng {
        Rng::seed(self.key().0)
    }

    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        key_of(self.next(Use::Words)).0
    }

    /// A uniform number in `[0, 1)`, of 53 bits.
    pub fn uniform(&mut self) -> f64 {
        (self.bits() >> 11) as f64 * (1.0 / 9_007_199_254_740_992.0)
    }

    /// A uniform integer from 0 to `n - 1`, without bias; raises for `n = 0`.
    #[track_caller]
    pub fn below(&mut self, n: usize) -> usize {
        if n == 0 {
            raise(Error::Argument { op: "below".into(), message: "no integer is below 0; give at least 1".into() });
        }
        let n = n as u64;
        // The low half of the product tells whether the high half would be drawn once too often.
        let uneven = n.wrapping_neg() % n;
        loop {
            let product = u128::from(self.bits()) * u128::from(n);
            if product as u64 >= uneven {
                return (product >> 64) as usize;
            }
        }
    }

    /// Puts `items` in a uniformly random order.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }

    /// The numbers `0..n` in a uniformly random order.
    pub fn permutation(&mut self, n: usize) -> Vec<usize> {
        let mut out: Vec<usize> = (0..n).collect();
        self.shuffle(&mut out);
        out
    }

    fn next(&mut self, purpose: Use) -> [u32; 4] {
        let at = self.counter;
        self.counter = at.wrapping_add(1);
        block(self.key, [at as u32, (at >> 32) as u32, 0, purpose as u32])
    }
}
