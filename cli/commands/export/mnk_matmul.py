"""The exported kernels as a PyTorch operator.

matmul(a, b, bias=None, relu=False) returns a @ b (+ bias, then ReLU) as a new tensor. `b` may be the
transpose of a stored matrix (`weight.t()`). A shape, type or stride that was not exported raises
RuntimeError; nothing is computed in another way. It has no gradient.

It runs on the current stream, waits for nothing, and takes memory from PyTorch's allocator alone, so
that torch.cuda.graph captures it. Import it, or call load(), before a capture: loading kernels is no
work of a stream. The first import compiles the operator (nvcc's folder must be found by
torch.utils.cpp_extension), later ones find it in PyTorch's cache.

`operator` is the same in torch.ops. Its namespace is of this export alone: a program may have several, each
as a module of its own (`from one import mnk_matmul as first`, where `one` is the folder).

It is C++ and not a Python function that calls by ctypes: that takes the host several times as long.
"""

import hashlib
import pathlib

import torch
from torch.utils import cpp_extension

_FOLDER = pathlib.Path(__file__).resolve().parent


def _build():
    # The name is of the contents: PyTorch finds libraries that it has built by their names.
    sources = [_FOLDER / name for name in ("torch_matmul.cpp", "mnk_matmul.h", "mnk_launch.h")]
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in sources)).hexdigest()
    return cpp_extension.load(
        name=f"mnk_matmul_{digest[:16]}",
        sources=[str(sources[0])],
        extra_include_paths=[str(_FOLDER)],
        extra_cflags=["-O2"],
        # No CUDA source is compiled; without it PyTorch asks for a device, which need not be here.
        extra_cuda_cflags=["-arch=sm_90a"],
        with_cuda=True,
    )


_native = _build()
_native.set_file(str(_FOLDER / "mnk_matmul.bin"))
operator = getattr(torch.ops, _native.__name__).matmul.default
_direct = _native.matmul
_is_traced = torch.compiler.is_dynamo_compiling


def load(device=None):
    """Loads the kernels onto a device, by default the current one."""
    _native.open(torch.cuda.current_device() if device is None else torch.device(device).index)


def shapes():
    """Lists what was exported, a dict for each row: m_from, m_to, n, k and the other axes."""
    names = ("m_from", "m_to", "n", "k", "type", "epilogue", "layout", "lda", "ldb", "ldc")
    values = {
        "type": (None, torch.bfloat16, torch.float16, torch.float32),
        "epilogue": (None, "none", "relu", "bias", "bias+relu"),
        "layout": (None, "nn", "nt"),
    }
    rows = (dict(zip(names, row)) for row in _native.shapes())
    return [{name: values[name][value] if name in values else value for name, value in row.items()} for row in rows]


def matmul(a, b, bias=None, relu=False):
    """Returns a @ b, plus `bias` and through ReLU where they are asked for."""
    # torch.compile sees the operator; plain calls save its Python part.
    if _is_traced():
        return operator(a, b, bias, relu)
    return _direct(a, b, bias, relu)


if torch.cuda.is_available():
    load()
