/**
 * Which tiles there are, who computes them, and in what order: heaviest first, packed so that
 * all are done at about the same time.
 *
 * Sizes are known on the host, as in the competition, so this is done before the clock starts;
 * a router on the device would have to do it there.
 *
 * @module
 */

import type { Sizes } from "../point.ts";

/** What a bin computes at a time. */
export interface Tile {
  readonly problem: number;
  /** The first row of weights; {@linkcode Cut.rows} follow. */
  readonly row: number;
  readonly token: number;
  /** Tokens, in whole steps. */
  readonly cols: number;
  /** About how many clocks it takes. */
  readonly cost: number;
}

/** How the work is cut. */
export interface Cut {
  /** Rows of weights of a tile. */
  readonly rows: number;
  /** Tokens of each tile of a problem, whose rows of tiles may differ. */
  partsOf(problem: number, rowOfTiles: number): readonly number[];
  /** About how many clocks a tile takes. */
  clocksOf(cols: number, k: number): number;
}

/** `m` tokens in as few equal parts as there can be, whole steps but for less in the last. */
export function evenParts(
  m: number,
  { MAXN, STEP }: { readonly MAXN: number; readonly STEP: number },
): number[] {
  const whole = (x: number) => Math.ceil(x / STEP) * STEP;
  const each = whole(Math.ceil(m / Math.ceil(m / MAXN)));
  return Array.from(
    { length: Math.ceil(m / each) },
    (_, i) => Math.min(each, whole(m - i * each)),
  );
}

/** All tiles, heaviest first. */
export function tilesOf(problems: readonly Sizes[], cut: Cut): Tile[] {
  return problems.flatMap(({ n, k }, problem) =>
    Array.from({ length: Math.ceil(n / cut.rows) }, (_, i) => {
      let token = 0;
      return cut.partsOf(problem, i).map((cols): Tile => {
        const cost = cut.clocksOf(cols, k);
        const tile = { problem, row: i * cut.rows, token, cols, cost };
        token += cols;
        return tile;
      });
    }).flat()
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
