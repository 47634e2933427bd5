"""Custom ops for the product, which Inductor tunes over split counts.

An op's boundary is the product alone (`none`) or the product with its epilogue. torch keeps the
interface that registers them private.
"""

import functools

import torch
from torch._inductor.kernel.custom_op import CustomOpConfig, register_custom_op_autotuning


def split_sum(a, b, k_splits):
    """A · B as a batched product of slices of K in fp32, and their sum."""
    m, k = a.shape
    x = a.reshape(m, k_splits, k // k_splits).permute(1, 0, 2)
    y = b.reshape(k_splits, k // k_splits, b.shape[1])
    wide = {} if a.dtype == torch.float32 else {"out_dtype": torch.float32}
    return torch.bmm(x, y, **wide).sum(0)


def decompose_k(a, b, k_splits):
    return split_sum(a, b, k_splits).to(a.dtype)


def decompose_k_relu(a, b, k_splits):
    return torch.relu(split_sum(a, b, k_splits)).to(a.dtype)


def decompose_k_bias(a, b, bias, k_splits):
    return (split_sum(a, b, k_splits) + bias).to(a.dtype)


def decompose_k_bias_relu(a, b, bias, k_splits):
    return torch.relu(split_sum(a, b, k_splits) + bias).to(a.dtype)


# `k_splits` is for the decompositions; the op itself is the plain product, the choice to beat.
def mm(a: torch.Tensor, b: torch.Tensor, k_splits: int = 1) -> torch.Tensor:
    return torch.mm(a, b)


def mm_relu(a: torch.Tensor, b: torch.Tensor, k_splits: int = 1) -> torch.Tensor:
    return torch.relu(torch.mm(a, b))


def mm_bias(
    a: torch.Tensor, b: torch.Tensor, bias: torch.Tensor, k_splits: int = 1
) -> torch.Tensor:
    return torch.addmm(bias, a, b)


def mm_bias_relu(
    a: torch.Tensor, b: torch.Tensor, bias: torch.Tensor, k_splits: int = 1
) -> torch.Tensor:
    return torch.relu(torch.addmm(bias, a, b))


BODIES = {
    "none": (mm, decompose_k),
    "relu": (mm_relu, decompose_k_relu),
    "bias": (mm_bias, decompose_k_bias),
    "bias+relu": (mm_bias_relu, decompose_k_bias_relu),
}


@functools.cache
def make_op(boundary, split_points=(), bound=None):
    """A custom op over `boundary`, an epilogue, tuned over split counts; by ranges of M if asked."""
    body, decomposition = BODIES[boundary]
    ranges = "".join(f"_{p}" for p in split_points)
    name = f"{body.__name__}_peer{ranges}{f'_{bound}' if bound else ''}"
    op = torch.library.custom_op(f"mnkbench::{name}", body, mutates_args=())

    def fake(a, b, *rest, k_splits=1):
        return a.new_empty((a.shape[0], b.shape[1]))

    op.register_fake(fake)

    def choices(operands):
        k = operands["a"].shape[1]
        return [
            CustomOpConfig(decomposition, k_splits=2**e) for e in range(1, 9) if k % 2**e == 0
        ]

    by_range = {}
    if split_points:
        by_range = {
            "dispatch_on": {"tensor_name": "a", "dim": 0, "range_upper_bound": bound},
            "split_points": list(split_points),
        }
    register_custom_op_autotuning(op, config_generator=choices, name=f"{name}_autotune", **by_range)
    return op


def finish(c, bias, relu):
    """The epilogue, which an op at the boundary `none` leaves to the graph around it."""
    c = c + bias[0] if bias else c
    return torch.relu(c) if relu else c


def unfused(problem):
    """The product as an op, its epilogue outside."""
    op, relu = make_op("none"), problem.relu
    return lambda a, b, *bias: finish(op(a, b), bias, relu)


def fused(problem):
    """The product and its epilogue as one op."""
    op = make_op(problem.epilogue)
    return lambda *operands: op(*operands)


def dynamic(problem, group):
    """The same op with a choice for each range of M; `group` are the ends of the ranges, ascending."""
    op = make_op(problem.epilogue, group[:-1], group[-1])
    return lambda *operands: op(*operands)
