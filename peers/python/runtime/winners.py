"""Formats the choice that Inductor made while it compiled for the columns of a row."""

import contextlib
import re

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
