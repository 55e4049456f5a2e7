"""Random calls of tensor operations as PyTorch computes them, in the form that `cargo xtask golden DIR` runs.

    python benches/peers/random_calls.py DIR [--count 20000] [--seed 0] [--only NAME]
    cargo xtask golden DIR

A call has a random shape (rank 0 to 5, empty and size-1 axes among them), a random dtype, and now and then values that
are no numbers, infinite or equal. Float results and gradients are those in float64, rounded to the dtype once; the
tolerance is that of the dtype. Each call runs contiguous, transposed and sliced. Needs `torch` and `safetensors`.
"""

import argparse
import json
import pathlib
import random

import torch
from safetensors.torch import save_file

FLOATS = [torch.float32, torch.float32, torch.float64, torch.float16, torch.bfloat16]
INTS = [torch.int64, torch.int64, torch.int32, torch.uint8]
NAMES = {torch.float64: "f64", torch.float32: "f32", torch.float16: "f16", torch.bfloat16: "bf16",
         torch.int64: "i64", torch.int32: "i32", torch.uint8: "u8", torch.bool: "bool"}
# Twice the spacing of numbers around 1, and what sums and special functions add to it in f32 and f64.
RTOL = {torch.float64: 1e-9, torch.float32: 2e-5, torch.float16: 4e-3, torch.bfloat16: 3e-2}
ATOL = {torch.float64: 1e-9, torch.float32: 1e-5, torch.float16: 2e-3, torch.bfloat16: 2e-2}


class Call:
    """One call in the making: random draws, and what the case will hold."""

    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.torch = torch.Generator().manual_seed(seed)
        self.dtype = self.rng.choice(FLOATS)
        # The dtype that bounds the error, where it is not that of the result.
        self.tolerance = None
        self.special = self.rng.random() < 0.2
        self.args, self.arrays, self.inputs = {}, {}, {}

    def shape(self, least=0, most=5, empty=True):
        """Extents, few elements in all."""
        rank = self.rng.randint(least, most)
        if self.rng.random() < 0.02:
            rank = 8 if most >= 5 else rank
        extents = [self.rng.choice([1, 2, 3, 3, 4, 5, 9, 17] if rank < 4 else [1, 2, 3]) for _ in range(rank)]
        if empty and rank and self.rng.random() < 0.06:
            extents[self.rng.randrange(rank)] = 0
        return extents

    def axis(self, x):
        """An axis, from either end."""
        rank = max(x.dim(), 1)
        return self.rng.randrange(-rank, rank)

    def axes(self, x):
        """Some axes."""
        chosen = self.rng.sample(range(x.dim()), self.rng.randint(min(1, x.dim()), x.dim()))
        return [axis - x.dim() if self.rng.random() < 0.3 else axis for axis in chosen]

    def floats(self, name, shape, low=-3.0, high=3.0, exact=False, special=True):
        """A float input; `exact` draws few values, so that many are equal."""
        x = torch.rand(shape, generator=self.torch, dtype=torch.float64) * (high - low) + low
        if exact or self.rng.random() < 0.15:
            x = x.round()
        if self.special and special:
            odd = torch.tensor([float("nan"), float("inf"), float("-inf"), 0.0, -0.0, 1.0], dtype=torch.float64)
            which = torch.randint(0, 30, shape, generator=self.torch)
            x = torch.where(which < 6, odd[which.clamp(max=5)], x)
        return self.give(name, x.to(self.dtype))

    def ints(self, name, shape, low=-4, high=5, dtype=None):
        """An integer input."""
        dtype = dtype or self.rng.choice(INTS)
        low = max(low, 0) if dtype == torch.uint8 else low
        return self.give(name, torch.randint(low, max(high, low + 1), shape, generator=self.torch).to(dtype))

    def mask(self, name, shape):
        """An input of truth values."""
        return self.give(name, torch.rand(shape, generator=self.torch) < 0.5)

    def give(self, name, x):
        self.arrays["in." + name] = x
        self.inputs[name] = x.to(torch.float64).requires_grad_() if x.is_floating_point() else x
        return self.inputs[name]

    def results(self, results, grad=True):
        """What came out, by name; and gradients, unless a value is odd."""
        floats = {n: r for n, r in results.items() if r.is_floating_point()}
        for name, result in results.items():
            rounded = result.detach().to(self.dtype) if name in floats else result
            self.arrays["out." + name] = rounded
        wanted = {n: x for n, x in self.inputs.items() if x.is_floating_point()}
        active = {n: r for n, r in floats.items() if r.requires_grad}
        if not grad or self.special or not active:
            return
        cts = {n: (torch.rand(r.shape, generator=self.torch, dtype=torch.float64) * 2 - 1).to(self.dtype)
               for n, r in active.items()}
        total = sum((r * cts[n].to(torch.float64)).sum() for n, r in active.items())
        grads = torch.autograd.grad(total, list(wanted.values()), allow_unused=True)
        for name, ct in cts.items():
            self.arrays["ct." + name] = ct
        for (name, x), g in zip(wanted.items(), grads):
            self.arrays["grad.in." + name] = (torch.zeros_like(x) if g is None else g).to(self.arrays["in." + name].dtype)

    def save(self, op, path):
        dtype = self.tolerance or self.dtype
        tol = {"rtol": RTOL[dtype], "atol": ATOL[dtype]}
        # What is added up onto a broadcast operand was rounded before.
        grad = {"rtol": tol["rtol"], "atol": (16 if dtype.itemsize == 2 else 4) * tol["atol"]}
        config = {"op": op, "args": self.args, "tol": {"out": tol, "grad": grad}}
        arrays = {n: x.detach().clone(memory_format=torch.contiguous_format) for n, x in self.arrays.items()}
        save_file(arrays, path, metadata={"config": json.dumps(config)})


OPS = {}


def op(*names):
    """Declares how calls of these operations are made."""
    def add(make):
        for name in names:
            OPS[name] = make
        return make
    return add


def unary(low, high, *names, grad=True):
    """Functions of single elements, drawn from `low` to `high`."""
    for name in names:
        def make(c, name=name):
            x = c.floats("x", c.shape(), low, high)
            special = {"frac": torch.frac, "sinc": torch.sinc, "erfc": torch.special.erfc}
            f = special.get(name) or getattr(torch, name, None) or getattr(torch.special, name)
            c.results({"y": f(x)}, grad)
        OPS[name] = make


unary(-3, 3, "abs", "exp", "exp2", "expm1", "sin", "cos", "tanh", "sigmoid", "sinh", "cosh", "asinh", "erf", "erfc",
      "neg", "square", "atan", "sinc", "deg2rad", "rad2deg", "relu")
unary(-3, 3, "sign", "floor", "ceil", "round", "trunc", "frac")
unary(0.1, 5, "log", "log1p", "log2", "log10", "sqrt", "rsqrt", "reciprocal", "lgamma", "digamma")
unary(-0.9, 0.9, "asin", "acos", "atanh", "erfinv")
unary(1.1, 4, "acosh")
unary(-1.2, 1.2, "tan")
unary(0.1, 0.9, "logit")
unary(-3, 3, "isnan", "isinf", "isfinite", grad=False)


@op("signbit")
def signbit(c):
    # The sign of what is no number does not count.
    c.results({"y": torch.signbit(c.floats("x", c.shape(), special=False))}, grad=False)


@op("nan_to_num")
def nan_to_num(c):
    x = c.floats("x", c.shape())
    info = torch.finfo(c.dtype)
    c.results({"y": torch.nan_to_num(x, posinf=info.max, neginf=info.min)})


@op("tanhshrink")
def tanhshrink(c):
    x = c.floats("x", c.shape())
    c.results({"y": x - torch.tanh(x)})


def broadcastable(c):
    """Two shapes that broadcast."""
    shape = c.shape()
    cut = shape[c.rng.randint(0, len(shape)):]
    other = [1 if c.rng.random() < 0.25 else n for n in cut]
    return (shape, other) if c.rng.random() < 0.5 else (other, shape)


def binary(low, high, *names, grad=True, exact=False):
    """Functions of two floats that broadcast."""
    for name in names:
        def make(c, name=name):
            left, right = broadcastable(c)
            a = c.floats("a", left, low, high, exact)
            if c.rng.random() < 0.25:
                c.tolerance, c.dtype = c.dtype, c.rng.choice(FLOATS)
            b = c.floats("b", right, low, high, exact)
            c.tolerance = max(c.dtype, c.tolerance or c.dtype, key=RTOL.get)
            c.dtype = torch.result_type(c.arrays["in.a"], c.arrays["in.b"])
            c.results({"y": getattr(torch, name)(a, b)}, grad)
        OPS[name] = make


binary(-3, 3, "add", "sub", "mul", "maximum", "minimum", "atan2", "logaddexp")
binary(0.3, 3, "div", "hypot", "pow", "xlogy")
binary(-3, 3, "eq", "ne", "lt", "le", "gt", "ge", grad=False, exact=True)
binary(0.4, 3, "remainder", "fmod", "floor_divide", grad=False)


@op("copysign")
def copysign(c):
    left, right = broadcastable(c)
    # The sign of what is no number does not count.
    a, b = c.floats("a", left, 0.2, 3), c.floats("b", right, special=False)
    c.results({"y": torch.copysign(a, b)})


@op("lerp")
def lerp(c):
    shape = c.shape()
    a, b, weight = c.floats("a", shape), c.floats("b", shape), c.floats("weight", shape, 0.0, 1.0)
    c.results({"y": torch.lerp(a, b, weight)}, grad=True)


@op("clamp")
def clamp(c):
    x = c.floats("x", c.shape())
    low, high = c.rng.choice([(-1.0, 0.5), (-1.0, None), (None, 0.25)])
    c.args = {"min": low, "max": high}
    c.results({"y": torch.clamp(x, low, high)})


@op("where")
def where(c):
    left, right = broadcastable(c)
    cond, a, b = c.mask("cond", left), c.floats("a", left), c.floats("b", right)
    c.results({"y": torch.where(cond, a, b)})


@op("hardshrink", "softshrink")
def shrink(c, name):
    x = c.floats("x", c.shape())
    c.args = {"lambd": 0.4}
    c.results({"y": getattr(torch.nn.functional, name)(x, 0.4)})


def reduction(*names, low=-3.0, high=3.0, nonempty=False, exact=False):
    """Reductions over some axes or all."""
    for name in names:
        def make(c, name=name):
            x = c.floats("x", c.shape(empty=not nonempty), low, high, exact)
            dim = c.axes(x) or None
            keepdim = c.rng.random() < 0.5 and dim is not None
            c.args = {"dim": dim, "keepdim": keepdim}
            if name in ("var", "std"):
                c.args["correction"] = c.rng.choice([0, 1])
                y = getattr(torch, name)(x, dim=dim, correction=c.args["correction"], keepdim=keepdim)
            elif name == "prod":
                dims = sorted((d % max(x.dim(), 1) for d in (dim or range(x.dim()))), reverse=True)
                y = x
                for d in dims:
                    y = y.prod(d, keepdim=keepdim)
            elif name == "norm":
                c.args["p"] = c.rng.choice([1, 2, 3, "inf", 0.5])
                y = torch.linalg.vector_norm(x, ord=float(c.args["p"]), dim=dim, keepdim=keepdim)
            elif name == "logsumexp":
                y = torch.logsumexp(x, dim=dim if dim is not None else list(range(x.dim())), keepdim=keepdim)
            else:
                y = getattr(torch, name)(x, dim=dim, keepdim=keepdim) if dim is not None else getattr(torch, name)(
                    x, dim=list(range(x.dim())), keepdim=False)
            c.results({"y": y}, grad=name not in ("var", "std") or not torch.isnan(y).any())
        OPS[name] = make


reduction("sum", "mean", "nansum", "nanmean")
reduction("var", "std", nonempty=True)
reduction("logsumexp", nonempty=True)
reduction("prod", low=0.5, high=1.5)
reduction("norm", low=0.3, high=3, nonempty=True)
reduction("amax", "amin", nonempty=True)


@op("any", "all", "count_nonzero")
def truths(c, name):
    x = c.floats("x", c.shape(least=1), -1, 1, exact=True)
    c.args = {"dim": c.axes(x)}
    y = x != 0
    if name == "count_nonzero":
        y = y.sum(dim=c.args["dim"])
    else:
        for d in sorted((d % x.dim() for d in c.args["dim"]), reverse=True):
            y = getattr(torch, name)(y, d)
    c.results({"y": y}, grad=False)


@op("argmax", "argmin")
def places(c, name):
    x = c.floats("x", c.shape(least=1, empty=False), exact=True)
    c.args = {"dim": [c.axis(x)]}
    c.results({"y": getattr(torch, name)(x, c.args["dim"][0])}, grad=False)


@op("max", "min")
def extremes(c, name):
    x = c.floats("x", c.shape(least=1, empty=False))
    c.args = {"dim": c.axis(x), "keepdim": c.rng.random() < 0.5}
    values, indices = getattr(torch, name)(x, c.args["dim"], keepdim=c.args["keepdim"])
    c.results({"values": values, "indices": indices})


@op("kthvalue")
def kthvalue(c):
    x = c.floats("x", c.shape(least=1, empty=False), special=False)
    dim = c.axis(x)
    k = c.rng.randint(1, x.shape[dim])
    if x.unique().numel() < x.numel():
        raise Skip
    c.args = {"k": k, "dim": dim}
    values, indices = torch.kthvalue(x, k, dim)
    c.results({"values": values, "indices": indices})


@op("cumsum", "logcumsumexp")
def running(c, name):
    x = c.floats("x", c.shape(least=0))
    c.args = {"dim": c.axis(x)}
    c.results({"y": getattr(torch, name)(x, c.args["dim"])})


@op("cumprod")
def cumprod(c):
    x = c.floats("x", c.shape(least=0), 0.5, 1.5)
    c.args = {"dim": c.axis(x)}
    c.results({"y": torch.cumprod(x, c.args["dim"])})


@op("cummax", "cummin")
def extremes_so_far(c, name):
    x = c.floats("x", c.shape(least=1), exact=c.rng.random() < 0.5)
    c.args = {"dim": c.axis(x)}
    values, indices = getattr(torch, name)(x, c.args["dim"])
    c.results({"values": values, "indices": indices})


@op("softmax", "log_softmax")
def softmax(c, name):
    x = c.floats("x", c.shape(least=1), special=False)
    c.args = {"dim": c.axis(x)}
    c.results({"y": getattr(torch, name)(x, c.args["dim"])})


@op("sort", "argsort")
def sort(c, name):
    x = c.floats("x", c.shape(least=1), exact=c.rng.random() < 0.5)
    c.args = {"dim": c.axis(x), "descending": c.rng.random() < 0.5}
    values, indices = torch.sort(x, dim=c.args["dim"], descending=c.args["descending"], stable=True)
    c.results({"values": values, "indices": indices} if name == "sort" else {"y": indices})


@op("topk")
def topk(c):
    x = c.floats("x", c.shape(least=1), special=False)
    dim = c.axis(x)
    if x.to(c.dtype).unique().numel() < x.numel():
        raise Skip
    c.args = {"k": c.rng.randint(0, x.shape[dim]), "dim": dim, "largest": c.rng.random() < 0.5}
    values, indices = torch.topk(x, c.args["k"], dim=dim, largest=c.args["largest"])
    c.results({"values": values, "indices": indices})


@op("unique")
def unique(c):
    c.results({"y": torch.unique(c.floats("x", c.shape(), exact=True, special=False))}, grad=False)


@op("nonzero")
def nonzero(c):
    c.results({"y": torch.nonzero(c.floats("x", c.shape(), -1, 1, exact=True))}, grad=False)


@op("histc")
def histc(c):
    x = c.floats("x", c.shape(), -4, 4, special=False)
    c.args = {"bins": c.rng.choice([1, 4, 8]), "min": -2.0, "max": 2.0}
    c.results({"y": torch.histc(x, c.args["bins"], -2.0, 2.0)}, grad=False)


@op("searchsorted")
def searchsorted(c):
    lead = c.shape(most=2)
    c.special = False
    row = torch.sort(torch.rand(lead + [c.rng.choice([1, 4, 9])], generator=c.torch, dtype=torch.float64) * 6 - 3)[0]
    x = c.give("x", row.round().to(c.dtype))
    values = c.floats("values", lead + [c.rng.choice([0, 1, 5])], exact=True)
    c.args = {"right": c.rng.random() < 0.5}
    c.results({"y": torch.searchsorted(x.detach(), values.detach(), right=c.args["right"])}, grad=False)


@op("isin")
def isin(c):
    a, b = c.floats("a", c.shape(), exact=True, special=False), c.floats("b", c.shape(most=1), exact=True, special=False)
    c.results({"y": torch.isin(a, b)}, grad=False)


def moved(c, least=0, most=5):
    return c.floats("x", c.shape(least, most))


@op("permute")
def permute(c):
    x = moved(c)
    c.args = {"dims": c.rng.sample(range(x.dim()), x.dim())}
    c.results({"y": x.permute(c.args["dims"])})


@op("transpose")
def transpose(c):
    x = moved(c, 1)
    c.args = {"dim0": c.axis(x), "dim1": c.axis(x)}
    c.results({"y": x.transpose(c.args["dim0"], c.args["dim1"])})


@op("movedim")
def movedim(c):
    x = moved(c, 1)
    c.args = {"source": c.axis(x), "destination": c.axis(x)}
    c.results({"y": x.movedim(c.args["source"], c.args["destination"])})


@op("flip")
def flip(c):
    x = moved(c)
    c.args = {"dims": c.axes(x)}
    c.results({"y": x.flip(c.args["dims"])})


@op("roll")
def roll(c):
    x = moved(c, 1)
    dims = c.axes(x)
    c.args = {"shifts": [c.rng.randint(-7, 7) for _ in dims], "dims": dims}
    c.results({"y": torch.roll(x, c.args["shifts"], dims)})


@op("expand")
def expand(c):
    shape = c.shape()
    x = c.floats("x", [1 if c.rng.random() < 0.4 else n for n in shape])
    lead = [c.rng.randint(1, 3)] if len(shape) < 5 and c.rng.random() < 0.4 else []
    c.args = {"sizes": lead + [-1 if s == n and c.rng.random() < 0.3 else n for s, n in zip(x.shape, shape)]}
    c.results({"y": x.expand(c.args["sizes"])})


@op("reshape")
def reshape(c):
    x = c.floats("x", c.shape(empty=False))
    rest, shape = x.numel(), []
    while rest > 1 and len(shape) < 4:
        n = c.rng.choice([d for d in range(1, rest + 1) if rest % d == 0])
        shape.append(n)
        rest //= n
    c.args = {"shape": shape + [rest]}
    c.results({"y": x.reshape(c.args["shape"])})


@op("repeat", "tile")
def repeat(c, name):
    x = moved(c, 0, 3)
    counts = [c.rng.randint(0, 2) if c.rng.random() < 0.1 else c.rng.randint(1, 3) for _ in range(x.dim() + c.rng.randint(0, 1))]
    c.args = {"repeats" if name == "repeat" else "dims": counts}
    c.results({"y": getattr(torch, "tile")(x, counts) if name == "tile" else x.repeat(counts)})


@op("repeat_interleave")
def repeat_interleave(c):
    x = moved(c, 1, 4)
    c.args = {"dim": c.axis(x), "repeats": c.rng.randint(0, 3)}
    c.results({"y": torch.repeat_interleave(x, c.args["repeats"], c.args["dim"])})


@op("unfold")
def unfold(c):
    x = moved(c, 1, 4)
    dim = c.axis(x)
    c.args = {"dim": dim, "size": c.rng.randint(1, max(1, x.shape[dim])), "step": c.rng.randint(1, 3)}
    if c.args["size"] > x.shape[dim]:
        raise Skip
    c.results({"y": x.unfold(dim, c.args["size"], c.args["step"])})


@op("rot90")
def rot90(c):
    x = moved(c, 2)
    c.args = {"k": c.rng.randint(-5, 5), "dims": c.rng.sample(range(x.dim()), 2)}
    c.results({"y": torch.rot90(x, c.args["k"], c.args["dims"])})


@op("pad")
def pad(c):
    x = c.floats("x", c.shape(1, 4, empty=False))
    mode = c.rng.choice(["constant", "reflect", "replicate", "circular"])
    if mode == "constant":
        axes = c.rng.randint(1, x.dim())
        widths = [c.rng.randint(-1, 3) if x.shape[-1 - i // 2] > 2 else c.rng.randint(0, 3) for i in range(2 * axes)]
        c.args = {"pad": widths, "mode": mode, "value": 1.5}
        c.results({"y": torch.nn.functional.pad(x, widths, value=1.5)})
        return
    # PyTorch wants one or two leading axes that are not padded.
    axes = c.rng.randint(1, 2)
    x = c.floats("x", [1, 2] + [c.rng.randint(2, 5) for _ in range(axes)])
    most = [x.shape[-1 - i // 2] - 1 for i in range(2 * axes)]
    c.args = {"pad": [c.rng.randint(0, m) for m in most], "mode": mode, "value": None}
    c.results({"y": torch.nn.functional.pad(x, c.args["pad"], mode=mode)})


@op("tril", "triu")
def triangle(c, name):
    x = moved(c, 2)
    c.args = {"diagonal": c.rng.randint(-3, 3)}
    c.results({"y": getattr(torch, name)(x, c.args["diagonal"])})


@op("diag")
def diag(c):
    x = moved(c, 1, 2)
    c.args = {"diagonal": c.rng.randint(-2, 2)}
    if x.dim() == 2 and not -x.shape[0] <= c.args["diagonal"] <= x.shape[1]:
        raise Skip
    c.results({"y": torch.diag(x, c.args["diagonal"])})


@op("diagonal", "diag_embed")
def diagonal(c, name):
    x = moved(c, 2 if name == "diagonal" else 1, 4)
    rank = x.dim() + (name == "diag_embed")
    first, second = c.rng.sample(range(rank), 2)
    c.args = {"offset": c.rng.randint(-2, 2), "dim1": first, "dim2": second}
    c.results({"y": getattr(torch, name)(x, *c.args.values())})


@op("narrow")
def narrow(c):
    x = moved(c, 1)
    dim = c.axis(x)
    start = c.rng.randint(0, x.shape[dim])
    c.args = {"dim": dim, "start": start, "length": c.rng.randint(0, x.shape[dim] - start)}
    c.results({"y": x.narrow(*c.args.values())})


@op("select")
def select(c):
    x = c.floats("x", c.shape(1, empty=False))
    dim = c.axis(x)
    c.args = {"dim": dim, "index": c.rng.randrange(-x.shape[dim], x.shape[dim])}
    c.results({"y": x.select(*c.args.values())})


@op("cat")
def cat(c):
    first = c.floats("x0", c.shape(1))
    dim = c.axis(first)
    tensors = [first]
    for n in range(1, c.rng.randint(1, 4)):
        shape = list(first.shape)
        shape[dim] = c.rng.randint(0, 4)
        tensors.append(c.floats(f"x{n}", shape))
    c.args = {"dim": dim}
    c.results({"y": torch.cat(tensors, dim)})


@op("stack")
def stack(c):
    shape = c.shape(0, 4)
    tensors = [c.floats(f"x{n}", shape) for n in range(c.rng.randint(1, 4))]
    c.args = {"dim": c.rng.randrange(-len(shape) - 1, len(shape) + 1)}
    c.results({"y": torch.stack(tensors, c.args["dim"])})


@op("split")
def split(c):
    x = moved(c, 1)
    dim = c.axis(x)
    rest, sizes = x.shape[dim], []
    while rest > 0 and len(sizes) < 4:
        sizes.append(c.rng.randint(0, rest))
        rest -= sizes[-1]
    sizes.append(rest)
    c.args = {"sizes": sizes, "dim": dim}
    c.results({f"y{n}": part for n, part in enumerate(torch.split(x, sizes, dim))})


def positions(c, x, dim, beside=False):
    """Positions along an axis; `beside` the shape of another tensor."""
    shape = [c.rng.randint(0, n) if k == dim % x.dim() or n == 0 else c.rng.randint(1, n) for k, n in enumerate(x.shape)]
    if x.shape[dim] == 0:
        shape[dim] = 0
    return c.ints("index", shape if beside else [shape[dim]], 0, max(x.shape[dim], 1), torch.int64)


@op("gather")
def gather(c):
    x = moved(c, 1, 4)
    c.args = {"dim": c.axis(x)}
    c.results({"y": torch.gather(x, c.args["dim"], positions(c, x, c.args["dim"], True))})


@op("index_select")
def index_select(c):
    x = moved(c, 1, 4)
    c.args = {"dim": c.axis(x)}
    c.results({"y": torch.index_select(x, c.args["dim"], positions(c, x, c.args["dim"]))})


@op("take_along_dim")
def take_along_dim(c):
    x = moved(c, 1, 4)
    c.args = {"dim": c.axis(x)}
    shape = list(x.shape)
    shape[c.args["dim"]] = 0 if x.shape[c.args["dim"]] == 0 else c.rng.randint(1, 4)
    index = c.ints("index", shape, 0, max(x.shape[c.args["dim"]], 1), torch.int64)
    c.results({"y": torch.take_along_dim(x, index, c.args["dim"])})


@op("scatter_add", "scatter", "scatter_reduce")
def scatter(c, name):
    x = moved(c, 1, 4)
    dim = c.axis(x)
    index = positions(c, x, dim, True)
    if name == "scatter":
        # Equal positions leave it open which of them is last.
        index = c.give("index", torch.argsort(torch.rand(x.shape, generator=c.torch), dim))
    src = c.floats("src", list(index.shape))
    c.args = {"dim": dim}
    if name == "scatter_reduce":
        c.args |= {"reduce": c.rng.choice(["sum", "prod", "mean", "amax", "amin"]), "include_self": c.rng.random() < 0.5}
        y = torch.scatter_reduce(x, dim, index, src, c.args["reduce"], include_self=c.args["include_self"])
    else:
        y = getattr(torch, name)(x, dim, index, src)
    c.results({"y": y}, grad=name == "scatter_add")


@op("index_add", "index_copy")
def index_put(c, name):
    x = moved(c, 1, 4)
    dim = c.axis(x)
    index = positions(c, x, dim)
    if name == "index_copy":
        index = c.give("index", torch.randperm(x.shape[dim], generator=c.torch)[:index.numel()])
    shape = list(x.shape)
    shape[dim] = index.numel()
    src = c.floats("src", shape)
    c.args = {"dim": dim}
    c.results({"y": getattr(torch, name)(x, dim, index, src)}, grad=False)


@op("masked_fill")
def masked_fill(c):
    shape = c.shape()
    x, mask = c.floats("x", shape), c.mask("mask", shape[c.rng.randint(0, len(shape)):])
    c.args = {"value": 0.5}
    c.results({"y": x.masked_fill(mask, 0.5)})


@op("masked_select")
def masked_select(c):
    shape = c.shape()
    x, mask = c.floats("x", shape), c.mask("mask", shape)
    c.results({"y": torch.masked_select(x, mask)})


@op("matmul")
def matmul(c):
    m, k, n = (c.rng.choice([0, 1, 2, 3, 5, 17] if c.rng.random() < 0.2 else [1, 2, 3, 5, 17]) for _ in range(3))
    lead = c.shape(0, 2, empty=False)
    a_lead = [1 if c.rng.random() < 0.2 else d for d in lead[c.rng.randint(0, len(lead)):]]
    left, right = c.rng.choice([([k], [k]), ([k], [*lead, k, n]), ([*lead, m, k], [k]), ([*a_lead, m, k], [*lead, k, n])])
    a, b = c.floats("a", left, -1, 1, special=False), c.floats("b", right, -1, 1, special=False)
    c.results({"y": torch.matmul(a, b)})


@op("einsum")
def einsum(c):
    extents = {letter: c.rng.randint(1, 4) for letter in "abcij"}
    equation = c.rng.choice(["ij,jc->ic", "bij,bjc->bic", "i,j->ij", "ii->i", "ii", "ij->ji", "ij->", "bij,bj->bi",
                             "abi,acj,ij->bc", "ij,ij->i", "...ij,...jc->...ic", "bij,bjc", "iij->j", "ab,bc,ci->ai"])
    terms = equation.split("->")[0].split(",")
    lead = c.shape(0, 2, empty=False)
    tensors = []
    for n, term in enumerate(terms):
        shape = (lead if "..." in term else []) + [extents[letter] for letter in term if letter.isalpha()]
        tensors.append(c.floats(f"x{n}", shape, -1, 1, special=False))
    c.args = {"equation": equation}
    c.results({"y": torch.einsum(equation, *tensors)})


def whole(name, make):
    """An operation on integers or truth values, whose result `make` gives."""
    def call(c):
        result = make(c)
        c.results(result if isinstance(result, dict) else {"y": result}, grad=False)
    OPS[name] = call


def pair_of_ints(f, low=-4, high=5):
    def make(c):
        left, right = broadcastable(c)
        return f(c.ints("a", left, low, high), c.ints("b", right, low, high))
    return make


for each in ["add", "sub", "mul", "maximum", "minimum", "bitwise_and", "bitwise_or", "bitwise_xor", "eq", "lt", "ge"]:
    whole("int." + each, pair_of_ints(getattr(torch, each)))
for each in ["remainder", "fmod", "floor_divide"]:
    def division(c, f=getattr(torch, each)):
        left, right = broadcastable(c)
        a = c.ints("a", left, -9, 10)
        size = torch.randint(1, 5, right, generator=c.torch)
        sign = torch.where(torch.rand(right, generator=c.torch) < 0.5, 1, -1)
        dtype = c.rng.choice(INTS)
        return f(a, c.give("b", (size if dtype == torch.uint8 else size * sign).to(dtype)))
    whole("int." + each, division)
whole("int.pow", pair_of_ints(torch.pow, 0, 5))
for each in ["bitwise_not", "abs", "neg", "sign", "square"]:
    whole("int." + each, lambda c, f=getattr(torch, each): f(c.ints("x", c.shape())))


@op("int.div")
def int_div(c):
    left, right = broadcastable(c)
    a, b = c.ints("a", left), c.ints("b", right)
    c.dtype = torch.float32
    c.results({"y": torch.div(a, b)}, grad=False)


def over_axes(f, nonempty=False):
    """A reduction of integers over some axes, one after another."""
    def make(c):
        x = c.ints("x", c.shape(1, empty=not nonempty), -2, 3)
        c.args = {"dim": c.axes(x)}
        y = x
        for d in sorted((d % x.dim() for d in c.args["dim"]), reverse=True):
            y = f(y, d)
        return y
    return make


whole("int.sum", over_axes(torch.sum))
whole("int.prod", over_axes(torch.prod))
whole("int.amax", over_axes(torch.amax, True))
whole("int.amin", over_axes(torch.amin, True))
whole("int.any", over_axes(lambda x, d: torch.any(x, d).bool()))
whole("int.all", over_axes(lambda x, d: torch.all(x, d).bool()))


@op("int.count_nonzero")
def int_count(c):
    x = c.ints("x", c.shape(1), -1, 2)
    c.args = {"dim": c.axes(x)}
    c.results({"y": torch.count_nonzero(x, c.args["dim"])}, grad=False)


def along(f, nonempty=False, **fixed):
    """An operation on integers along one axis."""
    def make(c):
        x = c.ints("x", c.shape(1, empty=not nonempty), -2, 3)
        c.args = {"dim": c.axis(x)}
        y = f(x, c.args["dim"], **fixed)
        return y if torch.is_tensor(y) else {"values": y[0], "indices": y[1]}
    return make


for each in ["argmax", "argmin"]:
    whole("int." + each, along(getattr(torch, each), True))
for each in ["cumsum", "cumprod", "cummax", "cummin"]:
    whole("int." + each, along(getattr(torch, each)))


@op("int.sort")
def int_sort(c):
    x = c.ints("x", c.shape(1))
    c.args = {"dim": c.axis(x), "descending": c.rng.random() < 0.5}
    values, indices = torch.sort(x, dim=c.args["dim"], descending=c.args["descending"], stable=True)
    c.results({"values": values, "indices": indices}, grad=False)


whole("int.unique", lambda c: torch.unique(c.ints("x", c.shape())))
whole("int.nonzero", lambda c: torch.nonzero(c.ints("x", c.shape(), -1, 2)))
whole("int.isin", lambda c: torch.isin(c.ints("a", c.shape(), dtype=torch.int64), c.ints("b", c.shape(most=1), dtype=torch.int64)))


@op("int.bincount")
def bincount(c):
    c.args = {"minlength": c.rng.choice([0, 3, 12])}
    c.results({"y": torch.bincount(c.ints("x", c.shape(1, 1), 0, 9), minlength=c.args["minlength"])}, grad=False)


@op("int.one_hot")
def one_hot(c):
    c.args = {"num_classes": 5}
    x = c.ints("x", c.shape(0, 4, empty=False), 0, 5, torch.int64)
    c.results({"y": torch.nn.functional.one_hot(x, 5)}, grad=False)


def moved_ints(f, least=1):
    def make(c):
        x = c.ints("x", c.shape(least))
        return f(c, x)
    return make


def drawn(name, args, f):
    """A movement of integers: `args` draws the arguments."""
    def make(c, x):
        c.args = args(c, x)
        return f(c, x)
    whole(name, moved_ints(make))


drawn("int.flip", lambda c, x: {"dim": c.axes(x)}, lambda c, x: x.flip(c.args["dim"]))
drawn("int.roll", lambda c, x: {"shifts": c.rng.randint(-3, 3), "dims": c.axis(x)},
      lambda c, x: torch.roll(x, c.args["shifts"], c.args["dims"]))


@op("int.pad")
def int_pad(c):
    # PyTorch pads floats alone in this mode; the values are small enough to be exact.
    x = c.ints("x", [1, 2, c.rng.randint(1, 5)])
    c.args = {"pad": [c.rng.randint(0, 3), c.rng.randint(0, 3)]}
    c.results({"y": torch.nn.functional.pad(x.double(), c.args["pad"], mode="replicate").to(x.dtype)}, grad=False)


@op("int.tril")
def int_tril(c):
    x = c.ints("x", c.shape(2))
    c.args = {"diagonal": c.rng.randint(-3, 3)}
    c.results({"y": torch.tril(x, c.args["diagonal"])}, grad=False)


@op("int.gather", "bool.gather")
def whole_gather(c, name):
    shape = c.shape(1, 4)
    x = c.ints("x", shape) if name == "int.gather" else c.mask("x", shape)
    c.args = {"dim": c.axis(x)}
    c.results({"y": torch.gather(x, c.args["dim"], positions(c, x, c.args["dim"], True))}, grad=False)


@op("int.index_select")
def int_index_select(c):
    x = c.ints("x", c.shape(1, 4))
    c.args = {"dim": c.axis(x)}
    c.results({"y": torch.index_select(x, c.args["dim"], positions(c, x, c.args["dim"]))}, grad=False)


@op("int.scatter_add")
def int_scatter_add(c):
    dtype = c.rng.choice(INTS)
    x = c.ints("x", c.shape(1, 4), dtype=dtype)
    c.args = {"dim": c.axis(x)}
    index = positions(c, x, c.args["dim"], True)
    c.results({"y": torch.scatter_add(x, c.args["dim"], index, c.ints("src", list(index.shape), dtype=dtype))}, grad=False)


@op("int.masked_fill")
def int_masked_fill(c):
    x = c.ints("x", c.shape())
    c.args = {"value": 7}
    c.results({"y": x.masked_fill(c.mask("mask", list(x.shape)), 7)}, grad=False)


@op("int.masked_select")
def int_masked_select(c):
    x = c.ints("x", c.shape())
    c.results({"y": torch.masked_select(x, c.mask("mask", list(x.shape)))}, grad=False)


@op("int.where")
def int_where(c):
    dtype, shape = c.rng.choice(INTS), c.shape()
    cond, a, b = c.mask("cond", shape), c.ints("a", shape, dtype=dtype), c.ints("b", shape, dtype=dtype)
    c.results({"y": torch.where(cond, a, b)}, grad=False)


@op("int.to_float")
def int_to_float(c):
    x = c.ints("x", c.shape())
    c.dtype = torch.float32
    c.results({"y": x.float()}, grad=False)


whole("int.to_bool", lambda c: c.ints("x", c.shape(), -1, 2).bool())


@op("int.to")
def int_to(c):
    x, dtype = c.ints("x", c.shape(), -500, 500), c.rng.choice(INTS)
    c.args = {"dtype": NAMES[dtype]}
    c.results({"y": x.to(dtype)}, grad=False)


@op("float.to_int")
def float_to_int(c):
    c.special = False
    c.results({"y": c.floats("x", c.shape(), -90, 90).long()}, grad=False)


@op("float.to")
def float_to(c):
    x, c.dtype = c.floats("x", c.shape(), -9, 9), c.rng.choice(FLOATS)
    c.args = {"dtype": NAMES[c.dtype]}
    c.results({"y": x.to(c.dtype)}, grad=False)


def pair_of_masks(f):
    def make(c):
        left, right = broadcastable(c)
        return f(c.mask("a", left), c.mask("b", right))
    return make


for each in ["logical_and", "logical_or", "logical_xor", "eq"]:
    whole("bool." + each, pair_of_masks(getattr(torch, each)))
whole("bool.logical_not", lambda c: ~c.mask("x", c.shape()))
whole("bool.nonzero", lambda c: torch.nonzero(c.mask("x", c.shape())))
whole("bool.to_int", lambda c: c.mask("x", c.shape()).long())


@op("bool.any", "bool.all", "bool.flip")
def masks(c, name):
    x = c.mask("x", c.shape(1))
    c.args = {"dim": c.axes(x)}
    y = x.flip(c.args["dim"]) if name == "bool.flip" else x
    if name != "bool.flip":
        for d in sorted((d % x.dim() for d in c.args["dim"]), reverse=True):
            y = getattr(torch, name[5:])(y, d)
    c.results({"y": y}, grad=False)


class Skip(Exception):
    """These draws make no call."""


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("dir", type=pathlib.Path)
    parser.add_argument("--count", type=int, default=20000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", help="calls of this operation alone")
    options = parser.parse_args()
    torch.set_num_threads(1)
    names = sorted(OPS) if options.only is None else [options.only]
    made, seed = 0, options.seed * 1_000_003
    while made < options.count:
        name = names[made % len(names)]
        seed += 1
        call, make = Call(seed), OPS[name]
        try:
            make(call, name) if make.__code__.co_argcount == 2 and make.__defaults__ is None else make(call)
        except Skip:
            continue
        folder = options.dir / name
        folder.mkdir(parents=True, exist_ok=True)
        call.save(name, folder / f"{made:06}.safetensors")
        made += 1
    print(f"{made} calls of {len(names)} operations in {options.dir}")


if __name__ == "__main__":
    main()
