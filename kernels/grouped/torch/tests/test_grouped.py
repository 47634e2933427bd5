"""Tests of grouped.py that need torch but no device; run by peers/python_test.ts."""

import random
import unittest

from fixtures import HAS_TORCH, e4m3, grouped, operations, pack, small_float, tensor

if HAS_TORCH:
    import torch

    from runtime.problem import Unsupported

    module = operations(**{"grouped-matmul": "grouped"}).load(grouped())


def lists(m_major=False, sizes=((3, 40, 64), (17, 40, 64), (1, 40, 64))):
    """A random list of products: the problem, its inputs, and A and B as numbers."""
    rng = random.Random(5)
    inputs, pairs = [], []
    for m, n, k in sizes:
        pair = []
        for rows in (m, n):
            codes = [rng.randrange(16) for _ in range(rows * k)]
            blocked = bytearray(-(-rows // 128) * -(-k // 64) * 512)
            values = []
            for row in range(rows):
                for col in range(k):
                    block = col // 16
                    at = (row // 128 * -(-k // 64) + block // 4) * 512
                    at += row % 32 * 16 + row % 128 // 32 * 4 + block % 4
                    if col % 16 == 0:
                        blocked[at] = rng.randrange(48, 64)
                    values.append(e4m3(blocked[at]) * small_float(codes[row * k + col], 2, 1, 1))
            inputs += [tensor(pack(codes, 4)), tensor(blocked)]
            pair.append(torch.tensor(values, dtype=torch.float64).view(rows, k))
        pairs.append(pair)
    return grouped(sizes, m_major), inputs, pairs


@unittest.skipUnless(HAS_TORCH, "needs torch")
class GroupedTest(unittest.TestCase):
    def test_operands_of_16_bits_are_exact(self):
        problem, inputs, pairs = lists()
        for dtype in (torch.float16, torch.bfloat16):
            for got, want in zip(module.dense(module.operands_of(problem, inputs), dtype), pairs):
                self.assertTrue(all(torch.equal(g.double(), w) for g, w in zip(got, want)))

    def test_eager_is_right_in_both_layouts(self):
        for m_major in (False, True):
            problem, inputs, pairs = lists(m_major)
            call, _ = module.CALLS["torch-eager"](problem, module.operands_of(problem, inputs))
            before = torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction
            for got, (a, b) in zip(call(), pairs, strict=True):
                right = b @ a.t() if m_major else a @ b.t()
                torch.testing.assert_close(got.double(), right, rtol=1e-3, atol=1e-3)
            after = torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction
            self.assertEqual(after, before)

    def test_one_call_gives_all_rows_one_below_the_other(self):
        problem, inputs, pairs = lists()
        operands = module.operands_of(problem, inputs)
        try:
            call, _ = module.CALLS["torch-grouped-mm"](problem, operands)
            got = call()
        except (Unsupported, NotImplementedError) as error:
            self.skipTest(str(error))
        right = torch.cat([a @ b.t() for a, b in pairs])
        self.assertEqual(got.dtype, torch.bfloat16)
        torch.testing.assert_close(got.double(), right, rtol=1e-3 + 2**-8, atol=1e-3)


if __name__ == "__main__":
    unittest.main()
