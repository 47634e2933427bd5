"""Decodes stored codes and scales: the formats of bench/formats/ in torch.

All of it can be compiled. Arithmetic is in fp32 and rounded once, at the end.
"""

import torch

# Elements that share a scale of NVFP4, and the tiles in which its scales are blocked.
BLOCK = 16
TILE_ROWS, TILE_COLS, TILE_GROUP = 128, 4, 32
# The magnitudes of E2M1, by their three bits; the fourth is the sign.
E2M1 = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0)


def e2m1_table(device):
    """The values of the sixteen codes."""
    return torch.tensor([*E2M1, *(-x for x in E2M1)], dtype=torch.float32, device=device)


def divides_byte(bits):
    """True if no code of this width lies across two bytes."""
    return 8 % bits == 0


def codes_of(packed, bits):
    """The codes in rows of bytes, the least significant bits first, as integers."""
    if bits == 8:
        return packed
    mask = (1 << bits) - 1
    if divides_byte(bits):
        shifts = torch.arange(0, 8, bits, dtype=torch.uint8, device=packed.device)
        return (packed.unsqueeze(-1) >> shifts & mask).flatten(1)
    # Eight codes are in as many bytes as one has bits.
    parts = packed.view(packed.shape[0], -1, bits).to(torch.int64)
    words = (parts << torch.arange(0, 8 * bits, 8, device=packed.device)).sum(-1)
    shifts = torch.arange(0, 8 * bits, bits, device=packed.device)
    return (words.unsqueeze(-1) >> shifts & mask).flatten(1)


def e8m0(codes):
    """2^(code - 127); the last code is NaN."""
    wide = codes.to(torch.int32)
    # The first would be 0 as the exponent of a float: it is half of the least normal number.
    bits = torch.where(wide == 0, 1 << 22, torch.where(wide == 255, 0x7FC00000, wide << 23))
    return bits.view(torch.float32)


def weights(problem, stored):
    """The weights in the type of the activations, [rows, cols] as they are stored.

    `stored` are codes as bytes, scales and, for affine ones, biases, or else the table of E2M1 for
    4-bit floats.
    """
    packed, scales, *rest = stored
    mode = problem.mode
    if mode == "affine":
        scale, values = scales.float(), codes_of(packed, problem.bits).float()
    else:
        scale = scales.float() if mode == "nvfp4" else e8m0(scales)
        if mode == "mxfp8":
            values = packed.view(torch.float8_e4m3fn).float()
        else:
            values = rest[0][codes_of(packed, 4).int()]
    grouped = values.view(problem.rows, -1, problem.group) * scale.unsqueeze(-1)
    if mode == "affine":
        grouped = grouped + rest[0].float().unsqueeze(-1)
    return grouped.view(problem.rows, problem.cols)


def unblocked(scales, rows, cols):
    """One-byte scales [rows, cols] from the blocked layout of tensor cores (blocked_scales.ts)."""
    below, beside = -(-rows // TILE_ROWS), -(-cols // TILE_COLS)
    stacked = TILE_ROWS // TILE_GROUP
    tiles = scales.view(below, beside, TILE_GROUP, stacked, TILE_COLS)
    plain = tiles.permute(0, 3, 2, 1, 4).reshape(below * TILE_ROWS, beside * TILE_COLS)
    return plain[:rows, :cols]


def nvfp4(packed, scales, dtype):
    """A matrix of codes [rows, k / 2] with blocked scales. Exact in 16 bits: six are significant."""
    rows, half = packed.shape
    groups = 2 * half // BLOCK
    scale = unblocked(scales, rows, groups).contiguous().view(torch.float8_e4m3fn).float()
    values = e2m1_table(packed.device)[codes_of(packed, 4).int()]
    dense = values.view(rows, groups, BLOCK) * scale.unsqueeze(-1)
    return dense.view(rows, 2 * half).to(dtype)
