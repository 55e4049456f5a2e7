"""The cases of `benches/src/bin/cpu.rs` in PyTorch, by the protocol of `benches/src/lib.rs`."""

import json
import sys
import time

import torch
import torch.nn.functional as F
from torch import nn

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


def gpt():
    model = Gpt()
    optimiser = torch.optim.Adam(model.parameters(), lr=3e-4)
    ids, next = (torch.randint(VOCABULARY, (BATCH, CONTEXT)) for _ in range(2))

    def forward():
        with torch.no_grad():
            model(ids)

    def training():
        optimiser.zero_grad(set_to_none=True)
        loss = F.cross_entropy(model(ids).view(-1, VOCABULARY), next.view(-1))
        loss.backward()
        optimiser.step()
        loss.item()

    yield "gpt forward", forward
    yield "gpt training", training


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
    table = dict([*gpt(), *attention()])
    print(json.dumps(list(table)), flush=True)
    for line in sys.stdin:
        start = time.perf_counter()
        table[line.strip()]()
        print((time.perf_counter() - start) * 1e3, flush=True)


main()
