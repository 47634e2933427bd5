"""Recorded calls, and the device that measuring and compiling processes share: one benchmark at a time."""

import ctypes as c
import fcntl
import statistics
import time

import torch

from runtime.driver import Driver
from runtime.own import OwnError, WrongOutput, said
from runtime.problem import Unsupported

SAMPLES = 25
WARM_FLUSHES = 50
RELAXED = 2


class CaptureError(RuntimeError):
    """A call that cannot be recorded. torch's allocator and generator are no longer to be trusted."""


def failure_of(error, path=None):
    """An exception as a row's status and note; `path` is the user's file that may have raised it."""
    own = isinstance(error, (OwnError, WrongOutput, CaptureError))
    text = " ".join((str(error) if own else said(error, path)).split())[:600]
    if isinstance(error, WrongOutput):
        return {"status": "wrong", "note": text}
    if isinstance(error, torch.cuda.OutOfMemoryError):
        return {"status": "oom", "note": text}
    if isinstance(error, (Unsupported, NotImplementedError)):
        return {"status": "unsupported", "note": text}
    if isinstance(error, CaptureError) or "CUDA error" in text or "cuStreamSynchronize failed" in text:
        return {"status": "launch", "note": text}
    return {"status": "compile", "note": text}


class Captured:
    """`call` recorded on `stream`; `out` is the tensor that each replay writes, in memory of its own."""

    def __init__(self, stream, call):
        self.graph = torch.cuda.CUDAGraph()
        stream.synchronize()
        try:
            self.graph.capture_begin(capture_error_mode="thread_local")
            self.out = call()
            self.graph.capture_end()
        except (Exception, SystemExit) as error:
            raise CaptureError(
                f"cannot record the call in a graph: {said(error)}; it must not allocate"
                " outside of torch, synchronise or read results on the host"
            ) from error
        self.replay = self.graph.replay


class Recorded:
    """`call` recorded behind torch's back, for a few replays before anything else allocates.

    Nothing of torch is changed where it fails, and it takes no memory of its own.
    """

    def __init__(self, driver, stream, call):
        self.driver = driver
        stream = c.c_void_p(stream.cuda_stream)
        driver.call("cuStreamBeginCapture_v2", stream, RELAXED)
        graph = c.c_void_p()
        try:
            call()
        finally:
            # Also ends a capture that the call has spoilt, with a status of its own.
            status = driver.library.cuStreamEndCapture(stream, c.byref(graph))
        if status:
            raise RuntimeError(f"cannot record the call: CUDA status {status}")
        try:
            self.exec = driver.out(c.c_void_p, "cuGraphInstantiateWithFlags", graph, c.c_ulonglong(0))
        finally:
            driver.call("cuGraphDestroy", graph)
        launch = driver.library.cuGraphLaunch
        self.replay = lambda: launch(self.exec, stream)

    def close(self):
        """Frees it."""
        self.driver.call("cuGraphExecDestroy", self.exec)


class GpuLock:
    """A lock between processes; a holder may take it again."""

    def __init__(self, path):
        self.file = open(path, "a+", encoding="utf-8")
        self.depth = 0
        self.waited = self.held = self.since = 0.0

    def __enter__(self):
        if self.depth == 0:
            start = time.monotonic()
            fcntl.flock(self.file, fcntl.LOCK_EX)
            self.since = time.monotonic()
            self.waited += self.since - start
        self.depth += 1

    def __exit__(self, *_):
        self.depth -= 1
        if self.depth == 0:
            self.held += time.monotonic() - self.since
            fcntl.flock(self.file, fcntl.LOCK_UN)


def use_ieee():
    """fp32 is fp32. Part of the key of Inductor's cache, so the same in every process."""
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.set_float32_matmul_precision("highest")


class Replays:
    """Times calls as samples are taken: recorded, cold, one process at a time."""

    def __init__(self, lock, flush_bytes):
        self.lock = lock
        self.buffer = torch.empty(flush_bytes, dtype=torch.uint8, device="cuda")
        self.pairs = [[torch.cuda.Event(enable_timing=True) for _ in range(2)] for _ in range(SAMPLES)]
        self.driver = Driver()
        self.count = self.refused = 0

    def milliseconds(self, call):
        """The median of a few replays of `call`; raises where it cannot be recorded."""
        call()
        recorded = Recorded(self.driver, torch.cuda.current_stream(), call)
        self.count += 1
        with self.lock:
            # Between two benchmarks the clocks may have fallen.
            for _ in range(WARM_FLUSHES):
                self.buffer.zero_()
            for start, end in self.pairs:
                self.buffer.zero_()
                start.record()
                recorded.replay()
                end.record()
            torch.cuda.synchronize()
        recorded.close()
        return statistics.median(start.elapsed_time(end) for start, end in self.pairs)


def replace_benchmark(lock, flush_bytes):
    """Makes Inductor choose by `Replays`, which are returned.

    Its own way issues each call from Python. Where that takes longer than the device needs, and
    it does for products of some microseconds, it compares hosts and not kernels.
    """
    from torch._inductor.runtime.benchmarking import benchmarker

    stock = benchmarker.benchmark_gpu
    replays = Replays(lock, flush_bytes)

    def benchmark(call, *args, **kwargs):
        try:
            return replays.milliseconds(call)
        except RuntimeError as error:
            # What cannot be recorded is timed as Inductor would.
            replays.refused += 1
            print(f"timed by Inductor, as it cannot be recorded: {error}", flush=True)
            with lock:
                torch.cuda.synchronize()
                return stock(call, *args, **kwargs)

    benchmarker.benchmark_gpu = benchmark
    return replays
