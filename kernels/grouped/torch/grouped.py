"""Lists of NVFP4 GEMMs in PyTorch. Operands are decoded to 16 bits before the clock starts."""

import torch

from runtime.dequantise import nvfp4
from runtime.problem import operator


def operands_of(problem, inputs):
    """(A, scales of A, B, scales of B) for each product, as bytes."""
    groups = []
    for i, (m, n, k) in enumerate(problem.groups):
        a, sfa, b, sfb = inputs[4 * i : 4 * i + 4]
        groups.append((a.view(m, k // 2), sfa, b.view(n, k // 2), sfb))
    return groups


def dense(operands, dtype):
    """Pairs of A[m,k] and B[n,k]."""
    return [(nvfp4(a, sfa, dtype), nvfp4(b, sfb, dtype)) for a, sfa, b, sfb in operands]


def eager(problem, operands):
    """torch.mm in fp16, one product after another."""
    pairs = dense(operands, torch.float16)
    if problem.m_major:
        pairs = [(b, a) for a, b in pairs]
    settings = torch.backends.cuda.matmul

    def call():
        # By default sums of slices of K may be rounded to fp16, with errors beyond the tolerance.
        before = settings.allow_fp16_reduced_precision_reduction
        settings.allow_fp16_reduced_precision_reduction = False
        try:
            return [torch.mm(left, right.t()) for left, right in pairs]
        finally:
            settings.allow_fp16_reduced_precision_reduction = before

    return call, {}


def grouped_mm(problem, operands):
    """One call for all products, in bf16: rows of A one below the other, and where each A ends."""
    multiply = operator(torch, "_grouped_mm", ["self", "mat2", "offs"])
    pairs = dense(operands, torch.bfloat16)
    rows = torch.cat([a for a, _ in pairs])
    weights = torch.stack([b for _, b in pairs]).transpose(-2, -1)
    ends = torch.tensor([len(a) for a, _ in pairs]).cumsum(0).to(rows.device, torch.int32)
    return (lambda: multiply(rows, weights, ends)), {}


CALLS = {"torch-eager": eager, "torch-grouped-mm": grouped_mm}
