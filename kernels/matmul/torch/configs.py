"""Lists the configs of the Triton decompose-K that are worth a try at a shape; needs no torch."""

# The two renderings of the sum, by peer.
KINDS = {"triton-decompose-k-tile": "tile", "triton-decompose-k": "vector"}

GROUP_M = 8
# BM, BN, BK, GROUP_M, warps, stages: the lists of the decompose-k measurements that are compared with.
BASELINE_TILES = [
    (16, 16, 128, 8, 4, 4), (16, 32, 128, 8, 4, 4), (16, 32, 256, 8, 4, 4), (16, 64, 64, 8, 4, 4),
    (32, 16, 128, 8, 4, 4), (32, 16, 256, 8, 4, 4), (32, 32, 128, 8, 4, 4), (16, 128, 64, 8, 4, 4),
    (32, 64, 64, 8, 4, 4), (32, 128, 64, 8, 4, 4), (32, 128, 128, 8, 4, 4), (64, 64, 64, 4, 4, 4),
]  # fmt: skip
SMALL_TILES = [
    (16, 16, 32, 1, 4), (16, 16, 64, 2, 4), (16, 16, 64, 4, 4), (16, 16, 64, 1, 5),
    (16, 16, 128, 2, 4), (16, 16, 128, 4, 4), (16, 16, 128, 1, 4), (16, 16, 128, 1, 5),
    (16, 32, 64, 1, 5), (16, 32, 128, 1, 4), (32, 16, 64, 1, 5), (32, 16, 128, 1, 4),
    (32, 32, 64, 2, 4), (32, 32, 128, 2, 4),
]  # fmt: skip
LARGE_TILES = [
    (64, 32, 32, 4, 5), (64, 32, 64, 4, 5), (64, 32, 128, 4, 5), (32, 64, 32, 4, 5),
    (32, 64, 64, 4, 5), (32, 64, 128, 4, 5), (64, 64, 32, 4, 3), (64, 64, 32, 4, 4),
    (64, 64, 64, 4, 3), (64, 64, 128, 4, 4), (64, 64, 128, 4, 5), (64, 64, 64, 8, 5),
    (64, 64, 128, 8, 4),
]  # fmt: skip
TILES = {
    "tile": BASELINE_TILES,
    "vector": [(bm, bn, bk, GROUP_M, w, s) for bm, bn, bk, w, s in SMALL_TILES + LARGE_TILES],
}
SPLIT_LIMIT = {"tile": 10, "vector": 16}
SHARED_BYTES = 227 * 1024
BYTES = {"bf16": 2, "f16": 2, "f32": 4}


def power_of_two(x):
    return x & (x - 1) == 0


def next_power_of_two(x):
    return 1 << (x - 1).bit_length()


def inductor_splits(m, n, k, limit):
    """Divisors of K as Inductor's get_k_splits orders them: slices of powers of two first."""
    most = max(2, min(k // m, k // n))
    splits = [s for s in range(2, most + 1) if k % s == 0 and k // s >= 128]

    def rank(s):
        return 0 if power_of_two(k // s) else 1 if k // s % 32 == 0 else 2

    return sorted(splits, key=rank)[:limit]


def splits_of(kind, m, n, k):
    """Split counts to try; each divides K."""
    listed = inductor_splits(m, n, k, SPLIT_LIMIT[kind])
    if kind == "tile":
        return listed
    powers = [2**e for e in range(1, 9)]
    own = [s for s in powers if s <= min(k // m, k // n) and k % s == 0 and k // s >= 16]
    return list(dict.fromkeys(own + listed))


def shared_bytes(tile, type_name):
    """Bytes of shared memory that the stages of a tile take."""
    bm, bn, bk, _, _, stages = tile
    return (bm * bk + bk * bn) * BYTES[type_name] * stages


def tiles_of(kind, m, n, type_name):
    """Tiles that fit in shared memory and do not stick out of the output for nothing."""

    def useful(edge, size):
        return edge <= max(16, next_power_of_two(size))

    return [
        tile
        for tile in TILES[kind]
        if useful(tile[0], m) and useful(tile[1], n) and shared_bytes(tile, type_name) <= SHARED_BYTES
    ]


def configs_of(peer, problem, units):
    """Pairs of tile and split count; those that leave almost all units idle, or fill them many times, are left out."""
    kind = KINDS[peer]
    m, n, k = problem.m, problem.n, problem.k
    pairs = [
        (tile, split)
        for tile in tiles_of(kind, m, n, problem.type)
        for split in splits_of(kind, m, n, k)
    ]

    def programs(pair):
        (bm, bn, *_), split = pair
        return -(-m // bm) * -(-n // bn) * split

    kept = [pair for pair in pairs if units // 8 <= programs(pair) <= 16 * units]
    return kept or pairs


def is_even(tile, split, problem):
    """True if no load needs a mask."""
    bm, bn, bk, *_ = tile
    return problem.m % bm == 0 and problem.n % bn == 0 and problem.k // split % bk == 0


def xblock_of(split):
    """Fewer elements a program, the more slices each has."""
    return 32 if split <= 64 else 16 if split <= 128 else 8


def binaries_of(peer, problem, config):
    """The binaries of a config: equal for configs that share them."""
    kind = KINDS[peer]
    tile, split = config
    # Triton compiles anew for sizes of 1 and for those that 16 does not divide.
    sizes = (problem.m, problem.n, problem.k // split)
    odd = (problem.type, *(size == 1 for size in sizes), *(size % 16 == 0 for size in sizes))
    yield ("partial", tile, is_even(tile, split, problem), problem.layout, *odd)
    shape = tile[:2] if kind == "tile" else (xblock_of(split), next_power_of_two(split))
    yield (kind, shape, problem.epilogue, *odd)
