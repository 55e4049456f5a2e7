"""The operations of `benches/src/bin/ops.rs` in PyTorch, by the protocol of `benches/src/lib.rs`."""

import json
import sys
import time

import torch

N, ROWS, WIDTH, SORTED = 4096, 1 << 20, 64, 10_000_000


def cases():
    torch.manual_seed(0)
    x, row, column = torch.randn(N, N), torch.randn(N), torch.randn(N, 1)
    long, table = torch.randn(N * N), torch.randn(ROWS, WIDTH)
    parts = [torch.randn(N // 4, N) for _ in range(4)]
    a, b = torch.randn(1024, 1024), torch.randn(1024, 1024)
    p, q = torch.randn(32, 256, 256), torch.randn(32, 256, 256)
    queries, keys = torch.randn(4, 8, 256, 64), torch.randn(4, 8, 256, 64)
    unsorted, rows = torch.randn(SORTED), torch.randint(0, ROWS, (ROWS,))
    places = rows[:, None].expand(ROWS, WIDTH).contiguous()
    return {
        "sum over axis 0": lambda: x.sum(0),
        "sum over axis 1": lambda: x.sum(1),
        "argmax over axis 0": lambda: x.argmax(0),
        "argmax over axis 1": lambda: x.argmax(1),
        "cumsum over axis 0": lambda: x.cumsum(0),
        "cumsum over axis 1": lambda: x.cumsum(1),
        "cumsum of 16 Mi": lambda: long.cumsum(0),
        "transposed copy": lambda: x.t().contiguous(),
        "index_select of 1 Mi rows": lambda: table.index_select(0, rows),
        "gather of 1 Mi rows": lambda: table.gather(0, places),
        "index_add of 1 Mi rows": lambda: table.index_add(0, rows, table),
        "scatter_add of 1 Mi rows": lambda: table.scatter_add(0, places, table),
        "sort of 10 M": lambda: unsorted.sort(stable=True),
        "topk of 10 M, k = 100": lambda: unsorted.topk(100),
        "cat of 4 along axis 0": lambda: torch.cat(parts, 0),
        "cat of 4 along axis 1": lambda: torch.cat(parts, 1),
        "einsum ij,jk->ik": lambda: torch.einsum("ij,jk->ik", a, b),
        "einsum bij,bjk->bik": lambda: torch.einsum("bij,bjk->bik", p, q),
        "einsum bhqd,bhkd->bhqk": lambda: torch.einsum("bhqd,bhkd->bhqk", queries, keys),
        "add of a row": lambda: x + row,
        "add of a column": lambda: x + column,
    }


def main():
    torch.set_num_threads(2)
    table = cases()
    print(json.dumps(list(table)), flush=True)
    for line in sys.stdin:
        start = time.perf_counter()
        table[line.strip()]()
        print((time.perf_counter() - start) * 1e3, flush=True)


with torch.no_grad():
    main()
