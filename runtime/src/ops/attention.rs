//! Attention by one call of the library, whose memory grows with the length of a sequence instead of its square.

#![allow(clippy::type_complexity, reason = "the type of a companion names all of its cotangents")]

use super::fold::sum_to;
use super::operand::Slot;
use crate::diff::{Pullback, Want, pull};
use crate::raise::raise;
use crate::tensor::{Bool, Dims, Raw, Tensor, broadcast, try_broadcast};
use cotangent_hal::{Attention, AttentionGradients, DType, Error, LibraryCall};

/// The operation's name in errors.
const OP: &str = "scaled_dot_product_attention";

/// What says which keys a query sees: truth values (true: it does), floats that are added to the scores, `()` for all, or
/// an option of these.
pub trait AttentionMask {
    /// Its cotangent: that of a float tensor, else `()`.
    type Ct: Slot;
    #[doc(hidden)]
    fn mask(self) -> Mask;
}

/// A mask, sorted out.
#[doc(hidden)]
#[derive(Debug)]
pub enum Mask {
    /// Every key is seen.
    All,
    /// Those are seen that are true.
    Seen(Tensor<Bool>),
    /// What is added to the scores.
    Added(Tensor),
}

impl Mask {
    fn raw(self) -> Option<Raw> {
        match self {
            Mask::All => None,
            Mask::Seen(mask) => Some(mask.raw),
            Mask::Added(mask) => Some(mask.raw),
        }
    }
}

impl AttentionMask for () {
    type Ct = ();
    fn mask(self) -> Mask {
        Mask::All
    }
}

impl<M: AttentionMask> AttentionMask for Option<M> {
    type Ct = M::Ct;
    fn mask(self) -> Mask {
        self.map_or(Mask::All, M::mask)
    }
}

macro_rules! masks {
    ($($t:ty => $variant:ident, $ct:ty;)*) => { $(
        impl AttentionMask for $t {
            type Ct = $ct;
            fn mask(self) -> Mask {
                Mask::$variant(self)
            }
        }
        impl AttentionMask for &$t {
            type Ct = $ct;
            fn mask(self) -> Mask {
                Mask::$variant(self.clone())
            }
        }
    )* };
}
masks! {
    Tensor => Added, Option<Tensor>;
    Tensor<Bool> => Seen, ();
}

/// `softmax(q kᵀ / √D) v` over the last two axes: `q: [.., H, T, D]`, `k: [.., G, S, D]`, `v: [.., G, S, E] -> [.., H, T, E]`.
///
/// `causal` hides from query `i` the keys after key `i`. Leading axes, of which there may be none, broadcast; the heads of
/// the queries may be a multiple of those of keys and values, `H = n G`, where `n` heads one after another share one
/// (PyTorch's `enable_gqa`). The scores are never in memory as a whole, forward or backward. Dtypes are promoted; sums of
/// 16-bit floats are formed in `f32`. The method is that of Vaswani et al. (2017), computed as by Dao et al. (2022).
///
/// Raises `Error::Shape` where the shapes do not fit.
#[track_caller]
pub fn scaled_dot_product_attention(q: Tensor, k: Tensor, v: Tensor, causal: bool) -> Tensor {
    scaled_dot_product_attention_with(q, k, v, (), causal, None)
}

/// As [`scaled_dot_product_attention`], with a mask that broadcasts to `[.., H, T, S]` and a number instead of `1 / √D`.
///
/// Truth values say which keys a query sees, floats are added to the scores and may have a gradient, whose scores are then
/// in memory. A mask and `causal` may be combined: a key must be seen by both. A query that sees no key gets 0 and has no
/// gradient.
#[track_caller]
pub fn scaled_dot_product_attention_with<M: AttentionMask>(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    mask: M,
    causal: bool,
    scale: Option<f64>,
) -> Tensor {
    let call = Call::new([q.raw, k.raw, v.raw], mask.mask().raw(), causal, scale);
    let (out, _) = call.run();
    Tensor::from_raw(out.reshape(&call.out))
}

/// The companion of the function [`scaled_dot_product_attention`].
#[doc(hidden)]
#[allow(non_camel_case_types, reason = "companions of functions bear the function's name")]
#[derive(Debug)]
pub enum scaled_dot_product_attention {}

impl scaled_dot_product_attention {
    #[doc(hidden)]
    #[track_caller]
    pub fn vjp(
        q: Tensor,
        k: Tensor,
        v: Tensor,
        causal: bool,
        want: Want,
    ) -> (
        Tensor,
        impl Pullback<(), Ct = Option<Tensor>, In = (Option<Tensor>, Option<Tensor>, Option<Tensor>, ())> + use<>,
    ) {
        let (y, saved) = differentiated([q.raw, k.raw, v.raw], None, causal, None, want);
        let pullback = pull(move |ct, (): &mut ()| {
            let [q, k, v, _] = cotangents(saved, ct);
            (q, k, v, ())
        });
        (y, pullback)
    }
}

/// The companion of the function [`scaled_dot_product_attention_with`].
#[doc(hidden)]
#[allow(non_camel_case_types, reason = "companions of functions bear the function's name")]
#[derive(Debug)]
pub enum scaled_dot_product_attention_with {}

impl scaled_dot_product_attention_with {
    #[doc(hidden)]
    #[track_caller]
    pub fn vjp<M: AttentionMask>(
        q: Tensor,
        k: Tensor,
        v: Tensor,
        mask: M,
        causal: bool,
        scale: Option<f64>,
        want: Want,
    ) -> (
        Tensor,
        impl Pullback<(), Ct = Option<Tensor>, In = (Option<Tensor>, Option<Tensor>, Option<Tensor>, M::Ct, (), ())>
        + use<M>,
    ) {
        let (y, saved) = differentiated([q.raw, k.raw, v.raw], mask.mask().raw(), causal, scale, want);
        let pullback = pull(move |ct, (): &mut ()| {
            let [q, k, v, mask] = cotangents(saved, ct);
            (q, k, v, M::Ct::slot(mask), (), ())
        });
        (y, pullback)
    }
}

/// An operand as it came, and as the library takes it.
struct Operand {
    shape: Dims,
    dtype: DType,
    /// The shape with its leading axes expanded.
    full: Dims,
    /// `[B, H, T, D]`, where `B` stands for all axes before.
    raw: Raw,
}

/// A call that fits.
struct Call {
    /// Queries, keys and values.
    operands: [Operand; 3],
    mask: Option<Operand>,
    causal: bool,
    scale: f64,
    out: Dims,
}

/// What a pullback keeps.
struct Saved {
    call: Call,
    out: Raw,
    lse: Raw,
    wanted: [bool; 4],
}

impl Call {
    #[track_caller]
    fn new(given: [Raw; 3], mask: Option<Raw>, causal: bool, scale: Option<f64>) -> Call {
        let [q, k, v] = &given;
        let shapes = [&q.shape, &k.shape, &v.shape];
        [Some(k), Some(v), mask.as_ref()].into_iter().flatten().for_each(|x| q.same_device(OP, x));
        for (name, shape) in ["queries", "keys", "values"].into_iter().zip(shapes) {
            if shape.len() < 2 {
                misshapen(format!("{name} {shape:?} have fewer than two axes, expected [.., T, D]"));
            }
        }
        let [(queries, depth), (keys, key_depth), (values, width)] = shapes.map(last_two);
        if depth != key_depth {
            let message = format!("{} and {}: axis -1 is {depth} and {key_depth}", said("queries", q), said("keys", k));
            misshapen(message);
        }
        if keys != values {
            misshapen(format!("{} and {}: axis -2 is {keys} and {values}", said("keys", k), said("values", v)));
        }
        let (lead, heads, groups) = leading(&given);
        let dtype = q.dtype.promote(k.dtype).promote(v.dtype);
        let batch: usize = lead.iter().product();
        let flat = shapes.iter().all(|shape| shape.len() == 2);
        let full = |heads: usize, rows: usize, columns: usize| {
            let mut full = lead;
            if !flat {
                full.push(OP, heads);
            }
            full.push(OP, rows);
            full.push(OP, columns);
            full
        };
        let operand = |x: Raw, heads: usize, rows: usize, columns: usize, dtype: Option<DType>| {
            let (shape, full) = (x.shape, full(heads, rows, columns));
            let given = x.dtype;
            let raw = x.expand_to(OP, &full).reshape(&Dims::of(OP, &[batch, heads, rows, columns]));
            let raw = raw.cast(dtype.unwrap_or(given));
            Operand { shape, dtype: given, full, raw }
        };
        let mask = mask.map(|mask| {
            let scores = full(heads, queries, keys);
            if try_broadcast(&scores, &mask.shape) != Ok(scores) {
                misshapen(format!("the mask is {:?}, which does not broadcast to the scores {scores:?}", mask.shape));
            }
            // Truth values keep their dtype.
            let added = mask.dtype.is_float().then_some(dtype);
            operand(mask, heads, queries, keys, added)
        });
        let out = full(heads, queries, width);
        let [q, k, v] = given;
        let operands = [
            operand(q, heads, queries, depth, Some(dtype)),
            operand(k, groups, keys, depth, Some(dtype)),
            operand(v, groups, keys, width, Some(dtype)),
        ];
        Call { operands, mask, causal, scale: scale.unwrap_or(1.0 / (depth as f64).sqrt()), out }
    }

    fn attention(&self) -> Attention<'_> {
        let [q, k, v] = &self.operands;
        Attention {
            q: q.raw.view(),
            k: k.raw.view(),
            v: v.raw.view(),
            mask: self.mask.as_ref().map(|mask| mask.raw.view()),
            causal: self.causal,
            scale: self.scale,
        }
    }

    /// The result as the library gives it, and the logarithms of the sums.
    #[track_caller]
    fn run(&self) -> (Raw, Raw) {
        let [q, _, v] = &self.operands;
        let shape = [q.raw.shape[0], q.raw.shape[1], q.raw.shape[2], v.raw.shape[3]];
        let out = laid_out_as(&q.raw, q.raw.dtype, &shape);
        let lse = Raw::empty(&q.raw.device, q.raw.dtype.compute(), &shape[..3]);
        q.raw.device.library(&LibraryCall::Attention { of: &self.attention(), out: out.view(), lse: lse.view() });
        (out, lse)
    }
}

#[track_caller]
fn differentiated(
    given: [Raw; 3],
    mask: Option<Raw>,
    causal: bool,
    scale: Option<f64>,
    want: Want,
) -> (Tensor, Option<Saved>) {
    let call = Call::new(given, mask, causal, scale);
    let (out, lse) = call.run();
    let y = Tensor::from_raw(out.clone().reshape(&call.out));
    let added = call.mask.as_ref().is_some_and(|mask| mask.dtype.is_float());
    let wanted = [want.has(1), want.has(2), want.has(3), want.has(4) && added];
    if !wanted.contains(&true) {
        return (y, None);
    }
    let (mut call, out, lse) = (call, out.keep(), lse.keep());
    for operand in call.operands.iter_mut().chain(&mut call.mask) {
        operand.raw = operand.raw.clone().keep();
    }
    (y, Some(Saved { call, out, lse, wanted }))
}

/// The cotangents of queries, keys, values and the mask.
#[track_caller]
fn cotangents(saved: Option<Saved>, ct: Option<Tensor>) -> [Option<Tensor>; 4] {
    let (Some(Saved { call, out, lse, wanted }), Some(ct)) = (saved, ct) else { return [const { None }; 4] };
    let d_out = ct.raw.cast(out.dtype).reshape(&out.shape);
    let [q, k, v] = &call.operands;
    let gradient = |operand: &Operand, wanted: bool, dtype: DType| {
        wanted.then(|| laid_out_as(&operand.raw, dtype, &operand.raw.shape))
    };
    let dtype = out.dtype;
    let d_q = gradient(q, wanted[0], dtype);
    let d_k = gradient(k, wanted[1], dtype);
    let d_v = gradient(v, wanted[2], dtype);
    let d_mask = call.mask.as_ref().filter(|_| wanted[3]).map(|mask| {
        // The mask itself may repeat its elements.
        Raw::empty(&out.device, dtype.compute(), &mask.raw.shape)
    });
    out.device.library(&LibraryCall::AttentionBackward {
        of: &call.attention(),
        out: out.view(),
        lse: lse.view(),
        d_out: d_out.view(),
        wanted: &AttentionGradients {
            d_q: d_q.as_ref().map(Raw::view),
            d_k: d_k.as_ref().map(Raw::view),
            d_v: d_v.as_ref().map(Raw::view),
            d_mask: d_mask.as_ref().map(Raw::view),
        },
    });
    let back = |ct: Option<Raw>, operand: &Operand| {
        let ct = ct?.reshape(&operand.full);
        Some(Tensor::from_raw(sum_to(ct, &operand.shape).cast(operand.dtype)))
    };
    let mask = call.mask.as_ref().and_then(|mask| back(d_mask, mask));
    [back(d_q, q), back(d_k, k), back(d_v, v), mask]
}

/// The last two extents.
fn last_two(shape: &Dims) -> (usize, usize) {
    (shape[shape.len() - 2], shape[shape.len() - 1])
}

/// The axes before those of the heads that all operands broadcast to, the heads of the queries, and those of the keys.
#[track_caller]
fn leading(given: &[Raw; 3]) -> (Dims, usize, usize) {
    let [q, k, v] = given;
    let heads = |x: &Raw| if x.shape.len() > 2 { x.shape[x.shape.len() - 3] } else { 1 };
    let before = |x: &Raw| Dims::of(OP, &x.shape[..x.shape.len().saturating_sub(3)]);
    let lead = broadcast(OP, &broadcast(OP, &before(q), &before(k)), &before(v));
    let groups = match (heads(k), heads(v)) {
        (a, b) if a == b || b == 1 => a,
        (1, b) => b,
        (a, b) => misshapen(format!("{} and {}: axis -3 is {a} and {b}", said("keys", k), said("values", v))),
    };
    match heads(q) {
        1 => (lead, groups, groups),
        heads if heads == groups || (groups > 0 && heads.is_multiple_of(groups)) => (lead, heads, groups),
        heads => misshapen(format!(
            "{} and {}: axis -3 is {heads} and {groups}, expected a multiple",
            said("queries", q),
            said("keys", k)
        )),
    }
}

/// A new tensor `[B, H, T, D]` in which heads and rows lie in the order that they have in another: heads beside each other
/// where the operands come from one projection, so that the result goes into the next without being copied.
#[track_caller]
fn laid_out_as(like: &Raw, dtype: DType, shape: &[usize]) -> Raw {
    let inside = like.strides[1].unsigned_abs() < like.strides[2].unsigned_abs();
    if inside && shape[1] > 1 && shape[2] > 1 {
        let [b, h, t, d] = [0, 1, 2, 3].map(|axis| shape[axis]);
        return Raw::empty(&like.device, dtype, &[b, t, h, d]).swap_axes(1, 2);
    }
    Raw::empty(&like.device, dtype, shape)
}

fn said(name: &str, x: &Raw) -> String {
    format!("{name} {:?}", x.shape)
}

#[cold]
#[track_caller]
fn misshapen(message: String) -> ! {
    raise(Error::Shape { op: OP.into(), message })
}
