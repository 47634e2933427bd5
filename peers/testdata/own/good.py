import torch


def writes(A, B, C):
    return lambda: torch.mm(A, B, out=C)


def returns(a, b, m, epilogue):
    assert (m, epilogue) == (4, "none")

    def call():
        return a @ b

    call.config = {"BM": 64}
    return call


def itself(a, b):
    return torch.mm(a, b)


def _hidden(a, b):
    return a @ b
