"""Times an exported operator beside torch.mm and torch.compile, and a call in C beside its bare launches.

    mnkbench export --op matmul --arch sm_90a --out mine --m 1,16,64 --n 2112 --k 7168 --axis layout=nt
    python times.py mine

Device: microseconds of a call in a CUDA graph of many calls on weights of their own. * marks a shape whose weights
fit the GPU's L2 cache together. Host: microseconds until a call returns, in bursts; `torch.ops` is the operator as
torch.compile calls it. The functions are measured in turns, and each is checked first. Last, the export's
test_matmul.c is compiled and run, which prints the host's microseconds of a call and of its launches alone.

It times 8 shapes in about 30 s, after the first import has built the operator, and begins none after --seconds.
"""

import argparse
import gc
import importlib
import math
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time

import torch

WEIGHT_BYTES, MOST_CALLS = 2**28, 256
DEVICE_ROUNDS, HOST_ROUNDS, BURST = 40, 20, 50
# What this project asks of its exports.
HOST_RATIO, MORE_US = 1.1, 2.0


def numbers(rows, columns, ld, dtype, device):
    """A random matrix whose rows are `ld` values apart."""
    return torch.randn(rows, ld, device=device).to(dtype)[:, :columns]


def replayed(calls, device):
    """Returns what does all of `calls`: on a GPU a graph."""
    if device != "cuda":
        return lambda: [call() for call in calls]
    # What a function does at its first calls on a stream is no part of a graph.
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for call in calls[:2]:
            call()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for call in calls:
            call()
    graph.replay()
    return graph.replay


def device_us(work, device):
    if device != "cuda":
        start = time.perf_counter()
        work()
        return 1e6 * (time.perf_counter() - start)
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    torch.cuda.synchronize()
    start.record()
    work()
    end.record()
    end.synchronize()
    return 1e3 * start.elapsed_time(end)


def host_us(function, a, b, device):
    """The host's microseconds of a call. It calls `function` itself: a lambda between would cost both the same."""
    repeats = range(BURST)
    gc.disable()
    start = time.perf_counter()
    for _ in repeats:
        function(a, b)
    us = 1e6 * (time.perf_counter() - start) / BURST
    gc.enable()
    if device == "cuda":
        # Else the next burst waits for room in the queue of launches.
        torch.cuda.synchronize()
    return us


def medians(kinds, rounds, measure):
    """The median of each of `kinds`, measured in turns."""
    times = {name: [] for name in kinds}
    for number in range(rounds):
        for name in list(kinds) if number % 2 else reversed(kinds):
            times[name].append(measure(kinds[name]))
    return {name: statistics.median(own) for name, own in times.items()}


def compiled_mm(mode):
    def mm(a, b):
        return torch.mm(a, b)

    # Compiled for this shape alone.
    torch.compiler.reset()
    return torch.compile(mm, mode=mode, dynamic=False)


def time_shape(exported, shape, m, options):
    """Prints a line of a shape's times; returns the host's of a call of the export and of torch.mm."""
    n, k, dtype, device = shape["n"], shape["k"], shape["type"], options.device
    weight = n * k * dtype.itemsize
    count = min(MOST_CALLS, max(2, -(-WEIGHT_BYTES // weight))) if device == "cuda" else 2
    is_nt = shape["layout"] == "nt"
    a = numbers(m, k, shape["lda"], dtype, device)
    stored = [numbers(*((n, k) if is_nt else (k, n)), shape["ldb"], dtype, device) for _ in range(count)]
    all_b = [b.t() for b in stored] if is_nt else stored
    functions = {"exported": exported.matmul, "torch.ops": exported.operator, "torch.mm": torch.mm}
    if options.compile != "none":
        functions["torch.compile"] = compiled_mm(options.compile)
    want = torch.mm(a, all_b[0]).float()
    for name, function in functions.items():
        off = float((function(a, all_b[0]).float() - want).norm() / want.norm())
        # NaN too is wrong.
        if not off < 0.01:
            sys.exit(f"{name} is wrong by {off:.3f} of the norm at {m}x{n}x{k}")
    on_graph = {name: function for name, function in functions.items() if name != "torch.ops"}
    works = {
        name: replayed([lambda f=function, b=b: f(a, b) for b in all_b], device) for name, function in on_graph.items()
    }
    on_device = medians(works, DEVICE_ROUNDS if device == "cuda" else 1, lambda work: device_us(work, device) / count)
    rounds = HOST_ROUNDS if device == "cuda" else 1
    on_host = medians(functions, rounds, lambda function: host_us(function, a, all_b[0], device))
    cache = torch.cuda.get_device_properties(0).L2_cache_size if device == "cuda" else 0
    mark = "*" if count * weight < cache else " "
    cells = [*on_device.values(), *on_host.values()]
    ratio = on_host["exported"] / on_host["torch.mm"]
    print(f"{m}x{n}x{k}".ljust(18) + "".join(f"{us:11.2f}" for us in cells) + f"{ratio:8.2f}{mark}", flush=True)
    return ratio


def print_head(options):
    compiled = [] if options.compile == "none" else ["compile"]
    device, host = ["exported", "torch.mm", *compiled], ["exported", "torch.ops", "torch.mm", *compiled]
    print(" " * 18 + "device us".rjust(11).ljust(11 * len(device)) + "host us".rjust(11))
    print("MxNxK".ljust(18) + "".join(name.rjust(11) for name in [*device, *host]) + "   ratio")


def points(shapes, wanted):
    """Pairs of an exported shape without an epilogue and an M of it: of `wanted`, or its least."""
    for shape in shapes:
        if shape["epilogue"] != "none":
            continue
        for m in [shape["m_from"]] if wanted is None else wanted:
            if shape["m_from"] <= m <= shape["m_to"]:
                yield shape, m


def run_in_c(options):
    """Compiles and runs the C program of the export; prints what a call costs beyond its launches."""
    folder = os.path.abspath(options.export)
    library = [f'-DMNK_CUDA_LIBRARY="{options.library}"'] if options.library else []
    with tempfile.TemporaryDirectory() as own:
        program = os.path.join(own, "test_matmul")
        source = os.path.join(folder, "test_matmul.c")
        subprocess.run(["cc", "-O2", *library, "-o", program, source, "-ldl", "-lm"], check=True)
        command = [program, os.path.join(folder, "mnk_matmul.bin"), "--rows", str(options.shapes)]
        try:
            ran = subprocess.run(command, capture_output=True, text=True, timeout=60)
        except subprocess.TimeoutExpired:
            sys.exit("test_matmul took more than 60 s")
    if ran.returncode:
        sys.exit(f"test_matmul ended with {ran.returncode}:\n{ran.stdout}{ran.stderr}")
    found = re.findall(r"host: ([\d.]+) us a call, ([\d.]+) us bare \((\d+) launches\), (-?[\d.]+) us more", ran.stdout)
    if not found:
        sys.exit(f"test_matmul printed no times:\n{ran.stdout}")
    for call, bare, launches, more in found:
        print(f"C: {call} us a call, {bare} us for its {launches} launches alone, {more} us more")
    most = max(float(more) for *_, more in found)
    print(f"C: at most {most:.2f} us above bare launches ({MORE_US:g} us are asked for)")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("export", help="the folder that `mnkbench export --op matmul` wrote")
    parser.add_argument("--m", help="rows of A, such as 1,16,64 (default: the least of each exported row)")
    parser.add_argument("--shapes", type=int, default=8, help="shapes to time at most (default: 8)")
    parser.add_argument("--seconds", type=float, default=30, help="begin no shape after these (default: 30)")
    parser.add_argument(
        "--compile",
        default="default",
        choices=["none", "default", "max-autotune-no-cudagraphs"],
        help="mode of torch.compile; max-autotune takes up to a minute a shape (default: default)",
    )
    parser.add_argument("--library", help="the CUDA driver for the C program (default: libcuda.so.1)")
    parser.add_argument("--device", default="cuda", help=argparse.SUPPRESS)
    options = parser.parse_args()
    sys.path.insert(0, os.path.abspath(options.export))
    exported = importlib.import_module("mnk_matmul")
    begun = time.monotonic()
    wanted = None if options.m is None else [int(m) for m in options.m.split(",")]
    every = list(points(exported.shapes(), wanted))
    if not every:
        at = "" if wanted is None else f" of M={options.m}"
        sys.exit(f"{options.export} has no shape{at} without an epilogue")
    run_in_c(options)
    print_head(options)
    torch.manual_seed(0)
    ratios = []
    with torch.no_grad():
        for shape, m in every[: options.shapes]:
            if ratios and time.monotonic() - begun > options.seconds:
                break
            ratios.append(time_shape(exported, shape, m, options))
    mean = math.exp(statistics.fmean(map(math.log, ratios)))
    print(
        f"host: the exported operator takes {mean:.2f} times what torch.mm takes in the geometric mean, "
        f"{max(ratios):.2f} at most ({HOST_RATIO:g} are asked for)"
    )
    if len(ratios) < len(every):
        print(f"{len(every) - len(ratios)} of {len(every)} shapes were not timed: see --shapes and --seconds")


if __name__ == "__main__":
    main()
