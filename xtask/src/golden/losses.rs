//! Losses: layers of a prediction and a target.

use super::inputs::{Inputs, Stop};
use super::registry::{Results, Row};
use cotangent::diff::{Pullback, Want};
use cotangent::layers::*;
use cotangent::{Device, Model, Rng, Tensor};

/// The method `$method` of a loss, and its companion: the result, and the cotangents by the names that they are given.
macro_rules! call {
    ($inputs:ident, $loss:expr, $method:ident, $companion:ident, ($($arg:expr),*), $cts:pat => {$($name:literal: $ct:expr),*}) => {{
        let loss = $loss;
        let mut results = Results::new();
        results.out("y", loss.$method($($arg.clone()),*));
        let (y, pullback) = loss.$companion($($arg,)* Want::ALL);
        results.out("y", y);
        let $cts = pullback.pull($inputs.ct("y")?, &mut Default::default());
        $(results.grad($name, $ct);)*
        Ok(results)
    }};
}

/// A loss with its settings: reduced, or each loss by itself, as the case says.
macro_rules! either {
    ($inputs:ident, $Loss:ident $Config:ident {$($field:ident: $value:expr),*}, $args:tt, $cts:pat => $grads:tt) => {
        either!($inputs, $Loss $Config {$($field: $value),*}, forward forward__vjp forward_no_reduction forward_no_reduction__vjp,
            $args, $cts => $grads)
    };
    ($inputs:ident, $Loss:ident $Config:ident {$($field:ident: $value:expr),*},
     $forward:ident $forward_vjp:ident $each:ident $each_vjp:ident, $args:tt, $cts:pat => $grads:tt) => {
        match reduction($inputs)? {
            Some(reduction) => {
                let loss: $Loss = init($Config { $($field: $value,)* reduction });
                call!($inputs, loss, $forward, $forward_vjp, $args, $cts => $grads)
            }
            None => {
                let loss: $Loss = init($Config { $($field: $value,)* reduction: Reduction::Mean });
                call!($inputs, loss, $each, $each_vjp, $args, $cts => $grads)
            }
        }
    };
}

pub(super) const ROWS: &[Row] = &[
    ("L1Loss", |i| {
        let (x, y) = pair(i)?;
        either!(i, L1Loss L1LossConfig {}, (x, y), (dx, _) => {"in.input": dx})
    }),
    ("MSELoss", |i| {
        let (x, y) = pair(i)?;
        either!(i, MseLoss MseLossConfig {}, (x, y), (dx, dy) => {"in.input": dx, "in.target": dy})
    }),
    ("HuberLoss", |i| {
        let (x, y) = pair(i)?;
        either!(i, HuberLoss HuberLossConfig { delta: i.number("delta")? }, (x, y), (dx, _) => {"in.input": dx})
    }),
    ("SmoothL1Loss", |i| {
        let (x, y) = pair(i)?;
        either!(i, SmoothL1Loss SmoothL1LossConfig { beta: i.number("beta")? }, (x, y), (dx, _) => {"in.input": dx})
    }),
    ("KLDivLoss", |i| {
        let (x, y) = pair(i)?;
        either!(i, KlDivLoss KlDivLossConfig { log_target: i.flag("log_target")? }, (x, y), (dx, _) => {"in.input": dx})
    }),
    ("PoissonNLLLoss", |i| {
        let (x, y) = pair(i)?;
        let (log_input, full, eps) = (i.flag("log_input")?, i.flag("full")?, i.number("eps")?);
        either!(i, PoissonNllLoss PoissonNllLossConfig { log_input: log_input, full: full, eps: eps }, (x, y), (dx, _) => {"in.input": dx})
    }),
    ("HingeEmbeddingLoss", |i| {
        let (x, y) = pair(i)?;
        either!(i, HingeEmbeddingLoss HingeEmbeddingLossConfig { margin: i.number("margin")? }, (x, y), (dx, _) => {"in.input": dx})
    }),
    ("GaussianNLLLoss", |i| {
        let ((x, y), var) = (pair(i)?, i.float("in.var")?);
        either!(i, GaussianNllLoss GaussianNllLossConfig { full: i.flag("full")?, eps: i.number("eps")? }, (x, y, var),
            (dx, _, dvar) => {"in.input": dx, "in.var": dvar})
    }),
    ("MarginRankingLoss", |i| {
        let (a, b, y) = (i.float("in.x1")?, i.float("in.x2")?, i.float("in.target")?);
        either!(i, MarginRankingLoss MarginRankingLossConfig { margin: i.number("margin")? }, (a, b, y),
            (da, db, _) => {"in.x1": da, "in.x2": db})
    }),
    ("CosineEmbeddingLoss", |i| {
        let (a, b, y) = (i.float("in.x1")?, i.float("in.x2")?, i.float("in.target")?);
        either!(i, CosineEmbeddingLoss CosineEmbeddingLossConfig { margin: i.number("margin")? }, (a, b, y),
            (da, db, _) => {"in.x1": da, "in.x2": db})
    }),
    ("TripletMarginLoss", |i| {
        let (a, p, n) = (i.float("in.anchor")?, i.float("in.positive")?, i.float("in.negative")?);
        let (margin, power, eps, swap) = (i.number("margin")?, i.number("p")?, i.number("eps")?, i.flag("swap")?);
        either!(i, TripletMarginLoss TripletMarginLossConfig { margin: margin, p: power, eps: eps, swap: swap }, (a, p, n),
            (da, dp, dn) => {"in.anchor": da, "in.positive": dp, "in.negative": dn})
    }),
    ("BCELoss", binary),
    ("BCEWithLogitsLoss", binary_of_logits),
    ("CrossEntropyLoss", cross_entropy),
    ("NLLLoss", negative_log_likelihood),
    ("MultiMarginLoss", margins),
    ("CTCLoss", alignments),
];

/// A loss with these settings.
fn init<L: Model>(config: L::Config) -> L {
    cotangent::model::init(&config, &mut Rng::seed(0), &Device::cpu())
}

/// How losses become one number; `None` where they do not.
fn reduction(i: &Inputs<'_>) -> Result<Option<Reduction>, Stop> {
    Ok(match i.word("reduction")? {
        "none" => None,
        "mean" => Some(Reduction::Mean),
        "sum" => Some(Reduction::Sum),
        "batchmean" => Some(Reduction::BatchMean),
        _ => return Err(i.missing("reduction")),
    })
}

fn pair(i: &Inputs<'_>) -> Result<(Tensor, Tensor), Stop> {
    Ok((i.float("in.input")?, i.float("in.target")?))
}

/// A prediction whose classes PyTorch has along axis 1, with them along the last one.
fn classes_last(x: Tensor) -> Tensor {
    let last = x.rank() as isize;
    let order: Vec<isize> = [0].into_iter().chain(2..last).chain([1]).collect();
    if x.rank() < 2 { x } else { x.permute(order) }
}

/// Its cotangent, as PyTorch has it.
fn classes_second(ct: Option<Tensor>) -> Option<Tensor> {
    let ct = ct?;
    let last = ct.rank() as isize;
    let order: Vec<isize> = [0, last - 1].into_iter().chain(1..last - 1).collect();
    Some(if ct.rank() < 2 { ct } else { ct.permute(order) })
}

fn binary(i: &Inputs<'_>) -> Result<Results, Stop> {
    let (x, y) = pair(i)?;
    match (i.maybe_float("in.weight")?, reduction(i)?) {
        (Some(weight), Some(reduction)) => {
            let loss: BceLoss = init(BceLossConfig { reduction });
            call!(i, loss, forward_weighted, forward_weighted__vjp, (x, y, weight), (dx, _, _) => {"in.input": dx})
        }
        (Some(_), None) => Err(i.missing("weight")),
        (None, _) => either!(i, BceLoss BceLossConfig {}, (x, y), (dx, _) => {"in.input": dx}),
    }
}

fn binary_of_logits(i: &Inputs<'_>) -> Result<Results, Stop> {
    let (x, y) = pair(i)?;
    match (i.maybe_float("in.weight")?, i.maybe_float("in.pos_weight")?, reduction(i)?) {
        (Some(weight), Some(of_yes), Some(reduction)) => {
            let loss: BceWithLogitsLoss = init(BceWithLogitsLossConfig { reduction });
            let args = (x, y, weight, of_yes);
            call!(i, loss, forward_weighted, forward_weighted__vjp, (args.0, args.1, args.2, args.3),
                (dx, _, _, _) => {"in.input": dx})
        }
        (None, None, _) => {
            either!(i, BceWithLogitsLoss BceWithLogitsLossConfig {}, (x, y), (dx, _) => {"in.input": dx})
        }
        _ => Err(i.missing("weight")),
    }
}

fn cross_entropy(i: &Inputs<'_>) -> Result<Results, Stop> {
    let (label_smoothing, ignore_index) = (i.number("label_smoothing")?, i.integer("ignore_index")? as i64);
    let x = classes_last(i.float("in.input")?);
    let weight = i.maybe_float("in.weight")?;
    if i.holds_floats("in.target") == Some(true) {
        let y = classes_last(i.float("in.target")?);
        return match weight {
            Some(weight) => {
                let reduction = reduction(i)?.ok_or_else(|| i.missing("weight"))?;
                let loss: CrossEntropyLoss = init(CrossEntropyLossConfig { label_smoothing, ignore_index, reduction });
                call!(i, loss, forward_weighted_probabilities, forward_weighted_probabilities__vjp, (x, y, weight),
                    (dx, _, _) => {"in.input": dx})
            }
            None => {
                either!(i, CrossEntropyLoss CrossEntropyLossConfig { label_smoothing: label_smoothing, ignore_index: ignore_index },
                forward_probabilities forward_probabilities__vjp
                forward_probabilities_no_reduction forward_probabilities_no_reduction__vjp,
                (x, y), (dx, _) => {"in.input": dx})
            }
        };
    }
    let y = i.int("in.target")?;
    match weight {
        Some(weight) => {
            either!(i, CrossEntropyLoss CrossEntropyLossConfig { label_smoothing: label_smoothing, ignore_index: ignore_index },
            forward_weighted forward_weighted__vjp forward_weighted_no_reduction forward_weighted_no_reduction__vjp,
            (x, y, weight), (dx, _, _) => {"in.input": classes_second(dx)})
        }
        None => {
            either!(i, CrossEntropyLoss CrossEntropyLossConfig { label_smoothing: label_smoothing, ignore_index: ignore_index },
            (x, y), (dx, _) => {"in.input": classes_second(dx)})
        }
    }
}

fn negative_log_likelihood(i: &Inputs<'_>) -> Result<Results, Stop> {
    let ignore_index = i.integer("ignore_index")? as i64;
    let (x, y) = (classes_last(i.float("in.input")?), i.int("in.target")?);
    match i.maybe_float("in.weight")? {
        Some(weight) => either!(i, NllLoss NllLossConfig { ignore_index: ignore_index },
            forward_weighted forward_weighted__vjp forward_weighted_no_reduction forward_weighted_no_reduction__vjp,
            (x, y, weight), (dx, _, _) => {"in.input": classes_second(dx)}),
        None => {
            either!(i, NllLoss NllLossConfig { ignore_index: ignore_index }, (x, y), (dx, _) => {"in.input": classes_second(dx)})
        }
    }
}

fn margins(i: &Inputs<'_>) -> Result<Results, Stop> {
    let (p, margin) = (i.number("p")?, i.number("margin")?);
    let (x, y) = (i.float("in.input")?, i.int("in.target")?);
    match i.maybe_float("in.weight")? {
        Some(weight) => {
            let reduction = reduction(i)?.ok_or_else(|| i.missing("weight"))?;
            let loss: MultiMarginLoss = init(MultiMarginLossConfig { p, margin, reduction });
            call!(i, loss, forward_weighted, forward_weighted__vjp, (x, y, weight), (dx, _, _) => {"in.input": dx})
        }
        None => {
            either!(i, MultiMarginLoss MultiMarginLossConfig { p: p, margin: margin }, (x, y), (dx, _) => {"in.input": dx})
        }
    }
}

fn alignments(i: &Inputs<'_>) -> Result<Results, Stop> {
    let (blank, zero_infinity) = (i.integer("blank")?.unsigned_abs(), i.flag("zero_infinity")?);
    let (logits, y) = (i.float("in.logits")?, i.int("in.target")?);
    let (times, lengths) = (i.int("in.input_lengths")?, i.int("in.target_lengths")?);
    let (x, of_logits) = logits.log_softmax__vjp(-1, Want::ALL);
    match (y.rank(), reduction(i)?) {
        (1, Some(reduction)) => {
            let loss: CtcLoss = init(CtcLossConfig { blank, zero_infinity, reduction });
            call!(i, loss, forward_concatenated, forward_concatenated__vjp, (x, y, times, lengths),
                (dx, _, _, _) => {"in.logits": of_logits.pull(dx, &mut ()).0})
        }
        (1, None) => Err(i.missing("concatenated targets without a reduction")),
        _ => either!(i, CtcLoss CtcLossConfig { blank: blank, zero_infinity: zero_infinity }, (x, y, times, lengths),
            (dx, _, _, _) => {"in.logits": of_logits.pull(dx, &mut ()).0}),
    }
}
