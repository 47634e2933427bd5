"""The examples' products as one times them by hand in torch, to compare with what mnkbench says.

Functions `..._by_hand` time graphs of the same call by hand and by mnkbench's own stopwatch, and refuse: the
times are in the note of the row. mnkbench times the others.
"""

import os
import statistics
import sys

import torch

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../examples/python"))

import triton_matmul  # noqa: E402

# Each capture has memory of its own, which alone changes a time by some per cent.
CAPTURES, SAMPLES, WARM_REPLAYS, FLUSH_BYTES = 4, 500, 200, 256 << 20


def measuring_process():
    """The object of mnkbench's program that measures this call."""
    frame = sys._getframe()
    while not hasattr(frame.f_locals.get("self"), "stopwatch"):
        frame = frame.f_back
    return frame.f_locals["self"]


def compare(call):
    """Tells the median microseconds of replays with a cold cache, of each capture in turns."""
    mnkbench = measuring_process()
    watch = mnkbench.stopwatch
    flush = torch.empty(FLUSH_BYTES, dtype=torch.int8, device="cuda")
    pairs = [[torch.cuda.Event(enable_timing=True) for _ in range(2)] for _ in range(SAMPLES)]

    def warm():
        for _ in range(WARM_REPLAYS):
            replay()
        torch.cuda.synchronize()

    def by_hand():
        warm()
        for start, end in pairs:
            flush.zero_()
            start.record()
            replay()
            end.record()
        torch.cuda.synchronize()
        return [1e6 * start.elapsed_time(end) for start, end in pairs]

    def by_mnkbench():
        watch.warm(mnkbench.filler, most_ms=200)
        return watch.sample(replay, mnkbench.flush, 10, 50)

    def by_events_of_the_driver():
        warm()
        return watch.take(SAMPLES, replay, flush.zero_)

    told = {way: [] for way in (by_hand, by_mnkbench, by_events_of_the_driver)}
    call()
    for _ in range(CAPTURES):
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            out = call()
        replay = graph.replay
        for way in told:
            told[way].append(f"{statistics.median(way()) / 1000:.3f}")
        del out
    raise NotImplementedError(", ".join(f"us {way.__name__} {' '.join(all)}" for way, all in told.items()))


def product(A, B):
    return lambda: torch.relu(torch.mm(A, B))


def product_by_hand(A, B):
    compare(product(A, B))


def triton_product(A, B, C, m, n, k, epilogue):
    # Tuned once in this process: the next function has the same config.
    return triton_matmul.matmul(A, B, C, m, n, k, epilogue)


def triton_product_by_hand(A, B, C, m, n, k, epilogue):
    compare(triton_product(A, B, C, m, n, k, epilogue))
