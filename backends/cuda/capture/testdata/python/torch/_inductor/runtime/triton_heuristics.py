"""The launcher of Inductor's kernels."""

import ctypes

import torch


class CachingAutotuner:
    def __init__(self, fn):
        self.fn = fn

    def run(self, *args, stream):
        torch._cuda.mock_launch(self.fn.__name__.encode(), ctypes.c_uint64(6000))
