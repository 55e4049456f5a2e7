//! Trains a convolutional network on handwritten digits, saves it, loads it again and shows what it reads.
//!
//! `cargo run --release --example mnist`

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program that talks to the terminal")]

#[path = "support/draw.rs"]
mod draw;
#[path = "support/idx.rs"]
mod idx;
#[path = "support/options.rs"]
mod options;

use cotangent::prelude::*;
use draw::Ink;
use idx::Digits;
use indicatif::{ProgressBar, ProgressStyle};
use options::{Given, Opt, Program};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

/// Two convolutions, each with a pool, and two affine maps.
#[model]
pub struct Cnn {
    conv1: Conv2d![1 => 32, K = 3, pad = 1],
    conv2: Conv2d![32 => 64, K = 3, pad = 1],
    pool: MaxPool2d![2],
    fc1: Linear![3136 => 128],
    fc2: Linear![128 => 10],
}

#[model]
impl Cnn {
    /// The score of each class.
    pub fn forward(&self, x: Tensor![B, 1, 28, 28]) -> Tensor![B, 10] {
        let h = self.pool.forward(self.conv1.forward(x).relu());
        let h = self.pool.forward(self.conv2.forward(h).relu());
        self.fc2.forward(self.fc1.forward(h.flatten(1)).relu())
    }
}

/// Two-layer perceptron.
#[model]
pub struct Mlp {
    fc1: Linear![784 => 256],
    drop: Dropout![p = 0.1],
    fc2: Linear![256 => 10],
}

#[model]
impl Mlp {
    /// The score of each class.
    pub fn forward(&self, x: Tensor![B, 1, 28, 28], cx: &mut Cx) -> Tensor![B, 10] {
        let h = self.fc1.forward(x.flatten(1)).relu();
        self.fc2.forward(self.drop.forward(h, cx))
    }
}

/// Whichever is trained; the record says which it was.
#[model]
pub enum Reader {
    /// `--model cnn`.
    Cnn(Cnn),
    /// `--model mlp`.
    Mlp(Mlp),
}

#[model]
impl Reader {
    /// The score of each class.
    pub fn forward(&self, x: Tensor![B, 1, 28, 28], cx: &mut Cx) -> Tensor![B, 10] {
        match self {
            Self::Cnn(cnn) => cnn.forward(x),
            Self::Mlp(mlp) => mlp.forward(x, cx),
        }
    }

    /// The mean cross entropy of the scores.
    pub fn loss(&self, x: Tensor![B, 1, 28, 28], y: Tensor![Int; B], cx: &mut Cx) -> Tensor![] {
        self.forward(x, cx).cross_entropy(y)
    }
}

const PROGRAM: Program = Program {
    name: "mnist",
    about: "Trains a convolutional network on handwritten digits.",
    arguments: &[],
    options: &[
        Opt { name: "--model", value: "NAME", help: "`cnn`, or `mlp` for a two-layer perceptron [cnn]" },
        Opt { name: "--epochs", value: "N", help: "passes over the training images [3]" },
        Opt { name: "--batch", value: "N", help: "images a step [64]" },
        Opt { name: "--seed", value: "N", help: "where all randomness comes from [0]" },
        Opt { name: "--save", value: "FILE", help: "where the model goes [a file in the folder for temporary files]" },
        Opt { name: "--load", value: "FILE", help: "a saved model to start from" },
        Opt { name: "--data", value: "DIR", help: "a folder of idx files, plain or gzip [examples/data/mnist10k]" },
    ],
};

const DATA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/data/mnist10k");
const CLASSES: u8 = 10;
const LEARNING_RATE: f64 = 1e-3;
/// Test images that are shown at the end.
const SHOWN: usize = 6;
/// Images that are classified at once.
const EVAL_BATCH: usize = 500;

fn main() -> ExitCode {
    let result = match PROGRAM.read(std::env::args().skip(1)) {
        Ok(None) => {
            print!("{}", PROGRAM.help());
            return ExitCode::SUCCESS;
        }
        Ok(Some(given)) => run(&given),
        Err(message) => Err(message.into()),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(given: &Given) -> Result<(), Box<dyn std::error::Error>> {
    let (epochs, batch) = (given.number("--epochs", 3usize)?, given.number("--batch", 64usize)?);
    let seed = given.number("--seed", 0u64)?;
    if batch == 0 {
        return Err("`--batch` is 0, expected at least 1".into());
    }
    let dir = Path::new(given.text("--data").unwrap_or(DATA));
    let (train, test) = (digits(dir, "train")?, digits(dir, "test")?);
    let device = Device::default();
    let mut rng = Rng::seed(seed);
    let mut model = match given.text("--load") {
        Some(path) => Reader::load(path, &device)?,
        None => Reader::init(config(given)?, &mut rng, &device),
    };
    let (mut opt, mut cx) = (Adam::new(LEARNING_RATE), Cx::train(seed));
    for epoch in 1..=epochs {
        let start = Instant::now();
        let bar = progress(epoch, epochs, train.len().div_ceil(batch));
        let order = rng.permutation(train.len());
        let mut losses = 0.0;
        for (step, chosen) in order.chunks(batch).enumerate() {
            if step % 16 == 0 && !bar.is_hidden() {
                let classes = classify(&model, &train, chosen, &device);
                let mean = losses / step.max(1) as f64;
                bar.set_message(format!("loss {mean:.4}  accuracy {:.4}", share_right(&classes, &train, chosen)));
            }
            let (x, y) = tensors(&train, chosen, &device);
            let (loss, grads) = model.loss_grad(x, y, &mut cx);
            opt.step(&mut model, grads);
            losses += f64::from(loss.item());
            bar.inc(1);
        }
        bar.finish_and_clear();
        let seconds = start.elapsed().as_secs_f64();
        println!(
            "epoch {epoch}/{epochs}  loss {:.4}  test accuracy {:.4}  {seconds:.2} s",
            losses / train.len().div_ceil(batch).max(1) as f64,
            accuracy(&model, &test, &device)
        );
    }
    let path = given.text("--save").map_or_else(|| std::env::temp_dir().join("mnist.safetensors"), PathBuf::from);
    model.save(&path)?;
    println!("saved and loaded again: {}", path.display());
    let model = Reader::load(&path, &device)?;
    show(&model, &test, &device);
    println!("test accuracy {:.4}", accuracy(&model, &test, &device));
    Ok(())
}

/// The network that is asked for.
fn config(given: &Given) -> Result<ReaderConfig, String> {
    match given.text("--model").unwrap_or("cnn") {
        "cnn" => Ok(ReaderConfig::Cnn(())),
        "mlp" => Ok(ReaderConfig::Mlp(())),
        other => Err(format!("`--model` is `{other}`, expected `cnn` or `mlp`")),
    }
}

/// Reads one set, whose images must have the size that the model takes.
fn digits(dir: &Path, set: &str) -> Result<Digits, String> {
    let digits = Digits::read(dir, set, CLASSES).map_err(|e| e.to_string())?;
    let (rows, cols, n) = (digits.rows, digits.cols, digits.len());
    if (rows, cols) != (28, 28) || n == 0 {
        let dir = dir.display();
        return Err(format!("`{dir}`: `{set}` holds {n} images of {rows}x{cols}, expected at least 1 of 28x28"));
    }
    Ok(digits)
}

/// The chosen images `[B, 1, 28, 28]`, from 0 to 1, and their classes `[B]`.
fn tensors(digits: &Digits, chosen: &[usize], device: &Device) -> (Tensor, Tensor<Int>) {
    let pixels = chosen.iter().flat_map(|&i| digits.image(i)).map(|&p| f32::from(p) / 255.0).collect::<Vec<f32>>();
    let labels = chosen.iter().map(|&i| i64::from(digits.labels[i])).collect::<Vec<i64>>();
    let n = chosen.len();
    (Tensor::from_vec(pixels, [n, 1, digits.rows, digits.cols], device), Tensor::from_vec(labels, [n], device))
}

/// The class with the highest score for each of the chosen images.
fn classify(model: &Reader, digits: &Digits, chosen: &[usize], device: &Device) -> Vec<i64> {
    let (x, _) = tensors(digits, chosen, device);
    model.forward(x, &mut Cx::eval()).argmax(1).to_vec()
}

/// The share of all images that are classified right.
fn accuracy(model: &Reader, digits: &Digits, device: &Device) -> f64 {
    let all: Vec<usize> = (0..digits.len()).collect();
    let classes: Vec<i64> = all.chunks(EVAL_BATCH).flat_map(|chosen| classify(model, digits, chosen, device)).collect();
    share_right(&classes, digits, &all)
}

/// How many of `classes` are those of the chosen images.
fn share_right(classes: &[i64], digits: &Digits, chosen: &[usize]) -> f64 {
    let right = classes.iter().zip(chosen).filter(|(class, i)| **class == i64::from(digits.labels[**i])).count();
    right as f64 / chosen.len() as f64
}

/// A bar on a terminal; nothing elsewhere, where the line of each epoch is enough.
fn progress(epoch: usize, epochs: usize, steps: usize) -> ProgressBar {
    let style = ProgressStyle::with_template("{prefix} [{bar:30}] {pos}/{len}  {msg}  {eta}");
    let bar = ProgressBar::new(steps as u64).with_prefix(format!("epoch {epoch}/{epochs}"));
    bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

/// Draws the first test images with what the model reads and what they are.
fn show(model: &Reader, digits: &Digits, device: &Device) {
    let chosen: Vec<usize> = (0..SHOWN.min(digits.len())).collect();
    let classes = classify(model, digits, &chosen, device);
    let ink = ink();
    let blocks: Vec<(String, Vec<String>)> = chosen
        .iter()
        .zip(&classes)
        .map(|(&i, class)| {
            let label = i64::from(digits.labels[i]);
            let verdict = if *class == label { String::new() } else { format!(", is {label}") };
            (format!("reads {class}{verdict}"), draw::image(digits.image(i), digits.cols, ink))
        })
        .collect();
    // Three images of 28 columns fit a line of 90 characters.
    for row in blocks.chunks(3) {
        print!("{}", draw::beside(row, digits.cols));
    }
}

/// Half blocks where the locale says UTF-8.
fn ink() -> Ink {
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(|v| std::env::var(v).ok()).unwrap_or_default();
    if locale.to_ascii_lowercase().replace('-', "").contains("utf8") { Ink::Blocks } else { Ink::Ascii }
}
