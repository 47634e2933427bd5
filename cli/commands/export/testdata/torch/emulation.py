"""Exports on the emulated driver, whose memory tensors of the CPU have."""

import ctypes
import importlib
import os
import pathlib
import sys

import torch
from torch.utils import cpp_extension

_HERE = pathlib.Path(__file__).resolve().parent
_build = cpp_extension.load


def _load(name, sources, extra_include_paths, **cuda):
    key = os.environ.get("MNK_TORCH_KEY", "CPU")
    flags = ["-O1", f"-DMNK_TORCH_KEY={key}", "-DMNK_CUDA_LIBRARY='getenv(\"EMULATED_DRIVER\")'"]
    paths = [str(_HERE), *extra_include_paths]
    folder = str(pathlib.Path(sources[0]).parent)
    # As some machines link: an extension's own C++ library beside PyTorch's.
    libraries = ["-static-libstdc++"]
    return _build(
        name, sources, extra_include_paths=paths, extra_cflags=flags, extra_ldflags=libraries, build_directory=folder
    )  # fmt: skip


def exported(folder, library):
    """Returns the module of the export in `folder`, on the driver `library`."""
    os.environ["EMULATED_DRIVER"] = library
    cpp_extension.load = _load
    # By a name of its own, by which torch.compile finds it too.
    parent, name = pathlib.Path(folder).resolve().parts[-2:]
    sys.path.insert(0, str(pathlib.Path(folder).resolve().parents[1]))
    return importlib.import_module(f"{parent}.{name}.mnk_matmul")


def driver(library):
    """Returns the driver, with a current context."""
    cuda = ctypes.CDLL(library)
    assert cuda.cuInit(0) == 0
    assert cuda.cuCtxSetCurrent(ctypes.c_uint64(77)) == 0
    return cuda


def in_memory_of(cuda, tensor):
    """Returns a copy of `tensor`, as it is stored, in memory of the emulated driver."""
    stored = torch.as_strided(tensor, (tensor.untyped_storage().nbytes() // tensor.element_size(),), (1,), 0)
    at = ctypes.c_uint64()
    assert cuda.cuMemAlloc_v2(ctypes.byref(at), ctypes.c_uint64(stored.nbytes)) == 0
    stream = ctypes.c_void_p()
    assert cuda.cuStreamCreate(ctypes.byref(stream), 1) == 0
    # The emulator knows of what the driver wrote, not of what Python writes.
    assert cuda.cuMemsetD8Async(at, 0, ctypes.c_uint64(stored.nbytes), stream) == 0
    memory = (ctypes.c_char * stored.nbytes).from_address(at.value)
    copy = torch.frombuffer(memory, dtype=tensor.dtype)
    copy.copy_(stored)
    return torch.as_strided(copy, tensor.shape, tensor.stride(), tensor.storage_offset())


def one_refused(call, words, *arguments):
    """Expects that `call` raises an exception that has `words`."""
    try:
        call(*arguments)
    except (RuntimeError, TypeError) as error:
        assert words in str(error), error
        return
    raise AssertionError(f"not refused: {words}")
