"""The Triton decompose-K as a peer: how a config is run, and how the best one is found."""

import time

import torch

from runtime.capture import Captured
from ops.configs import configs_of, is_even, next_power_of_two, xblock_of
from ops.kernels import partial_product, sum_tile, sum_vector
from ops.matmul import TYPES, random_operands
from runtime.operands import poison

# Rounds of a search: samples of each config, and how many go on to the next round.
ROUNDS = [(5, 16), (16, 4), (48, 1)]


class Decomposed:
    """One config at one problem, with its workspace and output."""

    def __init__(self, kind, problem, operands, config):
        self.kind, self.problem, self.operands = kind, problem, operands
        self.tile, self.split = config
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


def compile_config(kind, problem, config):
    """Launches a config once, so that it is in Triton's cache."""
    tile, split = config
    Decomposed(kind, problem, random_operands(problem), (tuple(tile), split))()
    torch.cuda.synchronize()


def search(kind, problem, operands, rig):
    """The fastest config: replayed cold like a sample, the slower ones dropped round by round."""
    start = time.monotonic()
    configs = configs_of(kind, problem, rig.units)
    left, first_error = [], None
    for config in configs:
        try:
            candidate = Decomposed(kind, problem, operands, config)
            candidate()
            left.append((candidate, Captured(rig.stream, candidate)))
        except Exception as error:
            first_error = first_error or error
    if not left:
        raise RuntimeError(
            f"no decompose-K config of {len(configs)} runs at {problem.text}; the first failure: {first_error}"
        )
    for samples, keep in ROUNDS:
        timed = [
            (rig.median(samples, captured.replay), i) for i, (_, captured) in enumerate(left)
        ]
        left = [left[i] for _, i in sorted(timed)[:keep]]
    return left[0][0], len(configs), round(1000 * (time.monotonic() - start))
