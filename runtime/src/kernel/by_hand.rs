//! The pullback of a kernel whose derivative the user wrote.

use super::call::Cotangents;
use crate::device::Device;
use crate::diff::Want;
use crate::raise::raise;
use crate::tensor::{Dims, Raw, Tensor};
use cotangent_hal::{DType, Error, Scalar};

/// What the pullback needs beside what the derivative takes.
pub struct ByHand {
    op: &'static str,
    want: Want,
    /// The arguments that have a cotangent, by number and name, and their shapes.
    wrt: Vec<(u32, &'static str, Dims)>,
    /// What a cotangent that is zero looks like, by output.
    likes: Vec<(usize, Device, DType, Dims)>,
    cts: Vec<Option<Tensor>>,
}

impl ByHand {
    /// For a call with these arguments; bit `i + 1` of `want` stands for argument `i`.
    pub fn new(op: &'static str, want: Want, wrt: &[(u32, &'static str, &Tensor)]) -> ByHand {
        let wrt = wrt.iter().map(|(at, name, x)| (*at, *name, x.raw.shape)).collect();
        ByHand { op, want, wrt, likes: vec![], cts: vec![] }
    }

    /// Whether a cotangent is wanted.
    fn active(&self) -> bool {
        self.wrt.iter().any(|(at, _, _)| self.want.has(*at as usize + 1))
    }

    /// A value that the derivative takes, where it will run.
    pub fn keep<T: Clone>(&self, value: &T) -> Option<T> {
        self.active().then(|| value.clone())
    }

    /// Notes the shape of an output, of which the derivative takes the cotangent.
    pub fn like(&mut self, out: usize, y: &Tensor) {
        self.likes.push((out, y.raw.device, y.raw.dtype, y.raw.shape));
    }

    /// Takes the cotangents of the outputs; `None` where the derivative need not run.
    pub fn begin<const N: usize>(mut self, cts: [Option<Tensor>; N]) -> Option<ByHand> {
        let runs = self.active() && cts.iter().any(Option::is_some);
        self.cts = cts.into();
        runs.then_some(self)
    }

    /// The cotangent of an output.
    pub fn cotangent(&self, out: usize) -> Tensor {
        let zero = || {
            let (_, device, dtype, shape) = self.likes.iter().find(|like| like.0 == out)?;
            Some(Tensor::from_raw(Raw::full(device, *dtype, shape, Scalar::Float(0.0))))
        };
        match self.cts.get(out).cloned().flatten().or_else(zero) {
            Some(ct) => ct,
            None => panic!("a derivative takes the cotangent of an output that was not noted; please report this"),
        }
    }

    /// The cotangents of all `count` arguments, from what the derivative gave; raises where a shape is not the argument's.
    #[track_caller]
    pub fn finish<const N: usize>(self, results: [Tensor; N], count: usize) -> Cotangents {
        let mut list = vec![None; count];
        for ((at, name, shape), result) in self.wrt.iter().zip(results) {
            if *result.raw.shape != **shape {
                let message = format!(
                    "the derivative gives a cotangent of shape {:?} for `{name}`, which is {:?}",
                    &*result.raw.shape, &**shape
                );
                raise(Error::Shape { op: self.op.into(), message })
            }
            if self.want.has(*at as usize + 1) {
                list[*at as usize] = Some(result.raw);
            }
        }
        Cotangents(list.into_iter())
    }

    /// No cotangent for any of `count` arguments.
    pub fn nothing(count: usize) -> Cotangents {
        Cotangents(vec![None; count].into_iter())
    }
}
