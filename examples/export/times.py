"""Times an exported operator beside torch.mm and torch.compile.

    mnkbench export --op matmul --arch sm_90a --out mine --m 1..64 --n 2112 --k 7168 --axis layout=nt
    python times.py mine --m 1,16,64

Device: microseconds of a call in a CUDA graph of many on weights of their own, which no cache holds; the
graphs are replayed in turns. Host: microseconds until a call returns, in bursts.
"""

import argparse
import importlib
import statistics
import sys
import time

import torch

WEIGHT_BYTES, MOST_CALLS = 2**29, 64
ROUNDS, BURST = 40, 100


def replayed(calls, device):
    """Returns what does all of `calls`: on a GPU a graph."""
    for call in calls:
        call()
    if device != "cuda":
        return lambda: [call() for call in calls]
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for call in calls:
            call()
    return graph.replay


def device_us(work, device):
    if device != "cuda":
        return host_us(work, device, 1)
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    start.record()
    work()
    end.record()
    end.synchronize()
    return 1e3 * start.elapsed_time(end)


def host_us(call, device, burst=BURST):
    start = time.perf_counter()
    for _ in range(burst):
        call()
    us = 1e6 * (time.perf_counter() - start) / burst
    if device == "cuda":
        torch.cuda.synchronize()
    return us


def medians(kinds, measure):
    """The median of each of `kinds`, measured in turns."""
    times = {name: [] for name in kinds}
    for number in range(ROUNDS):
        for name in list(kinds) if number % 2 else reversed(kinds):
            times[name].append(measure(kinds[name]))
    return {name: statistics.median(own) for name, own in times.items()}


def time_shape(matmul, shape, m, device):
    n, k, dtype = shape["n"], shape["k"], shape["type"]
    count = min(MOST_CALLS, max(2, WEIGHT_BYTES // (n * k * dtype.itemsize)))
    a = torch.randn(m, k, device=device).to(dtype)
    stored = (n, k) if shape["layout"] == "nt" else (k, n)
    all_b = [torch.randn(*stored, device=device).to(dtype) for _ in range(count)]
    if shape["layout"] == "nt":
        all_b = [b.t() for b in all_b]
    # Compiled for this shape alone.
    torch.compiler.reset()
    compiled = torch.compile(lambda a, b: torch.mm(a, b), mode="max-autotune-no-cudagraphs", dynamic=False)
    functions = {"exported": matmul, "torch.mm": torch.mm, "torch.compile": compiled}
    want = torch.mm(a, all_b[0]).float()
    for name, function in functions.items():
        off = (function(a, all_b[0]).float() - want).norm() / want.norm()
        if not off < 0.01:
            sys.exit(f"{name} is wrong by {off:.3f} of the norm at {m}x{n}x{k}")
    works = {
        name: replayed([lambda f=function, b=b: f(a, b) for b in all_b], device) for name, function in functions.items()
    }
    on_device = {name: us / count for name, us in medians(works, lambda work: device_us(work, device)).items()}
    calls = {name: (lambda f=function: f(a, all_b[0])) for name, function in functions.items()}
    on_host = medians(calls, lambda call: host_us(call, device))
    for what, us in (("device", on_device), ("host", on_host)):
        print("%-7s %dx%dx%d %s" % (what, m, n, k, "  ".join(f"{name} {value:.2f} us" for name, value in us.items())))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("export", help="the folder that `mnkbench export --op matmul` wrote")
    parser.add_argument("--m", default="1,16,64", help="rows of A; each takes the first exported shape that has them")
    parser.add_argument("--device", default="cuda")
    options = parser.parse_args()
    sys.path.insert(0, options.export)
    exported = importlib.import_module("mnk_matmul")
    plain = [shape for shape in exported.shapes() if shape["epilogue"] == "none"]
    torch.manual_seed(0)
    with torch.no_grad():
        for m in map(int, options.m.split(",")):
            shape = next((shape for shape in plain if shape["m_from"] <= m <= shape["m_to"]), None)
            if shape is None:
                sys.exit(f"{options.export} has no shape of {m} rows without an epilogue")
            time_shape(exported.matmul, shape, m, options.device)


if __name__ == "__main__":
    main()
