"""torch.compile and custom-op autotuning as peers."""

import torch
import torch._inductor.config as inductor
from torch._inductor.kernel.custom_op import CustomOpConfig, register_custom_op_autotuning

from runtime.products import product_of

MODE = "max-autotune-no-cudagraphs"
inductor.autotune_num_choices_displayed = 0
# The limit is on recompilations of one function; each of ours is compiled afresh for each shape.
torch._dynamo.config.recompile_limit = 64


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


class Ops:
    """Custom ops, each made once."""

    def __init__(self):
        self.made = {}

    def get(self, *key):
        if key not in self.made:
            self.made[key] = make_op(*key)
        return self.made[key]


def finish(c, bias, relu):
    """What a custom op at the boundary `mm` leaves to the graph around it."""
    c = c + bias[0] if bias else c
    return torch.relu(c) if relu else c


def model_of(peer, problem, ops, group):
    """What is compiled for `peer`; `group` are the sizes of M that one dynamic graph serves."""
    if peer == "torch-compiled":
        return product_of(problem).model_of(problem)
    if peer == "torch-custom-op-mm":
        op, relu = ops.get("none"), problem.relu
        return lambda a, b, *bias: finish(op(a, b), bias, relu)
    if peer == "torch-custom-op-mm-relu":
        op = ops.get(problem.epilogue)
        return lambda *operands: op(*operands)
    op = ops.get(problem.epilogue, tuple(group[:-1]), group[-1])
    return lambda *operands: op(*operands)


def compile_peer(peer, problem, ops, group=()):
    """The peer's compiled call; everything compiled before is forgotten."""
    torch._dynamo.reset()
    model = model_of(peer, problem, ops, group)
    dynamic = None if group and problem.m != 1 else False
    return torch.compile(model, mode=MODE, fullgraph=True, dynamic=dynamic)
