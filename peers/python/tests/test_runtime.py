"""Tests that need neither torch nor a device; run by peers/python_test.ts."""

import tempfile
import types
import unittest

from fixtures import grouped, operations, problem, quantised
from runtime.driver import is_lowered
from runtime.planning import Choices, choice_key, describe, tasks_of, winner_of
from runtime.problem import Problem, Unsupported, operator
from runtime.stopwatch import PHASES, Stopwatch, phased_median

OPERATIONS = operations(matmul="matmul", qmm="qmm")
configs = OPERATIONS.load(problem(), "plan")


class Clock:
    """A session whose only clock is the work that is queued, in nanoseconds."""

    def __init__(self):
        self.now, self.queued, self.events = 0, [], 0
        self.stream, self.times = 0, {}
        library = types.SimpleNamespace(cuEventRecord=self.record)
        self.driver = types.SimpleNamespace(library=library)

    def record(self, event, _stream):
        self.times[event] = self.now

    def event(self):
        self.events += 1
        return self.events

    def nudge(self):
        return lambda: self.work("nudge", 100)

    def work(self, what, ns):
        self.queued.append(what)
        self.now += ns

    def nanoseconds(self, start, end):
        return self.times[end] - self.times[start]

    def synchronize(self):
        pass


class StopwatchTest(unittest.TestCase):
    def setUp(self):
        self.clock = Clock()
        self.watch = Stopwatch(self.clock)
        self.run_it = lambda: self.clock.work("run", 5000)
        self.flush = lambda: self.clock.work("flush", 10_000)

    def test_flushes_and_nudges_are_outside_of_samples(self):
        samples = self.watch.take(8, self.run_it, self.flush)
        self.assertEqual(samples, [5000] * 8)
        four = ["flush", "run"] * 3 + ["nudge", "flush", "run"]
        self.assertEqual(self.clock.queued, four * 2)

    def test_the_estimate_includes_the_flush(self):
        samples = self.watch.sample(self.run_it, self.flush, 0.5, 1.5)
        self.assertEqual(len(samples), 100)
        # One call, five flushed ones, then 0.5 ms of unflushed ones.
        self.assertEqual(self.clock.queued[11 : 11 + 33], ["run"] * 33)
        self.assertEqual(self.clock.queued[11 + 33], "flush")

    def test_there_are_ten_samples_at_least(self):
        self.assertEqual(len(self.watch.sample(self.run_it, None, 0, 0)), 10)

    def test_the_median_is_that_of_phases(self):
        self.assertEqual(phased_median([3, 1, 2]), 2)
        modes = [12 if i % 4 == 3 else 10 for i in range(4 * PHASES)]
        self.assertEqual(phased_median(modes), (12 * 4 + 10 * 12) / 16)

    def test_the_median_is_plain_where_residues_explain_nothing(self):
        burst = [10 + i % 5 if i < 40 else 900 for i in range(4 * PHASES)]
        self.assertEqual(phased_median(burst), 13.5)
        interrupted = [900 if i % PHASES == 3 else 10 + i % 5 for i in range(4 * PHASES)]
        self.assertEqual(phased_median(interrupted), 12)

    def test_warming_ends_when_windows_agree(self):
        self.watch.warm(lambda: self.clock.work("filler", 1_000_000), most_ms=200)
        self.assertEqual(self.clock.queued, ["filler"] * 9)


class TelemetryTest(unittest.TestCase):
    def test_settings_do_not_lower_clocks(self):
        for throttle in ("", "sync_boost", "sync_boost+applications_clocks_setting"):
            self.assertFalse(is_lowered({"throttle": throttle}), throttle)
        self.assertFalse(is_lowered({}))
        self.assertTrue(is_lowered({"throttle": "sync_boost+sw_power_cap"}))


class ConfigsTest(unittest.TestCase):
    def test_splits_divide_k(self):
        for k in (8192, 12288, 7168):
            for kind in ("tile", "vector"):
                splits = configs.splits_of(kind, 16, 16, k)
                self.assertTrue(all(k % s == 0 for s in splits))
                self.assertEqual(len(splits), len(set(splits)))

    def test_inductor_puts_slices_of_powers_of_two_first(self):
        self.assertEqual(configs.inductor_splits(16, 16, 12288, 4), [3, 6, 12, 24])

    def test_configs_fit(self):
        for m in (1, 16, 64):
            for peer in configs.KINDS:
                p = problem(m=m, n=64)
                found = configs.configs_of(peer, p, 132)
                self.assertTrue(found)
                for (bm, bn, *rest), _split in found:
                    self.assertLessEqual(bm, max(16, m))
                    self.assertLessEqual(configs.shared_bytes((bm, bn, *rest), "bf16"), 227 * 1024)

    def test_only_whole_tiles_are_even(self):
        tile = (16, 16, 128, 8, 4, 4)
        self.assertTrue(configs.is_even(tile, 4, problem()))
        self.assertFalse(configs.is_even(tile, 4, problem(m=17)))
        self.assertFalse(configs.is_even(tile, 3, problem(k=192)))


KINDS = {"torch-compiled": "compile", "torch-dynamic": "dynamic", "triton-decompose-k": "search"}


def planned(cases, problems, known=lambda case: False):
    return tasks_of(cases, problems, known, lambda one: OPERATIONS.load(one, "plan"), 132)


def case(number, peer, problem=0, group=()):
    kind = KINDS.get(peer, "call")
    return {"id": number, "peer": peer, "kind": kind, "problem": problem, "group": list(group)}


class PlanningTest(unittest.TestCase):
    def cases(self, *peers, group=()):
        both = [peer for peer in peers for _ in range(2)]
        return [case(i, peer, i % 2, group) for i, peer in enumerate(both)]

    def plan(self, cases, known=lambda case: False):
        return planned(cases, {0: problem(), 1: problem(k=16384)}, known)

    def test_every_shape_is_compiled_and_eager_is_not(self):
        tasks = self.plan(self.cases("torch-eager", "torch-compiled"))
        self.assertEqual([task["problem"]["k"] for task in tasks], [8192, 16384])

    def test_calls_have_no_tasks(self):
        peers = ("torch-eager", "torch-compiled", "torch-int4pack")
        tasks = planned([case(i, peer) for i, peer in enumerate(peers)], {0: quantised()})
        self.assertEqual([task["peer"] for task in tasks], ["torch-compiled"])
        self.assertEqual(tasks[0]["problem"]["op"], "qmm")
        self.assertEqual(planned([case(0, "torch-grouped-mm")], {0: grouped()}), [])

    def test_a_dynamic_graph_is_compiled_once_and_first(self):
        problems = {0: problem(), 1: problem(m=64, n=16), 2: problem(m=1)}
        cases = self.cases("torch-compiled") + self.cases("torch-dynamic", group=[1, 16, 64])
        tasks = planned(cases, problems)
        names = [task["peer"] for task in tasks]
        self.assertEqual(names, ["torch-dynamic", "torch-compiled", "torch-compiled"])
        alone = case(9, "torch-dynamic", 2, [1, 16, 64])
        tasks = planned([*cases, alone], problems)
        self.assertEqual([task["problem"]["m"] for task in tasks[:2]], [16, 1])

    def test_a_dynamic_choice_is_that_of_its_range(self):
        one = case(0, "torch-dynamic", group=[1, 16, 64])
        ends = [choice_key(one, problem(m=m))[1].m for m in (1, 2, 16, 17, 64)]
        self.assertEqual(ends, [1, 16, 16, 64, 64])
        self.assertEqual(choice_key(case(0, "torch-compiled"), problem(m=2))[1].m, 2)

    def test_binaries_are_compiled_once(self):
        seen = set()
        for task in self.plan(self.cases("triton-decompose-k")):
            binaries = set(configs.binaries_of("triton-decompose-k", Problem(task["problem"]), task["config"]))
            self.assertFalse(binaries <= seen)
            seen |= binaries

    def test_what_is_known_is_left_out(self):
        self.assertEqual(self.plan(self.cases("torch-compiled"), lambda case: True), [])


class ChoicesTest(unittest.TestCase):
    def test_a_choice_is_kept_by_peer_shape_and_group(self):
        with tempfile.TemporaryDirectory() as folder:
            choices = Choices(folder)
            choices.put({"x": 1}, "peer", problem())
            self.assertEqual(Choices(folder).get("peer", problem()), {"x": 1})
            self.assertIsNone(choices.get("other", problem()))
            self.assertIsNone(choices.get("peer", problem().at(64)))
            self.assertIsNone(choices.get("peer", problem(), (16, 64)))
            with open(choices.path("peer", problem()), "w", encoding="utf-8") as file:
                file.write("{")
            self.assertIsNone(choices.get("peer", problem()))


def choice(name, description=""):
    return types.SimpleNamespace(name=name, description=description)


class WinnersTest(unittest.TestCase):
    def test_names_are_told_without_their_numbers(self):
        for name, config in {
            "mm": {"choice": "mm"},
            "decompose_k_mm_32_split_4": {"choice": "decompose_k_mm_32_split", "SPLIT": 32},
            "mm_relu_peer_autotune_decompose_k_relu_k_splits_64_12": {
                "choice": "decompose_k_relu",
                "SPLIT": 64,
            },
            "mm_peer_1_16_256_autotune_range_17_inf_decompose_k_k_splits_8_40": {
                "choice": "decompose_k",
                "SPLIT": 8,
            },
            "mm_peer_autotune_fallback_default": {"choice": "fallback_default"},
        }.items():
            self.assertEqual(describe(choice(name)), config)
        tile = describe(choice("triton_mm_4", "BLOCK_K=128, BLOCK_M=64, num_stages=5"))
        self.assertEqual(tile, {"choice": "triton_mm", "BK": 128, "BM": 64, "STAGES": 5})

    def test_the_range_of_m_decides(self):
        seen = [
            ("mm_peer_1_16_autotune_range_1_1", choice("a_autotune_range_1_1_fallback"), 9),
            ("mm_peer_1_16_autotune_range_2_inf", choice("a_autotune_range_2_inf_x_k_splits_4_1"), 9),
        ]
        self.assertEqual(winner_of(seen, 1), ({"choice": "fallback"}, 18))
        self.assertEqual(winner_of(seen, 16)[0], {"choice": "x", "SPLIT": 4})

    def test_nothing_seen_is_no_winner(self):
        self.assertIsNone(winner_of([], 16))


class ProblemsTest(unittest.TestCase):
    def test_each_operation_tells_apart_what_is_compiled_anew(self):
        problems = [
            problem(),
            problem(m=17),
            problem(epilogue="bias"),
            quantised(),
            quantised(m=2),
            quantised(type="f16"),
            quantised(mode="mxfp4", group=32),
            quantised(bits=8),
            quantised(group=32),
            quantised(transposed=False),
            grouped(),
            grouped(m_major=True),
            grouped(((81, 64, 128),)),
        ]
        self.assertEqual(len({p.text for p in problems}), len(problems))


def torch_with(**operators):
    """A torch that has these operators, with arguments of these names."""
    made = {}
    for name, arguments in operators.items():
        schema = types.SimpleNamespace(arguments=[types.SimpleNamespace(name=a) for a in arguments])
        made[name] = types.SimpleNamespace(default=types.SimpleNamespace(_schema=schema))
    aten = types.SimpleNamespace(**made)
    return types.SimpleNamespace(__version__="9.9", ops=types.SimpleNamespace(aten=aten))


class OperatorsTest(unittest.TestCase):
    def test_an_operator_is_taken_by_the_names_of_its_arguments(self):
        torch = torch_with(mm=["self", "mat2", "bias"])
        self.assertIs(operator(torch, "mm", ["self", "mat2"]), torch.ops.aten.mm.default)

    def test_what_is_missing_is_named(self):
        with self.assertRaisesRegex(Unsupported, r"torch 9\.9 has no aten::mm"):
            operator(torch_with(), "mm", ["self"])

    def test_other_arguments_are_not_called(self):
        for given in (["self", "offs"], ["self"]):
            with self.assertRaisesRegex(Unsupported, r"takes \(self.*\), not \(self, mat2\)"):
                operator(torch_with(mm=given), "mm", ["self", "mat2"])


if __name__ == "__main__":
    unittest.main()
