/**
 * The grouped product that one can read: problem by problem, three loops in TypeScript.
 *
 * @module
 */

import { encode } from "../../../bench/model/dtype.ts";
import { defineKernel } from "../../../bench/model/kernel.ts";
import type { Kernel } from "../../../bench/model/kernel_spec.ts";
import { groupedMatmul } from "../op.ts";
import { type GroupedPoint, realProblems } from "../point.ts";
import { product } from "../reference.ts";

/** A second of loops; timing takes dozens of runs. */
const MOST_FLOPS = 1e9;

/** Needs no compiler, so it runs wherever Deno does. */
export const naive: Kernel<GroupedPoint> = defineKernel(groupedMatmul, {
  name: "naive",
  backend: "cpu",
  idea: "one problem after another, loops in TypeScript, to be read",
  unsupported(point) {
    const { flops } = groupedMatmul.work(point);
    return flops > MOST_FLOPS
      ? `${
        (flops / 1e9).toPrecision(2)
      } Gflop are a matter of minutes in TypeScript`
      : undefined;
  },
  prepare({ point, operands }) {
    const enqueue = () => {
      for (const { group, ...sizes } of realProblems(point)) {
        const host = (name: string) => operands[`${name}${group}`]!.host!;
        const matrix = (name: string) => ({
          codes: host(name),
          scales: host(`SF${name}`),
          k: sizes.k,
        });
        const problem = { ...sizes, a: matrix("A"), b: matrix("B") };
        host("C").set(encode(product(problem, point), "f16"));
      }
    };
    return { steps: [{ label: "naive", capturable: false, enqueue }] };
  },
});
