"""Runs examples/export/times.py on the emulated driver: FOLDER of the export, driver's path, options of it."""

import importlib.util
import os
import pathlib
import sys

import torch

from emulation import driver, exported, in_memory_of

# A pool of processes takes longer to start than a product to compile.
os.environ.setdefault("TORCHINDUCTOR_COMPILE_THREADS", "1")
folder, library, *options = sys.argv[1:]
sys.modules["mnk_matmul"] = exported(folder, library)
cuda = driver(library)
path = pathlib.Path(__file__).resolve().parents[5] / "examples/export/times.py"
spec = importlib.util.spec_from_file_location("times_of_export", path)
times = importlib.util.module_from_spec(spec)
spec.loader.exec_module(times)


def numbers(rows, columns, ld, dtype, device):
    return in_memory_of(cuda, torch.randn(rows, ld).to(dtype))[:, :columns]


# Tensors of the CPU in memory of the emulator, which takes milliseconds a call.
times.numbers, times.BURST = numbers, 2
sys.argv[1:] = [folder, "--device", "cpu", "--library", library, *options]
times.main()
