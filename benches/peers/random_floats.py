"""Random calls of operations on floats, for `random_calls.py`."""

import torch
from random_call import FLOATS, OPS, RTOL, Skip, broadcastable, op, positions


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
