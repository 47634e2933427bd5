"""Scaled FP8 GEMMs in PyTorch."""

import torch

from runtime.problem import operator


def operands_of(problem, inputs):
    """A[M, K], B[N, K] and their scales: one each, or [M, 1] and [1, N]."""
    a, b, *scales = inputs
    shapes = [(problem.m, 1), (1, problem.n)] if problem.scale == "row" else [(), ()]
    return [
        a.view(torch.float8_e4m3fn).view(problem.m, problem.k),
        b.view(torch.float8_e4m3fn).view(problem.n, problem.k),
        *(scale.view(torch.float32).view(shape) for scale, shape in zip(scales, shapes)),
    ]


def eager(_problem, operands):
    """torch._scaled_mm into bf16; it takes B by columns."""
    a, b, scale_a, scale_b = operands
    multiply = operator(torch, "_scaled_mm", ["self", "mat2", "scale_a", "scale_b"])
    return (lambda: multiply(a, b.t(), scale_a, scale_b, out_dtype=torch.bfloat16)), {}


CALLS = {"torch-eager": eager}
