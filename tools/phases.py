"""Shows the states that a series of launches goes through, from recorded samples.

For every case at one shape, the medians of the sixteen residues of the sample's index, sorted,
and what share of all samples' variance the residue explains. mnkbench shifts its samples by one
launch before every fourth, so a residue meets the driver in one state only.

Usage: phases.py results/nvidia-h200/epilogue-bf16.samples.jsonl.gz 16 8192     (M and K)
"""

import gzip
import json
import statistics
import sys

PHASES = 16


def trimmed(samples):
    """Without the slowest hundredth, which has other causes."""
    limit = sorted(samples)[int(0.99 * (len(samples) - 1))]
    return [(i % PHASES, x) for i, x in enumerate(samples) if x <= limit]


def explained(samples):
    """The share of the variance that is gone once each residue has its own mean."""
    pairs = trimmed(samples)
    groups = [[x for phase, x in pairs if phase == p] for p in range(PHASES)]
    within = sum(statistics.pvariance(g) * len(g) for g in groups)
    return 1 - within / (statistics.pvariance([x for _, x in pairs]) * len(pairs))


def main():
    path, m, k = sys.argv[1:4]
    shown = (m, k, "do_bench")
    with gzip.open(path, "rt") as lines:
        for line in map(json.loads, lines):
            if tuple(line["key"][column] for column in ("m", "k", "timer")) != shown:
                continue
            samples = [ns / 1e3 for ns in line["samples_ns"]]
            medians = sorted(statistics.median(samples[p::PHASES]) for p in range(PHASES))
            figures = " ".join(f"{x:.2f}" for x in medians)
            print(f"{line['key']['kernel']}: {figures} us, explains {100 * explained(samples):.0f} %")


main()
