"""Problems by their operation; needs no torch."""

from ops.grouped_shape import GroupedProblem
from ops.qmm_shape import QmmProblem
from ops.shape import Problem

KINDS = {kind.op: kind for kind in (Problem, QmmProblem, GroupedProblem)}


def problem_of(fields):
    """The problem that the harness described with `fields`."""
    return KINDS[fields["op"]](fields)
