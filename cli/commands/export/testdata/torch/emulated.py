"""Runs the PyTorch operator of an export on the emulated driver: FOLDER of the export, driver's path."""

import ctypes
import pathlib
import sys

import torch
from torch.utils import cpp_extension

folder, library = sys.argv[1:]
here = pathlib.Path(__file__).resolve().parent
build = cpp_extension.load


def load(name, sources, extra_include_paths, **cuda):
    flags = ["-O1", "-DMNK_TORCH_KEY=CPU", f'-DMNK_CUDA_LIBRARY=\\"{library}\\"']
    paths = [str(here), *extra_include_paths]
    return build(name, sources, extra_include_paths=paths, extra_cflags=flags, build_directory=folder)


cpp_extension.load = load
sys.path.insert(0, folder)
import mnk_matmul

cuda = ctypes.CDLL(library)


def device(tensor):
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


def numbers(rows, columns, dtype):
    return torch.randint(-2, 3, (rows, columns)).to(dtype)


def refused(words, *arguments, **more):
    try:
        mnk_matmul.matmul(*arguments, **more)
    except (RuntimeError, TypeError) as error:
        assert words in str(error), error
        return
    raise AssertionError(f"not refused: {words}")


cuda.cuInit(0)
cuda.cuCtxSetCurrent(ctypes.c_uint64(77))
torch.manual_seed(1)
for shape in mnk_matmul.shapes():
    n, k, dtype, epilogue = shape["n"], shape["k"], shape["type"], shape["epilogue"]
    for m in {shape["m_from"], shape["m_to"]}:
        a = numbers(m, k, dtype)
        b = numbers(n, k, dtype).t() if shape["layout"] == "nt" else numbers(k, n, dtype)
        bias = numbers(1, n, dtype)[0] if "bias" in epilogue else None
        relu = "relu" in epilogue
        right = a.double() @ b.double() + (0 if bias is None else bias.double())
        right = (right.relu() if relu else right).to(dtype)
        with torch.no_grad():
            operands = [device(a), device(b), None if bias is None else device(bias), relu]
            assert torch.equal(mnk_matmul.matmul(*operands), right), shape
            assert torch.equal(torch.ops.mnk.matmul(*operands), right), shape
            compiled = torch.compile(mnk_matmul.matmul, fullgraph=True, backend="aot_eager")
            assert torch.equal(compiled(*operands), right), shape
        print("ok", shape, m)
torch.library.opcheck(mnk_matmul._operator, tuple(operands), test_utils=("test_schema", "test_faketensor"))
a, b, *rest = operands
refused("no exported kernel has this shape", a[:, :-8], b[:-8], *rest[:0])
refused("is no product", a, a)
refused("multiple of 16 bytes", device(torch.empty(a.numel() + 1, dtype=a.dtype))[1:].view(a.shape), b, *rest)
refused("no gradient", a.clone().requires_grad_(), b, *rest)
refused("different types", a, b.to(torch.float64), *rest)
refused("give two tensors", a, 1)
print("0 failures")
