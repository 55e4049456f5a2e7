//! Kernels on tensors: index notation against plain loops.

use super::{check, compare, kernel, near, scalar, tensor, text};
use cotangent_ir::{Data, Value, eval, philox};

const R: usize = 3;
const C: usize = 4;

fn mean(xs: &[f64]) -> f64 {
    xs.iter().sum::<f64>() / xs.len() as f64
}

fn most(xs: &[f64]) -> f64 {
    xs.iter().copied().fold(f64::NEG_INFINITY, f64::max)
}

/// Rows of `C`, each mapped.
fn rows(x: &[f64], f: impl Fn(&[f64]) -> Vec<f64>) -> Vec<f64> {
    x.chunks(C).flat_map(f).collect()
}

#[test]
fn softmax() {
    let source = "pub fn softmax(x: Tensor![R.., C]) -> Tensor![R.., C] {
        |r, i| {
            let m = max(|j| x[r][j]);
            exp(x[r][i] - m) / sum(|j| exp(x[r][j] - m))
        }
    }";
    let (x, data) = tensor(&[R, C]);
    let y = rows(&data, |row| {
        let e: Vec<f64> = row.iter().map(|v| (v - most(row)).exp()).collect();
        e.iter().map(|v| v / e.iter().sum::<f64>()).collect()
    });
    check(source, &[x], &[Value::float(&[R, C], y)]);
}

fn log_sum_exp(row: &[f64]) -> f64 {
    most(row) + row.iter().map(|v| (v - most(row)).exp()).sum::<f64>().ln()
}

#[test]
fn log_softmax() {
    let source = "fn log_softmax(x: Tensor![R.., C]) -> Tensor![R.., C] {
        |r, i| x[r][i] - logsumexp(|j| x[r][j])
    }";
    let (x, data) = tensor(&[R, C]);
    let y = rows(&data, |row| row.iter().map(|v| v - log_sum_exp(row)).collect());
    check(source, &[x], &[Value::float(&[R, C], y)]);
}

#[test]
fn logsumexp_of_infinities() {
    let k = kernel("fn k(x: Tensor![R, C]) -> Tensor![R] { |r| logsumexp(|j| x[r][j]) }");
    let (inf, nan) = (f64::INFINITY, f64::NAN);
    let x = Value::float(&[3, 2], vec![-inf, -inf, inf, 0.0, nan, 0.0]);
    compare(&k, &[x], &[Value::float(&[3], vec![-inf, inf, nan])]);
}

#[test]
fn layer_norm() {
    let source = "fn layer_norm(x: Tensor![R.., C], w: Tensor![C], b: Tensor![C], eps: f32) -> Tensor![R.., C] {
        |r, i| {
            let m = mean(|j| x[r][j]);
            let v = mean(|j| (x[r][j] - m).powi(2));
            (x[r][i] - m) * rsqrt(v + eps) * w[i] + b[i]
        }
    }";
    let ((x, xs), (w, ws), (b, bs)) = (tensor(&[R, C]), tensor(&[C]), tensor(&[C]));
    let y = rows(&xs, |row| {
        let m = mean(row);
        let v = mean(&row.iter().map(|v| (v - m) * (v - m)).collect::<Vec<_>>());
        (0..C).map(|i| (row[i] - m) / (v + 1e-5).sqrt() * ws[i] + bs[i]).collect()
    });
    check(source, &[x, w, b, scalar(1e-5)], &[Value::float(&[R, C], y)]);
}

#[test]
fn rms_norm() {
    let source = "pub fn rms_norm(x: Tensor![R.., C], w: Tensor![C], eps: f32) -> Tensor![R.., C] {
        |r, i| { let ms = mean(|j| x[r][j] * x[r][j]); x[r][i] * rsqrt(ms + eps) * w[i] }
    }";
    let ((x, xs), (w, ws)) = (tensor(&[R, C]), tensor(&[C]));
    let y = rows(&xs, |row| {
        let ms = mean(&row.iter().map(|v| v * v).collect::<Vec<_>>());
        (0..C).map(|i| row[i] / (ms + 1e-5).sqrt() * ws[i]).collect()
    });
    check(source, &[x, w, scalar(1e-5)], &[Value::float(&[R, C], y)]);
}

#[test]
fn cross_entropy() {
    let source = "fn cross_entropy(x: Tensor![R.., C], t: Tensor![Int; R..]) -> Tensor![] {
        mean(|r| logsumexp(|j| x[r][j]) - x[r][t[r]])
    }";
    let (x, xs) = tensor(&[R, C]);
    let t = [3, 0, 2];
    let losses: Vec<f64> = xs.chunks(C).zip(t).map(|(row, t)| log_sum_exp(row) - row[t]).collect();
    check(source, &[x, Value::int(&[R], t.map(|t| t as i64).to_vec())], &[scalar(mean(&losses))]);
}

#[test]
fn matmul() {
    let source = "fn matmul(a: Tensor![M, K], b: Tensor![K, N]) -> Tensor![M, N] { |i, j| sum(|k| a[i][k] * b[k][j]) }";
    let ((a, xs), (b, ys)) = (tensor(&[2, 3]), tensor(&[3, 4]));
    let y = (0..8).map(|at| (0..3).map(|k| xs[at / 4 * 3 + k] * ys[k * 4 + at % 4]).sum()).collect();
    check(source, &[a, b], &[Value::float(&[2, 4], y)]);
}

#[test]
fn conv1d() {
    let source = "fn conv1d(x: Tensor![R.., N], w: Tensor![K]) -> Tensor![R.., N - K + 1] {
        |r, i| sum(|k| x[r][i + k] * w[k])
    }";
    let ((x, xs), (w, ws)) = (tensor(&[2, 6]), tensor(&[3]));
    let y = (0..8).map(|at| (0..3).map(|k| xs[at / 4 * 6 + at % 4 + k] * ws[k]).sum()).collect();
    check(source, &[x, w], &[Value::float(&[2, 4], y)]);
}

#[test]
fn conv1d_padded() {
    let source = "fn conv1d_padded(x: Tensor![R.., N], w: Tensor![3]) -> Tensor![R.., N] {
        |r, i| sum(|k| or_zero(x[r][i + k - 1]) * w[k])
    }";
    let ((x, xs), (w, ws)) = (tensor(&[2, 5]), tensor(&[3]));
    let y = (0..10).map(|at| {
        let taps = (0..3).filter(|k| (1..=5).contains(&(at % 5 + k)));
        taps.map(|k| xs[at / 5 * 5 + at % 5 + k - 1] * ws[k]).sum()
    });
    check(source, &[x, w], &[Value::float(&[2, 5], y.collect())]);
}

#[test]
fn conv2d_strided() {
    let source = "fn conv2d_strided(x: Tensor![B, I, 2*H, 2*W], w: Tensor![O, I, 2, 2]) -> Tensor![B, O, H, W] {
        |b, o, y, x_| sum(|c, i, j| x[b][c][2*y + i][2*x_ + j] * w[o][c][i][j])
    }";
    let ((x, xs), (w, ws)) = (tensor(&[1, 2, 4, 6]), tensor(&[3, 2, 2, 2]));
    let mut out = vec![];
    for at in 0..3 * 2 * 3 {
        let (o, y, x) = (at / 6, at / 3 % 2, at % 3);
        let mut sum = 0.0;
        for tap in 0..8 {
            let (c, i, j) = (tap / 4, tap / 2 % 2, tap % 2);
            sum += xs[(c * 4 + 2 * y + i) * 6 + 2 * x + j] * ws[((o * 2 + c) * 2 + i) * 2 + j];
        }
        out.push(sum);
    }
    check(source, &[x, w], &[Value::float(&[1, 3, 2, 3], out)]);
}

#[test]
fn conv1d_strided() {
    let source = "fn conv1d_strided(x: Tensor![R.., N], w: Tensor![K]) -> Tensor![R.., (N - K) / 2 + 1] {
        |r, i| sum(|k| x[r][2 * i + k] * w[k])
    }";
    let ((x, xs), (w, ws)) = (tensor(&[2, 7]), tensor(&[3]));
    let y = (0..6).map(|at| (0..3).map(|k| xs[at / 3 * 7 + 2 * (at % 3) + k] * ws[k]).sum()).collect();
    check(source, &[x, w], &[Value::float(&[2, 3], y)]);
}

#[test]
fn max_pool() {
    let source = "fn max_pool(x: Tensor![R.., 2*O]) -> (Tensor![R.., O], Tensor![Int; R.., O]) {
        |r, o| (max(0..2, |k| x[r][2*o + k]), 2*o + argmax(0..2, |k| x[r][2*o + k]))
    }";
    let (x, xs) = tensor(&[2, 6]);
    let pairs: Vec<&[f64]> = xs.chunks(2).collect();
    let at = pairs.iter().enumerate().map(|(o, p)| 2 * (o as i64 % 3) + i64::from(p[1] > p[0])).collect();
    let y = pairs.iter().map(|p| p[0].max(p[1])).collect();
    check(source, &[x], &[Value::float(&[2, 3], y), Value::int(&[2, 3], at)]);
}

#[test]
fn rotary() {
    let source = "fn rotary(x: Tensor![R.., 2*H], angle: Tensor![R.., H]) -> Tensor![R.., 2*H] {
        |r, i| {
            let (c, s) = (cos(angle[r][i / 2]), sin(angle[r][i / 2]));
            let (a, b) = (x[r][i / 2 * 2], x[r][i / 2 * 2 + 1]);
            if i % 2 == 0 { a * c - b * s } else { a * s + b * c }
        }
    }";
    let ((x, xs), (angle, angles)) = (tensor(&[2, 4]), tensor(&[2, 2]));
    let pair = |at: usize| {
        let (a, b, t) = (xs[2 * at], xs[2 * at + 1], angles[at]);
        [a * t.cos() - b * t.sin(), a * t.sin() + b * t.cos()]
    };
    check(source, &[x, angle], &[Value::float(&[2, 4], (0..4).flat_map(pair).collect())]);
}

#[test]
fn swiglu() {
    let source = "fn swiglu(x: Tensor![R.., 2*H]) -> Tensor![R.., H] {
        |r, i| x[r][i] * sigmoid(x[r][i]) * x[r][i + H]
    }";
    let (x, xs) = tensor(&[2, 6]);
    let y = (0..6).map(|at| {
        let (a, b) = (xs[at / 3 * 6 + at % 3], xs[at / 3 * 6 + at % 3 + 3]);
        a / (1.0 + (-a).exp()) * b
    });
    check(source, &[x], &[Value::float(&[2, 3], y.collect())]);
}

#[test]
fn halves_of_a_declared_quotient() {
    let source = "fn halves(x: Tensor![R.., C]) -> Tensor![R.., C / 2] { |r, i| x[r][i] * x[r][i + C / 2] }";
    let (x, xs) = tensor(&[1, 4]);
    check(source, &[x], &[Value::float(&[1, 2], vec![xs[0] * xs[2], xs[1] * xs[3]])]);
}

#[test]
fn running() {
    let source = "fn running_reductions(x: Tensor![R.., C], w: Tensor![C]) -> (Tensor![R.., C], Tensor![C]) {
        (
            |r, i| {
                let scale = sum(|j| w[j]);
                cumsum(|j| x[r][j] * w[j] * scale, i) - cummax(|i| x[r][i], i)
            },
            |i| sum(|r| cumprod(|k| x[r][k] + sum(|i| w[i]), i)) + cummin(|j| w[j], i),
        )
    }";
    let ((x, xs), (w, ws)) = (tensor(&[R, C]), tensor(&[C]));
    let scale: f64 = ws.iter().sum();
    let y = rows(&xs, |row| {
        let sum = |i: usize| (0..=i).map(|j| row[j] * ws[j] * scale).sum::<f64>();
        (0..C).map(|i| sum(i) - most(&row[..=i])).collect()
    });
    let z = (0..C).map(|i| {
        let products = xs.chunks(C).map(|row| row[..=i].iter().map(|x| x + scale).product::<f64>());
        products.sum::<f64>() + ws[..=i].iter().copied().fold(f64::INFINITY, f64::min)
    });
    check(source, &[x, w], &[Value::float(&[R, C], y), Value::float(&[C], z.collect())]);
}

#[test]
fn embedding() {
    let source = "fn embedding(ids: Tensor![Int; T..], w: Tensor![V, C]) -> Tensor![T.., C] { |t, c| w[ids[t]][c] }";
    let (w, ws) = tensor(&[5, 2]);
    let y = [4, 0, 4].into_iter().flat_map(|id: usize| [ws[2 * id], ws[2 * id + 1]]).collect();
    check(source, &[Value::int(&[3], vec![4, 0, 4]), w], &[Value::float(&[3, 2], y)]);
}

#[test]
fn dropout() {
    let source = "fn dropout(x: Tensor![R.., C], p: f32, key: Key) -> Tensor![R.., C] {
        let scale = 1.0 / (1.0 - p);
        |r, i| if uniform(key, r * C + i) < p { 0.0 } else { x[r][i] * scale }
    }";
    let (x, xs) = tensor(&[R, C]);
    let uniform = |at: usize| f64::from(philox::word(42, at as i64 as u64) >> 8) / 16_777_216.0;
    let y = (0..R * C).map(|at| if uniform(at) < 0.5 { 0.0 } else { xs[at] * 2.0 });
    check(source, &[x, scalar(0.5), Value::int(&[], vec![42])], &[Value::float(&[R, C], y.collect())]);
}

#[test]
fn random_bits() {
    let source = "fn random_bits_of(key: Key, x: Tensor![N]) -> Tensor![Int; N] { |i| random_bits(key, i + len(N)) }";
    let words = (3..6).map(|at| i64::from(philox::word(7, at)));
    check(source, &[Value::int(&[], vec![7]), tensor(&[3]).0], &[Value::int(&[3], words.collect())]);
}

#[test]
fn accuracy() {
    let source = "fn accuracy(x: Tensor![R.., C], t: Tensor![Int; R..]) -> Tensor![] {
        || mean(|r| (argmax(|j| x[r][j]) == t[r]) as f32)
    }";
    let x = Value::float(&[2, 3], vec![0.0, 2.0, 1.0, 5.0, 5.0, 1.0]);
    check(source, &[x, Value::int(&[2], vec![1, 1])], &[scalar(0.5)]);
}

#[test]
fn statistics() {
    let source = "fn statistics(x: Tensor![B, C, S]) -> (Tensor![C], Tensor![C], Tensor![B, S]) {
        (
            |c| mean(|b, s| x[b][c][s]),
            |c| { let m = mean(|b, s| x[b][c][s]); mean(|b, s| square(x[b][c][s] - m)) },
            |b, s| prod(|c| x[b][c][s]) + min(|c| x[b][c][s]),
        )
    }";
    let (x, xs) = tensor(&[2, 2, 3]);
    let at = |b: usize, c: usize, s: usize| xs[(b * 2 + c) * 3 + s];
    let channel = |c: usize| (0..6).map(|n| at(n / 3, c, n % 3)).collect::<Vec<f64>>();
    let means: Vec<f64> = (0..2).map(|c| mean(&channel(c))).collect();
    let variances = (0..2).map(|c| mean(&channel(c).iter().map(|v| (v - means[c]).powi(2)).collect::<Vec<_>>()));
    let pairs = (0..6).map(|n| (at(n / 3, 0, n % 3), at(n / 3, 1, n % 3)));
    let products = pairs.map(|(a, b)| a * b + a.min(b));
    let expected = [
        Value::float(&[2], means.clone()),
        Value::float(&[2], variances.collect()),
        Value::float(&[2, 3], products.collect()),
    ];
    check(source, &[x], &expected);
}

#[test]
fn causal() {
    let source =
        "fn causal(x: Tensor![T, T], keep: Tensor![Bool; T]) -> (Tensor![T, T], Tensor![Bool;], Tensor![Bool; T]) {
        (
            |i, j| select(j <= i && keep[j], x[i][j], f32::NEG_INFINITY),
            || all(|i| x[i][i] > -2.0),
            |i| any(|j| x[i][j] > 1.0),
        )
    }";
    let (x, xs) = tensor(&[3, 3]);
    let keep = [true, false, true];
    let y = (0..9).map(|at| if at % 3 <= at / 3 && keep[at % 3] { xs[at] } else { f64::NEG_INFINITY });
    let any = xs.chunks(3).map(|row| row.iter().any(|v| *v > 1.0));
    let expected =
        [Value::float(&[3, 3], y.collect()), Value::truth(&[], vec![true]), Value::truth(&[3], any.collect())];
    check(source, &[x, Value::truth(&[3], keep.to_vec())], &expected);
}

#[test]
fn constants() {
    let source = "fn position_encoding(_x: Tensor![T, C]) -> Tensor![T, C] {
        |t, i| {
            let f = t as f32 * exp(-(i / 2 * 2) as f32 / C * 10000f32.ln());
            if i % 2 == 0 { f.sin() } else { f.cos() }
        }
    }";
    let y = (0..12).map(|at| {
        let (t, i) = (at / 4, at % 4);
        let f = t as f64 * (-((i / 2 * 2) as f64) / 4.0 * 10000f64.ln()).exp();
        if i % 2 == 0 { f.sin() } else { f.cos() }
    });
    check(source, &[tensor(&[3, 4]).0], &[Value::float(&[3, 4], y.collect())]);
}

#[test]
fn clamped_and_flattened_indices() {
    let k = kernel(
        "fn k(x: Tensor![M, N]) -> (Tensor![M, N], Tensor![M * N], Tensor![N, M], Tensor![M]) {
            (
                |i, j| x[i][max(j - 1, 0)] + x[min(i + 1, M - 1)][j] + x[if j > 0 { i } else { 0 }][j],
                |i| x[i / N][i % N],
                |i, j| x[M - 1 - j][N - i - 1],
                |i| x[i][0] + x[0][0] + x[i][N - 1],
            )
        }",
    );
    let (x, xs) = tensor(&[2, 3]);
    let at = |i: usize, j: usize| xs[i * 3 + j];
    let edges = (0..6).map(|n| {
        let (i, j) = (n / 3, n % 3);
        at(i, j.saturating_sub(1)) + at((i + 1).min(1), j) + at(if j > 0 { i } else { 0 }, j)
    });
    let turned = (0..6).map(|n| at(1 - n % 2, 2 - n / 2));
    let corners = (0..2).map(|i| at(i, 0) + at(0, 0) + at(i, 2));
    let expected = [
        Value::float(&[2, 3], edges.collect()),
        Value::float(&[6], xs.clone()),
        Value::float(&[3, 2], turned.collect()),
        Value::float(&[2], corners.collect()),
    ];
    compare(&k, &[x], &expected);
}

#[test]
fn indices_that_are_data() {
    let k = kernel(
        "fn k(x: Tensor![N], at: usize, s: f32) -> Tensor![N] {
            |i| x[at] + x[(i as f32 * s) as usize] + or_zero(x[i - at as i64])
        }",
    );
    let (x, xs) = tensor(&[3]);
    let y = (0..3).map(|i| xs[1] + xs[i / 2] + if i == 0 { 0.0 } else { xs[i - 1] });
    let args = [x, Value::int(&[], vec![1]), scalar(0.5)];
    compare(&k, &args, &[Value::float(&[3], y.collect())]);
}

#[test]
fn names_hide_names() {
    let k = kernel(
        "fn k(x: Tensor![N], w: Tensor![K]) -> Tensor![N] {
            let n = sum(|w| x[w]) + sum(|i| w[i]);
            |i| sum(|k| { let k = { let k = 0; x[k] } * w[k]; k }) + x[i] * n + max(|i| x[i]) + or_zero(x[i - 1])
        }",
    );
    let ((x, xs), (w, ws)) = (tensor(&[4]), tensor(&[2]));
    let n: f64 = xs.iter().chain(&ws).sum();
    let taps: f64 = ws.iter().map(|w| xs[0] * w).sum();
    let y = (0..4).map(|i| taps + xs[i] * n + most(&xs) + if i > 0 { xs[i - 1] } else { 0.0 });
    compare(&k, &[x, w], &[Value::float(&[4], y.collect())]);
}

#[test]
fn guarded_uses_give_ranges_last() {
    let k = kernel(
        "fn k(x: Tensor![N], w: Tensor![K]) -> Tensor![] { sum(|k| or_zero(x[k]) * w[k]) + sum(|k| or_zero(x[k])) }",
    );
    let ((x, xs), (w, ws)) = (tensor(&[2]), tensor(&[3]));
    let y = xs.iter().zip(&ws).map(|(x, w)| x * w).sum::<f64>() + xs.iter().sum::<f64>();
    compare(&k, &[x, w], &[scalar(y)]);
}

#[test]
fn tensors_without_axes() {
    let k = kernel("fn k(x: Tensor![], n: Tensor![Int;]) -> (Tensor![], Tensor![Int;]) { let y = x * n; (y + x, n) }");
    let args = [scalar(0.5), Value::int(&[], vec![3])];
    compare(&k, &args, &[scalar(2.0), Value::int(&[], vec![3])]);
}

#[test]
fn empty_ranges() {
    let k = kernel("fn k(x: Tensor![R, C]) -> Tensor![R] { |r| sum(|j| x[r][j]) + prod(|j| x[r][j]) }");
    compare(&k, &[Value::float(&[2, 0], vec![])], &[Value::float(&[2], vec![1.0, 1.0])]);
}

#[test]
fn equal_reductions_are_shared() {
    let text = text("fn k(x: Tensor![R, C]) -> Tensor![R, C] { |r, i| sum(|a| x[r][a]) + x[r][i] / sum(|b| x[r][b]) }");
    assert_eq!(text.matches("sum[").count(), 1, "{text}");
}

#[test]
fn eval_of_nothing() {
    let k = kernel("fn k(x: Tensor![N]) -> Tensor![N] { |i| mean(0..0, |_j| 1.0) + x[i] }");
    let out = eval(&k, &[tensor(&[1]).0]).expect("a value");
    assert!(matches!(&out[0].data, Data::Float(v) if v[0].is_nan() && !near(v[0], 0.0)));
}
