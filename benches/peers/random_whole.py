"""Random calls of operations on integers and truth values, for `random_calls.py`."""

import torch
from random_call import FLOATS, INTS, NAMES, OPS, broadcastable, op, positions


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
