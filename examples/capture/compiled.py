"""Runs a compiled network: a program to capture.

    mnkbench capture -- python compiled.py
    mnkbench capture -- python compiled.py --mode max-autotune-no-cudagraphs
    mnkbench capture -- python compiled.py --mode reduce-overhead

With --profile FILE it runs under torch.profiler instead, for compare.py.
"""

import argparse

import torch

from decode import profiled


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--mode", default="default")
    parser.add_argument("--rows", type=int, default=64)
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--profile")
    options = parser.parse_args()
    torch.manual_seed(0)
    network = torch.nn.Sequential(
        torch.nn.Linear(1024, 4096), torch.nn.GELU(), torch.nn.Linear(4096, 1024, bias=False)
    ).to(options.device, torch.bfloat16)
    step = torch.compile(network, mode=options.mode)
    x = torch.randn(options.rows, 1024, device=options.device, dtype=torch.bfloat16)

    def work(steps):
        with torch.no_grad():
            for _ in range(steps):
                step(x)
        if options.device == "cuda":
            torch.cuda.synchronize()

    if options.profile is None:
        work(options.steps)
        print("ran", options.steps, "steps")
        return
    with profiled(options.profile):
        work(options.steps)


if __name__ == "__main__":
    main()
