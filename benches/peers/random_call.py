"""One random call in the making, for `random_calls.py`: its draws, and the case that it becomes."""

import json
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


class Skip(Exception):
    """These draws make no call."""


OPS = {}


def op(*names):
    """Declares how calls of these operations are made."""
    def add(make):
        for name in names:
            OPS[name] = make
        return make
    return add


def broadcastable(c):
    """Two shapes that broadcast."""
    shape = c.shape()
    cut = shape[c.rng.randint(0, len(shape)):]
    other = [1 if c.rng.random() < 0.25 else n for n in cut]
    return (shape, other) if c.rng.random() < 0.5 else (other, shape)


def positions(c, x, dim, beside=False):
    """Positions along an axis; `beside` the shape of another tensor."""
    shape = [c.rng.randint(0, n) if k == dim % x.dim() or n == 0 else c.rng.randint(1, n) for k, n in enumerate(x.shape)]
    if x.shape[dim] == 0:
        shape[dim] = 0
    return c.ints("index", shape if beside else [shape[dim]], 0, max(x.shape[dim], 1), torch.int64)
