"""Keeps the choices of earlier runs and plans the compilations that this run needs; needs no torch."""

import hashlib
import json
import os
import tempfile


class Choices:
    """The config that was chosen for each peer and shape: a folder with one file for each."""

    def __init__(self, folder):
        self.folder = folder
        os.makedirs(folder, exist_ok=True)

    def path(self, peer, problem, extra=""):
        text = "\n".join([peer, problem.text, str(extra)])
        return os.path.join(self.folder, hashlib.sha256(text.encode()).hexdigest()[:20] + ".json")

    def get(self, *key):
        """The value that was put, or None; a damaged file counts as none."""
        try:
            with open(self.path(*key), encoding="utf-8") as file:
                return json.load(file)
        except (FileNotFoundError, ValueError):
            return None

    def put(self, value, *key):
        # Renamed into place: several processes write here.
        with tempfile.NamedTemporaryFile(
            "w", dir=self.folder, suffix=".new", delete=False, encoding="utf-8"
        ) as file:
            json.dump(value, file)
        os.replace(file.name, self.path(*key))


def range_end(m, group):
    """The end of the range of M that `m` is in; a size of 1 has a graph of its own."""
    return 1 if m == 1 else next((end for end in group if end >= m), m)


def choice_key(case, problem):
    """The key of the choice for a case: for a dynamic graph, the key of its range."""
    group = tuple(case["group"])
    return (case["peer"], problem.at(range_end(problem.m, group)), group) if group else (case["peer"], problem)


def graph_key(case, problem):
    """Equal for cases that one compilation serves."""
    group = tuple(case["group"])
    # Dynamo makes a size of 1 static.
    shared = group and problem.m != 1
    return (case["peer"], group, (problem.at(0) if shared else problem).text)


def tasks_of(cases, problems, known, plan_of, units):
    """The compilations that the caches lack, the longest first.

    `known` says whether a case's choice is there; `plan_of` gives the plan of a problem's operation.
    """
    graphs, kernels, seen = [], [], set()
    for case in cases:
        problem = problems[case["problem"]]
        if case["kind"] == "call" or known(case):
            continue
        task = {**case, "problem": problem.fields, "config": None}
        if case["kind"] != "search":
            key = graph_key(case, problem)
            if key not in seen:
                seen.add(key)
                graphs.append(task)
            continue
        plan = plan_of(problem)
        for config in plan.configs_of(case["peer"], problem, units):
            binaries = set(plan.binaries_of(case["peer"], problem, config))
            if not binaries <= seen:
                seen |= binaries
                kernels.append({**task, "config": config})
    graphs.sort(key=lambda task: not task["group"])
    return graphs + kernels
