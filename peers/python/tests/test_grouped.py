"""What of grouped products needs torch but no device: `python3 -m unittest` in this folder."""

import os
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from stored import HAS_TORCH, lists

if HAS_TORCH:
    import torch

    from ops import grouped
    from runtime.operators import Unsupported


@unittest.skipUnless(HAS_TORCH, "needs torch")
class GroupedTest(unittest.TestCase):
    def test_operands_of_16_bits_are_exact(self):
        problem, inputs, pairs = lists()
        for dtype in (torch.float16, torch.bfloat16):
            for got, want in zip(grouped.dense(grouped.operands_of(problem, inputs), dtype), pairs):
                self.assertTrue(all(torch.equal(g.double(), w) for g, w in zip(got, want)))

    def test_eager_is_right_in_both_layouts(self):
        for m_major in (False, True):
            problem, inputs, pairs = lists(m_major)
            call, _ = grouped.FIXED["torch-eager"](problem, grouped.operands_of(problem, inputs))
            before = torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction
            for got, (a, b) in zip(call(), pairs, strict=True):
                right = b @ a.t() if m_major else a @ b.t()
                torch.testing.assert_close(got.double(), right, rtol=1e-3, atol=1e-3)
            after = torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction
            self.assertEqual(after, before)

    def test_one_call_gives_all_rows_one_below_the_other(self):
        problem, inputs, pairs = lists()
        operands = grouped.operands_of(problem, inputs)
        try:
            call, _ = grouped.FIXED["torch-grouped-mm"](problem, operands)
            got = call()
        except (Unsupported, NotImplementedError) as error:
            self.skipTest(str(error))
        right = torch.cat([a @ b.t() for a, b in pairs])
        self.assertEqual(got.dtype, torch.bfloat16)
        torch.testing.assert_close(got.double(), right, rtol=1e-3 + 2**-8, atol=1e-3)


if __name__ == "__main__":
    unittest.main()
