//! The operations of tensors that the macros know by name.

/// What an operation takes at one place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Argument {
    /// A tensor or a number, with a cotangent where it is a float tensor.
    Operand,
    /// A plain value: an axis, a shape, a number, an integer tensor.
    Value,
    /// The `&mut Cx` that holds mode and randomness.
    Context,
}

/// Whether the result carries a derivative.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Output {
    /// A float tensor, or several.
    Active,
    /// An integer or truth-value tensor, or float values cut off from the derivative.
    Tensor,
    /// No tensor at all: an extent, a dtype, a number read back.
    Value,
}

/// One operation: a method of `Tensor` whose companion is named `<name>__vjp`, or a free function `<name>` whose
/// companion is `<name>::vjp`.
#[derive(Clone, Copy, Debug)]
pub struct Op {
    /// The method's or function's name, PyTorch's where PyTorch has it.
    pub name: &'static str,
    /// Whether it is a method of a tensor; otherwise a free function.
    pub method: bool,
    /// What follows the receiver, or all arguments of a free function.
    pub arguments: &'static [Argument],
    /// What comes out.
    pub output: Output,
    /// The shape rule, a function of `shape::rules`; empty where no shape comes out.
    pub rule: &'static str,
}

/// The operation of that name and form, if there is one.
pub fn op(name: &str, method: bool) -> Option<&'static Op> {
    OPS.iter().find(|o| o.name == name && o.method == method)
}

macro_rules! table {
    ($($form:ident $name:ident ($($arg:ident),*) -> $out:ident, $rule:literal;)*) => {
        /// Every operation that the macros know.
        pub const OPS: &[Op] = &[$(Op {
            name: stringify!($name),
            method: table!(@method $form),
            arguments: &[$(Argument::$arg),*],
            output: Output::$out,
            rule: $rule,
        }),*];
    };
    (@method method) => { true };
    (@method function) => { false };
}

table! {
    method neg() -> Active, "same";
    method abs() -> Active, "same";
    method exp() -> Active, "same";
    method exp2() -> Active, "same";
    method expm1() -> Active, "same";
    method log() -> Active, "same";
    method log1p() -> Active, "same";
    method log2() -> Active, "same";
    method log10() -> Active, "same";
    method sqrt() -> Active, "same";
    method rsqrt() -> Active, "same";
    method square() -> Active, "same";
    method reciprocal() -> Active, "same";
    method sin() -> Active, "same";
    method cos() -> Active, "same";
    method tan() -> Active, "same";
    method asin() -> Active, "same";
    method acos() -> Active, "same";
    method atan() -> Active, "same";
    method sinh() -> Active, "same";
    method cosh() -> Active, "same";
    method tanh() -> Active, "same";
    method asinh() -> Active, "same";
    method acosh() -> Active, "same";
    method atanh() -> Active, "same";
    method erf() -> Active, "same";
    method erfc() -> Active, "same";
    method lgamma() -> Active, "same";
    method sigmoid() -> Active, "same";
    method logsigmoid() -> Active, "same";
    method relu() -> Active, "same";
    method relu6() -> Active, "same";
    method hardtanh(Value, Value) -> Active, "same";
    method leaky_relu(Value) -> Active, "same";
    method elu(Value) -> Active, "same";
    method celu(Value) -> Active, "same";
    method selu() -> Active, "same";
    method gelu() -> Active, "same";
    method gelu_tanh() -> Active, "same";
    method silu() -> Active, "same";
    method mish() -> Active, "same";
    method softplus() -> Active, "same";
    method softplus_with(Value, Value) -> Active, "same";
    method softsign() -> Active, "same";
    method hardswish() -> Active, "same";
    method hardsigmoid() -> Active, "same";
    method sign() -> Active, "same";
    method floor() -> Active, "same";
    method ceil() -> Active, "same";
    method round() -> Active, "same";
    method trunc() -> Active, "same";
    method frac() -> Active, "same";
    method powf(Value) -> Active, "same";
    method map(Value) -> Active, "same";
    method zip_map(Operand, Value) -> Active, "broadcast";
    method contiguous() -> Active, "same";
    method to(Value) -> Active, "same";
    method float() -> Active, "same";
    method double() -> Active, "same";
    method half() -> Active, "same";
    method bfloat16() -> Active, "same";
    method dropout(Value, Context) -> Active, "same";
    method masked_fill(Value, Value) -> Active, "broadcast_first";
    method add(Operand) -> Active, "broadcast";
    method sub(Operand) -> Active, "broadcast";
    method mul(Operand) -> Active, "broadcast";
    method div(Operand) -> Active, "broadcast";
    method maximum(Operand) -> Active, "broadcast";
    method minimum(Operand) -> Active, "broadcast";
    method matmul(Operand) -> Active, "matmul";
    method sum(Value) -> Active, "reduce";
    method mean(Value) -> Active, "reduce";
    method amax(Value) -> Active, "reduce";
    method sum_keepdim(Value) -> Active, "reduce_keepdim";
    method mean_keepdim(Value) -> Active, "reduce_keepdim";
    method amax_keepdim(Value) -> Active, "reduce_keepdim";
    method glu(Value) -> Active, "glu";
    method softmax(Value) -> Active, "along";
    method log_softmax(Value) -> Active, "along";
    method layer_norm(Operand, Operand, Value) -> Active, "layer_norm";
    method cross_entropy(Value) -> Active, "cross_entropy";
    method mse_loss(Operand) -> Active, "scalar_of_same";
    method embedding(Value) -> Active, "embedding";
    method reshape(Value) -> Active, "reshape";
    method flatten(Value) -> Active, "flatten";
    method transpose(Value, Value) -> Active, "transpose";
    method t() -> Active, "t";
    method permute(Value) -> Active, "permute";
    method unsqueeze(Value) -> Active, "unsqueeze";
    method squeeze(Value) -> Active, "squeeze";
    method expand(Value) -> Active, "expand";
    method narrow(Value, Value, Value) -> Active, "narrow";
    method split(Value, Value) -> Active, "split";
    function cat(Operand, Value) -> Active, "cat";
    function stack(Operand, Value) -> Active, "stack";
    function select(Value, Operand, Operand) -> Active, "select";
    method detach() -> Tensor, "same";
    method eq(Value) -> Tensor, "broadcast";
    method ne(Value) -> Tensor, "broadcast";
    method lt(Value) -> Tensor, "broadcast";
    method le(Value) -> Tensor, "broadcast";
    method gt(Value) -> Tensor, "broadcast";
    method ge(Value) -> Tensor, "broadcast";
    method argmax(Value) -> Tensor, "reduce";
    method int() -> Tensor, "same";
    method size(Value) -> Value, "";
    method shape() -> Value, "";
    method rank() -> Value, "";
    method numel() -> Value, "";
    method dtype() -> Value, "";
    method device() -> Value, "";
    method item() -> Value, "";
    method to_vec() -> Value, "";
    function arange(Value) -> Tensor, "arange";
    function causal_mask(Value) -> Tensor, "causal_mask";
}
