"""A list of NVFP4 products as the harness describes it (kernels/grouped/op.ts); needs no torch."""


class GroupedProblem:
    """The sizes of each product that has rows, and whether results are stored M-major."""

    op = "grouped-matmul"

    def __init__(self, fields):
        self.fields = fields
        self.id = fields["id"]
        self.groups = [tuple(sizes) for sizes in fields["groups"]]
        self.m_major = fields["m_major"]
        self.m = sum(m for m, _, _ in self.groups)

    @property
    def text(self):
        """All that decides what is compiled for it."""
        sizes = " ".join("x".join(map(str, sizes)) for sizes in self.groups)
        return f"grouped {'m-major' if self.m_major else 'n-major'} {sizes}"
