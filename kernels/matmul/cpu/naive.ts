/**
 * A matrix product in three TypeScript loops: the kernel to read first.
 *
 * @module
 */

import { BYTES, decode, encode } from "../../../bench/model/dtype.ts";
import { defineKernel } from "../../../bench/model/kernel.ts";
import type { Kernel } from "../../../bench/model/kernel_spec.ts";
import { matmul } from "../op.ts";
import { hasRelu, type MatmulPoint } from "../point.ts";

/** Needs no compiler, so it runs wherever Deno does. */
export const naive: Kernel<MatmulPoint> = defineKernel(matmul, {
  name: "naive",
  backend: "cpu",
  idea: "three loops in TypeScript, to be read",
  prepare({ point, operands }) {
    const { m, n, k, type, layout, lda, ldb, ldc } = point;
    const enqueue = () => {
      const [a, b] = [operands.A!, operands.B!].map((x) =>
        decode(x.host!, type)
      );
      const bias = operands.bias && decode(operands.bias.host!, type);
      const c = operands.C!.host!;
      const row = new Float64Array(n);
      for (let i = 0; i < m; i++) {
        for (let j = 0; j < n; j++) {
          let sum = bias?.[j] ?? 0;
          for (let p = 0; p < k; p++) {
            const at = layout === "nn" ? p * ldb + j : j * ldb + p;
            sum += a![i * lda + p]! * b![at]!;
          }
          row[j] = hasRelu(point) ? Math.max(sum, 0) : sum;
        }
        // Rows of C may lie apart; what is between them is not ours.
        c.set(encode(row, type), i * ldc * BYTES[type]);
      }
    };
    return { steps: [{ label: "naive", capturable: false, enqueue }] };
  },
});
