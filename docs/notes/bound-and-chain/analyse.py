"""Prints the tables of the note from the CSVs of probe.cu and peaks.py. Usage: analyse.py FOLDER"""

import csv
import glob
import statistics
import sys

folder = sys.argv[1]


def rows(name):
    return [r for f in sorted(glob.glob(f"{folder}/{name}*.csv")) for r in csv.DictReader(open(f))]


print("read: fastest variant of each family, GB/s net of the empty launch")
read = rows("read")
for regime in ("waiting", "queued"):
    for size in sorted({int(r["bytes"]) for r in read}):
        own = [r for r in read if r["regime"] == regime and int(r["bytes"]) == size]
        if not own:
            continue
        line = []
        for family in ("plain", "async", "bulk"):
            best = max((r for r in own if r["variant"].startswith(family)), key=lambda r: float(r["gbps"]))
            line.append(f"{float(best['gbps']):7.0f} {float(best['median_us']):7.2f} us ({best['variant']})")
        print(f"{regime:8} {size / 2**20:8.2f} MiB  " + "  ".join(line))

print("chain: us for each call; median of processes")
chain = rows("chain")
for shape in dict.fromkeys((r["n"], r["k"]) for r in chain):
    for how in dict.fromkeys(r["how"] for r in chain):
        cells = []
        for calls in ("1", "8", "32", "128"):
            own = [float(r["median_us_per_call"]) for r in chain if (r["n"], r["k"], r["how"], r["calls"]) == (*shape, how, calls)]
            cells.append(f"{statistics.median(own):8.3f}" if own else "       -")
        bound = next(float(r["bound_us_at_4000"]) for r in chain if (r["n"], r["k"]) == shape)
        print(f"{shape[0]:>6} x {shape[1]:>6} {how:20}" + " ".join(cells) + f"   bytes/4 TB/s {bound:7.3f}")

print("guard: change of the median against base, us (mean over series and processes; SD of a series)")
guard = rows("guard")
for size in dict.fromkeys(r["shape_bytes"] for r in guard):
    for regime in ("waiting", "queued"):
        base = [float(r["median_us"]) for r in guard if r["shape_bytes"] == size and r["variant"] == f"{regime}-base"]
        wall = [float(r["wall_us_per_sample"]) for r in guard if r["shape_bytes"] == size and r["variant"] == f"{regime}-base"]
        print(f"{int(size):>10} {regime:8} base {statistics.mean(base):.3f} us SD {statistics.stdev(base):.3f}, wall {statistics.median(wall):.0f} us")
        for variant in dict.fromkeys(r["variant"] for r in guard):
            if not variant.startswith(regime) or variant.endswith("-base"):
                continue
            own = [float(r["median_us"]) for r in guard if r["shape_bytes"] == size and r["variant"] == variant]
            w = [float(r["wall_us_per_sample"]) for r in guard if r["shape_bytes"] == size and r["variant"] == variant]
            print(f"{'':20}{variant.split('-', 1)[1]:26} {statistics.mean(own) - statistics.mean(base):+.3f} us  SD {statistics.stdev(own):.3f}  wall x{statistics.median(w) / statistics.median(wall):.2f}")

print("peaks")
for r in rows("peaks"):
    print(r["type"], r["m"], r["n"], r["k"], r["tflops_median"], r["tflops_best"], r["state"])
