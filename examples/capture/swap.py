"""Replaces the linear layers of one shape by an exported operator, and times a step with and without it.

    mnkbench capture -- python decode.py llama --batch 1 --graph
    mnkbench bench --suite captured/captured.ts --kernel auto,cublas --level 0 --timer chain:32 --out rows
    mnkbench table --weights captured/captured.json --timer chain:32 --format json rows > weights.json
    mnkbench export --suite captured/captured.ts --arch sm_90a --out mine
    python swap.py llama --batch 1 --export mine --weights weights.json

A step is a CUDA graph. Those without and with the operator are replayed in turns, so that both have the
same clocks; every replay reads all weights of the model, which no cache holds. Shapes are those of --nk, one
after the other, else the one that saves most in weights.json, whose saving is printed beside the measured
one. At the end the steps run under torch.profiler, which tells what of the saving is time of the kernels that
only one step has, what of those that both have, and what is between kernels.
"""

import argparse
import importlib
import json
import re
import statistics
import sys
import time

import torch

from decode import SIZES, graph_of, model_of

BURST = 10


def layers_of(model, n, k):
    linear = (module for module in model.modules() if isinstance(module, torch.nn.Linear))
    return [module for module in linear if module.weight.shape == (n, k) and module.bias is None]


def swap(layers, matmul):
    """Lets `layers` call `matmul(x, weights)`, and returns what undoes it."""

    def forward(weights):
        return lambda x: matmul(x.reshape(-1, x.shape[-1]), weights).unflatten(0, x.shape[:-1])

    for layer in layers:
        layer.forward = forward(layer.weight.t())

    def undo():
        for layer in layers:
            del layer.forward

    return undo


def step_of(model, batch, device):
    """Returns a step, and the logits that it writes."""
    if device == "cuda":
        return graph_of(model, batch, device)
    ids = torch.zeros(batch, 1, dtype=torch.long, device=device)

    def step():
        with torch.no_grad():
            return model(ids, use_cache=False)

    return step, step().logits


def burst_us(step, device):
    """Microseconds of a step, of some that follow each other."""
    if device != "cuda":
        start = time.perf_counter()
        step()
        return 1e6 * (time.perf_counter() - start)
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    start.record()
    for _ in range(BURST):
        step()
    end.record()
    end.synchronize()
    return 1e3 * start.elapsed_time(end) / BURST


def kernels_of(step):
    """Calls a step, microseconds a call and microseconds before a call of each kernel of `step`, by name."""
    from torch.profiler import ProfilerActivity, profile

    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as profiler:
        for _ in range(BURST):
            step()
        torch.cuda.synchronize()
    spans = sorted(
        (event.time_range.start, event.time_range.end, event.name)
        for event in profiler.events()
        if "CUDA" in str(event.device_type)
    )
    found = {}
    for (_, last, _), (start, end, name) in zip([spans[0], *spans], spans):
        found.setdefault(name, []).append((end - start, max(0, start - last)))
    return {
        name: (len(own) / BURST, *(statistics.median(us) for us in zip(*own)))
        for name, own in found.items()
    }  # fmt: skip


def print_kernels(before, after, step_us):
    """Prints what of the saving is time of kernels, and the kernels that one step has more often."""
    sums = [sum(calls * us for calls, us, _ in own.values()) for own in (before, after)]
    both = [name for name in before if name in after and before[name][0] == after[name][0]]
    same = [sum(own[name][0] * own[name][1] for name in both) for own in (before, after)]
    saved, kept = sums[0] - sums[1], same[0] - same[1]
    print("kernels: %.1f us of %.1f us; swapped: %.1f us of %.1f us" % (sums[0], step_us[0], sums[1], step_us[1]))
    print("saved: %.1f us of kernels of one step, %.1f us of the %.1f us of kernels of both, %.1f us between kernels" % (
        saved - kept, kept, same[0], step_us[0] - step_us[1] - saved))  # fmt: skip
    for name in sorted({*before, *after} - {*both}):
        counts = [own.get(name, (0, 0, 0))[0] for own in (before, after)]
        shown = ", ".join("%.2f us after %.2f us" % own[name][1:] for own in (before, after) if name in own)
        print("  %.0f calls, swapped %.0f: %s: %s" % (*counts, shown, name[:100]))


def said_of(path, batch, nk):
    """Returns N, K and microseconds a call that the table says are saved, of --nk or of the best shape."""
    with open(path, encoding="utf-8") as file:
        [weights] = json.load(file)
    found = []
    for line in weights["lines"]:
        shape = re.match(r"(\d+)×(\d+)×(\d+) .* nt$", line["label"])
        if shape is None or line["state"] != "measured" or "saved_ms" not in line["measured"]:
            continue
        m, n, k = map(int, shape.groups())
        if m == batch and nk in (None, (n, k)):
            us = [1e3 * ms / line["calls"] for ms in (line["measured"]["saved_ms"], line["ms"])]
            found.append((*us, line["calls"], n, k, line["measured"]))
    if not found:
        sys.exit(f"{path} has no measured shape of {batch} rows that is asked for")
    saved, captured, _, n, k, measured = max(found, key=lambda one: one[0] * one[2])
    now, fastest = measured["now"], measured["fastest"]
    print("%s: a call of N=%d, K=%d took %.2f us; by %s %s takes %.2f us and %s %.2f us: %.2f us to win" % (
        path, n, k, captured, now["timer"], now["kernel"], now["time_us"], fastest["kernel"], fastest["time_us"],
        saved))  # fmt: skip
    return n, k, saved


def compare(model, plain, options, nk):
    """Swaps the layers of a shape, and prints what that saves. Returns what steps take to the profiler."""
    said = None
    n, k = nk or (0, 0)
    if options.weights is not None:
        n, k, said = said_of(options.weights, options.batch, nk)
    layers = layers_of(model, n, k)
    if not layers:
        sys.exit(f"no linear layer of {options.model} has N={n} and K={k}")
    undo = swap(layers, importlib.import_module("mnk_matmul").matmul)
    swapped, own_logits = step_of(model, options.batch, options.device)
    undo()
    step, logits = plain
    times = {"plain": [], "swapped": []}
    for number in range(options.rounds):
        order = [("plain", step), ("swapped", swapped)]
        for name, one in order if number % 2 else reversed(order):
            times[name].append(burst_us(one, options.device))
    # Two sums in other orders differ by the roundings of bf16.
    off = (logits.float() - own_logits.float()).norm() / logits.float().norm()
    if not off < 0.05:
        sys.exit(f"the logits differ by {off:.3f} of their norm")
    pairs = [before - after for before, after in zip(*times.values())]
    quarters = statistics.quantiles(pairs, n=4)
    before, after = (statistics.median(own) for own in times.values())
    print("step: %.1f us; with %d layers of N=%d, K=%d swapped: %.1f us; logits differ by %.4f of their norm" % (
        before, len(layers), n, k, after, off))  # fmt: skip
    print("saved: %.1f us, quartiles %.1f and %.1f" % (quarters[1], quarters[0], quarters[2]))
    if said is not None:
        ratio = "%.2f" % (quarters[1] / (said * len(layers))) if said > 0 else "-"
        print("the table said: %.1f us; measured / said: %s" % (said * len(layers), ratio))
    return f"N={n}, K={k}", swapped, (before, after)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("model", choices=["llama", "moe"])
    parser.add_argument("--batch", type=int, default=1)
    parser.add_argument("--size", choices=list(SIZES), default="large")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--export", required=True, help="the folder that `mnkbench export` wrote")
    parser.add_argument("--nk", nargs="+", type=lambda text: tuple(map(int, text.split("x"))), help="as 8192x2048")
    parser.add_argument("--rounds", type=int, default=60)
    parser.add_argument("--weights", help="what `mnkbench table --weights ... --format json` printed")
    options = parser.parse_args()
    if options.nk is None and options.weights is None:
        parser.error("give --nk or --weights")
    sys.path.insert(0, options.export)
    model = model_of(options.model, options.size, options.device)
    plain = step_of(model, options.batch, options.device)
    compared = [compare(model, plain, options, nk) for nk in options.nk or [None]]
    if options.device == "cuda":
        # Last, as times of a process that was profiled may be others.
        before = kernels_of(plain[0])
        for name, swapped, step_us in compared:
            print(name)
            print_kernels(before, kernels_of(swapped), step_us)


if __name__ == "__main__":
    main()
