//! Kernels that contain matrix products, in many forms.

pub(crate) const PRODUCTS: &[(&str, &str)] = &[
    (
        "matmul_turned",
        "
kernel matmul_turned
dim M, K, N
axis i < M, j < N, k < K
arg a: float[K, M]
arg b: float[N, K]
out y: float[N, M]
  y[j, i] = sum[k](a[k, i] * b[j, k])
",
    ),
    (
        "matmul_batched",
        "
kernel matmul_batched
dim B, M, N
axis t < B, i < M, j < N, k < 3
arg a: float[B, M, 3]
arg b: float[N, B, 3]
out y: float[B, M, N]
  y[t, i, j] = sum[k](a[t, i, k] * b[j, t, k])
",
    ),
    (
        "linear_relu",
        "
kernel linear_relu
dim M, K, N
axis i < M, j < N, k < K
arg x: float[M, K]
arg w: float[N, K]
arg b: float[N]
%0 = sum[k](x[i, k] * w[j, k]) + b[j]
out y: float[M, N]
  y[i, j] = select((0.0 < %0), %0, 0.0)
",
    ),
    (
        "scaled_products",
        "
kernel scaled_products
dim M, K, N
axis i < M, j < N, k < K
arg a: float[M, K]
arg b: float[K, N]
arg s: float[M]
arg c: float[K]
out y: float[M, N]
  y[i, j] = sum[k]((0.5 * a[i, k]) * s[i] * b[k, j] * c[k])
",
    ),
    (
        "computed_factors",
        "
kernel computed_factors
dim M, K, N
axis i < M, j < N, k < K
arg a: float[M, K]
arg b: float[K, N]
out y: float[M, N]
  y[i, j] = sum[k](tanh(a[i, k]) * exp(b[k, j])) / float(K)
",
    ),
    (
        "pointwise_convolution",
        "
kernel pointwise_convolution
dim B, C, O
axis b < B, c < C, o < O, h < 3, v < 2
arg x: float[B, C, 3, 2]
arg w: float[O, C]
out y: float[B, O, 3, 2]
  y[b, o, h, v] = sum[c](x[b, c, h, v] * w[o, c])
",
    ),
    (
        "two_sums",
        "
kernel two_sums
dim M, K, N
axis i < M, j < N, k < K, l < 4
arg a: float[M, K, 4]
arg b: float[4, N, K]
out y: float[M, N]
  y[i, j] = sum[k, l](a[i, k, l] * b[l, j, k])
",
    ),
    (
        "attention",
        "
kernel attention
dim T, S, C
axis i < T, j < S, c < C, d < C
arg q: float[T, C]
arg k: float[S, C]
arg v: float[S, C]
%0 = sum[d](q[i, d] * k[j, d]) / sqrt(float(C))
%1 = exp(%0 - max[j](%0))
out y: float[T, C]
  y[i, c] = sum[j](%1 / sum[j](%1) * v[j, c])
",
    ),
    (
        "bilinear",
        "
kernel bilinear
dim M, K, N
axis i < M, j < N, k < K, l < 3
arg x: float[M, K]
arg w: float[K, N, 3]
arg y: float[M, 3]
out z: float[M, N]
  z[i, j] = sum[k, l](x[i, k] * w[k, j, l] * y[i, l])
",
    ),
    (
        "vector_matrix",
        "
kernel vector_matrix
dim B, K, N
axis b < B, j < N, k < K
arg x: float[B, K]
arg w: float[B, K, N]
arg g: float[N]
out y: float[B, N]
  y[b, j] = sum[k](x[b, k] * w[b, k, j]) * g[j]
",
    ),
    (
        "columns",
        "
kernel columns
dim R, C
axis r < R, c < C
arg x: float[R, C]
out y: float[R, C]
  y[r, c] = (x[r, c] - sum[r](x[r, c]) / float(R)) / (1.0 + sum[r, c](x[r, c]^2))
",
    ),
    (
        "turned_scan",
        "
kernel turned_scan
dim R, C
axis r < R, c < C
arg x: float[R, C]
arg w: float[R]
out y: float[R, C]
  y[r, c] = tanh(x[r, c]) * cumsum[r](x[r, c] * w[r]) + cumsum[r; reverse, exclusive](x[r, c])
",
    ),
    (
        "causal",
        "
kernel causal
dim T, C
axis i < T, j < T, c < C
arg p: float[T, T]
arg v: float[T, C]
out y: float[T, C]
  y[i, c] = 2.0 * sum[j](select((i < j), 0.0, p[i, j]^2 * v[j, c]))
",
    ),
];
