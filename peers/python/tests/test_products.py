"""What of all products needs torch but no device: `python3 -m unittest` in this folder."""

import os
import struct
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from stored import HAS_TORCH

if HAS_TORCH:
    import torch

    from ops import matmul
    from runtime.capture import CaptureError
    from runtime.failures import failure_of
    from runtime.operands import bytes_of, poison
    from runtime.operators import Unsupported
    from runtime.planning import FIXED
    from runtime.problems import problem_of
    from runtime.products import PRODUCTS


@unittest.skipUnless(HAS_TORCH, "needs torch")
class MatmulTest(unittest.TestCase):
    def test_operands_are_found_in_padded_rows_of_either_order(self):
        m, n, k, lda = 2, 3, 4, 6
        a = torch.arange(m * lda, dtype=torch.float32)
        bias = torch.tensor([-100.0, 0.0, 100.0])
        for layout, ldb, lines in (("nn", 5, k), ("nt", 7, n)):
            b = torch.arange(lines * ldb, dtype=torch.float32) - 10
            fields = {"id": 0, "op": "matmul", "m": m, "n": n, "k": k, "type": "f32", "lda": lda}
            problem = problem_of({**fields, "layout": layout, "ldb": ldb, "epilogue": "bias+relu"})
            inputs = [one.view(torch.uint8) for one in (a, b, bias)]
            call, _ = matmul.FIXED["torch-eager"](problem, matmul.operands_of(problem, inputs))
            at = (lambda p, j: p * ldb + j) if layout == "nn" else (lambda p, j: j * ldb + p)

            def right(i, j):
                total = sum((i * lda + p) * (at(p, j) - 10.0) for p in range(k))
                return max(0.0, total + bias[j].item())

            self.assertEqual(call().tolist(), [[right(i, j) for j in range(n)] for i in range(m)])


@unittest.skipUnless(HAS_TORCH, "needs torch")
class OutputsTest(unittest.TestCase):
    def test_several_outputs_are_written_one_after_the_other(self):
        a, b = torch.tensor([[1, 2]], dtype=torch.int16), torch.tensor([[3], [4]], dtype=torch.int16)
        self.assertEqual(bytes_of([a, b]), struct.pack("<4h", 1, 2, 3, 4))
        # Padding between rows is left out.
        padded = torch.arange(6, dtype=torch.int16).view(2, 3)[:, :2]
        self.assertEqual(bytes_of(padded), struct.pack("<4h", 0, 1, 3, 4))
        poison([a, b])
        self.assertEqual(bytes_of([a, b]), b"\xff" * 8)


@unittest.skipUnless(HAS_TORCH, "needs torch")
class RefusalTest(unittest.TestCase):
    def test_peers_that_nothing_is_compiled_for_are_those_that_are_called(self):
        called = {peer for product in PRODUCTS.values() for peer in product.FIXED}
        self.assertEqual(called, set(FIXED))

    def test_what_torch_lacks_is_unsupported(self):
        for error, status in (
            (Unsupported("torch has no aten::x"), "unsupported"),
            (NotImplementedError("Could not run 'aten::x'"), "unsupported"),
            (CaptureError("cannot record"), "launch"),
            (RuntimeError("CUDA error: an illegal memory access"), "launch"),
            (RuntimeError("Expected A.dtype() == at::kBFloat16"), "compile"),
        ):
            failure = failure_of(error)
            self.assertEqual(failure["status"], status)
            self.assertIn(str(error), failure["note"])


if __name__ == "__main__":
    unittest.main()
