"""Prints the rate of large GEMMs by type and size, random data, warm: the peak of a bound.

Usage: peaks.py > peaks.csv. Needs torch with CUDA. A figure is the median of 7 intervals of
at least 60 ms each, after 0.4 s of warm-up; clocks and throttling are those of the end.
"""

import subprocess
import torch

torch.manual_seed(1)
SIZES = [(4096, 4096, 4096), (8192, 8192, 8192), (16384, 8192, 8192), (8192, 8192, 16384), (4224, 8448, 8192), (16896, 8448, 4096)]


def rate(call, flops):
    start, end = torch.cuda.Event(True), torch.cuda.Event(True)
    for _ in range(3):
        call()
    torch.cuda.synchronize()
    start.record(); call(); end.record(); torch.cuda.synchronize()
    each = start.elapsed_time(end)
    for _ in range(max(1, int(400 / each))):
        call()
    rates = []
    for _ in range(7):
        count = max(1, int(60 / each))
        start.record()
        for _ in range(count):
            call()
        end.record()
        torch.cuda.synchronize()
        rates.append(flops * count / start.elapsed_time(end) / 1e9)
    return sorted(rates)[3], max(rates)


print("type,m,n,k,tflops_median,tflops_best,state")
for m, n, k in SIZES:
    a, b = torch.randn(m, k, device="cuda"), torch.randn(n, k, device="cuda")
    calls = {}
    for name, dtype in (("bf16", torch.bfloat16), ("f16", torch.float16)):
        x, y = a.to(dtype), b.to(dtype)
        calls[name] = lambda x=x, y=y: x @ y.T
        z = b.to(dtype).T.contiguous()
        calls[name + "-nn"] = lambda x=x, z=z: x @ z
    one = torch.ones((), device="cuda")
    x8, y8 = a.to(torch.float8_e4m3fn), b.to(torch.float8_e4m3fn)
    calls["e4m3"] = lambda: torch._scaled_mm(x8, y8.T, scale_a=one, scale_b=one, out_dtype=torch.bfloat16)
    calls["e4m3-fast"] = lambda: torch._scaled_mm(x8, y8.T, scale_a=one, scale_b=one, out_dtype=torch.bfloat16, use_fast_accum=True)
    for name, call in calls.items():
        median, best = rate(call, 2 * m * n * k)
        state = subprocess.run(["nvidia-smi", "--query-gpu=clocks.sm,power.draw.instant,clocks_event_reasons.active", "--format=csv,noheader,nounits"], capture_output=True, text=True).stdout.strip().replace(",", ";")
        print(f"{name},{m},{n},{k},{median:.1f},{best:.1f},{state}", flush=True)
    if (m, n, k) in SIZES[:2]:
        for name, allow in (("f32", False), ("tf32", True)):
            torch.backends.cuda.matmul.allow_tf32 = allow
            median, best = rate(lambda: a @ b.T, 2 * m * n * k)
            print(f"{name},{m},{n},{k},{median:.1f},{best:.1f},", flush=True)
