/**
 * Which tiles there are, who computes them, and in what order: heaviest first, packed so that
 * all are done at about the same time.
 *
 * Sizes are known on the host, as in the competition, so this is done before the clock starts;
 * a router on the device would have to do it there.
 *
 * @module
 */

import type { Sizes } from "./point.ts";

/** Rows of weights of a block of best.cu. */
export const ROWS = 128;

/** How the work is cut. */
export interface Cut {
  /** Tokens of a tile, at most and in steps of. */
  readonly MAXN: number;
  readonly STEP: number;
  /** Blocks that share the tokens of a tile. */
  readonly CLUSTER: number;
}

/** What a cluster computes at a time. */
export interface Tile {
  readonly problem: number;
  /** The first row of weights; `CLUSTER` times {@linkcode ROWS} follow. */
  readonly row: number;
  readonly token: number;
  /** Tokens, in whole steps. */
  readonly cols: number;
  /** About how many clocks it takes. */
  readonly cost: number;
}

/** The tokens of a problem in equal parts of whole steps, the last one shorter. */
export function tokenTiles(
  m: number,
  { MAXN, STEP }: Pick<Cut, "MAXN" | "STEP">,
): { readonly token: number; readonly cols: number }[] {
  const whole = (x: number) => Math.ceil(x / STEP) * STEP;
  const parts = Math.ceil(m / MAXN);
  const each = whole(Math.ceil(m / parts));
  return Array.from({ length: Math.ceil(m / each) }, (_, i) => ({
    token: i * each,
    cols: Math.min(each, whole(m - i * each)),
  }));
}

/** Tokens for which a problem's packed tokens have room: all of its tiles. */
export function packedRows(m: number, cut: Cut): number {
  return tokenTiles(m, cut).reduce((sum, { cols }) => sum + cols, 0);
}

/**
 * Clocks of a slab of 64 elements of K: those of the tensor cores (a column of 64 rows takes
 * half a clock a product), or those of the instructions that decode weights.
 */
function slabClocks(cols: number): number {
  return Math.max(4.6 * cols, 280);
}

/** Clocks to fill the pipeline and to store a tile. */
const TILE_CLOCKS = 1500;

/** All tiles, heaviest first. */
export function tilesOf(problems: readonly Sizes[], cut: Cut): Tile[] {
  const step = ROWS * cut.CLUSTER;
  return problems.flatMap(({ m, n, k }, problem) =>
    tokenTiles(m, cut).flatMap(({ token, cols }) =>
      Array.from({ length: Math.ceil(n / step) }, (_, i) => ({
        problem,
        row: i * step,
        token,
        cols,
        cost: TILE_CLOCKS + k / 64 * slabClocks(cols) + 12 * cols,
      }))
    )
  ).sort((a, b) => b.cost - a.cost);
}

/** Each bin's tiles, heaviest first. */
export interface Packing {
  readonly bins: readonly (readonly Tile[])[];
  /** Clocks of the fullest bin. */
  readonly clocks: number;
}

const ROUNDS = 12;

/**
 * `tiles`, heaviest first, in `count` bins: the least capacity at which first fit needs no
 * more bins, by bisection (MULTIFIT; Coffman, Garey and Johnson, 1978), or, if that is less,
 * each to the bin that is done first.
 */
export function pack(tiles: readonly Tile[], count: number): Packing {
  let best = spread(tiles, count);
  const total = tiles.reduce((sum, { cost }) => sum + cost, 0);
  let [low, high] = [Math.max(total / count, tiles[0]?.cost ?? 0), best.clocks];
  for (let round = 0; round < ROUNDS && low < high; round++) {
    const capacity = (low + high) / 2;
    const found = firstFit(tiles, count, capacity);
    if (found === undefined) low = capacity;
    else {
      high = capacity;
      if (found.clocks < best.clocks) best = found;
    }
  }
  return best;
}

function spread(tiles: readonly Tile[], count: number): Packing {
  const bins = Array.from({ length: count }, (): Tile[] => []);
  const clocks = new Float64Array(count);
  for (const tile of tiles) {
    let to = 0;
    for (let i = 1; i < count; i++) if (clocks[i]! < clocks[to]!) to = i;
    bins[to]!.push(tile);
    clocks[to]! += tile.cost;
  }
  return { bins, clocks: Math.max(...clocks) };
}

function firstFit(
  tiles: readonly Tile[],
  count: number,
  capacity: number,
): Packing | undefined {
  const bins = Array.from({ length: count }, (): Tile[] => []);
  const clocks = new Float64Array(count);
  // Tiles come in runs of one cost: what had no room for the last has none for the next.
  let [cost, from] = [NaN, 0];
  for (const tile of tiles) {
    if (tile.cost !== cost) [cost, from] = [tile.cost, 0];
    while (from < count && clocks[from]! + cost > capacity) from++;
    if (from === count) return undefined;
    bins[from]!.push(tile);
    clocks[from]! += cost;
  }
  return { bins, clocks: Math.max(...clocks) };
}
