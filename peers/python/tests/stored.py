"""Random stored operands for tests, beside the numbers that they stand for by definition."""

import importlib.util
import math
import random

HAS_TORCH = importlib.util.find_spec("torch") is not None

if HAS_TORCH:
    import torch

    from ops import qmm
    from runtime.problems import problem_of


def small_float(code, exponent_bits, mantissa_bits, bias):
    """A float of 8 bits or fewer, by its definition."""
    sign = -1 if code >> (exponent_bits + mantissa_bits) else 1
    exponent = code >> mantissa_bits & (1 << exponent_bits) - 1
    fraction = (code & (1 << mantissa_bits) - 1) / (1 << mantissa_bits)
    if exponent == 0:
        return sign * fraction * 2.0 ** (1 - bias)
    return sign * (1 + fraction) * 2.0 ** (exponent - bias)


def e4m3(code):
    return math.nan if code & 127 == 127 else small_float(code, 4, 3, 7)


def pack(codes, bits):
    """Codes as a stream, the least significant bit first: eight take as many bytes as one has bits."""
    parts = (codes[i : i + 8] for i in range(0, len(codes), 8))
    words = (sum(code << (bits * i) for i, code in enumerate(part)) for part in parts)
    return b"".join(word.to_bytes(bits, "little") for word in words)


def tensor(raw):
    return torch.frombuffer(bytearray(raw), dtype=torch.uint8)


def typed(values, name):
    """Values and their bytes, once they are rounded to bf16 or fp16."""
    kind = {"bf16": torch.bfloat16, "f16": torch.float16}[name]
    rounded = torch.tensor(values).to(kind)
    return rounded.double().tolist(), rounded.view(torch.uint8)


class Stored:
    """A random problem of `qmm`: its inputs as bytes, and x and W as numbers."""

    def __init__(self, mode="affine", bits=4, group=32, name="bf16", transposed=True, m=3, n=8, k=128):
        fields = {"id": 0, "op": "qmm", "m": m, "n": n, "k": k, "type": name, "mode": mode}
        fields |= {"bits": bits, "group": group, "transposed": transposed}
        self.problem = p = problem_of(fields)
        rng = random.Random(f"{mode}{bits}{group}")
        # All codes but the NaN of E4M3.
        codes = [rng.randrange(1 << bits) & (0xFE if mode == "mxfp8" else 0xFF) for _ in range(n * k)]
        groups = n * k // group
        x, raw = typed([rng.gauss(0, 1) for _ in range(m * k)], name)
        self.inputs = [raw, tensor(pack(codes, bits))]
        if mode == "affine":
            scales, raw_scales = typed([rng.gauss(0, 0.1) for _ in range(groups)], name)
            biases, raw_biases = typed([rng.gauss(0, 1) for _ in range(groups)], name)
            self.inputs += [raw_scales, raw_biases]
            value = lambda i: scales[i // group] * codes[i] + biases[i // group]
        else:
            raw = bytes(rng.randrange(*((40, 60) if mode == "nvfp4" else (120, 130))) for _ in range(groups))
            self.inputs.append(tensor(raw))
            scale = e4m3 if mode == "nvfp4" else lambda code: 2.0 ** (code - 127)
            element = e4m3 if mode == "mxfp8" else lambda code: small_float(code, 2, 1, 1)
            value = lambda i: scale(raw[i // group]) * element(codes[i])
        self.w = [[value(r * p.cols + c) for c in range(p.cols)] for r in range(p.rows)]
        self.x = [x[i * k : (i + 1) * k] for i in range(m)]

    @property
    def operands(self):
        return qmm.operands_of(self.problem, self.inputs)

    def right(self):
        """x · Wᵀ or x · W in fp64."""
        w = torch.tensor(self.w, dtype=torch.float64)
        return torch.tensor(self.x, dtype=torch.float64) @ (w.t() if self.problem.transposed else w)


def lists(m_major=False, sizes=((3, 40, 64), (17, 40, 64), (1, 40, 64))):
    """A random list of products: the problem, its inputs, and A and B as numbers."""
    rng = random.Random(5)
    inputs, pairs = [], []
    for m, n, k in sizes:
        pair = []
        for rows in (m, n):
            codes = [rng.randrange(16) for _ in range(rows * k)]
            blocked = bytearray(-(-rows // 128) * -(-k // 64) * 512)
            values = []
            for row in range(rows):
                for col in range(k):
                    block = col // 16
                    at = (row // 128 * -(-k // 64) + block // 4) * 512
                    at += row % 32 * 16 + row % 128 // 32 * 4 + block % 4
                    if col % 16 == 0:
                        blocked[at] = rng.randrange(48, 64)
                    values.append(e4m3(blocked[at]) * small_float(codes[row * k + col], 2, 1, 1))
            inputs += [tensor(pack(codes, 4)), tensor(blocked)]
            pair.append(torch.tensor(values, dtype=torch.float64).view(rows, k))
        pairs.append(pair)
    fields = {"id": 0, "op": "grouped-matmul", "groups": [list(s) for s in sizes], "m_major": m_major}
    return problem_of(fields), inputs, pairs
