"""GEMMs of 16- and 32-bit operands in PyTorch."""

import torch

from runtime.operands import TYPES


def view(problem, storages):
    """The operands A[M,K], B[K,N] and, where there is one, bias[N], over flat storages."""
    m, n, k = problem.m, problem.n, problem.k
    a = storages[0].as_strided((m, k), (problem.lda, 1))
    b = storages[1].as_strided((k, n), (problem.ldb, 1) if problem.layout == "nn" else (1, problem.ldb))
    return [a, b, *(s.as_strided((n,), (1,)) for s in storages[2:])]


def operands_of(problem, inputs):
    """The operands over the harness's inputs as bytes."""
    return view(problem, [raw.view(TYPES[problem.type]) for raw in inputs])


def random_operands(problem):
    """Operands of this shape for choosing and compiling."""
    rows = problem.k if problem.layout == "nn" else problem.n
    sizes = [problem.m * problem.lda, rows * problem.ldb, *([problem.n] if problem.bias else [])]
    dtype = TYPES[problem.type]
    return view(problem, [torch.randn(size, device="cuda").to(dtype) for size in sizes])


def plain(problem):
    """The product and its epilogue as PyTorch has them."""
    if problem.bias and problem.relu:
        return lambda a, b, bias: torch.relu(torch.addmm(bias, a, b))
    if problem.bias:
        return lambda a, b, bias: torch.addmm(bias, a, b)
    if problem.relu:
        return lambda a, b: torch.relu(torch.mm(a, b))
    return lambda a, b: torch.mm(a, b)


def eager(problem, operands):
    """mm or addmm, then relu."""
    model = plain(problem)
    return (lambda: model(*operands)), {}


def model_of(peer, problem, group):
    """The function that is compiled for `peer`; `group` are the M that one dynamic graph serves."""
    if peer == "torch-compiled":
        return plain(problem)
    from . import custom_ops

    if peer == "torch-custom-op-mm":
        return custom_ops.unfused(problem)
    if peer == "torch-custom-op-mm-relu":
        return custom_ops.fused(problem)
    return custom_ops.dynamic(problem, group)


CALLS = {"torch-eager": eager}
