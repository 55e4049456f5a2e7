//! A kernel's native code beside its evaluator.

use crate::common::{Rng, cotangents, derive, floats, gradients};
use cotangent::__private::kernel::{Cotangents, Def, Given, IntoGiven, Saved, call, vjp};
use cotangent::__private::{Bool, Float, Int, Want};
use cotangent::prelude::cat;
use cotangent::{DType, Device, Tensor};
use cotangent_ir::{Arg, Data, Derivative, Kernel, Kind, Save, Value, eval};

/// How far native results may be from exact ones, relative to 1 and the largest of them: a few roundings of what is
/// stored, and many of what is computed, `f32` but for `f64`.
fn tolerance(dtype: DType) -> f64 {
    let (stored, computed) = match dtype {
        DType::F64 => (f64::EPSILON, f64::EPSILON),
        DType::F16 => (f64::exp2(-10.0), f64::from(f32::EPSILON)),
        DType::BF16 => (f64::exp2(-7.0), f64::from(f32::EPSILON)),
        DType::F32 | DType::I64 | DType::I32 | DType::U8 | DType::Bool => {
            (f64::from(f32::EPSILON), f64::from(f32::EPSILON))
        }
    };
    // A sine of a sum of thousands, such as the kernels have, loses digits of its argument.
    let many = if dtype == DType::F64 { 16384.0 } else { 2048.0 };
    4.0 * stored + many * computed
}

/// How the floats of a tensor lie in memory.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Layout {
    /// In row-major order.
    Plain,
    /// Axes in reverse order.
    Reversed,
    /// A part of a wider tensor.
    Part,
}

impl Layout {
    pub(crate) const ALL: [Layout; 3] = [Layout::Plain, Layout::Reversed, Layout::Part];

    fn of(self, x: Tensor) -> Tensor {
        let rank = x.shape().len();
        match self {
            Layout::Plain => x,
            Layout::Reversed => {
                let order: Vec<isize> = (0..rank as isize).rev().collect();
                x.permute(&order[..]).contiguous().permute(&order[..])
            }
            Layout::Part => {
                let n = x.shape()[rank - 1];
                let edge = Tensor::full(x.shape(), 9.0f32, &Device::cpu()).to(x.dtype());
                cat(vec![edge.clone(), x, edge], -1).narrow(-1, n, n)
            }
        }
    }
}

/// A kernel with its derivative, as it is evaluated.
pub(crate) struct Reference {
    kernel: Kernel,
    /// The float arguments that are tensors.
    wrt: Vec<Arg>,
    derivative: Option<Derivative>,
}

impl Reference {
    pub(crate) fn new(kernel: Kernel) -> Reference {
        let wrt: Vec<Arg> = floats(&kernel).into_iter().filter(|a| !kernel.args[a.at()].dims.is_empty()).collect();
        let derivative = (!wrt.is_empty()).then(|| derive(&kernel, &wrt, Save::Nothing));
        Reference { kernel, wrt, derivative }
    }
}

/// One comparison.
pub(crate) struct Case<'a> {
    pub(crate) def: &'static Def,
    pub(crate) reference: &'a Reference,
    pub(crate) dtype: DType,
    pub(crate) layout: Layout,
}

impl Case<'_> {
    /// Compares results and cotangents; says whether there was something to compare: no position is outside, and the
    /// dtype holds the results.
    pub(crate) fn check(&self, args: &[Value], rng: &mut Rng) -> Result<bool, String> {
        let k = &self.reference.kernel;
        // What both sides see is what the dtype holds.
        let args: Vec<Value> = args.iter().map(|v| self.rounded(v)).collect();
        let Ok(expected) = eval(k, &args) else { return Ok(false) };
        if !expected.iter().all(|out| self.holds(out)) {
            return Ok(false);
        }
        let list =
            || -> Vec<Given> { k.args.iter().zip(&args).map(|(def, v)| self.given(v, def.dims.is_empty())).collect() };
        let mut outs = call(self.def, &list());
        for (out, expected) in k.outs.iter().zip(&expected) {
            let same = match (&out.kind, &expected.data) {
                (Kind::Int, Data::Int(e)) => outs.next::<Int>().to_vec() == *e,
                (Kind::Bool, Data::Bool(e)) => outs.next::<Bool>().to_vec() == *e,
                _ => {
                    self.close(&out.name, &outs.next::<Float>(), expected, &args)?;
                    true
                }
            };
            if !same {
                return Err(format!("{self:?}: `{}` differs\n{k}", out.name));
            }
        }
        let Some(derivative) = &self.reference.derivative else { return Ok(true) };
        let cts = cotangents(k, &expected, rng);
        let cts: Vec<Option<Value>> = cts.iter().map(|ct| Some(self.rounded(ct.as_ref()?))).collect();
        let wanted = gradients(k, derivative, &args, &cts);
        if !wanted.iter().all(|ct| self.holds(ct)) {
            return Ok(false);
        }
        let (_, saved) = vjp(self.def, list(), Want::ALL);
        let cts: Vec<Option<Tensor>> = cts.iter().map(|ct| Some(self.layout.of(self.tensor(ct.as_ref()?)))).collect();
        let mut found = pulled(saved, &cts, args.len());
        for (at, arg) in (0..).map(Arg).zip(k.args.iter()) {
            let ct: Option<Tensor> = found.next();
            if let Some(place) = self.reference.wrt.iter().position(|a| *a == at) {
                let Some(ct) = ct else {
                    // One that is 0 everywhere is not computed.
                    if wanted[place].floats().iter().all(|v| *v == 0.0) {
                        continue;
                    }
                    return Err(format!("{self:?}: no cotangent of `{}`", arg.name));
                };
                self.close(&format!("the cotangent of `{}`", arg.name), &ct, &wanted[place], &args)?;
            }
        }
        Ok(true)
    }

    fn close(&self, what: &str, found: &Tensor, expected: &Value, args: &[Value]) -> Result<(), String> {
        if (found.shape(), found.dtype()) != (&expected.shape[..], self.dtype) {
            return Err(format!("{self:?}: {what} is {:?} of {}", found.shape(), found.dtype()));
        }
        let (found, expected) = (found.to_vec_of::<f64>(), expected.floats());
        let largest = expected.iter().fold(1.0, |m: f64, e| m.max(e.abs()));
        let limit = tolerance(self.dtype) * largest;
        for (f, e) in found.iter().zip(expected) {
            let same = f == e || (f - e).abs() <= limit || (f.is_nan() && e.is_nan());
            if !same {
                let shapes: Vec<&[usize]> = args.iter().map(|a| &a.shape[..]).collect();
                let off = format!("off by {:.1e}, more than {limit:.1e}", (f - e).abs());
                return Err(format!(
                    "{self:?}: {what} holds {f}, not {e}, {off}, for {shapes:?}\n{}",
                    self.reference.kernel
                ));
            }
        }
        Ok(())
    }

    /// Whether the dtype can hold these numbers.
    fn holds(&self, value: &Value) -> bool {
        let finite = |data: &[f64]| data.iter().all(|x| x.abs() < 6e4);
        self.dtype != DType::F16 || !matches!(&value.data, Data::Float(data) if !finite(data))
    }

    /// The value with floats that the dtype holds.
    fn rounded(&self, value: &Value) -> Value {
        match &value.data {
            Data::Float(_) if !value.shape.is_empty() => {
                Value::float(&value.shape, self.tensor(value).to_vec_of::<f64>())
            }
            Data::Float(_) | Data::Int(_) | Data::Bool(_) => value.clone(),
        }
    }

    fn tensor(&self, value: &Value) -> Tensor {
        Tensor::from_slice_of(value.floats(), &value.shape[..], &Device::cpu()).to(self.dtype)
    }

    /// A value as an argument.
    fn given(&self, value: &Value, number: bool) -> Given {
        let device = Device::cpu();
        match &value.data {
            Data::Float(data) if number => data[0].given(),
            Data::Int(data) if number => data[0].given(),
            Data::Bool(data) if number => data[0].given(),
            Data::Float(_) => self.layout.of(self.tensor(value)).given(),
            Data::Int(data) => Tensor::<Int>::from_slice(data, &value.shape[..], &device).given(),
            Data::Bool(data) => Tensor::<Bool>::from_slice(data, &value.shape[..], &device).given(),
        }
    }
}

impl std::fmt::Debug for Case<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} ({}, {:?})", self.reference.kernel.name, self.dtype, self.layout)
    }
}

/// The cotangents of the arguments.
fn pulled(saved: Saved, cts: &[Option<Tensor>], args: usize) -> Cotangents {
    match cts {
        [a] => saved.pull([a.clone()], args),
        [a, b] => saved.pull([a.clone(), b.clone()], args),
        [a, b, c] => saved.pull([a.clone(), b.clone(), c.clone()], args),
        _ => panic!("{} outputs", cts.len()),
    }
}
