//! Comparisons, truth values, and choices by truth values.

#![allow(non_snake_case, reason = "companions are named `<operation>__vjp`")]
#![allow(clippy::type_complexity, reason = "the type of a companion names all of its cotangents")]

use super::elementwise::{Forms, Function, Pair, broadcasting, of_integers, result_dtype, run, unary_to};
use super::fold::sum_to;
use super::operand::{IntOperand, Number, Operand, Slot, Value};
use crate::diff::{Pullback, Want, pull};
use crate::raise::raise;
use crate::tensor::{Bool, Dims, Float, Int, Kind, Raw, Tensor};
use cotangent_hal::{DType, Error, Kernel, Scalar};
use cotangent_macros::functions;

cotangent_macros::binary! { eq; ne; lt; le; gt; ge; }
functions! {
    /// Where an element is NaN.
    isnan;
    /// Where an element is infinite, of either sign.
    isinf;
    /// Where an element is neither infinite nor NaN.
    isfinite;
    /// Where the sign is minus, that of -0 too.
    signbit;
}

/// Declares comparisons of floats and of integers.
macro_rules! comparisons {
    ($($(#[$doc:meta])* $name:ident;)*) => {
        impl Tensor {
            $(
                $(#[$doc])*
                ///
                /// `other` is a tensor, whose shape broadcasts, or a number. A comparison with NaN is false, `ne` true.
                #[track_caller]
                pub fn $name<R: Operand>(self, other: R) -> Tensor<Bool> {
                    match other.operand(self.dtype()) {
                        Value::Tensor(other) => compare($name::FLOATS.forward, &self.raw, &other.raw),
                        Value::Number(n) => compare_number($name::FLOATS_RIGHT.forward, &self.raw, n),
                    }
                }
            )*
        }
        impl Tensor<Int> {
            $(
                $(#[$doc])*
                ///
                /// `other` is a tensor of integers, whose shape broadcasts, or an integer.
                #[track_caller]
                pub fn $name<R: IntOperand>(self, other: R) -> Tensor<Bool> {
                    match other.operand() {
                        Value::Tensor(other) => compare($name::INTS.forward, &self.raw, &other.raw),
                        Value::Number(n) => compare_number($name::INTS_RIGHT.forward, &self.raw, n),
                    }
                }
            )*
        }
    };
}

comparisons! {
    /// Where both are equal.
    eq;
    /// Where both differ.
    ne;
    /// Where `self` is smaller.
    lt;
    /// Where `self` is smaller or both are equal.
    le;
    /// Where `self` is larger.
    gt;
    /// Where `self` is larger or both are equal.
    ge;
}

impl Tensor<Bool> {
    /// Where both are equal. Shapes broadcast.
    #[track_caller]
    pub fn eq(self, other: Tensor<Bool>) -> Tensor<Bool> {
        compare(eq::BOOLS.forward, &self.raw, &other.raw)
    }

    /// Where both differ. Shapes broadcast.
    #[track_caller]
    pub fn ne(self, other: Tensor<Bool>) -> Tensor<Bool> {
        compare(ne::BOOLS.forward, &self.raw, &other.raw)
    }
}

#[track_caller]
fn compare(kernel: &'static Kernel, a: &Raw, b: &Raw) -> Tensor<Bool> {
    let dtype = result_dtype(a, b);
    let (a, b) = (of_integers(a.clone(), dtype), of_integers(b.clone(), dtype));
    Tensor::from_raw(broadcasting(kernel, &[&a, &b], DType::Bool, &[]))
}

#[track_caller]
fn compare_number(kernel: &'static Kernel, a: &Raw, n: Scalar) -> Tensor<Bool> {
    Tensor::from_raw(unary_to(kernel, a, DType::Bool, &[n]))
}

cotangent_hal::kernel! {
    static SELECT = Pointwise "select" (c: Each Bool, a: Each F32, b: Each F32) -> (y: Each F32) |tile| {
        for i in 0..tile.1 {
            y[i] = if c[i] { a[i] } else { b[i] };
        }
    }
}

cotangent_hal::kernel! {
    static SELECT_INT = Pointwise "mask_where" (c: Each Bool, a: Each I64, b: Each I64) -> (y: Each I64) |tile| {
        for i in 0..tile.1 {
            y[i] = if c[i] { a[i] } else { b[i] };
        }
    }
}

cotangent_hal::kernel! {
    static SELECT_BOOL = Pointwise "mask_where" (c: Each Bool, a: Each Bool, b: Each Bool) -> (y: Each Bool) |tile| {
        for i in 0..tile.1 {
            y[i] = if c[i] { a[i] } else { b[i] };
        }
    }
}

cotangent_hal::kernel! {
    static MASKED_FILL = Pointwise "masked_fill" (x: Each F32, m: Each Bool; value) -> (y: Each F32) |tile| {
        let value = Real::from(value);
        for i in 0..tile.1 {
            y[i] = if m[i] { value } else { x[i] };
        }
    }
}

cotangent_hal::kernel! {
    static KEEP = Pointwise "select" (x: Each F32, m: Each Bool; value) -> (y: Each F32) |tile| {
        for i in 0..tile.1 {
            y[i] = if m[i] { x[i] } else { 0.0 };
        }
    }
}

/// `a` where `c` is true, `b` elsewhere. Each of `a` and `b` is a tensor or a number; all shapes broadcast. Cotangents
/// go to the side that was chosen alone, so that a NaN on the other side does no harm.
#[track_caller]
pub fn select<A: Operand, B: Operand>(c: Tensor<Bool>, a: A, b: B) -> Tensor {
    let (a, b) = sides(a, b);
    choose(&c.raw, a, b)
}

/// The companion of the function [`select`].
#[doc(hidden)]
#[allow(non_camel_case_types, reason = "companions of functions bear the function's name")]
#[derive(Debug)]
pub enum select {}

impl select {
    #[doc(hidden)]
    #[track_caller]
    pub fn vjp<A: Operand, B: Operand>(
        c: Tensor<Bool>,
        a: A,
        b: B,
        want: Want,
    ) -> (Tensor, impl Pullback<(), Ct = Option<Tensor>, In = ((), A::Ct, B::Ct)> + use<A, B>) {
        let (a, b) = sides(a, b);
        let (y, saved) = select_vjp(c, a, b, want);
        let pullback = move |ct, (): &mut ()| {
            let (a, b) = saved.pull(ct);
            ((), A::Ct::slot(a), B::Ct::slot(b))
        };
        (y, pull(pullback))
    }
}

/// Both sides; integers become floats of the other side's dtype.
fn sides<A: Operand, B: Operand>(a: A, b: B) -> (Value<Float>, Value<Float>) {
    let dtype = a.float_dtype().or(b.float_dtype()).unwrap_or(DType::F32);
    (a.operand(dtype), b.operand(dtype))
}

#[track_caller]
fn choose(c: &Raw, a: Value<Float>, b: Value<Float>) -> Tensor {
    let number = |dtype, n| Raw::full(&c.device, dtype, &[], n);
    let (a, b) = match (a, b) {
        (Value::Tensor(a), Value::Tensor(b)) => (a.raw, b.raw),
        (Value::Tensor(a), Value::Number(n)) => (a.raw.clone(), number(a.dtype(), n)),
        (Value::Number(n), Value::Tensor(b)) => (number(b.dtype(), n), b.raw),
        (Value::Number(m), Value::Number(n)) => (number(DType::F32, m), number(DType::F32, n)),
    };
    Tensor::from_raw(broadcasting(&SELECT, &[c, &a, &b], result_dtype(&a, &b), &[]))
}

impl<K: Kind> Tensor<K> {
    /// `source` where `mask` is true, `self` elsewhere: tensors of one kind, whose shapes broadcast, that of the mask too.
    /// Of floats it is [`select`]`(mask, source, self)`.
    #[track_caller]
    pub fn mask_where(self, mask: Tensor<Bool>, source: Tensor<K>) -> Tensor<K> {
        let dtype = result_dtype(&source.raw, &self.raw);
        let kernel = match dtype.compute() {
            DType::I64 | DType::I32 | DType::U8 => &SELECT_INT,
            DType::Bool => &SELECT_BOOL,
            DType::F64 | DType::F32 | DType::F16 | DType::BF16 => &SELECT,
        };
        Tensor::from_raw(broadcasting(kernel, &[&mask.raw, &source.raw, &self.raw], dtype, &[]))
    }

    #[doc(hidden)]
    #[track_caller]
    pub fn mask_where__vjp(
        self,
        mask: Tensor<Bool>,
        source: Tensor<K>,
        want: Want,
    ) -> (Tensor<K>, impl Pullback<(), Ct = K::Ct, In = (K::Ct, (), K::Ct)> + use<K>) {
        let like = |x: &Tensor<K>, bit: usize| (K::ACTIVE && want.has(bit)).then_some((x.raw.shape, x.raw.dtype));
        let (a, b) = (like(&source, 2), like(&self, 0));
        let c = (a.is_some() || b.is_some()).then(|| mask.raw.clone().keep());
        let y = self.mask_where(mask, source);
        let choice = Choice { c, a, b };
        let pullback = pull(move |ct, (): &mut ()| {
            let (source, own) = choice.pull(K::ct_tensor(ct));
            (K::ct(own), (), K::ct(source))
        });
        (y, pullback)
    }
}

/// What a selection keeps: the condition, and the shapes and dtypes of the sides that want a cotangent.
struct Choice {
    c: Option<Raw>,
    a: Option<(Dims, DType)>,
    b: Option<(Dims, DType)>,
}

#[track_caller]
fn select_vjp(c: Tensor<Bool>, a: Value<Float>, b: Value<Float>, want: Want) -> (Tensor, Choice) {
    let shape = |v: &Value<Float>, bit: usize| match v {
        Value::Tensor(x) if want.has(bit) => Some((x.raw.shape, x.raw.dtype)),
        Value::Tensor(_) | Value::Number(_) => None,
    };
    let (sa, sb) = (shape(&a, 2), shape(&b, 3));
    let y = choose(&c.raw, a, b);
    let kept = (sa.is_some() || sb.is_some()).then(|| c.raw.keep());
    (y, Choice { c: kept, a: sa, b: sb })
}

impl Choice {
    fn pull(self, ct: Option<Tensor>) -> (Option<Tensor>, Option<Tensor>) {
        let (Some(ct), Some(c)) = (ct, self.c) else { return (None, None) };
        let part = |kernel, like: Option<(Dims, DType)>| {
            let (shape, dtype) = like?;
            let ct = masked(kernel, ct.raw.clone(), &c, Scalar::Float(0.0));
            Some(Tensor::from_raw(sum_to(ct, &shape).cast(dtype)))
        };
        (part(&KEEP, self.a), part(&MASKED_FILL, self.b))
    }
}

/// A kernel of a tensor and a mask that broadcasts to it, in place where nothing else holds the tensor.
#[track_caller]
fn masked(kernel: &'static Kernel, x: Raw, mask: &Raw, value: Scalar) -> Raw {
    x.same_device(kernel.name, mask);
    let mask = mask.expand_to(kernel.name, &x.shape);
    let out = Raw::output(&x.device, x.dtype, &x.shape, &[&x]);
    run(kernel, &x.shape, &[&x, &mask], &out, &[value]);
    out
}

impl Tensor {
    /// `value` where `mask` is true, `self` elsewhere. The mask's shape broadcasts to that of `self`; raises
    /// `Error::Shape` where it does not.
    #[track_caller]
    pub fn masked_fill(self, mask: Tensor<Bool>, value: impl Number) -> Tensor {
        Tensor::from_raw(masked_fill(&MASKED_FILL, self.raw, &mask.raw, value.number()))
    }

    #[doc(hidden)]
    #[track_caller]
    pub fn masked_fill__vjp<N: Number>(
        self,
        mask: Tensor<Bool>,
        value: N,
        want: Want,
    ) -> (Tensor, impl Pullback<(), Ct = Option<Tensor>, In = (Option<Tensor>, (), ())> + use<N>) {
        let y = self.masked_fill(mask.clone(), value);
        let mask = want.has(0).then(|| mask.raw.keep());
        (y, pull(move |ct, (): &mut ()| (masked_fill_backward(ct, mask), (), ())))
    }
}

/// A kernel of a tensor and a mask that broadcasts to it and has no more axes.
#[track_caller]
pub(super) fn masked_fill(kernel: &'static Kernel, x: Raw, mask: &Raw, value: Scalar) -> Raw {
    if mask.shape.len() > x.shape.len() {
        let message = format!("the mask {:?} does not broadcast to the tensor {:?}", mask.shape, x.shape);
        raise(Error::Shape { op: "masked_fill".into(), message });
    }
    masked(kernel, x, mask, value)
}

fn masked_fill_backward(ct: Option<Tensor>, mask: Option<Raw>) -> Option<Tensor> {
    Some(Tensor::from_raw(masked(&MASKED_FILL, ct?.raw, &mask?, Scalar::Float(0.0))))
}
