"""A product with quantised weights as the harness describes it (kernels/qmm/op.ts); needs no torch."""

# The K of one step of tinygemm's packed weights, and how many steps it can store together. 8 is
# what gpt-fast and torchao take.
STEP_K = 16
INNER_TILES = (8, 4, 2)


class QmmProblem:
    """One shape: sizes, the type of activations and outputs, the weights' format and orientation."""

    op = "qmm"

    def __init__(self, fields):
        self.fields = fields
        self.id = fields["id"]
        self.m, self.n, self.k = fields["m"], fields["n"], fields["k"]
        self.type = fields["type"]
        self.mode, self.bits, self.group = fields["mode"], fields["bits"], fields["group"]
        self.transposed = fields["transposed"]
        # Of the weights as they are stored: groups are along rows.
        self.rows, self.cols = (self.n, self.k) if self.transposed else (self.k, self.n)

    @property
    def text(self):
        """All that decides what is compiled for it."""
        layout = "nt" if self.transposed else "nn"
        form = f"{self.mode} bits={self.bits} group={self.group}"
        return f"qmm {self.type} {layout} m={self.m} n={self.n} k={self.k} {form}"

    @property
    def inner_tiles(self):
        """Steps that are stored together: the most of which K is a multiple."""
        return next(t for t in INNER_TILES if self.k % (t * STEP_K) == 0)
