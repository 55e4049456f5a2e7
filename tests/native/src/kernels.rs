//! Kernels in text form.

/// Each is expanded to a function of its name.
pub(crate) const NAMED: &[&str] = &[
    "
    kernel softmax
    dim R, C
    axis r < R, i < C
    arg x: float[R, C]
    %0 = exp(x[r, i] - max[i](x[r, i]))
    out y: float[R, C]
      y[r, i] = %0 / sum[i](%0)
    ",
    "
    kernel log_softmax
    dim R, C
    axis r < R, i < C
    arg x: float[R, C]
    %0 = x[r, i] - max[i](x[r, i])
    out y: float[R, C]
      y[r, i] = (%0) - log(sum[i](exp(%0)))
    ",
    "
    kernel layer_norm
    dim R, C
    axis r < R, i < C
    arg x: float[R, C]
    arg w: float[C]
    arg b: float[C]
    arg eps: float
    %0 = x[r, i] - sum[i](x[r, i]) / float(C)
    %1 = rsqrt(sum[i](%0^2) / float(C) + eps)
    out y: float[R, C]
      y[r, i] = ((%0) * %1) * w[i] + b[i]
    ",
    "
    kernel rms_norm
    dim R, C
    axis r < R, i < C
    arg x: float[R, C]
    arg w: float[C]
    arg eps: float
    out y: float[R, C]
      y[r, i] = (x[r, i] * rsqrt(sum[i](x[r, i]^2) / float(C) + eps)) * w[i]
    ",
    "
    kernel cross_entropy
    dim R, C
    axis r < R, i < C
    arg x: float[R, C]
    arg t: int[R]
    %0 = max[i](x[r, i])
    %1 = %0 + log(sum[i](exp(x[r, i] - %0)))
    out loss: float
      loss = sum[r](%1 - x[r, t[r]]) / float(R)
    ",
    "
    kernel gelu_tanh
    dim R, C
    axis r < R, i < C
    arg x: float[R, C]
    arg b: float[C]
    %0 = x[r, i] + b[i]
    out y: float[R, C]
      y[r, i] = 0.5 * (%0) * (tanh(0.7978845608028654 * ((%0) + 0.044715 * %0^3)) + 1.0)
    ",
    "
    kernel matmul
    dim M, K, N
    axis i < M, j < N, k < K
    arg a: float[M, K]
    arg b: float[K, N]
    out y: float[M, N]
      y[i, j] = sum[k](a[i, k] * b[k, j])
    ",
    "
    kernel gram
    dim M, K
    axis i < M, j < M, k < K
    arg x: float[M, K]
    out y: float[M, M]
      y[i, j] = sum[k](x[i, k] * x[j, k])
    ",
    "
    kernel embedding
    dim T, V, C
    axis t < T, c < C
    arg ids: int[T]
    arg w: float[V, C]
    out y: float[T, C]
      y[t, c] = w[ids[t], c]
    ",
    "
    kernel conv
    dim R, L
    axis r < R, j < L - 2, k < 3
    arg x: float[R, L]
    arg w: float[3]
    out y: float[R, L - 2]
      y[r, j] = sum[k](x[r, j + k] * w[k])
    ",
    "
    kernel conv_stride
    dim R, O
    axis r < R, j < O, k < 3
    arg x: float[R, 2 * O]
    arg w: float[3]
    out y: float[R, O]
      y[r, j] = tanh(sum[k](x?[r, 2 * j + k - 1] * w[k]))
    ",
    "
    kernel max_pool
    dim R, O
    axis r < R, j < O, k < 2
    arg x: float[R, 2 * O]
    out y: float[R, O]
      y[r, j] = max[k](x[r, 2 * j + k])
    ",
    "
    kernel max_pool_overlap
    dim R, O
    axis r < R, j < O, k < 3
    arg x: float[R, 2 * O + 1]
    out y: float[R, O]
      y[r, j] = max[k](x[r, 2 * j + k])
    ",
    "
    kernel rotary
    dim R, H
    axis r < R, i < H
    arg x: float[R, 2 * H]
    arg c: float[R, H]
    arg s: float[R, H]
    out y: float[R, 2 * H]
      y[r, 2 * i] over r, i = x[r, 2 * i] * c[r, i] - x[r, 2 * i + 1] * s[r, i]
      y[r, 2 * i + 1] over r, i = x[r, 2 * i] * s[r, i] + x[r, 2 * i + 1] * c[r, i]
    ",
    "
    kernel swiglu
    dim R, H
    axis r < R, i < H
    arg x: float[R, 2 * H]
    out y: float[R, H]
      y[r, i] = (x[r, i] * sigmoid(x[r, i])) * x[r, i + H]
    ",
    "
    kernel rms_swiglu
    dim R, C
    axis r < R, i < C
    arg x: float[R, C]
    arg w: float[C]
    arg a: float[C]
    arg b: float[C]
    %0 = (x[r, i] * rsqrt(sum[i](x[r, i]^2) / float(C) + 0.00001)) * w[i]
    %1 = %0 * a[i]
    out y: float[R, C]
      y[r, i] = (%1 * sigmoid(%1)) * (%0 * b[i])
    ",
    "
    kernel diagonal
    dim M
    axis i < M, j < M
    arg x: float[M, M]
    out y: float[M, M]
      y[i, j] = x[i, j] * x[j, i] + x[i, i]
    ",
    "
    kernel stencil
    dim R, L
    axis r < R, j < L - 2
    arg x: float[R, L]
    %0 = x[r, j] - 2.0 * x[r, j + 1] + x[r, j + 2]
    out y: float[R, L - 2]
      y[r, j] = %0^2
    ",
    "
    kernel windows
    dim L
    axis j < L - 2, k < 3
    arg x: float[L]
    %0 = exp(x[j + k])
    out y: float[L - 2]
      y[j] = sum[k](%0^2) / sum[k](%0)
    ",
    "
    kernel cumulative
    dim R, C
    axis r < R, i < C
    arg x: float[R, C]
    arg w: float[C]
    out y: float[R, C]
      y[r, i] = sin(cumsum[i; reverse](x[r, i] * w[i])) * cumsum[i; exclusive](x[r, i]^2)
    ",
    "
    kernel product
    dim R, C
    axis r < R, i < C
    arg x: float[R, C]
    out y: float[R]
      y[r] = prod[i](x[r, i])
    ",
    "
    kernel dropout
    dim R, C
    axis r < R, i < C
    arg x: float[R, C]
    arg key: int
    out y: float[R, C]
      y[r, i] = select((random(key, C * r + i) < 2147483648), 2.0 * x[r, i], 0.0)
    ",
];
