"""Decompose-K in Triton: two kernels, how a config of them is run, and how the best one is found.

The first kernel multiplies each slice of K. The second sums the slices and applies the epilogue, in
one of two renderings: a program for each tile that walks the slices one by one, or a program for a
few elements that loads all slices at once and folds them as a vector.
"""

import time

import torch
import triton
import triton.language as tl

from runtime.gpu import Captured
from runtime.operands import TYPES, poison

from .configs import KINDS, configs_of, is_even, next_power_of_two, xblock_of
from .matmul import random_operands

# Rounds of a search: samples of each config, and how many go on to the next round.
ROUNDS = [(5, 16), (16, 4), (48, 1)]


@triton.jit
def partial_product(
    a, b, partial, M, N, depth, stride_am, stride_ak, stride_bk, stride_bn,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP_M: tl.constexpr,
    EVEN: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    """partial[s] = A[:, slice s] · B[slice s, :] in fp32; a program for each tile and slice."""
    tile, part = tl.program_id(0), tl.program_id(1)
    tiles_m, tiles_n = tl.cdiv(M, BM), tl.cdiv(N, BN)
    # Tiles that share rows of B run near each other.
    in_group = GROUP_M * tiles_n
    first = tile // in_group * GROUP_M
    height = min(tiles_m - first, GROUP_M)
    rows = (first + tile % in_group % height) * BM + tl.arange(0, BM)
    cols = tile % in_group // height * BN + tl.arange(0, BN)
    ks = tl.arange(0, BK)
    a_at = a + rows[:, None] * stride_am + (part * depth + ks)[None, :] * stride_ak
    b_at = b + (part * depth + ks)[:, None] * stride_bk + cols[None, :] * stride_bn
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, depth, BK):
        if EVEN:
            x, y = tl.load(a_at), tl.load(b_at)
        else:
            inside = ks < depth - k
            x = tl.load(a_at, mask=(rows < M)[:, None] & inside[None, :], other=0.0)
            y = tl.load(b_at, mask=inside[:, None] & (cols < N)[None, :], other=0.0)
        total = tl.dot(x, y, total, input_precision=PRECISION)
        a_at += BK * stride_ak
        b_at += BK * stride_bk
    to = partial + part * M * N + rows[:, None] * N + cols[None, :]
    if EVEN:
        tl.store(to, total)
    else:
        tl.store(to, total, mask=(rows < M)[:, None] & (cols < N)[None, :])


@triton.jit
def sum_tile(
    partial, bias, out, M, N, splits,
    BM: tl.constexpr, BN: tl.constexpr, BIAS: tl.constexpr, RELU: tl.constexpr,
):  # fmt: skip
    """out = epilogue(sum of the slices): a program for each tile, slice after slice."""
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    cols = tl.program_id(1) * BN + tl.arange(0, BN)
    inside = (rows < M)[:, None] & (cols < N)[None, :]
    at = rows[:, None] * N + cols[None, :]
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for part in range(splits):
        total += tl.load(partial + part * M * N + at, mask=inside, other=0.0)
    if BIAS:
        total += tl.load(bias + cols, mask=cols < N, other=0.0).to(tl.float32)[None, :]
    if RELU:
        total = tl.maximum(total, 0.0)
    tl.store(out + at, total.to(out.dtype.element_ty), mask=inside)


@triton.jit
def sum_vector(
    partial, bias, out, MN, N, splits,
    XBLOCK: tl.constexpr, RBLOCK: tl.constexpr, BIAS: tl.constexpr, RELU: tl.constexpr,
):  # fmt: skip
    """out = epilogue(sum of the slices): a program for XBLOCK elements, all slices at once."""
    at = tl.program_id(0) * XBLOCK + tl.arange(0, XBLOCK)
    parts = tl.arange(0, RBLOCK)
    inside = (at < MN)[:, None] & (parts < splits)[None, :]
    values = tl.load(partial + parts[None, :] * MN + at[:, None], mask=inside, other=0.0)
    total = tl.sum(values, axis=1)
    if BIAS:
        total += tl.load(bias + at % N, mask=at < MN, other=0.0).to(tl.float32)
    if RELU:
        total = tl.maximum(total, 0.0)
    tl.store(out + at, total.to(out.dtype.element_ty), mask=at < MN)


class Decomposed:
    """One config at one problem, with its workspace and output."""

    def __init__(self, peer, problem, operands, config):
        self.kind, self.problem, self.operands = KINDS[peer], problem, operands
        self.config = config
        self.tile, self.split = tuple(config[0]), config[1]
        m, n = problem.m, problem.n
        self.partial = torch.empty(self.split * m * n, dtype=torch.float32, device="cuda")
        self.out = torch.empty((m, n), dtype=TYPES[problem.type], device="cuda")
        poison(self.partial)
        poison(self.out)

    def __call__(self):
        p, (a, b, *rest) = self.problem, self.operands
        bm, bn, bk, group, warps, stages = self.tile
        tiles_m, tiles_n = -(-p.m // bm), -(-p.n // bn)
        partial_product[(tiles_m * tiles_n, self.split)](
            a, b, self.partial, p.m, p.n, p.k // self.split, *a.stride(), *b.stride(),
            BM=bm, BN=bn, BK=bk, GROUP_M=group, EVEN=is_even(self.tile, self.split, p),
            PRECISION="ieee", num_warps=warps, num_stages=stages,
        )  # fmt: skip
        flags = {"BIAS": p.bias, "RELU": p.relu, "num_stages": 3}
        bias = rest[0] if rest else self.out
        if self.kind == "tile":
            sum_tile[(tiles_m, tiles_n)](
                self.partial, bias, self.out, p.m, p.n, self.split,
                BM=bm, BN=bn, num_warps=min(warps, 4), **flags,
            )  # fmt: skip
        else:
            x = xblock_of(self.split)
            sum_vector[(-(-p.m * p.n // x),)](
                self.partial, bias, self.out, p.m * p.n, p.n, self.split,
                XBLOCK=x, RBLOCK=next_power_of_two(self.split), num_warps=1, **flags,
            )  # fmt: skip
        return self.out

    @property
    def text(self):
        """The config as the row has it."""
        bm, bn, bk, _, warps, stages = self.tile
        tile = {"BM": bm, "BN": bn, "BK": bk, "WARPS": warps, "STAGES": stages}
        return {**tile, "SPLIT": self.split}


def candidate(peer, problem, operands, config):
    """The call that a config makes."""
    return Decomposed(peer, problem, operands, config)


def compile_config(peer, problem, config):
    """Launches a config once, so that it is in Triton's cache."""
    Decomposed(peer, problem, random_operands(problem), config)()
    torch.cuda.synchronize()


def search(peer, problem, operands, rig):
    """Finds the fastest config: replayed cold like a sample, the slower ones dropped round by round.

    Returns its call, the number of configs, and the milliseconds that the search took.
    """
    start = time.monotonic()
    configs = configs_of(peer, problem, rig.units)
    left, first_error = [], None
    for config in configs:
        try:
            one = Decomposed(peer, problem, operands, config)
            one()
            left.append((one, Captured(rig.stream, one)))
        except Exception as error:
            first_error = first_error or error
    if not left:
        raise RuntimeError(
            f"no decompose-K config of {len(configs)} runs at {problem.text}; the first failure: {first_error}"
        )
    for samples, keep in ROUNDS:
        timed = [(rig.median(samples, captured.replay), i) for i, (_, captured) in enumerate(left)]
        left = [left[i] for _, i in sorted(timed)[:keep]]
    return left[0][0], len(configs), round(1000 * (time.monotonic() - start))
