"""Counts rows that are faster than the bound, by timer and suite.

Usage: count.py FOLDER. Exits with 1 where there is one, and with 2 where no row has a bound.
"""

import csv
import pathlib
import sys
from collections import defaultdict

groups = defaultdict(list)
for path in sorted(pathlib.Path(sys.argv[1]).rglob("*.csv")):
    with open(path, newline="") as file:
        for row in csv.DictReader(file):
            if row["status"] == "ok" and row["cache"] == "cold":
                groups[row["timer"], row["suite"]].append(row)

above = bounded = 0
print(f"{'timer':13} {'suite':20} {'rows':>5} {'bound':>6} {'above':>6} {'>5 %':>5}  share of SOL: median, most, by")
for (timer, suite), rows in sorted(groups.items()):
    shares = sorted(
        (float(row["sol_us"]) / float(row["median_us"]), row["kernel"], row["m"], row["n"], row["k"])
        for row in rows
        if row["sol_us"]
    )
    bounded += len(shares)
    faster = [share for share in shares if share[0] > 1]
    above += len(faster)
    clearly = sum(share[0] > 1 / 0.95 for share in shares)
    line = f"{timer:13} {suite:20} {len(rows):5} {len(shares):6} {len(faster):6} {clearly:5}"
    if shares:
        most, *case = shares[-1]
        line += f"  {shares[len(shares) // 2][0]:.3f} {most:.3f} {'x'.join(case[1:])} {case[0]}"
    print(line)
    for share, kernel, m, n, k in faster:
        print(f"  above: {share:.3f} {kernel} {m}x{n}x{k}")
print(f"{above} of {bounded} rows are above the bound")
sys.exit(2 if bounded == 0 else 1 if above else 0)
