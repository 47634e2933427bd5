/**
 * The kernel for a device whose tensor cores take NVFP4 as it is stored: tcgen05.
 *
 * Compiled and never run: no such device was at hand.
 *
 * @module
 */

import type { Build, DeviceInfo } from "../../../../bench/device/device.ts";
import { i32, mem } from "../../../../bench/device/queue.ts";
import { grid } from "../../../../bench/model/grid.ts";
import { defineKernel } from "../../../../bench/model/kernel.ts";
import type { Kernel } from "../../../../bench/model/kernel_spec.ts";
import { wholeSlabs } from "../../limits.ts";
import { groupedMatmul } from "../../op.ts";
import { type GroupedPoint, realProblems } from "../../point.ts";
import type { Tile } from "../schedule.ts";
import { uploadedTable } from "../../problem_table.ts";
import {
  type BlackwellConfig,
  itemsOf,
  predict,
  rules,
  sharedBytes,
  stagesOf,
} from "./configs.ts";

/** Why a device has no such products. */
export function noTcgen05({ arch }: DeviceInfo): string | undefined {
  return arch === "sm_100a" || arch === "sm_103a"
    ? undefined
    : `${arch} has no tcgen05: sm_100a and sm_103a have, for which this is compiled and was never run`;
}

function build(config: BlackwellConfig): Build {
  return {
    source: new URL("./blackwell.cu", import.meta.url),
    defines: { ...config, STAGES: stagesOf(config) },
  };
}

/** `Item` of blackwell.cu. */
export function itemTable(items: readonly Tile[]): Uint8Array<ArrayBuffer> {
  return new Uint8Array(
    Int32Array.from(
      items.flatMap(({ problem, row, token, cols }) => [
        problem,
        row,
        token,
        cols,
      ]),
    ).buffer,
  );
}

/** Codes and scales as stored; weights are rows, tokens columns, sums in tensor memory. */
export const blackwell: Kernel<GroupedPoint> = defineKernel<
  GroupedPoint,
  BlackwellConfig
>(groupedMatmul, {
  name: "blackwell",
  backend: "cuda",
  idea:
    "nothing decoded: FP4 tensor cores (tcgen05), sums in tensor memory; compiled, never run",
  unsupported: (point, info) => noTcgen05(info) ?? wholeSlabs(point),
  configs: () => grid({ MAXN: [128, 256, 192, 64] }),
  rules,
  predict,
  builds: (_, config) => [build(config)],
  prepare(site) {
    const { point, config, program, alloc } = site;
    const items = itemsOf(realProblems(point), config);
    const table = itemTable(items);
    const memory = alloc(table.length);
    memory.upload(table);
    return {
      steps: [
        program(build(config), "blackwell").step([
          mem(uploadedTable(site)),
          mem(memory),
          i32(Number(point.layout !== "nt")),
        ], {
          grid: [items.length, 1, 1],
          block: [160, 1, 1],
          sharedBytes: sharedBytes(config),
        }),
      ],
    };
  },
});
