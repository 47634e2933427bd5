/**
 * The kernel `best`, for a device without an FP4 unit: swapped operands, weights decoded in
 * registers, and the tables that it reads.
 *
 * @module
 */

import type { Build } from "../../../bench/device/device.ts";
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

const ITEM_BYTES = 88;

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

/** Bytes of the sums of a piece of a tile, of all warps. */
function partialBytes(config: BestConfig): number {
  const { MAXN, KGROUPS } = config;
  return Math.ceil(MAXN / 8 / KGROUPS) * 512 * warpsOf(config);
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

/** `Item` of best.cu for all blocks, zeros after those of each, and where each starts. */
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
        operands[`B${group}`]!.address + BigInt(first * 32),
        operands[`SFB${group}`]!.address + BigInt(first * 512),
        operands[`C${group}`]!.address,
        tokens.address + BigInt(base + (first * rows + token) * 128),
        ...[m, n, k, row, token, cols, rows * 128, slabs],
        ...[...place, piece.pieces, piece.piece],
      ];
    }),
    Array<bigint>(ITEM_BYTES / 8).fill(0n),
  ]);
  let count = 0;
  const starts = items.map((bin) => {
    const start = count;
    count += bin.length;
    return start;
  });
  return { items: structs(items.flat()), first: structs([starts]) };
}

/** Problems whose tokens a launch decodes at most: their places are its arguments. */
const PROBLEMS = 32;
/** Threads of tokens.cu. */
const THREADS = 256;
/** Bytes of `Tokens` of tokens.cu. */
const TOKEN_BYTES = 40;

function tokensBuild({ SLABS }: BestConfig): Build {
  return {
    source: new URL("./tokens.cu", import.meta.url),
    defines: { PROBLEMS, SLABS },
  };
}

function build({ layout }: GroupedPoint, config: BestConfig): Build {
  const { SLABS: _, ...macros } = config;
  return {
    source: new URL("./best.cu", import.meta.url),
    defines: {
      ...macros,
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
      KGROUPS: [1, 2],
      PIECES: [1, 0],
      SLABS: [4, 1],
    })].filter(({ MAXN, STEP, WARPGROUPS, KGROUPS }) =>
      // Sums have all registers. Steps of 8 would be many sizes to compile.
      MAXN > 128
        ? WARPGROUPS === 2 && KGROUPS === 1 && STEP === 16
        : WARPGROUPS === 4
    ),
  rules,
  predict,
  builds: (point, config) => [tokensBuild(config), build(point, config)],
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
    const { items, first } = itemTables(schedule, {
      ...{ config, problems, packed, operands, tokens, partial, counters },
    });
    const steps: Step[] = [];
    for (let first = 0; first < problems.length; first += PROBLEMS) {
      const some = problems.slice(first, first + PROBLEMS);
      const all = new Uint8Array(PROBLEMS * TOKEN_BYTES);
      all.set(structs(some.map(({ m, k, group }, i) => {
        const { base, rows } = packed[first + i]!;
        return [
          operands[`A${group}`]!.address,
          operands[`SFA${group}`]!.address,
          tokens.address + BigInt(base),
          ...[m, k, rows, 0],
        ];
      })));
      const blocks = some.map(({ m, k }) =>
        Math.ceil(8 * m * Math.ceil(k / 64 / config.SLABS) / THREADS)
      );
      steps.push(launch(site, tokensBuild(config), {
        args: [{ kind: "bytes", bytes: all, align: 8 }],
        shape: {
          grid: [Math.max(...blocks), some.length, 1],
          block: [THREADS, 1, 1],
        },
      }));
    }
    return {
      steps: [
        ...steps,
        launch(site, build(point, config), {
          args: [uploaded(site, items), uploaded(site, first)],
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
