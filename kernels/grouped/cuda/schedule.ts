/**
 * Cuts problems into tiles and deals them out, heaviest first, so that all bins are done at about
 * the same time.
 *
 * Sizes are known on the host, as in the competition, so this is done before the clock starts;
 * a router on the device would have to do it there.
 *
 * @module
 */

import type { Sizes } from "../point.ts";

/** A tile: what a bin computes at a time. */
export interface Tile {
  readonly problem: number;
  /** The first row of weights; {@linkcode Tiling.rows} follow. */
  readonly row: number;
  readonly token: number;
  /** Tokens, in whole steps. */
  readonly cols: number;
  /** About how many clocks it takes. */
  readonly cost: number;
}

/** The sizes and costs of tiles. */
interface Tiling {
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
export function tilesOf(problems: readonly Sizes[], cut: Tiling): Tile[] {
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
interface Packing {
  readonly bins: readonly (readonly Tile[])[];
  /** Clocks of the fullest bin. */
  readonly clocks: number;
}

/** Halvings of the interval of capacities, in {@linkcode pack} and in {@linkcode streamed}. */
const [ROUNDS, STREAM_ROUNDS] = [12, 20];

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

/** A tile, or a part of K of one. */
export interface Piece extends Tile {
  /** The first slab, and how many. */
  readonly first: number;
  readonly slabs: number;
  /** Into how many pieces its tile is cut, which of them this is, and which cut tile it is of. */
  readonly pieces: number;
  readonly piece: number;
  readonly cut: number;
}

/** The tiles to cut along K, and the bins to fill. */
interface Stream {
  readonly tiles: readonly Tile[];
  readonly bins: number;
  slabsOf(tile: Tile): number;
  costsOf(tile: Tile): Costs;
}

/** Clocks of a tile besides its slabs, of each of these, and of a piece besides. */
export interface Costs {
  readonly fixed: number;
  readonly slab: number;
  readonly piece: number;
}

/** Slabs that a piece has at least, and of which it has a multiple unless it is the last. */
const [LEAST, STEP] = [4, 2];

/** `tile` as the one piece that it is. */
export function whole(tile: Tile, slabs: number): Piece {
  return { ...tile, first: 0, slabs, pieces: 1, piece: 0, cut: -1 };
}

/** The pieces of each bin, and about how many clocks the fullest takes. */
export function streamed(
  stream: Stream,
): { readonly bins: readonly (readonly Piece[])[]; readonly clocks: number } {
  const total = stream.tiles.reduce((sum, tile) => {
    const { fixed, slab } = stream.costsOf(tile);
    return sum + fixed + slab * stream.slabsOf(tile);
  }, 0);
  let low = total / stream.bins;
  let high = 2 * low;
  let best = filled(stream, high);
  while (best === undefined) best = filled(stream, high *= 2);
  for (let round = 0; round < STREAM_ROUNDS; round++) {
    const clocks = (low + high) / 2;
    const found = filled(stream, clocks);
    if (found === undefined) low = clocks;
    else [high, best] = [clocks, found];
  }
  return { bins: best, clocks: high };
}

/** Fills one bin after another up to `capacity`, if all tiles have room. */
function filled(stream: Stream, capacity: number): Piece[][] | undefined {
  const bins: Piece[][] = [[]];
  let [room, cuts] = [capacity, 0];
  for (const tile of stream.tiles) {
    const { fixed, slab, piece: more } = stream.costsOf(tile);
    const slabs = stream.slabsOf(tile);
    const parts: { first: number; slabs: number; bin: number }[] = [];
    for (let first = 0; first < slabs;) {
      const whole = first === 0 && fixed + slabs * slab <= room;
      const cost = whole ? fixed : fixed + more;
      const taken = taking(slabs - first, (room - cost) / slab);
      if (taken > 0) {
        parts.push({ first, slabs: taken, bin: bins.length - 1 });
        room -= cost + taken * slab;
        first += taken;
      } else if (room === capacity) return undefined;
      if (first < slabs) {
        if (bins.length === stream.bins) return undefined;
        bins.push([]);
        room = capacity;
      }
    }
    const cut = parts.length > 1 ? cuts++ : -1;
    parts.forEach(({ bin, ...part }, piece) =>
      bins[bin]!.push({ ...tile, ...part, pieces: parts.length, piece, cut })
    );
  }
  return bins;
}

/** The number of `left` slabs that are taken where there is room for `room`. */
function taking(left: number, room: number): number {
  if (left <= room) return left;
  const most = Math.min(room, left - LEAST);
  const taken = Math.floor(most / STEP) * STEP;
  return taken < LEAST ? 0 : taken;
}
