"""Compiling a peer and keeping what Inductor chose: the same in compile workers and in the measuring process."""

import time

import torch

from runtime.inductor import Ops, compile_peer
from runtime.planning import DYNAMIC, choice_key, graph_key
from runtime.winners import Feedback, winner_of

# Where Inductor had nothing to choose from.
UNTUNED = {"config": {"choice": "untuned"}, "tried": 0, "ms": 0}


class Compiling:
    """Compiles peers of this process, one after another."""

    def __init__(self, choices, lock):
        self.choices, self.lock = choices, lock
        self.feedback = Feedback()
        self.ops = Ops()
        # The one dynamic graph that serves several problems, and which they are.
        self.dynamic = (None, None)

    def call(self, peer, problem, operands, group):
        """A compiled call at `problem`, run once, and what is known of how it was chosen."""
        if peer == DYNAMIC:
            return self.serve(problem, operands, group)
        self.dynamic = (None, None)
        compiled = compile_peer(peer, problem, self.ops)
        return self.run(peer, problem, (compiled, operands))

    def serve(self, problem, operands, group):
        """The same from one graph for every M of `group`, compiled at the first that asks.

        Dynamo makes a size of 1 static, so that M = 1 has a graph of its own.
        """
        static = problem.m == 1
        key = graph_key({"peer": DYNAMIC, "group": group}, problem)
        if self.dynamic[0] != key:
            compiled = compile_peer(DYNAMIC, problem, self.ops, tuple(group))
            with self.feedback.fresh():
                if static:
                    compiled(*operands)
                else:
                    a = operands[0]
                    example = [a.new_empty((group[-1], problem.k)).normal_(), *operands[1:]]
                    torch._dynamo.mark_dynamic(example[0], 0)
                    compiled(*example)
                self.keep_ranges(problem, [1] if static else group, group)
            self.dynamic = (key, compiled)
        compiled = self.dynamic[1]
        compiled(*operands)
        known = self.choices.get(*choice_key({"peer": DYNAMIC, "group": group}, problem)) or UNTUNED
        graph = "static" if static else "dynamic"
        return lambda: compiled(*operands), {**known, "config": {**known["config"], "graph": graph}}

    def keep_ranges(self, problem, sizes, group):
        """What was chosen for each of `sizes`, under the problem that has that M."""
        for m in sizes:
            if m == 1 and len(sizes) > 1:
                continue
            found = winner_of(self.feedback.seen, m)
            if found:
                known = {"config": found[0], "tried": found[1], "ms": 0}
                self.choices.put(known, DYNAMIC, problem.at(m), tuple(group))

    def run(self, peer, problem, call):
        compiled, operands = call
        start, waited = time.monotonic(), self.lock.waited
        with self.feedback.fresh() as feedback:
            compiled(*operands)
            found = winner_of(feedback.seen, problem.m)
        known = self.choices.get(peer, problem)
        if found:
            # Also where a choice is known: this is the one that runs.
            own = time.monotonic() - start - (self.lock.waited - waited)
            known = {"config": found[0], "tried": found[1], "ms": round(1000 * own)}
            self.choices.put(known, peer, problem)
        elif known is None:
            known = UNTUNED
            self.choices.put(known, peer, problem)
        return lambda: compiled(*operands), known
