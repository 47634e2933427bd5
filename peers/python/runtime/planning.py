"""What has to be compiled before a run can measure, as tasks for several processes; needs no torch."""

from ops.configs import binaries_of, configs_of

# Calls for which nothing is chosen and nothing compiled.
FIXED = ("torch-eager", "torch-int4pack", "torch-grouped-mm")
DYNAMIC = "torch-dynamic"
KINDS = {"triton-decompose-k-tile": "tile", "triton-decompose-k": "vector"}


def range_end(m, group):
    """The end of the range of M that `m` is in; a size of 1 has a graph of its own."""
    return 1 if m == 1 else next((end for end in group if end >= m), m)


def choice_key(case, problem):
    """Under what the choice for a case is kept: of a dynamic graph, the one of its range."""
    group = tuple(case["group"])
    return (case["peer"], problem.at(range_end(problem.m, group)), group) if group else (case["peer"], problem)


def graph_key(case, problem):
    """Equal for cases that one compilation serves."""
    group = tuple(case["group"])
    # Dynamo makes a size of 1 static.
    shared = group and problem.m != 1
    return (case["peer"], group, (problem.at(0) if shared else problem).text)


def tasks_of(cases, problems, known, units):
    """What is not in the caches yet: `known` says whether a case's choice is. The longest first."""
    graphs, kernels, seen = [], [], set()
    for case in cases:
        peer, problem = case["peer"], problems[case["problem"]]
        if peer in FIXED or known(case):
            continue
        task = {"peer": peer, "problem": problem.fields, "group": case["group"]}
        if peer not in KINDS:
            key = graph_key(case, problem)
            if key not in seen:
                seen.add(key)
                graphs.append({**task, "config": None})
            continue
        kind = KINDS[peer]
        for config in configs_of(kind, problem, units):
            binaries = set(binaries_of(kind, problem, config))
            if not binaries <= seen:
                seen |= binaries
                kernels.append({**task, "kind": kind, "config": config})
    graphs.sort(key=lambda task: not task["group"])
    return graphs + kernels
