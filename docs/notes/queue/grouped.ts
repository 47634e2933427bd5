/**
 * `best` of grouped-matmul with and without a flat table and a queue of products, as kernels of one
 * suite.
 *
 * @module
 */

import type { Values } from "../../../bench/model/grid.ts";
import type { Kernel } from "../../../bench/model/kernel_spec.ts";
import { defineSuite } from "../../../bench/model/suite.ts";
import { groupedMatmul, kernels } from "../../../kernels/grouped/mod.ts";
import {
  BENCH_LISTS,
  type GroupedPoint,
} from "../../../kernels/grouped/point.ts";

const best = kernels.find(({ name }) => name === "best")!;
const lists = BENCH_LISTS.map(({ m, n, k }) => ({ m: m.join("+"), n, k }));

/** Those configs of `best` that `keeps` accepts, as a kernel. */
function variant(
  name: string,
  keeps: (config: Values) => boolean,
): Kernel<GroupedPoint> {
  return {
    ...best,
    name,
    candidates: (point, info) =>
      [...best.candidates(point, info)].filter(({ config, illegal }) =>
        illegal === undefined && keeps(config)
      ),
  };
}

export default defineSuite({
  name: "queue-grouped",
  title: "grouped-nvfp4, operands decoded one by one while products are queued",
  op: groupedMatmul,
  axes: { list: lists.toReversed(), layout: ["nt"] },
  kernels: [
    ...[0, 1].map((flat) =>
      variant(
        flat ? "best-flat" : "best",
        ({ FLAT, QUEUE, WARPGROUPS, STEP, PIECES }) =>
          FLAT === flat && !QUEUE && PIECES === 0 && WARPGROUPS === 2 &&
          STEP === 16,
      )
    ),
    variant(
      "best-flat-queue",
      ({ FLAT, QUEUE, PIECES }) => FLAT === 1 && QUEUE === 1 && PIECES === 0,
    ),
  ],
  baselines: ["best"],
});
