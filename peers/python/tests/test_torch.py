"""Tests of matmul.py and of the runtime that need torch but no device; run by peers/python_test.ts."""

import struct
import unittest

from fixtures import HAS_TORCH, operations, problem

if HAS_TORCH:
    import torch

    from runtime.gpu import CaptureError, failure_of
    from runtime.operands import bytes_of, poison
    from runtime.problem import Unsupported

    matmul = operations(matmul="matmul").load(problem())


@unittest.skipUnless(HAS_TORCH, "needs torch")
class MatmulTest(unittest.TestCase):
    def test_operands_are_found_in_padded_rows_of_either_order(self):
        m, n, k, lda = 2, 3, 4, 6
        a = torch.arange(m * lda, dtype=torch.float32)
        bias = torch.tensor([-100.0, 0.0, 100.0])
        for layout, ldb, lines in (("nn", 5, k), ("nt", 7, n)):
            b = torch.arange(lines * ldb, dtype=torch.float32) - 10
            more = {"type": "f32", "lda": lda, "ldb": ldb}
            one = problem(m, n, k, layout=layout, epilogue="bias+relu", **more)
            inputs = [values.view(torch.uint8) for values in (a, b, bias)]
            call, _ = matmul.CALLS["torch-eager"](one, matmul.operands_of(one, inputs))
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
class FailuresTest(unittest.TestCase):
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
