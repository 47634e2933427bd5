"""SwiGLU in PyTorch."""

import torch

from runtime.operands import TYPES


def operands_of(problem, inputs):
    """X[M, K], W1[N, K] and W2[N, K]."""
    return [
        raw.view(TYPES[problem.type]).view(rows, problem.k)
        for raw, rows in zip(inputs, (problem.m, problem.n, problem.n))
    ]


def random_operands(problem):
    """Operands of this shape for choosing and compiling."""
    unit = 2 / problem.k**0.5
    return [
        (torch.randn(rows, problem.k, device="cuda") * scale).to(TYPES[problem.type])
        for rows, scale in ((problem.m, 1), (problem.n, unit), (problem.n, unit))
    ]


def product(x, gate, up):
    """silu(x · gateᵀ) * (x · upᵀ)."""
    return torch.nn.functional.silu(torch.mm(x, gate.t())) * torch.mm(x, up.t())


def model_of(_peer, _problem, _group):
    """The function that is compiled."""
    return product


def eager(_problem, operands):
    """Two mm, silu and a multiplication."""
    return (lambda: product(*operands)), {}


def merged(problem, operands):
    """One mm of [W1; W2], as serving engines store them, silu and a multiplication."""
    x, gate, up = operands
    weights = torch.cat([gate, up]).t()

    def call():
        both = torch.mm(x, weights)
        return torch.nn.functional.silu(both[:, : problem.n]) * both[:, problem.n :]

    return call, {}


CALLS = {"torch-eager": eager, "torch-merged": merged}
