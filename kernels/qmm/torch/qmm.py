"""GEMMs with quantised weights in PyTorch."""

import torch

from runtime.dequantise import e2m1_table, weights
from runtime.operands import TYPES
from runtime.problem import operator

# Codes of tinygemm are 0 to 15 and stand for -8 to 7.
MIDDLE = 8
# The K of one step of tinygemm's packed weights, and how many steps it can store together. 8 is
# what gpt-fast and torchao take.
STEP_K = 16
INNER_TILES = (8, 4, 2)


def operands_of(problem, inputs):
    """x, codes as bytes, scales, then what weights() takes besides."""
    dtype = TYPES[problem.type]
    x, packed, scales, *biases = inputs
    kind = {"affine": dtype, "nvfp4": torch.float8_e4m3fn}.get(problem.mode, torch.uint8)
    groups = (problem.rows, problem.cols // problem.group)
    table = [] if problem.mode in ("affine", "mxfp8") else [e2m1_table(x.device)]
    return [
        x.view(dtype).view(problem.m, problem.k),
        packed.view(problem.rows, -1),
        scales.view(kind).view(groups),
        *(b.view(dtype).view(groups) for b in biases),
        *table,
    ]


def random_operands(problem):
    """Operands of this shape for choosing and compiling."""

    def bytes_of(count, low, high):
        return torch.randint(low, high, (count,), dtype=torch.uint8, device="cuda")

    def floats(count, unit):
        return (torch.randn(count, device="cuda") * unit).to(TYPES[problem.type]).view(torch.uint8)

    groups = problem.rows * problem.cols // problem.group
    if problem.mode == "affine":
        scales = [floats(groups, 0.01), floats(groups, 0.01)]
    else:
        # E4M3 from 0.5 to 1, E8M0 from 2^-15 to 1.
        scales = [bytes_of(groups, *((48, 56) if problem.mode == "nvfp4" else (112, 128)))]
    # Of 8 bits only half of the codes: E4M3 has a NaN above.
    packed = bytes_of(problem.rows * problem.cols * problem.bits // 8, 0, 120)
    return operands_of(problem, [floats(problem.m * problem.k, 1), packed, *scales])


def product(problem, x, dense):
    """x · Wᵀ or x · W."""
    return torch.mm(x, dense.t() if problem.transposed else dense)


def model_of(_peer, problem, _group):
    """The function that is compiled: weights are brought to 16 bits in it."""
    return lambda x, *stored: product(problem, x, weights(problem, stored).to(x.dtype))


def eager(problem, operands):
    """torch.mm with weights of 16 bits, which are made before."""
    x, *stored = operands
    dense = weights(problem, stored).to(x.dtype)
    return (lambda: product(problem, x, dense)), {}


def int4pack(problem, operands):
    """tinygemm, with weights in its order and the zero points that it adds.

    Its weight is (q - 8) · scale + zero, one multiply-add rounded to bf16, and MLX's is
    q · scale + bias: so zero = bias + 8 · scale, which is rounded to bf16 too.
    """
    x, packed, scales, biases = operands
    convert = operator(torch, "_convert_weight_to_int4pack", ["self", "innerKTiles"])
    multiply = operator(
        torch, "_weight_int4pack_mm", ["self", "mat2", "qGroupSize", "qScaleAndZeros"]
    )
    # The most steps of which K is a multiple.
    inner = next(t for t in INNER_TILES if problem.k % (t * STEP_K) == 0)
    # It has the first code of a byte in the upper half.
    swapped = packed << 4 | packed >> 4
    weight = convert(swapped, inner)
    scale_and_zero = scales_and_zeros(scales, biases)
    return (
        lambda: multiply(x, weight, problem.group, scale_and_zero),
        {"INNER_K_TILES": inner},
    )


def scales_and_zeros(scales, biases):
    """[groups of a row, rows, 2] from scales and biases of MLX, [rows, groups of a row] each."""
    zeros = biases.float() + MIDDLE * scales.float()
    return torch.stack([scales, zeros.to(scales.dtype)], -1).transpose(0, 1).contiguous()


CALLS = {"torch-eager": eager, "torch-int4pack": int4pack}
