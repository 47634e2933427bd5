"""The examples' products as one times them by hand in torch, to compare with what mnkbench says.

Functions `..._by_hand` time and refuse: the time is in the note of the row. mnkbench times the others.
"""

import os
import statistics
import sys
import time

import torch

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../examples/python"))

import triton_matmul  # noqa: E402

SERIES, SAMPLES, WARM_SECONDS, FLUSH_BYTES = 3, 500, 0.3, 256 << 20


def time_by_hand(call):
    """Microseconds of a replay with a cold cache: the median of many, of several series one after another."""
    call()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        call()
    flush = torch.empty(FLUSH_BYTES, dtype=torch.int8, device="cuda")
    pairs = [[torch.cuda.Event(enable_timing=True) for _ in range(2)] for _ in range(SAMPLES)]
    begin = time.monotonic()
    while time.monotonic() - begin < WARM_SECONDS:
        graph.replay()
        torch.cuda.synchronize()
    medians = []
    for _ in range(SERIES):
        for start, end in pairs:
            flush.zero_()
            start.record()
            graph.replay()
            end.record()
        torch.cuda.synchronize()
        medians.append(statistics.median(1000 * start.elapsed_time(end) for start, end in pairs))
    raise NotImplementedError(f"{' '.join(f'{median:.3f}' for median in medians)} us by hand")


def product(A, B):
    return lambda: torch.relu(torch.mm(A, B))


def product_by_hand(A, B):
    time_by_hand(product(A, B))


def triton_product(A, B, C, m, n, k, epilogue):
    # Tuned once in this process: the next function has the same config.
    return triton_matmul.matmul(A, B, C, m, n, k, epilogue)


def triton_product_by_hand(A, B, C, m, n, k, epilogue):
    time_by_hand(triton_product(A, B, C, m, n, k, epilogue))
