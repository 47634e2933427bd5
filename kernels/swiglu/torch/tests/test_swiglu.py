"""Tests of swiglu.py that need torch but no device; run by peers/python_test.ts."""

import unittest

from fixtures import HAS_TORCH, operations
from runtime.problem import Problem

if HAS_TORCH:
    import torch

    module = operations(swiglu="swiglu").load(Problem({"op": "swiglu"}))


@unittest.skipUnless(HAS_TORCH, "needs torch")
class SwigluTest(unittest.TestCase):
    def test_all_peers_are_right(self):
        for kind in (torch.bfloat16, torch.float16):
            torch.manual_seed(3)
            shapes = ((5, 1), (24, 0.25), (24, 0.25))
            stored = [(torch.randn(rows, 64) * unit).to(kind) for rows, unit in shapes]
            name = {torch.bfloat16: "bf16", torch.float16: "f16"}[kind]
            problem = Problem({"op": "swiglu", "m": 5, "n": 24, "k": 64, "type": name})
            inputs = [x.flatten().view(torch.uint8) for x in stored]
            operands = module.operands_of(problem, inputs)
            x, gate, up = (x.double() for x in stored)
            gate, up = x @ gate.t(), x @ up.t()
            right = gate / (1 + torch.exp(-gate)) * up
            calls = [make(problem, operands)[0] for make in module.CALLS.values()]
            model = module.model_of("torch-compiled", problem, ())
            for call in [*calls, lambda: model(*operands)]:
                got = call()
                self.assertEqual(got.dtype, kind)
                torch.testing.assert_close(got.double(), right, rtol=2e-2, atol=1e-2)


if __name__ == "__main__":
    unittest.main()
