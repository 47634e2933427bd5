/**
 * The kernel `best`, for a device without an FP4 unit: swapped operands, weights decoded in
 * registers, and the tables that it reads.
 *
 * @module
 */

import {
  type Build,
  type Device,
  tensorMapOn,
} from "../../../bench/device/device.ts";
import type { Memory, Step } from "../../../bench/device/queue.ts";
import { grid } from "../../../bench/model/grid.ts";
import { defineKernel } from "../../../bench/model/kernel.ts";
import type { Kernel } from "../../../bench/model/kernel_spec.ts";
import type { Operands } from "../../../bench/model/problem.ts";
import { launch, structs, uploaded } from "../../common/launch.ts";
import { noWgmma } from "../../common/rules.ts";
import { groupedMatmul } from "../op.ts";
import {
  type GroupedPoint,
  realProblems,
  type Sizes,
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
  warpsOf,
} from "./best_configs.ts";

const ITEM_BYTES = 96;

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
    bytes += rows[i]! * Math.ceil(k / 128) * 256;
    return { base, rows: rows[i]! };
  });
  return { packed, bytes };
}

/** Bytes of the sums of a piece of a tile, of all warps. */
function partialBytes(config: BestConfig): number {
  return config.MAXN / 8 * 512 * warpsOf(config);
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

/** `Item` of best.cu for all blocks: as many for each, zeros after the last one. */
function itemTable(
  schedule: Schedule,
  { config, problems, packed, operands, maps, tokens, partial, counters }: {
    config: BestConfig;
    problems: ReturnType<typeof realProblems>;
    packed: readonly Packed[];
    operands: Operands;
    maps: Memory;
    tokens: Memory;
    partial: Memory;
    counters: Memory;
  },
) {
  const { bins } = schedule;
  const { places } = placesOf(schedule);
  const most = Math.max(...bins.map((bin) => bin.length)) + 1;
  const none = Array<bigint>(ITEM_BYTES / 8).fill(0n);
  const items = bins.map((bin) => [
    ...bin.map(({ problem, row, token, cols, first, slabs, ...piece }) => {
      const { m, n, k, group } = problems[problem]!;
      const { base, rows } = packed[problem]!;
      const { cut } = piece;
      const place = cut < 0 ? [0n, 0n] : [
        partial.address + BigInt(partialBytes(config) * places[cut]!),
        counters.address + BigInt(4 * warpsOf(config) * cut),
      ];
      return [
        maps.address + BigInt(MAP_BYTES * problem),
        operands[`SFB${group}`]!.address + BigInt(first * 512),
        operands[`C${group}`]!.address,
        tokens.address + BigInt(base + (first * rows + token) * 128),
        ...[...place, piece.pieces, piece.piece],
        ...[m, n, k, row, token, cols, rows * 128, first, slabs, 0],
      ];
    }),
    ...Array.from({ length: most - bin.length }, () => none),
  ]);
  return { items: structs(items.flat()), most };
}

/** Bytes of a tensor map. */
const MAP_BYTES = 128;

/** A tensor map of the weights of each problem. */
function mapTable(
  { point, operands, device, config }: {
    readonly point: GroupedPoint;
    readonly operands: Operands;
    readonly device: Device;
    readonly config: BestConfig;
  },
): Uint8Array<ArrayBuffer> {
  const problems = realProblems(point);
  const table = new Uint8Array(problems.length * MAP_BYTES);
  problems.forEach(({ n, k, group }, i) => {
    const map = tensorMapOn(device, operands[`B${group}`]!, {
      type: "u8",
      dims: [k / 2, n],
      strides: [k / 2],
      box: [64, WEIGHT_ROWS * config.WARPGROUPS],
      promotion: 128,
    });
    if (map.kind !== "bytes") throw new Error("A tensor map has no bytes");
    table.set(map.bytes, i * MAP_BYTES);
  });
  return table;
}
/** Rows of weights of a warpgroup. */
const WEIGHT_ROWS = 64;

/** Problems whose tokens a launch decodes at most: their places are its arguments. */
const [FEW_PROBLEMS, PROBLEMS] = [8, 32];
/** Threads of tokens.cu. */
const THREADS = 256;
/** Tokens and elements of K of a warp of tokens.cu. */
const [UNIT_TOKENS, UNIT_K] = [4, 256];

/** `All` of tokens.cu, and the warps that it takes. */
function tokenTable(
  problems: readonly {
    readonly a: bigint;
    readonly scales: bigint;
    readonly to: bigint;
    readonly m: number;
    readonly k: number;
    readonly rows: number;
  }[],
  length: number,
) {
  let units = 0;
  const ends = Array.from({ length }, (_, i) => {
    const { m, k } = problems[i] ?? { m: 0, k: 0 };
    return units += Math.ceil(m / UNIT_TOKENS) * Math.ceil(k / UNIT_K);
  });
  const none = { a: 0n, scales: 0n, to: 0n, m: 0, k: 0, rows: 0 };
  const records = ends.map((_, i) => {
    const { a, scales, to, m, k, rows } = problems[i] ?? none;
    return [a, scales, to, m, k, rows, 0];
  });
  return { bytes: structs([ends, ...records]), units };
}

/** Places of a launch of tokens.cu: an argument has few lines where there are few. */
function placesFor(problems: number): number {
  return problems <= FEW_PROBLEMS ? FEW_PROBLEMS : PROBLEMS;
}

function tokensBuild(point: GroupedPoint): Build {
  return {
    source: new URL("./tokens.cu", import.meta.url),
    defines: { PROBLEMS: placesFor(realProblems(point).length) },
  };
}

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
    [...grid({
      MAXN: [128, 96, 64, 256, 192],
      STEP: [16, 8],
      WARPGROUPS: [4, 2],
      PIECES: [1, 0],
    })].filter(({ MAXN, STEP, WARPGROUPS }) =>
      // Sums have all registers. Steps of 8 would be many sizes to compile.
      MAXN > 128 ? WARPGROUPS === 2 && STEP === 16 : WARPGROUPS === 4
    ),
  rules,
  predict,
  builds: (point, config) => [tokensBuild(point), build(point, config)],
  prepare(site) {
    const { point, config, device: { info }, operands, alloc } = site;
    const problems = realProblems(point);
    const schedule = scheduleOf(problems, config, info);
    const { packed, bytes } = packedOf(problems, schedule);
    const tokens = alloc(bytes);
    const { places, count } = placesOf(schedule);
    const partial = alloc(Math.max(16, count * partialBytes(config)));
    const counters = uploaded(
      site,
      new Uint8Array(
        4 * warpsOf(config) * Math.max(1, places.length),
      ),
    );
    const maps = uploaded(site, mapTable(site));
    const { items, most } = itemTable(schedule, {
      config,
      problems,
      packed,
      operands,
      tokens,
      partial,
      counters,
      maps,
    });
    const steps: Step[] = [];
    for (let first = 0; first < problems.length; first += PROBLEMS) {
      const some = problems.slice(first, first + PROBLEMS);
      const records = some.map(({ m, k, group }, i) => ({
        m,
        k,
        rows: packed[first + i]!.rows,
        a: operands[`A${group}`]!.address,
        scales: operands[`SFA${group}`]!.address,
        to: tokens.address + BigInt(packed[first + i]!.base),
      }));
      const { bytes, units } = tokenTable(records, placesFor(problems.length));
      steps.push(launch(site, tokensBuild(point), {
        args: [{ kind: "bytes", bytes, align: 8 }],
        shape: {
          grid: [Math.ceil(units * 32 / THREADS), 1, 1],
          block: [THREADS, 1, 1],
        },
      }));
    }
    return {
      steps: [
        ...steps,
        launch(site, build(point, config), {
          args: [uploaded(site, items), most, maps, problems.length],
          shape: {
            grid: [schedule.bins.length, 1, 1],
            block: [32 * warpsOf(config) + 128, 1, 1],
            sharedBytes: sharedBytes(config),
            overlap: true,
          },
        }),
      ],
    };
  },
});
