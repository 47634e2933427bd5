"""Prints the tables of ../2026-11-23-process-state.md from the folders that run.py wrote.

Usage: analyse.py FIRST_FOLDER SECOND_FOLDER [SUMMARY.csv]
       analyse.py --recorded FILE.samples.jsonl.gz M K      (what an index modulo 16 and 128 explains)
"""

import csv
import gzip
import json
import sys

import numpy as np

NUMBERS = ("process", "context", "draw", "m", "count")
OWN = ("empty", "cluster16", "mailbox", "cublas")


def load(folder):
    rows = list(csv.DictReader(open(folder + "/rows.csv")))
    samples = np.fromfile(folder + "/samples.ns", dtype="<u2") / 1e3
    at = 0
    for row in rows:
        row.update({name: int(row[name]) for name in NUMBERS})
        row["us"] = samples[at:at + row["count"]]
        row["figure"] = float(row["figure_us"])
        # The mean of all but the slowest fiftieth: finer than the timer's tick of 32 ns.
        row["mean"] = np.minimum(row["us"], np.quantile(row["us"], 0.98)).mean()
        at += row["count"]
    assert at == len(samples)
    text = [line.strip().split(",") for line in gzip.open(folder + "/text.csv.gz", "rt")]
    return rows, text


def pick(rows, **wanted):
    return [r for r in rows if all(r[name] == value for name, value in wanted.items())]


def explained(us, period):
    """The share of the variance that the sample's index modulo `period` explains, adjusted."""
    us = np.minimum(us, np.quantile(us, 0.97))
    phase = np.arange(len(us)) % period
    means = np.bincount(phase, us) / np.bincount(phase)
    return 1 - ((us - means[phase]) ** 2).sum() / (len(us) - period) / us.var(ddof=1)


def spread(x):
    return f"{np.median(x):.2f} us, SD {np.std(x, ddof=1) * 1e3:.0f} ns, range {np.ptp(x) * 1e3:.0f} ns"


def ring(rows):
    print("\n## ring: median us, SD us, least period that explains most, its share")
    for policy in dict.fromkeys(r["policy"] for r in pick(rows, mode="ring")):
        for kernel in ("empty", "cluster16"):
            some = pick(rows, mode="ring", policy=policy, kernel=kernel)
            if not some:
                continue
            shares = {p: np.mean([explained(r["us"], p) for r in some]) for p in (4, 8, 16, 32, 64, 128)}
            best = min(p for p, s in shares.items() if s > max(shares.values()) - 0.03)
            trimmed = [np.minimum(r["us"], np.quantile(r["us"], 0.97)).std() for r in some]
            if shares[best] < 0.05:
                best = "-"
            print(f"{policy:16} {kernel:9} {np.median([np.median(r['us']) for r in some]):.2f}"
                  f" {np.mean(trimmed):.2f} {best!s:>4} {max(shares.values()):.2f}")


def inside(rows, text):
    print("\n## ring: one kernel's own clock against the events")
    for row in pick(rows, mode="ring", kernel="cluster16_log"):
        log = np.array([[int(x) for x in line[3:]] for line in text if line[2] == "log" and int(line[3]) == row["draw"]])
        own = (log[:, 4] - log[:, 3]) / 1e3
        phase = np.arange(len(own)) % 128
        sd = [np.std(np.bincount(phase, x) / 8) for x in (row["us"], own, row["us"] - own)]
        print(f"events {np.median(row['us']):.2f} us, inside {np.median(own):.2f}; SD by ring position:"
              f" events {sd[0] * 1e3:.0f} ns, inside {sd[1] * 1e3:.0f}, rest {sd[2] * 1e3:.0f};"
              f" first block on SM {sorted(set(log[:, 2].tolist()))}")


def processes(rows):
    print("\n## process: natural figures, and what is left without the process's own empty launch")
    every = [r for r in pick(rows, mode="process", policy="natural") if r["draw"] < 3]
    of = {}
    for r in every:
        of.setdefault((r["process"], r["kernel"], r["m"]), []).append(r["mean"])
    names = sorted({key[0] for key in of})
    floor = np.array([np.mean(of[p, "empty", 16]) for p in names])
    print("empty", spread(floor), np.round(np.sort(floor), 2).tolist())
    for kernel, m in (("cluster16", 16), ("mailbox", 16), ("cublas", 16), ("tiles64", 64), ("cublas", 64),
                      ("tiles128", 128), ("cublas", 128)):
        x = np.array([np.mean(of[p, kernel, m]) for p in names])
        print(kernel, m, spread(x), "| minus empty", spread(x - floor), np.round(np.sort(x - floor), 2).tolist())


def contexts(rows):
    print("\n## contexts of one process: first stream queued, first stream waited, later streams queued")
    for kernel in OWN[:3]:
        for policy in ("natural", "wait", "stream"):
            x = {}
            for r in pick(rows, mode="contexts", policy=policy, kernel=kernel):
                x.setdefault(r["context"], []).append(r["mean"])
            if x:
                print(kernel, policy, spread([np.mean(v) for v in x.values()]),
                      [round(float(np.mean(v)), 2) for v in x.values()])


def crossed(rows):
    names = ("stream", "events", "flush", "module", "operands", "C", "meet")
    print("\n## crossed: F of each factor's six levels, after the empty launch of the same draw is taken off")
    of = {}
    for r in pick(rows, mode="crossed"):
        of.setdefault((r["draw"], r["kernel"]), []).append(r)
    draws = sorted({d for d, _ in of})
    level = np.array([[int(x) for x in of[d, "empty"][0]["levels"].split("|")] for d in draws])
    value = {k: np.array([np.mean([r["mean"] for r in of[d, k]]) for d in draws]) for k in OWN[:3]}
    for kernel in OWN[:3]:
        y = value[kernel] - (value["empty"] if kernel != "empty" else 0)
        columns = [[(level[:, f] == l).astype(float) for l in range(1, 6)] for f in range(7)]

        def residual(without=None):
            x = [c for f in range(7) if f != without for c in columns[f]]
            x = np.column_stack([np.ones(len(y)), *x])
            return ((y - x @ np.linalg.lstsq(x, y, rcond=None)[0]) ** 2).sum()

        left = residual() / (len(y) - 36)
        found = [f"{n} {(residual(f) - residual()) / 5 / left:.1f}" for f, n in enumerate(names)]
        noise = np.std([of[d, kernel][0]["mean"] - of[d, kernel][1]["mean"] for d in draws]) / 2
        print(kernel, f"n {len(y)}, SD {y.std() * 1e3:.0f} ns, of repeats {noise * 1e3:.0f} ns:", ", ".join(found))


def places(first, second):
    print("\n## pages: mean us by layout, all draws; draws whose page is fast")
    some = pick(first, mode="pages", kernel="cluster16")
    for policy in dict.fromkeys(r["policy"] for r in some):
        x = sorted(r["mean"] for r in some if r["policy"] == policy)
        print(f"{policy:12} {np.median(x):.2f}, below 7.25:", [f"{v:.2f}" for v in x if v < 7.25])
    for draw in sorted({r["draw"] for r in some if r["policy"] == "one page" and r["mean"] < 7.25}):
        print("draw", draw, {r["policy"]: round(float(r["mean"]), 2) for r in pick(some, draw=draw)})
    print("\n## slide: waited; correlation of 192 places between two passes")
    of = {}
    for r in pick(second, mode="slide"):
        of.setdefault(r["policy"], {})[r["draw"]] = r["mean"]
    base = of["zeros"]
    for policy, x in of.items():
        values = [x[i] for i in sorted(x)]
        print(policy, spread(values), f"correlation {np.corrcoef([base[i] for i in sorted(x)], values)[0, 1]:.2f}")


def streams(rows):
    print("\n## streams beside the one in use (us): idle, used once, destroyed")
    for kernel in ("empty", "cluster16", "cublas"):
        for waited in ("", " waited"):
            line = []
            for others in (0, 1, 2, 4, 8, 16):
                line.append(f"{others}: " + " ".join(
                    f"{pick(rows, mode='streams', policy=p + waited, kernel=kernel, context=others)[0]['mean']:.2f}"
                    for p in ("idle", "used once", "destroyed")))
            print(kernel + waited, "; ".join(line))


def remedies(rows, summary):
    print("\n## remedy: one series of each process, then what helps")
    some = pick(rows, mode="remedy")
    names = sorted({r["process"] for r in some})
    of = {(r["process"], r["policy"], r["draw"], r["kernel"]): r for r in some}
    slow = None
    for way in ("queued", "waited"):
        floor = np.array([of[p, way, 0, "empty"]["mean"] for p in names])
        floors = np.array([[of[p, way + " places", d, "empty"]["mean"] for d in range(9)] for p in names])
        for kernel in OWN:
            x = np.array([of[p, way, 0, kernel]["mean"] for p in names])
            again = np.array([of[p, way, 1, kernel]["mean"] for p in names])
            nine = np.array([[of[p, way + " places", d, kernel]["mean"] for d in range(9)] for p in names])
            print(f"{way} {kernel}: figure {spread([of[p, way, 0, kernel]['figure'] for p in names])} | mean {spread(x)}"
                  f" | repeat SD {np.std(x - again) / 2 ** 0.5 * 1e3:.0f} ns"
                  f" | places within a process SD {nine.var(axis=1, ddof=1).mean() ** 0.5 * 1e3:.0f} ns"
                  f" | median of 9 places {spread(np.median(nine, 1))}"
                  f" | minus empty {spread(x - floor) if kernel != 'empty' else '-'}"
                  f" | median of 9 minus empty {spread(np.median(nine - floors, 1)) if kernel != 'empty' else '-'}")
            if (way, kernel) == ("waited", "cluster16"):
                # Two groups, parted by the widest gap.
                order = np.sort(x)
                slow = x > order[np.argmax(np.diff(order))]
    print("waited, by the two groups of processes (", int((~slow).sum()), "and", int(slow.sum()), ")")
    for kernel in OWN:
        x = np.array([of[p, "waited", 0, kernel]["mean"] for p in names])
        print(kernel, spread(x[~slow]), "|", spread(x[slow]))
    q = {k: np.array([of[p, "queued places", d, k]["mean"] for p in names for d in range(9)]) for k in OWN}
    w = {k: np.array([of[p, "waited places", d, k]["mean"] for p in names for d in range(9)]) for k in OWN}
    # The gap in the histogram of this difference, 3.06 to 3.23 us in the first run.
    low = q["mailbox"] - q["empty"] < 3.12
    print(int(low.sum()), "of", len(low), "places are fast when queued; minus empty, fast and other:")
    for k in OWN[1:]:
        print(k, *(f"{name} {(v[k] - v['empty'])[low].mean():.2f} {(v[k] - v['empty'])[~low].mean():.2f}"
                   for name, v in (("queued", q), ("waited", w))))
    if summary:
        with open(summary, "w", newline="") as to:
            out = csv.writer(to)
            out.writerow(["process", "kernel", "way", "figure_us", "mean_us", "min_us", "median_of_9_places_us"])
            for p in names:
                for kernel in OWN:
                    for way in ("queued", "waited"):
                        r = of[p, way, 0, kernel]
                        nine = [of[p, way + " places", d, kernel]["mean"] for d in range(9)]
                        out.writerow([p, kernel, way, f"{r['figure']:.3f}", f"{r['mean']:.3f}", r["min_us"], f"{np.median(nine):.3f}"])


def latencies(text):
    print("\n## l2: cycles of a warm access; touch: cycles of dependent cold loads")
    for kind in ("load", "atomic"):
        x = np.array([[int(v) for v in line[6:]] for line in text if line[2] == "l2" and line[3] == kind])
        print(kind, "quantiles 0, 10, 25, 50, 75, 90, 100 %:", np.quantile(x, [0, 0.1, 0.25, 0.5, 0.75, 0.9, 1]).astype(int).tolist())
    x = np.array([[int(v) for v in line[3:]] for line in text if line[2] == "touch"])
    for i, name in enumerate(("first page", "same page", "other page")):
        print(name, "10, 25, 50, 75, 90 %:", np.quantile(x[:, i], [0.1, 0.25, 0.5, 0.75, 0.9]).astype(int).tolist())


def power(rows, text):
    print("\n## nvml: cost of a call, us: least, median, greatest")
    for line in text:
        if line[2] == "cost":
            print(" ".join(line[3:]))
    polls = [line[3:] for line in text if line[2] == "poll"]
    phase, t = np.array([int(x[0]) for x in polls]), np.array([float(x[1]) for x in polls])
    for name, column in (("instant", 2), ("average", 3)):
        v = np.array([int(x[column]) for x in polls]) / 1e3
        new = np.where(np.diff(v) != 0)[0] + 1
        print(name, "updates", len(new), "interval ms 5, 50, 95 %:", np.quantile(np.diff(t[new]) * 1e3, [0.05, 0.5, 0.95]).round(1).tolist())
        for p in (2, 3, 6):
            print("  phase", p, "W at updates", np.sort(v[new][phase[new] == p]).round().astype(int).tolist())
        at = np.where((phase[1:] == 2) & (phase[:-1] == 1))[0] + 1
        for start in at:
            some = [i for i in new if -0.01 < t[i] - t[start] < 0.4]
            print("  load begins; ms and W:", [(round((t[i] - t[start]) * 1e3), round(v[i])) for i in some])
    slow = np.array([float(x[8]) for x in polls])
    print("polls (of five fields) above 1 ms:", int((slow > 1000).sum()), "in", f"{t[-1] - t[0]:.1f} s, median", np.median(slow[slow > 1000]).round())
    print("SM MHz", sorted({x[4] for x in polls}), "memory MHz", sorted({x[5] for x in polls}), "reasons", sorted({x[6] for x in polls}))
    for policy in ("alone", "polled"):
        print(policy, spread([r["figure"] for r in pick(rows, mode="nvml", policy=policy)]))


def recorded(path, m, k):
    for line in map(json.loads, gzip.open(path, "rt")):
        key, us = line["key"], np.array(line["samples_ns"]) / 1e3
        if (str(key["m"]), str(key["k"])) == (m, k) and key["backend"] == "cuda" and len(us) >= 512:
            print(f"{key['kernel']:26} {np.median(us):6.2f} us, n {len(us)}, explained by 16: {explained(us, 16):.2f}, by 128: {explained(us, 128):.2f}")


def main():
    if sys.argv[1] == "--recorded":
        return recorded(*sys.argv[2:5])
    (first, said), (second, said_again) = load(sys.argv[1]), load(sys.argv[2])
    ring(first)
    ring(second)
    inside(first, said)
    processes(first)
    contexts(first)
    contexts(second)
    crossed(first)
    places(first, second)
    streams(second)
    remedies(second, sys.argv[3] if len(sys.argv) > 3 else None)
    latencies(said)
    power(second, said_again)


main()
