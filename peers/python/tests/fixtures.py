"""Problems, modules of operations, and stored operands for tests."""

import importlib.util
import math
import os

from runtime.problem import Operations, Problem

HAS_TORCH = importlib.util.find_spec("torch") is not None

if HAS_TORCH:
    import torch

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../..")


def operations(**folders):
    """The modules of operations, each in its folder of kernels/."""

    def paths(folder):
        base = os.path.join(ROOT, "kernels", folder, "torch")
        files = {"module": f"{folder}.py", "plan": "configs.py", "search": "decompose.py"}
        return {part: os.path.join(base, file) for part, file in files.items()}

    return Operations({op: paths(folder) for op, folder in folders.items()})


def problem(m=16, n=16, k=8192, **more):
    fields = {"id": 0, "op": "matmul", "m": m, "n": n, "k": k, "type": "bf16", "layout": "nn"}
    fields |= {"lda": k, "ldb": n, "epilogue": "relu", **more}
    bias, relu = fields["epilogue"].startswith("bias"), fields["epilogue"].endswith("relu")
    return Problem({**fields, "bias": bias, "relu": relu})


def quantised(m=1, n=64, k=2048, **more):
    fields = {"id": 0, "op": "qmm", "m": m, "n": n, "k": k, "type": "bf16", "mode": "affine"}
    fields |= {"bits": 4, "group": 64, "transposed": True, **more}
    rows, cols = (n, k) if fields["transposed"] else (k, n)
    return Problem({**fields, "rows": rows, "cols": cols})


def grouped(groups=((80, 64, 128), (1, 64, 128)), m_major=False):
    return Problem({"id": 0, "op": "grouped-matmul", "groups": groups, "m_major": m_major})


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
