//! Kernels over 16 Mi elements, for `cargo xtask bench kernels`.

use cotangent::diff::{Pullback, Want};
use cotangent::{DType, Device, Rng, Tensor, kernel, model};
use cotangent_benches::{Case, memcpy, part_that_counts, serve};
use std::hint::black_box;
use std::time::Instant;

const ROWS: usize = 16384;
const COLUMNS: usize = 1024;

/// `gelu(x w + b)`, the tanh form.
#[kernel]
fn gelu_affine(x: Tensor![R.., C], w: Tensor![C], b: Tensor![C]) -> Tensor![R.., C] {
    |r, i| {
        let u = x[r][i] * w[i] + b[i];
        u * sigmoid(1.5957691216057308 * (u + 0.044715 * u * u * u))
    }
}

/// The same operation by operation, in the body of a function that is differentiated.
#[model]
fn gelu_body(x: Tensor, w: Tensor, b: Tensor) -> Tensor {
    (x * w + b).gelu_tanh()
}

/// Root-mean-square normalisation over the last axis.
#[kernel]
fn rms_norm(x: Tensor![R.., C], w: Tensor![C], eps: f32) -> Tensor![R.., C] {
    |r, i| {
        let ms = mean(|j| x[r][j] * x[r][j]);
        x[r][i] * rsqrt(ms + eps) * w[i]
    }
}

/// AdamW (Loshchilov and Hutter, 2019) with the corrections of its moments as factors.
#[kernel]
fn adamw(
    w: &mut Tensor![N..],
    m: &mut Tensor![N..],
    v: &mut Tensor![N..],
    g: Tensor![N..],
    lr: f32,
    decay: f32,
    fix_m: f32,
    fix_v: f32,
) {
    |i| {
        m[i] = 0.9 * m[i] + 0.1 * g[i];
        v[i] = 0.999 * v[i] + 0.001 * g[i] * g[i];
        w[i] = w[i] * (1.0 - lr * decay) - lr * (m[i] * fix_m) / (sqrt(v[i] * fix_v) + 1e-8);
    }
}

/// What is timed, made anew for each dtype.
fn cases(dtype: DType) -> Vec<Case> {
    let device = Device::cpu();
    let mut rng = Rng::seed(0);
    let mut random = |shape: &[usize]| Tensor::randn(shape, &mut rng, &device).to(dtype);
    let (x, ct) = (random(&[ROWS, COLUMNS]), random(&[ROWS, COLUMNS]));
    let (w, b) = (random(&[COLUMNS]), random(&[COLUMNS]));
    let case = |name: &str, once: Box<dyn FnMut()>| Case { name: name.into(), once };
    let forward = |name: &str, f: fn(Tensor, Tensor, Tensor) -> Tensor| {
        let (x, w, b) = (x.clone(), w.clone(), b.clone());
        case(name, Box::new(move || drop(black_box(f(x.clone(), w.clone(), b.clone())))))
    };
    let mut list = vec![
        forward("gelu(x*w+b)", gelu_affine),
        forward("gelu(x*w+b), in a body", gelu_body),
        forward("softmax", |x, _, _| x.softmax(-1)),
        forward("layer norm", |x, w, b| x.layer_norm(w, b, 1e-5)),
        forward("RMS norm", |x, w, _| rms_norm(x, w, 1e-5)),
    ];
    {
        let (_, b1, w1) = (x.clone(), b.clone(), w.clone());
        let (x, ct) = (x.clone(), ct.clone());
        let run = move || {
            let (_, pull) = x.clone().layer_norm__vjp(w1.clone(), b1.clone(), 1e-5, Want::ALL);
            let start = Instant::now();
            black_box(pull.pull(Some(ct.clone()), &mut ()).0);
            part_that_counts(start.elapsed());
        };
        list.push(case("layer norm, backward", Box::new(run)));
    }
    {
        let (x, ct) = (x.clone(), ct.clone());
        let run = move || {
            let (_, pull) = x.clone().softmax__vjp(-1, Want::ALL);
            let start = Instant::now();
            black_box(pull.pull(Some(ct.clone()), &mut ()).0);
            part_that_counts(start.elapsed());
        };
        list.push(case("softmax, backward", Box::new(run)));
    }
    {
        let mut state = [x.clone() * 1.0, x.clone() * 0.0, x.clone() * 0.0];
        let g = ct;
        let run = move || {
            let [w, m, v] = &mut state;
            adamw(w, m, v, g.clone(), 1e-3, 0.01, 1.0, 1.0);
        };
        list.push(case("AdamW", Box::new(run)));
    }
    list
}

fn main() {
    let mut all = vec![];
    for (dtype, name) in [(DType::F32, "f32"), (DType::BF16, "bf16")] {
        let copy = memcpy(ROWS * COLUMNS * dtype.size());
        all.extend(
            std::iter::once(copy).chain(cases(dtype)).map(|c| Case { name: format!("{}, {name}", c.name), ..c }),
        );
    }
    serve(all);
}
