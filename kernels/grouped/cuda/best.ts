/**
 * The kernel `best`, for a device without an FP4 unit: swapped operands, weights decoded in
 * registers, and the tables that it reads.
 *
 * @module
 */

import type { Build } from "../../../bench/device/device.ts";
import type { Memory } from "../../../bench/device/queue.ts";
import { grid } from "../../../bench/model/grid.ts";
import { defineKernel } from "../../../bench/model/kernel.ts";
import type { Kernel } from "../../../bench/model/kernel_spec.ts";
import type { Operands } from "../../../bench/model/problem.ts";
import { noWgmma } from "../../common/arch.ts";
import { launch } from "../../common/launch.ts";
import { groupedMatmul } from "../op.ts";
import {
  type GroupedPoint,
  realProblems,
  type Sizes,
  uploadedTable,
  wholeSlabs,
} from "../point.ts";
import {
  type BestConfig,
  leastOf,
  predict,
  rules,
  type Schedule,
  scheduleOf,
  sharedBytes,
  stagesOf,
} from "./best_configs.ts";

const ITEM_BYTES = 88;
/** Warps that each have a part of a tile's sums. */
const WARPS = 16;

/** The place of the packed tokens of a problem. */
interface Packed {
  readonly base: number;
  /** Rows of a slab: all that tiles of the problem take. */
  readonly rows: number;
}

/** The places of all packed tokens, and their bytes. */
function packedOf(problems: readonly Sizes[], { tiles }: Schedule) {
  const rows = problems.map(() => 0);
  for (const { problem, token, cols } of tiles) {
    rows[problem] = Math.max(rows[problem]!, token + cols);
  }
  let bytes = 0;
  const packed = problems.map(({ k }, i): Packed => {
    const base = bytes;
    bytes += rows[i]! * k * 2;
    return { base, rows: rows[i]! };
  });
  return { packed, bytes };
}

/** `Packed` of tokens.cu. */
function packedTable(
  packed: readonly Packed[],
): Uint8Array<ArrayBuffer> {
  const table = new DataView(new ArrayBuffer(16 * packed.length));
  packed.forEach(({ base, rows }, i) => {
    table.setBigInt64(16 * i, BigInt(base), true);
    table.setInt32(16 * i + 8, rows, true);
  });
  return new Uint8Array(table.buffer);
}

/** Bytes of the sums of a piece of a tile, of all warps of a cluster. */
function partialBytes({ MAXN, KGROUPS, CLUSTER }: BestConfig): number {
  return Math.ceil(MAXN / 8 / KGROUPS) * 512 * WARPS * CLUSTER;
}

/** The places of the sums of each cut tile, counted in pieces, and their number. */
function placesOf({ bins }: Schedule) {
  const places: number[] = [];
  let count = 0;
  for (const { cut, piece, pieces } of bins.flat()) {
    if (cut < 0 || piece > 0) continue;
    places[cut] = count;
    count += pieces;
  }
  return { places, count };
}

/** `Item` of best.cu for all clusters, zeros after those of each, and where each starts. */
function itemTables(
  schedule: Schedule,
  { config, problems, packed, operands, tokens, partial, counters }: {
    config: BestConfig;
    problems: ReturnType<typeof realProblems>;
    packed: readonly Packed[];
    operands: Operands;
    tokens: Memory;
    partial: Memory;
    counters: Memory;
  },
) {
  const { bins } = schedule;
  const { places } = placesOf(schedule);
  const items = new DataView(
    new ArrayBuffer(ITEM_BYTES * (bins.flat().length + bins.length)),
  );
  const starts = new Int32Array(bins.length);
  let count = 0;
  bins.forEach((bin, i) => {
    starts[i] = count;
    for (const piece of bin) {
      const { problem, row, token, cols, first, slabs, cut } = piece;
      const at = ITEM_BYTES * count++;
      const { m, n, k, group } = problems[problem]!;
      const { base, rows } = packed[problem]!;
      const put = (from: number, addresses: readonly bigint[]) =>
        addresses.forEach((x, j) =>
          items.setBigUint64(at + from + 8 * j, x, true)
        );
      put(0, [
        operands[`B${group}`]!.address + BigInt(first * 32),
        operands[`SFB${group}`]!.address + BigInt(first * 512),
        operands[`C${group}`]!.address,
        tokens.address + BigInt(base + (first * rows + token) * 128),
      ]);
      [m, n, k, row, token, cols, rows * 128, slabs].forEach((x, j) =>
        items.setInt32(at + 32 + 4 * j, x, true)
      );
      if (cut >= 0) {
        const counted = 4 * WARPS * config.CLUSTER * cut;
        put(64, [
          partial.address + BigInt(partialBytes(config) * places[cut]!),
          counters.address + BigInt(counted),
        ]);
      }
      items.setInt32(at + 80, piece.pieces, true);
      items.setInt32(at + 84, piece.piece, true);
    }
    count++;
  });
  return {
    items: new Uint8Array(items.buffer),
    first: new Uint8Array(starts.buffer),
  };
}

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
    const { point, config, device: { info }, operands, alloc } = site;
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
        launch(site, TOKENS, {
          args: [table, uploaded(packedTable(packed)), tokens],
          shape: {
            grid: [
              Math.max(
                ...problems.map(({ m, k }) =>
                  Math.ceil(m * k / CHUNK / THREADS)
                ),
              ),
              problems.length,
              1,
            ],
            block: [THREADS, 1, 1],
          },
        }),
        launch(site, build(point, config), {
          args: [uploaded(items), uploaded(first)],
          shape: {
            grid: [schedule.bins.length * config.CLUSTER, 1, 1],
            block: [640, 1, 1],
            cluster: config.CLUSTER,
            sharedBytes: sharedBytes(config),
            overlap: true,
          },
        }),
      ],
    };
  },
});
