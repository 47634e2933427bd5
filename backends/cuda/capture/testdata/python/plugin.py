"""Loads a library that is linked to cuBLAS."""

import ctypes

ctypes.CDLL("libcuda.so.1", mode=ctypes.RTLD_LOCAL).cuInit(0)
assert ctypes.CDLL("libplugin.so", mode=ctypes.RTLD_LOCAL).plugin_run(12) == 0
