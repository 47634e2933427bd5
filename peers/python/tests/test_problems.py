"""Problems, and operators that may be missing: `python3 -m unittest` in this folder."""

import os
import sys
import types
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from made import grouped, problem, quantised
from runtime.operators import Unsupported, operator


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

    def test_weights_are_stored_with_groups_along_rows(self):
        self.assertEqual((quantised().rows, quantised().cols), (64, 2048))
        stored = quantised(transposed=False)
        self.assertEqual((stored.rows, stored.cols), (2048, 64))

    def test_steps_that_are_packed_together_divide_k(self):
        tiles = [quantised(k=k).inner_tiles for k in (2048, 192, 96)]
        self.assertEqual(tiles, [8, 4, 2])


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
