"""The cases of `benches/src/bin/cpu.rs` in PyTorch, by the protocol of `benches/src/lib.rs`."""

import json
import resource
import sys
import time

import torch
import torch.nn.functional as F
from torch import nn

BATCH_OF_IMAGES = 64
BATCH, CONTEXT, VOCABULARY, WIDTH, HEADS, LAYERS = 4, 256, 8192, 384, 6, 6


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv, self.proj = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = (part.view(b, t, HEADS, c // HEADS).transpose(1, 2) for part in self.qkv(x).split(c, 2))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.proj(y.transpose(1, 2).reshape(b, t, c))


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.attention, self.norm2 = nn.LayerNorm(WIDTH), Attention(), nn.LayerNorm(WIDTH)
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.down(F.gelu(self.up(self.norm2(x))))


class Gpt(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens, self.positions = nn.Embedding(VOCABULARY, WIDTH), nn.Embedding(CONTEXT, WIDTH)
        self.blocks = nn.ModuleList(Block() for _ in range(LAYERS))
        self.norm, self.head = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, VOCABULARY, bias=False)

    def forward(self, ids):
        x = self.tokens(ids) + self.positions(torch.arange(ids.shape[1]))
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


class Cnn(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(1, 32, 3), nn.Conv2d(32, 64, 3)
        self.fc1, self.fc2 = nn.Linear(9216, 128), nn.Linear(128, 10)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv2(F.relu(self.conv1(x)))), 2)
        x = F.relu(self.fc1(F.dropout(x, 0.25, self.training).flatten(1)))
        return self.fc2(F.dropout(x, 0.5, self.training))


def trained(name, make, inputs, loss):
    """A forward pass and a step of training; the model is made when one of them runs first."""
    made = {}

    def ready():
        if not made:
            made["model"] = make()
            made["optimiser"] = torch.optim.Adam(made["model"].parameters(), lr=1e-3)
            made["x"], made["y"] = inputs()
        return made["model"], made["optimiser"], made["x"], made["y"]

    def forward():
        model, _, x, _ = ready()
        with torch.no_grad():
            model.eval()(x)

    def training():
        model, optimiser, x, y = ready()
        optimiser.zero_grad(set_to_none=True)
        value = loss(model.train()(x), y)
        value.backward()
        optimiser.step()
        value.item()

    yield f"{name} forward", forward
    yield f"{name} training", training


def cnn():
    images = lambda count: (torch.randn(count, 1, 28, 28), torch.randint(10, (count,)))
    yield from trained("cnn", Cnn, lambda: images(BATCH_OF_IMAGES), F.cross_entropy)
    (_, forward), _ = trained("cnn of one image", Cnn, lambda: images(1), F.cross_entropy)
    yield "cnn of one image", forward


def products():
    for dtype, name in ((torch.float32, "f32"), (torch.bfloat16, "bf16")):
        for n in (1024, 2048):
            a, b = (torch.randn(n, n).to(dtype) for _ in range(2))
            yield f"matmul {name} {n}", lambda a=a, b=b: a @ b


def gpt():
    tokens = lambda: [torch.randint(VOCABULARY, (BATCH, CONTEXT)) for _ in range(2)]
    yield from trained("gpt", Gpt, tokens, lambda y, next: F.cross_entropy(y.view(-1, VOCABULARY), next.view(-1)))


def attention():
    for b, h, t, d, s in ((4, 6, 256, 64, 256), (16, 12, 1024, 64, 1024), (1, 32, 1, 64, 4096)):
        inputs = [torch.randn(b, h, length, d) for length in (t, s, s)]
        leaves, ct = [x.clone().requires_grad_() for x in inputs], torch.randn(b, h, t, d)
        name = f"attention [{b}, {h}, {t}, {d}] of {s} keys"
        run = lambda args, causal=t == s: F.scaled_dot_product_attention(*args, is_causal=causal)
        yield f"{name}, forward", lambda run=run, args=inputs: run(args)
        yield (
            f"{name}, forward and backward",
            lambda run=run, args=leaves, ct=ct: torch.autograd.grad(run(args), args, ct),
        )


def main():
    torch.manual_seed(0)
    table = dict([*cnn(), *gpt()])
    if len(sys.argv) > 2:
        # `memory CASE`: the most bytes that the process ever had.
        for _ in range(3):
            table[sys.argv[2]]()
        print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)
        return
    table.update([*products(), *attention()])
    print(json.dumps(list(table)), flush=True)
    for line in sys.stdin:
        start = time.perf_counter()
        table[line.strip()]()
        print((time.perf_counter() - start) * 1e3, flush=True)


main()
