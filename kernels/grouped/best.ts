/**
 * The kernel for a device without an FP4 unit: swapped operands, weights decoded in registers.
 *
 * @module
 */

import {
  type Build,
  type DeviceInfo,
  i32,
  mem,
  type Memory,
} from "../../bench/device.ts";
import { grid } from "../../bench/grid.ts";
import { defineKernel, type Kernel } from "../../bench/kernel.ts";
import { predict, rules, sharedBytes, stagesOf } from "./best_configs.ts";
import type { BestConfig } from "./best_configs.ts";
import { groupedMatmul } from "./op.ts";
import { type GroupedPoint, realProblems, type Sizes } from "./point.ts";
import { clustersOf } from "./best_configs.ts";
import { pack, packedRows, tilesOf } from "./schedule.ts";
import { uploadedTable } from "./table.ts";
import { noWgmma, wholeSlabs } from "./limits.ts";

const TOKENS: Build = {
  source: new URL("./tokens.cu", import.meta.url),
  defines: {},
};
/** Elements of K of a row that a thread of tokens.cu decodes. */
const SLAB = 64;
const ITEM_BYTES = 32;

function build(config: BestConfig): Build {
  return {
    source: new URL("./best.cu", import.meta.url),
    defines: { ...config, STAGES: stagesOf(config) },
  };
}

/** Where the packed tokens of each problem are. */
interface Packed {
  readonly base: number;
  readonly rows: number;
}

function packedOf(problems: readonly Sizes[], config: BestConfig): Packed[] {
  let base = 0;
  return problems.map(({ m, k }) => {
    const rows = packedRows(m, config);
    const packed = { base, rows };
    base += rows * k * 2;
    return packed;
  });
}

/** `Packed` of tokens.cu. */
function packedTable(packed: readonly Packed[]): Uint8Array<ArrayBuffer> {
  const table = new DataView(new ArrayBuffer(16 * packed.length));
  packed.forEach(({ base, rows }, i) => {
    table.setBigInt64(16 * i, BigInt(base), true);
    table.setInt32(16 * i + 8, rows, true);
  });
  return new Uint8Array(table.buffer);
}

/** `Item` of best.cu for all clusters, and where those of each cluster start and end. */
function itemTables(
  point: GroupedPoint,
  { config, info, packed }: {
    config: BestConfig;
    info: DeviceInfo;
    packed: readonly Packed[];
  },
) {
  const tiles = tilesOf(realProblems(point), config);
  const { bins } = pack(tiles, clustersOf(config, info, tiles.length));
  const items = new DataView(new ArrayBuffer(ITEM_BYTES * tiles.length));
  const first = new Int32Array(bins.length + 1);
  let count = 0;
  bins.forEach((bin, i) => {
    for (const { problem, row, token, cols } of bin) {
      const at = ITEM_BYTES * count++;
      const { base, rows } = packed[problem]!;
      [problem, row, token, cols].forEach((x, j) =>
        items.setInt32(at + 4 * j, x, true)
      );
      items.setBigInt64(at + 16, BigInt(base), true);
      items.setInt32(at + 24, rows * 128, true);
    }
    first[i + 1] = count;
  });
  return {
    items: new Uint8Array(items.buffer),
    first: new Uint8Array(first.buffer),
    clusters: bins.length,
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
      MAXN: [192, 128, 256, 160, 112, 96, 64],
      STEP: [16, 32],
      CLUSTER: [2, 1, 4],
      WEIGHTS: [8],
    }),
  rules,
  predict,
  builds: (_, config) => [TOKENS, build(config)],
  prepare(site) {
    const { point, config, device: { info }, program, alloc } = site;
    const uploaded = (bytes: Uint8Array<ArrayBuffer>): Memory => {
      const memory = alloc(bytes.length);
      memory.upload(bytes);
      return memory;
    };
    const problems = realProblems(point);
    const packed = packedOf(problems, config);
    const { items, first, clusters } = itemTables(point, {
      config,
      info,
      packed,
    });
    const room = packed.reduce(
      (sum, { rows }, i) => sum + rows * problems[i]!.k * 2,
      0,
    );
    const tokens = alloc(room);
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
              ...problems.map(({ m, k }) => Math.ceil(m * k / SLAB / 256)),
            ),
            problems.length,
            1,
          ],
          block: [256, 1, 1],
        }),
        program(build(config), "best").step([
          mem(table),
          mem(uploaded(items)),
          mem(uploaded(first)),
          mem(tokens),
          i32(Number(point.layout !== "nt")),
        ], {
          grid: [clusters * config.CLUSTER, 1, 1],
          block: [384, 1, 1],
          cluster: config.CLUSTER,
          sharedBytes: sharedBytes(config),
          overlap: true,
        }),
      ],
    };
  },
});
