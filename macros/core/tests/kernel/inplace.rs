//! Kernels that change tensors in place.

use super::{check, scalar, tensor};
use cotangent_ir::Value;

#[test]
fn sgd() {
    let source = "fn sgd(w: &mut Tensor![N..], g: Tensor![N..], lr: f32) { |i| { w[i] -= lr * g[i]; } }";
    let ((w, ws), (g, gs)) = (tensor(&[5]), tensor(&[5]));
    let new = ws.iter().zip(&gs).map(|(w, g)| w - 0.1 * g).collect();
    check(source, &[w, g, scalar(0.1)], &[Value::float(&[5], new)]);
}

#[test]
fn tensor_without_axes() {
    let source = "fn count(n: &mut Tensor![Int;], x: Tensor![N]) { || n = n + sum(|i| (x[i] > 0.0) as i64) }";
    let x = Value::float(&[3], vec![1.0, -1.0, 2.0]);
    check(source, &[Value::int(&[], vec![5]), x], &[Value::int(&[], vec![7])]);
}

#[test]
fn adamw() {
    let source = "fn adamw(
        w: &mut Tensor![N..], m: &mut Tensor![N..], v: &mut Tensor![N..], g: Tensor![N..],
        lr: f32, b1: f32, b2: f32, eps: f32, decay: f32, step: i64,
    ) {
        let (c1, c2) = (1.0 - b1.powf(step), 1.0 - b2.powf(step));
        |i| {
            m[i] = lerp(g[i], m[i], b1);
            v[i] = lerp(g[i].square(), v[i], b2);
            let step = lr * (m[i] / c1) / ((v[i] / c2).sqrt() + eps);
            w[i] = w[i] * (1.0 - lr * decay) - step;
        }
    }";
    let ((w, ws), (g, gs)) = (tensor(&[4]), tensor(&[4]));
    let (m, ms) = (Value::float(&[4], vec![0.1, 0.2, -0.3, 0.4]), [0.1, 0.2, -0.3, 0.4]);
    let (v, vs) = (Value::float(&[4], vec![0.5, 0.25, 0.125, 1.0]), [0.5, 0.25, 0.125, 1.0]);
    let (lr, b1, b2, eps, decay) = (0.01, 0.9, 0.999, 1e-8, 0.1);
    let (c1, c2) = (1.0 - f64::powi(b1, 3), 1.0 - f64::powi(b2, 3));
    let (mut new_w, mut new_m, mut new_v) = (vec![], vec![], vec![]);
    for i in 0..4 {
        let m = b1 * ms[i] + (1.0 - b1) * gs[i];
        let v = b2 * vs[i] + (1.0 - b2) * gs[i] * gs[i];
        new_w.push(ws[i] * (1.0 - lr * decay) - lr * (m / c1) / ((v / c2).sqrt() + eps));
        new_m.push(m);
        new_v.push(v);
    }
    let scalars = [lr, b1, b2, eps, decay].map(scalar);
    let args = [vec![w, m, v, g], scalars.to_vec(), vec![Value::int(&[], vec![3])]].concat();
    check(source, &args, &[new_w, new_m, new_v].map(|x| Value::float(&[4], x)));
}

#[test]
fn running_mean_with_a_result() {
    let source = "fn running(x: Tensor![B, C], mean_: &mut Tensor![C], k: f32) -> Tensor![C] {
        |c| {
            let old = mean_[c];
            mean_[c] = lerp(old, mean(|b| x[b][c]), k);
            mean_[c] = if mean_[c] > 0.0 { mean_[c] } else { 0.0 };
            mean_[c] - old
        }
    }";
    let x = Value::float(&[2, 2], vec![1.0, -5.0, 3.0, -5.0]);
    let args = [x, Value::float(&[2], vec![0.5, 1.0]), scalar(0.5)];
    check(source, &args, &[Value::float(&[2], vec![0.75, -1.0]), Value::float(&[2], vec![1.25, 0.0])]);
}
