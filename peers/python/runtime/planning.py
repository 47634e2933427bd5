"""Keeps the choices of earlier runs, plans the compilations that this run needs, and formats the
choice that Inductor made for the columns of a row; needs no torch."""

import contextlib
import hashlib
import json
import os
import re
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
        if case["kind"] in ("call", "own") or known(case):
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


SHORT = {
    "BLOCK_M": "BM",
    "BLOCK_N": "BN",
    "BLOCK_K": "BK",
    "num_warps": "WARPS",
    "num_stages": "STAGES",
}


class Feedback:
    """The measurements that Inductor reports while it compiles, in their order."""

    def __init__(self):
        from torch._inductor.select_algorithm import add_feedback_saver

        self.seen = []
        add_feedback_saver(self.note)

    def note(self, timings, name, *_):
        finite = {c: t for c, t in (timings or {}).items() if t != float("inf")}
        if finite:
            self.seen.append((name, min(finite, key=finite.get), len(timings)))

    @contextlib.contextmanager
    def fresh(self):
        self.seen.clear()
        yield self


def describe(choice):
    """A choice as columns have it: its name without its number, its split count, its tile."""
    name = re.sub(r"^.*_autotune(_range_\d+_(\d+|inf))?_", "", choice.name)
    told = {}
    for pattern in (r"_(\d+)_split", r"k_splits_(\d+)"):
        found = re.search(pattern, name)
        if found:
            told["SPLIT"] = int(found.group(1))
    name = re.sub(r"(_k_splits_\d+)?(_\d+)?$", "", name)
    tile = dict(re.findall(r"(BLOCK_[MNK]|num_warps|num_stages)=(\d+)", choice.description or ""))
    return {"choice": name, **told, **{SHORT[key]: int(value) for key, value in tile.items()}}


def winner_of(seen, m):
    """The row's config, and how many choices were measured, from what Inductor said."""
    if not seen:
        return None
    tried = sum(count for _, _, count in seen)
    outer = [(name, choice) for name, choice, _ in seen if name in ("mm", "addmm")]
    custom = [(name, choice) for name, choice, _ in seen if "_autotune" in name]
    for name, choice in custom:
        found = re.search(r"_range_(\d+)_(\d+|inf)$", name)
        if found and int(found[1]) <= m and (found[2] == "inf" or m <= int(found[2])):
            custom = [(name, choice)]
            break
    chosen = custom[-1:] or outer[-1:]
    config = describe(chosen[0][1]) if chosen else {"choice": "unknown"}
    inner = [describe(choice)["choice"] for name, choice, _ in seen if name == "bmm"]
    if inner and "SPLIT" in config:
        config["bmm"] = inner[-1]
    return config, tried
