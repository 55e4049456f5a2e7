//! Connectionist temporal classification (Graves et al., 2006): sequences of labels without their places in time.
//!
//! Along a sample's labels with blanks between, before and after them, `alpha` is the logarithm of the probability of all
//! ways to have come to a place at a time, `beta` that of all ways to go on from there to the end. Their sum over the loss
//! is how sure the model is of each label at each time, and so the gradient.

#![allow(non_snake_case, reason = "companions are named `<operation>__vjp`")]
#![allow(clippy::type_complexity, reason = "the type of a companion names all of its cotangents")]

use super::indices;
use crate::diff::{Pullback, Want, pull};
use crate::raise::raise;
use crate::tensor::{Dims, Int, Raw, Storage, Tensor, launch};
use cotangent_hal::{Arg, DType, Error, Kernel, Scalar};

/// One sample: the log-probabilities of its classes at each time, and its labels.
struct Sample<'a> {
    x: Vec<f64>,
    classes: usize,
    /// The times that count.
    times: usize,
    labels: &'a [i64],
    blank: i64,
}

impl Sample<'_> {
    /// The places: the labels with blanks around each.
    fn places(&self) -> usize {
        2 * self.labels.len() + 1
    }

    fn label(&self, place: usize) -> i64 {
        if place.is_multiple_of(2) { self.blank } else { self.labels[place / 2] }
    }

    /// The log-probability of a place's label at a time.
    fn at(&self, time: usize, place: usize) -> f64 {
        self.x[time * self.classes + self.label(place) as usize]
    }

    /// Whether the blank before a label may be passed over: the label before it is another.
    fn skips(&self, place: usize) -> bool {
        place >= 2 && place % 2 == 1 && self.label(place) != self.label(place - 2)
    }

    /// One step forward in time.
    fn forward(&self, time: usize, before: &[f64], now: &mut [f64]) {
        for place in 0..self.places() {
            let step =
                |back: usize, open: bool| if open && place >= back { before[place - back] } else { f64::NEG_INFINITY };
            now[place] = self.at(time, place) + sum([step(0, true), step(1, true), step(2, self.skips(place))]);
        }
    }

    /// The places at the first time.
    fn first(&self, now: &mut [f64]) {
        now.fill(f64::NEG_INFINITY);
        for (place, now) in now.iter_mut().enumerate().take(2) {
            *now = self.at(0, place);
        }
    }

    /// One step backward: what is left of the way after a time, without the label at that time.
    fn backward(&self, time: usize, after: &[f64], now: &mut [f64]) {
        let places = self.places();
        for (place, now) in now.iter_mut().enumerate() {
            let step = |on: usize, open: bool| {
                let to = place + on;
                if to < places && open { after[to] + self.at(time + 1, to) } else { f64::NEG_INFINITY }
            };
            let skips = place + 2 < places && self.skips(place + 2);
            *now = sum([step(0, true), step(1, true), step(2, skips)]);
        }
    }

    /// The loss, given the places at the last time.
    fn loss(&self, last: &[f64]) -> f64 {
        let [.., b, a] = last else { return -last[0] };
        -sum([*a, *b, f64::NEG_INFINITY])
    }

    fn losses(&self) -> f64 {
        if self.times == 0 {
            return if self.labels.is_empty() { 0.0 } else { f64::INFINITY };
        }
        let (mut now, mut before) = (vec![0.0; self.places()], vec![0.0; self.places()]);
        self.first(&mut now);
        for time in 1..self.times {
            std::mem::swap(&mut now, &mut before);
            self.forward(time, &before, &mut now);
        }
        self.loss(&now)
    }

    /// The gradient of `ct` times the loss.
    fn gradient(&self, ct: f64) -> Vec<f64> {
        let mut dx = vec![0.0; self.x.len()];
        // A cotangent of 0 is that of a loss which is left out, be it infinite.
        if self.times == 0 || ct == 0.0 {
            return dx;
        }
        let places = self.places();
        let mut alpha = vec![0.0; places * self.times];
        self.first(&mut alpha[..places]);
        for time in 1..self.times {
            let (before, now) = alpha.split_at_mut(time * places);
            self.forward(time, &before[(time - 1) * places..], &mut now[..places]);
        }
        let loss = self.loss(&alpha[(self.times - 1) * places..]);
        let (mut now, mut after) = (vec![f64::NEG_INFINITY; places], vec![f64::NEG_INFINITY; places]);
        now[places.saturating_sub(2)..].fill(0.0);
        for time in (0..self.times).rev() {
            if time + 1 < self.times {
                std::mem::swap(&mut now, &mut after);
                self.backward(time, &after, &mut now);
            }
            for place in 0..places {
                let way = alpha[time * places + place] + now[place] + loss;
                dx[time * self.classes + self.label(place) as usize] -= ct * way.exp();
            }
        }
        dx
    }
}

/// The logarithm of the sum of numbers given by their logarithms.
fn sum(parts: [f64; 3]) -> f64 {
    let most = parts.into_iter().fold(f64::NEG_INFINITY, |most, part| if part > most { part } else { most });
    if most == f64::NEG_INFINITY {
        return most;
    }
    most + parts.into_iter().fold(0.0, |sum, part| sum + (part - most).exp()).ln()
}

/// The labels of a sample.
fn labels(targets: &[i64], start: i64, length: i64) -> &[i64] {
    &targets[start as usize..(start + length) as usize]
}

cotangent_hal::kernel! {
    static LOSSES = Rows "ctc_loss"
        (x: Each F32, targets: Whole I64, starts: PerRow I64, lengths: PerRow I64, times: PerRow I64; classes, blank)
        -> (y: PerRow F32) |tile| {
        let (classes, labels) = (classes.i64() as usize, labels(targets, starts[0], lengths[0]));
        let x = x.iter().map(|&v| f64::from(v)).collect();
        y[0] = Sample { x, classes, times: times[0] as usize, labels, blank: blank.i64() }.losses() as Real;
    }
}

cotangent_hal::kernel! {
    static GRADIENTS = Rows "ctc_loss"
        (x: Each F32, targets: Whole I64, starts: PerRow I64, lengths: PerRow I64, times: PerRow I64, ct: PerRow F32;
         classes, blank) -> (dx: Each F32) |tile| {
        let (classes, labels) = (classes.i64() as usize, labels(targets, starts[0], lengths[0]));
        let x = x.iter().map(|&v| f64::from(v)).collect();
        let sample = Sample { x, classes, times: times[0] as usize, labels, blank: blank.i64() };
        for (dx, of_sample) in dx.iter_mut().zip(sample.gradient(f64::from(ct[0]))) {
            *dx = of_sample as Real;
        }
    }
}

/// A batch whose shapes and numbers fit.
struct Batch {
    /// `[N, T C]`.
    x: Raw,
    targets: Raw,
    starts: Raw,
    lengths: Raw,
    times: Raw,
    /// `T`, `N` and `C`.
    shape: [usize; 3],
    blank: i64,
}

impl Batch {
    #[track_caller]
    fn new(x: Tensor, targets: &Tensor<Int>, times: &Tensor<Int>, lengths: &Tensor<Int>, blank: usize) -> Batch {
        let &[t, n, c] = x.shape() else {
            refuse_shape(format!("log-probabilities are {:?}, expected [T, N, C]", x.shape()))
        };
        for (what, given) in [("input lengths", times), ("target lengths", lengths)] {
            x.raw.same_device("ctc_loss", &given.raw);
            if given.shape() != [n] {
                refuse_shape(format!("{what} are {:?}, expected [{n}] for {n} samples", given.shape()));
            }
        }
        x.raw.same_device("ctc_loss", &targets.raw);
        if blank >= c {
            refuse(format!("the blank {blank} is out of range: the number of classes C is {c}"));
        }
        indices::check("ctc_loss", &times.raw, t + 1, "input length", "the number of times T, plus 1,");
        let many = lengths.to_vec();
        let starts: Vec<i64> = match *targets.shape() {
            [samples, longest] if samples == n => {
                indices::check(
                    "ctc_loss",
                    &lengths.raw,
                    longest + 1,
                    "target length",
                    "the number of labels S, plus 1,",
                );
                (0..n).map(|sample| (sample * longest) as i64).collect()
            }
            [labels] => {
                indices::check("ctc_loss", &lengths.raw, labels + 1, "target length", "the number of labels, plus 1,");
                let total: i64 = many.iter().sum();
                if total != labels as i64 {
                    refuse(format!("target lengths add up to {total}, but there are {labels} labels"));
                }
                let before = |sum: &mut i64, &length: &i64| Some(std::mem::replace(sum, *sum + length));
                many.iter().scan(0, before).collect()
            }
            _ => refuse_shape(format!("targets are {:?}, expected [{n}, S], or all labels as [L]", targets.shape())),
        };
        // Labels beyond a sample's length are filling, of any value: only those that count are looked at.
        let given = targets.to_vec();
        let counted = starts.iter().zip(&many).flat_map(|(&start, &length)| labels(&given, start, length));
        if let Some(label) = counted.copied().find(|&label| !(0..c as i64).contains(&label) || label == blank as i64) {
            refuse(format!("the label {label} is no class: expected 0 <= label < {c}, other than the blank {blank}"));
        }
        let starts = Raw::from_bytes("ctc_loss", &x.raw.device, DType::I64, &[n], i64::bytes(&starts));
        let rows = x.raw.permute(&[1, 0, 2]).reshape(&Dims::of("ctc_loss", &[n, t * c]));
        Batch {
            x: rows,
            targets: targets.raw.clone().contiguous(),
            starts,
            lengths: lengths.raw.clone(),
            times: times.raw.clone(),
            shape: [t, n, c],
            blank: blank as i64,
        }
    }

    /// Runs a kernel of the batch, with the cotangents of the losses where it takes them.
    fn run(&self, kernel: &'static Kernel, ct: Option<&Raw>, out: &Raw) {
        if self.x.shape[0] == 0 {
            return;
        }
        let ins = [&self.x, &self.targets, &self.starts, &self.lengths, &self.times];
        let tensors = ins.into_iter().chain(ct).map(|x| Arg::In(x.view())).chain([Arg::Out(out.view())]);
        let numbers = [self.shape[2] as i64, self.blank].map(|n| Arg::Scalar(Scalar::Int(n)));
        launch(&self.x.device, kernel, &self.x.shape, &tensors.chain(numbers).collect::<Vec<_>>());
    }

    fn losses(&self) -> Tensor {
        let y = Raw::empty(&self.x.device, self.x.dtype, &[self.shape[1]]);
        self.run(&LOSSES, None, &y);
        Tensor::from_raw(y)
    }

    /// The cotangent of the log-probabilities.
    fn gradient(&self, ct: &Raw) -> Tensor {
        let [t, n, c] = self.shape;
        let dx = Raw::empty(&self.x.device, self.x.dtype, &self.x.shape);
        self.run(&GRADIENTS, Some(ct), &dx);
        Tensor::from_raw(dx.reshape(&Dims::of("ctc_loss", &[n, t, c])).permute(&[1, 0, 2]))
    }
}

#[track_caller]
fn refuse(message: String) -> ! {
    raise(Error::Argument { op: "ctc_loss".into(), message })
}

#[track_caller]
fn refuse_shape(message: String) -> ! {
    raise(Error::Shape { op: "ctc_loss".into(), message })
}

impl Tensor {
    /// For each sample, the negative logarithm of the probability of its labels in any alignment with time: of
    /// log-probabilities `[T, N, C]` the losses `[N]`.
    ///
    /// `targets` are labels `[N, S]`, of which each sample has the first `target_lengths[n]`, or those of all samples one
    /// after another, `[L]`. `input_lengths[n]` of the times count. Where no alignment is possible, because labels are more
    /// than times, the loss is infinite and its gradient NaN. The gradient is that of the formula; PyTorch's adds a term that
    /// vanishes behind a `log_softmax`.
    ///
    /// Raises `Error::Shape` where the shapes do not fit, `Error::Argument` where a length is beyond its axis or a label is
    /// no class or the blank.
    #[track_caller]
    pub fn ctc_loss(
        self,
        targets: Tensor<Int>,
        input_lengths: Tensor<Int>,
        target_lengths: Tensor<Int>,
        blank: usize,
    ) -> Tensor {
        Batch::new(self, &targets, &input_lengths, &target_lengths, blank).losses()
    }

    #[doc(hidden)]
    #[track_caller]
    pub fn ctc_loss__vjp(
        self,
        targets: Tensor<Int>,
        input_lengths: Tensor<Int>,
        target_lengths: Tensor<Int>,
        blank: usize,
        want: Want,
    ) -> (Tensor, impl Pullback<(), Ct = Option<Tensor>, In = (Option<Tensor>, (), (), (), ())> + use<>) {
        let batch = Batch::new(self, &targets, &input_lengths, &target_lengths, blank);
        let y = batch.losses();
        let kept = want.has(0).then(|| Batch { x: batch.x.clone().keep(), ..batch });
        let pullback = move |ct: Option<Tensor>, (): &mut ()| {
            let dx = ct.zip(kept).map(|(ct, batch)| batch.gradient(&ct.raw));
            (dx, (), (), (), ())
        };
        (y, pull(pullback))
    }
}
