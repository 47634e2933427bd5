"""The operands of a product on the device, and the bytes that go in and out."""

import torch

TYPES = {"bf16": torch.bfloat16, "f16": torch.float16, "f32": torch.float32}


def view(problem, storages):
    """The operands A[M,K], B[K,N] and, where there is one, bias[N], over flat storages."""
    m, n, k = problem.m, problem.n, problem.k
    a = storages[0].as_strided((m, k), (problem.lda, 1))
    b = storages[1].as_strided((k, n), (problem.ldb, 1) if problem.layout == "nn" else (1, problem.ldb))
    return [a, b, *(s.as_strided((n,), (1,)) for s in storages[2:])]


def random_operands(problem):
    """Operands of this shape for choosing and compiling."""
    rows = problem.k if problem.layout == "nn" else problem.n
    sizes = [problem.m * problem.lda, rows * problem.ldb, *([problem.n] if problem.bias else [])]
    dtype = TYPES[problem.type]
    return view(problem, [torch.randn(size, device="cuda").to(dtype) for size in sizes])


class Loaded:
    """A problem with the harness's own inputs on the device."""

    def __init__(self, problem, paths):
        self.problem = problem
        self.storages = []
        for path in paths:
            with open(path, "rb") as file:
                raw = torch.frombuffer(bytearray(file.read()), dtype=torch.uint8)
            self.storages.append(raw.cuda().view(TYPES[problem.type]))
        self.before = [s.view(torch.uint8).clone() for s in self.storages]
        self.operands = view(problem, self.storages)

    def changed(self):
        """The number of the first input that is not as it was, or None."""
        for i, (now, before) in enumerate(zip(self.storages, self.before)):
            if not torch.equal(now.view(torch.uint8), before):
                return i
        return None


def poison(tensor):
    """Makes every byte 0xff: NaN in every type."""
    tensor.view(torch.uint8).fill_(0xFF)


def bytes_of(tensor):
    """The stored bytes of `tensor`, row by row."""
    return tensor.contiguous().view(torch.uint8).cpu().numpy().tobytes()
