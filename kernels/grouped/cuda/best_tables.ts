/**
 * What {@linkcode best} reads besides its operands: where packed tokens are, and which piece of
 * which tile each cluster computes.
 *
 * @module
 */

import type { Memory } from "../../../bench/device/queue.ts";
import type { Operands } from "../../../bench/model/problem.ts";
import type { BestConfig, Schedule } from "./best_configs.ts";
import type { realProblems, Sizes } from "../point.ts";

const ITEM_BYTES = 88;
/** Warps that each have a part of a tile's sums. */
export const WARPS = 16;

/** Where the packed tokens of each problem are. */
export interface Packed {
  readonly base: number;
  /** Rows of a slab: all that tiles of the problem take. */
  readonly rows: number;
}

/** Where tokens are, and how many bytes there are in all. */
export function packedOf(problems: readonly Sizes[], { tiles }: Schedule) {
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
export function packedTable(
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
export function partialBytes({ MAXN, KGROUPS, CLUSTER }: BestConfig): number {
  return Math.ceil(MAXN / 8 / KGROUPS) * 512 * WARPS * CLUSTER;
}

/** Where the sums of the pieces of each cut tile are, in pieces, and how many there are in all. */
export function placesOf({ bins }: Schedule) {
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
export function itemTables(
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
