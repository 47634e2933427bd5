"""Problems by their operation; needs no torch."""

from grouped_shape import GroupedProblem
from qmm_shape import QmmProblem
from shape import Problem

KINDS = {kind.op: kind for kind in (Problem, QmmProblem, GroupedProblem)}


def problem_of(fields):
    """The problem that the harness described with `fields`."""
    return KINDS[fields["op"]](fields)
