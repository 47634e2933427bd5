"""Tests of qmm.py that need torch but no device; run by peers/python_test.ts."""

import math
import random
import unittest

from fixtures import HAS_TORCH, e4m3, operations, pack, quantised, small_float, tensor, typed

if HAS_TORCH:
    import torch

    from runtime.dequantise import codes_of, e8m0, unblocked, weights

    qmm = operations(qmm="qmm").load(quantised())

FORMATS = [
    *(("affine", bits, group) for bits in (2, 3, 4, 5, 6, 8) for group in (32, 64)),
    *(("mxfp4", 4, 32), ("mxfp8", 8, 32), ("nvfp4", 4, 16)),
]


class Stored:
    """A random problem of `qmm`: its inputs as bytes, and x and W as numbers."""

    def __init__(self, mode="affine", bits=4, group=32, name="bf16", transposed=True, m=3, n=8, k=128):
        more = {"bits": bits, "group": group, "transposed": transposed}
        self.problem = p = quantised(m, n, k, type=name, mode=mode, **more)
        rng = random.Random(f"{mode}{bits}{group}")
        # All codes but the NaN of E4M3.
        codes = [rng.randrange(1 << bits) & (0xFE if mode == "mxfp8" else 0xFF) for _ in range(n * k)]
        groups = n * k // group
        x, raw = typed([rng.gauss(0, 1) for _ in range(m * k)], name)
        self.inputs = [raw, tensor(pack(codes, bits))]
        if mode == "affine":
            scales, raw_scales = typed([rng.gauss(0, 0.1) for _ in range(groups)], name)
            biases, raw_biases = typed([rng.gauss(0, 1) for _ in range(groups)], name)
            self.inputs += [raw_scales, raw_biases]
            value = lambda i: scales[i // group] * codes[i] + biases[i // group]
        else:
            raw = bytes(rng.randrange(*((40, 60) if mode == "nvfp4" else (120, 130))) for _ in range(groups))
            self.inputs.append(tensor(raw))
            scale = e4m3 if mode == "nvfp4" else lambda code: 2.0 ** (code - 127)
            element = e4m3 if mode == "mxfp8" else lambda code: small_float(code, 2, 1, 1)
            value = lambda i: scale(raw[i // group]) * element(codes[i])
        self.w = [[value(r * p.cols + c) for c in range(p.cols)] for r in range(p.rows)]
        self.x = [x[i * k : (i + 1) * k] for i in range(m)]

    @property
    def operands(self):
        return qmm.operands_of(self.problem, self.inputs)

    def right(self):
        """x · Wᵀ or x · W in fp64."""
        w = torch.tensor(self.w, dtype=torch.float64)
        return torch.tensor(self.x, dtype=torch.float64) @ (w.t() if self.problem.transposed else w)


@unittest.skipUnless(HAS_TORCH, "needs torch")
class DequantiseTest(unittest.TestCase):
    def test_codes_of_every_width_come_out_in_order(self):
        for bits in (2, 3, 4, 5, 6, 8):
            codes = [random.Random(bits).randrange(1 << bits) for _ in range(96)]
            packed = tensor(pack(codes, bits)).view(3, -1)
            self.assertEqual(codes_of(packed, bits).flatten().tolist(), codes)

    def test_powers_of_two_are_exact_up_to_both_ends(self):
        powers = e8m0(torch.tensor([0, 1, 127, 254, 255], dtype=torch.uint8)).tolist()
        self.assertEqual(powers[:4], [2.0**-127, 2.0**-126, 1.0, 2.0**127])
        self.assertTrue(math.isnan(powers[4]))

    def test_weights_are_what_is_stored(self):
        for mode, bits, group in FORMATS:
            for transposed in (True, False):
                stored = Stored(mode, bits, group, transposed=transposed, n=128)
                got = weights(stored.problem, stored.operands[1:]).double()
                torch.testing.assert_close(
                    got, torch.tensor(stored.w, dtype=torch.float64), rtol=1e-6, atol=1e-6
                )

    def test_scales_are_found_in_their_tiles(self):
        rows, cols = 200, 6
        # By blocked_scales.ts.
        blocked = bytearray(2 * 2 * 512)
        for row in range(rows):
            for col in range(cols):
                tile = row // 128 * 2 + col // 4
                at = tile * 512 + row % 32 * 16 + row % 128 // 32 * 4 + col % 4
                blocked[at] = (row * 7 + col) % 251
        want = [[(row * 7 + col) % 251 for col in range(cols)] for row in range(rows)]
        self.assertEqual(unblocked(tensor(blocked), rows, cols).tolist(), want)


@unittest.skipUnless(HAS_TORCH, "needs torch")
class QmmTest(unittest.TestCase):
    def test_eager_is_right_in_every_format(self):
        for mode, bits, group in FORMATS:
            for transposed in (True, False):
                for name, rtol in (("bf16", 2**-7), ("f16", 2**-10)):
                    stored = Stored(mode, bits, group, name, transposed, n=64)
                    call, config = qmm.CALLS["torch-eager"](stored.problem, stored.operands)
                    self.assertEqual(config, {})
                    right = stored.right()
                    error = (call().double() - right).abs().max() / right.abs().max()
                    self.assertLess(error, rtol, (mode, bits, group, transposed, name))

    def test_the_compiled_function_is_right(self):
        for mode, bits, group in FORMATS:
            stored = Stored(mode, bits, group)
            right = stored.right()
            got = qmm.model_of("torch-compiled", stored.problem, ())(*stored.operands).double()
            self.assertLess((got - right).abs().max() / right.abs().max(), 2**-7)

    def test_zero_points_are_eight_codes_above_the_bias(self):
        stored = Stored(n=2, k=64)
        _, _, scales, biases = stored.operands
        pairs = qmm.scales_and_zeros(scales, biases)
        self.assertEqual(pairs.shape, (2, 2, 2))
        self.assertTrue(pairs.is_contiguous())
        for row in range(2):
            for group in range(2):
                scale, zero = pairs[group, row].tolist()
                self.assertEqual(scale, scales[row, group].item())
                exact = biases[row, group].item() + 8 * scale
                self.assertEqual(zero, torch.tensor(exact).bfloat16().item())


@unittest.skipUnless(HAS_TORCH, "needs torch")
class Int4packTest(unittest.TestCase):
    """With stand-ins for tinygemm on the CPU, written after aten/src/ATen/native/cuda/int4mm.cu."""

    @classmethod
    def setUpClass(cls):
        cls.calls = []

        def convert(packed, inner):
            cls.calls.append(inner)
            assert packed.is_contiguous() and packed.dtype == torch.uint8
            n, k = packed.shape[0], 2 * packed.shape[1]
            assert inner in (2, 4, 8) and k % (16 * inner) == 0
            # The upper half of a byte comes first; as many words as tinygemm has, in our order.
            codes = torch.stack([packed >> 4, packed & 15], -1).view(n, k)
            words = (codes.view(n // 8, 8, k // 8, 8).int() << torch.arange(0, 32, 4)).sum(-1)
            return words.int().view(n // 8, k // (16 * inner), 32, inner // 2)

        def multiply(x, words, group, pairs):
            assert x.dtype == pairs.dtype == torch.bfloat16 and x.is_contiguous() and x.dim() == 2
            n, k = 8 * words.shape[0], x.shape[1]
            assert pairs.shape == (k // group, n, 2) and pairs.is_contiguous()
            codes = words.view(n, k // 8, 1) >> torch.arange(0, 32, 4) & 15
            scale, zero = pairs.double().permute(2, 1, 0).unsqueeze(-1)
            # A multiply-add, rounded once: products of bf16 are exact in fp64.
            w = ((codes.view(n, -1, group) - 8).double() * scale + zero).bfloat16().view(n, k)
            return (x.double() @ w.double().t()).bfloat16()

        cls.library = torch.library.Library("aten", "IMPL")
        cls.library.impl("_convert_weight_to_int4pack", convert, "CPU")
        cls.library.impl("_weight_int4pack_mm", multiply, "CPU")

    def test_it_is_right_at_each_group(self):
        for group, k, inner in ((32, 160, 2), (32, 192, 4), (64, 256, 8), (128, 384, 8)):
            stored = Stored(group=group, k=k, n=16)
            call, config = qmm.CALLS["torch-int4pack"](stored.problem, stored.operands)
            self.assertEqual(config, {"INNER_K_TILES": inner})
            right = stored.right()
            self.assertLess((call().double() - right).abs().max() / right.abs().max(), 2**-6)
            self.assertEqual(self.calls[-1], inner)


if __name__ == "__main__":
    unittest.main()
