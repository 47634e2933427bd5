/**
 * The quantised product that one can read: each row of weights decoded, then three loops.
 *
 * @module
 */

import { decode, encode } from "../../../bench/model/dtype.ts";
import { defineKernel } from "../../../bench/model/kernel.ts";
import type { Kernel } from "../../../bench/model/kernel_spec.ts";
import { qmm } from "../op.ts";
import type { QmmPoint } from "../point.ts";
import { product } from "../reference.ts";
import { Weights } from "../weights.ts";

/** Multiplications that take some seconds. */
const MOST = 2 ** 32;

/** Needs no compiler, so it runs wherever Deno does. */
export const naive: Kernel<QmmPoint> = defineKernel(qmm, {
  name: "naive",
  backend: "cpu",
  idea: "rows decoded one by one, loops in TypeScript, to be read",
  unsupported: ({ m, n, k }) =>
    m * n * k <= MOST
      ? undefined
      : `${
        m * n * k
      } multiplications would take minutes: it does ${MOST} at most`,
  prepare({ point, operands }) {
    const { w, scales, biases } = operands;
    const enqueue = () => {
      const stored = [w, scales, biases].filter((part) => part !== undefined);
      const weights = new Weights(point, stored.map(({ host }) => host!));
      const x = decode(operands.x!.host!, point.type);
      const y = product(point, { x, row: (i) => weights.row(i) });
      operands.y!.host!.set(encode(y, point.type));
    };
    return { steps: [{ label: "naive", capturable: false, enqueue }] };
  },
});
