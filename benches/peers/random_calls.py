"""Random calls of tensor operations as PyTorch computes them, in the form that `cargo xtask golden DIR` runs.

    python benches/peers/random_calls.py DIR [--count 20000] [--seed 0] [--only NAME]
    cargo xtask golden DIR

A call has a random shape (rank 0 to 5, empty and size-1 axes among them), a random dtype, and now and then values that
are no numbers, infinite or equal. Float results and gradients are those in float64, rounded to the dtype once; the
tolerance is that of the dtype. Each call runs contiguous, transposed and sliced. Needs `torch` and `safetensors`.
"""

import argparse
import pathlib

import random_floats  # noqa: F401 (declares operations)
import random_whole  # noqa: F401
import torch
from random_call import OPS, Call, Skip


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
