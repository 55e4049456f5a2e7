"""The kernels of `benches/src/bin/kernels.rs` in PyTorch, by the protocol of `benches/src/lib.rs`."""

import json
import sys
import time

import torch
import torch.nn.functional as F

ROWS, COLUMNS = 16384, 1024


def timed(run):
    """The seconds of all of `run`."""

    def once():
        start = time.perf_counter()
        run()
        return time.perf_counter() - start

    return once


def backward(forward, inputs, ct):
    """The seconds of the backward pass alone."""

    def once():
        y = forward()
        start = time.perf_counter()
        torch.autograd.grad(y, inputs, ct)
        return time.perf_counter() - start

    return once


def cases(dtype):
    torch.manual_seed(0)
    x, ct = torch.randn(ROWS, COLUMNS).to(dtype), torch.randn(ROWS, COLUMNS).to(dtype)
    w, b = torch.randn(COLUMNS).to(dtype), torch.randn(COLUMNS).to(dtype)
    leaves = [t.clone().requires_grad_() for t in (x, w, b)]
    state = x.clone().requires_grad_()
    state.grad = ct.clone()
    adamw = torch.optim.AdamW([state], lr=1e-3, weight_decay=0.01, fused=True)
    norm = lambda x, w, b: F.layer_norm(x, (COLUMNS,), w, b, 1e-5)
    yield "gelu(x*w+b)", timed(lambda: F.gelu(x * w + b, approximate="tanh"))
    yield "softmax", timed(lambda: torch.softmax(x, -1))
    yield "layer norm", timed(lambda: norm(x, w, b))
    yield "RMS norm", timed(lambda: F.rms_norm(x, (COLUMNS,), w, 1e-5))
    yield "layer norm, backward", backward(lambda: norm(*leaves), leaves, ct)
    yield "softmax, backward", backward(lambda: torch.softmax(leaves[0], -1), leaves[:1], ct)
    yield "AdamW", timed(adamw.step)


def main():
    table = {}
    for dtype, name in ((torch.float32, "f32"), (torch.bfloat16, "bf16")):
        table.update({f"{case}, {name}": once for case, once in cases(dtype)})
    print(json.dumps(list(table)), flush=True)
    for line in sys.stdin:
        print(table[line.strip()]() * 1e3, flush=True)


main()
