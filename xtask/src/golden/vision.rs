//! Convolutions, pools and batch norms: by the layer where it has the case's form, else by the operation.

use super::inputs::{Inputs, Stop};
use super::registry::{Results, Row};
use cotangent::__private::{Pullback, Want};
use cotangent::layers::{BatchNorm1d, BatchNorm1dConfig, BatchNorm1dGrads};
use cotangent::layers::{BatchNorm2d, BatchNorm2dConfig, BatchNorm2dGrads};
use cotangent::ops::Padding;
use cotangent::{Cx, Param, State, Tensor};

pub(super) const ROWS: &[Row] = &[
    ("Conv1d", |i| convolution(i, conv1d)),
    ("Conv2d", |i| convolution(i, conv2d)),
    ("ConvTranspose1d", |i| {
        transposed(i, |x, w, b, [s, p, o, d], groups| {
            let (y, back) = x.conv_transpose1d__vjp(w, b, [s[0]], [p[0]], [o[0]], groups, [d[0]], Want::ALL);
            (
                y,
                Box::new(move |ct| {
                    let (x, w, b, ..) = back.pull(ct, &mut ());
                    [x, w, b]
                }),
            )
        })
    }),
    ("ConvTranspose2d", |i| {
        transposed(i, |x, w, b, [s, p, o, d], groups| {
            let (y, back) = x.conv_transpose2d__vjp(w, b, s, p, o, groups, d, Want::ALL);
            (
                y,
                Box::new(move |ct| {
                    let (x, w, b, ..) = back.pull(ct, &mut ());
                    [x, w, b]
                }),
            )
        })
    }),
    ("MaxPool1d", max_pool1d),
    ("MaxPool2d", max_pool2d),
    ("AvgPool1d", avg_pool1d),
    ("AvgPool2d", avg_pool2d),
    ("AdaptiveAvgPool1d", adaptive_avg_pool1d),
    ("AdaptiveAvgPool2d", adaptive_avg_pool2d),
    ("BatchNorm1d", batch_norm1d),
    ("BatchNorm2d", batch_norm2d),
];

/// A result with its pullback to input, weight and bias.
type Convolved = (Tensor, Box<dyn FnOnce(Option<Tensor>) -> [Option<Tensor>; 3]>);

/// A convolution of the layers: of input, weight and bias, with stride and dilation, padding, and groups.
type Convolution = fn(Tensor, Tensor, Option<Tensor>, [Pair; 2], Option<Pair>, usize) -> Convolved;

/// A pair of sizes, of which a sequence has the first.
type Pair = [usize; 2];

/// Sizes that a case gives as one number or as a list.
fn sizes(i: &Inputs<'_>, name: &str) -> Result<Pair, Stop> {
    let sizes: Vec<usize> = i.integers(name)?.unwrap_or_default().iter().map(|n| n.unsigned_abs()).collect();
    match sizes[..] {
        [one] => Ok([one; 2]),
        [first, second] => Ok([first, second]),
        _ => Err(i.missing(name)),
    }
}

fn convolution(i: &Inputs<'_>, f: Convolution) -> Result<Results, Stop> {
    i.implied(&["in_channels", "out_channels", "kernel_size", "bias"])?;
    let (x, w, b) = (i.float("in.x")?, i.float("param.weight")?, i.maybe_float("param.bias")?);
    let padding = if i.word("padding").is_ok_and(|word| word == "same") { None } else { Some(sizes(i, "padding")?) };
    let steps = [sizes(i, "stride")?, sizes(i, "dilation")?];
    let (y, back) = f(x, w, b.clone(), steps, padding, i.integer("groups")?.unsigned_abs());
    convolved(i, y, back, b.is_some())
}

fn convolved(
    i: &Inputs<'_>,
    y: Tensor,
    back: Box<dyn FnOnce(Option<Tensor>) -> [Option<Tensor>; 3]>,
    has_bias: bool,
) -> Result<Results, Stop> {
    let mut results = Results::new();
    results.out("y", y);
    let [x, w, b] = back(i.ct("y")?);
    results.grad("in.x", x);
    results.grad("param.weight", w);
    if has_bias {
        results.grad("param.bias", b);
    }
    Ok(results)
}

fn conv1d(x: Tensor, w: Tensor, b: Option<Tensor>, [s, d]: [Pair; 2], p: Option<Pair>, groups: usize) -> Convolved {
    macro_rules! by {
        ($padding:expr) => {{
            let (y, back) = x.conv1d__vjp(w, b, [s[0]], $padding, [d[0]], groups, Want::ALL);
            (
                y,
                Box::new(move |ct| {
                    let (x, w, b, ..) = back.pull(ct, &mut ());
                    [x, w, b]
                }),
            )
        }};
    }
    match p {
        Some(p) => by!([p[0]]),
        None => by!(Padding::Same),
    }
}

fn conv2d(x: Tensor, w: Tensor, b: Option<Tensor>, [s, d]: [Pair; 2], p: Option<Pair>, groups: usize) -> Convolved {
    macro_rules! by {
        ($padding:expr) => {{
            let (y, back) = x.conv2d__vjp(w, b, s, $padding, d, groups, Want::ALL);
            (
                y,
                Box::new(move |ct| {
                    let (x, w, b, ..) = back.pull(ct, &mut ());
                    [x, w, b]
                }),
            )
        }};
    }
    match p {
        Some(p) => by!(p),
        None => by!(Padding::Same),
    }
}

fn transposed(
    i: &Inputs<'_>,
    f: fn(Tensor, Tensor, Option<Tensor>, [Pair; 4], usize) -> Convolved,
) -> Result<Results, Stop> {
    i.implied(&["in_channels", "out_channels", "kernel_size", "bias"])?;
    let (x, w, b) = (i.float("in.x")?, i.float("param.weight")?, i.maybe_float("param.bias")?);
    let sizes = [sizes(i, "stride")?, sizes(i, "padding")?, sizes(i, "output_padding")?, sizes(i, "dilation")?];
    let (y, back) = f(x, w, b.clone(), sizes, i.integer("groups")?.unsigned_abs());
    convolved(i, y, back, b.is_some())
}

/// The results of an operation of `in.x`, from its plain form and from its companion.
macro_rules! pooled {
    ($i:ident, |$x:ident| $plain:expr, $vjp:expr) => {{
        let input = $i.float("in.x")?;
        let mut results = Results::new();
        let $x = input.clone();
        results.out("y", $plain);
        let $x = input;
        let (y, back) = $vjp;
        results.out("y", y);
        results.grad("in.x", back.pull($i.ct("y")?, &mut ()).0);
        Ok(results)
    }};
}

fn max_pool1d(i: &Inputs<'_>) -> Result<Results, Stop> {
    let ([k, _], [s, _], [p, _], [d, _]) =
        (sizes(i, "kernel_size")?, sizes(i, "stride")?, sizes(i, "padding")?, sizes(i, "dilation")?);
    let c = i.flag("ceil_mode")?;
    pooled!(i, |x| x.max_pool1d_with(k, s, p, d, c), x.max_pool1d_with__vjp(k, s, p, d, c, Want::ALL))
}

fn max_pool2d(i: &Inputs<'_>) -> Result<Results, Stop> {
    let (k, s, p, d) = (sizes(i, "kernel_size")?, sizes(i, "stride")?, sizes(i, "padding")?, sizes(i, "dilation")?);
    let c = i.flag("ceil_mode")?;
    pooled!(i, |x| x.max_pool2d_with(k, s, p, d, c), x.max_pool2d_with__vjp(k, s, p, d, c, Want::ALL))
}

fn avg_pool1d(i: &Inputs<'_>) -> Result<Results, Stop> {
    let ([k, _], [s, _], [p, _]) = (sizes(i, "kernel_size")?, sizes(i, "stride")?, sizes(i, "padding")?);
    let (c, all) = (i.flag("ceil_mode")?, i.flag("count_include_pad")?);
    pooled!(i, |x| x.avg_pool1d_with(k, s, p, c, all, None), x.avg_pool1d_with__vjp(k, s, p, c, all, None, Want::ALL))
}

fn avg_pool2d(i: &Inputs<'_>) -> Result<Results, Stop> {
    let (k, s, p) = (sizes(i, "kernel_size")?, sizes(i, "stride")?, sizes(i, "padding")?);
    let (c, all) = (i.flag("ceil_mode")?, i.flag("count_include_pad")?);
    pooled!(i, |x| x.avg_pool2d_with(k, s, p, c, all, None), x.avg_pool2d_with__vjp(k, s, p, c, all, None, Want::ALL))
}

fn adaptive_avg_pool1d(i: &Inputs<'_>) -> Result<Results, Stop> {
    let [size, _] = sizes(i, "output_size")?;
    pooled!(i, |x| x.adaptive_avg_pool1d(size), x.adaptive_avg_pool1d__vjp(size, Want::ALL))
}

fn adaptive_avg_pool2d(i: &Inputs<'_>) -> Result<Results, Stop> {
    let size = sizes(i, "output_size")?;
    pooled!(i, |x| x.adaptive_avg_pool2d(size), x.adaptive_avg_pool2d__vjp(size, Want::ALL))
}

/// Declares the entry of a batch norm. Without running statistics the batch's own are used in either mode.
macro_rules! batch_norm {
    ($name:ident, $layer:ident, $config:ident, $grads:ident) => {
        fn $name(i: &Inputs<'_>) -> Result<Results, Stop> {
            i.implied(&["num_features", "affine"])?;
            let (x, weight, bias) = (i.float("in.x")?, i.maybe_float("param.weight")?, i.maybe_float("param.bias")?);
            let config = $config {
                weight: weight.is_some(),
                bias: bias.is_some(),
                eps: i.number("eps")?,
                momentum: i.maybe_number("momentum")?.unwrap_or(0.1),
                ..$config::new(x.size(1))
            };
            let new = || -> Result<$layer, Stop> {
                let mut layer: $layer = super::layers::layer(&config);
                layer.weight = weight.clone().map(Param::new);
                layer.bias = bias.clone().map(Param::new);
                if let (Some(mean), Some(var)) =
                    (i.maybe_float("state.running_mean")?, i.maybe_float("state.running_var")?)
                {
                    (layer.running_mean, layer.running_var) = (State::new(mean), State::new(var));
                    layer.num_batches_tracked = State::new(i.int("state.num_batches_tracked")?.float());
                }
                Ok(layer)
            };
            let tracks = i.flag("track_running_stats")?;
            let cx = || if i.training() || !tracks { Cx::train(0) } else { Cx::eval() };
            let mut results = Results::new();
            results.out("y", new()?.forward(x.clone(), &mut cx()));
            let layer = new()?;
            let (y, back) = layer.forward__vjp(x, &mut cx(), Want::ALL);
            results.out("y", y);
            if tracks {
                results.state("running_mean", layer.running_mean.get());
                results.state("running_var", layer.running_var.get());
                results.count("num_batches_tracked", layer.num_batches_tracked.get().int());
            }
            let mut grads = $grads::default();
            results.grad("in.x", back.pull(i.ct("y")?, &mut grads).0);
            if weight.is_some() {
                results.grad("param.weight", grads.weight);
                results.grad("param.bias", grads.bias);
            }
            Ok(results)
        }
    };
}

batch_norm!(batch_norm1d, BatchNorm1d, BatchNorm1dConfig, BatchNorm1dGrads);
batch_norm!(batch_norm2d, BatchNorm2d, BatchNorm2dConfig, BatchNorm2dGrads);
