"""Compares mnkbench's `cublas` rows with triton.testing.do_bench of the same torch call.

Both sides use one cuBLAS library (the one torch loads), the same workspace and math mode,
the same flush and the same milliseconds. They take turns: torch, mnkbench, torch, mnkbench,
torch, mnkbench; each side's figure at a shape is the median of its three medians.

Usage: fidelity.py MNKBENCH [OUT.md]     (MNKBENCH is the program, e.g. ./mnkbench)
"""

import csv
import glob
import os
import statistics
import subprocess
import sys
import tempfile
import time

import torch
import triton
from triton.testing import do_bench

MNS = [16, 32, 48, 64]
KS = [8192, 12288, 16384, 20480, 24576, 28672, 32768]
ROUNDS = 3
WARM_SECONDS = 0.15


def libraries_of_this_process(name):
    """The folders from which this process has loaded libraries called `name`."""
    with open("/proc/self/maps") as maps:
        paths = {line.split()[-1] for line in maps if f"/{name}" in line}
    return sorted({os.path.dirname(path) for path in paths})


def warm(square):
    """Keeps the device busy until its clocks are up."""
    end = time.time() + WARM_SECONDS
    while time.time() < end:
        for _ in range(5):
            torch.mm(square, square)
        torch.cuda.synchronize()


def torch_pass(operands, square):
    """do_bench's median of relu(a @ b) at every shape, in microseconds."""
    medians = {}
    for shape, (a, b) in operands.items():
        warm(square)
        medians[shape] = 1e3 * do_bench(
            lambda: torch.relu(torch.mm(a, b)), warmup=10, rep=50, return_mode="median"
        )
    return medians


def mnkbench_pass(program, folder):
    """The medians of mnkbench's `cublas` rows at every shape, in microseconds."""
    env = dict(os.environ, LD_LIBRARY_PATH=":".join([folder, os.environ.get("LD_LIBRARY_PATH", "")]))
    with tempfile.TemporaryDirectory() as out:
        command = [program, "bench", "--suite", "epilogue-bf16", "--kernel", "cublas", "--fresh", "--out", out]
        subprocess.run(command, env=env, check=True, stdout=subprocess.DEVNULL)
        (path,) = glob.glob(f"{out}/*/epilogue-bf16.csv")
        with open(path, newline="") as file:
            rows = list(csv.DictReader(file))
    medians = {(int(row["m"]), int(row["k"])): float(row["median_us"]) for row in rows}
    return medians, {row["library"] for row in rows}


def main():
    program = sys.argv[1]
    torch.manual_seed(0)
    shapes = [(mn, k) for mn in MNS for k in KS]
    operands = {
        (mn, k): (
            torch.randn(mn, k, device="cuda", dtype=torch.bfloat16),
            torch.randn(k, mn, device="cuda", dtype=torch.bfloat16),
        )
        for mn, k in shapes
    }
    square = torch.randn(8192, 8192, device="cuda", dtype=torch.bfloat16)
    torch.mm(square, square)
    torch.cuda.synchronize()
    folder = libraries_of_this_process("libcublas.so")[0]

    theirs, ours, library = [], [], set()
    for _ in range(ROUNDS):
        theirs.append(torch_pass(operands, square))
        medians, used = mnkbench_pass(program, folder)
        ours.append(medians)
        library |= used

    lines = [
        f"Device {torch.cuda.get_device_name()}, torch {torch.__version__}, triton {triton.__version__},",
        f"library of mnkbench's rows: {', '.join(sorted(library))}; medians of {ROUNDS} alternating passes, microseconds.",
        "",
        "| M=N | K | triton do_bench | mnkbench | difference | % | within |",
        "|---:|---:|---:|---:|---:|---:|---|",
    ]
    within, beyond = 0, 0
    for shape in shapes:
        a = statistics.median(p[shape] for p in theirs)
        b = statistics.median(p[shape] for p in ours)
        share = (b - a) / a
        good = abs(b - a) <= max(0.02 * a, 0.15)
        within += good
        beyond += abs(share) > 0.04
        lines.append(
            f"| {shape[0]} | {shape[1]} | {a:.2f} | {b:.2f} | {b - a:+.2f} | {100 * share:+.1f} | {'yes' if good else 'no'} |"
        )
    lines += ["", f"Within max(2 %, 0.15 us): {within} of {len(shapes)}; beyond 4 %: {beyond}."]
    text = "\n".join(lines) + "\n"
    print(text)
    if len(sys.argv) > 2:
        with open(sys.argv[2], "w") as out:
            out.write(text)


main()
