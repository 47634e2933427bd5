"""Compiles a peer and keeps what Inductor chose: the same in compiling processes and in the measuring one."""

import time

import torch
import torch._inductor.config as inductor

from runtime.planning import Feedback, choice_key, graph_key, winner_of

MODE = "max-autotune-no-cudagraphs"
inductor.autotune_num_choices_displayed = 0
# The limit is on recompilations of one function; each of ours is compiled afresh for each shape.
torch._dynamo.config.recompile_limit = 64
# Where Inductor had nothing to choose from.
UNTUNED = {"config": {"choice": "untuned"}, "tried": 0, "ms": 0}


class Compiling:
    """Compiles peers of this process, one after another."""

    def __init__(self, choices, lock, operations):
        self.choices, self.lock, self.operations = choices, lock, operations
        self.feedback = Feedback()
        # The one dynamic graph that serves several problems, and which they are.
        self.dynamic = (None, None)

    def call(self, case, problem, operands):
        """A compiled call at `problem`, run once, and what is known of how it was chosen."""
        if case["kind"] == "dynamic":
            return self.serve(case, problem, operands)
        self.dynamic = (None, None)
        return self.run(case["peer"], problem, (self.compiled(case, problem), operands))

    def compiled(self, case, problem):
        """The peer's compiled function; everything compiled before is forgotten."""
        torch._dynamo.reset()
        group = tuple(case["group"])
        model = self.operations.load(problem).model_of(case["peer"], problem, group)
        dynamic = None if group and problem.m != 1 else False
        return torch.compile(model, mode=MODE, fullgraph=True, dynamic=dynamic)

    def serve(self, case, problem, operands):
        """The same from one graph for every M of the case's group, compiled at the first that asks.

        Dynamo makes a size of 1 static, so that M = 1 has a graph of its own.
        """
        static = problem.m == 1
        key = graph_key(case, problem)
        if self.dynamic[0] != key:
            compiled = self.compiled(case, problem)
            with self.feedback.fresh():
                if static:
                    compiled(*operands)
                else:
                    a = operands[0]
                    example = [a.new_empty((case["group"][-1], problem.k)).normal_(), *operands[1:]]
                    torch._dynamo.mark_dynamic(example[0], 0)
                    compiled(*example)
                self.keep_ranges(case, problem, [1] if static else case["group"])
            self.dynamic = (key, compiled)
        compiled = self.dynamic[1]
        compiled(*operands)
        known = self.choices.get(*choice_key(case, problem)) or UNTUNED
        graph = "static" if static else "dynamic"
        return lambda: compiled(*operands), {**known, "config": {**known["config"], "graph": graph}}

    def keep_ranges(self, case, problem, sizes):
        """Keeps the choice for each of `sizes`, under the problem that has that M."""
        for m in sizes:
            if m == 1 and len(sizes) > 1:
                continue
            found = winner_of(self.feedback.seen, m)
            if found:
                known = {"config": found[0], "tried": found[1], "ms": 0}
                self.choices.put(known, case["peer"], problem.at(m), tuple(case["group"]))

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
