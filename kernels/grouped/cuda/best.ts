/**
 * The kernel for a device without an FP4 unit: swapped operands, weights decoded in registers.
 *
 * @module
 */

import type { Build } from "../../../bench/device/device.ts";
import { mem, type Memory } from "../../../bench/device/queue.ts";
import { grid } from "../../../bench/model/grid.ts";
import { defineKernel } from "../../../bench/model/kernel.ts";
import type { Kernel } from "../../../bench/model/kernel_spec.ts";
import {
  type BestConfig,
  leastOf,
  predict,
  rules,
  scheduleOf,
  sharedBytes,
  stagesOf,
} from "./best_configs.ts";
import {
  itemTables,
  packedOf,
  packedTable,
  partialBytes,
  placesOf,
  WARPS,
} from "./best_tables.ts";
import { groupedMatmul } from "../op.ts";
import { type GroupedPoint, realProblems } from "../point.ts";
import { uploadedTable } from "../problem_table.ts";
import { noWgmma } from "../../common/arch.ts";
import { wholeSlabs } from "../limits.ts";

const TOKENS: Build = {
  source: new URL("./tokens.cu", import.meta.url),
  defines: {},
};
/** Elements of a row that a thread of tokens.cu decodes, and its threads. */
const [CHUNK, THREADS] = [8, 256];

function build({ layout }: GroupedPoint, config: BestConfig): Build {
  return {
    source: new URL("./best.cu", import.meta.url),
    defines: {
      ...config,
      LEAST: leastOf(config),
      STAGES: stagesOf(config),
      MMAJOR: Number(layout !== "nt"),
    },
  };
}

/** Weights are rows, tokens columns; both are decoded once for each use of a block. */
export const best: Kernel<GroupedPoint> = defineKernel<
  GroupedPoint,
  BestConfig
>(groupedMatmul, {
  name: "best",
  backend: "cuda",
  idea:
    "tokens as columns, weights decoded in registers for wgmma, tiles packed",
  unsupported: (point, info) => noWgmma(info) ?? wholeSlabs(point),
  configs: () =>
    grid({
      MAXN: [128, 96, 64],
      STEP: [16, 8],
      KGROUPS: [1, 2],
      CLUSTER: [1, 2, 4],
      WEIGHTS: [8],
      SPAN: [4, 2],
      PIECES: [1, 0],
    }),
  rules,
  predict,
  builds: (point, config) => [TOKENS, build(point, config)],
  prepare(site) {
    const { point, config, device: { info }, operands, program, alloc } = site;
    const uploaded = (bytes: Uint8Array<ArrayBuffer>): Memory => {
      const memory = alloc(bytes.length);
      memory.upload(bytes);
      return memory;
    };
    const problems = realProblems(point);
    const schedule = scheduleOf(problems, config, info);
    const { packed, bytes } = packedOf(problems, schedule);
    const tokens = alloc(bytes);
    const { places, count } = placesOf(schedule);
    const partial = alloc(Math.max(16, count * partialBytes(config)));
    const counters = uploaded(
      new Uint8Array(4 * WARPS * config.CLUSTER * Math.max(1, places.length)),
    );
    const { items, first } = itemTables(schedule, {
      ...{ config, problems, packed, operands, tokens, partial, counters },
    });
    const table = uploadedTable(site);
    return {
      steps: [
        program(TOKENS, "tokens").step([
          mem(table),
          mem(uploaded(packedTable(packed))),
          mem(tokens),
        ], {
          grid: [
            Math.max(
              ...problems.map(({ m, k }) => Math.ceil(m * k / CHUNK / THREADS)),
            ),
            problems.length,
            1,
          ],
          block: [THREADS, 1, 1],
        }),
        program(build(point, config), "best").step([
          mem(uploaded(items)),
          mem(uploaded(first)),
        ], {
          grid: [schedule.bins.length * config.CLUSTER, 1, 1],
          block: [640, 1, 1],
          cluster: config.CLUSTER,
          sharedBytes: sharedBytes(config),
          overlap: true,
        }),
      ],
    };
  },
});
