//! The attribute macros of Cotangent. All of their logic is `cotangent-macros-core`.

use proc_macro::TokenStream;

/// Makes a model of a struct or an enum, and derives the gradients of its methods.
///
/// # Fusion
///
/// Operations of single elements in the body of a method (`+`, `*`, `tanh`, `gelu`, ..) that read one another are computed
/// by one kernel, and so is their gradient; values between them are never stored. Operands broadcast, and reductions along
/// the last axis take part: `softmax(-1)`, `log_softmax(-1)`, `sum_keepdim(-1)`, `mean_keepdim(-1)`, `layer_norm(..)`. Numbers
/// in between are not rounded to 16 bits. Layers, calls of functions and all other operations end a group.
///
/// ```
/// use cotangent::prelude::*;
///
/// #[model(dims(C))]
/// struct Norm {
///     #[init(ones)]
///     weight: Param![C],
///     #[config(1e-6)]
///     eps: f64,
/// }
///
/// #[model]
/// impl Norm {
///     /// One kernel forward, one backward.
///     fn forward(&self, x: Tensor![B, C], skip: Tensor![B, C]) -> Tensor![B, C] {
///         let h = x + skip;
///         h * (h.square().mean_keepdim(-1) + self.eps).rsqrt() * self.weight
///     }
/// }
/// ```
///
/// Dims may have defaults, which are numbers or earlier dims, and are then given by name; such a dim may bear a lower-case
/// name, which methods can read where the shape of their result mentions it. `floor(a / b)` is a quotient rounded down:
///
/// ```
/// use cotangent::prelude::*;
///
/// #[model(dims(K, stride = K))]
/// struct Highest {}
///
/// #[model]
/// impl Highest {
///     fn forward(&self, x: Tensor![B, L]) -> Tensor![B, floor((L - K) / stride) + 1] {
///         x.unfold(1, K, stride).amax(-1)
///     }
/// }
///
/// #[model]
/// struct Net { high: Highest![4, stride = 2], fc: Linear![7 => 2] }
///
/// #[model]
/// impl Net {
///     fn forward(&self, x: Tensor![B, 16]) -> Tensor![B, 2] {
///         self.fc.forward(self.high.forward(x))
///     }
/// }
/// ```
///
/// With `COTANGENT_REPORT=1` in the environment a program prints, for each outermost call of a companion when it is first made,
/// the groups of every method by file and line, the launches, and the bytes that are kept for the backward pass by field;
/// `cotangent::report::of` gives that as a value. `#[no_fuse]` on a method or an impl turns fusion off.
///
/// # Checkpoints
///
/// A pullback keeps what the derivative of each operation reads. In the body of a method, `#[checkpoint]` on a `let`, on a
/// call or on a `for` keeps what the statement or each iteration starts from instead, and runs it again when its gradient is
/// asked for: one more forward pass for memory that no longer grows with what is inside. Without a gradient it changes
/// nothing. Checkpoints may be nested.
///
/// ```
/// use cotangent::prelude::*;
///
/// #[model(dims(C, L))]
/// struct Deep {
///     first: Linear![C => C],
///     blocks: [Linear![C => C]; L],
///     drop: Dropout![p = 0.1],
/// }
///
/// #[model]
/// impl Deep {
///     fn loss(&self, x: Tensor![B, C], cx: &mut Cx) -> Tensor![] {
///         let mut x = #[checkpoint] self.first.forward(x);
///         #[checkpoint]
///         for block in self.blocks.iter() {
///             x = self.drop.forward(block.forward(x).tanh(), cx);
///         }
///         #[checkpoint]
///         let y = x.exp() * x.sin();
///         y.mean(..)
///     }
/// }
///
/// let model = Deep::init(DeepConfig::new(4, 8), &mut Rng::seed(0), &Device::cpu());
/// let (loss, grads) = model.loss_grad(Tensor::ones([2, 4], &Device::cpu()), &mut Cx::train(0));
/// assert!(loss.item().is_finite() && grads.blocks[7].weight.is_some());
/// ```
///
/// What runs again starts from clones of the variables and of the layers that it names, reference counts for tensors: it
/// draws the random numbers of the first run, sees states as they were and moves none, whatever became of the model in
/// between. So gradients are those without a checkpoint; cotangents of one value are added up inside of it first, which can
/// differ in the last bit where the value is used outside as well. Effects of other kinds, such as `println!`, happen again;
/// a variable that is `&mut` cannot be used inside.
#[proc_macro_attribute]
pub fn model(args: TokenStream, item: TokenStream) -> TokenStream {
    cotangent_macros_core::model(args.into(), item.into()).into()
}

/// Makes an operation of a function of scalars, or of one in index notation, and derives its gradient.
///
/// Both become loops for each instruction set and every dtype, and may be called in the methods of a model. What the macro
/// cannot make sense of, cannot differentiate or cannot prove inside of a tensor is a compile error at the token.
///
/// # Pointwise kernels
///
/// Parameters and results are `f32`, which stands for every float precision, `i64` and `bool`; the body is an ordinary block
/// over them. The name goes to `map` and `zip_map`, which broadcast.
///
/// ```
/// use cotangent::prelude::*;
///
/// /// `x sigmoid(x)`.
/// #[kernel]
/// fn swish(x: f32) -> f32 {
///     x * sigmoid(x)
/// }
///
/// /// Huber's loss of a difference.
/// #[kernel]
/// fn huber(a: f32, b: f32) -> f32 {
///     let d = abs(a - b);
///     if d < 1.0 { 0.5 * d * d } else { d - 0.5 }
/// }
///
/// let x = Tensor::from_slice(&[-1.0, 0.0, 2.0], [3], &Device::cpu());
/// assert_eq!(x.clone().map(swish).shape(), [3]);
/// assert_eq!(x.zip_map(0.0, huber).to_vec(), [0.5, 0.0, 1.5]);
/// ```
///
/// # Kernels on tensors
///
/// Parameters are `Tensor![R.., C]`, `Tensor![Int; T]`, `Tensor![Bool; T]`, numbers (`f32`, `i64`, `usize`, `bool`, and
/// `f64`, which is rounded once, to the precision of the tensors) and `Key`, a stream of random numbers; results are tensors.
/// Dims are names in upper case and formulas of them, `2*H` or `N - K + 1`, which the shapes of the arguments must determine.
/// `R..` stands for any number of leading axes, which are one axis of the kernel.
///
/// After any `let`s, the body is a closure over the indices of the result, one for each declared axis; for several results
/// it is a tuple of closures, or one closure that gives a tuple. A result without axes, `Tensor![]`, needs none.
///
/// ```
/// use cotangent::prelude::*;
///
/// /// Root-mean-square normalisation over the last axis.
/// #[kernel]
/// fn rms_norm(x: Tensor![R.., C], w: Tensor![C], eps: f32) -> Tensor![R.., C] {
///     |r, i| {
///         let ms = mean(|j| x[r][j] * x[r][j]);
///         x[r][i] * rsqrt(ms + eps) * w[i]
///     }
/// }
///
/// #[model(dims(C))]
/// struct Scaled {
///     #[init(ones)]
///     w: Param![C],
/// }
///
/// #[model]
/// impl Scaled {
///     fn loss(&self, x: Tensor![B, C]) -> Tensor![] {
///         rms_norm(x, self.w, 1e-5).square().mean(..)
///     }
/// }
///
/// let model = Scaled::init(ScaledConfig::new(3), &mut Rng::seed(0), &Device::cpu());
/// let (loss, grads) = model.loss_grad(Tensor::ones([2, 3], &Device::cpu()));
/// assert!((loss.item() - 1.0).abs() < 1e-4);
/// // The gradient is that of `w² / C` at `w = 1`.
/// let w = grads.w.expect("the loss depends on `w`").to_vec();
/// assert!(w.iter().all(|g| (g - 2.0 / 3.0).abs() < 1e-4));
/// ```
///
/// - **Elements.** `x[i][j]`; an index is any integer, so that `x[2*i + k]` is a stride, `x[i][t[i]]` a gather and
///   `x[C - 1 - i]` a reversal. It is proved inside for all extents; what depends on data is checked when the kernel is
///   called; `or_zero(x[i - 1])` reads 0 outside.
/// - **Reductions.** `sum`, `mean`, `prod`, `max`, `min`, `argmax`, `argmin`, `logsumexp`, `any` and `all` over the indices of
///   a closure, which may be nested: `sum(|j, k| x[i][j] * y[j][k])`. An index runs over the axis that it indexes by itself;
///   otherwise its range is written, `sum(0..K, |k| x[i + k])`.
/// - **Dims as numbers.** A dim's name is an integer, and `len(C)` is the same.
/// - **Random numbers.** `uniform(key, n)` is the `n`-th number of a stream, from 0 up to 1, and `random_bits(key, n)` the
///   integer of 32 bits behind it. They depend on nothing else, so that nothing has to be kept for the gradient.
/// - **In place.** `w: &mut Tensor![N..]` is a parameter whose elements the closure assigns at its own indices,
///   `w[i] -= lr * g[i]`; reads that follow see the new value. Such a kernel has no gradient.
///
/// # Expressions
///
/// `let` (with tuples, and shadowing), `if` with `else`, the operators of Rust, and these functions, as functions or methods,
/// by PyTorch's names or Rust's: `exp`, `exp2`, `expm1`, `log`, `log2`, `log10`, `log1p`, `sin`, `cos`, `tan`, `asin`, `acos`,
/// `atan`, `atan2`, `sinh`, `cosh`, `tanh`, `asinh`, `acosh`, `atanh`, `erf`, `erfc`, `erfinv`, `sigmoid`, `sqrt`, `rsqrt`,
/// `square`, `reciprocal`, `powi`, `powf`, `pow`, `abs`, `sign`, `signbit`, `copysign`, `floor`, `ceil`, `round`, `trunc`,
/// `frac`, `maximum`, `minimum`, `clamp`, `clamp_min`, `clamp_max`, `lerp`, `mul_add`, `remainder`, `rem_euclid`, `fmod`,
/// `floor_divide`, `hypot`, `logaddexp`, `xlogy`, `sinc`, `logit`, `lgamma`, `digamma`, `deg2rad`, `rad2deg`, `nan_to_num`,
/// `isnan`, `isinf`, `isfinite`; the activations `relu`, `relu6`, `gelu`, `gelu_tanh`, `silu`, `mish`, `selu`, `hardswish`, `hardsigmoid`,
/// `logsigmoid`, `softsign`, `tanhshrink`, and with numbers that may be left out `softplus(x, beta, threshold)`, `elu(x, alpha)`,
/// `celu(x, alpha)`, `leaky_relu(x, negative_slope)`, `hardtanh(x, min_val, max_val)`, `hardshrink(x, lambd)`,
/// `softshrink(x, lambd)`, `threshold(x, threshold, value)`; `select(condition, a, b)`, and
/// `detach(x)`, a value without a derivative. A kernel of one of these names is called by a path, `self::gelu(x)`.
///
/// Arithmetic is PyTorch's: an integer beside a float becomes one, integers divide rounding down, and `%` has the divisor's
/// sign. Both sides of an `if` may be computed. Values are cast by `as f32`, `as i64` and `as usize`, which is `i64`. A
/// literal is the `f64` or `i64` that it denotes, rounded where it is used; with the suffix `f32` it is that `f32`. Constants
/// such as `f32::NEG_INFINITY` and `std::f32::consts::PI` are known, others are passed as parameters.
///
/// There are no loops, no `match`, no mutable variables, no items and no macros; a reduction or an `if` takes their place.
/// A constant that rustc evaluates may be a dim, `Tensor![{N}]`.
///
/// What is no function of the language is another pointwise kernel, of floats to one float, by name or by path,
/// `crate::ops::swish(x)`, or to several, `let (a, b) = rotate(x, y);`. It may be one of another crate.
///
/// # Options
///
/// `#[kernel(vjp = f(x, y, ct))]` on a kernel of tensors: the gradient is what the function `f` returns, the cotangents of
/// the float tensors among the parameters, in order. The names say what it is passed, and so what is kept: parameters,
/// results (`y`, or `y0`, `y1`, ..) and their cotangents (`ct`, or `ct_y0`, ..). On a pointwise kernel `f` is another one,
/// which gives the cotangents for one element.
///
/// `#[kernel(unrounded)]` on a kernel of tensors: the results of 16-bit floats are `f32`, as they are computed, for sums that
/// are added up further.
///
/// `#[kernel(raw, cpu = f)]` with an empty body: on the CPU `f` computes the results, a plain function of slices, such as
/// `f(x: &[f32], n: usize, y: &mut [f32], dims: [usize; 2])`, the last argument being the extents of the named dims.
///
/// # What it declares
///
/// A kernel on tensors is a function, a pointwise one a type of its name. `f::vjp(.., want)` gives the result and the
/// pullback, as for every differentiable function; numbers, integers and truth values have no cotangent.
/// `COTANGENT_DUMP=name cargo check` prints one expansion.
#[proc_macro_attribute]
pub fn kernel(args: TokenStream, item: TokenStream) -> TokenStream {
    cotangent_macros_core::kernel(args.into(), item.into()).into()
}

/// Methods of tensors for functions of the table in `cotangent-ir`. For the runtime alone.
#[doc(hidden)]
#[proc_macro]
pub fn functions(items: TokenStream) -> TokenStream {
    cotangent_macros_core::functions(items.into()).into()
}

/// Kernels of the functions of two tensors in the table in `cotangent-ir`. For the runtime alone.
#[doc(hidden)]
#[proc_macro]
pub fn binary(items: TokenStream) -> TokenStream {
    cotangent_macros_core::binary(items.into()).into()
}

/// What bodies of kernels may name, for editors. For the runtime alone.
#[doc(hidden)]
#[proc_macro]
pub fn kernel_language(_: TokenStream) -> TokenStream {
    cotangent_macros_core::language().into()
}
