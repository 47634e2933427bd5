"""Runs the PyTorch operator of an export on the emulated driver: FOLDER of the export, driver's path."""

import sys

import torch

from emulation import driver, exported, in_memory_of, one_refused

folder, library = sys.argv[1:]
mnk_matmul = exported(folder, library)
cuda = driver(library)


def device(tensor):
    return in_memory_of(cuda, tensor)


def refused(words, *arguments):
    one_refused(mnk_matmul.matmul, words, *arguments)


def numbers(rows, columns, dtype):
    return torch.randint(-2, 3, (rows, columns)).to(dtype)


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
            assert torch.equal(mnk_matmul.operator(*operands), right), shape
            compiled = torch.compile(mnk_matmul.matmul, fullgraph=True, backend="aot_eager")
            assert torch.equal(compiled(*operands), right), shape
        print("ok", shape, m)
torch.library.opcheck(mnk_matmul.operator, tuple(operands), test_utils=("test_schema", "test_faketensor"))
a, b, *rest = operands
refused("no exported kernel has this shape", a[:, :-8], b[:-8], *rest[:0])
refused("is no product", a, a)
refused("multiple of 16 bytes", device(torch.empty(a.numel() + 1, dtype=a.dtype))[1:].view(a.shape), b, *rest)
refused("no gradient", a.clone().requires_grad_(), b, *rest)
refused("different types", a, b.to(torch.float64), *rest)
refused("on different devices", a, b.to("meta"), *rest)
refused("give two tensors", a, 1)
print("0 failures")
