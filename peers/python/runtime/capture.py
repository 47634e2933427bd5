"""Recorded calls that are replayed as one: what every sample of a peer is."""

import ctypes as c

import torch

RELAXED = 2


class CaptureError(RuntimeError):
    """A call that cannot be recorded. torch's allocator and generator are no longer to be trusted."""


class Captured:
    """`call` recorded on `stream`; `out` is the tensor that each replay writes, in memory of its own."""

    def __init__(self, stream, call):
        self.graph = torch.cuda.CUDAGraph()
        stream.synchronize()
        try:
            self.graph.capture_begin(capture_error_mode="thread_local")
            self.out = call()
            self.graph.capture_end()
        except Exception as error:
            raise CaptureError(f"cannot record the call: {type(error).__name__}: {error}") from error
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
