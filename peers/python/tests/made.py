"""Problems for tests that need no torch."""

from runtime.problems import problem_of


def problem(m=16, n=16, k=8192, **more):
    fields = {"id": 0, "op": "matmul", "m": m, "n": n, "k": k, "type": "bf16", "layout": "nn"}
    return problem_of({**fields, "lda": k, "ldb": n, "epilogue": "relu", **more})


def quantised(k=2048, **more):
    fields = {"id": 0, "op": "qmm", "m": 1, "n": 64, "k": k, "type": "bf16", "mode": "affine"}
    return problem_of({**fields, "bits": 4, "group": 64, "transposed": True, **more})


def grouped(groups=((80, 64, 128), (1, 64, 128)), m_major=False):
    return problem_of({"id": 0, "op": "grouped-matmul", "groups": groups, "m_major": m_major})
