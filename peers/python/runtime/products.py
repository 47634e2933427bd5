"""What peers do with a problem, by its operation.

A module of an operation has `operands_of` and `FIXED`: calls that nothing is chosen for, by peer.
One with compiled peers also has `random_operands` and `model_of`.
"""

from ops import grouped
from ops import matmul
from ops import qmm

PRODUCTS = {"matmul": matmul, "qmm": qmm, "grouped-matmul": grouped}


def product_of(problem):
    """The module of the problem's operation."""
    return PRODUCTS[problem.op]
