"""Two-kernel decompose-K in Triton: a product for each slice of K, then a sum with the epilogue.

The sum comes in two renderings: a program for each tile that walks the slices one by one, and a
program for a few elements that loads all slices at once and folds them as a vector.
"""

import triton
import triton.language as tl


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
