"""Times calls of an exported operator, and of one by ctypes, on a driver that does nothing.

    python overhead.py FOLDER LIBRARY    an export of M=16 N=64 K=8192; stub.c as a library
"""

import ctypes
import pathlib
import statistics
import sys
import time

import torch
from torch.utils import cpp_extension

folder, library = sys.argv[1:]
HEADERS = pathlib.Path(__file__).resolve().parents[3] / "cli/commands/export/testdata/torch"
build = cpp_extension.load


def load(name, sources, extra_include_paths, **cuda):
    flags = ["-O2", "-DMNK_TORCH_KEY=CPU", f'-DMNK_CUDA_LIBRARY=\\"{library}\\"']
    paths = [str(HEADERS), *extra_include_paths]
    return build(name, sources, extra_include_paths=paths, extra_cflags=flags, build_directory=folder)


cpp_extension.load = load
sys.path.insert(0, folder)
import mnk_matmul

launch = ctypes.CDLL(library).cuLaunchKernelEx
launch.argtypes = [ctypes.c_void_p] * 4 + [ctypes.c_int64] * 7 + [ctypes.c_void_p]


def by_ctypes(a, b):
    (m, k), n = a.shape, b.shape[1]
    (lda, step), (ldb, _) = a.stride(), b.stride()
    if a.dtype != b.dtype or step != 1:
        raise ValueError("no such product")
    c = torch.empty((m, n), dtype=a.dtype, device=a.device)
    launch(a.data_ptr(), b.data_ptr(), None, c.data_ptr(), m, n, k, 1, 1, lda, ldb, 8)
    return c


own = torch.library.Library("ctypes_mnk", "DEF")
own.define("matmul(Tensor a, Tensor b) -> Tensor")
own.impl("matmul", by_ctypes, "CPU")

a = torch.zeros(16, 8192, dtype=torch.bfloat16)
b = torch.zeros(8192, 64, dtype=torch.bfloat16)
small = torch.zeros(1, 1)
CALLS = {
    "mnk_matmul.matmul": lambda: mnk_matmul.matmul(a, b),
    "mnk_matmul.operator": lambda: mnk_matmul.operator(a, b),
    "ctypes": lambda: by_ctypes(a, b),
    "ctypes by torch.library": lambda: torch.ops.ctypes_mnk.matmul(a, b),
    "torch.mm, 1x1 on the CPU": lambda: torch.mm(small, small),
}


def us(call):
    times = []
    for _ in range(200):
        start = time.perf_counter_ns()
        for _ in range(200):
            call()
        times.append((time.perf_counter_ns() - start) / 200e3)
    # The machine is shared: the least is what the call takes.
    return min(times), statistics.median(times)


torch.set_num_threads(1)
with torch.no_grad():
    for name, call in CALLS.items():
        print(name, "%.2f us at least, %.2f in the median" % us(call))
