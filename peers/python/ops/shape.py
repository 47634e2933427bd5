"""A matrix product as the harness describes it; needs no torch."""


class Problem:
    """One shape: sizes, type, layout, epilogue."""

    op = "matmul"

    def __init__(self, fields):
        self.fields = fields
        self.id = fields["id"]
        self.m, self.n, self.k = fields["m"], fields["n"], fields["k"]
        self.type = fields["type"]
        self.layout = fields["layout"]
        self.lda, self.ldb = fields["lda"], fields["ldb"]
        self.epilogue = fields["epilogue"]
        self.bias = self.epilogue.startswith("bias")
        self.relu = self.epilogue.endswith("relu")

    @property
    def text(self):
        """All that decides what is compiled for it."""
        return (
            f"{self.type} {self.layout} m={self.m} n={self.n} k={self.k}"
            f" lda={self.lda} ldb={self.ldb} {self.epilogue}"
        )

    def at(self, m):
        """The same at another M."""
        return Problem({**self.fields, "m": m})
