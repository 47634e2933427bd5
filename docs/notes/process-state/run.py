"""Runs probe.cu's modes, each in a fresh process, within a budget of seconds, and prints a table.

Usage: run.py OUT_FOLDER BUDGET_SECONDS [MODE:SECONDS ...] [FRESH_MODE]

Writes rows.csv (a row for each series), samples.ns (uint16, in the order of the rows) and
text.csv.gz (what the modes print). At the end fresh processes of FRESH_MODE (process or
remedy) take what is left of the budget.
"""

import csv
import glob
import gzip
import os
import statistics
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
BUILT = os.path.join(HERE, ".cache")
MODES = ["check:20", "ring:9", "l2:4", "pages:9", "crossed:20", "contexts:14", "nvml:9"]


def build():
    os.makedirs(BUILT, exist_ok=True)
    source, probe = os.path.join(HERE, "probe.cu"), os.path.join(BUILT, "probe")
    if not os.path.exists(probe) or os.path.getmtime(probe) < os.path.getmtime(source):
        nvcc = ["nvcc", "-arch=sm_90a", source, "-o"]
        subprocess.run([*nvcc, probe + ".cubin", "-cubin"], check=True)
        subprocess.run([*nvcc, probe, "-O2", "-std=c++17", "-ldl"], check=True)
    return probe


def libraries():
    """cuBLAS of the toolkit, or the one that torch brings."""
    places = ["/usr/local/cuda/lib64", *glob.glob("/usr/local/cuda*/targets/*/lib")]
    places += glob.glob("/opt/*/.venv/lib/python3*/site-packages/nvidia/cu13/lib")
    places += glob.glob("/opt/*/.venv/lib/python3*/site-packages/nvidia/cublas/lib")
    return ":".join([p for p in places if glob.glob(p + "/libcublas.so.13")])


def main():
    out, budget = sys.argv[1], float(sys.argv[2])
    given = sys.argv[3:]
    fresh = given.pop() if given and ":" not in given[-1] else "process"
    modes = given or MODES
    began = time.monotonic()
    probe = build()
    env = dict(os.environ)
    env["LD_LIBRARY_PATH"] = libraries() + ":" + env.get("LD_LIBRARY_PATH", "")
    print("cuBLAS from", libraries() or "nowhere", flush=True)
    rows, samples = [], open(os.path.join(out, "samples.ns"), "wb")
    texts = gzip.open(os.path.join(out, "text.csv.gz"), "wt")

    def run(mode, seconds, seed):
        part = os.path.join(out, "part")
        start = time.monotonic()
        try:
            done = subprocess.run(
                [probe, mode, part, str(seconds), str(seed)],
                env=env, capture_output=True, text=True, timeout=seconds + 8)
            text, error, status = done.stdout, done.stderr, done.returncode
        except subprocess.TimeoutExpired as late:
            text, error, status = (late.stdout or b"").decode(), "too late", -1
        texts.write("".join(f"{mode},{seed},{line}\n" for line in text.splitlines()))
        if status or mode != fresh:
            print(mode, seed, "status", status, f"{time.monotonic() - start:.1f} s", error.strip(), flush=True)
        if mode == "check":
            print(text, flush=True)
        # A mode that broke leaves half rows, so what it wrote is dropped.
        if status == 0 and mode != "check":
            rows.extend(csv.DictReader(open(part + ".csv")))
            samples.write(open(part + ".ns", "rb").read())
        for end in (".csv", ".ns"):
            if os.path.exists(part + end):
                os.remove(part + end)

    for seed, item in enumerate(modes):
        mode, seconds = item.split(":")
        if time.monotonic() - began + float(seconds) < budget:
            run(mode, float(seconds), seed)
    seed = 100
    while time.monotonic() - began < budget - 4:
        run(fresh, 6, seed)
        seed += 1
    print("processes:", seed - 100, f"in all {time.monotonic() - began:.0f} s")

    samples.close()
    texts.close()
    with open(os.path.join(out, "rows.csv"), "w", newline="") as to:
        writer = csv.DictWriter(to, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    groups = {}
    for row in rows:
        key = (row["mode"], row["policy"], row["kernel"], row["m"])
        groups.setdefault(key, []).append(float(row["figure_us"]))
    print("mode policy kernel M: series, figure us least median greatest, SD")
    for key, x in groups.items():
        if len(x) > 1 and key[0] != "ring":
            print(*key, len(x), f"{min(x):.2f} {statistics.median(x):.2f} {max(x):.2f} {statistics.stdev(x):.3f}")


main()
