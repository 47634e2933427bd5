"""Compares a captured.json with what torch.profiler saw of the same program.

    python compare.py captured/captured.json profile.json
"""

import json
import re
import sys

PRODUCTS = re.compile(r"aten::(mm|addmm|bmm|baddbmm|_grouped_mm|_scaled_mm|_int_mm)$")
GEMM = re.compile(r"gemm|nvjet|cutlass|wgmma|xmma|matmul|gemv|splitk|triton_\w*mm", re.I)
OTHER = re.compile(r"fmha|flash|sdpa|attention|conv|fprop|dgrad|wgrad", re.I)


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        captured = json.load(file)
    with open(sys.argv[2], encoding="utf-8") as file:
        profile = json.load(file)
    seen = [gemm for gemm in captured["gemms"] if gemm["time_us"] is not None]
    own_us = sum(gemm["time_us"] for gemm in seen)
    missed_us = sum(kernel["time_us"] for kernel in captured["other"] if kernel.get("is_gemm"))
    total_us = sum(us for name, (_, us) in profile["kernels"].items() if GEMM.search(name) and not OTHER.search(name))
    calls = sum(count for name, count in profile["calls"].items() if PRODUCTS.match(name))
    own_calls = sum(gemm["calls"] for gemm in captured["gemms"])
    print("GEMM time, us: captured %.0f + not seen as calls %.0f; profiler %.0f (%+.1f %%)" % (
        own_us, missed_us, total_us, 100 * ((own_us + missed_us) / max(total_us, 1e-9) - 1)))  # fmt: skip
    print("covered: %.1f %%" % (100 * own_us / max(own_us + missed_us, 1e-9)))
    print("calls: captured %d (%d of graphs); profiler's operators %d" % (
        own_calls, sum(gemm.get("graph_calls", 0) for gemm in captured["gemms"]), calls))  # fmt: skip
    for name, count in sorted(profile["calls"].items()):
        if PRODUCTS.match(name):
            print(f"  {name}: {count}")


if __name__ == "__main__":
    main()
