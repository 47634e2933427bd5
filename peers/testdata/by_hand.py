"""The examples' products as one times them by hand in torch, to compare with what mnkbench says.

Each function times and refuses: the time is in the note of its row. `product` is timed by mnkbench.
"""

import os
import statistics
import sys
import time

import torch

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../examples/python"))

import triton_matmul  # noqa: E402

SAMPLES, WARM_SECONDS, FLUSH_BYTES = 500, 0.3, 256 << 20


def time_by_hand(call):
    """Microseconds of a replay with a cold cache: the median of many."""
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
    for start, end in pairs:
        flush.zero_()
        start.record()
        graph.replay()
        end.record()
    torch.cuda.synchronize()
    median = statistics.median(1000 * start.elapsed_time(end) for start, end in pairs)
    raise NotImplementedError(f"{median:.3f} us by hand")


def product(A, B):
    return lambda: torch.relu(torch.mm(A, B))


def product_by_hand(A, B):
    time_by_hand(product(A, B))


def triton_by_hand(A, B, C, m, n, k, epilogue):
    time_by_hand(triton_matmul.matmul(A, B, C, m, n, k, epilogue))
